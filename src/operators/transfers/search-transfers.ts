import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { readSums } from '../ledger/bounded-read.ts';
import { selectOwnWindow } from './own-transfer-queries.ts';
import {
  type FoundTransferRow,
  selectTransferPlace,
  selectTransfersByAmount,
  selectTransferWindow,
  type TransferSearchFilter,
} from './search-queries.ts';

const rowsRead = 2_000;

/** A minus is the newest, or the largest, first. */
export const transferOrders = ['time', '-time', 'amount', '-amount'] as const;
type TransferSearchOrder = (typeof transferOrders)[number];

interface Deps {
  readonly database: Database;
  readonly auth: { readonly audit: AuditTrail };
}

interface Search {
  readonly filter: TransferSearchFilter;
  /** Default: the newest first. */
  readonly order?: TransferSearchOrder | undefined;
  readonly page: PageRequest;
}

/**
 * The transfers of a search. The audit notes each page, as a read of the account or the member that the search is for. Problem `act_refused`: the
 * amounts of the period took longer than ten seconds to sort.
 */
export async function searchTransfers(
  deps: Deps,
  institutionId: InstitutionId,
  { origin, ...search }: Search & { readonly origin: CommandOrigin },
): Promise<Page<FoundTransferRow>> {
  const read = { ...subjectOf(search.filter), outcome: 'succeeded', reason: 'transfers', origin } as const;
  await deps.auth.audit.noteRead(institutionId, read);
  const { order = '-time' } = search;
  const isDescending = order.startsWith('-');
  return order.endsWith('time')
    ? pageByTime(deps, institutionId, { ...search, isDescending })
    : pageByAmount(deps, institutionId, { ...search, isDescending });
}

/** A page reads at most two thousand rows of the period, or of the account or member of the filter, and may be short, or empty, before the last. */
async function pageByTime(
  { database }: Deps,
  institutionId: InstitutionId,
  { filter, page: { limit, after }, isDescending }: Search & { readonly isDescending: boolean },
): Promise<Page<FoundTransferRow>> {
  const isOwn = filter.accountId !== undefined || filter.userId !== undefined;
  const select = isOwn ? selectOwnWindow : selectTransferWindow;
  const most = isWholeWindow(filter) ? limit + 1 : rowsRead;
  const rows = await database.read(institutionId, async (db) => {
    const [key] = after ?? [];
    const place = key === undefined ? undefined : await selectTransferPlace(db, key);
    // A position that no page has given.
    if (key !== undefined && place === undefined) return [];
    return select(db, { filter, isDescending, place, limit: most });
  });
  const matching = rows.filter(({ matches }) => matches);
  const items = matching.slice(0, limit);
  const isCut = matching.length > limit;
  const last = isCut ? items.at(-1) : rows.at(-1);
  const hasMore = isCut || rows.length === most;
  return { items, next: hasMore && last !== undefined ? [last.transferKey] : null };
}

/** Whether all transfers of a window match: those of the institution, of an account or of a member, by state, type and period. */
function isWholeWindow({ accountId, userId, failureCode, leastMinor, mostMinor }: TransferSearchFilter) {
  const isOfBoth = accountId !== undefined && userId !== undefined;
  return !isOfBoth && [failureCode, leastMinor, mostMinor].every((value) => value === undefined);
}

async function pageByAmount(
  { database }: Deps,
  institutionId: InstitutionId,
  { filter, page: { limit, after }, isDescending }: Search & { readonly isDescending: boolean },
): Promise<Page<FoundTransferRow>> {
  const rows = await readSums(database, institutionId, {
    advice: 'Choose a shorter period.',
    read: async (db) => {
      const [key] = after ?? [];
      const place = key === undefined ? undefined : await selectTransferPlace(db, key);
      if (key !== undefined && place === undefined) return [];
      return selectTransfersByAmount(db, { filter, isDescending, place, limit: limit + 1 });
    },
  });
  return pageOf(
    rows,
    limit,
    (row) => row,
    ({ transferKey }) => [transferKey],
  );
}

function subjectOf({ accountId, userId }: TransferSearchFilter) {
  if (userId !== undefined) return { action: 'person.read', userId, subject: accountId } as const;
  if (accountId !== undefined) return { action: 'account.read', subject: accountId } as const;
  return { action: 'transfer.read' } as const;
}
