import { type Queryable, sql } from '../../storage/index.ts';

const noteHeard = sql(
  'core_note_heard',
  `insert into core_connections (institution_id, heard_at, heard_client) values ($1, $2, $3)
   on conflict (institution_id) do update set heard_at = excluded.heard_at, heard_client = excluded.heard_client`,
);

export async function saveHeard(tx: Queryable, at: Date, clientId: string): Promise<void> {
  await tx.query(noteHeard, [tx.institutionId, at, clientId]);
}

const lockConnection = sql(
  'core_lock_connection',
  'select heard_at from core_connections where institution_id = $1 for no key update',
);

/** Lets one transaction of the institution lease at a time. False: the core was never heard. */
export async function lockConnectionOf(tx: Queryable): Promise<boolean> {
  return (await tx.query(lockConnection, [tx.institutionId])).rowCount > 0;
}

const connection = sql(
  'core_connection',
  'select heard_at, heard_client from core_connections where institution_id = $1',
);

export interface HeardRow {
  readonly heardAt: Date;
  readonly heardClient: string;
}

export async function selectHeard(db: Queryable): Promise<HeardRow | undefined> {
  return (await db.query<HeardRow>(connection, [db.institutionId])).rows[0];
}
