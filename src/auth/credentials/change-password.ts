import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { MemberActor } from '../../institutions/index.ts';
import { type LoginRow, replacePassword, selectLoginOf, selectPasswordRules } from '../../members/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { AuthDeps } from '../deps.ts';
import { backoffKeyOf, countWrongPassword, signInRefusal } from '../sign-in/wrong-passwords.ts';
import { checkNewPassword } from './passwords.ts';

interface Replacement {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/**
 * Replaces a member's password after a check of the current one, with the same delays, counts and locks as a sign-in. All of
 * the member's tokens end, and an event lets the institution notify the member. Problems: `wrong_password`, `password_rejected`.
 */
export async function changePassword(
  deps: AuthDeps,
  actor: MemberActor,
  { origin, ...request }: Replacement & { readonly origin: Origin },
): Promise<void> {
  const { institutionId, clientId, userKey } = actor;
  const user = await deps.database.read(institutionId, (db) => selectLoginOf(db, userKey));
  if (user?.username == null) throw wrongPassword();
  const { username, userId } = user;
  const backoffKey = backoffKeyOf(deps, institutionId, username);
  await deps.loginBackoff.wait(backoffKey, clientId);
  const passwordHash = await deps.logins.run(clientId, async () => {
    if (await isCurrent(deps, actor, { user, currentPassword: request.currentPassword })) {
      deps.loginBackoff.succeeded(backoffKey);
    } else {
      deps.loginBackoff.failed(backoffKey);
      await countWrongPassword(deps, { institutionId, clientId, origin }, user);
      throw wrongPassword();
    }
    await checkReplacement(deps, actor, { username, ...request });
    return deps.passwords.hash(request.newPassword);
  });
  const at = deps.clock();
  const now = deps.businessTime(institutionId, at);
  await deps.database.transaction(institutionId, async (tx) => {
    // A lock or another password during the hash excludes the user.
    if (!(await replacePassword(tx, user, { now, passwordHash }))) throw wrongPassword();
    await appendEvents(tx, [{ kind: 'member.password_changed', subjectKey: userKey }], at);
    const facts = { clientId, userId, origin };
    await appendAudit(tx, { action: 'user.password_changed', outcome: 'succeeded', ...facts }, at);
  });
}

async function isCurrent(
  { passwords, businessTime, clock }: AuthDeps,
  { institutionId }: MemberActor,
  { user, currentPassword }: { readonly user: LoginRow; readonly currentPassword: string },
): Promise<boolean> {
  const isRight = await passwords.verify(user.passwordHash, currentPassword);
  return signInRefusal(user, isRight, businessTime(institutionId, clock())) === undefined;
}

async function checkReplacement(
  { database }: AuthDeps,
  { institutionId, userKey }: MemberActor,
  { username, currentPassword, newPassword }: Replacement & { readonly username: string },
): Promise<void> {
  const rules = await database.read(institutionId, (db) => selectPasswordRules(db, userKey));
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
