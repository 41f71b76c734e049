import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import { type LoginRow, selectLogin } from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { networkOf } from '../sign-in/network.ts';
import { issueActivation } from './activation.ts';
import { hasActivation } from './activation-queries.ts';

const validMillis = 30 * 60_000;
/** Every response takes at least this long, so that its time does not tell whether the username exists. */
const leastMillis = 300;

interface ActivationWish {
  readonly clientId: string;
  readonly username: string;
  readonly origin: Origin;
}

/**
 * A member who forgot the password gets a new activation code, which the institution fetches by the event and sends to the address that it
 * knows. While a code is valid no further one is issued, so nobody fills a member's mailbox. The caller learns nothing: not whether the
 * username exists, nor whether a code was issued. Problem `overloaded` if a source asks for many.
 */
export async function requestActivation(
  deps: AuthDeps,
  institutionId: InstitutionId,
  wish: ActivationWish,
): Promise<void> {
  const sources = [`forgotten ${institutionId} ${networkOf(wish.origin.address ?? '')}`];
  await deps.sprays.wait(sources);
  // A wish is none that succeeds or fails. Twenty from one network within minutes slow the next ones.
  deps.sprays.failed(sources);
  await Promise.all([issue(deps, institutionId, wish), sleep(leastMillis)]);
}

async function issue(
  deps: AuthDeps,
  institutionId: InstitutionId,
  { clientId, username, origin }: ActivationWish,
): Promise<void> {
  const at = deps.clock();
  const now = deps.businessTime(institutionId, at);
  await deps.database.transaction(institutionId, async (tx) => {
    const user = await selectLogin(tx, username);
    const refusal = await refusalOf(user, (userKey) => hasActivation(tx, userKey, now));
    const entry = { action: 'user.activation_code_issued', clientId, userId: user?.userId, origin } as const;
    if (user === undefined || refusal !== undefined) {
      return appendAudit(tx, { ...entry, outcome: 'refused', reason: refusal }, at);
    }
    const { userKey } = user;
    const { sealedCode, expiresAt } = await issueActivation(deps.vault, tx, {
      userKey,
      at: now,
      validMillis,
    });
    const kind = 'member.activation_requested';
    await appendEvents(
      tx,
      [{ kind, subjectKey: userKey, secret: sealedCode, secretExpiresAt: expiresAt }],
      at,
    );
    return appendAudit(tx, { ...entry, outcome: 'succeeded', reason: 'forgotten_password' }, at);
  });
}

async function refusalOf(
  user: LoginRow | undefined,
  hasCode: (userKey: bigint) => Promise<boolean>,
): Promise<string | undefined> {
  if (user === undefined) return 'unknown_user';
  if (!user.active || user.lockedByOperator) return 'not_active';
  if (user.customerIds.length === 0) return 'no_membership';
  return (await hasCode(user.userKey)) ? 'code_valid' : undefined;
}
