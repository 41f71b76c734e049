import { Problem } from '../shared/problem.ts';
import type { InstitutionId, OwnConnection, Queryable } from '../storage/index.ts';
import { Database } from '../storage/index.ts';

/** One of the two databases of a move, over one connection of a login that may replicate and sees every row. */
export interface Side {
  readonly url: string;
  readonly database: Database;
  readonly db: OwnConnection;
  close(): Promise<void>;
}

const neverSilentMillis = 24 * 60 * 60_000;

/** One of the databases of a move cannot be reached. The message names it, and is for the operator. */
export class SideAwayError extends Error {
  override readonly name = 'SideAwayError';
}

export const directoryCalled = 'The directory of the cells (DIRECTORY_DATABASE_URL)';

/** With the error of a database that is away, in words that say which one it is. */
export function nameAway(error: unknown, called: string): unknown {
  if (!(error instanceof Problem && error.code === 'database_unavailable')) return error;
  const { cause } = error;
  const why = cause instanceof Error ? ` (${cause.message})` : '';
  return new SideAwayError(`${called} cannot be reached${why}.`, { cause: error });
}

/**
 * Its statements may take hours. Locks are waited for only briefly, since others queue behind the waiter. Throws SideAwayError, as all of
 * its statements do.
 */
export async function openSide(url: string, called = 'The database'): Promise<Side> {
  const database = new Database({
    connection: url,
    maxConnections: 2,
    silenceMillis: neverSilentMillis,
    settings: {
      application_name: 'sharedraft move',
      statement_timeout: '0',
      idle_in_transaction_session_timeout: '60s',
    },
  });
  const own = await database
    .ownConnection(() => {})
    .catch(async (error) => {
      await database.close();
      throw nameAway(error, called);
    });
  const db: OwnConnection = {
    query: (statement, values) =>
      own.query<never>(statement, values).catch((error) => {
        throw nameAway(error, called);
      }),
    release: () => own.release(),
  };
  await run(
    db,
    `select set_config('plan_cache_mode', 'auto', false), set_config('enable_seqscan', 'on', false)`,
  );
  return { url, database, db, close: () => database.close() };
}

/** A statement that is made at run time. Names of objects and numbers stand in its text, since PostgreSQL takes no parameters there. */
export async function run<Row extends object>(
  db: OwnConnection,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  // Without a name it is prepared anew each time.
  return (await db.query<Row>({ name: '', text }, values)).rows;
}

/** One transaction. */
export async function inTransaction<T>(db: OwnConnection, work: () => Promise<T>): Promise<T> {
  await run(db, 'begin');
  try {
    const result = await work();
    await run(db, 'commit');
    return result;
  } catch (error) {
    await run(db, 'rollback').catch(() => {});
    throw error;
  }
}

/** The side as the functions of other modules take it, for one institution. */
export function of({ db }: Side, institutionId: InstitutionId): Queryable {
  return { institutionId, query: (statement, values) => db.query(statement, values) };
}
