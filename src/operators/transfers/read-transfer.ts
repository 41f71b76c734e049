import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { type ShownTransfer, showTransfer } from '../../transfers/index.ts';

/** A transfer for an operator. Its memo and its accounts are a member's, so the audit records the read. Undefined if there is none. */
export async function readTransfer(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { transferId, origin }: { readonly transferId: string; readonly origin: CommandOrigin },
): Promise<ShownTransfer | undefined> {
  const shown = await showTransfer(database, institutionId, transferId);
  if (shown === undefined) return undefined;
  const entry = { action: 'transfer.read', outcome: 'succeeded', subject: transferId, origin } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  return shown;
}
