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

/** Its statements may take hours. Locks are waited for only briefly, since others queue behind the waiter. */
export async function openSide(url: string): Promise<Side> {
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
  const db = await database
    .ownConnection(() => {})
    .catch(async (error) => {
      await database.close();
      throw error;
    });
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
