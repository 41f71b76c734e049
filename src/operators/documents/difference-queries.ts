import { type Queryable, sql } from '../../storage/index.ts';

const standing = sql(
  'documents_standing_differences',
  `select b.break_key, b.difference as difference_minor from core_breaks b
   where b.institution_id = $1 and b.break_key = any ($2::bigint[]) and b.closed_at is null`,
);

/** The differences that these breaks have now, by the key of the break; none for a closed one. */
export async function selectStandingDifferences(
  db: Queryable,
  breakKeys: readonly bigint[],
): Promise<Map<bigint, bigint>> {
  const values = [db.institutionId, breakKeys];
  const { rows } = await db.query<{ breakKey: bigint; differenceMinor: bigint }>(standing, values);
  return new Map(rows.map(({ breakKey, differenceMinor }) => [breakKey, differenceMinor]));
}
