import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import { admitLogin, type LoginRow, selectLoginOf } from '../../members/index.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { type Device, seeDevice } from '../sign-in/devices.ts';
import type { HalfProvenMember, ProvenMember } from '../sign-in/prove-password.ts';
import { backoffKeyOf, countWrongPassword, signInRefusal } from '../sign-in/wrong-passwords.ts';
import {
  type AuthenticatorRow,
  hasRecoveryCode,
  selectAuthenticator,
  spendRecoveryCode,
  spendStep,
} from './authenticator-queries.ts';
import { recoveryCodeHash } from './recovery-codes.ts';
import { openSecret } from './sealed-secret.ts';
import { stepOfCode } from './totp.ts';

export interface CodeAttempt {
  readonly institutionId: InstitutionId;
  /** The app that the member signs in to. */
  readonly clientId: string;
  readonly half: HalfProvenMember;
  /** A code of the authenticator app, or a recovery code in its place. */
  readonly typed: { readonly kind: 'code' | 'recovery_code'; readonly text: string };
  readonly origin: Origin;
  readonly device: Device;
  /** Sources of sign-ins that are slowed if they mostly fail. */
  readonly sources: readonly string[];
}

type CodeProof =
  | { readonly kind: 'proven'; readonly member: ProvenMember }
  | { readonly kind: 'refused' }
  /** The password, the authenticator or the member changed since the password was checked. */
  | { readonly kind: 'start_anew' };

/**
 * Checks the second step of a sign-in by password. A wrong code counts as a wrong password: it delays the next try, every fifth in a row locks
 * sign-in by password, and a hundred disable the password. The audit has the reason of a refusal. Problem `overloaded`.
 */
export async function proveCode(deps: AuthDeps, attempt: CodeAttempt): Promise<CodeProof> {
  const { institutionId, clientId, half, origin, sources } = attempt;
  const user = await deps.database.read(institutionId, (db) => selectLoginOf(db, half.userKey));
  if (user?.username == null || user.tokenEpoch !== half.userEpoch) return { kind: 'start_anew' };
  const backoffKey = backoffKeyOf(deps, institutionId, user.username);
  await deps.sprays.wait(sources);
  await deps.loginBackoff.wait(backoffKey, clientId);
  return deps.logins.run(clientId, async () => {
    const { userKey, userId } = user;
    const authenticator = await deps.database.read(institutionId, (db) => selectAuthenticator(db, userKey));
    if (authenticator === undefined) return { kind: 'start_anew' };
    const now = deps.clock();
    const right = await rightCode(deps, attempt, { authenticator, now });
    const reason = signInRefusal(user, right !== undefined, deps.businessTime(institutionId, now));
    if (right !== undefined && reason === undefined) {
      const member = await admit(deps, attempt, { user, authenticator, right, now });
      if (member !== undefined) {
        deps.loginBackoff.succeeded(backoffKey);
        deps.sprays.succeeded(sources, userKey);
        return { kind: 'proven', member };
      }
    }
    deps.loginBackoff.failed(backoffKey);
    deps.sprays.failed(sources);
    const counted = reason === undefined || reason === 'wrong_password' ? user : undefined;
    await countWrongPassword(deps, { institutionId, clientId, origin }, counted);
    const entry = { action: 'login', outcome: 'refused', origin, clientId, userId } as const;
    const told = reason === 'wrong_password' ? 'wrong_code' : (reason ?? 'code_used');
    deps.audit.note(institutionId, { ...entry, reason: told });
    return { kind: 'refused' };
  });
}

type RightCode =
  | { readonly kind: 'code'; readonly step: number }
  | { readonly kind: 'recovery_code'; readonly codeHash: Buffer };

/** Undefined for a wrong one. */
async function rightCode(
  { database, vault }: AuthDeps,
  { institutionId, half: { userKey }, typed }: CodeAttempt,
  { authenticator, now }: { readonly authenticator: AuthenticatorRow; readonly now: Date },
): Promise<RightCode | undefined> {
  if (typed.kind === 'recovery_code') {
    const codeHash = recoveryCodeHash(vault, { institutionId, userKey }, typed.text);
    const isKnown = await database.read(institutionId, (db) => hasRecoveryCode(db, userKey, codeHash));
    return isKnown ? { kind: 'recovery_code', codeHash } : undefined;
  }
  const secret = openSecret(vault, authenticator);
  const lastStep = Number(authenticator.lastStep);
  const step = secret && stepOfCode(secret, typed.text, { now, lastStep });
  return step === undefined ? undefined : { kind: 'code', step };
}

interface Admission {
  readonly user: LoginRow;
  readonly authenticator: AuthenticatorRow;
  readonly right: RightCode;
  readonly now: Date;
}

/** Undefined if the code was used by another sign-in at this moment, or the member was locked or changed. A spent code stays spent. */
function admit(
  deps: AuthDeps,
  { institutionId, clientId, origin, device }: CodeAttempt,
  { user, authenticator, right, now }: Admission,
): Promise<ProvenMember | undefined> {
  const { userKey, userId, tokenEpoch: userEpoch, customerIds, passwordHash } = user;
  const businessNow = deps.businessTime(institutionId, now);
  const facts = { outcome: 'succeeded', origin, clientId, userId } as const;
  return deps.database.transaction(institutionId, async (tx) => {
    if (!(await spend(tx, userKey, { authenticator, right, now }))) return undefined;
    if (!(await admitLogin(tx, user, { now: businessNow, passwordHash }))) return undefined;
    await seeDevice(tx, deps, { userKey, device, clientId, at: now });
    if (right.kind === 'recovery_code') {
      await appendEvents(tx, [{ kind: 'member.recovery_code_used', subjectKey: userKey }], now);
      const left = { recoveryCodes: authenticator.recoveryCodes - 1 };
      await appendAudit(tx, { ...facts, action: 'recovery_code.used', after: left }, now);
    }
    await appendAudit(tx, { ...facts, action: 'login', reason: `password_and_${right.kind}` }, now);
    // RFC 8176. It has no word for a recovery code, which is a second factor all the same.
    const methods = right.kind === 'code' ? ['pwd', 'otp', 'mfa'] : ['pwd', 'mfa'];
    return { userId, userKey, userEpoch, customerIds, provenAt: now, methods };
  });
}

function spend(
  tx: Transaction,
  userKey: bigint,
  { authenticator: { authenticatorId }, right, now: at }: Omit<Admission, 'user'>,
): Promise<boolean> {
  return right.kind === 'code'
    ? spendStep(tx, userKey, { authenticatorId, step: right.step, at })
    : spendRecoveryCode(tx, userKey, right.codeHash);
}
