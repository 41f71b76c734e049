import assert from 'node:assert/strict';
import { it } from 'node:test';
import { marksOf } from '../../web/console/account-marks.ts';

const open = { closed: false, delinquent: false, coreRestriction: null, operatorRestriction: null };

it('an open account without restrictions has no mark', () => {
  assert.deepEqual(marksOf(open), []);
});

it('an account has a mark in words for each thing that sets it apart, not only the first', () => {
  const words = (state: Partial<Parameters<typeof marksOf>[0]>) =>
    marksOf({ ...open, ...state }).map((mark) => mark.words);
  assert.deepEqual(
    words({
      closed: true,
      delinquent: true,
      coreRestriction: 'EXCLUDE_AS_FROM',
      operatorRestriction: 'EXCLUDE_ALL',
    }),
    ['Closed', 'Frozen by an operator', 'Core: pays nothing out', 'Payment overdue'],
  );
  assert.deepEqual(words({ operatorRestriction: 'EXCLUDE_AS_TO' }), ['Operator: takes nothing in']);
});
