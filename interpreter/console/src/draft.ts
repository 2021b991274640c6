/** The draft of the workbench: its texts, kept in this tab and in this browser until something else takes their place. */

import { type Question, token } from "./api";

const STORED = "karta-console-draft";
/** The tab's own draft comes first: another tab writes over that of the browser. */
const STORAGES = [sessionStorage, localStorage];

export function keep(question: Question): void {
  try {
    for (const storage of STORAGES) storage.setItem(STORED, JSON.stringify({ ...question, run: token() }));
  } catch {
    // The storage is full or switched off: the texts are in the page all the same.
  }
}

/** The draft, if there is one. With ``ofThisRun``, only one of the texts that this run of the console has begun with. */
export function kept(ofThisRun: boolean): Partial<Question> | null {
  try {
    const text = STORAGES.map((storage) => storage.getItem(STORED)).find(Boolean);
    const draft = JSON.parse(text ?? "null") as (Partial<Question> & { run?: string }) | null;
    return ofThisRun && draft?.run !== token() ? null : draft;
  } catch {
    return null;
  }
}

export function forget(): void {
  for (const storage of STORAGES) storage.removeItem(STORED);
}
