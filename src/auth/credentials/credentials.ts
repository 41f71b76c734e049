import { type AuditAction, appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import {
  insertLogin,
  selectPasswordRules,
  selectUserByName,
  updateCredentials,
  updateStanding,
} from './credential-queries.ts';
import { checkNewPassword } from './passwords.ts';

type CredentialDeps = Pick<AuthDeps, 'database' | 'clock' | 'passwords'>;

/**
 * An operator sets a member's password; failed tries are forgotten. False: no such user, or one without a username.
 * Problem `password_rejected`.
 */
export async function setPassword(
  deps: CredentialDeps,
  { institutionId }: { readonly institutionId: InstitutionId },
  name: string,
  password: string,
  origin: Origin,
): Promise<boolean> {
  const user = await deps.database.read(institutionId, (db) => selectUserByName(db, institutionId, name));
  if (user === undefined || user.username === null) return false;
  const rules = await deps.database.read(institutionId, (db) =>
    selectPasswordRules(db, institutionId, user.userKey),
  );
  await checkNewPassword(password, { username: user.username, ...rules });
  const passwordHash = await deps.passwords.hash(password);
  const { userId } = user;
  await deps.database.transaction(institutionId, async (tx) => {
    await updateCredentials(tx, institutionId, user.userKey, null, passwordHash);
    const event = { kind: 'member.password_changed', subjectKey: user.userKey } as const;
    await appendEvents(tx, [event], deps.clock());
    const entry = { action: 'user.password_set', outcome: 'succeeded', userId, origin } as const;
    await appendAudit(tx, entry, deps.clock());
  });
  return true;
}

/** An operator locks, unlocks, deactivates or reactivates a user; live tokens end with the next request. */
export async function setStanding(
  deps: CredentialDeps,
  institutionId: InstitutionId,
  name: string,
  change: { readonly active?: boolean; readonly lockedByOperator?: boolean },
  origin: Origin,
): Promise<boolean> {
  return deps.database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, institutionId, name);
    if (user === undefined) return false;
    await updateStanding(tx, institutionId, user.userKey, {
      active: change.active ?? null,
      lockedByOperator: change.lockedByOperator ?? null,
      at: deps.clock(),
    });
    const { userId } = user;
    for (const action of actionsOf(change)) {
      await appendAudit(tx, { action, outcome: 'succeeded', userId, origin }, deps.clock());
    }
    return true;
  });
}

function actionsOf(change: {
  readonly active?: boolean;
  readonly lockedByOperator?: boolean;
}): AuditAction[] {
  const { active, lockedByOperator } = change;
  return [
    ...(active === undefined ? [] : ([active ? 'user.reactivated' : 'user.deactivated'] as const)),
    ...(lockedByOperator === undefined
      ? []
      : ([lockedByOperator ? 'user.locked' : 'user.unlocked'] as const)),
  ];
}

/** A login for a person the core knows, as it stands in an extract of logins. Nothing happens when there is one. */
export async function createLogin(
  deps: CredentialDeps,
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
  const passwordHash = await deps.passwords.hash(login.password);
  await deps.database.transaction(institutionId, (tx) =>
    insertLogin(tx, institutionId, {
      userId: login.userId,
      personId: login.personId,
      email: login.email,
      username: login.username,
      passwordHash,
      active: login.state !== 'inactive',
      lockedByOperator: login.state === 'locked',
      createdAt: deps.clock(),
    }),
  );
}
