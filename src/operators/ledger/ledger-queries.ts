import { listClasses } from '../../ledger/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

export interface ClassBalanceRow {
  /** The type of members' accounts, or the purpose of an internal one. */
  readonly class: string;
  readonly isInternal: boolean;
  readonly currency: string;
  readonly accounts: number;
  readonly debits: string;
  readonly credits: string;
}

const newestWalked = 64;

// An account that has not moved since the moment costs no read of an entry. Most others have moved a few times, so a walk back over their
// newest entries finds the last one before; a binary search does so for the rest, at ten times the cost of a short walk. Both entries of a
// posting have one time, so the sum is zero at every moment.
const classBalances = sql(
  'operators_class_balances',
  `select coalesce(a.purpose, a.di_account_type) as class, a.purpose is not null as is_internal, b.currency,
          count(*) filter (where p.posted <> 0)::integer as accounts,
          sum(greatest(-p.posted, 0))::text as debits, sum(greatest(p.posted, 0))::text as credits
   from balances b
   join accounts a on a.institution_id = b.institution_id and a.account_key = b.account_key
   cross join lateral (
     select case when $2::timestamptz is null or b.last_at < $2 then b.posted
                 else coalesce(
                   (select e.posted_after from entries e
                    where e.institution_id = $1 and e.account_key = b.account_key and e.seq > b.seq - ${newestWalked}
                      and e.recorded_at < $2
                    order by e.seq desc limit 1),
                   case when b.seq > ${newestWalked} then
                     (select e.posted_after from entries e
                      where e.institution_id = $1 and e.account_key = b.account_key
                        and e.seq = (select entries_before($1, b.account_key, $2))) end, 0) end as posted) p
   where b.institution_id = $1
   group by 1, 2, 3
   order by 3, 2, 1`,
);

/** The balances of each class just before a moment; null for now. */
export async function selectClassBalances(db: Queryable, before: Date | null): Promise<ClassBalanceRow[]> {
  return (await db.query<ClassBalanceRow>(classBalances, [db.institutionId, before])).rows;
}

export interface FlowRow {
  readonly from: string;
  readonly to: string;
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
