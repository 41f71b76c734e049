import { databaseFailureOf } from '../../shared/describe-error.ts';
import { Problem } from '../../shared/problem.ts';
import type { Database, InstitutionId, Queryable } from '../../storage/index.ts';

/** SQLSTATE of a statement that ran into `statement_timeout`. */
const canceled = '57014';

/**
 * Sums, or the largest rows, of a whole institution, on a connection of their own, so that no short read waits behind them. The database ends one after ten
 * seconds: problem `act_refused` with the advice.
 */
export async function readSums<Sums>(
  database: Database,
  institutionId: InstitutionId,
  { read, advice }: { readonly read: (db: Queryable) => Promise<Sums>; readonly advice: string },
): Promise<Sums> {
  try {
    return await database.snapshot(institutionId, read);
  } catch (error) {
    if (databaseFailureOf(error)?.sqlState !== canceled) throw error;
    throw new Problem('act_refused', `It took more than ten seconds to read this. ${advice}`);
  }
}
