import { insertOf, jsonOf, type Queryable, sql } from '../../storage/index.ts';
import type { Limit } from '../rules/controls/limits.ts';

const limits = sql(
  'transfers_limits',
  `select limit_key, subject, period, transfer_type, source_type, currency, max_per_transfer, max_amount, max_count,
          review_above
   from transfer_limits where institution_id = $1 order by limit_key`,
);

export async function selectLimits(db: Queryable): Promise<Limit[]> {
  return (await db.query<Limit>(limits, [db.institutionId])).rows;
}

const removeLimits = sql('transfers_remove_limits', 'delete from transfer_limits where institution_id = $1');
const addLimits = sql(
  'transfers_add_limits',
  insertOf(
    'transfer_limits',
    `limit_key, subject, period, transfer_type, source_type, currency, max_per_transfer, max_amount, max_count,
     review_above`,
  ),
);
const useKeys = sql(
  'transfers_use_limit_keys',
  `insert into limit_keys (institution_id, limit_key, counts)
   select $1, v.* from unnest($2::integer[], $3::text[]) as v
   on conflict do nothing`,
);
const keysTaken = sql(
  'transfers_limit_keys_taken',
  `select k.limit_key from limit_keys k
   join unnest($2::integer[], $3::text[]) as v (limit_key, counts) on v.limit_key = k.limit_key
   where k.institution_id = $1 and k.counts <> v.counts
   order by k.limit_key`,
);

/**
 * Replaces all limits of the institution. A limit keeps its counters for as long as it keeps its key. Returns the keys that
 * were ever used to count something else; if there are any, nothing is replaced.
 */
export async function replaceLimits(tx: Queryable, rows: readonly Limit[]): Promise<number[]> {
  const { institutionId } = tx;
  const used = [institutionId, rows.map((row) => row.limitKey), rows.map(whatCounts)];
  await tx.query(useKeys, used);
  const taken = (await tx.query<{ limitKey: number }>(keysTaken, used)).rows.map((row) => row.limitKey);
  if (taken.length > 0) return taken;
  await tx.query(removeLimits, [institutionId]);
  await tx.query(addLimits, [institutionId, jsonOf(rows)]);
  return [];
}

/** The same text as the column `counts` of `limit_keys`. */
function whatCounts({ subject, period, transferType, sourceType, currency }: Limit): string {
  return [subject, period, transferType ?? '', sourceType ?? '', currency].join(' ');
}
