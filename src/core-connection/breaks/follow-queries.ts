import { type Directory, type InstitutionId, type Queryable, sql } from '../../storage/index.ts';
import type { BreakEnd, FoundBreak } from './break.ts';

/** A break that the service finds by itself, with the parts of its note. */
export interface NewsRow extends Omit<FoundBreak, 'note' | 'accountSeq' | 'coreId' | 'asOf'> {
  readonly transferId: string;
  readonly refusalCode: string | null;
  readonly refusalReason: string | null;
  /** Delivered, or decided. */
  readonly since: Date;
}

const news = sql('core_breaks_to_open', 'select * from core_breaks_to_open($1, $2)');

export async function selectNews(db: Queryable, at: Date): Promise<NewsRow[]> {
  return (await db.query<NewsRow>(news, [db.institutionId, at])).rows;
}

export interface EndingRow {
  readonly breakKey: bigint;
  readonly closedBy: BreakEnd;
  readonly detail: string | null;
}

const nextOpen = sql(
  'core_breaks_after',
  `select break_key from core_breaks
   where institution_id = $1 and closed_at is null and break_key > $2
   order by break_key limit $3`,
);

/** The open breaks after this one, in the order of their keys. */
export async function selectNextOpen(db: Queryable, after: bigint, limit: number): Promise<bigint[]> {
  const { rows } = await db.query<{ breakKey: bigint }>(nextOpen, [db.institutionId, after, limit]);
  return rows.map(({ breakKey }) => breakKey);
}

// An account's difference has arrived if the core's postings of before the moment that came since then add up to it. The echo with
// the right amount ends the break of a wrong one.
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
   where b.institution_id = $1 and b.break_key = any ($2::bigint[]) and b.closed_at is null`,
);

/** Those of the breaks whose reason is over. */
export async function selectEndings(db: Queryable, breakKeys: readonly bigint[]): Promise<EndingRow[]> {
  if (breakKeys.length === 0) return [];
  return (await db.query<EndingRow>(endings, [db.institutionId, breakKeys])).rows;
}

const toTend = sql('core_to_tend', 'select institution from cores_to_tend($1)');

/** Institutions with an authorization to end, a break to open, or an open break. */
export async function selectCoresToTend(db: Directory, now: Date): Promise<InstitutionId[]> {
  const { rows } = await db.query<{ institution: InstitutionId }>(toTend, [now]);
  return rows.map(({ institution }) => institution);
}
