import type { Queryable } from '../storage/index.ts';
import type { NamedUser, UserIdType } from './profile.ts';
import { selectActorsBy } from './queries.ts';

/**
 * The one user that the id means, as for a profile: a membership means its PRIMARY, and an e-mail counts only when it is
 * verified. Undefined also for an e-mail of several: no one acts for one of them by chance.
 */
export async function findUser(
  db: Queryable,
  id: string,
  idType: UserIdType,
): Promise<NamedUser | undefined> {
  // PostgreSQL's text cannot hold NUL, so nobody is called so.
  const named = id.includes('\0') ? [] : await selectActorsBy(db, idType, id);
  // Who was taken out of their last membership is no customer any more.
  const [user, another] = named.filter(({ customerIds }) => customerIds.length > 0);
  return another === undefined ? user : undefined;
}
