import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairShare, inTurns } from './fair-share.ts';

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
