import { counted, type InstitutionId, type Queryable, rowsOf, sql, type Write } from '../../storage/index.ts';

/** A pending card authorization of the core. */
export interface AuthorizationRow {
  readonly authorizationId: string;
  readonly accountKey: bigint;
  /** The internal account that the hold is expected on. */
  readonly settlementKey: bigint;
  /** Key of the entries that changed the hold last. */
  readonly postingKey: bigint;
  /** 0 once it has ended. */
  readonly held: bigint;
  /** As first announced; null if a later news arrived alone. */
  readonly authorizedAmount: bigint | null;
  readonly description: string | null;
  readonly merchant: string | null;
  readonly category: string | null;
  /** Time at the core of the newest news. */
  readonly changedAt: Date;
  readonly expiresAt: Date | null;
  readonly ended: 'SETTLED' | 'RELEASED' | 'EXPIRED' | null;
}

export interface KnownAuthorizationRow extends AuthorizationRow {
  readonly accountId: string;
  readonly settlementId: string;
}

const selected = `
  select a.authorization_id, a.account_key, a.settlement_key, a.posting_key, a.held, a.authorized_amount, a.description,
         a.merchant, a.category, a.changed_at, a.expires_at, a.ended, b.account_id, s.account_id as settlement_id
  from core_authorizations a
  join balances b on b.institution_id = $1 and b.account_key = a.account_key
  join balances s on s.institution_id = $1 and s.account_key = a.settlement_key`;

const byId = sql(
  'core_authorizations_by_id',
  `${selected} where a.institution_id = $1 and a.authorization_id = any ($2::text[])`,
);

export async function selectAuthorizations(
  db: Queryable,
  authorizationIds: readonly string[],
): Promise<KnownAuthorizationRow[]> {
  if (authorizationIds.length === 0) return [];
  return (await db.query<KnownAuthorizationRow>(byId, [db.institutionId, authorizationIds])).rows;
}

const expired = sql(
  'core_expired_authorizations',
  `${selected} where a.institution_id = $1 and a.ended is null and a.expires_at <= $2 order by a.expires_at limit $3`,
);

/** Open authorizations whose time is over, the oldest first. */
export async function selectExpiredAuthorizations(
  db: Queryable,
  now: Date,
  limit: number,
): Promise<KnownAuthorizationRow[]> {
  return (await db.query<KnownAuthorizationRow>(expired, [db.institutionId, now, limit])).rows;
}

const columns = `v.authorization_id, v.account_key, v.settlement_key, v.posting_key, v.held, v.authorized_amount, v.description,
  v.merchant, v.category, v.changed_at, v.expires_at, v.ended`;

const insert = counted(
  'core_insert_authorizations',
  'core_authorizations',
  'cardinality($3::core_authorization_state[])',
  `insert into core_authorizations (institution_id, authorization_id, account_key, settlement_key, posting_key, held,
                                    authorized_amount, description, merchant, category, changed_at, expires_at, ended, recorded_at)
   select $1, ${columns}, $2 from unnest($3::core_authorization_state[]) as v`,
);

const update = counted(
  'core_update_authorizations',
  'core_authorizations',
  'cardinality($2::core_authorization_state[])',
  `update core_authorizations a
   set posting_key = v.posting_key, held = v.held, authorized_amount = v.authorized_amount, description = v.description,
       merchant = v.merchant, category = v.category, changed_at = v.changed_at, expires_at = v.expires_at, ended = v.ended
   from unnest($2::core_authorization_state[]) as v
   where a.institution_id = $1 and a.authorization_id = v.authorization_id`,
);

export function saveAuthorizations(
  institutionId: InstitutionId,
  {
    added,
    changed,
  }: { readonly added: readonly AuthorizationRow[]; readonly changed: readonly AuthorizationRow[] },
  at: Date,
): readonly Write[] {
  const writes: Write[] = [];
  if (added.length > 0) writes.push({ statement: insert, values: [institutionId, at, asRows(added)] });
  if (changed.length > 0) writes.push({ statement: update, values: [institutionId, asRows(changed)] });
  return writes;
}

function asRows(rows: readonly AuthorizationRow[]): string {
  return rowsOf(rows, (row) => [
    row.authorizationId,
    row.accountKey,
    row.settlementKey,
    row.postingKey,
    row.held,
    row.authorizedAmount,
    row.description,
    row.merchant,
    row.category,
    row.changedAt,
    row.expiresAt,
    row.ended,
  ]);
}
