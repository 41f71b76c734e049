import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changeWords } from '../../web/console/screens/review/proposal-words.ts';

const nothing = { days: [], policies: [], limits: [], contributionLimits: [] };

it('says which day opens or closes', () => {
  const of = (open: boolean | null) => changeWords({ ...nothing, days: [{ day: '2026-12-24', open }] });
  assert.match(of(false), /24.*: closed$/);
  assert.match(of(true), /: open$/);
  assert.match(of(null), /: as the Federal Reserve has it$/);
});

it('names the rules that change, which the command line confirms', () => {
  const words = changeWords({ ...nothing, policies: ['CROSS_MEMBER USD'], limits: ['3'] });
  assert.match(words, /same files: policy of cross member USD, limit 3$/);
});
