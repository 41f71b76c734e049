import type { InstitutionId, Queryable } from './database.ts';
import { isConnectionLoss, sqlStateOf } from './errors.ts';

/** A read by key of which many are asked at once: one statement answers for all of them. */
export interface JoinedRead<Key, Value> {
  /** Equal for keys that mean the same. */
  readonly nameOf: (key: Key) => string;
  /** What is found by each key, at the key's place; keys may be among them that nothing is found by. */
  readonly run: (db: Queryable, keys: readonly Key[]) => Promise<readonly (Value | undefined)[]>;
}

interface Asked {
  readonly key: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  waiting: Asked[];
  underWay: number;
}

type Read = <T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>) => Promise<T>;
type AnyRead = JoinedRead<unknown, unknown>;

/** While this many statements of a kind are under way for an institution, who asks waits for the next one. */
const mostUnderWay = 2;
const mostTogether = 256;

/**
 * Joins reads that are asked in the same turn of the event loop, or while statements of their kind are under way. Each
 * is answered by a statement sent after it was asked, so that none is answered with what was true before.
 */
export class JoinedReads {
  readonly #read: Read;
  readonly #queues = new Map<AnyRead, Map<InstitutionId, Queue>>();

  constructor(read: Read) {
    this.#read = read;
  }

  ask<Key, Value>(
    institutionId: InstitutionId,
    joined: JoinedRead<Key, Value>,
    key: Key,
  ): Promise<Value | undefined> {
    const kind = joined as unknown as AnyRead;
    const queue = this.#queueOf(kind, institutionId);
    return new Promise<Value | undefined>((resolve, reject) => {
      queue.waiting.push({ key, resolve: resolve as (value: unknown) => void, reject });
      // The first of this turn; those that come in the same turn find it waiting already.
      if (queue.waiting.length === 1) setImmediate(() => this.#send(kind, institutionId, queue));
    });
  }

  #queueOf(kind: AnyRead, institutionId: InstitutionId): Queue {
    let queues = this.#queues.get(kind);
    if (queues === undefined) {
      queues = new Map();
      this.#queues.set(kind, queues);
    }
    let queue = queues.get(institutionId);
    if (queue === undefined) {
      queue = { waiting: [], underWay: 0 };
      queues.set(institutionId, queue);
    }
    return queue;
  }

  #send(kind: AnyRead, institutionId: InstitutionId, queue: Queue): void {
    while (queue.waiting.length > 0 && queue.underWay < mostUnderWay) {
      const together = queue.waiting.splice(0, mostTogether);
      queue.underWay += 1;
      void this.#answer(kind, institutionId, together).finally(() => {
        queue.underWay -= 1;
        this.#send(kind, institutionId, queue);
      });
    }
  }

  async #answer(kind: AnyRead, institutionId: InstitutionId, together: readonly Asked[]): Promise<void> {
    const { keys, places } = eachOnce(kind, together);
    try {
      const found = await this.#read(institutionId, (db) => kind.run(db, keys));
      for (const [index, { resolve }] of together.entries()) resolve(found[places[index] as number]);
    } catch (error) {
      // A key that the statement fails on must not fail those that happened to be asked beside it.
      const alone = together.length === 1 || sqlStateOf(error) === undefined || isConnectionLoss(error);
      if (alone) for (const { reject } of together) reject(error);
      else await Promise.all(together.map((one) => this.#answer(kind, institutionId, [one])));
    }
  }
}

/** Keys that mean the same are read once; `places[i]` is where the key of the i-th asked stands. */
function eachOnce(kind: AnyRead, together: readonly { readonly key: unknown }[]) {
  const placeOf = new Map<string, number>();
  const keys: unknown[] = [];
  const places = together.map(({ key }) => {
    const name = kind.nameOf(key);
    let place = placeOf.get(name);
    if (place === undefined) {
      place = keys.push(key) - 1;
      placeOf.set(name, place);
    }
    return place;
  });
  return { keys, places };
}

/** A row that says by which key it was found: the key's place, from 1 (`with ordinality`). */
export interface Placed {
  readonly place: number;
}

export function byPlace<Row extends Placed, Value>(
  rows: readonly Row[],
  read: (row: Row) => Value,
): (Value | undefined)[] {
  const values: (Value | undefined)[] = [];
  for (const row of rows) values[row.place - 1] = read(row);
  return values;
}
