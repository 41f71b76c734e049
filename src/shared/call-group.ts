const mostInGroup = 200;

interface Call<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins calls of the same turn, and those that come while an earlier group is under way, into one. If a group fails, each of its calls
 * is made alone, so that one bad item fails no other.
 */
export class CallGroup<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  #waiting: Call<Item, Result>[] = [];
  #isRunning = false;

  /** `run` returns a result for each item, in their order. */
  constructor(run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#run = run;
  }

  call(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#isRunning) return;
      this.#isRunning = true;
      setImmediate(() => void this.#work());
    });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const calls = this.#waiting.splice(0, mostInGroup);
      await this.#together(calls).catch((error) => this.#oneByOne(calls, error));
    }
    this.#isRunning = false;
  }

  async #together(calls: readonly Call<Item, Result>[]): Promise<void> {
    const results = await this.#run(calls.map(({ item }) => item));
    for (const [place, { resolve }] of calls.entries()) resolve(results[place] as Result);
  }

  async #oneByOne(calls: readonly Call<Item, Result>[], error: unknown): Promise<void> {
    if (calls.length === 1) {
      calls[0]?.reject(error);
      return;
    }
    for (const call of calls) await this.#together([call]).catch(call.reject);
  }
}
