import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { ClientActor } from '../../institutions/index.ts';
import { selectPasswordRules, selectUserByName, updateCredentials } from '../../members/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type InstitutionId, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import { checkNewPassword } from '../credentials/passwords.ts';
import { checkNewUsername } from '../credentials/usernames.ts';
import type { AuthDeps } from '../deps.ts';
import type { Vault } from '../keys/vault.ts';
import {
  countFailedActivation,
  deleteActivation,
  selectActivation,
  upsertActivation,
} from './activation-queries.ts';
import type { CodeKind } from './code-handover.ts';
import { findCode, issueCode, maxTries, selectorOf } from './one-time-codes.ts';

const usuallyValidMillis = 72 * 60 * 60 * 1000;
/** The vault's purpose for the code's hash and for the sealed code. */
const purpose = 'activation code';

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

/** Issues a one-time code of 128 random bits, valid for 72 hours unless said otherwise, and for five tries. It replaces an older one. */
export async function issueActivation(
  vault: Vault,
  tx: Transaction,
  {
    userKey,
    at,
    validMillis = usuallyValidMillis,
  }: { readonly userKey: bigint; readonly at: Date; readonly validMillis?: number },
): Promise<IssuedActivation> {
  const expiresAt = new Date(at.getTime() + validMillis);
  return issueCode(vault, { purpose, expiresAt }, (secret) => upsertActivation(tx, { userKey, ...secret }));
}

/** Issues a new code for an operator. `name`: a username or a user id. Undefined: no such user. */
export async function reissueActivation(
  deps: AuthDeps,
  institutionId: InstitutionId,
  {
    name,
    statedReason,
    origin,
  }: { readonly name: string; readonly statedReason?: string; readonly origin: Origin },
): Promise<IssuedActivation | undefined> {
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, name);
    if (user === undefined) return undefined;
    const { userId } = user;
    const entry = { action: 'user.activation_code_issued', outcome: 'succeeded', userId } as const;
    await appendAudit(tx, { ...entry, statedReason, origin }, at);
    const { userKey } = user;
    return issueActivation(deps.vault, tx, { userKey, at: deps.businessTime(institutionId, at) });
  });
}

/**
 * Sets a registered user's username and password. A member who had a login hears of the new password as of any other change. Only a wrong code
 * counts as a try. Problems: `username_rejected`, `password_rejected`, `username_taken`; `activation_code_invalid`, alike for a wrong, used or
 * expired code, too many tries, and a user without a membership.
 */
export async function activateMember(
  { depositOpening, ...deps }: AuthDeps & { readonly depositOpening: DepositOpening },
  { institutionId, clientId }: ClientActor,
  { activationCode, username, password, origin }: ActivationRequest,
): Promise<{ readonly userId: string }> {
  const found = await findIssued(deps, institutionId, activationCode);
  if (found?.matches !== true) {
    // Also for a code that nobody has, so that it takes as long.
    const wrong = selectorOf(activationCode);
    await deps.database.write(institutionId, (db) => countFailedActivation(db, wrong, maxTries));
    throw invalidCode();
  }
  const { row: activation, selector } = found;
  if (activation.memberNumbers.length === 0) throw invalidCode();

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
      const { userKey, hasLogin } = activation;
      const credentials = { username, passwordHash };
      if (!(await updateCredentials(tx, userKey, credentials))) throw usernameTaken();
      const activated = { kind: 'member.activated', subjectKey: userKey } as const;
      const changed = { kind: 'member.password_changed', subjectKey: userKey } as const;
      await appendEvents(tx, hasLogin ? [activated, changed] : [activated], at);
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

/** Also the code of a person who has lost their memberships since. */
function findIssued(deps: AuthDeps, institutionId: InstitutionId, text: string) {
  return findCode(deps, institutionId, { text, purpose, select: selectActivation });
}

async function findActivation(deps: AuthDeps, institutionId: InstitutionId, text: string) {
  const found = await findIssued(deps, institutionId, text);
  return found !== undefined && found.row.memberNumbers.length > 0 ? found : undefined;
}

export const activationCode: CodeKind = {
  events: ['member.registered', 'member.activation_requested'],
  purpose,
  readAs: 'user.activation_code_read',
  deliveredAs: 'user.activation_code_delivered',
  find: findActivation,
};

function usernameTaken(cause?: unknown): Problem {
  return new Problem('username_taken', 'The username belongs to somebody else.', { cause });
}

function invalidCode(): Problem {
  return new Problem('activation_code_invalid', 'The activation code is wrong, spent or expired.');
}
