import { type Connection, InstitutionConnection, withCallersStack } from './connection.ts';
import { asLockedOut, databaseUnavailable, isConnectionLoss } from './errors.ts';
import { type InstitutionId, type Queryable, sql } from './statement.ts';

/** A connection taken from the pool; `release(true)` destroys it. */
export interface Lent {
  readonly connection: Connection;
  readonly release: (broken: boolean) => void;
}

/** A connection that many reads share, kept from the pool until it is lost or the database closes. */
interface Reader extends Lent {
  readsInFlight: number;
}

/** A plan is made once, and reads by keys also if a table was empty at that time. */
export const readByKeys = sql(
  'read_by_keys',
  `select set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false)`,
);

/** The connections that reads share. Another one is opened, up to the maximum, while all are busy. */
export class SharedReaders {
  readonly #lend: () => Promise<Lent>;
  readonly #max: number;
  readonly #readers = new Set<Reader>();
  #opening: Promise<Reader> | undefined;

  constructor(lend: () => Promise<Lent>, max: number) {
    this.#lend = lend;
    this.#max = max;
  }

  async read<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T> {
    const reader = this.#idlest() ?? (await this.#open());
    reader.readsInFlight += 1;
    try {
      return await work(new InstitutionConnection(reader.connection, institutionId));
    } catch (error) {
      if (!isConnectionLoss(error)) throw asLockedOut(withCallersStack(error));
      this.#remove(reader, true);
      throw databaseUnavailable(error);
    } finally {
      reader.readsInFlight -= 1;
    }
  }

  /** Gives every connection back to the pool; `broken` destroys them. */
  release(broken: boolean): void {
    for (const reader of this.#readers) this.#remove(reader, broken);
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => {});
    this.release(false);
  }

  /** Undefined until the first one is open. */
  #idlest(): Reader | undefined {
    let idlest: Reader | undefined;
    for (const reader of this.#readers) {
      if (idlest === undefined || reader.readsInFlight < idlest.readsInFlight) idlest = reader;
    }
    if (idlest !== undefined && idlest.readsInFlight > 0 && this.#readers.size < this.#max) {
      this.#open().catch(() => {});
    }
    return idlest;
  }

  #open(): Promise<Reader> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #connect(): Promise<Reader> {
    const reader: Reader = { ...(await this.#lend()), readsInFlight: 0 };
    reader.connection.query(readByKeys).catch(() => {});
    reader.connection.onceLost(() => this.#remove(reader, true));
    this.#readers.add(reader);
    return reader;
  }

  #remove(reader: Reader, broken: boolean): void {
    if (this.#readers.delete(reader)) reader.release(broken);
  }
}
