import { type Queryable, sql } from '../../storage/index.ts';

export interface LedgerEntryRow {
  readonly seq: bigint;
  readonly recordedAt: Date;
  readonly kind: string;
  readonly amount: bigint;
  readonly postedAfter: bigint;
  readonly debitsPendingAfter: bigint;
  readonly creditsPendingAfter: bigint;
  readonly transferId: string | null;
}

const before = sql(
  'operators_entries_before',
  `select e.seq, e.recorded_at, e.kind, e.amount, e.posted_after, e.debits_pending_after, e.credits_pending_after,
          t.transfer_id
   from entries e
   left join transfers t on t.institution_id = e.institution_id and t.transfer_key = e.posting_key
   where e.institution_id = $1 and e.account_key = $2 and e.seq < $3
   order by e.seq desc
   limit $4`,
);

/** The entries of an account before a number, the newest first. */
export async function selectEntriesBefore(
  db: Queryable,
  accountKey: bigint,
  { seq, limit }: { readonly seq: bigint; readonly limit: number },
): Promise<LedgerEntryRow[]> {
  return (await db.query<LedgerEntryRow>(before, [db.institutionId, accountKey, seq, limit])).rows;
}

const balancesBefore = sql(
  'operators_balances_before',
  `select m.moment, e.posted_after as balance
   from unnest($3::timestamptz[]) as m (moment)
   join entries e on e.institution_id = $1 and e.account_key = $2 and e.seq = (select entries_before($1, $2, m.moment))
   order by m.moment`,
);

/** The balance of an account just before each moment, in their order. A moment before the first entry has no row. */
export async function selectBalancesBefore(
  db: Queryable,
  accountKey: bigint,
  moments: readonly Date[],
): Promise<{ readonly moment: Date; readonly balance: bigint }[]> {
  const { rows } = await db.query<{ readonly moment: Date; readonly balance: bigint }>(balancesBefore, [
    db.institutionId,
    accountKey,
    moments,
  ]);
  return rows;
}
