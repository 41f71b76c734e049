import { appendAudit, type Origin } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { type Device, seeDevice } from '../sign-in/devices.ts';
import type { ProvenMember } from '../sign-in/prove-password.ts';
import { type PasskeyRow, selectPasskey, spendChallenge, usePasskey } from './passkey-queries.ts';
import { relyingPartyOf, userHandleOf } from './relying-party.ts';
import { credentialIdOf, userHandleIn, verifyAssertion } from './verify-passkey.ts';

export interface PasskeyAttempt {
  readonly institutionId: InstitutionId;
  /** The app that the member signs in to. */
  readonly clientId: string;
  readonly credential: string;
  readonly challenge: string;
  /** The page of the challenge expires then. */
  readonly expiresAt: Date;
  readonly origin: Origin;
  readonly device: Device;
}

/**
 * Checks a passkey's answer to the challenge of a page; each challenge counts once. A lock by wrong passwords does not bind it, since no one
 * can guess a passkey. Undefined if it is refused, with the reason in the audit. Problem `overloaded`.
 */
export async function provePasskey(
  deps: AuthDeps,
  attempt: PasskeyAttempt,
): Promise<ProvenMember | undefined> {
  const { institutionId, clientId, origin } = attempt;
  const result = await deps.logins.run(clientId, () => prove(deps, attempt));
  if ('member' in result) return result.member;
  const entry = { action: 'login', outcome: 'refused', origin, clientId, ...result } as const;
  deps.audit.note(institutionId, entry);
  return undefined;
}

type Proof = { readonly member: ProvenMember } | { readonly reason: string; readonly userId?: string };

async function prove(deps: AuthDeps, attempt: PasskeyAttempt): Promise<Proof> {
  const { institutionId, clientId, credential, challenge, expiresAt, origin, device } = attempt;
  const credentialId = credentialIdOf(credential);
  const passkey =
    credentialId && (await deps.database.read(institutionId, (db) => selectPasskey(db, credentialId)));
  if (passkey === undefined) return { reason: 'unknown_passkey' };
  const { userId, userKey, userEpoch, customerIds, isSynced } = passkey;
  const relyingParty = relyingPartyOf(deps.issuer);
  const newCount = await verifyAssertion({ credential, challenge, relyingParty }, passkey);
  const reason = refusalOf(passkey, {
    isVerified: newCount !== undefined,
    isOwner: userHandleIn(credential) === userHandleOf(institutionId, userId),
  });
  if (newCount === undefined || reason !== undefined) return { reason: reason ?? 'wrong_passkey', userId };

  const at = deps.clock();
  const refused = await deps.database.transaction(institutionId, async (tx) => {
    if (!(await spendChallenge(tx, Buffer.from(challenge, 'base64url'), expiresAt))) return 'replayed';
    if (!(await usePasskey(tx, passkey, { newCount, at }))) return 'changed_meanwhile';
    await seeDevice(tx, deps, { userKey, device, clientId, at });
    const entry = { action: 'login', outcome: 'succeeded', reason: 'passkey' } as const;
    await appendAudit(tx, { ...entry, origin, clientId, userId, subject: passkey.passkeyId }, at);
    return undefined;
  });
  if (refused !== undefined) return { reason: refused, userId };
  // RFC 8176: the kind of key, the member's presence, and two factors: the device and its lock.
  const methods = [isSynced ? 'swk' : 'hwk', 'user', 'mfa'];
  return { member: { userId, userKey, userEpoch, customerIds, provenAt: at, methods } };
}

function refusalOf(
  { active, lockedByOperator }: PasskeyRow,
  { isVerified, isOwner }: { readonly isVerified: boolean; readonly isOwner: boolean },
): string | undefined {
  if (!isVerified || !isOwner) return 'wrong_passkey';
  if (lockedByOperator) return 'locked';
  if (!active) return 'inactive';
  return undefined;
}
