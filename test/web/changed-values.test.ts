import assert from 'node:assert/strict';
import { it } from 'node:test';
import { changedValues } from '../../web/console/changed-values.ts';

it('values before and after an act stand side by side, also those within others and those that one side lacks', () => {
  const before = { name: 'Wallet', tokens: { lifetime: 600, kinds: ['DPOP'] }, gone: true };
  const after = { name: 'Purse', tokens: { lifetime: 300, kinds: [] }, note: null, text: '' };
  assert.deepEqual(changedValues(before, after), [
    { name: 'name', before: 'Wallet', after: 'Purse' },
    { name: 'tokens.lifetime', before: '600', after: '300' },
    { name: 'tokens.kinds', before: 'DPOP', after: 'none' },
    { name: 'gone', before: 'true', after: '' },
    { name: 'note', before: '', after: 'none' },
    { name: 'text', before: '', after: '(empty text)' },
  ]);
});

it('the rows of a list of rules are lines with the names of their values', () => {
  const after = {
    limits: [
      { period: 'DAY', most: '500.00' },
      { period: 'MONTH', most: null },
    ],
  };
  assert.deepEqual(changedValues(undefined, after), [
    { name: 'limits', before: '', after: 'period DAY, most 500.00\nperiod MONTH, most none' },
  ]);
});
