import { timingSafeEqual } from 'node:crypto';
import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { ClientActor } from '../../institutions/index.ts';
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
import { selectPasswordRules, selectUserByName, updateCredentials } from './credential-queries.ts';
import { newCode, readCode } from './one-time-codes.ts';
import { checkNewPassword } from './passwords.ts';
import { checkNewUsername } from './usernames.ts';

const validMillis = 72 * 60 * 60 * 1000;
const mostTries = 5;
/** Of the vault: for its hash, and for the sealed one beside the event. */
export const activationPurpose = 'activation code';

/** Pays the opening deposit that waits for the activation. Problem `too_many_requests` where a cap of the day is reached. */
export type DepositOpening = (tx: Transaction, personKey: bigint, at: Date) => Promise<void>;

export interface IssuedActivation {
  readonly code: string;
  /** For the event that hands it over. */
  readonly sealedCode: Uint8Array;
  readonly expiresAt: Date;
}

/** A one-time code of 128 random bits behind a selector, valid for 72 hours and five tries; ends an older one. */
export async function issueActivation(
  vault: Vault,
  tx: Transaction,
  userKey: bigint,
  at: Date,
): Promise<IssuedActivation> {
  const { selector, secret, code } = newCode();
  const expiresAt = new Date(at.getTime() + validMillis);
  const secretHash = vault.hash(activationPurpose, secret);
  await upsertActivation(tx, tx.institutionId, { userKey, selector, secretHash, expiresAt });
  return { code, sealedCode: vault.seal(activationPurpose, Buffer.from(code)), expiresAt };
}

/** For the command line: a new code for a registered user, by user id or username. Undefined: no such user. */
export async function reissueActivation(
  deps: AuthDeps,
  institutionId: InstitutionId,
  name: string,
  origin: Origin,
): Promise<IssuedActivation | undefined> {
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, institutionId, name);
    if (user === undefined) return undefined;
    const { userId } = user;
    const entry = { action: 'user.activation_code_issued', outcome: 'succeeded', userId, origin } as const;
    await appendAudit(tx, entry, at);
    return issueActivation(deps.vault, tx, user.userKey, deps.businessTime(institutionId, at));
  });
}

/**
 * Gives a registered user their login. Problems: `activation_code_invalid` (wrong, spent, expired, tried too often, or of
 * who has no membership left, all alike), `username_rejected`, `password_rejected`, `username_taken`. Only a wrong code
 * counts as a try.
 */
export async function activateMember(
  deps: AuthDeps,
  actor: ClientActor,
  request: { readonly activationCode: string; readonly username: string; readonly password: string },
  origin: Origin,
  depositOpening: DepositOpening,
): Promise<{ readonly userId: string }> {
  const { institutionId } = actor;
  const found = await findActivation(deps, institutionId, request.activationCode);
  if (found === undefined) throw invalidCode();
  const { activation, selector } = found;
  if (!found.matches) {
    await deps.database.write(institutionId, (db) =>
      countFailedActivation(db, institutionId, selector, mostTries),
    );
    throw invalidCode();
  }

  const rules = await deps.database.read(institutionId, (db) =>
    selectPasswordRules(db, institutionId, activation.userKey),
  );
  checkNewUsername(request.username, activation.memberNumbers);
  await checkNewPassword(request.password, { username: request.username, ...rules });
  // Before the transaction: hashing takes its time, and no lock should wait for it.
  const passwordHash = await deps.passwords.hash(request.password);
  const at = deps.clock();
  const businessAt = deps.businessTime(institutionId, at);
  try {
    await deps.database.transaction(institutionId, async (tx) => {
      if (!(await deleteActivation(tx, institutionId, selector, mostTries, businessAt))) throw invalidCode();
      const { userKey } = activation;
      if (!(await updateCredentials(tx, institutionId, userKey, request.username, passwordHash)))
        throw usernameTaken();
      const event = { kind: 'member.activated', subjectKey: userKey } as const;
      await appendEvents(tx, [event], at);
      const { clientId } = actor;
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

/** The activation that the code names and that can still be used, and whether the code opens it. */
export async function findActivation(
  { database, clock, businessTime, vault }: AuthDeps,
  institutionId: InstitutionId,
  code: string,
): Promise<
  { readonly activation: ActivationRow; readonly selector: string; readonly matches: boolean } | undefined
> {
  const { selector, secret } = readCode(code);
  const activation = await database.read(institutionId, (db) =>
    selectActivation(db, institutionId, selector),
  );
  const usable =
    activation !== undefined &&
    activation.memberNumbers.length > 0 &&
    activation.failedTries < mostTries &&
    activation.expiresAt > businessTime(institutionId, clock());
  if (!usable) return undefined;
  const matches = timingSafeEqual(vault.hash(activationPurpose, secret), activation.secretHash);
  return { activation, selector, matches };
}

function usernameTaken(cause?: unknown): Problem {
  return new Problem('username_taken', 'The username belongs to somebody else.', { cause });
}

function invalidCode(): Problem {
  return new Problem('activation_code_invalid', 'The activation code is wrong, spent or expired.');
}
