import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Membership, toProfile, type User } from './profile.ts';

const now = new Date('2026-03-02T12:00:00Z');

const household: Membership = {
  customerKey: '1',
  customerId: 'c-1',
  memberNumber: '1001',
  memberType: 'RETAIL',
  role: 'JOINT',
};
const business: Membership = {
  customerKey: '2',
  customerId: 'c-2',
  memberNumber: '1002',
  memberType: 'BUSINESS',
  role: 'BUSINESS_ADMIN',
};

function user(changes: Partial<User> = {}): User {
  return {
    userKey: 1n,
    personKey: 1n,
    userId: 'u-1',
    firstName: 'Ada',
    lastName: 'Example',
    email: 'ada@example.test',
    verifiedEmail: 'ada@example.test',
    username: 'ada.example',
    active: true,
    lockedByOperator: false,
    lockedUntil: null,
    memberships: [household, business],
    phoneNumbers: [{ phoneNumber: '+12025550123', phoneType: 'MOBILE' }],
    ...changes,
  };
}

test('returns a profile with the fields of the interface, the phone numbers and nothing else', () => {
  assert.deepEqual(toProfile(user(), household, now), {
    userId: 'u-1',
    firstName: 'Ada',
    lastName: 'Example',
    emailAddress: 'ada@example.test',
    userRole: 'JOINT',
    userType: 'RETAIL',
    userStatus: { active: true, locked: false },
    customers: [
      { customerId: 'c-1', memberNumber: '1001' },
      { customerId: 'c-2', memberNumber: '1002' },
    ],
    phoneNumbers: [{ phoneNumber: '+12025550123', phoneType: 'MOBILE' }],
  });
});

test('returns the role and type of the requested membership', () => {
  const { userRole, userType } = toProfile(user(), business, now);
  assert.deepEqual({ userRole, userType }, { userRole: 'BUSINESS_ADMIN', userType: 'BUSINESS' });
});

test('returns the highest role without a requested membership, and the first of two equal ones', () => {
  const roles = ['PRIMARY', 'BUSINESS_ADMIN', 'JOINT', 'BUSINESS_USER', 'AUTHORIZED_SIGNER'] as const;
  for (const [rank, higher] of roles.entries()) {
    for (const lower of roles.slice(rank + 1)) {
      const memberships = [
        { ...household, role: lower },
        { ...business, role: higher },
      ];
      const { userRole, userType } = toProfile(user({ memberships }), undefined, now);
      assert.deepEqual([userRole, userType], [higher, 'BUSINESS'], `${higher} before ${lower}`);
    }
  }
  const alike = [
    { ...household, role: 'PRIMARY' as const },
    { ...business, role: 'PRIMARY' as const },
  ];
  assert.equal(toProfile(user({ memberships: alike }), undefined, now).userType, 'RETAIL');
});

test('shows a user as locked: by an operator until unlocked, by wrong passwords until the lock ends', () => {
  const locked = (changes: Partial<User>) => toProfile(user(changes), household, now).userStatus.locked;
  assert.equal(locked({ lockedByOperator: true }), true);
  assert.equal(locked({ lockedUntil: new Date(now.getTime() + 1) }), true);
  assert.equal(locked({ lockedUntil: now }), false);
  assert.equal(locked({ lockedUntil: new Date(now.getTime() - 1) }), false);
});

test('shows an inactive user as inactive', () => {
  assert.deepEqual(toProfile(user({ active: false }), household, now).userStatus, {
    active: false,
    locked: false,
  });
});
