import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { csvOf } from '../../web/common/csv.ts';
import { durationOf, wordOf } from '../../web/console/format.ts';
import { whyNotPay } from '../../web/console/why-not-pay.ts';
import { compareAmounts } from '../../web/design/format/money.ts';

describe('tables of the console', () => {
  it('a text that a spreadsheet would run as a formula is saved as text', () => {
    const text = csvOf(['a'], [['=1+1'], ['@SUM(A1)'], ['+1 202'], ['-cmd'], ['-12.50'], ['12']]);
    assert.equal(text, "a\r\n'=1+1\r\n'@SUM(A1)\r\n'+1 202\r\n'-cmd\r\n-12.50\r\n12\r\n");
  });

  it('a file keeps commas, quotes and new lines inside their cell', () => {
    assert.equal(csvOf(['a', 'b'], [['x,y', 'say "hi"\nthere']]), 'a,b\r\n"x,y","say ""hi""\nthere"\r\n');
  });

  it('amounts sort by their value, also beyond the digits of a double', () => {
    const sorted = ['9007199254740993.01', '-5.00', '9007199254740993.00', '10', '9.99'].toSorted(
      compareAmounts,
    );
    assert.deepEqual(sorted, ['-5.00', '9.99', '10', '9007199254740993.00', '9007199254740993.01']);
  });

  it('a code is shown as a word, and a duration in the unit that fits', () => {
    assert.equal(wordOf('LOAN_PAYMENT'), 'Loan payment');
    assert.equal(wordOf('INTRA_FI'), 'Within the institution');
    assert.equal(wordOf(null), '');
    assert.deepEqual([900, 2_500, 180_000, 7_200_000, 259_200_000].map(durationOf), [
      '900 ms',
      '2.5 s',
      '3 min',
      '2 h',
      '3 days',
    ]);
  });
});

describe('why a person may not pay from an account', () => {
  const open = {
    accountType: 'CHECKING',
    role: 'PRIMARY',
    mayPay: true,
    closed: false,
    coreRestriction: null,
    operatorRestriction: null,
  };

  it('a holder who may pay from an open account gets no reason', () => {
    assert.equal(whyNotPay(open), undefined);
    assert.equal(whyNotPay({ ...open, operatorRestriction: 'EXCLUDE_AS_TO' }), undefined);
  });

  it('the first reason is named: closed, the holder record, an operator, the core, the type', () => {
    const all = {
      accountType: 'MORTGAGE_LOAN',
      role: 'JOINT',
      mayPay: false,
      closed: true,
      coreRestriction: 'EXCLUDE_ALL',
      operatorRestriction: 'EXCLUDE_AS_FROM',
    };
    assert.match(whyNotPay(all) ?? '', /closed/);
    assert.match(whyNotPay({ ...all, closed: false }) ?? '', /holder record \(Joint\)/);
    assert.match(whyNotPay({ ...all, closed: false, mayPay: true }) ?? '', /operator/);
    assert.match(whyNotPay({ ...all, closed: false, mayPay: true, operatorRestriction: null }) ?? '', /core/);
    assert.match(
      whyNotPay({ ...open, accountType: 'MORTGAGE_LOAN' }) ?? '',
      /Mortgage loan pays nothing out/,
    );
  });
});
