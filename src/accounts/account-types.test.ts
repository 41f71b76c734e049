import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountTypes, categoryOf } from './account-types.ts';

/** Written from the field's list of DIAccountType values, not from the table under test. */
const expected: Record<string, string[]> = {
  DEPOSIT: [
    'SAVINGS',
    'CHECKING',
    'MONEY_MARKET',
    'CERT_OF_DEPOSIT',
    'CSI_CERT_OF_DEPOSIT',
    'RETIREMENT_IRA',
    'UNKNOWN',
  ],
  INVESTMENT: ['BROKERAGE', 'KEOGH', 'RETIREMENT_401K'],
  CREDIT: ['CREDIT_CARD_LOAN', 'LINE_OF_CREDIT_LOAN', 'TCL_CREDIT_LINE'],
  LOAN: [
    'INSTALLMENT_LOAN',
    'CONSUMER_LOAN',
    'COMMERCIAL_LOAN',
    'MORTGAGE_LOAN',
    'RESIDENTIAL_MORTGAGE_LOAN',
    'COMMERCIAL_REFI_LOAN',
    'HOME_EQUITY_LOAN',
    'TCL_MASTER',
    'TCL_NOTE',
  ],
  INTERNAL: ['GENERAL_LEDGER_ACCOUNT', 'GENERAL_LEDGER_CODE'],
};

test('gives every DIAccountType, and nothing else, a category and a description', () => {
  const pairs = Object.entries(expected).flatMap(([category, types]) =>
    types.map((type) => [type, category]),
  );
  assert.deepEqual([...accountTypes].map(([type, { category }]) => [type, category]).sort(), pairs.sort());
  for (const { description } of accountTypes.values()) assert.match(description, /^\S.*\S$/);
});

test('finds no category for a value that is not a DIAccountType', () => {
  for (const text of ['', 'savings', 'RETIREMENT_401_K', 'toString', '__proto__']) {
    assert.equal(categoryOf(text), undefined);
  }
});
