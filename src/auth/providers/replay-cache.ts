import { type Queryable, sql } from '../../storage/index.ts';

const record = sql(
  'providers_record_assertion',
  `insert into provider_assertion_replays (institution_id, provider_id, id_hash, expires_at) values ($1, $2, $3, $4)
   on conflict do nothing`,
);

/** False if the assertion was recorded before, in any process. */
export async function recordAssertion(
  db: Queryable,
  assertion: { readonly providerId: string; readonly idHash: Buffer; readonly expiresAt: Date },
): Promise<boolean> {
  const { providerId, idHash, expiresAt } = assertion;
  return (await db.query(record, [db.institutionId, providerId, idHash, expiresAt])).rowCount === 1;
}

const deleteExpired = sql(
  'providers_delete_expired_assertions',
  'delete from provider_assertion_replays where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredAssertions(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteExpired, [db.institutionId, now]);
}
