import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccountAlertType } from '../alert.ts';
import { type AccountEvent, alertIdOf, raisedBy } from './derive-alerts.ts';

const event = (before: bigint, after: bigint, more: Partial<AccountEvent> = {}): AccountEvent => ({
  kind: 'transfer.completed',
  entry: { kind: 'TRANSFER', amountMinor: after - before, availableBefore: before, availableAfter: after },
  isSource: true,
  transferAmountMinor: 500n,
  ...more,
});
const isRaised = (type: AccountAlertType, threshold: bigint | null, one: AccountEvent) =>
  raisedBy(type, threshold, one) !== undefined;

test('a low balance is raised when the balance crosses the threshold, not while it stays below', () => {
  assert.deepEqual(raisedBy('LOW_BALANCE', 100n, event(100n, 99n)), { amountMinor: null, balanceMinor: 99n });
  assert.ok(!isRaised('LOW_BALANCE', 100n, event(99n, 50n)));
  assert.ok(!isRaised('LOW_BALANCE', 100n, event(150n, 100n)));
  assert.ok(!isRaised('LOW_BALANCE', 100n, event(50n, 150n)));
  assert.ok(isRaised('LOW_BALANCE', 100n, event(150n, -20n)));
});

test('a high balance is raised when the balance rises above the threshold', () => {
  assert.ok(isRaised('HIGH_BALANCE', 100n, event(100n, 101n)));
  assert.ok(!isRaised('HIGH_BALANCE', 100n, event(101n, 102n)));
  assert.ok(!isRaised('HIGH_BALANCE', 100n, event(0n, 100n)));
});

test('deposits and payments count from their threshold on, and only postings count', () => {
  assert.ok(isRaised('DEPOSIT', 50n, event(0n, 50n)));
  assert.ok(!isRaised('DEPOSIT', 51n, event(0n, 50n)));
  assert.ok(!isRaised('DEPOSIT', 1n, event(50n, 0n)));
  assert.deepEqual(raisedBy('PAYMENT', 50n, event(50n, 0n)), { amountMinor: 50n, balanceMinor: 0n });
  for (const kind of ['HOLD', 'RELEASE', 'OPENING', 'ADJUSTMENT', 'CORE_HOLD', 'CORE_RELEASE']) {
    const entry = { kind, amountMinor: 50n, availableBefore: 0n, availableAfter: 50n };
    assert.ok(!isRaised('DEPOSIT', 1n, event(0n, 0n, { entry })), kind);
  }
});

test('an alert about a transfer is raised for its source, in the state that its event names', () => {
  assert.ok(isRaised('TRANSFER_COMPLETE', null, event(10n, 5n)));
  assert.ok(!isRaised('TRANSFER_COMPLETE', null, event(5n, 10n, { isSource: false })));
  assert.ok(!isRaised('TRANSFER_PENDING', null, event(10n, 5n)));
  assert.ok(isRaised('TRANSFER_PENDING', null, event(10n, 5n, { kind: 'transfer.pending' })));
  assert.ok(isRaised('TRANSFER_FAILED', null, event(10n, 5n, { kind: 'transfer.failed', entry: null })));
});

test('the id of an alert depends on the event, the type, the account and the user, and on nothing else', () => {
  const rule = { eventId: '0-1-2', alertType: 'DEPOSIT', accountKey: 3n, userKey: 4n } as const;
  const id = alertIdOf(rule);
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(alertIdOf({ ...rule }), id);
  const others = [
    { ...rule, eventId: '0-1-3' },
    { ...rule, alertType: 'PAYMENT' as const },
    { ...rule, accountKey: null },
    { ...rule, userKey: 5n },
  ];
  assert.equal(new Set([id, ...others.map(alertIdOf)]).size, 5);
});
