import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideRefresh, type PresentedToken, type RefreshFacts } from './decide-refresh.ts';

const start = Date.UTC(2026, 2, 2);
const at = (seconds: number) => new Date(start + seconds * 1000);
const family: RefreshFacts = {
  isRevoked: false,
  idleUntil: at(1_000),
  generation: 7,
  rotatedAt: at(0),
  isPermitted: true,
};
const newest: PresentedToken = { generation: 7, isNewest: true, precedesNewest: false };
const before: PresentedToken = { generation: 6, isNewest: false, precedesNewest: true };
const older: PresentedToken = { generation: 5, isNewest: false, precedesNewest: false };

const cases: [string, Partial<RefreshFacts>, PresentedToken, number, string][] = [
  ['the newest', {}, newest, 1, 'rotate'],
  ['the newest at the last moment of the family', {}, newest, 999.999, 'rotate'],
  ['the newest after the family’s time', {}, newest, 1_000, 'refuse'],
  ['the newest of a revoked family', { isRevoked: true }, newest, 1, 'refuse'],
  ['the newest of an inactive user', { isPermitted: false }, newest, 1, 'refuse'],
  ['the one before within ten seconds', {}, before, 10, 'repeat'],
  ['the one before after ten seconds', {}, before, 10.001, 'reuse'],
  ['the one before within ten seconds, of an inactive user', { isPermitted: false }, before, 1, 'refuse'],
  ['the one before within ten seconds, of a revoked family', { isRevoked: true }, before, 1, 'refuse'],
  ['the one before within ten seconds, of an ended family', { idleUntil: at(5) }, before, 5, 'refuse'],
  ['an older one at once', {}, older, 1, 'reuse'],
  ['an older one of an inactive user, which was stolen as well', { isPermitted: false }, older, 1, 'reuse'],
  ['an older one of a family that is already revoked', { isRevoked: true }, older, 1, 'refuse'],
  ['one with a future number', {}, { ...newest, generation: 8, isNewest: false }, 1, 'refuse'],
  ['one with the right number and another secret', {}, { ...newest, isNewest: false }, 1, 'refuse'],
];

describe('decision on a refresh token', () => {
  for (const [name, changes, presented, seconds, expected] of cases) {
    it(`decides "${expected}" for a refresh token: ${name}`, () => {
      assert.equal(decideRefresh({ ...family, ...changes }, presented, at(seconds)), expected);
    });
  }
});
