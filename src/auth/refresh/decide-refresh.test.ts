import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideRefresh, type PresentedToken, type RefreshFacts } from './decide-refresh.ts';

const start = Date.UTC(2026, 2, 2);
const at = (seconds: number) => new Date(start + seconds * 1000);
const family: RefreshFacts = {
  revoked: false,
  idleUntil: at(1_000),
  generation: 7,
  rotatedAt: at(0),
  bothStand: true,
};
const newest: PresentedToken = { generation: 7, isNewest: true, precedesNewest: false };
const before: PresentedToken = { generation: 6, isNewest: false, precedesNewest: true };
const older: PresentedToken = { generation: 5, isNewest: false, precedesNewest: false };

const cases: [string, Partial<RefreshFacts>, PresentedToken, number, string][] = [
  ['the newest is exchanged', {}, newest, 1, 'rotate'],
  ['also at the last moment of the family', {}, newest, 999.999, 'rotate'],
  ['but not when that is over', {}, newest, 1_000, 'refuse'],
  ['nor when the family was revoked', { revoked: true }, newest, 1, 'refuse'],
  ['nor while the user does not stand', { bothStand: false }, newest, 1, 'refuse'],
  ['the one before gets the newest again within ten seconds', {}, before, 10, 'repeat'],
  ['after them it is a spent one', {}, before, 10.001, 'reuse'],
  ['in them it gets nothing when the user does not stand', { bothStand: false }, before, 1, 'refuse'],
  ['or the family was revoked', { revoked: true }, before, 1, 'refuse'],
  ['or has ended', { idleUntil: at(5) }, before, 5, 'refuse'],
  ['an older one is a spent one at once', {}, older, 1, 'reuse'],
  ['also when the user does not stand: it was stolen all the same', { bothStand: false }, older, 1, 'reuse'],
  ['of a family that was revoked before there is nothing more to end', { revoked: true }, older, 1, 'refuse'],
  [
    'one of a number not reached yet is refused',
    {},
    { ...newest, generation: 8, isNewest: false },
    1,
    'refuse',
  ],
  ['one of the right number and another secret is refused', {}, { ...newest, isNewest: false }, 1, 'refuse'],
];

describe('decision on a refresh token', () => {
  for (const [name, changes, presented, seconds, expected] of cases) {
    it(`decides "${expected}" for a refresh token: ${name}`, () => {
      assert.equal(decideRefresh({ ...family, ...changes }, presented, at(seconds)), expected);
    });
  }
});
