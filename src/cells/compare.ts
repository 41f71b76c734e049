import type { InstitutionId } from '../storage/index.ts';
import { run, type Side } from './side.ts';
import { type MovedTable, thatMove } from './tables.ts';

export interface Compared {
  readonly rows: bigint;
  /** Tables of which the two sides have other rows. */
  readonly differing: readonly string[];
}

/**
 * Compares all rows of the institution on both sides: their number, and the sum of a hash of each. Columns stand in the order of their
 * names, since databases of another history may have them in another order.
 */
export async function compareSides(
  sides: readonly [Side, Side],
  institutionId: InstitutionId,
  tables: readonly MovedTable[],
): Promise<Compared> {
  const moved = thatMove(tables, 'replicated');
  const [here, there] = await Promise.all(
    sides.map(async ({ db }) => {
      const sums = await Promise.all(
        moved.map(({ name, columns }) =>
          run<{ rows: bigint; sum: string }>(
            db,
            `select count(*) as rows, coalesce(sum(hashtextextended(row(${columns})::text, 0)::numeric), 0)::text as sum
             from public."${name}" where institution_id = $1`,
            [institutionId],
          ),
        ),
      );
      return sums.map(([row]) => row as { rows: bigint; sum: string });
    }),
  );
  return {
    rows: here?.reduce((sum, { rows }) => sum + rows, 0n) ?? 0n,
    differing: moved.flatMap(({ name }, index) => {
      const [one, other] = [here?.[index], there?.[index]];
      return one?.rows === other?.rows && one?.sum === other?.sum ? [] : [name];
    }),
  };
}
