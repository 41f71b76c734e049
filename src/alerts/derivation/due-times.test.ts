import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterQuietHours } from './due-times.ts';

const newYork = 'America/New_York';
const night = { from: '22:00', to: '07:00' };
const due = (at: string, quiet = night) => afterQuietHours(new Date(at), quiet, newYork).toISOString();

test('an alert in the evening waits for the morning, and one in the early hours for the same morning', () => {
  assert.equal(due('2026-03-02T03:00:00Z'), '2026-03-02T12:00:00.000Z');
  assert.equal(due('2026-03-02T11:59:59Z'), '2026-03-02T12:00:00.000Z');
  assert.equal(due('2026-03-03T03:00:00Z'), '2026-03-03T12:00:00.000Z');
});

test('quiet hours begin with their first minute and end before their last', () => {
  assert.equal(due('2026-03-02T02:59:59Z'), '2026-03-02T02:59:59.000Z');
  assert.equal(due('2026-03-02T12:00:00Z'), '2026-03-02T12:00:00.000Z');
});

test('an alert outside quiet hours of the same day is due at once, and one inside is due at their end', () => {
  const noon = { from: '12:00', to: '13:00' };
  assert.equal(due('2026-03-02T17:30:00Z', noon), '2026-03-02T18:00:00.000Z');
  assert.equal(due('2026-03-02T18:30:00Z', noon), '2026-03-02T18:30:00.000Z');
});

test('quiet hours follow the clocks on the nights when these change', () => {
  // 8 March 2026: 02:00 becomes 03:00. 1 November 2026: 02:00 becomes 01:00.
  assert.equal(due('2026-03-08T04:00:00Z'), '2026-03-08T11:00:00.000Z');
  assert.equal(due('2026-11-01T04:00:00Z'), '2026-11-01T12:00:00.000Z');
});

test('an alert of a member without quiet hours is due at once', () => {
  const at = new Date('2026-03-02T03:00:00Z');
  assert.equal(afterQuietHours(at, null, newYork), at);
});
