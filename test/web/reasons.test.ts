import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { WaitingReason } from '../../web/console/operations.ts';
import { reasonsOf } from '../../web/console/screens/review/reasons.ts';

const waiting = {
  heldFor: 'REVIEW',
  approvedBy: [],
  approvalsNeeded: 1,
  isWithCore: false,
  currencyCode: 'USD',
};
const words = (...reasons: WaitingReason[]) => reasonsOf({ ...waiting, reasons });

it('says why a transfer waits with the figure', () => {
  assert.deepEqual(words({ kind: 'AMOUNT', threshold: '1000.00' }), ['Above $1,000.00']);
  const limit = { subject: 'USER', period: 'DAY' };
  assert.deepEqual(words({ kind: 'TOTAL', threshold: '2000.00', used: '1900.00', limit }), [
    'Total of the member, by day, above $2,000.00 with $1,900.00 before',
  ]);
  assert.deepEqual(
    words(
      { kind: 'SCREENING', answer: 'ANSWERED', reference: 'case 4711' },
      { kind: 'AMOUNT', threshold: '5.00' },
    ),
    ['Screening: hold, case 4711', 'Above $5.00'],
  );
  assert.deepEqual(words({ kind: 'SCREENING', answer: 'SILENT', reference: null }), [
    'Screening: hold, as the hook gave no answer',
  ]);
  assert.deepEqual(words({ kind: 'CUT_OFF', cutOff: '17:00:00' }), ['After the cut-off at 17:00']);
});

it('says that an approved transfer waits for its processing time', () => {
  const reasons = [{ kind: 'AMOUNT', threshold: '1000.00' }] as const;
  const [first] = reasonsOf({ ...waiting, reasons, approvedBy: ['Ann'] });
  assert.match(first ?? '', /^Approved/);
});

it('says whether the core has a transfer', () => {
  const core = { ...waiting, heldFor: 'CORE', reasons: [{ kind: 'CORE' }] } as const;
  assert.deepEqual(reasonsOf(core), ['The core has not fetched it']);
  assert.deepEqual(reasonsOf({ ...core, isWithCore: true }), ['The core has it']);
});
