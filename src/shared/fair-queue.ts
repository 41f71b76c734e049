/**
 * A bounded number of slots for many callers. A caller gets a slot while it has at most twice as many as are free. So one
 * caller can have two thirds of them, and callers with few always find one (Choudhury and Hahne, "Dynamic queue length
 * thresholds", 1998).
 */
export class FairShare {
  readonly most: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(most: number) {
    this.most = most;
  }

  get taken(): number {
    return this.#total;
  }

  /** Takes a slot for the caller until `free`. False if the caller can have none. */
  take(caller: string): boolean {
    const own = this.#taken.get(caller) ?? 0;
    const left = this.most - this.#total;
    if (left <= 0 || own > 2 * left) return false;
    this.#taken.set(caller, own + 1);
    this.#total += 1;
    return true;
  }

  free(caller: string): void {
    const own = this.#taken.get(caller) ?? 0;
    if (own === 0) throw new Error(`no slot is taken by ${caller}`);
    if (own === 1) this.#taken.delete(caller);
    else this.#taken.set(caller, own - 1);
    this.#total -= 1;
  }
}

/** One item of each line in turn, each line in its own order. */
export function* inTurns<T>(items: Iterable<T>, lineOf: (item: T) => string): Generator<T> {
  let lines = [...Map.groupBy(items, lineOf).values()].map((line) => line.values());
  while (lines.length > 0) {
    const longer: typeof lines = [];
    for (const line of lines) {
      const { value, done } = line.next();
      if (done) continue;
      yield value;
      longer.push(line);
    }
    lines = longer;
  }
}

/**
 * Runs a bounded number of tasks at a time; a bounded number of others waits. Each caller has a line, and the lines take
 * turns: a caller with one task waits for one task of each other line, however long those are.
 */
export class FairQueue {
  readonly #concurrency: number;
  readonly #slots: FairShare;
  readonly #overloaded: () => Error;
  /** In the order of their turns. */
  readonly #lines = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(concurrency: number, maxWaiting: number, overloaded: () => Error) {
    this.#concurrency = concurrency;
    this.#slots = new FairShare(maxWaiting);
    this.#overloaded = overloaded;
  }

  get waiting(): number {
    return this.#slots.taken;
  }

  get capacity(): number {
    return this.#slots.most;
  }

  /** Throws the error of `overloaded`, and does not start the task, if too many wait. */
  async run<T>(caller: string, task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#concurrency) {
      if (!this.#slots.take(caller)) throw this.#overloaded();
      // A task that ends hands its turn over, so `running` stays as it is.
      await new Promise<void>((resolve) => this.#join(caller, resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await task();
    } finally {
      this.#handOver();
    }
  }

  #join(caller: string, start: () => void): void {
    const line = this.#lines.get(caller);
    if (line === undefined) this.#lines.set(caller, [start]);
    else line.push(start);
  }

  #handOver(): void {
    for (const [caller, [next, ...rest]] of this.#lines) {
      // Deleted first, so that it becomes the last in the map's order.
      this.#lines.delete(caller);
      if (rest.length > 0) this.#lines.set(caller, rest);
      this.#slots.free(caller);
      next?.();
      return;
    }
    this.#running -= 1;
  }
}
