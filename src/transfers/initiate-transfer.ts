import type { Actor } from '../institutions/index.ts';
import type { Outcome, TransferOrder } from './transfer.ts';
import type { TransferDesk } from './transfer-desk.ts';

/**
 * Initiates a transfer: once per id, for ever. Amounts are exact; who may order it is read from holder records. Where it
 * is still being asked whether the actor's token lives, `confirmed` says so: nothing is decided before, and what it
 * rejects with is what the order is rejected with.
 *
 * Outcomes are values (see Outcome). Problems: `overloaded` and `database_unavailable` (nothing was or will be
 * written), `outcome_unknown` (repeating the same id is safe), `internal_error` (nothing was written).
 */
export async function initiateTransfer(
  desk: TransferDesk,
  actor: Actor,
  order: TransferOrder,
  confirmed?: Promise<unknown> | null,
): Promise<Outcome> {
  const submitted = { kind: 'initiate', ...order, actor } as const;
  const outcome = await desk.queue.submit(actor.institutionId, submitted, confirmed);
  return outcome as Outcome;
}
