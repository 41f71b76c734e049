import {
  type AuditFilter,
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

/**
 * The matching entries, oldest first. The search leaves an entry with what was searched: the name as its hash, and the address as a personal field.
 */
export async function* searchAudit(
  { database, clock }: Deps,
  institutionId: InstitutionId,
  {
    filter,
    afterKey,
    origin,
  }: { readonly filter: AuditFilter; readonly afterKey?: bigint | undefined; readonly origin: CommandOrigin },
): AsyncGenerator<RecordedAuditEntry> {
  const { userId, clientId, subject, nameHash, network, ...rest } = filter;
  const search = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  await database.transaction(institutionId, (tx) =>
    appendAudit(
      tx,
      {
        ...{ action: 'audit.read', outcome: 'succeeded', origin, userId, clientId, subject, nameHash },
        ...(Object.keys(search).length > 0 && { after: search }),
        ...(network !== undefined && { personal: { after: { network } } }),
      },
      clock(),
    ),
  );
  yield* readAudit(database, institutionId, filter, afterKey);
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
