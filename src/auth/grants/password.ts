import { OAuthError } from '../oauth-error.ts';
import { clearFailedLogins, countFailedLogin, type LoginRow, selectLogin } from '../queries.ts';
import type { Grant } from './grant.ts';

const triesInARow = 5;
const lockMillis = 15 * 60 * 1000;

/**
 * RFC 6749 section 4.3. Unknown user, wrong password, locked and inactive get the same answer after the same work: a
 * hash is always checked. Five wrong passwords in a row lock the user for 15 minutes.
 */
export const password: Grant = {
  grantType: 'password',
  authorize: async (deps, { institutionId }, request) => {
    const username = request.require('username');
    const given = request.require('password');
    const user = await deps.database.read(institutionId, (db) => selectLogin(db, institutionId, username));
    const matches = await deps.passwords.verify(user?.passwordHash ?? null, given);
    const now = deps.clock();
    if (user === undefined) throw wrongCredentials();
    if (!matches) {
      const lockUntil = new Date(now.getTime() + lockMillis);
      await deps.database.read(institutionId, (db) =>
        countFailedLogin(db, institutionId, user.userKey, { now, lockUntil, triesInARow }),
      );
      throw wrongCredentials();
    }
    if (!mayLogIn(user, now)) throw wrongCredentials();
    if (user.failedLogins > 0) {
      const cleared = await deps.database.read(institutionId, (db) =>
        clearFailedLogins(db, institutionId, user.userKey, now),
      );
      if (!cleared) throw wrongCredentials();
    }
    const { userId, userKey, tokenEpoch: userEpoch, customerIds } = user;
    return { use: 'member', userId, userKey, userEpoch, customerIds };
  },
};

function mayLogIn(user: LoginRow, now: Date): boolean {
  return user.active && !user.lockedByOperator && (user.lockedUntil === null || user.lockedUntil <= now);
}

function wrongCredentials(): OAuthError {
  return new OAuthError('invalid_grant', 'The username or the password is wrong.');
}
