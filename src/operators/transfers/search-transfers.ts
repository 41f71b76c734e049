import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import type { Page, PageRequest } from '../../shared/page.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { selectOwnWindow } from './own-transfer-queries.ts';
import {
  type FoundTransferRow,
  selectTransferPlace,
  selectTransferWindow,
  type TransferSearchFilter,
} from './search-queries.ts';

const rowsRead = 2_000;

/**
 * Transfers, the newest first. A page reads at most two thousand rows of the period, or of the account or member of the
 * filter, and may be short, or empty, before the last. The audit notes each page, as a read of the account or the member that the search is for.
 */
export async function searchTransfers(
  {
    database,
    auth: { audit },
  }: { readonly database: Database; readonly auth: { readonly audit: AuditTrail } },
  institutionId: InstitutionId,
  {
    filter,
    page: { limit, after },
    origin,
  }: { readonly filter: TransferSearchFilter; readonly page: PageRequest; readonly origin: CommandOrigin },
): Promise<Page<FoundTransferRow>> {
  const read = { ...subjectOf(filter), outcome: 'succeeded', reason: 'transfers', origin } as const;
  await audit.noteRead(institutionId, read);
  const { accountId, userId } = filter;
  const isOwn = accountId !== undefined || userId !== undefined;
  const select = isOwn ? selectOwnWindow : selectTransferWindow;
  const most = isOwn && isWholeWindow(filter) ? limit + 1 : rowsRead;
  const rows = await database.read(institutionId, async (db) => {
    const [key] = after ?? [];
    if (key === undefined) return select(db, { filter, limit: most });
    const before = await selectTransferPlace(db, key);
    // A position that no page has given.
    if (before === undefined) return [];
    return select(db, { before, filter, limit: most });
  });
  const matching = rows.filter(({ matches }) => matches);
  const items = matching.slice(0, limit);
  const isCut = matching.length > limit;
  const last = isCut ? items.at(-1) : rows.at(-1);
  const hasMore = isCut || rows.length === most;
  return { items, next: hasMore && last !== undefined ? [last.transferKey] : null };
}

/** Whether all transfers of an account or a member match the rest of the filter. */
function isWholeWindow({ accountId, userId, failureCode, leastMinor, mostMinor }: TransferSearchFilter) {
  const isOfBoth = accountId !== undefined && userId !== undefined;
  return !isOfBoth && [failureCode, leastMinor, mostMinor].every((value) => value === undefined);
}

function subjectOf({ accountId, userId }: TransferSearchFilter) {
  if (userId !== undefined) return { action: 'person.read', userId, subject: accountId } as const;
  if (accountId !== undefined) return { action: 'account.read', subject: accountId } as const;
  return { action: 'transfer.read' } as const;
}
