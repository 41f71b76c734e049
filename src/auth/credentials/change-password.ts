import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { MemberActor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { InstitutionId } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { type LoginRow, replacePassword, selectLoginOf } from '../sign-in/login-queries.ts';
import { backoffKeyOf, countWrongPassword, signInRefusal } from '../sign-in/wrong-passwords.ts';
import { selectPasswordRules } from './credential-queries.ts';
import { checkNewPassword } from './passwords.ts';

/**
 * A member changes their own password, proving the current one as at a login: wrong ones are slowed, counted and locked
 * alike. All of the member's tokens end, and an event tells the institution, which tells the member. Problems:
 * `wrong_password`, `password_rejected`.
 */
export async function changePassword(
  deps: AuthDeps,
  actor: MemberActor,
  request: { readonly currentPassword: string; readonly newPassword: string },
  origin: Origin,
): Promise<void> {
  const { institutionId, clientId, userKey } = actor;
  const user = await deps.database.read(institutionId, (db) => selectLoginOf(db, institutionId, userKey));
  if (user?.username == null) throw wrongPassword();
  const pause = backoffKeyOf(deps, institutionId, user.username);
  await deps.loginBackoff.wait(pause, clientId);
  const passwordHash = await deps.logins.take(clientId, async () => {
    if (await isCurrent(deps, institutionId, user, request.currentPassword)) {
      deps.loginBackoff.succeeded(pause);
    } else {
      deps.loginBackoff.failed(pause);
      await countWrongPassword(deps, { institutionId, clientId, origin }, user);
      throw wrongPassword();
    }
    await checkReplacement(deps, actor, user.username ?? '', request);
    return deps.passwords.hash(request.newPassword);
  });
  const at = deps.clock();
  await deps.database.transaction(institutionId, async (tx) => {
    // Hashing took its time: a lock or another password that came meanwhile holds.
    if (
      !(await replacePassword(tx, institutionId, user, {
        now: deps.businessTime(institutionId, at),
        passwordHash,
      }))
    )
      throw wrongPassword();
    await appendEvents(tx, [{ kind: 'member.password_changed', subjectKey: userKey }], at);
    const { userId } = user;
    const entry = {
      action: 'user.password_changed',
      outcome: 'succeeded',
      clientId,
      userId,
      origin,
    } as const;
    await appendAudit(tx, entry, at);
  });
}

async function isCurrent(
  deps: AuthDeps,
  institutionId: InstitutionId,
  user: LoginRow,
  password: string,
): Promise<boolean> {
  const matches = await deps.passwords.verify(user.passwordHash, password);
  return signInRefusal(user, matches, deps.businessTime(institutionId, deps.clock())) === undefined;
}

async function checkReplacement(
  deps: AuthDeps,
  { institutionId, userKey }: MemberActor,
  username: string,
  { currentPassword, newPassword }: { readonly currentPassword: string; readonly newPassword: string },
): Promise<void> {
  const rules = await deps.database.read(institutionId, (db) =>
    selectPasswordRules(db, institutionId, userKey),
  );
  await checkNewPassword(newPassword, { username, ...rules }, '/newPassword');
  if (newPassword === currentPassword) {
    const detail = 'The new password must differ from the current one.';
    throw new Problem('password_rejected', detail, { errors: [{ pointer: '/newPassword', detail }] });
  }
}

function wrongPassword(): Problem {
  const detail = 'The current password is wrong, or the login is locked.';
  return new Problem('wrong_password', detail, { errors: [{ pointer: '/currentPassword', detail }] });
}
