import { asLockedOut, type Database, type OwnConnection } from '../storage/index.ts';
import { type Changes, type Known, selectChanges } from './change-queries.ts';

/** Asks the database for changes since the last time, over one connection. */
export class ChangeWatch {
  readonly #database: Database;
  readonly #withPosition: boolean;
  #connection: Promise<OwnConnection> | undefined;
  #since: string | null = null;
  /** Counts connections, so that a response of a lost one is not taken for a later one's. */
  #generation = 0;

  /** `withPosition`: the changes come with the position of the log, for reads from standbys. */
  constructor(database: Database, { withPosition = false }: { readonly withPosition?: boolean } = {}) {
    this.#database = database;
    this.#withPosition = withPosition;
  }

  /**
   * The changes since the last response. A new connection begins anew (`isKept` is false): the server may have been restarted,
   * promoted or restored in between, and snapshots of another time mean nothing to it.
   */
  async ask(known: Known): Promise<Changes> {
    const generation = this.#generation;
    this.#connection ??= this.#database.ownConnection(() => this.#forget(generation));
    try {
      const connection = await this.#connection;
      const changes = await selectChanges(
        connection,
        { since: this.#since, withPosition: this.#withPosition },
        known,
      );
      if (generation !== this.#generation) return { ...changes, isKept: false };
      this.#since = changes.at;
      return changes;
    } catch (error) {
      this.#forget(generation);
      throw asLockedOut(error);
    }
  }

  #forget(generation: number): void {
    if (generation !== this.#generation) return;
    this.#generation += 1;
    this.#since = null;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.then(
      ({ release }) => release(),
      () => {},
    );
  }
}
