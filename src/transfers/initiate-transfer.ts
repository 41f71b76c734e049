import type { Origin } from '../events/index.ts';
import type { Actor } from '../institutions/index.ts';
import { requireSignIn } from './admission/require-sign-in.ts';
import { screenOrder } from './admission/screen-order.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import type { Outcome, TransferOrder } from './rules/transfer.ts';

/**
 * Moves money from one account to another, once per transfer id. The batch that decides the order also reads whether the
 * actor's token is active, and whether the actor may pay from the source account. An institution that screens orders is asked
 * first.
 *
 * Problems: `insufficient_user_authentication`, `invalid_token`, `overloaded`, `database_unavailable` and `internal_error` mean that nothing was or will be
 * written. After `outcome_unknown` the caller can safely send the same id again.
 */
export async function initiateTransfer(
  desk: TransferDesk,
  actor: Actor,
  { order, origin }: { readonly order: TransferOrder; readonly origin: Origin },
): Promise<Outcome> {
  const signIn = await requireSignIn(desk, actor, order);
  const screening = await screenOrder(desk, actor, { order, origin });
  const submitted = { kind: 'initiate', ...order, actor, origin, screening, signIn } as const;
  const outcome = await desk.queue.submit(actor.institutionId, submitted);
  return outcome as Outcome;
}
