import { FairShare } from '../../shared/fair-share.ts';
import { Problem } from '../../shared/problem.ts';

/**
 * Work of which only some runs at a time. What waits stands in lines, and each line has its turn: who brings one piece
 * waits for one of each other line, however many those have. The places to wait are shared by the rule of `FairShare`.
 */
export class Turns {
  readonly #concurrency: number;
  readonly #places: FairShare;
  /** In the order of their turns. */
  readonly #lines = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(concurrency: number, mostWaiting: number) {
    this.#concurrency = concurrency;
    this.#places = new FairShare(mostWaiting);
  }

  /** Problem `overloaded`, and the work is not begun, when too much waits. */
  async take<T>(line: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) {
      if (!this.#places.take(line)) throw tooManyLogins();
      // Whoever finishes hands its turn over, so that `running` stays as it is.
      await new Promise<void>((resolve) => this.#join(line, resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      this.#handOver();
    }
  }

  #join(line: string, begin: () => void): void {
    const waiting = this.#lines.get(line);
    if (waiting === undefined) this.#lines.set(line, [begin]);
    else waiting.push(begin);
  }

  #handOver(): void {
    for (const [line, [next, ...rest]] of this.#lines) {
      // Set anew, it is the last in the map's order.
      this.#lines.delete(line);
      if (rest.length > 0) this.#lines.set(line, rest);
      this.#places.free(line);
      next?.();
      return;
    }
    this.#running -= 1;
  }
}

export function tooManyLogins(): Problem {
  return new Problem('overloaded', 'Too many logins at once. Nothing was written.', {
    retryAfterSeconds: 2,
  });
}
