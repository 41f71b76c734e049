import { type Queryable, sql } from '../storage/index.ts';

const figuresBefore = sql(
  'accounts_figures_before',
  `select b.seq, b.last_at, e.posted_after as posted, e.debits_pending_after as debits_pending
   from balances b
   left join entries e on e.institution_id = b.institution_id and e.account_key = b.account_key
     and e.seq = (select entries_before($1, $2, $3))
   where b.institution_id = $1 and b.account_key = $2`,
);

/** The figures of the account just before the moment; undefined before its first entry. */
export async function selectFiguresBefore(
  db: Queryable,
  accountKey: bigint,
  moment: Date,
): Promise<{ readonly posted: bigint; readonly debitsPending: bigint } | undefined> {
  const { rows } = await db.query<{
    readonly seq: bigint;
    readonly lastAt: Date;
    readonly posted: bigint | null;
    readonly debitsPending: bigint | null;
  }>(figuresBefore, [db.institutionId, accountKey, moment]);
  const [row] = rows;
  if (row === undefined) return undefined;
  if (row.posted !== null && row.debitsPending !== null)
    return { posted: row.posted, debitsPending: row.debitsPending };
  // Without entries the balance has been zero since the account was opened.
  return row.seq === 0n && row.lastAt < moment ? { posted: 0n, debitsPending: 0n } : undefined;
}
