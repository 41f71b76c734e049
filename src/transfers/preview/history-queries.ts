import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import type { FailureCode, TransferStatus, TransferType } from '../rules/transfer.ts';

// The first of each status and type, each by its range of the index.
const firstKey = sql(
  'transfers_history_first',
  `select min(f.transfer_key) as first_key
   from unnest(array[${listClasses.map(({ code }) => code).join(', ')}]::smallint[]) as c (code)
   cross join lateral (
     select t.transfer_key from transfers t
     where t.institution_id = $1 and t.list_class = c.code and t.transfer_key > 0 and t.created_at >= $2
     order by t.created_at, t.transfer_key limit 1) f`,
);

/** The key of the first transfer at or after a moment; null if there is none. */
export async function selectFirstKey(db: Queryable, since: Date): Promise<bigint | null> {
  const { rows } = await db.query<{ firstKey: bigint | null }>(firstKey, [db.institutionId, since]);
  return rows[0]?.firstKey ?? null;
}

const keyOfNewest = sql(
  'transfers_history_newest',
  `select t.transfer_key from transfers t
   where t.institution_id = $1 and t.transfer_key >= $2
   order by t.transfer_key desc
   offset $3 limit 1`,
);

/** The key of the first of the newest transfers; null if there are no more than `most` from the key on. */
export async function selectKeyOfNewest(
  db: Queryable,
  { from, most }: { readonly from: bigint; readonly most: number },
): Promise<bigint | null> {
  const { rows } = await db.query<{ transferKey: bigint }>(keyOfNewest, [db.institutionId, from, most]);
  const [before] = rows;
  return before === undefined ? null : before.transferKey + 1n;
}

export interface HistoryRow {
  readonly transferKey: bigint;
  readonly transferId: string;
  readonly transferType: TransferType | null;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly createdAt: Date;
  readonly status: TransferStatus;
  readonly failureCode: FailureCode | null;
  readonly clientId: string | null;
  readonly userKey: bigint | null;
  readonly reversesKey: bigint | null;
  readonly accountKey: bigint;
  readonly customerKey: bigint | null;
  readonly diAccountType: string;
  readonly verdict: string | null;
}

const history = sql(
  'transfers_history',
  `select t.transfer_key, t.transfer_id, t.transfer_type, t.amount as amount_minor, t.currency, t.created_at, t.status, t.failure_code,
          t.client_id, t.user_key, t.reverses_key, a.account_key, a.customer_key, a.di_account_type, s.verdict
   from transfers t
   join accounts a on a.institution_id = $1 and a.account_key = t.from_key
   left join transfer_screenings s on s.institution_id = $1 and s.transfer_key = t.transfer_key
   where t.institution_id = $1 and t.transfer_key >= $2
   order by t.transfer_key
   limit $3`,
);

/** Transfers from a key on, in the order in which they were decided. */
export async function selectHistory(
  db: Queryable,
  { from, limit }: { readonly from: bigint; readonly limit: number },
): Promise<HistoryRow[]> {
  return (await db.query<HistoryRow>(history, [db.institutionId, from, limit])).rows;
}
