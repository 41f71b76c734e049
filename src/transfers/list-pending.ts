import type { Database, InstitutionId } from '../storage/index.ts';
import {
  firstPosition,
  type PendingFilter,
  type PendingPosition,
  type ReviewRow,
  selectPendingPage,
} from './desk/pending-queries.ts';

const pageLength = 1_000;

/** The pending transfers, the first due first, read in pages. */
export async function* listPending(
  database: Database,
  institutionId: InstitutionId,
  filter: PendingFilter = {},
): AsyncGenerator<ReviewRow> {
  let after: PendingPosition = firstPosition;
  for (;;) {
    const page = await database.read(institutionId, (db) =>
      selectPendingPage(db, after, { filter, limit: pageLength }),
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageLength) return;
    after = last;
  }
}
