/** Asks for the newest state of the texts: one request at a time, and a slow one ends when a newer one waits. */

import { ApiError, ask, type Page, type Question } from "./api";

const PATIENCE = 250;

export class Asker {
  private waiting: Question | null = null;
  private changedAt = 0;
  private running: AbortController | null = null;
  private since = 0;

  constructor(
    private readonly answered: (page: Page, changedAt: number) => void,
    private readonly failed: (error: ApiError | Error) => void,
  ) {}

  ask(question: Question): void {
    this.waiting = question;
    this.changedAt = performance.now();
    const { running } = this;
    if (!running) void this.next();
    else setTimeout(() => this.waiting && running.abort(), Math.max(0, this.since + PATIENCE - performance.now()));
  }

  private async next(): Promise<void> {
    const question = this.waiting;
    if (!question) return;
    this.waiting = null;
    const { changedAt } = this;
    this.running = new AbortController();
    this.since = performance.now();
    try {
      const page = await ask(question, this.running.signal);
      this.answered(page, changedAt);
    } catch (error) {
      if (!this.running.signal.aborted) this.failed(error as Error);
    } finally {
      this.running = null;
    }
    void this.next();
  }
}
