import { type Queryable, sql } from '../../storage/index.ts';

export interface PostingRow {
  readonly postingKey: bigint;
  readonly kind: string;
  readonly recordedAt: Date;
  readonly transferId: string | null;
  /** The accounts of the transfer; null for a posting that no order made. */
  readonly fromKey: bigint | null;
  readonly toKey: bigint | null;
  /** The facts of the core, up to `settlementKey`; null if the core did not post it. */
  readonly coreId: string | null;
  readonly coreKind: string | null;
  readonly postedAt: Date | null;
  readonly effectiveDate: string | null;
  readonly description: string | null;
  readonly merchant: string | null;
  readonly checkNumber: string | null;
  readonly authorizationId: string | null;
  readonly settlementKey: bigint | null;
}

const posting = sql(
  'operators_posting',
  `select e.posting_key, e.kind, e.recorded_at, t.transfer_id, t.from_key, t.to_key,
          c.core_id, c.kind as core_kind, c.posted_at, c.effective_date::text, c.description, c.merchant, c.check_number,
          c.authorization_id, c.settlement_key
   from entries e
   left join transfers t on t.institution_id = $1 and t.transfer_key = e.posting_key
   left join core_transactions c on c.institution_id = $1 and c.account_key = e.account_key and c.seq = e.seq
   where e.institution_id = $1 and e.account_key = $2 and e.seq = $3`,
);

/** The posting of an entry, by the number of the entry in its account. */
export async function selectPosting(
  db: Queryable,
  accountKey: bigint,
  seq: bigint,
): Promise<PostingRow | undefined> {
  return (await db.query<PostingRow>(posting, [db.institutionId, accountKey, seq])).rows[0];
}

/** The facts of the core, and the member's account that it posted to. */
export type SettledRow = Pick<
  PostingRow,
  | 'coreId'
  | 'coreKind'
  | 'postedAt'
  | 'effectiveDate'
  | 'description'
  | 'merchant'
  | 'checkNumber'
  | 'authorizationId'
> & { readonly accountKey: bigint };

// An index of blocks by time leads to a few thousand rows. A posting is recorded after the facts if another process, whose clock is ahead, has
// moved one of its accounts.
const settled = sql(
  'operators_settled_transaction',
  `select c.account_key, c.core_id, c.kind as core_kind, c.posted_at, c.effective_date::text, c.description, c.merchant,
          c.check_number, c.authorization_id
   from core_transactions c
   where c.institution_id = $1 and c.recorded_at between $3::timestamptz - interval '1 minute' and $3
     and c.settlement_key = $2 and c.posting_key = $4`,
);

/** The core's facts about a posting on a settlement account. */
export async function selectSettled(
  db: Queryable,
  settlementKey: bigint,
  { recordedAt, postingKey }: Pick<PostingRow, 'recordedAt' | 'postingKey'>,
): Promise<SettledRow | undefined> {
  const values = [db.institutionId, settlementKey, recordedAt, postingKey];
  return (await db.query<SettledRow>(settled, values)).rows[0];
}

const newestSearched = 64;

// No index leads from a posting to its accounts, which would cost every transfer. So each account that has moved since is asked: its newest entries
// first, and by halving if it has more.
const otherSide = sql(
  'operators_other_side',
  `select b.account_key
   from balances b
   join accounts a on a.institution_id = b.institution_id and a.account_key = b.account_key
   where b.institution_id = $1 and b.currency = $2 and b.last_at >= $3 and a.purpose is null
     and (exists (select from entries e
                  where e.institution_id = $1 and e.account_key = b.account_key and e.seq > b.seq - ${newestSearched}
                    and e.posting_key = $4)
          or b.seq > ${newestSearched} and exists (
                  select from entries e
                  where e.institution_id = $1 and e.account_key = b.account_key
                    and e.seq > (select entries_before($1, b.account_key, $3))
                    and e.seq <= (select entries_before($1, b.account_key, $3 + interval '1 millisecond'))
                    and e.posting_key = $4))
   limit 1`,
);

/** The member's account that a posting has moved, searched among all that have moved since. */
export async function selectOtherSide(
  db: Queryable,
  currency: string,
  { recordedAt, postingKey }: Pick<PostingRow, 'recordedAt' | 'postingKey'>,
): Promise<bigint | undefined> {
  const values = [db.institutionId, currency, recordedAt, postingKey];
  return (await db.query<{ readonly accountKey: bigint }>(otherSide, values)).rows[0]?.accountKey;
}

const internalKeys = sql(
  'operators_internal_keys',
  `select a.account_key from accounts a
   where a.institution_id = $1 and a.purpose is not null and a.currency = $2
   order by a.account_key`,
);

/** The institution's own accounts in a currency: one of each purpose. */
export async function selectInternalKeys(db: Queryable, currency: string): Promise<bigint[]> {
  const { rows } = await db.query<{ readonly accountKey: bigint }>(internalKeys, [
    db.institutionId,
    currency,
  ]);
  return rows.map(({ accountKey }) => accountKey);
}

export interface PostingSideRow {
  readonly accountKey: bigint;
  readonly accountId: string;
  readonly diAccountType: string;
  readonly description: string;
  readonly isInternal: boolean;
  readonly seq: bigint;
  readonly kind: string;
  readonly amount: bigint;
  readonly postedAfter: bigint;
  readonly debitsPendingAfter: bigint;
  readonly creditsPendingAfter: bigint;
}

// The numbers of the entries of that moment are found by halving, as times never fall within an account; they are whole milliseconds.
const sides = sql(
  'operators_posting_sides',
  `select a.account_key, a.account_id, a.di_account_type, a.description, a.purpose is not null as is_internal,
          e.seq, e.kind, e.amount, e.posted_after, e.debits_pending_after, e.credits_pending_after
   from unnest($2::bigint[]) as k (account_key)
   join accounts a on a.institution_id = $1 and a.account_key = k.account_key
   cross join lateral (
     select entries_before($1, k.account_key, $3::timestamptz) as first,
            entries_before($1, k.account_key, $3::timestamptz + interval '1 millisecond') as last offset 0
   ) moment
   join entries e on e.institution_id = $1 and e.account_key = k.account_key and e.seq > moment.first and e.seq <= moment.last
     and e.posting_key = $4
   order by a.purpose is not null, e.amount, a.account_key, e.seq`,
);

/** The entries of a posting on some accounts, the member's first. */
export async function selectPostingSides(
  db: Queryable,
  of: { readonly accountKeys: readonly bigint[]; readonly recordedAt: Date; readonly postingKey: bigint },
): Promise<PostingSideRow[]> {
  const values = [db.institutionId, of.accountKeys, of.recordedAt, of.postingKey];
  return (await db.query<PostingSideRow>(sides, values)).rows;
}
