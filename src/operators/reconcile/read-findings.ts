import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import { type FindingKind, type KeptFinding, listFindings } from '../../reconciliation/index.ts';
import type { Page, PageRequest } from '../../shared/page.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';

interface Deps {
  readonly database: Database;
  readonly auth: { readonly audit: AuditTrail };
}

interface Wanted {
  readonly runKey: bigint;
  readonly kind?: FindingKind | undefined;
  readonly page: PageRequest;
  readonly origin: CommandOrigin;
}

/** The kept findings of a run, which name balances of accounts. Undefined: there is no such run. The audit notes the read. */
export async function readFindings(
  { database, auth: { audit } }: Deps,
  institutionId: InstitutionId,
  { origin, ...wanted }: Wanted,
): Promise<Page<KeptFinding> | undefined> {
  const found = await listFindings(database, institutionId, wanted);
  if (found === undefined) return undefined;
  const read = { action: 'account.read', outcome: 'succeeded', reason: 'findings' } as const;
  await audit.noteRead(institutionId, { ...read, subject: String(wanted.runKey), origin });
  return found;
}
