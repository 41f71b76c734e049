import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Finding, reconcile } from '../../src/reconciliation/index.ts';
import { expireLimitCounters } from '../../src/transfers/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { unchangedProgram } from '../support/mutant.ts';
import { limit, policy, Teller } from '../support/teller.ts';

/* A limit's total above which orders of any size are held for review. */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const review = { above: 100_00n, secondAbove: null, seconds: 3_600, onReviewTimeout: 'POST' } as const;
const standard = policy({ type: 'STANDARD', review });
const total = limit({ subject: 'USER', reviewAbove: 300_00n });
const pay = { from: 'ada-checking', to: 'ada-savings' };

async function counter(teller: Teller): Promise<string> {
  const rows = await db.superuser<{ figures: string }>(
    `select concat_ws(' ', amount, reviewed, transfers, review_above) as figures from limit_counters
     where institution_id = $1 and limit_key = 1`,
    [teller.client.institutionId],
  );
  return rows.map(({ figures }) => figures).join(', ');
}

test('holds twelve payments just below the threshold from the one that brings the day above the total', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits: [total] });
  const outcomes: string[] = [];
  for (let index = 0; index < 9; index++) {
    outcomes.push(await teller.order('ada', { ...pay, amount: '99.99', id: `p-${index}` }));
  }
  const done = 'COMPLETED';
  assert.deepEqual(outcomes, [done, done, done, ...Array(6).fill('PENDING')]);
  assert.equal(await counter(teller), '89991 59994 9 30000');
  assert.equal(await teller.order('client', { ...pay, amount: '1.00' }), 'COMPLETED', 'has no user');
  // Reversed transfers no longer count; approved ones do.
  for (const index of [4, 5, 6, 7, 8]) await teller.cancel('ada', `p-${index}`);
  assert.equal(await counter(teller), '39996 9999 4 30000');
  assert.equal(await teller.review('approve', 'ann', 'p-3'), 'COMPLETED');
  assert.equal(await teller.order('ada', { ...pay, amount: '0.01' }), 'PENDING');
  teller.now = new Date('2026-03-04T15:00:00Z');
  assert.equal(await teller.order('ada', { ...pay, amount: '0.01' }), 'COMPLETED', 'another day');
  const findings: Finding[] = [];
  await reconcile(teller.database, teller.client.institutionId, {
    at: teller.now,
    onFinding: (finding) => findings.push(finding),
  });
  assert.deepEqual(findings, []);
});

test('simultaneous orders reach the reviewed total exactly, and the rest is held', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits: [total] });
  const outcomes = await Promise.all(
    Array.from({ length: 9 }, () => teller.order('ada', { ...pay, amount: '60.00' })),
  );
  assert.equal(outcomes.filter((outcome) => outcome === 'COMPLETED').length, 5);
  assert.equal(outcomes.filter((outcome) => outcome === 'PENDING').length, 4);
  assert.equal(await counter(teller), '54000 24000 9 30000');
});

test('holds an order above a total for a day if its type has no review, and then expires it', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { limits: [total] });
  assert.equal(await teller.order('ada', { ...pay, amount: '300.00' }), 'COMPLETED');
  assert.equal(await teller.order('ada', { ...pay, amount: '0.01', id: 'over' }), 'PENDING');
  teller.now = new Date('2026-03-04T14:59:59Z');
  assert.equal(await teller.settleDue(), 0);
  teller.now = new Date('2026-03-04T15:00:00Z');
  assert.equal(await teller.settleDue(), 1);
  assert.equal(await teller.read('ada', 'over'), 'transfer_expired');
});

test('a total lowered within the period holds later orders, and refuses none', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits: [total] });
  const lower = (to: number) =>
    db.superuser('update transfer_limits set review_above = $2 where institution_id = $1', [
      teller.client.institutionId,
      to,
    ]);
  assert.equal(await teller.order('ada', { ...pay, amount: '90.00' }), 'COMPLETED');
  await lower(50_00);
  assert.equal(await teller.order('ada', { ...pay, amount: '1.00', id: 'held' }), 'PENDING');
  assert.equal(await teller.cancel('ada', 'held'), 'transfer_cancelled');
  await lower(100_00);
  assert.equal(await teller.order('ada', { ...pay, amount: '10.00' }), 'COMPLETED');
  assert.equal(await counter(teller), '10000 0 2 10000');
});

test('the database refuses unheld orders beyond the total', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits: [total] });
  assert.equal(await teller.order('ada', { ...pay, amount: '90.00' }), 'COMPLETED');
  const { institutionId } = teller.client;
  const count = (amount: number) =>
    teller.database.write(institutionId, (q) =>
      q.query({ name: '', text: `update limit_counters set amount = ${amount} where institution_id = $1` }, [
        institutionId,
      ]),
    );
  await count(300_00);
  await assert.rejects(count(300_01), { code: '23514', constraint: 'limit_counters_reviewed' });
});

test('a member learns of no review from a dry run, and a client does', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits: [total] });
  for (const amount of ['100.00', '100.01', '301.00']) {
    assert.equal(await teller.dryRun('ada', { ...pay, amount }), 'COMPLETED');
  }
  assert.equal(await teller.dryRun('client', { ...pay, amount: '100.01' }), 'PENDING');
});

test('forgets counters of old periods, except those that may be given back', async () => {
  const capped = limit({ subject: 'USER', maxAmount: 500_00n });
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits: [capped] });
  const { institutionId } = teller.client;
  await teller.order('ada', { ...pay, amount: '1.00' });
  teller.now = new Date('2026-03-04T15:00:00Z');
  await teller.order('ada', { ...pay, amount: '101.00', id: 'held' });
  const expire = (now: string) =>
    teller.database.write(institutionId, (q) => expireLimitCounters(q, new Date(now)));
  assert.equal(await expire('2026-05-01T15:00:00Z'), 0);
  assert.equal(await expire('2026-08-01T15:00:00Z'), 1);
  assert.equal(await counter(teller), '10100 10100 1');
  await teller.cancel('ada', 'held');
  assert.equal(await expire('2026-08-01T15:00:00Z'), 1);
  assert.equal(await counter(teller), '');
});
