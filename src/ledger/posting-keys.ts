import type { Database, Directory } from '../storage/index.ts';
import { postingKeyBlock, reservePostingKeyBlocks, reservePostingKeys } from './queries.ts';

/** A cell gets numbers of its own (src/cells/key-numbers.ts), and no process goes on with those of before for longer. */
const longestBlockMillis = 30_000;

/** Hands out posting keys from blocks of a database sequence: unique across processes, a round trip per thousand. */
export class PostingKeys {
  readonly #database: Database;
  #next = 0n;
  #end = 0n;
  #reservedAt = 0;
  #reserving: Promise<void> | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  async next(): Promise<bigint> {
    while (this.#next === this.#end || performance.now() - this.#reservedAt > longestBlockMillis) {
      this.#reserving ??= this.#reserve().finally(() => {
        this.#reserving = undefined;
      });
      await this.#reserving;
    }
    return this.#next++;
  }

  async take(count: number): Promise<bigint[]> {
    const keys: bigint[] = [];
    while (keys.length < count) keys.push(await this.next());
    return keys;
  }

  async #reserve(): Promise<void> {
    const reservedAt = performance.now();
    const first = await this.#database.directory(reservePostingKeys);
    this.#reservedAt = reservedAt;
    this.#next = first;
    this.#end = first + postingKeyBlock;
  }
}

/** Reserves keys on the caller's own connection. The rest of the last block stays unused. */
export async function takePostingKeys(db: Directory, count: number): Promise<bigint[]> {
  const blocks = await reservePostingKeyBlocks(db, Math.ceil(count / Number(postingKeyBlock)));
  return blocks
    .flatMap((first) => Array.from({ length: Number(postingKeyBlock) }, (_, place) => first + BigInt(place)))
    .slice(0, count);
}
