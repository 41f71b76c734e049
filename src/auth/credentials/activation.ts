import { timingSafeEqual } from 'node:crypto';
import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { ClientActor } from '../../institutions/index.ts';
import { selectPasswordRules, selectUserByName, updateCredentials } from '../../members/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type InstitutionId, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { Vault } from '../keys/vault.ts';
import {
  type ActivationRow,
  countFailedActivation,
  deleteActivation,
  selectActivation,
  upsertActivation,
} from './activation-queries.ts';
import { newCode, readCode } from './one-time-codes.ts';
import { checkNewPassword } from './passwords.ts';
import { checkNewUsername } from './usernames.ts';

const validMillis = 72 * 60 * 60 * 1000;
const maxTries = 5;
/** The vault's purpose for the code's hash and for the sealed code. */
export const activationPurpose = 'activation code';

/** Pays the opening deposit that waits for the activation. Problem `too_many_requests` if a daily cap is reached. */
export type DepositOpening = (tx: Transaction, personKey: bigint, at: Date) => Promise<void>;

export interface ActivationRequest {
  readonly activationCode: string;
  readonly username: string;
  readonly password: string;
  readonly origin: Origin;
}

export interface IssuedActivation {
  readonly code: string;
  /** For the event by which the institution fetches it. */
  readonly sealedCode: Uint8Array;
  readonly expiresAt: Date;
}

/** Issues a one-time code of 128 random bits, valid for 72 hours and five tries. It replaces an older one. */
export async function issueActivation(
  vault: Vault,
  tx: Transaction,
  { userKey, at }: { readonly userKey: bigint; readonly at: Date },
): Promise<IssuedActivation> {
  const { selector, secret, code } = newCode();
  const expiresAt = new Date(at.getTime() + validMillis);
  const secretHash = vault.hash(activationPurpose, secret);
  await upsertActivation(tx, { userKey, selector, secretHash, expiresAt });
  return { code, sealedCode: vault.seal(activationPurpose, Buffer.from(code)), expiresAt };
}

/** Issues a new code for an operator. `name`: a username or a user id. Undefined: no such user. */
export async function reissueActivation(
  deps: AuthDeps,
  institutionId: InstitutionId,
  { name, origin }: { readonly name: string; readonly origin: Origin },
): Promise<IssuedActivation | undefined> {
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, name);
    if (user === undefined) return undefined;
    const { userId } = user;
    const entry = { action: 'user.activation_code_issued', outcome: 'succeeded', userId, origin } as const;
    await appendAudit(tx, entry, at);
    const { userKey } = user;
    return issueActivation(deps.vault, tx, { userKey, at: deps.businessTime(institutionId, at) });
  });
}

/**
 * Sets a registered user's username and password. Only a wrong code counts as a try. Problems: `username_rejected`, `password_rejected`,
 * `username_taken`; `activation_code_invalid`, alike for a wrong, used or expired code, too many tries, and a user without a membership.
 */
export async function activateMember(
  { depositOpening, ...deps }: AuthDeps & { readonly depositOpening: DepositOpening },
  { institutionId, clientId }: ClientActor,
  { activationCode, username, password, origin }: ActivationRequest,
): Promise<{ readonly userId: string }> {
  const found = await findActivation(deps, institutionId, activationCode);
  if (found === undefined) throw invalidCode();
  const { activation, selector } = found;
  if (!found.matches) {
    await deps.database.write(institutionId, (db) => countFailedActivation(db, selector, maxTries));
    throw invalidCode();
  }

  const rules = await deps.database.read(institutionId, (db) => selectPasswordRules(db, activation.userKey));
  checkNewUsername(username, activation.memberNumbers);
  await checkNewPassword(password, { username, ...rules });
  // Before the transaction, since no lock should wait for the slow hash.
  const passwordHash = await deps.passwords.hash(password);
  const at = deps.clock();
  const businessAt = deps.businessTime(institutionId, at);
  try {
    await deps.database.transaction(institutionId, async (tx) => {
      if (!(await deleteActivation(tx, selector, { maxTries, now: businessAt }))) throw invalidCode();
      const { userKey } = activation;
      const credentials = { username, passwordHash };
      if (!(await updateCredentials(tx, userKey, credentials))) throw usernameTaken();
      const event = { kind: 'member.activated', subjectKey: userKey } as const;
      await appendEvents(tx, [event], at);
      const { userId } = activation;
      const entry = { action: 'user.activated', outcome: 'succeeded', clientId, userId, origin } as const;
      await appendAudit(tx, entry, at);
      await depositOpening(tx, activation.personKey, businessAt);
    });
  } catch (error) {
    throw isUniqueViolation(error, 'users_by_username') ? usernameTaken(error) : error;
  }
  return { userId: activation.userId };
}

/** The usable activation that the code's selector names, and whether the secret matches. */
export async function findActivation(
  { database, clock, businessTime, vault }: AuthDeps,
  institutionId: InstitutionId,
  code: string,
): Promise<
  { readonly activation: ActivationRow; readonly selector: string; readonly matches: boolean } | undefined
> {
  const { selector, secret } = readCode(code);
  const activation = await database.read(institutionId, (db) => selectActivation(db, selector));
  const isUsable =
    activation !== undefined &&
    activation.memberNumbers.length > 0 &&
    activation.failedTries < maxTries &&
    activation.expiresAt > businessTime(institutionId, clock());
  if (!isUsable) return undefined;
  const matches = timingSafeEqual(vault.hash(activationPurpose, secret), activation.secretHash);
  return { activation, selector, matches };
}

function usernameTaken(cause?: unknown): Problem {
  return new Problem('username_taken', 'The username belongs to somebody else.', { cause });
}

function invalidCode(): Problem {
  return new Problem('activation_code_invalid', 'The activation code is wrong, spent or expired.');
}
