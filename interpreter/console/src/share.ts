/** Shared texts: a file that every console opens, whatever its port, its token and its browser. */

import type { Question } from "./api";

const MARK = "kartaConsole";

export function toFile(question: Question): string {
  const given = Object.entries(question).filter(([, value]) => value !== "" && value !== null);
  return `${JSON.stringify({ [MARK]: 1, ...Object.fromEntries(given) }, null, 2)}\n`;
}

/** The texts of such a file, null if it is another one. */
export function fromFile(text: string): Partial<Question> | null {
  try {
    const document = JSON.parse(text);
    return document && MARK in Object(document) ? (document as Partial<Question>) : null;
  } catch {
    return null;
  }
}
