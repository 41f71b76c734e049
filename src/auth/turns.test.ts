import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../problem.ts';
import { Turns } from './turns.ts';

test('so many run at a time, others wait in their order, and beyond that they are refused unbegun', async () => {
  const turns = new Turns(2, 2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const take = (n: number) =>
    turns.take(() => {
      begun.push(n);
      return new Promise<number>((resolve, reject) => {
        ends[n] = () => (n === 1 ? reject(new Error('failed')) : resolve(n));
      });
    });
  const taken = [0, 1, 2, 3].map(take);
  await assert.rejects(take(4), (error) => error instanceof Problem && error.code === 'overloaded');
  assert.deepEqual(begun, [0, 1]);
  // A failure hands its turn over too.
  ends[1]?.();
  await assert.rejects(taken[1] as Promise<number>, /failed/);
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.();
  await taken[0];
  assert.deepEqual(begun, [0, 1, 2, 3]);
  ends[2]?.();
  ends[3]?.();
  assert.deepEqual(await Promise.all([taken[2], taken[3]]), [2, 3]);
  assert.equal(await turns.take(async () => 'free again'), 'free again');
});
