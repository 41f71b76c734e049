import { isDeepStrictEqual } from 'node:util';
import { type AuditAction, appendAudit, appendEvents, type Origin, whatChanged } from '../../events/index.ts';
import {
  endTokens,
  insertLogin,
  lockStanding,
  maxFailedLogins,
  type Standing,
  type StandingChange,
  selectPasswordRules,
  selectUserByName,
  updateCredentials,
  updateStanding,
} from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { checkNewPassword } from './passwords.ts';

type CredentialDeps = Pick<AuthDeps, 'database' | 'clock' | 'passwords'>;

interface OperatorRequest {
  /** The username or the user id. */
  readonly name: string;
  /** The operator's words. */
  readonly statedReason?: string | undefined;
  readonly origin: Origin;
}

/**
 * Sets a member's password for an operator and resets the count of wrong ones. False: no such user, or one without a
 * username. Problem `password_rejected`.
 */
export async function setPassword(
  deps: CredentialDeps,
  institutionId: InstitutionId,
  { name, password, origin }: OperatorRequest & { readonly password: string },
): Promise<boolean> {
  const { database, clock, passwords } = deps;
  const user = await database.read(institutionId, (db) => selectUserByName(db, name));
  if (user === undefined || user.username === null) return false;
  const { userKey, userId, username } = user;
  const rules = await database.read(institutionId, (db) => selectPasswordRules(db, userKey));
  await checkNewPassword(password, { username, ...rules });
  const passwordHash = await passwords.hash(password);
  await database.transaction(institutionId, async (tx) => {
    await updateCredentials(tx, userKey, { username: null, passwordHash });
    await appendEvents(tx, [{ kind: 'member.password_changed', subjectKey: userKey }], clock());
    const entry = { action: 'user.password_set', outcome: 'succeeded', userId, origin } as const;
    await appendAudit(tx, entry, clock());
  });
  return true;
}

const actions = {
  active: { true: 'user.reactivated', false: 'user.deactivated' },
  lockedByOperator: { true: 'user.locked', false: 'user.unlocked' },
} as const satisfies Record<keyof StandingChange, Record<'true' | 'false', AuditAction>>;

type StandingChanged =
  /** No user has this name, or two have it. */
  'no_such_user' | 'unchanged' | 'changed';

/**
 * Locks, unlocks, deactivates or reactivates a user for an operator. A shut-out user's tokens end with the next request. Unlocking also ends
 * a lock by wrong passwords.
 */
export async function setStanding(
  { database, clock }: CredentialDeps,
  institutionId: InstitutionId,
  { name, statedReason, origin, ...change }: OperatorRequest & StandingChange,
): Promise<StandingChanged> {
  return database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, name);
    if (user === undefined) return 'no_such_user';
    const { userId, userKey } = user;
    const standing = await lockStanding(tx, userKey);
    const after = standingAfter(standing, change);
    if (isDeepStrictEqual(after, standing)) return 'unchanged';
    const at = clock();
    await updateStanding(tx, userKey, { ...change, at });
    for (const member of ['active', 'lockedByOperator'] as const) {
      const value = change[member];
      if (value === undefined) continue;
      const action = actions[member][`${value}`];
      const entry = { action, outcome: 'succeeded', userId, statedReason, origin } as const;
      await appendAudit(tx, { ...entry, ...whatChanged(standing, after) }, at);
    }
    return 'changed';
  });
}

/** The standing that `updateStanding` stores. A password that wrong tries disabled stays disabled. */
function standingAfter(standing: Standing, { active, lockedByOperator }: StandingChange): Standing {
  const isUnlocked = lockedByOperator === false;
  const keepsCount = !isUnlocked || standing.failedLogins >= maxFailedLogins;
  return {
    active: active ?? standing.active,
    lockedByOperator: lockedByOperator ?? standing.lockedByOperator,
    lockedUntil: isUnlocked ? null : standing.lockedUntil,
    failedLogins: keepsCount ? standing.failedLogins : 0,
  };
}

/**
 * Ends every session of a user for an operator: access tokens, refresh tokens and tokens of identity providers that were issued until now.
 * The user may sign in again.
 */
export async function endSessions(
  { database, clock }: CredentialDeps,
  institutionId: InstitutionId,
  { name, statedReason, origin }: OperatorRequest,
): Promise<boolean> {
  return database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, name);
    if (user === undefined) return false;
    const at = clock();
    await endTokens(tx, user.userKey, at);
    const entry = { action: 'user.sessions_ended', outcome: 'succeeded', userId: user.userId } as const;
    await appendAudit(tx, { ...entry, statedReason, origin }, at);
    return true;
  });
}

/** A login for a person of the core, from an extract of logins. Does nothing if the person has one. */
export async function createLogin(
  { database, clock, passwords }: CredentialDeps,
  institutionId: InstitutionId,
  login: {
    readonly personId: string;
    readonly userId: string;
    readonly username: string;
    readonly password: string;
    readonly email: string;
    readonly state: 'active' | 'locked' | 'inactive';
  },
): Promise<void> {
  const { personId, userId, username, password, email, state } = login;
  const passwordHash = await passwords.hash(password);
  const standing = { active: state !== 'inactive', lockedByOperator: state === 'locked' };
  await database.transaction(institutionId, (tx) =>
    insertLogin(tx, { personId, userId, username, email, passwordHash, ...standing, createdAt: clock() }),
  );
}
