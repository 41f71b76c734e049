import {
  type AuditFilter,
  type AuditReading,
  appendAudit,
  type Chain,
  type CommandOrigin,
  type ExportedEntry,
  exportAudit,
  type RecordedAuditEntry,
  readAudit,
} from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
}

interface Search extends AuditReading {
  readonly filter: AuditFilter;
  readonly origin: CommandOrigin;
}

/**
 * The matching entries, oldest first unless `newestFirst`. The search leaves an entry with what was searched: the name as its hash, and the address as a personal field.
 */
export async function* searchAudit(
  { database, clock }: Deps,
  institutionId: InstitutionId,
  { filter, origin, ...reading }: Search,
): AsyncGenerator<RecordedAuditEntry> {
  const { after, ...about } = auditOfSearch(filter);
  const entry = { action: 'audit.read', outcome: 'succeeded', origin, ...about } as const;
  await database.transaction(institutionId, (tx) =>
    appendAudit(tx, { ...entry, ...(Object.keys(after).length > 0 && { after }) }, clock()),
  );
  yield* readAudit(database, institutionId, filter, reading);
}

/**
 * One page of the matching entries for a file, which leaves the screen. The page is returned once an entry has its filter, its number of entries
 * and the keys of the first and the last.
 */
export async function exportFoundAudit(
  { database, clock }: Deps,
  institutionId: InstitutionId,
  { filter, origin, most, ...reading }: Search & { readonly most: number },
): Promise<{ readonly entries: readonly RecordedAuditEntry[]; readonly hasMore: boolean }> {
  const found: RecordedAuditEntry[] = [];
  for await (const one of readAudit(database, institutionId, filter, reading)) {
    found.push(one);
    if (found.length > most) break;
  }
  const entries = found.slice(0, most);
  const [firstKey, lastKey] = [entries.at(0)?.auditKey, entries.at(-1)?.auditKey];
  const { after, ...about } = auditOfSearch(filter);
  const file = { form: 'file', entries: entries.length, firstKey, lastKey };
  const entry = { action: 'audit.exported', outcome: 'succeeded', origin, ...about } as const;
  await database.transaction(institutionId, (tx) =>
    appendAudit(tx, { ...entry, after: { ...after, ...file } }, clock()),
  );
  return { entries, hasMore: found.length > most };
}

/** The filter as an entry keeps it. */
function auditOfSearch({ userId, clientId, subject, nameHash, network, ...rest }: AuditFilter) {
  const after = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const personal = network === undefined ? undefined : { after: { network } };
  return { userId, clientId, subject, nameHash, after, personal };
}

/** The first page of an export after a number of a chain. Problem `invalid_request` for a number beyond the chain. */
export async function exportAuditPage(
  { database, clock }: Deps,
  institutionId: InstitutionId,
  {
    origin,
    ...wanted
  }: {
    readonly chain: Chain;
    readonly after: number;
    readonly withPersonal: boolean;
    readonly origin: CommandOrigin;
  },
): Promise<readonly ExportedEntry[]> {
  const { chain, after: from, withPersonal: personal } = wanted;
  const entry = { action: 'audit.exported', outcome: 'succeeded', after: { chain, from, personal } } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, { ...entry, origin }, clock()));
  try {
    for await (const page of exportAudit(database, institutionId, wanted)) return page;
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Problem('invalid_request', `The chain ${chain} has no entry ${from}.`);
  }
}
