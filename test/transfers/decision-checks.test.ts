import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { RuleChange } from '../../src/events/index.ts';
import {
  type Check,
  type ShownTransfer,
  saveTransferRules,
  showTransfer,
} from '../../src/transfers/index.ts';
import { rulesThen } from '../../src/transfers/show/rules-then.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { unchangedProgram } from '../support/mutant.ts';
import { commandOf } from '../support/operator.ts';
import { limit, policy, Teller } from '../support/teller.ts';

/* The checks of a past decision, with the figures of its moment and never with those of today. */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const review = { above: 100_00n, secondAbove: null, seconds: 86_400, onReviewTimeout: 'EXPIRE' } as const;
const standard = policy({ type: 'STANDARD', review });
const pay = { from: 'ada-checking', to: 'ada-savings' };

async function shown(teller: Teller, id: string): Promise<ShownTransfer> {
  const deps = { database: teller.database, clock: () => teller.now };
  const found = await showTransfer(deps, teller.client.institutionId, id);
  assert.ok(found);
  return found;
}

async function checksOf(teller: Teller, id: string): Promise<readonly Check[]> {
  return (await shown(teller, id)).checks;
}

const outcomes = (checks: readonly Check[]) => checks.map(({ check, outcome }) => `${check} ${outcome}`);

/** `used 10.00, cap 300.00; headroom`, in minor units. */
function figures(checks: readonly Check[], name: Check['check']): string[] {
  return checks
    .filter(({ check }) => check === name)
    .map(({ figures: some, headroomMinor, source }) => {
      const texts = some.map((one) => `${one.name} ${'count' in one ? one.count : one.amountMinor}`);
      return [...texts, `left ${headroomMinor}`, source].join(' ');
    });
}

/** Saves the limits as an operator does, some seconds after the last order. */
async function lay(teller: Teller, limits: Parameters<typeof saveTransferRules>[2]['rules']['limits']) {
  const deps = { database: teller.database, clock: () => teller.now };
  const rules = { policies: [], limits, businessDays: [], contributionLimits: [] };
  const saved = await saveTransferRules(deps, teller.client.institutionId, {
    rules,
    origin: commandOf('ann'),
  });
  assert.equal(saved.kind, 'saved');
}

const pass = (teller: Teller, seconds: number) => {
  teller.now = new Date(teller.now.getTime() + seconds * 1000);
};

const daily = {
  limitKey: 1,
  subject: 'USER',
  period: 'DAY',
  transferType: null,
  sourceType: null,
  currency: 'USD',
  maxPerTransfer: null,
  maxAmount: 300_00n,
  maxCount: 5,
  reviewAbove: null,
} as const;

test('shows the checks that an order passed, with the balance and the floor that its entry keeps', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard] });
  assert.equal(await teller.order('ada', { ...pay, amount: '40.00', id: 'plain' }), 'COMPLETED');
  assert.equal(await teller.order('ada', { ...pay, amount: '60.00', id: 'second' }), 'COMPLETED');
  const checks = await checksOf(teller, 'second');
  assert.deepEqual(outcomes(checks), [
    'ACCOUNTS PASSED',
    'STATE PASSED',
    'CURRENCY PASSED',
    'TYPE PASSED',
    'LIMIT PASSED',
    'FUNDS PASSED',
    'REVIEW PASSED',
  ]);
  assert.deepEqual(figures(checks, 'FUNDS'), ['available 96000 floor 0 left 96000 STORED']);
  assert.deepEqual(figures(checks, 'REVIEW'), ['threshold 10000 left 10000 RECOMPUTED']);
});

test('stops at the check that refused an order, and asks no later one', async () => {
  await using teller = await Teller.of(unchangedProgram, db, { limits: [] });
  pass(teller, 10);
  assert.equal(await teller.order('ada', { ...pay, amount: '1000.01', id: 'poor' }), 'insufficient_funds');
  assert.equal(
    await teller.order('ada', { ...pay, to: 'ada-checking', amount: '1.00', id: 'same' }),
    'same_account',
  );
  const poor = await checksOf(teller, 'poor');
  assert.deepEqual(outcomes(poor).slice(-3), ['LIMIT PASSED', 'FUNDS REFUSED', 'REVIEW NOT_ASKED']);
  assert.deepEqual(figures(poor, 'FUNDS'), ['available 100000 left null RECOMPUTED']);
  const same = await checksOf(teller, 'same');
  assert.deepEqual(outcomes(same).slice(0, 2), ['ACCOUNTS REFUSED', 'STATE NOT_ASKED']);
  assert.ok(same.slice(1).every(({ source, figures: some }) => source === null && some.length === 0));
});

test('recomputes the use of a limit as its counter stood before each order, with orders that failed later', async () => {
  const limits = [
    limit({ subject: 'USER', maxAmount: 5_000_00n }),
    limit({ key: 2, period: 'MONTH', maxAmount: 6_000_00n, maxCount: 50 }),
    limit({ key: 3, subject: 'ACCOUNT', reviewAbove: 250_00n }),
  ];
  await using teller = await Teller.of(unchangedProgram, db, { policies: [standard], limits });
  const counters = async () => {
    const rows = await db.superuser<{ key: string; amount: bigint }>(
      `select limit_key || ' ' || a.account_id as key, c.amount from limit_counters c
       join accounts a on a.institution_id = c.institution_id and a.account_id in ('ada-checking', 'ada-savings')
        and (limit_key < 3 or c.subject_key = a.account_key)
       where c.institution_id = $1`,
      [teller.client.institutionId],
    );
    return new Map(rows.map(({ key, amount }) => [key, BigInt(amount)]));
  };
  const before = new Map<string, { readonly from: string; readonly counted: ReadonlyMap<string, bigint> }>();
  const order = async (id: string, from: 'ada-checking' | 'ada-savings', amount: string) => {
    pass(teller, 7);
    before.set(id, { from, counted: await counters() });
    const to = from === 'ada-checking' ? 'ada-savings' : 'ada-checking';
    return teller.order('ada', { from, to, amount, id });
  };
  assert.equal(await order('n-1', 'ada-checking', '50.00'), 'COMPLETED');
  assert.equal(await order('n-2', 'ada-savings', '120.00'), 'PENDING');
  assert.equal(await order('n-3', 'ada-savings', '80.00'), 'COMPLETED');
  assert.equal(await order('n-4', 'ada-savings', '70.00'), 'PENDING', 'the total is above the threshold');
  pass(teller, 7);
  await teller.cancel('ada', 'n-2');
  assert.equal(await order('n-5', 'ada-savings', '99.00'), 'COMPLETED');
  assert.equal(await order('n-6', 'ada-savings', '9999.00'), 'limit_exceeded');
  pass(teller, 7);
  assert.equal(await teller.reverse('n-1', 'n-1-back'), 'COMPLETED');
  assert.equal(await order('n-7', 'ada-checking', '20.00'), 'COMPLETED');
  for (const [id, { from, counted }] of before) {
    const used = (await checksOf(teller, id)).flatMap(({ check, figures: some }) => {
      const [one] = some;
      return (check === 'LIMIT' || check === 'REVIEW_TOTAL') && one?.name === 'used' && 'amountMinor' in one
        ? [one.amountMinor]
        : [];
    });
    const stood = [1, 2, 3].map((key) => counted.get(`${key} ${from}`) ?? 0n);
    assert.deepEqual(used, id === 'n-6' ? stood.slice(0, 2) : stood, id);
  }
  const held = await checksOf(teller, 'n-4');
  assert.ok(outcomes(held).includes('REVIEW_TOTAL HELD'));
  assert.ok(outcomes(held).includes('REVIEW PASSED'));
  const refused = await checksOf(teller, 'n-6');
  assert.deepEqual(outcomes(refused).slice(4, 7), ['LIMIT REFUSED', 'LIMIT REFUSED', 'FUNDS NOT_ASKED']);
  assert.deepEqual(outcomes(await checksOf(teller, 'n-1-back')), ['STATE PASSED', 'FUNDS PASSED']);
});

test('shows the caps that bound an order after they were changed, and counts a new limit from its beginning', async () => {
  await using teller = await Teller.of(unchangedProgram, db);
  pass(teller, 60);
  await lay(teller, [daily]);
  pass(teller, 60);
  assert.equal(await teller.order('ada', { ...pay, amount: '30.00', id: 'first' }), 'COMPLETED');
  pass(teller, 60);
  const early = { ...daily, limitKey: 2, maxAmount: 50_00n };
  await lay(teller, [{ ...daily, maxAmount: 1_000_00n }, early]);
  pass(teller, 60);
  assert.equal(await teller.order('ada', { ...pay, amount: '40.00', id: 'then' }), 'COMPLETED');
  assert.equal(await teller.order('ada', { ...pay, amount: '20.00', id: 'above' }), 'limit_exceeded');
  pass(teller, 60);
  await lay(teller, []);
  assert.deepEqual(figures(await checksOf(teller, 'first'), 'LIMIT'), [
    'used 0 cap 30000 orders 0 mostOrders 5 left 30000 RECOMPUTED',
  ]);
  assert.deepEqual(figures(await checksOf(teller, 'then'), 'LIMIT'), [
    'used 3000 cap 100000 orders 1 mostOrders 5 left 97000 RECOMPUTED',
    'used 0 cap 5000 orders 0 mostOrders 5 left 5000 RECOMPUTED',
  ]);
  const above = await checksOf(teller, 'above');
  assert.deepEqual(outcomes(above).slice(4, 7), ['LIMIT PASSED', 'LIMIT REFUSED', 'FUNDS NOT_ASKED']);
  assert.deepEqual(
    figures(above, 'LIMIT')[1],
    'used 4000 cap 5000 orders 1 mostOrders 5 left 1000 RECOMPUTED',
  );
});

test('shows no figure of a limit if the rules changed in the second before the order, or contradict the decision', async () => {
  await using teller = await Teller.of(unchangedProgram, db);
  pass(teller, 60);
  await lay(teller, [daily]);
  pass(teller, 60);
  await lay(teller, [{ ...daily, maxAmount: 400_00n }]);
  pass(teller, 1);
  assert.equal(await teller.order('ada', { ...pay, amount: '30.00', id: 'near' }), 'COMPLETED');
  pass(teller, 10);
  assert.equal(await teller.order('ada', { ...pay, amount: '100.00', id: 'odd' }), 'COMPLETED');
  assert.deepEqual(figures(await checksOf(teller, 'near'), 'LIMIT'), ['left null NOT_KEPT']);
  assert.deepEqual(outcomes(await checksOf(teller, 'near')).slice(4), [
    'LIMIT PASSED',
    'FUNDS PASSED',
    'REVIEW PASSED',
  ]);
  // A change that no audit entry tells of.
  await db.superuser('update transfer_limits set max_amount = 9999 where institution_id = $1', [
    teller.client.institutionId,
  ]);
  assert.deepEqual(figures(await checksOf(teller, 'odd'), 'LIMIT'), ['left null NOT_KEPT']);
});

test('is not certain of the rules of a demo whose clock was moved past a change', () => {
  const at = new Date('2026-11-25T12:00:00Z');
  const change = (moment: string, before: RuleChange['before']): RuleChange => ({
    at: new Date(moment),
    before,
    after: { limits: [] },
  });
  const now = { policies: [], limits: [], businessDays: [] };
  const earlier = change('2026-11-25T11:00:00Z', { limits: [] });
  assert.ok(rulesThen(now, [earlier], { at, aheadMillis: 0 }));
  assert.equal(rulesThen(now, [earlier], { at, aheadMillis: 2 * 3_600_000 }), undefined);
  const first = change('2026-11-25T11:59:59Z', {});
  assert.ok(rulesThen(now, [first], { at, aheadMillis: 0 }), 'the rules that an institution began with');
});
