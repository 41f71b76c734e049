import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf } from '../../../test/support/operator.ts';
import type { PendingTerms } from './controls/policies.ts';
import type { Act } from './transfer.ts';
import { actInTime, decisionsOn, transitionOf } from './transition.ts';

const end = new Date('2026-03-04T16:00:00Z');
const justBefore = new Date(end.getTime() - 1);
const later = new Date('2026-03-05T06:00:00Z');
const expires: PendingTerms = {
  heldFor: 'REVIEW',
  dueAt: end,
  whenDue: 'EXPIRE',
  approvalsNeeded: 1,
  notBefore: null,
};
const posts: PendingTerms = { ...expires, whenDue: 'POST' };
const byTwo: PendingTerms = { ...expires, approvalsNeeded: 2 };
const opensLater: PendingTerms = { ...expires, notBefore: later };
const cutOff: PendingTerms = {
  heldFor: 'CUT_OFF',
  dueAt: end,
  whenDue: 'POST',
  approvalsNeeded: 0,
  notBefore: end,
};

const withCore: PendingTerms = { ...expires, heldFor: 'CORE' };

const approve: Act = { kind: 'approve', origin: commandOf('Ann') };
const decline: Act = { kind: 'decline', origin: commandOf('Ann') };
const due: Act = { kind: 'due' };
const cancel = { kind: 'cancel' } as Act;

const table: readonly (readonly [
  what: string,
  Act,
  PendingTerms,
  approvedBy: string[],
  Date,
  becomes: string,
])[] = [
  ['approved in time', approve, expires, [], justBefore, 'posted'],
  ['approved at the end of the review', approve, expires, [], end, 'transfer_expired'],
  ['approved long after it', approve, expires, [], later, 'transfer_expired'],
  ['approved at the end, where it posts by itself', approve, posts, [], end, 'posted'],
  ['one of two, in time', approve, byTwo, [], justBefore, 'pending until the end: waits_for_approval'],
  ['one of two, at the end', approve, byTwo, [], end, 'transfer_expired'],
  ['two of two, in time', approve, byTwo, ['Bob'], justBefore, 'posted'],
  ['two of two, at the end', approve, byTwo, ['Bob'], end, 'transfer_expired'],
  ['the same person twice, in time', approve, byTwo, [' ann '], justBefore, 'approved_before'],
  ['the same person twice, at the end', approve, byTwo, ['Ann'], end, 'transfer_expired'],
  [
    'approved before its processing time',
    approve,
    opensLater,
    [],
    justBefore,
    'pending until later: waits_for_time',
  ],
  [
    'approved by one more, before its processing time',
    approve,
    opensLater,
    ['Bob'],
    justBefore,
    'not_in_review',
  ],
  [
    'approved by one more, at its processing time',
    approve,
    { ...opensLater, dueAt: later, notBefore: end },
    ['Bob'],
    end,
    'posted',
  ],
  ['approved at the end, before its processing time', approve, opensLater, [], end, 'transfer_expired'],
  ['nothing to approve', approve, cutOff, [], justBefore, 'not_in_review'],
  ['nothing to approve, as the core has to carry it out', approve, withCore, [], justBefore, 'not_in_review'],
  ['declined', decline, expires, [], justBefore, 'transfer_declined'],
  ['declined at the end, before it was expired', decline, expires, [], end, 'transfer_declined'],
  ['declined at the end, before it posted by itself', decline, posts, [], later, 'transfer_declined'],
  ['cancelled', cancel, posts, [], justBefore, 'transfer_cancelled'],
  ['cancelled at the end, before it posted by itself', cancel, posts, [], end, 'transfer_cancelled'],
  ['cancelled on its business day, before it posted', cancel, cutOff, [], later, 'transfer_cancelled'],
  ['a moment too early', due, expires, [], justBefore, 'not_due'],
  ['not reviewed', due, expires, [], end, 'transfer_expired'],
  ['not reviewed, where it posts by itself', due, posts, [], end, 'posted'],
  ['its business day has come', due, cutOff, [], end, 'posted'],
];

for (const [what, act, terms, approvedBy, at, becomes] of table) {
  test(`turns a pending transfer "${becomes}": ${what}`, () => {
    const transition = transitionOf(
      actInTime(act, terms, at),
      { ...terms, isWithCore: false, approvedBy: [...approvedBy].map((name) => [name]) },
      at,
    );
    const result = {
      posted: () => 'posted',
      failed: () => 'failure' in transition && transition.failure.code,
      pending: () =>
        'terms' in transition &&
        `pending until ${transition.terms.dueAt === later ? 'later' : 'the end'}: ${transition.why}`,
      nothing: () => 'why' in transition && transition.why,
    }[transition.to]();
    assert.equal(result, becomes);
  });
}

test('offers an operator the decisions that would not be refused', () => {
  const of = (terms: PendingTerms, more: { approvedBy?: string[]; isWithCore?: boolean } = {}) => {
    const { approvedBy = [], isWithCore = false } = more;
    const pending = { ...terms, isWithCore, approvedBy: approvedBy.map((name) => [name]) };
    return decisionsOn(pending, { origin: commandOf('Ann'), at: justBefore }).join(' ');
  };
  assert.equal(of(expires), 'approve decline');
  assert.equal(of(byTwo, { approvedBy: ['Bob'] }), 'approve decline');
  assert.equal(of(byTwo, { approvedBy: [' ann '] }), 'decline');
  assert.equal(of(opensLater, { approvedBy: ['Bob'] }), 'decline');
  assert.equal(of(cutOff), 'decline');
  assert.equal(of(withCore), 'decline');
  assert.equal(of(withCore, { isWithCore: true }), '');
});
