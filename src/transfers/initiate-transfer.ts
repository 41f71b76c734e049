import type { Origin } from '../events/index.ts';
import type { Actor } from '../institutions/index.ts';
import type { Condition } from '../storage/index.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import type { Outcome, TransferOrder } from './rules/transfer.ts';

/**
 * Initiates a transfer: once per id, for ever. Amounts are exact; who may order it is read from holder records. Where it
 * is not known yet whether the actor's token lives, that is the `condition`: the order's batch reads it, decides nothing
 * before, and rejects the order with what refuses it.
 *
 * Outcomes are values (see Outcome). Problems: `overloaded` and `database_unavailable` (nothing was or will be
 * written), `outcome_unknown` (repeating the same id is safe), `internal_error` (nothing was written).
 */
export async function initiateTransfer(
  desk: TransferDesk,
  actor: Actor,
  order: TransferOrder,
  origin: Origin,
  condition?: Condition,
): Promise<Outcome> {
  const submitted = { kind: 'initiate', ...order, actor, origin } as const;
  const outcome = await desk.queue.submit(actor.institutionId, submitted, condition);
  return outcome as Outcome;
}
