import { appendAudit } from '../../events/index.ts';
import { auditedNameHash } from '../audited-name.ts';
import type { AuthenticatedClient } from '../client-authentication.ts';
import type { AuthDeps } from '../deps.ts';
import { OAuthError, type RefusalFacts } from '../oauth-error.ts';
import { admitLogin, countFailedLogin, type LoginRow, selectLogin } from '../queries.ts';
import type { TokenRequest } from '../token-request.ts';
import { foldUsername } from '../usernames.ts';
import type { Bearer, Grant } from './grant.ts';

const triesInARow = 5;
const lockMillis = 15 * 60 * 1000;

/**
 * RFC 6749 section 4.3. Each wrong password makes the next try wait longer, by name, whether anybody has it or not; five in
 * a row lock the user for 15 minutes.
 *
 * Unknown user, wrong password, locked and inactive get the same answer after the same work: one look-up, one hash, one
 * statement with a durable commit. The audit knows the reason, and is written behind the request.
 */
export const password: Grant = {
  grantType: 'password',
  authorize: async (deps, client, request) => {
    const username = request.require('username');
    const given = request.require('password');
    const { institutionId } = client;
    const pausedFor = deps.vault
      .hash('paused name', `${institutionId}\0${foldUsername(username)}`)
      .toString('base64');
    await deps.loginPauses.wait(pausedFor, client.clientId);
    return deps.logins.take(client.clientId, () =>
      logIn(deps, client, request, { username, given, pausedFor }),
    );
  },
};

async function logIn(
  deps: AuthDeps,
  { institutionId, clientId }: AuthenticatedClient,
  request: TokenRequest,
  {
    username,
    given,
    pausedFor,
  }: { readonly username: string; readonly given: string; readonly pausedFor: string },
): Promise<Bearer> {
  const user = await deps.database.read(institutionId, (db) => selectLogin(db, institutionId, username));
  const matches = await deps.passwords.verify(user?.passwordHash ?? null, given);
  const now = deps.clock();

  const reason = whyNot(user, matches, now);
  if (user !== undefined && reason === undefined) {
    const passwordHash = await deps.passwords.upgrade(user.passwordHash, given);
    const entry = { action: 'login', outcome: 'succeeded', reason: 'password' } as const;
    const admitted = await deps.database.transaction(institutionId, async (tx) => {
      // Hashing took its time: who was locked, deactivated or given another password meanwhile stays outside.
      if (!(await admitLogin(tx, institutionId, user, { now, passwordHash }))) return false;
      const { origin } = request;
      await appendAudit(tx, institutionId, { ...entry, origin, clientId, userId: user.userId }, now);
      return true;
    });
    if (!admitted) throw wrongCredentials({ reason: 'changed_meanwhile', userId: user.userId });
    deps.loginPauses.succeeded(pausedFor);
    const { userId, userKey, tokenEpoch: userEpoch, customerIds } = user;
    const authTime = Math.floor(now.getTime() / 1000);
    return { use: 'member', userId, userKey, userEpoch, customerIds, authTime };
  }

  deps.loginPauses.failed(pausedFor);
  const lockUntil = new Date(now.getTime() + lockMillis);
  const countFor = reason === 'wrong_password' ? user?.userKey : undefined;
  const locked = await deps.database.write(institutionId, (db) =>
    countFailedLogin(db, institutionId, countFor ?? null, { now, lockUntil, triesInARow }),
  );
  if (locked) {
    const { origin } = request;
    const entry = { action: 'user.locked', outcome: 'succeeded', reason: 'wrong_passwords' } as const;
    deps.audit.note(institutionId, { ...entry, origin, clientId, userId: user?.userId });
  }
  throw wrongCredentials(
    user === undefined
      ? { reason: 'unknown_user', nameHash: auditedNameHash(deps.vault, username) }
      : { reason: reason ?? 'wrong_password', userId: user.userId },
  );
}

/** For the audit alone. A wrong password is counted also for the inactive: else it could be told from them. */
function whyNot(user: LoginRow | undefined, matches: boolean, now: Date): string | undefined {
  if (user === undefined) return 'unknown_user';
  if (user.lockedByOperator || (user.lockedUntil !== null && user.lockedUntil > now)) return 'locked';
  if (!matches) return 'wrong_password';
  if (!user.active) return 'inactive';
  return undefined;
}

function wrongCredentials(facts: RefusalFacts): OAuthError {
  return new OAuthError('invalid_grant', 'The username or the password is wrong.', facts);
}
