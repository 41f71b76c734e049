import assert from 'node:assert/strict';
import { it } from 'node:test';
import { decidersOf, wordsOf } from '../../web/console/screens/review/decision.ts';

it('asks for a second person only if the transfer waits for one', () => {
  const words = (waitsFor: 'SECOND_APPROVAL' | 'PROCESSING_TIME' | 'CORE') =>
    wordsOf({ outcome: 'WAITS', waitsFor, status: 'PENDING' });
  assert.match(words('SECOND_APPROVAL'), /Another person must approve it too/);
  assert.match(words('PROCESSING_TIME'), /is approved, and posts at its processing time/);
  assert.match(words('CORE'), /completes when the core accepts it/);
  for (const other of ['PROCESSING_TIME', 'CORE'] as const) assert.doesNotMatch(words(other), /person/);
  assert.equal(wordsOf({ outcome: 'DONE', status: 'COMPLETED' }), 'The transfer is completed.');
});

it('names the persons who may still decide', () => {
  const waiting = { heldFor: 'REVIEW', approvalsNeeded: 2, approvedBy: [] as string[], isWithCore: false };
  assert.equal(decidersOf(waiting, 'Ann'), 'approvers, 2 of them');
  assert.equal(decidersOf({ ...waiting, approvedBy: ['Bob'] }, 'Ann'), 'an approver');
  assert.match(decidersOf({ ...waiting, approvedBy: ['Ann'] }, 'Ann'), /you have approved it/);
  assert.match(decidersOf({ ...waiting, approvedBy: ['Ann', 'Bob'] }, 'Ann'), /may decline/);
  assert.match(decidersOf({ ...waiting, approvedBy: ['Ann', 'Bob'], heldFor: 'CORE' }, 'Cy'), /may decline/);
  assert.match(decidersOf({ ...waiting, heldFor: 'CORE', isWithCore: true }, 'Cy'), /^nobody/);
});
