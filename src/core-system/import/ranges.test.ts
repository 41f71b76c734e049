import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultCommit, wholeStage } from './ranges.ts';

const ranges = (count: number) => new Array(count).fill(wholeStage);

test('a first import commits once', () => {
  assert.equal(defaultCommit(undefined), 'once');
});

test('a later import commits once if no member notices, and otherwise the operator decides', () => {
  const of = (persons: number, members: number) =>
    defaultCommit({ persons: ranges(persons), members: ranges(members) });
  assert.equal(of(0, 0), 'once');
  assert.equal(of(1, 1), 'once');
  assert.equal(of(0, 3), undefined);
  assert.equal(of(2, 1), undefined);
});
