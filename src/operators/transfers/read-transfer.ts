import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { type ShownTransfer, showTransfer } from '../../transfers/index.ts';
import { type ShownEvent, selectDeliveriesOfTransfer } from './deliveries.ts';

/** A transfer as its institution sees it, with its events and their deliveries. */
export interface ReadTransfer extends ShownTransfer {
  /** Without those that are in the archive. */
  readonly events: readonly ShownEvent[];
}

/** A transfer for an operator. Its memo and its accounts are a member's, so the audit records the read. Undefined if there is none. */
export async function readTransfer(
  deps: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { transferId, origin }: { readonly transferId: string; readonly origin: CommandOrigin },
): Promise<ReadTransfer | undefined> {
  const { database, clock } = deps;
  const shown = await showTransfer(deps, institutionId, transferId);
  if (shown === undefined) return undefined;
  const { transfer, settledAt, core } = shown;
  const moments = [transfer.createdAt, settledAt, core?.decidedAt ?? null].filter((at) => at !== null);
  const of = { transferKey: shown.transferKey, moments };
  const events = await database.snapshot(institutionId, (tx) => selectDeliveriesOfTransfer(tx, of));
  const entry = { action: 'transfer.read', outcome: 'succeeded', subject: transferId, origin } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  return { ...shown, events };
}
