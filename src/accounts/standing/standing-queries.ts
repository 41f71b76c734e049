import { type Queryable, sql } from '../../storage/index.ts';

/** The transfers that an account refuses: all, those that pay from it, or those that pay into it. */
export type Restriction = 'EXCLUDE_ALL' | 'EXCLUDE_AS_FROM' | 'EXCLUDE_AS_TO';

/** The columns of an account that operators change. */
export interface AccountStanding {
  readonly accountKey: bigint;
  readonly closed: boolean;
  readonly operatorRestriction: Restriction | null;
  /** Interest and fees that a loan owes beside its principal; 0 for other accounts. */
  readonly duesMinor: bigint;
}

const standing = sql(
  'accounts_standing',
  `select a.account_key, a.closed, a.operator_restriction,
          coalesce(l.accrued_interest + l.fees_due + l.amount_due, 0)::bigint as dues_minor
   from accounts a
   left join loans l on l.institution_id = a.institution_id and l.account_key = a.account_key
   where a.institution_id = $1 and a.account_id = $2 and a.purpose is null`,
);

/** The standing of a member's account. The caller holds the lock of its balance, which every change of standing takes. */
export async function selectStanding(tx: Queryable, accountId: string): Promise<AccountStanding | undefined> {
  return (await tx.query<AccountStanding>(standing, [tx.institutionId, accountId])).rows[0];
}

const restrict = sql(
  'accounts_restrict',
  'update accounts set operator_restriction = $3 where institution_id = $1 and account_key = $2',
);

export async function updateRestriction(
  tx: Queryable,
  accountKey: bigint,
  restriction: Restriction | null,
): Promise<void> {
  await tx.query(restrict, [tx.institutionId, accountKey, restriction]);
}

const close = sql(
  'accounts_close',
  'update accounts set closed = true, closed_by_operator = true where institution_id = $1 and account_key = $2',
);

/** The caller has closed its balance. */
export async function updateClosed(tx: Queryable, accountKey: bigint): Promise<void> {
  await tx.query(close, [tx.institutionId, accountKey]);
}
