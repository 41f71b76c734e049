import { type Queryable, sql } from '../../storage/index.ts';
import type { BreakEnd, FoundBreak } from './break.ts';

/** A break that the service finds by itself, with the parts of its note. */
export interface NewsRow extends Omit<FoundBreak, 'note' | 'accountSeq' | 'coreId' | 'asOf'> {
  readonly transferId: string;
  readonly refusalCode: string | null;
  readonly refusalReason: string | null;
  /** Delivered, or decided. */
  readonly since: Date;
}

/*
 * late       a delivered instruction without an outcome after core_wait_seconds
 * refused    a reversal that the core has refused: both of its sides
 * below      the account that had to return a transfer that the core has refused, while it is below its floor
 *
 * Refusals are looked for thirty days back, so that one is found that was decided while no process looked. Each has one break, ever.
 */
const news = sql(
  'core_breaks_to_open',
  `with late as (
     select 'TIMING' as class, 'instruction:' || t.transfer_id as subject, t.from_account_id as account_id, i.from_key as account_key,
            i.instruction_key as transfer_key, i.currency, 0::bigint as difference_minor, t.transfer_id, null as refusal_code,
            null as refusal_reason, i.delivered_at as since
     from core_instructions i
     cross join lateral (
       select t.transfer_id, t.transfer_type, t.from_account_id from transfers t
       where t.institution_id = $1 and t.transfer_key = i.instruction_key offset 0
     ) t
     where i.institution_id = $1 and i.state = 'OPEN' and i.delivered_at is not null
       and i.delivered_at < $2::timestamptz - make_interval(secs => coalesce((
         select p.core_wait_seconds from transfer_policies p
         where p.institution_id = $1 and p.transfer_type = t.transfer_type and p.currency = i.currency), 86400))
   ), refusals as materialized (
     select i.instruction_key, i.currency, i.refusal_code, i.refusal_reason, i.decided_at, i.from_key, i.to_key, i.amount,
            t.transfer_id, t.from_account_id, t.to_account_id, t.reverses_key is not null as is_reversal
     from core_instructions i
     cross join lateral (
       select t.transfer_id, t.from_account_id, t.to_account_id, t.reverses_key from transfers t
       where t.institution_id = $1 and t.transfer_key = i.instruction_key offset 0
     ) t
     where i.institution_id = $1 and i.state = 'REJECTED' and i.mode <> 'WAIT' and i.decided_at > $2::timestamptz - interval '30 days'
   ), refused as (
     select 'REVERSAL_REJECTED', 'reversal:' || r.transfer_id || ':' || side.account_id, side.account_id, side.account_key,
            r.instruction_key, r.currency, side.difference, r.transfer_id, r.refusal_code, r.refusal_reason, r.decided_at
     from refusals r
     cross join lateral (values (r.from_account_id, r.from_key, r.amount), (r.to_account_id, r.to_key, -r.amount))
       as side (account_id, account_key, difference)
     where r.is_reversal
   ), below as (
     select 'BELOW_FLOOR', 'floor:' || r.transfer_id, r.to_account_id, r.to_key, r.instruction_key, r.currency, 0::bigint,
            r.transfer_id, r.refusal_code, r.refusal_reason, r.decided_at
     from refusals r
     join balances b on b.institution_id = $1 and b.account_key = r.to_key
     join accounts a on a.institution_id = $1 and a.account_key = r.to_key
     where not r.is_reversal and a.category = 'DEPOSIT' and b.posted - b.debits_pending < -a.overdraft_limit
   ), found as (
     select * from late union all select * from refused union all select * from below
   )
   select * from found f
   where not exists (select from core_breaks b where b.institution_id = $1 and b.subject = f.subject)
   limit 1000`,
);

export async function selectNews(db: Queryable, at: Date): Promise<NewsRow[]> {
  return (await db.query<NewsRow>(news, [db.institutionId, at])).rows;
}

export interface EndingRow {
  readonly breakKey: bigint;
  readonly closedBy: BreakEnd;
  readonly detail: string | null;
}

/*
 * An account's difference has arrived if the core's postings of before the moment that came since then add up to it. The echo with the
 * right amount ends the break of a wrong one.
 */
const endings = sql(
  'core_breaks_to_close',
  `select b.break_key, e.closed_by, e.detail
   from core_breaks b
   cross join lateral (
     select 'DECIDED' as closed_by, lower(i.state) as detail from core_instructions i
     where b.class = 'TIMING' and b.transfer_key is not null
       and i.institution_id = $1 and i.instruction_key = b.transfer_key and i.state <> 'OPEN'
     union all
     select 'ARRIVED', c.core_id from core_transactions c
     where b.class in ('MISSING_HERE', 'UNKNOWN_ACCOUNT') and c.institution_id = $1 and c.core_id = b.core_id
     union all
     select 'ARRIVED', null
     where b.core_id is null and b.transfer_key is null and b.account_seq is not null and b.difference <> 0 and b.difference = (
       select sum(c.amount) from core_transactions c
       where c.institution_id = $1 and c.account_key = b.account_key and c.seq > b.account_seq and c.settlement_key is not null
         and c.posted_at <= b.as_of)
     union all
     select 'ARRIVED', c.core_id from core_transactions c
     where b.class = 'AMOUNT_MISMATCH' and c.institution_id = $1 and c.account_key = b.account_key
       and c.effective_date >= b.opened_at::date - 40 and c.posting_key = b.transfer_key and c.settlement_key is null
     union all
     select 'RECOVERED', null from balances n
     join accounts a on a.institution_id = $1 and a.account_key = n.account_key
     where b.class = 'BELOW_FLOOR' and n.institution_id = $1 and n.account_key = b.account_key
       and n.posted - n.debits_pending >= -a.overdraft_limit
   ) e
   where b.institution_id = $1 and b.closed_at is null
   limit 1000`,
);

export async function selectEndings(db: Queryable): Promise<EndingRow[]> {
  return (await db.query<EndingRow>(endings, [db.institutionId])).rows;
}
