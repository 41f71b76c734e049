import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import { countFailedLogin, type LoginRow, maxFailedLogins } from '../../members/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { foldUsername } from '../credentials/usernames.ts';
import type { AuthDeps } from '../deps.ts';

const triesInARow = 5;
const firstLockMillis = 15 * 60 * 1000;
const longestLockMillis = 24 * 60 * 60 * 1000;

/** A hash of the username, so that the backoff does not keep names. */
export function backoffKeyOf(
  { vault }: Pick<AuthDeps, 'vault'>,
  institutionId: InstitutionId,
  username: string,
): string {
  return vault.hash('paused name', `${institutionId}\0${foldUsername(username)}`).toString('base64');
}

/** The reason for the audit to refuse the sign-in; undefined if the user may sign in. */
export function signInRefusal(
  user: LoginRow | undefined,
  isPasswordRight: boolean,
  now: Date,
): string | undefined {
  if (user === undefined) return 'unknown_user';
  if (user.lockedByOperator || (user.lockedUntil !== null && user.lockedUntil > now)) return 'locked';
  if (user.failedLogins >= maxFailedLogins) return 'password_ended';
  if (!isPasswordRight) return 'wrong_password';
  // Checked last, because wrong passwords of inactive users count too. Otherwise the locks would show who is inactive.
  if (!user.active) return 'inactive';
  return undefined;
}

/**
 * Counts a wrong password. Each fifth in a row locks sign-in by password: 15 minutes the first time, then twice as long each
 * time, at most a day. A hundred in a row disable the password (NIST SP 800-63B-4, section 3.2.2), and the member activates anew.
 * Active sessions continue; otherwise a stranger could end them. The call takes as long if no user is counted.
 */
export async function countWrongPassword(
  deps: Pick<AuthDeps, 'database' | 'clock' | 'businessTime' | 'audit'>,
  { institutionId, clientId, origin }: { institutionId: InstitutionId; clientId: string; origin: Origin },
  user: LoginRow | undefined,
): Promise<void> {
  const at = deps.clock();
  const now = deps.businessTime(institutionId, at);
  const rule = { now, triesInARow, firstLockMillis, longestLockMillis };
  const { failedLogins, isLocked } = await deps.database.write(institutionId, (db) =>
    countFailedLogin(db, user?.userKey ?? null, rule),
  );
  if (user === undefined || failedLogins === null) return;
  const { userKey, userId } = user;
  const facts = { outcome: 'succeeded', reason: 'wrong_passwords', origin, clientId, userId } as const;
  if (failedLogins >= maxFailedLogins) {
    await deps.database.transaction(institutionId, async (tx) => {
      await appendEvents(tx, [{ kind: 'member.password_ended', subjectKey: userKey }], at);
      await appendAudit(tx, { action: 'user.password_ended', ...facts }, at);
    });
  } else if (isLocked) {
    deps.audit.note(institutionId, { action: 'user.locked', ...facts });
  }
}
