import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { type Break, type BreakClass, type BreakNote, breakClasses } from './break.ts';
import { selectBreak, selectBreaks, selectStory } from './break-queries.ts';
import { type BreakSearch, selectFoundBreaks } from './search-queries.ts';

export interface BreakFilter {
  readonly isOpen: boolean;
  readonly class?: BreakClass | undefined;
  /** Opened so long ago or longer. */
  readonly olderThanSeconds?: number | undefined;
}

/** Breaks in the order in which they were opened. */
export async function listBreaks(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { filter, page: { limit, after } }: { readonly filter: BreakFilter; readonly page: PageRequest },
): Promise<Page<Break>> {
  const { isOpen, class: wanted, olderThanSeconds = 0 } = filter;
  const rows = await database.read(institutionId, (db) =>
    selectBreaks(db, {
      isOpen,
      classes: wanted === undefined ? breakClasses : [wanted],
      until: new Date(clock().getTime() - olderThanSeconds * 1000),
      after: after?.[0] ?? 0n,
      limit: limit + 1,
    }),
  );
  return pageOf(
    rows,
    limit,
    (row) => row,
    ({ breakKey }) => [breakKey],
  );
}

export type BreakWithStory = Break & { readonly story: readonly BreakNote[] };

const notesShown = 200;

/** A break with its newest notes, at most 200. Undefined: there is none. */
export async function findBreak(
  database: Database,
  institutionId: InstitutionId,
  breakKey: bigint,
): Promise<BreakWithStory | undefined> {
  return database.read(institutionId, async (db) => {
    const found = await selectBreak(db, breakKey);
    return found && { ...found, story: await selectStory(db, breakKey, notesShown) };
  });
}

/**
 * Breaks by their id, and by the account, the posting or the transfer that differs. Open ones by their amount, in either direction, and by
 * their owner too.
 */
export function searchBreaks(
  database: Database,
  institutionId: InstitutionId,
  { limit, ...wanted }: BreakSearch & { readonly limit: number },
): Promise<Break[]> {
  return database.read(institutionId, (db) => selectFoundBreaks(db, wanted, limit));
}
