import { type InstitutionId, type Queryable, sql } from '../../storage/index.ts';

const spend = sql(
  'auth_spend_client_assertion',
  `insert into client_assertion_replays (institution_id, assertion_hash, expires_at) values ($1, $2, $3)
   on conflict do nothing`,
);

/**
 * Uses an assertion up, for all processes: false when it was used before. `hash`: 32 bytes, of the
 * client's id and its own; it is remembered until `expiresAt`, when no process would believe it anyway.
 */
export async function recordClientAssertion(
  db: Queryable,
  institutionId: InstitutionId,
  hash: Buffer,
  expiresAt: Date,
): Promise<boolean> {
  return (await db.query(spend, [institutionId, hash, expiresAt])).rowCount === 1;
}

const forget = sql(
  'auth_forget_spent_client_assertions',
  'delete from client_assertion_replays where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredClientAssertions(
  db: Queryable,
  institutionId: InstitutionId,
  now: Date,
): Promise<void> {
  await db.query(forget, [institutionId, now]);
}
