import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listPending, saveTransferRules } from '../../src/transfers/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { unchangedProgram } from '../support/mutant.ts';
import { commandOf } from '../support/operator.ts';
import { policy, Teller } from '../support/teller.ts';

/* The reasons why a transfer waits, with the figures of its decision. */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const review = { above: 100_00n, secondAbove: null, seconds: 86_400, onReviewTimeout: 'EXPIRE' } as const;
const pay = { from: 'ada-checking', to: 'ada-savings' };
const total = {
  limitKey: 1,
  subject: 'USER',
  period: 'DAY',
  transferType: null,
  sourceType: null,
  currency: 'USD',
  maxPerTransfer: null,
  maxAmount: null,
  maxCount: null,
  reviewAbove: 120_00n,
} as const;

async function reasonsOf(teller: Teller, id: string) {
  const { institutionId } = teller.client;
  for await (const row of listPending(teller.database, institutionId, { now: teller.now }))
    if (row.transferId === id) return row.reasons;
  return undefined;
}

async function lay(teller: Teller, limits: Parameters<typeof saveTransferRules>[2]['rules']['limits']) {
  const deps = { database: teller.database, clock: () => teller.now };
  const rules = { policies: [], limits, businessDays: [], contributionLimits: [] };
  const { institutionId } = teller.client;
  const saved = await saveTransferRules(deps, institutionId, { rules, origin: commandOf('ann') });
  assert.equal(saved.kind, 'saved');
}

const pass = (teller: Teller, seconds: number) => {
  teller.now = new Date(teller.now.getTime() + seconds * 1_000);
};

test('names the threshold of the type that an amount is above, as it was when the order was decided', async () => {
  const policies = [policy({ type: 'STANDARD', review })];
  await using teller = await Teller.of(unchangedProgram, db, { policies });
  assert.equal(await teller.order('ada', { ...pay, amount: '100.01', id: 'above' }), 'PENDING');
  const reasons = [{ kind: 'AMOUNT', thresholdMinor: 100_00n }];
  assert.deepEqual(await reasonsOf(teller, 'above'), reasons);
  pass(teller, 10);
  // These rules have no threshold.
  await lay(teller, []);
  assert.deepEqual(await reasonsOf(teller, 'above'), reasons);
});

test('names the total of a limit, with the amount before the order', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [] });
  await lay(teller, [total]);
  // Processes learn of rules within a second.
  pass(teller, 10);
  assert.equal(await teller.order('ada', { ...pay, amount: '60.00', id: 'before' }), 'COMPLETED');
  assert.equal(await teller.order('ada', { ...pay, amount: '60.01', id: 'total' }), 'PENDING');
  assert.equal(await teller.order('ada', { ...pay, amount: '5.00', id: 'small' }), 'PENDING');
  const limit = { subject: 'USER', period: 'DAY' };
  const of = (usedMinor: bigint) => [{ kind: 'TOTAL', thresholdMinor: 120_00n, usedMinor, limit }];
  assert.deepEqual(await reasonsOf(teller, 'total'), of(60_00n));
  assert.deepEqual(await reasonsOf(teller, 'small'), of(120_01n));
});

test('names the cut-off, and no reason of a review, for a transfer that waits for its business day', async () => {
  const policies = [policy({ type: 'STANDARD', cutOff: '00:00:00' })];
  await using teller = await Teller.of(unchangedProgram, db, { policies });
  assert.equal(await teller.order('ada', { ...pay, amount: '1.00', id: 'day' }), 'PENDING');
  assert.deepEqual(await reasonsOf(teller, 'day'), [{ kind: 'CUT_OFF', cutOff: '00:00:00' }]);
});
