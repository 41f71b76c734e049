import type { Actor } from '../institutions/index.ts';
import { Basis } from '../memory/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Database, Queryable } from '../storage/index.ts';
import { isAlike } from './names.ts';
import { type Membership, type Profile, toProfile, type User, type UserIdType } from './profile.ts';
import { selectUsersCalled } from './queries.ts';

interface WantedProfile {
  readonly id: string;
  readonly idType: UserIdType;
  readonly now: Date;
  readonly basis?: Basis;
}

/**
 * Returns the profile with this id. For the id of a membership, a client gets its PRIMARY user. A member gets only their
 * own profile; any other id is not found. Throws Problem `not_found`, also for a user without a membership, and
 * `ambiguous_user_id` for a verified e-mail of several users.
 */
export async function getProfile(
  database: Database,
  actor: Actor,
  { id, idType, now, basis = Basis.none(actor.institutionId) }: WantedProfile,
): Promise<Profile> {
  const { user, addressed } = await database.read(actor.institutionId, (db) =>
    findAddressedUser(db, actor, id, idType),
  );
  noteUser(basis, user, now);
  // Another user may get the same name.
  if (actor.kind === 'client' && (idType === 'EMAIL' || idType === 'LOGIN_ID')) basis.doNotKeep();
  return toProfile(user, addressed, now);
}

function noteUser(basis: Basis, { userKey, personKey, memberships, lockedUntil }: User, now: Date): void {
  basis.add('user', userKey);
  basis.add('person', personKey);
  for (const { customerKey } of memberships) basis.add('customer', BigInt(customerKey));
  // The lock ends by the clock of the institution.
  if (lockedUntil !== null && lockedUntil > now) basis.doNotKeep();
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
  const asked = askedBy(actor, id, idType);
  const named = isName(asked.id) ? await selectUsersCalled(db, asked.idType, asked.id) : [];
  return pickAddressed(named, actor, id, idType);
}

/**
 * Reads a member's own user for any given id, and compares the id here: the time of the look-up must not reveal whether
 * another user has the id.
 */
function askedBy(actor: Actor, id: string, idType: UserIdType): { id: string; idType: UserIdType } {
  return actor.kind === 'member' ? { id: actor.userId, idType: 'USER_ID' } : { id, idType };
}

/** Whether the id of this type means the user; the same rules as the look-ups in queries.ts. */
const isCalled: Readonly<Record<UserIdType, (user: User, id: string) => boolean>> = {
  CUSTOMER_ID: ({ memberships }, id) => memberships.some(({ customerId }) => customerId === id),
  MEMBER_NUMBER: ({ memberships }, id) => memberships.some(({ memberNumber }) => memberNumber === id),
  EMAIL: ({ verifiedEmail }, id) => isAlike(verifiedEmail, id),
  LOGIN_ID: ({ username }, id) => isAlike(username, id),
  USER_ID: ({ userId }, id) => userId === id,
};

/** PostgreSQL's text cannot contain NUL, so no id does. */
function isName(id: string): boolean {
  return !id.includes('\0');
}

function pickAddressed(named: readonly User[], actor: Actor, id: string, idType: UserIdType): Addressed {
  // A user without a membership is no longer a customer.
  const meant = named.filter((user) => user.memberships.length > 0);
  const candidates =
    actor.kind === 'member'
      ? meant.filter((user) => user.userKey === actor.userKey && isCalled[idType](user, id))
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

/** Compares by the given type: the number of one membership may equal the id of another. */
function membershipOf(user: User, idType: UserIdType, id: string): Membership | undefined {
  return user.memberships.find(
    ({ customerId, memberNumber }) =>
      (idType === 'CUSTOMER_ID' && customerId === id) || (idType === 'MEMBER_NUMBER' && memberNumber === id),
  );
}
