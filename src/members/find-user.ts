import type { Queryable } from '../storage/index.ts';
import type { NamedUser, UserIdType } from './profile.ts';
import { selectActorsBy } from './queries.ts';

/**
 * The one user with this id, as for a profile: the id of a membership names its PRIMARY user, and an e-mail counts only if it
 * is verified. Undefined for an e-mail of several users, so that no caller acts for one of them by chance.
 */
export async function findUser(
  db: Queryable,
  id: string,
  idType: UserIdType,
): Promise<NamedUser | undefined> {
  // PostgreSQL's text cannot contain NUL, so no id does.
  const named = id.includes('\0') ? [] : await selectActorsBy(db, idType, id);
  // A user without a membership is no longer a customer.
  const [user, another] = named.filter(({ customerIds }) => customerIds.length > 0);
  return another === undefined ? user : undefined;
}
