import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { unchangedProgram } from '../support/mutant.ts';
import { policy, Teller } from '../support/teller.ts';

/* Changes of a member or of the year while an order is held. */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const review = { above: 100_00n, secondAbove: null, seconds: 3_600, onReviewTimeout: 'POST' } as const;
const pay = { from: 'ada-checking', to: 'ada-savings', amount: '200.00' };
const due = '2026-03-03T16:00:00Z';

async function shutOut(teller: Teller, change: string): Promise<void> {
  await db.superuser(`update users set ${change} where institution_id = $1 and user_key = $2`, [
    teller.client.institutionId,
    teller.members.get('ada')?.userKey,
  ]);
}

for (const [how, lock, unlock] of [
  ['locked', 'locked_by_operator = true', 'locked_by_operator = false'],
  ['switched off', 'active = false', 'active = true'],
] as const) {
  test(`an order of a member ${how} by an operator does not post by itself, and posts by approval or when that ends`, async () => {
    await using teller = await Teller.of(unchangedProgram, db, {
      policies: [policy({ type: 'STANDARD', review })],
    });
    for (const id of ['approved', 'declined', 'later']) {
      assert.equal(await teller.order('ada', { ...pay, id }), 'PENDING');
    }
    assert.equal(await teller.order('client', { ...pay, id: 'bank' }), 'PENDING');
    await shutOut(teller, lock);
    teller.now = new Date(due);
    assert.equal(await teller.settleDue(), 1);
    assert.equal(await teller.read('client', 'bank'), 'COMPLETED', 'no member has ordered it');
    assert.equal(await teller.read('client', 'later'), 'PENDING');
    assert.equal(await teller.balance('ada-checking'), '80000 60000 0');
    assert.equal(await teller.review('approve', 'ann', 'approved'), 'COMPLETED');
    assert.equal(await teller.review('decline', 'ann', 'declined'), 'transfer_declined');
    await assert.rejects(
      db.superuser(
        `update transfers set status = 'COMPLETED', settled_at = '${due}' where transfer_id = 'later' and status = 'PENDING'`,
      ),
      { code: 'SD007' },
    );
    await shutOut(teller, unlock);
    assert.equal(await teller.settleDue(), 1);
    assert.equal(await teller.read('ada', 'later'), 'COMPLETED');
    assert.equal(await teller.balance('ada-checking'), '40000 0 0');
  });
}

test('the sweep does not post for a member locked after it has looked', async () => {
  await using teller = await Teller.of(unchangedProgram, db, {
    policies: [policy({ type: 'STANDARD', review })],
  });
  assert.equal(await teller.order('ada', { ...pay, id: 'raced' }), 'PENDING');
  teller.now = new Date(due);
  await shutOut(teller, 'locked_by_operator = true');
  assert.equal(await teller.submitDue('raced', pay), 'orderer_shut_out');
  assert.equal(await teller.read('client', 'raced'), 'PENDING');
});

test('a lock by wrong passwords stops no held transfer, and an expiring one expires', async () => {
  const expiring = { ...review, onReviewTimeout: 'EXPIRE' } as const;
  await using teller = await Teller.of(unchangedProgram, db, {
    policies: [policy({ type: 'STANDARD', review }), policy({ type: 'CROSS_MEMBER', review: expiring })],
  });
  assert.equal(await teller.order('ada', { ...pay, id: 'posts' }), 'PENDING');
  assert.equal(await teller.order('ada', { ...pay, to: 'ada-two', id: 'expires' }), 'PENDING');
  await shutOut(teller, `locked_until = '2027-01-01'`);
  teller.now = new Date(due);
  assert.equal(await teller.settleDue(), 2);
  assert.equal(await teller.read('client', 'posts'), 'COMPLETED');
  assert.equal(await teller.read('client', 'expires'), 'transfer_expired');
  await shutOut(teller, 'locked_until = null');
});

test('a contribution ordered on the filing date counts for the year before, even if it posts after it', async () => {
  await using teller = await Teller.of(unchangedProgram, db, {
    policies: [policy({ type: 'IRA_CONTRIBUTION', review: { ...review, above: 0n } })],
  });
  // Wednesday 15 April 2026, 23:30 in New York.
  teller.now = new Date('2026-04-16T03:30:00Z');
  const contribution = { from: 'ada-savings', to: 'ada-ira', amount: '100.00', previousYear: true };
  assert.equal(await teller.order('ada', { ...contribution, id: 'in-time' }), 'PENDING');
  teller.now = new Date('2026-04-16T04:30:00Z');
  assert.equal(await teller.settleDue(), 1);
  assert.equal(await teller.read('ada', 'in-time'), 'COMPLETED');
  const counted = await db.superuser<{ year: string; amount: bigint }>(
    `select to_char(period_start, 'YYYY') as year, amount from limit_counters where institution_id = $1`,
    [teller.client.institutionId],
  );
  assert.deepEqual(counted, [{ year: '2025', amount: 100_00n }]);
  assert.equal(await teller.order('ada', { ...contribution, id: 'too-late' }), 'exceeds_contribution_limit');
});
