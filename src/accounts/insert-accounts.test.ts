import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstitutionId, Queryable } from '../storage/index.ts';
import type { NewAccount } from './account.ts';
import { insertAccounts } from './insert-accounts.ts';

const loan: NewAccount = {
  accountId: 'loan-1',
  customerKey: 1n,
  purpose: null,
  accountNumber: '1',
  diAccountType: 'CONSUMER_LOAN',
  description: 'Consumer Loan',
  currency: 'USD',
  closed: false,
  delinquent: false,
  overdraftLimit: 0n,
  creditLimit: 0n,
  accruedInterest: 0n,
  feesDue: 0n,
};

/** Writes each statement's row except the `failing`th one's, without an error. */
function silentlyRefusing(failing: number): Queryable {
  let statements = 0;
  return {
    institutionId: 1 as InstitutionId,
    async query<Row extends object>() {
      statements += 1;
      const written = statements === failing ? [] : [{ accountId: loan.accountId, accountKey: 1n }];
      return { rows: written as unknown as Row[], rowCount: written.length, command: 'INSERT' };
    },
  };
}

for (const [failing, what] of ['accounts', 'balances', 'loans'].entries()) {
  test(`throws when the row of a new account in ${what} was not written`, async () => {
    const at = new Date('2026-03-02T12:00:00Z');
    const opened = insertAccounts(silentlyRefusing(failing + 1), [loan], at);
    await assert.rejects(opened, new RegExp(`0 of 1 ${what} were written`));
  });
}
