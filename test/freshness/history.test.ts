import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findAnomalies, type History, type Read, type Write } from './history.ts';

const from = (value: string, start: number, end: number): Write => ({ value, start, end });
const before = from('0', Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY);
const read = (value: string, start: number, end: number, by = 'any'): Read => ({ value, start, end, by });

function kinds(writes: readonly Write[], reads: readonly Read[]): string[] {
  const history: History = { subject: 'balance', writes: [before, ...writes], reads };
  return findAnomalies(history).map(({ kind, read: { start } }) => `${kind} ${start}`);
}

test('a read before, during and after a write is good with the state of its time', () => {
  const writes = [from('1', 10, 20)];
  assert.deepEqual(kinds(writes, [read('0', 1, 2), read('0', 12, 15), read('1', 21, 22)]), []);
  assert.deepEqual(kinds(writes, [read('1', 11, 12)]), [], 'a write may show before its acknowledgement');
  assert.deepEqual(kinds(writes, [read('0', 19, 40)]), [], 'the read began before the acknowledgement');
});

test('a read that begins after an acknowledgement and shows the state before it is stale', () => {
  assert.deepEqual(kinds([from('1', 10, 20)], [read('0', 21, 22)]), ['stale 21']);
  assert.deepEqual(kinds([from('1', 10, 20), from('2', 30, 40)], [read('1', 41, 42), read('0', 25, 26)]), [
    'stale 25',
    'stale 41',
  ]);
});

test('an anomaly names the newest acknowledged write that the read missed', () => {
  const writes = [before, from('1', 10, 20), from('2', 30, 40)];
  const [anomaly] = findAnomalies({ subject: 'phone', writes, reads: [read('0', 50, 51, 'process 2')] });
  assert.deepEqual(
    [anomaly?.subject, anomaly?.read.by, anomaly?.newer],
    ['phone', 'process 2', from('2', 30, 40)],
  );
});

test('writes acknowledged out of order bind reads by the order in which they took effect', () => {
  // The second took effect last, and was acknowledged first.
  const writes = [from('1', 10, 90), from('2', 11, 20)];
  assert.deepEqual(kinds(writes, [read('2', 30, 31)]), []);
  assert.deepEqual(kinds(writes, [read('1', 30, 31)]), ['stale 30']);
});

test('two reads in sequence never go backward, also while the write is not acknowledged', () => {
  const writes = [from('1', 10, 100)];
  assert.deepEqual(kinds(writes, [read('1', 20, 30), read('0', 31, 40)]), ['backward 31']);
  assert.deepEqual(kinds(writes, [read('1', 20, 30), read('0', 29, 40)]), [], 'these two overlap');
});

test('a value that was never written, or not yet, is unwritten', () => {
  assert.deepEqual(kinds([from('1', 10, 20)], [read('7', 11, 12)]), ['unwritten 11']);
  assert.deepEqual(kinds([from('1', 10, 20)], [read('1', 1, 9)]), ['unwritten 1']);
});

test('a value that comes back is good again, and stale between', () => {
  const writes = [from('1', 10, 20), from('0', 30, 40)];
  assert.deepEqual(kinds(writes, [read('0', 5, 6), read('0', 41, 42), read('1', 21, 22)]), []);
  assert.deepEqual(kinds(writes, [read('0', 21, 22)]), ['stale 21']);
  assert.deepEqual(kinds(writes, [read('1', 41, 42)]), ['stale 41']);
});

test('a repeated value is taken for the oldest write that fits', () => {
  // The read of 0 at 32 may be of the first state only if no read before it has shown 1.
  const writes = [from('1', 10, 100), from('0', 30, 100)];
  assert.deepEqual(kinds(writes, [read('0', 12, 13), read('1', 14, 15), read('0', 32, 33)]), []);
  assert.deepEqual(kinds(writes, [read('1', 14, 15), read('0', 16, 17)]), ['backward 16']);
  assert.deepEqual(kinds(writes, [read('0', 32, 33), read('1', 34, 35), read('0', 36, 37)]), []);
});

test('a revoked token is refused by every read that begins after the acknowledgement', () => {
  const writes = [from('ended', 10, 20)];
  assert.deepEqual(kinds(writes, [read('0', 15, 25), read('ended', 21, 22)]), []);
  assert.deepEqual(kinds(writes, [read('0', 21, 22, 'the other process')]), ['stale 21']);
});

test('a restored backup is a write of its state: the state before it is stale afterwards', () => {
  const writes = [from('1', 10, 20), from('2', 30, 40), from('1', 50, 60)];
  assert.deepEqual(kinds(writes, [read('2', 55, 56), read('1', 57, 58), read('1', 61, 62)]), []);
  assert.deepEqual(kinds(writes, [read('2', 61, 62)]), ['stale 61']);
  assert.deepEqual(kinds(writes, [read('1', 57, 58), read('2', 59, 59.5)]), ['backward 59']);
});
