import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterQuietHours, nextTimeOfDay } from './due-times.ts';

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

test('a digest is due at the next such time of the member’s day', () => {
  const next = (at: string) => nextTimeOfDay(new Date(at), '08:00', newYork).toISOString();
  assert.equal(next('2026-03-02T12:59:59Z'), '2026-03-02T13:00:00.000Z');
  assert.equal(next('2026-03-02T13:00:00Z'), '2026-03-03T13:00:00.000Z');
});

test('a digest comes at the same time of day after the clocks change, and once on that day', () => {
  const next = (at: string, time: string) => nextTimeOfDay(new Date(at), time, newYork).toISOString();
  assert.equal(next('2026-03-07T14:00:00Z', '08:00'), '2026-03-08T12:00:00.000Z');
  // 02:30 does not exist on March 8, and 01:30 comes twice on November 1.
  const skipped = next('2026-03-07T14:00:00Z', '02:30');
  assert.ok(next(skipped, '02:30') >= '2026-03-09');
  const doubled = next('2026-10-31T14:00:00Z', '01:30');
  assert.equal(next(doubled, '01:30'), '2026-11-02T06:30:00.000Z');
});
