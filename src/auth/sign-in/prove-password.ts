import { appendAudit, type Origin } from '../../events/index.ts';
import { admitLogin, type LoginRow, selectLogin } from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { auditedNameHash } from '../clients/audited-name.ts';
import type { AuthDeps } from '../deps.ts';
import { hasAuthenticator } from '../second-factor/authenticator-queries.ts';
import { OAuthError, type RefusalFacts } from '../tokens/oauth-error.ts';
import { type Device, seeDevice } from './devices.ts';
import { backoffKeyOf, countWrongPassword, signInRefusal } from './wrong-passwords.ts';

export interface PasswordAttempt {
  readonly institutionId: InstitutionId;
  /** The app that the member signs in to. */
  readonly clientId: string;
  readonly username: string;
  readonly password: string;
  readonly origin: Origin;
  readonly device: Device;
  /** Sources of sign-ins that are slowed if they mostly fail. */
  readonly sources: readonly string[];
}

/** A member who proved who they are. */
export interface ProvenMember extends Pick<LoginRow, 'userKey' | 'userId' | 'customerIds'> {
  /** Read together with the proof. */
  readonly userEpoch: number;
  readonly provenAt: Date;
  /** How (RFC 8176). */
  readonly methods: readonly string[];
}

/** A member whose password was right, and who has a second step to go. */
export interface HalfProvenMember {
  readonly userKey: bigint;
  readonly userId: string;
  /** Read together with the password. */
  readonly userEpoch: number;
}

export type PasswordProof =
  | { readonly kind: 'proven'; readonly member: ProvenMember }
  | { readonly kind: 'code_needed'; readonly half: HalfProvenMember };

/**
 * Checks a member's password. Each wrong one delays the next try of that username, known or not. Every fifth in a row locks
 * the user for a growing time. A source whose sign-ins mostly fail is slowed.
 *
 * An unknown user, a wrong password, and a locked and an inactive user get the same refusal after the same work: one read, one
 * hash, one statement with a durable commit. A second step shows only after the right password. Throws OAuthError `invalid_grant` with the reason for the audit; Problem `overloaded`.
 */
export async function provePassword(deps: AuthDeps, attempt: PasswordAttempt): Promise<PasswordProof> {
  const { institutionId, clientId, username, sources } = attempt;
  const backoffKey = backoffKeyOf(deps, institutionId, username);
  await deps.sprays.wait(sources);
  await deps.loginBackoff.wait(backoffKey, clientId);
  return deps.logins.run(clientId, () => prove(deps, attempt, backoffKey));
}

async function prove(deps: AuthDeps, attempt: PasswordAttempt, backoffKey: string): Promise<PasswordProof> {
  const { institutionId, clientId, origin, sources } = attempt;
  const user = await deps.database.read(institutionId, (db) => selectLogin(db, attempt.username));
  const isRight = await deps.passwords.verify(user?.passwordHash ?? null, attempt.password);
  const now = deps.clock();
  const reason = signInRefusal(user, isRight, deps.businessTime(institutionId, now));
  if (user !== undefined && reason === undefined) {
    const passwordHash = await deps.passwords.upgrade(user.passwordHash, attempt.password);
    const admitted = await admit(deps, user, { attempt, passwordHash, now });
    const { userId, userKey, tokenEpoch: userEpoch, customerIds } = user;
    if (admitted === undefined) throw wrongCredentials({ reason: 'changed_meanwhile', userId });
    // Failures are forgotten after the second step.
    if (admitted === 'code_needed') return { kind: admitted, half: { userKey, userId, userEpoch } };
    deps.loginBackoff.succeeded(backoffKey);
    deps.sprays.succeeded(sources, userKey);
    const member = { userId, userKey, userEpoch, customerIds, provenAt: now, methods: ['pwd'] };
    return { kind: 'proven', member };
  }

  deps.loginBackoff.failed(backoffKey);
  deps.sprays.failed(sources);
  const counted = reason === 'wrong_password' ? user : undefined;
  await countWrongPassword(deps, { institutionId, clientId, origin }, counted);
  throw wrongCredentials(
    user === undefined
      ? { reason: 'unknown_user', nameHash: auditedNameHash(deps.vault, attempt.username) }
      : { reason: reason ?? 'wrong_password', userId: user.userId },
  );
}

/** Undefined if the user was locked, deactivated or given another password during the hash. */
function admit(
  deps: AuthDeps,
  user: LoginRow,
  {
    attempt: { institutionId, clientId, origin, device },
    passwordHash,
    now,
  }: {
    readonly attempt: PasswordAttempt;
    readonly passwordHash: string | null;
    readonly now: Date;
  },
): Promise<PasswordProof['kind'] | undefined> {
  const businessNow = deps.businessTime(institutionId, now);
  return deps.database.transaction(institutionId, async (tx) => {
    const { userKey, userId } = user;
    const isHalf = await hasAuthenticator(tx, userKey);
    if (!(await admitLogin(tx, user, { now: businessNow, passwordHash, isHalf }))) return undefined;
    const facts = { outcome: 'succeeded', origin, clientId, userId } as const;
    if (isHalf) {
      await appendAudit(tx, { ...facts, action: 'user.password_proven' }, now);
      return 'code_needed';
    }
    await seeDevice(tx, deps, { userKey, device, clientId, at: now });
    await appendAudit(tx, { ...facts, action: 'login', reason: 'password' }, now);
    return 'proven';
  });
}

function wrongCredentials(facts: RefusalFacts): OAuthError {
  return new OAuthError('invalid_grant', 'The username or the password is wrong.', facts);
}
