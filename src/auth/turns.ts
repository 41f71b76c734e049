import { Problem } from '../problem.ts';

/** Work of which only some runs at a time. What waits does so in order, and no more than a number. */
export class Turns {
  readonly #concurrency: number;
  readonly #mostWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(concurrency: number, mostWaiting: number) {
    this.#concurrency = concurrency;
    this.#mostWaiting = mostWaiting;
  }

  /** Problem `overloaded`, and the work is not begun, when too much waits. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) {
      if (this.#waiting.length >= this.#mostWaiting) {
        throw new Problem('overloaded', 'Too many logins at once. Nothing was written.', {
          retryAfterSeconds: 2,
        });
      }
      // Whoever finishes hands its turn over, so that `running` stays as it is.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running -= 1;
    }
  }
}
