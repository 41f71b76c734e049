import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopTurns } from './loop-turns.ts';

test('starts two callers in each turn of the event loop, in order', async () => {
  const turns = new LoopTurns(2);
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const started = await Promise.all(
    [0, 1, 2, 3, 4].map(async (caller) => {
      await turns.next();
      return { caller, turn };
    }),
  );
  isOver = true;
  const turnsOf = started.map((one) => one.turn - (started[0]?.turn ?? 0));
  assert.deepEqual(turnsOf, [0, 0, 1, 1, 2]);
});
