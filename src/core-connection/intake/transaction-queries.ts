import { counted, type InstitutionId, type Queryable, rowsOf, sql, type Write } from '../../storage/index.ts';
import type { CoreKind } from './transaction-line.ts';

/** A transaction of the core beside its entry. */
export interface CoreTransactionRow {
  readonly coreId: string;
  readonly accountKey: bigint;
  /** Number of the entry on the account. */
  readonly seq: bigint;
  readonly postingKey: bigint;
  /** Null for the echo of a transfer. */
  readonly settlementKey: bigint | null;
  readonly amount: bigint;
  readonly kind: CoreKind;
  readonly postedAt: Date;
  /** YYYY-MM-DD */
  readonly effectiveDate: string;
  readonly description: string;
  readonly checkNumber: string | null;
  readonly merchant: string | null;
  readonly category: string | null;
  readonly runningBalance: bigint | null;
  readonly authorizationId: string | null;
  readonly isHistoric: boolean;
}

export interface KnownTransactionRow extends CoreTransactionRow {
  readonly accountId: string;
  /** The transfer that it echoes. */
  readonly transferId: string | null;
}

const known = sql(
  'core_known_transactions',
  `select c.core_id, c.account_key, c.seq, c.posting_key, c.settlement_key, c.amount, c.kind, c.posted_at, c.effective_date,
          c.description, c.check_number, c.merchant, c.category, c.running_balance, c.authorization_id, c.is_historic,
          b.account_id,
          case when c.settlement_key is null then (
            select t.transfer_id from transfers t
            where t.institution_id = $1 and t.transfer_key = c.posting_key) end as transfer_id
   from core_transactions c
   join balances b on b.institution_id = $1 and b.account_key = c.account_key
   where c.institution_id = $1 and c.core_id = any ($2::text[])`,
);

export async function selectKnownTransactions(
  db: Queryable,
  coreIds: readonly string[],
): Promise<KnownTransactionRow[]> {
  return (await db.query<KnownTransactionRow>(known, [db.institutionId, coreIds])).rows;
}

const insert = counted(
  'core_insert_transactions',
  'core_transactions',
  'cardinality($3::new_core_transaction[])',
  `insert into core_transactions (institution_id, core_id, account_key, seq, posting_key, settlement_key, amount, kind, posted_at,
                                  effective_date, description, check_number, merchant, category, running_balance,
                                  authorization_id, is_historic, recorded_at)
   select $1, v.core_id, v.account_key, v.seq, v.posting_key, v.settlement_key, v.amount, v.kind, v.posted_at, v.effective_date,
          v.description, v.check_number, v.merchant, v.category, v.running_balance, v.authorization_id, v.is_historic, $2
   from unnest($3::new_core_transaction[]) as v`,
);

export function insertTransactions(
  institutionId: InstitutionId,
  rows: readonly CoreTransactionRow[],
  at: Date,
): readonly Write[] {
  if (rows.length === 0) return [];
  const values = [
    institutionId,
    at,
    rowsOf(rows, (row) => [
      row.coreId,
      row.accountKey,
      row.seq,
      row.postingKey,
      row.settlementKey,
      row.amount,
      row.kind,
      row.postedAt,
      row.effectiveDate,
      row.description,
      row.checkNumber,
      row.merchant,
      row.category,
      row.runningBalance,
      row.authorizationId,
      row.isHistoric,
    ]),
  ];
  return [{ statement: insert, values }];
}

/** A transfer that the core names as ours, with the entry that it left on one of its accounts. */
export interface EchoedTransferRow {
  readonly transferId: string;
  readonly accountId: string;
  readonly transferKey: bigint;
  readonly status: string;
  /** The number of its entry on the account; null if it has none, or the account is neither of its two. */
  readonly seq: bigint | null;
  readonly amount: bigint | null;
  /** The core's id that has echoed this entry before. */
  readonly echoedBy: string | null;
}

// The entry was recorded when the transfer settled, so the search begins there.
const echoed = sql(
  'core_echoed_transfers',
  `select asked.transfer_id, asked.account_id, t.transfer_key, t.status, e.seq, e.amount,
          (select c.core_id from core_transactions c
           where c.institution_id = $1 and c.account_key = b.account_key and c.seq = e.seq) as echoed_by
   from unnest($2::text[], $3::text[]) as asked (transfer_id, account_id)
   join idempotency_keys k on k.institution_id = $1 and k.transfer_id = asked.transfer_id
   join transfers t on t.institution_id = $1 and t.transfer_key = k.transfer_key
   left join balances b on b.institution_id = $1 and b.account_id = asked.account_id
   left join lateral (
     select e.seq, e.amount from entries e
     where e.institution_id = $1 and e.account_key = b.account_key and e.posting_key = t.transfer_key and e.kind = 'TRANSFER'
       and e.seq > entries_before($1, b.account_key, t.settled_at)
     order by e.seq limit 1
   ) e on t.status = 'COMPLETED' and b.account_key in (t.from_key, t.to_key)`,
);

export async function selectEchoedTransfers(
  db: Queryable,
  asked: readonly { readonly transferId: string; readonly accountId: string }[],
): Promise<EchoedTransferRow[]> {
  if (asked.length === 0) return [];
  const values = [
    db.institutionId,
    asked.map(({ transferId }) => transferId),
    asked.map(({ accountId }) => accountId),
  ];
  return (await db.query<EchoedTransferRow>(echoed, values)).rows;
}
