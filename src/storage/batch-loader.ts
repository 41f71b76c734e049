import { isConnectionLoss, sqlStateOf } from './errors.ts';
import type { InstitutionId, Queryable } from './statement.ts';

/** A read by key that many callers need at once: one statement reads all keys. */
export interface BatchRead<Key, Value> {
  /** Equal for equal keys. */
  readonly nameOf: (key: Key) => string;
  /** The value of each key, at the key's place; undefined for a key that finds nothing. */
  readonly run: (db: Queryable, keys: readonly Key[]) => Promise<readonly (Value | undefined)[]>;
}

interface PendingKey {
  readonly key: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue {
  waiting: PendingKey[];
  underWay: number;
}

type Read = <T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>) => Promise<T>;
type AnyRead = BatchRead<unknown, unknown>;

/** While this many statements of a kind are under way for an institution, further keys wait for the next one. */
const maxUnderWay = 2;
const maxKeys = 256;

/**
 * Batches reads of the same turn of the event loop, and those that arrive while statements of their kind are under way. The
 * statement of a key is sent after the key was asked for, so that no caller reads an older state.
 */
export class BatchLoader {
  readonly #read: Read;
  readonly #queues = new Map<AnyRead, Map<InstitutionId, Queue>>();

  constructor(read: Read) {
    this.#read = read;
  }

  load<Key, Value>(
    institutionId: InstitutionId,
    read: BatchRead<Key, Value>,
    key: Key,
  ): Promise<Value | undefined> {
    const kind = read as unknown as AnyRead;
    const queue = this.#queueOf(kind, institutionId);
    return new Promise<Value | undefined>((resolve, reject) => {
      queue.waiting.push({ key, resolve: resolve as (value: unknown) => void, reject });
      // The first key of this turn sends; later keys of the turn join it.
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
    while (queue.waiting.length > 0 && queue.underWay < maxUnderWay) {
      const batch = queue.waiting.splice(0, maxKeys);
      queue.underWay += 1;
      void this.#readBatch(kind, institutionId, batch).finally(() => {
        queue.underWay -= 1;
        this.#send(kind, institutionId, queue);
      });
    }
  }

  async #readBatch(kind: AnyRead, institutionId: InstitutionId, batch: readonly PendingKey[]): Promise<void> {
    const { keys, places } = eachOnce(kind, batch);
    try {
      const found = await this.#read(institutionId, (db) => kind.run(db, keys));
      for (const [index, { resolve }] of batch.entries()) resolve(found[places[index] as number]);
    } catch (error) {
      // A key that makes the statement fail must not fail the other keys of its batch.
      const alone = batch.length === 1 || sqlStateOf(error) === undefined || isConnectionLoss(error);
      if (alone) for (const { reject } of batch) reject(error);
      else await Promise.all(batch.map((one) => this.#readBatch(kind, institutionId, [one])));
    }
  }
}

/** Equal keys are read once; `places[i]` is the place of the i-th key among the distinct ones. */
function eachOnce(kind: AnyRead, batch: readonly { readonly key: unknown }[]) {
  const placeOf = new Map<string, number>();
  const keys: unknown[] = [];
  const places = batch.map(({ key }) => {
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

/** A row with the place of its key, from 1 (`with ordinality`). */
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
