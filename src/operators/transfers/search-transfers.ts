import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { Page, PageRequest } from '../../shared/page.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import {
  type FoundTransferRow,
  selectTransferPlace,
  selectTransferWindow,
  type TransferSearchFilter,
} from './search-queries.ts';

const rowsRead = 2_000;

/**
 * Transfers, the newest first. A page reads at most two thousand rows of the period and may be short, or empty, before the last. The audit
 * records a search for one account or member, once, with its first page.
 */
export async function searchTransfers(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  {
    filter,
    page: { limit, after },
    origin,
  }: { readonly filter: TransferSearchFilter; readonly page: PageRequest; readonly origin: CommandOrigin },
): Promise<Page<FoundTransferRow>> {
  const { accountId, userId } = filter;
  if (after === null && (accountId !== undefined || userId !== undefined)) {
    const about =
      userId === undefined
        ? ({ action: 'account.read', subject: accountId } as const)
        : ({ action: 'person.read', userId, subject: accountId } as const);
    const entry = { ...about, outcome: 'succeeded', reason: 'transfers', origin } as const;
    await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  }
  const rows = await database.read(institutionId, async (db) => {
    const [key] = after ?? [];
    if (key === undefined) return selectTransferWindow(db, { filter, limit: rowsRead });
    const before = await selectTransferPlace(db, key);
    // A position that no page has given.
    if (before === undefined) return [];
    return selectTransferWindow(db, { before, filter, limit: rowsRead });
  });
  const matching = rows.filter(({ matches }) => matches);
  const items = matching.slice(0, limit);
  const isCut = matching.length > limit;
  const last = isCut ? items.at(-1) : rows.at(-1);
  const hasMore = isCut || rows.length === rowsRead;
  return { items, next: hasMore && last !== undefined ? [last.transferKey] : null };
}
