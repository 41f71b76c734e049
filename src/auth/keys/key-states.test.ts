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
  ['a key signs for as long as none takes over', [0], 400 * day, 'signing'],
  ['the next one is published before it signs', [0, 60], 59, 'signing published'],
  ['it takes over at its moment', [0, 60], 60, 'retired signing'],
  [
    'a retired key verifies as long as a token may live, and for clocks apart',
    [0, 60],
    60 + day + 4,
    'retired signing',
  ],
  ['then it is dead', [0, 60], 60 + day + 5, 'dead signing'],
  ['the latest of several that may sign does', [0, 10, 20], 30, 'retired retired signing'],
  ['one made in haste takes over from one still waiting', [0, 60, 5], 6, 'retired retired signing'],
  ['which then never signs', [0, 60, 5], 61, 'retired retired signing'],
  ['before all of them, by a clock that went back, none signs', [10, 20], 5, 'published published'],
];

describe('states of signing keys', () => {
  for (const [name, signsFrom, now, expected] of cases) {
    it(name, () => assert.equal(statesOf(signsFrom, now), expected));
  }
});
