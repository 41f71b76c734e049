import {
  type Break,
  type BreakFilter,
  type BreakWithStory,
  findBreak,
  listBreaks,
  searchBreaks,
} from '../../core-connection/index.ts';
import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import type { Page, PageRequest } from '../../shared/page.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly auth: { readonly audit: AuditTrail };
}

const read = { action: 'account.read', outcome: 'succeeded' } as const;

/** A break with its story, which names the balance of the account. Undefined: there is none. The audit notes the read of the account. */
export async function readBreak(
  { database, auth: { audit } }: Deps,
  institutionId: InstitutionId,
  { breakKey, origin }: { readonly breakKey: bigint; readonly origin: CommandOrigin },
): Promise<BreakWithStory | undefined> {
  const found = await findBreak(database, institutionId, breakKey);
  if (found === undefined) return undefined;
  await audit.noteRead(institutionId, { ...read, reason: 'break', subject: found.accountId, origin });
  return found;
}

/** Accounts with the amounts by which they differ, in the order in which the breaks were opened. The audit notes the read. */
export async function readBreaks(
  deps: Deps,
  institutionId: InstitutionId,
  {
    filter,
    page,
    origin,
  }: { readonly filter: BreakFilter; readonly page: PageRequest; readonly origin: CommandOrigin },
): Promise<Page<Break>> {
  await deps.auth.audit.noteRead(institutionId, { ...read, reason: 'breaks', origin });
  return listBreaks(deps, institutionId, { filter, page });
}

/** The audit notes a search that found some. */
export async function findBreaks(
  { database, auth: { audit } }: Deps,
  institutionId: InstitutionId,
  { wanted, origin }: { readonly wanted: Parameters<typeof searchBreaks>[2]; readonly origin: CommandOrigin },
): Promise<Break[]> {
  const found = await searchBreaks(database, institutionId, wanted);
  if (found.length > 0) await audit.noteRead(institutionId, { ...read, reason: 'breaks', origin });
  return found;
}
