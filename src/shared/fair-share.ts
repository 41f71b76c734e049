/**
 * Places that many compete for. Whoever asks gets one while they have at most twice as many as are left: alone they can
 * have two thirds, and there is always room for who has few (Choudhury and Hahne, "Dynamic queue length thresholds",
 * 1998). No numbers to set, and nothing lies idle that others could use.
 */
export class FairShare {
  readonly #most: number;
  readonly #taken = new Map<string, number>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Whether there is a place for one more of this name; it is taken then, until `free`. */
  take(name: string): boolean {
    const own = this.#taken.get(name) ?? 0;
    const left = this.#most - this.#total;
    if (left <= 0 || own > 2 * left) return false;
    this.#taken.set(name, own + 1);
    this.#total += 1;
    return true;
  }

  free(name: string): void {
    const own = this.#taken.get(name) ?? 0;
    if (own === 0) throw new Error(`nothing is taken by ${name}`);
    if (own === 1) this.#taken.delete(name);
    else this.#taken.set(name, own - 1);
    this.#total -= 1;
  }
}

/** One after another of each line in turn, each line in its order. */
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
