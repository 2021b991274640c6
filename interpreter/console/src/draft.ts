/** The draft of the workbench: its texts, kept in this browser until something else takes their place. */

import type { Question } from "./api";

const STORED = "karta-console-draft";

export function keep(question: Question): void {
  try {
    localStorage.setItem(STORED, JSON.stringify(question));
  } catch {
    // The storage is full or switched off: the texts are in the page all the same.
  }
}

export function kept(): Partial<Question> | null {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? "null") as Partial<Question> | null;
  } catch {
    return null;
  }
}

export function forget(): void {
  localStorage.removeItem(STORED);
}
