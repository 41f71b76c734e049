import { findInstitution } from '../institutions/index.ts';
import type { Database, InstitutionId } from '../storage/index.ts';
import {
  firstPosition,
  type PendingFilter,
  type PendingPosition,
  type ReviewRow,
  selectPendingPage,
} from './desk/pending-queries.ts';
import { selectWaitingReasons, type WaitingReason } from './show/waiting-reasons.ts';

const pageLength = 1_000;

/** A pending transfer, with the reasons why it waits. */
export interface ListedPending extends ReviewRow {
  readonly reasons: readonly WaitingReason[];
}

/** The pending transfers, the first due first, read in pages. */
export async function* listPending(
  database: Database,
  institutionId: InstitutionId,
  { now, filter = {} }: { readonly now: Date; readonly filter?: PendingFilter | undefined },
): AsyncGenerator<ListedPending> {
  const institution = await database.directory((db) => findInstitution(db, institutionId));
  if (institution === undefined) return;
  const { timeZone, clockAheadSeconds } = institution;
  const asOf = { timeZone, aheadMillis: Number(clockAheadSeconds) * 1_000, now };
  let after: PendingPosition = firstPosition;
  for (;;) {
    const page = await database.read(institutionId, async (db) => {
      const rows = await selectPendingPage(db, after, { filter, limit: pageLength });
      const reasons = await selectWaitingReasons(db, rows, asOf);
      return rows.map((row, at) => ({ ...row, reasons: reasons[at] ?? [] }));
    });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageLength) return;
    after = last;
  }
}
