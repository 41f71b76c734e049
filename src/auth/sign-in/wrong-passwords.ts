import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { foldUsername } from '../credentials/usernames.ts';
import type { AuthDeps } from '../deps.ts';
import { countFailedLogin, type LoginRow, maxFailedLogins } from './login-queries.ts';

const triesInARow = 5;
const firstLockMillis = 15 * 60 * 1000;
const longestLockMillis = 24 * 60 * 60 * 1000;

/** Names the pause of a username, known or not, without keeping the name. */
export function backoffKeyOf(
  { vault }: Pick<AuthDeps, 'vault'>,
  institutionId: InstitutionId,
  username: string,
): string {
  return vault.hash('paused name', `${institutionId}\0${foldUsername(username)}`).toString('base64');
}

/** Why the user may not come in with this password; undefined when they may. A word for the audit alone. */
export function signInRefusal(user: LoginRow | undefined, matches: boolean, now: Date): string | undefined {
  if (user === undefined) return 'unknown_user';
  if (user.lockedByOperator || (user.lockedUntil !== null && user.lockedUntil > now)) return 'locked';
  if (user.failedLogins >= maxFailedLogins) return 'password_ended';
  if (!matches) return 'wrong_password';
  // Also for the inactive a wrong password is counted: else they could be told from the others.
  if (!user.active) return 'inactive';
  return undefined;
}

/**
 * Counts a wrong password. Each fifth in a row locks the user, the first time for 15 minutes, then twice as long each time,
 * at most a day; after a hundred the password has ended (NIST SP 800-63B-4, 3.2.2) and the member activates anew. Live
 * sessions go on: else a stranger could end them. Counting nobody takes as long.
 */
export async function countWrongPassword(
  deps: Pick<AuthDeps, 'database' | 'clock' | 'businessTime' | 'audit'>,
  { institutionId, clientId, origin }: { institutionId: InstitutionId; clientId: string; origin: Origin },
  user: LoginRow | undefined,
): Promise<void> {
  const now = deps.clock();
  const rule = {
    now: deps.businessTime(institutionId, now),
    triesInARow,
    firstLockMillis,
    longestLockMillis,
  };
  const counted = await deps.database.write(institutionId, (db) =>
    countFailedLogin(db, institutionId, user?.userKey ?? null, rule),
  );
  if (user === undefined || counted === undefined) return;
  const { userKey, userId } = user;
  const facts = { outcome: 'succeeded', reason: 'wrong_passwords', origin, clientId, userId } as const;
  if (counted.failedLogins >= maxFailedLogins) {
    await deps.database.transaction(institutionId, async (tx) => {
      await appendEvents(tx, [{ kind: 'member.password_ended', subjectKey: userKey }], now);
      await appendAudit(tx, { action: 'user.password_ended', ...facts }, now);
    });
  } else if (counted.isLocked) {
    deps.audit.note(institutionId, { action: 'user.locked', ...facts });
  }
}
