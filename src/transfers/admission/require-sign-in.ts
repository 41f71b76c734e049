import type { Actor, StepUpAct } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { suppose } from '../desk/suppose.ts';
import type { TransferDesk } from '../desk/transfer-desk.ts';
import { isAboveStepUp, isFresh, type OrderSignIn, type StepUpPolicy } from '../rules/controls/step-up.ts';
import type { TransferOrder } from '../rules/transfer.ts';
import { hasPaid } from '../transfer-queries.ts';

const knownForMillis = 400 * 86_400_000;

/**
 * The sign-in behind a member's order, if the institution wants recent ones for some transfers. An order that needs a more
 * recent or a stronger one is refused before it uses up its id. An order that fails anyway, or repeats an earlier one, needs
 * none.
 *
 * Problem `insufficient_user_authentication` (RFC 9470).
 */
export async function requireSignIn(
  desk: TransferDesk,
  actor: Actor,
  order: TransferOrder,
): Promise<OrderSignIn | undefined> {
  if (actor.kind === 'client') return undefined;
  const { institution } = await desk.deps.settings(actor.institutionId);
  const { policies } = institution;
  if (policies.transferStepUpMaxAgeSeconds === 0) return undefined;
  const { authenticatedAt: signedInAt, acr = null } = actor;
  const signIn = signedInAt && { signedInAt, acr, checkedAt: desk.deps.clock() };
  if (isFresh(signIn, policies)) return signIn;

  const { existing, judgement, at } = await suppose(desk, actor, order);
  if (existing !== undefined || 'malformed' in judgement || judgement.failure !== null) return signIn;
  if (isAboveStepUp(judgement, institution)) throw needsSignIn(policies, 'transfer_amount');
  const { from, to } = judgement;
  if (!policies.transferStepUpNewDestination || from === undefined || to === undefined) return signIn;
  if (from.customerKey === to.customerKey) return signIn;
  const since = new Date(at.getTime() - knownForMillis);
  const payment = { customerKey: from.customerKey, toKey: to.accountKey, since };
  const isKnown = await desk.database.read(actor.institutionId, (db) => hasPaid(db, payment));
  if (!isKnown) throw needsSignIn(policies, 'transfer_destination');
  return signIn;
}

function needsSignIn(
  { transferStepUpMaxAgeSeconds, transferStepUpPasskey }: StepUpPolicy,
  act: StepUpAct,
): Problem {
  const how = transferStepUpPasskey ? 'with a passkey ' : '';
  return new Problem(
    'insufficient_user_authentication',
    `The member must sign in ${how}again before this transfer.`,
    {
      members: {
        max_age: transferStepUpMaxAgeSeconds,
        ...(transferStepUpPasskey && { acr_values: 'phr' }),
        step_up: act,
      },
    },
  );
}
