/** The draft of the workbench: its texts, kept in this browser until something else takes their place. */

import { type Question, token } from "./api";

const STORED = "karta-console-draft";

export function keep(question: Question): void {
  try {
    localStorage.setItem(STORED, JSON.stringify({ ...question, run: token() }));
  } catch {
    // The storage is full or switched off: the texts are in the page all the same.
  }
}

/** The draft, if there is one. With ``ofThisRun``, only one of the texts that this run of the console has begun with. */
export function kept(ofThisRun: boolean): Partial<Question> | null {
  try {
    const draft = JSON.parse(localStorage.getItem(STORED) ?? "null") as (Partial<Question> & { run?: string }) | null;
    return ofThisRun && draft?.run !== token() ? null : draft;
  } catch {
    return null;
  }
}

export function forget(): void {
  localStorage.removeItem(STORED);
}
