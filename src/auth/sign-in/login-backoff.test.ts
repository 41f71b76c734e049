import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../shared/problem.ts';
import { LoginBackoff } from './login-backoff.ts';

const minute = 60_000;

function watched(options: { readonly mostWaiting?: number; readonly mostKeys?: number } = {}) {
  const slept: number[] = [];
  let now = 0;
  const held: (() => void)[] = [];
  let holding = false;
  const pauses = new LoginBackoff({
    clock: () => new Date(now),
    firstMillis: 250,
    sleep: (millis) => {
      slept.push(millis);
      return holding ? new Promise<void>((resolve) => held.push(resolve)) : Promise.resolve();
    },
    ...options,
  });
  return {
    pauses,
    slept,
    pass: (millis: number) => {
      now += millis;
    },
    hold: () => {
      holding = true;
      return held;
    },
  };
}

test('doubles the pause after each failure, up to two seconds, and starts without a pause', async () => {
  const { pauses, slept } = watched();
  for (let n = 0; n < 7; n += 1) {
    await pauses.wait('a');
    pauses.failed('a');
  }
  assert.deepEqual(slept, [250, 500, 1_000, 2_000, 2_000, 2_000]);
  await pauses.wait('b');
  assert.equal(slept.length, 6);
});

test('ends a pause on success or after a quarter of an hour', async () => {
  const { pauses, slept, pass } = watched();
  pauses.failed('a');
  pauses.failed('a');
  pauses.succeeded('a');
  await pauses.wait('a');
  assert.deepEqual(slept, []);
  pauses.failed('a');
  pass(15 * minute - 1);
  await pauses.wait('a');
  pauses.failed('a');
  pass(15 * minute);
  await pauses.wait('a');
  pauses.failed('a');
  await pauses.wait('a');
  assert.deepEqual(slept, [250, 250]);
});

test('bounds the number of waiting logins, and lets callers without a pause through', async () => {
  const { pauses, hold } = watched({ mostWaiting: 2 });
  const held = hold();
  pauses.failed('a');
  const waiting = [pauses.wait('a'), pauses.wait('a')];
  await assert.rejects(
    pauses.wait('a'),
    (error) => error instanceof Problem && error.code === 'overloaded' && error.retryAfterSeconds === 2,
  );
  await pauses.wait('b');
  for (const go of held) go();
  await Promise.all(waiting);
  const again = pauses.wait('a');
  for (const go of held) go();
  await again;
});

test('leaves waiting room for a caller with one pause beside a caller with many', async () => {
  const { pauses, hold } = watched({ mostWaiting: 6 });
  const held = hold();
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) pauses.failed(key);
  const waits = ['a', 'b', 'c', 'd', 'e', 'f'].map((key) => pauses.wait(key, 'flood').catch(() => 'refused'));
  const late = pauses.wait('g', 'late');
  for (const go of held) go();
  await late;
  assert.deepEqual((await Promise.all(waits)).map(Boolean), [false, false, false, false, false, true]);
});

test('forgets the keys with the oldest failures when there are too many keys', async () => {
  const { pauses, slept } = watched({ mostKeys: 3 });
  for (const key of ['a', 'b', 'c', 'a', 'd']) pauses.failed(key);
  await pauses.wait('b');
  assert.deepEqual(slept, []);
  for (const key of ['a', 'c', 'd']) await pauses.wait(key);
  assert.deepEqual(slept, [500, 250, 250]);
});
