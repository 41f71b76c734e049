import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallGroup } from './call-group.ts';

test('a call group joins the calls of a turn, and those that come while it runs', async () => {
  const groups: number[][] = [];
  const group = new CallGroup<number, number>(async (items) => {
    groups.push([...items]);
    if (groups.length === 1) late = group.call(4);
    await new Promise((resolve) => setImmediate(resolve));
    return items.map((item) => item * 10);
  });
  let late: Promise<number> | undefined;
  assert.deepEqual(await Promise.all([1, 2, 3].map((item) => group.call(item))), [10, 20, 30]);
  assert.equal(await late, 40);
  assert.deepEqual(groups, [[1, 2, 3], [4]]);
  assert.equal(await group.call(5), 50);
});

test('a bad call of a group fails alone', async () => {
  const group = new CallGroup<number, number>(async (items) => {
    if (items.includes(2)) throw new Error('two');
    return items;
  });
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.call(item)));
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
});
