import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, FairShare, inTurns } from './fair-queue.ts';
import { Problem } from './problem.ts';

const overloaded = () => new Problem('overloaded', 'Too many.');

function takeAll(places: FairShare, name: string): number {
  let count = 0;
  while (places.take(name)) count += 1;
  return count;
}

test('gives a single client two thirds of the slots, and the next client two thirds of the rest', () => {
  const places = new FairShare(900);
  assert.equal(takeAll(places, 'flood'), 601);
  assert.equal(takeAll(places, 'second'), 200);
  assert.equal(takeAll(places, 'flood'), 0);
  assert.equal(takeAll(places, 'third'), 67);
});

test('gives a slot to a client without one while any is free', () => {
  for (const most of [1, 2, 3, 10]) {
    const places = new FairShare(most);
    for (let left = most; left > 0; left--) assert.ok(places.take(`${left}`), `${left} of ${most}`);
    assert.ok(!places.take('late'));
  }
});

test('reuses freed slots, and throws when a slot that was not taken is freed', () => {
  const places = new FairShare(2);
  assert.ok(places.take('a') && places.take('b'));
  assert.ok(!places.take('a'));
  places.free('b');
  assert.ok(places.take('a'));
  assert.throws(() => places.free('b'));
});

test('takes queues in turns, each in its own order', () => {
  const items = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'];
  assert.deepEqual([...inTurns(items, (item) => item.charAt(0))], ['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  assert.deepEqual([...inTurns([], String)], []);
});

test('runs a bounded number of tasks, queues others in order, and rejects further ones without starting them', async () => {
  const queue = new FairQueue(2, 2, overloaded);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const take = (n: number) =>
    queue.run('one', () => {
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
  assert.equal(await queue.run('one', async () => 'free again'), 'free again');
});

test('serves queues in turns, each in its own order', async () => {
  const queue = new FairQueue(1, 100, overloaded);
  const begun: string[] = [];
  const work = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((name) =>
    queue.run(name.charAt(0), async () => {
      begun.push(name);
    }),
  );
  await Promise.all(work);
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('leaves waiting room for later callers beside a caller that floods', async () => {
  const queue = new FairQueue(1, 6, overloaded);
  let end = () => {};
  const first = queue.run('flood', () => new Promise<void>((resolve) => (end = resolve)));
  const flood = Array.from({ length: 20 }, () =>
    queue.run('flood', async () => 'done').catch(() => 'refused'),
  );
  const late = queue.run('late', async () => 'done');
  end();
  await first;
  assert.equal(await late, 'done');
  const outcomes = await Promise.all(flood);
  assert.equal(outcomes.filter((one) => one === 'done').length, 5);
});
