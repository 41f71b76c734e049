import { type Queryable, sql } from '../../storage/index.ts';

interface PendingCode {
  readonly kind: string;
  readonly secret: Uint8Array;
  readonly expiresAt: Date;
}

const pending = sql(
  'operators_pending_codes',
  `select kind, secret, secret_expires_at as expires_at from outbox
   where institution_id = $1 and secret is not null and secret_expires_at is not null
   order by secret_expires_at desc`,
);

/** One-time codes that were not handed over, the last to expire first. */
export async function selectPendingCodes(db: Queryable): Promise<PendingCode[]> {
  return (await db.query<PendingCode>(pending, [db.institutionId])).rows;
}
