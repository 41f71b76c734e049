import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../shared/problem.ts';
import { Turns } from './turns.ts';

test('runs a bounded number of tasks, queues others in order, and rejects further ones without starting them', async () => {
  const turns = new Turns(2, 2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const take = (n: number) =>
    turns.take('one', () => {
      begun.push(n);
      return new Promise<number>((resolve, reject) => {
        ends[n] = () => (n === 1 ? reject(new Error('failed')) : resolve(n));
      });
    });
  const taken = [0, 1, 2, 3].map(take);
  await assert.rejects(take(4), (error) => error instanceof Problem && error.code === 'overloaded');
  assert.deepEqual(begun, [0, 1]);
  // A failed task also starts the next one.
  ends[1]?.();
  await assert.rejects(taken[1] as Promise<number>, /failed/);
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.();
  await taken[0];
  assert.deepEqual(begun, [0, 1, 2, 3]);
  ends[2]?.();
  ends[3]?.();
  assert.deepEqual(await Promise.all([taken[2], taken[3]]), [2, 3]);
  assert.equal(await turns.take('one', async () => 'free again'), 'free again');
});

test('serves queues in turns, each in its own order', async () => {
  const turns = new Turns(1, 100);
  const begun: string[] = [];
  const work = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) =>
    turns.take(name.charAt(0), async () => {
      begun.push(name);
    }),
  );
  await Promise.all(work);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('leaves waiting room for later callers beside a caller that floods', async () => {
  const turns = new Turns(1, 6);
  let end = () => {};
  const first = turns.take('flood', () => new Promise<void>((resolve) => (end = resolve)));
  const flood = Array.from({ length: 20 }, () =>
    turns.take('flood', async () => 'done').catch(() => 'refused'),
  );
  const late = turns.take('late', async () => 'done');
  end();
  await first;
  assert.equal(await late, 'done');
  const outcomes = await Promise.all(flood);
  assert.equal(outcomes.filter((one) => one === 'done').length, 5);
});
