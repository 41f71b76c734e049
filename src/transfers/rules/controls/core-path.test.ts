import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseCoreMode } from './core-path.ts';
import { defaultCorePolicy } from './policies.ts';

const memo = { ...defaultCorePolicy, mode: 'MEMO', memoUpToMinor: 500n } as const;
const near = { amountMinor: 500n, isOneMembership: true, standInHeadroom: undefined };

test('waits for the core unless the policy is MEMO', () => {
  assert.equal(chooseCoreMode({ ...near, policy: defaultCorePolicy }), 'WAIT');
  assert.equal(chooseCoreMode({ ...near, policy: memo }), 'MEMO');
});

test('waits above the ceiling of a memo, and without a ceiling at no amount', () => {
  assert.equal(chooseCoreMode({ ...near, policy: memo, amountMinor: 501n }), 'WAIT');
  const unlimited = { ...memo, memoUpToMinor: null };
  assert.equal(chooseCoreMode({ ...near, policy: unlimited, amountMinor: 10n ** 15n }), 'MEMO');
});

test('waits between two memberships whatever the policy is', () => {
  assert.equal(chooseCoreMode({ ...near, policy: memo, isOneMembership: false }), 'WAIT');
});

test('stands in up to the headroom while the core is away, also between memberships', () => {
  const away = { ...near, isOneMembership: false, policy: memo, standInHeadroom: 500n };
  assert.equal(chooseCoreMode(away), 'STAND_IN');
  assert.equal(chooseCoreMode({ ...away, amountMinor: 501n }), 'WAIT');
  assert.equal(chooseCoreMode({ ...away, standInHeadroom: null }), 'STAND_IN');
});

test('does not complete on a memo while the core is away', () => {
  assert.equal(chooseCoreMode({ ...near, policy: memo, standInHeadroom: 0n }), 'WAIT');
});
