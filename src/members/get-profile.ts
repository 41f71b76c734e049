import type { Actor } from '../institutions/index.ts';
import { Problem } from '../problem.ts';
import type { Database, Queryable } from '../storage/index.ts';
import { type Membership, type Profile, toProfile, type User, type UserIdType } from './profile.ts';
import { selectUsersCalled, usersCalled } from './queries.ts';

/**
 * The profile that the id means to this caller. A client that names a membership gets its PRIMARY user, a member
 * always their own: any other id does not exist to them. Problems: `not_found`, also for who has no membership left;
 * `ambiguous_user_id` for an e-mail that several users have.
 */
export async function getProfile(
  database: Database,
  actor: Actor,
  id: string,
  idType: UserIdType,
  now: Date,
): Promise<Profile> {
  const named = isName(id) && (await database.readJoined(actor.institutionId, usersCalled[idType], id));
  const { user, addressed } = pickAddressed(named || [], actor, id, idType);
  return toProfile(user, addressed, now);
}

interface Addressed {
  readonly user: User;
  readonly addressed: Membership | undefined;
}

export async function findAddressedUser(
  db: Queryable,
  actor: Actor,
  id: string,
  idType: UserIdType,
): Promise<Addressed> {
  const named = isName(id) ? await selectUsersCalled(db, actor.institutionId, idType, id) : [];
  return pickAddressed(named, actor, id, idType);
}

/** PostgreSQL's text cannot hold NUL, so nobody is called so. */
function isName(id: string): boolean {
  return !id.includes('\0');
}

function pickAddressed(named: readonly User[], actor: Actor, id: string, idType: UserIdType): Addressed {
  // Who was taken out of their last membership is no customer any more.
  const meant = named.filter((user) => user.memberships.length > 0);
  const candidates =
    actor.kind === 'member'
      ? meant.filter((user) => user.userKey === actor.userKey)
      : meant.filter((user) => !isMembershipId(idType) || membershipOf(user, idType, id)?.role === 'PRIMARY');
  const [user, another] = candidates;
  if (user === undefined) throw new Problem('not_found', 'There is no such customer.');
  if (another !== undefined) {
    throw new Problem('ambiguous_user_id', 'Several users have this e-mail address.');
  }
  return { user, addressed: membershipOf(user, idType, id) };
}

function isMembershipId(idType: UserIdType): boolean {
  return idType === 'CUSTOMER_ID' || idType === 'MEMBER_NUMBER';
}

/** By the type the id was given as: one membership may be numbered as another is called. */
function membershipOf(user: User, idType: UserIdType, id: string): Membership | undefined {
  return user.memberships.find(
    ({ customerId, memberNumber }) =>
      (idType === 'CUSTOMER_ID' && customerId === id) || (idType === 'MEMBER_NUMBER' && memberNumber === id),
  );
}
