import type { Actor } from '../institutions/index.ts';
import type { Outcome, TransferOrder } from './transfer.ts';
import type { TransferDesk } from './transfer-desk.ts';

/**
 * Initiates a transfer: once per id, for ever. Amounts are exact; who may order it is read from holder records.
 *
 * Outcomes are values (see Outcome). Problems: `overloaded` and `database_unavailable` (nothing was or will be
 * written), `outcome_unknown` (repeating the same id is safe), `internal_error` (nothing was written).
 */
export async function initiateTransfer(
  desk: TransferDesk,
  actor: Actor,
  order: TransferOrder,
): Promise<Outcome> {
  const outcome = await desk.queue.submit(actor.institutionId, { kind: 'initiate', ...order, actor });
  return outcome as Outcome;
}
