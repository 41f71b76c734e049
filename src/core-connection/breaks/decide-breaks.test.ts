import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSumOfSome } from './decide-breaks.ts';

test('a difference is that of instructions under way only if some of them add up to it', () => {
  assert.equal(isSumOfSome([-700n, 250n, -100n], -450n), true);
  assert.equal(isSumOfSome([-700n, 250n, -100n], -800n), true);
  assert.equal(isSumOfSome([-700n, 250n, -100n], -350n), false);
  assert.equal(isSumOfSome([], 0n), false);
});

test('a difference beside more than twelve instructions only has to lie between the extremes', () => {
  const many = Array.from({ length: 13 }, () => -100n);
  assert.equal(isSumOfSome(many, -1n), true);
  assert.equal(isSumOfSome(many, -1_301n), false);
  assert.equal(isSumOfSome(many, 1n), false);
});
