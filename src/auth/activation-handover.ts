import { appendAudit, findRegistered, type Origin, wipeSecret } from '../events/index.ts';
import type { ClientActor } from '../institutions/index.ts';
import { Problem } from '../problem.ts';
import { activationPurpose, findActivation } from './activation.ts';
import type { AuthDeps } from './deps.ts';
import { SealBroken, type Vault } from './vault.ts';

export interface HandedOverCode {
  readonly activationCode: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

/**
 * Hands the institution the activation code of a registration, by the id of its event, as often as it asks until it says
 * that the code was delivered: an answer may be lost. Each time is in the audit before it is answered.
 *
 * Problem `not_found`, always alike: no such registration here, its code delivered, or one that would activate nobody any
 * more (expired, used, tried too often, replaced by a newer one).
 */
export async function getActivationCode(
  deps: AuthDeps,
  { institutionId, clientId }: ClientActor,
  eventId: string,
  origin: Origin,
): Promise<HandedOverCode> {
  const registered = await deps.database.read(institutionId, (db) =>
    findRegistered(db, institutionId, eventId),
  );
  const activationCode = registered?.secret && unsealed(deps.vault, registered.secret);
  if (!activationCode) throw noCode();
  const found = await findActivation(deps, institutionId, activationCode);
  if (!found?.matches || found.activation.userKey !== registered.userKey) throw noCode();
  const { userId, expiresAt } = found.activation;
  const entry = {
    action: 'user.activation_code_read',
    outcome: 'succeeded',
    clientId,
    userId,
    origin,
  } as const;
  await deps.database.write(institutionId, (db) => appendAudit(db, institutionId, entry, deps.clock()));
  return { activationCode, userId, expiresAt };
}

/**
 * The institution has the code: it is wiped, and handed over no more. Saying so again changes nothing.
 *
 * Problem `not_found`: no such registration here.
 */
export async function acknowledgeActivationCode(
  deps: AuthDeps,
  { institutionId, clientId }: ClientActor,
  eventId: string,
  origin: Origin,
): Promise<void> {
  await deps.database.transaction(institutionId, async (tx) => {
    const registered = await findRegistered(tx, institutionId, eventId);
    if (registered === undefined) throw noCode();
    if (!(await wipeSecret(tx, institutionId, registered.eventKey))) return;
    const { userId } = registered;
    const action = 'user.activation_code_delivered';
    const entry = { action, outcome: 'succeeded', clientId, userId, origin } as const;
    await appendAudit(tx, institutionId, entry, deps.clock());
  });
}

/** Undefined where it was sealed under a SECRET_KEY before: it would activate nobody either. */
function unsealed(vault: Vault, sealed: Uint8Array): string | undefined {
  try {
    return Buffer.from(vault.open(activationPurpose, sealed)).toString();
  } catch (error) {
    if (error instanceof SealBroken) return undefined;
    throw error;
  }
}

function noCode(): Problem {
  return new Problem('not_found', 'There is no activation code to hand over for this event.');
}
