import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keyStates } from './key-states.ts';

const minute = 60_000;
const at = (minutes: number) => new Date(Date.UTC(2026, 2, 2) + minutes * minute);
/** Keys by the minute from which they sign, generation 1 first. */
const statesOf = (signsFrom: readonly number[], now: number) => {
  const keys = signsFrom.map((minutes, index) => ({ generation: index + 1, signsFrom: at(minutes) }));
  return [...keyStates(keys, at(now)).values()].join(' ');
};

const day = 24 * 60;
const cases: [string, number[], number, string][] = [
  ['the first key signs at once', [0], 0, 'signing'],
  ['a key signs until another takes over', [0], 400 * day, 'signing'],
  ['the next one is published before it signs', [0, 60], 59, 'signing published'],
  ['the next key takes over at its time', [0, 60], 60, 'retired signing'],
  [
    'a retired key verifies for the lifetime of a token and the clock skew',
    [0, 60],
    60 + day + 4,
    'retired signing',
  ],
  [
    'a retired key ends after the lifetime of a token and the clock skew',
    [0, 60],
    60 + day + 5,
    'expired signing',
  ],
  ['the latest of several keys that may sign signs', [0, 10, 20], 30, 'retired retired signing'],
  ['an emergency key takes over from a published one', [0, 60, 5], 6, 'retired retired signing'],
  ['a published key that was overtaken never signs', [0, 60, 5], 61, 'retired retired signing'],
  ['no key signs before all of them, by a clock that went back', [10, 20], 5, 'published published'],
];

describe('states of signing keys', () => {
  for (const [name, signsFrom, now, expected] of cases) {
    it(name, () => assert.equal(statesOf(signsFrom, now), expected));
  }
});
