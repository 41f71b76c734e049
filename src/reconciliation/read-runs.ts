import { type Page, type PageRequest, pageOf } from '../shared/page.ts';
import type { Database, InstitutionId } from '../storage/index.ts';
import type { FindingKind } from './finding-kinds.ts';
import {
  type CountOfKind,
  type KeptFinding,
  type ReconcileRun,
  selectFindings,
  selectKindsOfRun,
  selectNewestRun,
  selectRun,
  selectRuns,
} from './run-queries.ts';

const highestKey = 9_223_372_036_854_775_807n;

/** The runs of an institution, the newest first. */
export async function listRuns(
  database: Database,
  institutionId: InstitutionId,
  { withFindings, page: { limit, after } }: { readonly withFindings: boolean; readonly page: PageRequest },
): Promise<Page<ReconcileRun>> {
  const below = after?.[0] ?? highestKey;
  const rows = await database.read(institutionId, (db) =>
    selectRuns(db, { below, withFindings, limit: limit + 1 }),
  );
  return pageOf(
    rows,
    limit,
    (row) => row,
    ({ runKey }) => [runKey],
  );
}

export type RunWithKinds = ReconcileRun & { readonly kinds: readonly CountOfKind[] };

/** A run with the number of its kept findings by kind; the newest one, unless a key is given. Undefined: there is none. */
export function findRun(
  database: Database,
  institutionId: InstitutionId,
  runKey?: bigint,
): Promise<RunWithKinds | undefined> {
  return database.read(institutionId, async (db) => {
    const run = runKey === undefined ? await selectNewestRun(db) : await selectRun(db, runKey);
    return run && { ...run, kinds: await selectKindsOfRun(db, run.runKey) };
  });
}

/** The kept findings of a run, in the order in which it found them. Undefined: there is no such run. */
export async function listFindings(
  database: Database,
  institutionId: InstitutionId,
  {
    runKey,
    kind,
    page: { limit, after },
  }: { readonly runKey: bigint; readonly kind?: FindingKind | undefined; readonly page: PageRequest },
): Promise<Page<KeptFinding> | undefined> {
  const [position = 0n] = after ?? [];
  return database.read(institutionId, async (db) => {
    if ((await selectRun(db, runKey)) === undefined) return undefined;
    // No run keeps so many; a position of another list leads behind the last.
    const place = position > 2_147_483_646n ? 2_147_483_646 : Number(position);
    const rows = await selectFindings(db, { runKey, kind, after: place, limit: limit + 1 });
    return pageOf(
      rows,
      limit,
      (row) => row,
      (row) => [BigInt(row.place)],
    );
  });
}
