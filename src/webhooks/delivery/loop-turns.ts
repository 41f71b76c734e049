/**
 * Starts a few callers in each turn of the event loop, in the order in which they asked. Requests have their turns in between: on an
 * idle process a turn is short and many start, on a busy one few do, however many endpoints there are.
 */
export class LoopTurns {
  readonly #startsInTurn: number;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  constructor(startsInTurn: number) {
    this.#startsInTurn = startsInTurn;
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const start of this.#waiting.splice(0, this.#startsInTurn)) start();
      if (this.#waiting.length > 0) this.#schedule();
    });
  }
}
