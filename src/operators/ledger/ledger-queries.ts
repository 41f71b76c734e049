import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

export interface ClassBalanceRow {
  /** The type of members' accounts, or the purpose of an internal one. */
  readonly class: string;
  readonly isInternal: boolean;
  /** The one account of a purpose; null for a class of members' accounts. */
  readonly accountId: string | null;
  readonly currency: string;
  readonly accounts: number;
  readonly debits: string;
  readonly credits: string;
  /** The time of the newest entry of all its accounts. */
  readonly newestAt: Date;
}

const newestWalked = 64;

// An account that has not moved since the moment costs no read of an entry. Most others have moved a few times, so a walk back over their
// newest entries finds the last one before; a binary search does so for the rest, at ten times the cost of a short walk. Both entries of a
// posting have one time, so the sum is zero at every moment.
/** Of a balance `b`, just before the moment `$2`; null for now. */
export const postedBefore = `
     select case when $2::timestamptz is null or b.last_at < $2 then b.posted
                 else coalesce(
                   (select e.posted_after from entries e
                    where e.institution_id = $1 and e.account_key = b.account_key and e.seq > b.seq - ${newestWalked}
                      and e.recorded_at < $2
                    order by e.seq desc limit 1),
                   case when b.seq > ${newestWalked} then
                     (select e.posted_after from entries e
                      where e.institution_id = $1 and e.account_key = b.account_key
                        and e.seq = (select entries_before($1, b.account_key, $2))) end, 0) end as posted`;

const classBalances = sql(
  'operators_class_balances',
  `select coalesce(a.purpose, a.di_account_type) as class, a.purpose is not null as is_internal,
          min(case when a.purpose is not null then a.account_id end) as account_id, b.currency,
          count(*) filter (where p.posted <> 0)::integer as accounts,
          sum(greatest(-p.posted, 0))::text as debits, sum(greatest(p.posted, 0))::text as credits,
          max(b.last_at) as newest_at
   from balances b
   join accounts a on a.institution_id = b.institution_id and a.account_key = b.account_key
   cross join lateral (${postedBefore}) p
   where b.institution_id = $1
   group by class, is_internal, b.currency
   order by b.currency, is_internal, class`,
);

/** The balances of each class just before a moment; null for now. */
export async function selectClassBalances(db: Queryable, before: Date | null): Promise<ClassBalanceRow[]> {
  return (await db.query<ClassBalanceRow>(classBalances, [db.institutionId, before])).rows;
}

export interface FlowRow {
  readonly from: string;
  readonly to: string;
  /** The one account of a purpose; null for a class of members' accounts. */
  readonly fromAccountId: string | null;
  readonly toAccountId: string | null;
  readonly currency: string;
  readonly postings: number;
  readonly amount: string;
}

const completedCodes = listClasses.filter(({ status }) => status === 'COMPLETED').map(({ code }) => code);

// Transfers by class, so that each range of the index is read and no other row. A posting of the core without a settlement account is the echo
// of a transfer, which the first half counts.
const flows = sql(
  'operators_flows',
  `with moved as (
     select t.from_key, t.to_key, count(*) as postings, sum(t.amount) as amount
     from transfers t
     where t.institution_id = $1 and t.list_class in (select unnest(array[${completedCodes.join(', ')}]::smallint[]))
       and t.transfer_key > 0 and t.created_at >= $2 and t.created_at < $3
     group by t.from_key, t.to_key
     union all
     select case when c.amount < 0 then c.account_key else c.settlement_key end,
            case when c.amount < 0 then c.settlement_key else c.account_key end, count(*), sum(abs(c.amount))
     from core_transactions c
     where c.institution_id = $1 and c.recorded_at >= $2 and c.recorded_at < $3 and c.settlement_key is not null
       and not c.is_historic
     group by 1, 2
   )
   select coalesce(f.purpose, f.di_account_type) as "from", coalesce(t.purpose, t.di_account_type) as "to", f.currency,
          min(case when f.purpose is not null then f.account_id end) as from_account_id,
          min(case when t.purpose is not null then t.account_id end) as to_account_id,
          sum(m.postings)::integer as postings, sum(m.amount)::text as amount
   from moved m
   join accounts f on f.institution_id = $1 and f.account_key = m.from_key
   join accounts t on t.institution_id = $1 and t.account_key = m.to_key
   group by 1, 2, 3
   order by 3, sum(m.amount) desc, 1, 2`,
);

/** The money that moved between classes, the largest sums of each currency first. */
export async function selectFlows(
  db: Queryable,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<FlowRow[]> {
  return (await db.query<FlowRow>(flows, [db.institutionId, since, until])).rows;
}
