import { type Queryable, sql } from '../../storage/index.ts';

const record = sql(
  'auth_record_client_assertion',
  `insert into client_assertion_replays (institution_id, assertion_hash, expires_at) values ($1, $2, $3)
   on conflict do nothing`,
);

/** False if the assertion was recorded before, in any process. `hash`: 32 bytes over the client's id and the assertion's `jti`. */
export async function recordClientAssertion(db: Queryable, hash: Buffer, expiresAt: Date): Promise<boolean> {
  return (await db.query(record, [db.institutionId, hash, expiresAt])).rowCount === 1;
}

const deleteExpired = sql(
  'auth_delete_expired_client_assertions',
  'delete from client_assertion_replays where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredClientAssertions(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteExpired, [db.institutionId, now]);
}
