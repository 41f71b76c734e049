import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultCommit } from './ranges.ts';

test('a first import commits once, unless it is large and would keep the events of other institutions back', () => {
  const of = (isLater: boolean, members: number, hasOthers: boolean) =>
    defaultCommit({ isLater, members, hasOthers });
  assert.equal(of(false, 1_000_000, false), 'once');
  assert.equal(of(false, 20_000, true), 'once');
  assert.equal(of(false, 20_001, true), 'by-range');
});

test('a later import is written by range, so that members do not wait for its accounts', () => {
  for (const hasOthers of [false, true])
    assert.equal(defaultCommit({ isLater: true, members: 1, hasOthers }), 'by-range');
});
