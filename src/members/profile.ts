export const userRoles = [
  'PRIMARY',
  'BUSINESS_ADMIN',
  'JOINT',
  'BUSINESS_USER',
  'AUTHORIZED_SIGNER',
] as const;
type UserRole = (typeof userRoles)[number];
type UserType = 'RETAIL' | 'BUSINESS';

export const userIdTypes = ['CUSTOMER_ID', 'MEMBER_NUMBER', 'EMAIL', 'LOGIN_ID', 'USER_ID'] as const;
export type UserIdType = (typeof userIdTypes)[number];

export const phoneTypes = ['MOBILE', 'HOME', 'WORK'] as const;
export type PhoneType = (typeof phoneTypes)[number];

export interface PhoneNumber {
  readonly phoneNumber: string;
  readonly phoneType: PhoneType;
}

export interface Membership {
  readonly customerKey: string;
  readonly customerId: string;
  readonly memberNumber: string;
  readonly memberType: UserType;
  readonly role: UserRole;
}

/** A user with digital access, as kept. */
export interface User {
  readonly userKey: bigint;
  readonly personKey: bigint;
  readonly userId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly email: string;
  /** The address that identifies the user; null while none is verified. */
  readonly verifiedEmail: string | null;
  readonly username: string | null;
  readonly active: boolean;
  readonly lockedByOperator: boolean;
  readonly lockedUntil: Date | null;
  /** In the order of the member numbers. */
  readonly memberships: readonly Membership[];
  readonly phoneNumbers: readonly PhoneNumber[];
}

/** A user found by an id of another party. */
export interface NamedUser {
  readonly userKey: bigint;
  readonly userId: string;
  readonly personKey: bigint;
  /** Active, and not locked by an operator. */
  readonly mayAct: boolean;
  /** Part of the user's tokens; raising it ends them. */
  readonly tokenEpoch: number;
  /** The last time that the user was locked, unlocked, deactivated or activated; null if never. */
  readonly tokensEndedAt: Date | null;
  /** In the order of the member numbers. */
  readonly customerIds: readonly string[];
}

export interface Profile {
  readonly userId: string;
  readonly firstName: string;
  readonly lastName: string;
  readonly emailAddress: string;
  readonly userRole: UserRole;
  readonly userType: UserType;
  readonly userStatus: { readonly active: boolean; readonly locked: boolean };
  readonly customers: readonly { readonly customerId: string; readonly memberNumber: string }[];
  readonly phoneNumbers: readonly PhoneNumber[];
}

/**
 * Role and type are those of the requested membership, or of the membership with the user's highest role.
 */
export function toProfile(user: User, addressed: Membership | undefined, now: Date): Profile {
  const membership =
    addressed ??
    user.memberships.toSorted((a, b) => userRoles.indexOf(a.role) - userRoles.indexOf(b.role))[0];
  if (membership === undefined) throw new Error('members: a user without a membership has no profile');
  const locked = user.lockedByOperator || (user.lockedUntil !== null && user.lockedUntil > now);
  return {
    userId: user.userId,
    firstName: user.firstName,
    lastName: user.lastName,
    emailAddress: user.email,
    userRole: membership.role,
    userType: membership.memberType,
    userStatus: { active: user.active, locked },
    customers: user.memberships.map(({ customerId, memberNumber }) => ({ customerId, memberNumber })),
    phoneNumbers: user.phoneNumbers,
  };
}
