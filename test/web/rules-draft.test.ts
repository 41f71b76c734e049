import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TransferRules } from '../../web/console/operations.ts';
import { draftOf, rulesOf, withEachType, withLimit } from '../../web/console/screens/rules/draft.ts';

const rules: TransferRules = {
  thresholds: [
    { transferType: 'INTRA_FI', currency: 'USD', reviewAbove: '500.00', secondApprovalAbove: null },
  ],
  limits: [
    {
      ...{
        limitKey: 2,
        subject: 'CUSTOMER',
        period: 'DAY',
        transferType: null,
        sourceType: null,
        currency: 'USD',
      },
      ...{ maxPerTransfer: null, maxAmount: '9007199254740993.07', maxCount: 20, reviewAbove: null },
    },
  ],
};

describe('the form of rules to try', () => {
  it('a form without a change proposes the rules as they are, digit by digit', () => {
    const large = {
      ...rules,
      limits: rules.limits.map((one) => ({ ...one, maxAmount: '1234567890123.07' })),
    };
    assert.deepEqual(rulesOf(draftOf(large), large), { rules: large });
  });

  it('an empty field is no bound, zero is one, and a limit without a bound is left out', () => {
    const draft = { ...draftOf(rules), 'thresholds-INTRA_FI-USD-reviewAbove': '0', 'limits-2-maxAmount': '' };
    assert.deepEqual(rulesOf({ ...draft, 'limits-2-maxCount': ' ' }, rules), {
      rules: { thresholds: [{ ...rules.thresholds[0], reviewAbove: '0' }], limits: [] },
    });
  });

  it('each field that is no amount or no number has its own sentence, and nothing is proposed', () => {
    const draft = {
      ...draftOf(rules),
      'thresholds-INTRA_FI-USD-reviewAbove': '1,50',
      'limits-2-maxCount': '1.5',
    };
    const proposed = rulesOf({ ...draft, 'limits-2-maxAmount': '1' }, rules);
    assert.deepEqual(proposed, {
      faults: {
        'thresholds-INTRA_FI-USD-reviewAbove': 'Write an amount in digits, like 105.25.',
        'limits-2-maxCount': 'Write a whole number, like 20.',
      },
    });
  });

  it('a limit that is added has a number of its own, and is proposed once it has a bound', () => {
    const about = {
      subject: 'USER',
      period: 'MONTH',
      transferType: 'INTRA_FI',
      sourceType: null,
      currency: 'USD',
    };
    const added = { ...rules, limits: withLimit(withLimit(rules.limits, about), about) };
    assert.deepEqual(
      added.limits.map(({ limitKey }) => limitKey),
      [2, 3, 4],
    );
    const draft = { ...draftOf(rules), 'limits-2-maxAmount': '1', 'limits-4-maxAmount': '300' };
    const proposed = rulesOf(draft, added);
    assert.ok('rules' in proposed);
    const bounds = { maxPerTransfer: null, maxAmount: '300.00', maxCount: null, reviewAbove: null };
    assert.deepEqual(proposed.rules.limits.slice(1), [{ limitKey: 4, ...about, ...bounds }]);
  });

  it('a type without thresholds gets an empty row in the currency of the institution', () => {
    const { thresholds } = withEachType(rules, ['INTRA_FI', 'STANDARD'], 'USD');
    assert.deepEqual(thresholds.slice(1), [
      { transferType: 'STANDARD', currency: 'USD', reviewAbove: null, secondApprovalAbove: null },
    ]);
  });
});
