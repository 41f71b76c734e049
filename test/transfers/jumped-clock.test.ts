import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Finding, reconcile } from '../../src/reconciliation/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { unchangedProgram } from '../support/mutant.ts';
import { limit, policy, Teller } from '../support/teller.ts';

/* A process with a clock three days ahead has ordered from Ben's account; the clock is right again. */

const now = new Date('2026-03-03T15:00:00Z');
const ahead = new Date('2026-03-06T15:00:00Z');
const toSavings = { from: 'ada-checking', to: 'ada-savings' };

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

async function jumped(changes: Parameters<typeof Teller.of>[2] = {}): Promise<Teller> {
  const teller = await Teller.of(unchangedProgram, db, changes);
  teller.now = ahead;
  assert.equal(
    await teller.order('client', { from: 'ben-checking', to: 'ada-two', amount: '1.00' }),
    'COMPLETED',
  );
  teller.now = now;
  return teller;
}

async function found(teller: Teller, at = now): Promise<string[]> {
  const findings: Finding[] = [];
  await reconcile(teller.database, teller.client.institutionId, {
    at,
    onFinding: (finding) => findings.push(finding),
  });
  return findings.map(({ check, row }) => `${check}: ${row}`).sort();
}

/** The times of a transfer and of its entries, in hours from now. */
async function timesOf(teller: Teller, id: string): Promise<string[]> {
  const rows = await db.superuser<{ times: string }>(
    `select concat_ws(' ', e.kind, b.account_id, (extract(epoch from t.created_at - $3) / 3600)::integer,
                      (extract(epoch from e.recorded_at - $3) / 3600)::integer) as times
     from transfers t join entries e on e.institution_id = t.institution_id and e.posting_key = t.transfer_key
     join balances b on b.institution_id = e.institution_id and b.account_key = e.account_key
     where t.institution_id = $1 and t.transfer_id = $2 order by e.recorded_at, e.kind, b.account_id`,
    [teller.client.institutionId, id, now],
  );
  return rows.map(({ times }) => times);
}

test('an order settled beside one of an account ahead of the clock keeps its own day and limit', async () => {
  await using teller = await jumped({ limits: [limit({ subject: 'USER', maxAmount: 100_00n })] });
  assert.equal(await teller.order('ada', { ...toSavings, amount: '100.00' }), 'COMPLETED');
  // Both in one turn, and so in one batch.
  const outcomes = await Promise.all([
    teller.order('ben', { from: 'ben-checking', to: 'ada-frozen', amount: '1.00', id: 'stranger' }),
    teller.order('ada', { ...toSavings, amount: '1.00', id: 'beside' }),
    teller.order('client', { ...toSavings, amount: '2.00', id: 'bank' }),
  ]);
  assert.deepEqual(outcomes, ['COMPLETED', 'limit_exceeded', 'COMPLETED']);
  assert.deepEqual(await timesOf(teller, 'bank'), ['TRANSFER ada-checking 0 0', 'TRANSFER ada-savings 0 0']);
  // Even if the destination is ahead, by the other order or its own: the day is the clock's.
  const toAhead = { from: 'ada-checking', to: 'ben-checking', amount: '1.00' };
  assert.equal(await teller.order('ada', toAhead), 'limit_exceeded');
  assert.equal(await teller.dryRun('ada', toAhead), 'limit_exceeded');
});

test('an order on an account ahead of the clock is created by the clock, and recorded no earlier than the account’s last entry', async () => {
  await using teller = await jumped({
    policies: [
      policy({
        type: 'INTRA_FI',
        review: { above: 50_00n, secondAbove: null, seconds: 3_600, onReviewTimeout: 'EXPIRE' },
      }),
    ],
  });
  const toBen = { from: 'ada-checking', to: 'ben-checking' };
  assert.equal(await teller.order('ada', { ...toBen, amount: '5.00', id: 'posted' }), 'COMPLETED');
  assert.deepEqual(await timesOf(teller, 'posted'), [
    'TRANSFER ada-checking 0 72',
    'TRANSFER ben-checking 0 72',
  ]);
  assert.equal(await teller.order('ada', { ...toBen, amount: '60.00', id: 'approved' }), 'PENDING');
  assert.equal(await teller.order('ada', { ...toBen, amount: '61.00', id: 'cancelled' }), 'PENDING');
  assert.equal(await teller.order('ada', { ...toBen, amount: '62.00', id: 'expired' }), 'PENDING');
  assert.deepEqual(await timesOf(teller, 'approved'), ['HOLD ada-checking 0 72', 'HOLD ben-checking 0 72']);
  // In time by the clock, although the accounts have seen the end of the review.
  assert.equal(await teller.review('approve', 'ann', 'approved'), 'COMPLETED');
  assert.equal(await teller.cancel('ada', 'cancelled'), 'transfer_cancelled');
  teller.now = new Date('2026-03-03T16:00:00Z');
  assert.equal(await teller.settleDue(), 1);
  assert.equal(await teller.read('ada', 'expired'), 'transfer_expired');
  assert.equal(await teller.reverse('approved', 'back'), 'COMPLETED');
  assert.deepEqual(await timesOf(teller, 'back'), [
    'TRANSFER ada-checking 1 72',
    'TRANSFER ben-checking 1 72',
  ]);
  assert.deepEqual(await found(teller, ahead), []);
});

test('logs an account more than a minute ahead of the clock once, and reconcile names it', async () => {
  await using teller = await jumped();
  assert.deepEqual(await found(teller), ['ahead-of-clock: ada-two', 'ahead-of-clock: ben-checking']);
  assert.deepEqual(await found(teller, new Date(ahead.getTime() - 60_000)), []);
  for (const amount of ['1.00', '2.00']) {
    assert.equal(await teller.order('ada', { from: 'ada-savings', to: 'ada-two', amount }), 'COMPLETED');
  }
  assert.deepEqual(teller.logged, [
    { event: 'accounts_ahead_of_clock', accounts: ['ada-two'], seconds: 259_200 },
  ]);
});
