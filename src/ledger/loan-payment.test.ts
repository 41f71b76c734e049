import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import {
  allotLoanPayment,
  type LoanOwed,
  type LoanPaymentOption,
  loanPaymentOptions,
} from './loan-payment.ts';

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

/** Payoff 1,000, of which 60 are due now: less than fees and accrued interest. */
const loan: LoanOwed = { principalMinor: 900n, interestMinor: 80n, feesMinor: 20n, amountDueMinor: 60n };

/** Fees, interest, principal, and the part that counts toward the amount due; or the refusal. */
const cases: readonly (readonly [LoanPaymentOption, amount: bigint, expected: readonly bigint[] | string])[] =
  [
    ['DEFAULT', 1n, [1n, 0n, 0n, 1n]],
    ['DEFAULT', 20n, [20n, 0n, 0n, 20n]],
    ['DEFAULT', 60n, [20n, 40n, 0n, 60n]],
    ['DEFAULT', 100n, [20n, 80n, 0n, 60n]],
    ['DEFAULT', 101n, [20n, 80n, 1n, 60n]],
    ['DEFAULT', 1_000n, [20n, 80n, 900n, 60n]],
    ['DEFAULT', 1_001n, 'exceeds_payoff'],
    ['PRINCIPAL_ONLY', 1n, [0n, 0n, 1n, 0n]],
    ['PRINCIPAL_ONLY', 900n, [0n, 0n, 900n, 0n]],
    ['PRINCIPAL_ONLY', 901n, 'exceeds_principal'],
    ['PRINCIPAL_ONLY', 1_001n, 'exceeds_payoff'],
    ['INTEREST_ONLY', 1n, [0n, 1n, 0n, 1n]],
    ['INTEREST_ONLY', 80n, [0n, 80n, 0n, 60n]],
    ['INTEREST_ONLY', 81n, 'exceeds_interest'],
    ['INTEREST_ONLY', 1_001n, 'exceeds_payoff'],
    ['EXCESS_TO_PRINCIPAL', 60n, [20n, 40n, 0n, 60n]],
    ['EXCESS_TO_PRINCIPAL', 61n, [20n, 40n, 1n, 60n]],
    ['EXCESS_TO_PRINCIPAL', 960n, [20n, 40n, 900n, 60n]],
    ['EXCESS_TO_PRINCIPAL', 961n, [20n, 41n, 900n, 60n]],
    ['EXCESS_TO_PRINCIPAL', 1_000n, [20n, 80n, 900n, 60n]],
    ['EXCESS_TO_PRINCIPAL', 1_001n, 'exceeds_payoff'],
  ];

for (const [option, amountMinor, expected] of cases) {
  test(`splits a ${option} loan payment of ${amountMinor} into ${expected}`, () => {
    const parts = allotLoanPayment(amountMinor, option, loan);
    const seen = 'refused' in parts ? parts.refused : Object.values(parts);
    assert.deepEqual(seen, expected);
  });
}

test('applies all of an excess payment to principal when nothing is due', () => {
  const parts = allotLoanPayment(70n, 'EXCESS_TO_PRINCIPAL', { ...loan, amountDueMinor: 0n });
  assert.deepEqual(Object.values(parts), [0n, 0n, 70n, 0n]);
});

test('splits a payment into parts that add up to it, none negative and none above the debt', (context) => {
  context.diagnostic(`SEED=${seed}`);
  const money = fc.oneof(fc.bigInt({ min: 0n, max: 40n }), fc.bigInt({ min: 0n, max: 10n ** 15n }));
  const loans = fc.record({
    principalMinor: money,
    interestMinor: money,
    feesMinor: money,
    amountDueMinor: money,
  });
  fc.assert(
    fc.property(fc.constantFrom(...loanPaymentOptions), money, loans, (option, amountMinor, owed) => {
      const parts = allotLoanPayment(amountMinor, option, owed);
      const payoff = owed.principalMinor + owed.interestMinor + owed.feesMinor;
      if ('refused' in parts) {
        const bound = {
          exceeds_payoff: payoff,
          exceeds_principal: owed.principalMinor,
          exceeds_interest: owed.interestMinor,
        }[parts.refused];
        assert.ok(amountMinor > bound);
        return;
      }
      const { toFeesMinor, toInterestMinor, toPrincipalMinor, toAmountDueMinor } = parts;
      assert.ok(amountMinor <= payoff);
      assert.equal(toFeesMinor + toInterestMinor + toPrincipalMinor, amountMinor);
      assert.ok(toFeesMinor >= 0n && toFeesMinor <= owed.feesMinor);
      assert.ok(toInterestMinor >= 0n && toInterestMinor <= owed.interestMinor);
      assert.ok(toPrincipalMinor >= 0n && toPrincipalMinor <= owed.principalMinor);
      assert.ok(toAmountDueMinor >= 0n && toAmountDueMinor <= owed.amountDueMinor);
      assert.ok(toAmountDueMinor <= amountMinor);
    }),
    { seed, numRuns: 2_000 },
  );
});
