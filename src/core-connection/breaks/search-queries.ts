import { type Queryable, sql } from '../../storage/index.ts';
import type { Break } from './break.ts';
import { breakColumns } from './break-queries.ts';

// Closed breaks are many and never pruned: they are found through the indexes of their key and their subject alone.
const search = sql(
  'core_search_breaks',
  `with hits as (
     select b.break_key from core_breaks b where b.institution_id = $1 and b.break_key = $2
     union
     select b.break_key from core_breaks b where b.institution_id = $1 and b.subject = any ($3::text[])
     union
     select b.break_key
     from unnest($4::text[]) as s (beginning)
     cross join lateral (
       select b.break_key from core_breaks b
       where b.institution_id = $1 and b.subject > s.beginning || ':' and b.subject < s.beginning || ';' offset 0) b
     union
     select b.break_key from core_breaks b
     where b.institution_id = $1 and b.closed_at is null
       and (b.account_id = $5 or b.core_id = $5 or position(lower($5) in lower(b.owner)) > 0
            or b.difference in ($6::bigint, -$6::bigint)
            or b.transfer_key = (
              select t.transfer_key from transfers t where t.institution_id = $1 and t.transfer_id = $5 offset 0))
   )
   select ${breakColumns}
   from hits h
   join core_breaks b on b.institution_id = $1 and b.break_key = h.break_key
   order by b.break_key = $2 desc nulls last, b.closed_at is null desc, b.break_key desc
   limit $7`,
);

/** The terms of a search: the key of a break, the text of an id or of an owner, an amount in minor units. */
export interface BreakSearch {
  readonly breakKey: bigint | null;
  readonly text: string;
  readonly amountMinor: bigint | null;
}

/** The break of the key first, then open ones, the newest first. */
export async function selectFoundBreaks(
  db: Queryable,
  { breakKey, text, amountMinor }: BreakSearch,
  limit: number,
): Promise<Break[]> {
  const subjects = ['account', 'posting', 'instruction', 'floor'].map((kind) => `${kind}:${text}`);
  const beginnings = ['echo', 'reversal'].map((kind) => `${kind}:${text}`);
  const values = [db.institutionId, breakKey, subjects, beginnings, text, amountMinor, limit];
  return (await db.query<Break>(search, values)).rows;
}
