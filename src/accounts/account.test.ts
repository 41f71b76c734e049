import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountBalances, type LedgerFigures } from './account.ts';

const nothing = { posted: 0n, debitsPending: 0n, creditLimit: 0n, accruedInterest: 0n, feesDue: 0n };

const cases: { of: string; figures: LedgerFigures; current: bigint; available: bigint }[] = [
  {
    of: 'a deposit is what is posted, and holds lower only what is available',
    figures: { ...nothing, category: 'DEPOSIT', posted: 50_000n, debitsPending: 12_345n },
    current: 50_000n,
    available: 37_655n,
  },
  {
    of: 'an overdrawn deposit is negative in both',
    figures: { ...nothing, category: 'DEPOSIT', posted: -2_500n },
    current: -2_500n,
    available: -2_500n,
  },
  {
    of: 'an investment is read like a deposit',
    figures: { ...nothing, category: 'INVESTMENT', posted: 900_000n, debitsPending: 1n },
    current: 900_000n,
    available: 899_999n,
  },
  {
    of: 'a loan shows the principal owed, without interest and fees, and nothing to draw',
    figures: { ...nothing, category: 'LOAN', posted: -1_000_000n, accruedInterest: 4_211n, feesDue: 2_500n },
    current: 993_289n,
    available: 0n,
  },
  {
    of: 'a loan that is paid off owes nothing',
    figures: { ...nothing, category: 'LOAN' },
    current: 0n,
    available: 0n,
  },
  {
    of: 'a credit line shows the debt and the part of the line that is neither drawn nor held',
    figures: {
      ...nothing,
      category: 'CREDIT',
      posted: -120_000n,
      debitsPending: 5_000n,
      creditLimit: 500_000n,
    },
    current: 120_000n,
    available: 375_000n,
  },
  {
    of: 'a credit line that was overpaid owes less than nothing and can be drawn beyond its limit by that',
    figures: { ...nothing, category: 'CREDIT', posted: 1_000n, creditLimit: 500_000n },
    current: -1_000n,
    available: 501_000n,
  },
];

for (const { of, figures, current, available } of cases) {
  test(of, () => {
    assert.deepEqual(accountBalances(figures), { currentMinor: current, availableMinor: available });
  });
}
