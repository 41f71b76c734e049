import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { previewRules } from '../../src/transfers/index.ts';
import { clientOf, paths } from '../support/demo.ts';
import { institutionOf } from '../support/identity.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * The orders of two days of harbor, by a client, with the rules of its demo: an INTRA_FI is reviewed above 500.00, by two persons above
 * 1,500.00, and a membership moves 2,600.00 a day.
 */
const history = [
  { id: 'h-1', day: 16, amount: 100, outcome: 'PASSES' },
  { id: 'h-2', day: 16, amount: 501, outcome: 'REVIEW' },
  { id: 'h-3', day: 16, amount: 1501, outcome: 'TWO_APPROVALS' },
  { id: 'h-4', day: 16, amount: 499, outcome: 'DECLINED' },
  { id: 'h-5', day: 17, amount: 450, outcome: 'PASSES' },
  { id: 'h-6', day: 17, amount: 100, outcome: 'PASSES' },
] as const;
const statusOf = { PASSES: 'COMPLETED', REVIEW: 'PENDING', TWO_APPROVALS: 'PENDING', DECLINED: 422 };

interface Rules {
  readonly thresholds: Record<string, unknown>[];
  readonly limits: Record<string, unknown>[];
}

let now = 0;
let service: TestService;
let auditor: TestOperator;
let rules: Rules;

before(async () => {
  now = Date.parse('2026-11-16T17:00:00Z');
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
  for (const { id, day, amount, outcome } of history) {
    now = Math.max(now + 1_000, Date.parse(`2026-11-${day}T17:00:00Z`));
    const app = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
    const order = { id, fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount };
    assert.equal((await app.post(paths.transfers, order)).body.status, statusOf[outcome], id);
    if (outcome === 'TWO_APPROVALS') await approveAll();
  }
  const app = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  // Neither a threshold nor a limit refuses this one.
  const other = { id: 'h-7', fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-checking', amount: 5 };
  assert.equal((await app.post(paths.transfers, other)).body.code, 'same_account');
  auditor = await operatorOf(service, 'Demo auditor', 'harbor');
  rules = (await auditor.get('/transfer-rules')).body;
});
after(() => service.close());

/** Otherwise they expire before the next day. */
async function approveAll(): Promise<void> {
  const [one, other] = await Promise.all(
    ['Demo approver', 'Second demo approver'].map((name) => operatorOf(service, name, 'harbor')),
  );
  for (const [operator, id] of [
    [one, 'h-2'],
    [one, 'h-3'],
    [other, 'h-3'],
  ] as const)
    assert.equal((await operator?.post(`/transfers/${id}/approve`, { reason: 'a test' }))?.status, 200);
}

const changedThreshold = (changes: object): Rules => ({
  ...rules,
  thresholds: rules.thresholds.map((one) => (one.transferType === 'INTRA_FI' ? { ...one, ...changes } : one)),
});
const changedLimit = (changes: object): Rules => ({
  ...rules,
  limits: rules.limits.map((one) => (one.limitKey === 2 ? { ...one, ...changes } : one)),
});

async function preview(proposed: Rules, more: object = {}, by = auditor) {
  const { status, body } = await by.post('/transfer-rules/preview', { ...proposed, ...more });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** `REVIEW>DECLINED 1 600.00`, in the order of the alphabet. */
function linesOf({ figures }: { figures: Record<string, string>[] }): string[] {
  return figures
    .map(({ present, proposed, transfers, amount }) => `${present}>${proposed} ${transfers} ${amount}`)
    .toSorted();
}

test('shows the thresholds and limits in force as the institution has set them', () => {
  assert.deepEqual(
    rules.thresholds.find(({ transferType }) => transferType === 'INTRA_FI'),
    { transferType: 'INTRA_FI', currency: 'USD', reviewAbove: '500.00', secondApprovalAbove: '1500.00' },
  );
  assert.deepEqual(
    rules.limits.find(({ limitKey }) => limitKey === 2),
    {
      ...{ limitKey: 2, subject: 'CUSTOMER', period: 'DAY', transferType: 'INTRA_FI', sourceType: null },
      ...{ currency: 'USD', maxPerTransfer: null, maxAmount: '2600.00', maxCount: 20, reviewAbove: null },
    },
  );
});

test('a preview of the rules in force repeats the decisions on the real orders, and no order differs', async () => {
  const body = await preview(rules);
  assert.deepEqual(linesOf(body), [
    'DECLINED>DECLINED 1 499.00',
    'PASSES>PASSES 3 650.00',
    'REVIEW>REVIEW 1 501.00',
    'TWO_APPROVALS>TWO_APPROVALS 1 1501.00',
  ]);
  assert.deepEqual([body.differing, body.newest, body.leftOut, body.isCut], [0, [], 1, false]);
  assert.equal(body.since, '2026-10-19T05:00:00.000Z');
});

test('a lower threshold holds the orders above it for review', async () => {
  const body = await preview(changedThreshold({ reviewAbove: '420.00' }));
  assert.deepEqual(linesOf(body), [
    'DECLINED>DECLINED 1 499.00',
    'PASSES>PASSES 2 200.00',
    'PASSES>REVIEW 1 450.00',
    'REVIEW>REVIEW 1 501.00',
    'TWO_APPROVALS>TWO_APPROVALS 1 1501.00',
  ]);
  const [order, ...others] = body.newest;
  assert.deepEqual(
    [order.id, order.amount, order.currencyCode, order.present, order.proposed, others.length],
    ['h-5', '450.00', 'USD', 'PASSES', 'REVIEW', 0],
  );
});

test('a lower limit declines the order that exceeds it, which then leaves headroom for a later one', async () => {
  const body = await preview(changedLimit({ maxAmount: '2000.00' }));
  assert.deepEqual(
    body.newest.map((one: Record<string, string>) => `${one.id} ${one.present}>${one.proposed}`),
    ['h-4 DECLINED>PASSES', 'h-3 TWO_APPROVALS>DECLINED'],
  );
});

test('a most in one transfer, a threshold on the total of a day, and a new limit of a month each bind as they would', async () => {
  const differing = async (proposed: Rules, more: object = {}) =>
    (await preview(proposed, more)).newest.map(
      (one: Record<string, string>) => `${one.id} ${one.present}>${one.proposed}`,
    );
  assert.deepEqual(await differing(changedLimit({ maxPerTransfer: '449.99' })), [
    'h-5 PASSES>DECLINED',
    'h-3 TWO_APPROVALS>DECLINED',
    'h-2 REVIEW>DECLINED',
  ]);
  assert.deepEqual(await differing(changedLimit({ reviewAbove: '500.00' })), ['h-6 PASSES>REVIEW']);
  const bounds = { maxPerTransfer: null, maxAmount: null, maxCount: 3, reviewAbove: null };
  const month = { limitKey: 9, subject: 'ACCOUNT', period: 'MONTH', transferType: null, sourceType: null };
  const added = { ...rules, limits: [...rules.limits, { ...month, currency: 'USD', ...bounds }] };
  const three = ['h-6 PASSES>DECLINED', 'h-5 PASSES>DECLINED'];
  assert.deepEqual(await differing(added), three);
  // The orders of the day before are counted, and not shown.
  const short = await preview(added, { days: 1 });
  assert.deepEqual(linesOf(short), ['PASSES>DECLINED 2 550.00']);
  assert.deepEqual([short.since, short.leftOut], ['2026-11-17T06:00:00.000Z', 1]);
});

test('every order passes without limits and thresholds', async () => {
  assert.deepEqual(linesOf(await preview({ thresholds: [], limits: [] })), [
    'DECLINED>PASSES 1 499.00',
    'PASSES>PASSES 3 650.00',
    'REVIEW>PASSES 1 501.00',
    'TWO_APPROVALS>PASSES 1 1501.00',
  ]);
});

test('an administrator gets the figures and no order of a member, and a preview changes nothing', async () => {
  const administrator = await operatorOf(service, 'Demo administrator', 'harbor');
  const body = await preview(changedThreshold({ reviewAbove: '420.00' }), {}, administrator);
  assert.equal(body.differing, 1);
  assert.equal('newest' in body, false);
  assert.doesNotMatch(JSON.stringify(body), /h-5|a-1002/);
  assert.deepEqual((await auditor.get('/transfer-rules')).body, rules);
});

test('another institution sees nothing of these orders', async () => {
  const other = await operatorOf(service, 'Demo auditor');
  const body = await preview({ thresholds: [], limits: [] }, {}, other);
  assert.deepEqual([body.figures, body.leftOut], [[], 0]);
});

test('a preview reads the newest of too many transfers, and says where it begins', async () => {
  const { database } = service.service.context;
  const { institutionId } = await institutionOf(service, 'harbor');
  const read = (most: number) =>
    previewRules(database, institutionId, {
      ...{ proposed: { thresholds: [], limits: [] }, days: 30, most },
      ...{ now: new Date(now), timeZone: 'America/Chicago' },
    });
  const three = await read(3);
  assert.equal(three.isCut, true);
  assert.equal(three.since.toISOString(), '2026-11-17T17:00:00.000Z');
  assert.equal(three.figures.reduce((sum, { transfers }) => sum + transfers, 0) + three.leftOut, 3);
  assert.equal((await read(6)).isCut, true);
  assert.equal((await read(7)).isCut, false);
});

test('refuses rules that cannot be set', async () => {
  const wrong: readonly object[] = [
    changedThreshold({ secondApprovalAbove: '499.99' }),
    changedThreshold({ reviewAbove: null }),
    changedThreshold({ reviewAbove: '1.001' }),
    changedThreshold({ reviewAbove: 5 }),
    changedThreshold({ currency: 'XXQ' }),
    changedLimit({ reviewAbove: '2600.00' }),
    changedLimit({ maxAmount: null, maxCount: null }),
    changedLimit({ limitKey: 1 }),
    changedLimit({ subject: 'STAND_IN' }),
    { ...rules, thresholds: [...rules.thresholds, ...rules.thresholds] },
    { ...rules, days: 31 },
    { ...rules, more: 1 },
    { thresholds: [] },
  ];
  for (const body of wrong) {
    const answer = await auditor.post('/transfer-rules/preview', body);
    assert.deepEqual([answer.status, answer.body.code], [400, 'invalid_request'], JSON.stringify(body));
  }
});

// Last, because it adds to the history.
test('an order that a person declined is decided, and counts against no limit, as it gave its part back', async () => {
  const app = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const accounts = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking' };
  now += 1_000;
  assert.equal(
    (await app.post(paths.transfers, { id: 'h-8', ...accounts, amount: 510 })).body.status,
    'PENDING',
  );
  const approver = await operatorOf(service, 'Demo approver', 'harbor');
  assert.equal((await approver.post('/transfers/h-8/decline', { reason: 'a test' })).status, 200);
  now += 1_000;
  assert.equal(
    (await app.post(paths.transfers, { id: 'h-9', ...accounts, amount: 120 })).body.status,
    'COMPLETED',
  );
  // 550.00 of the day, 510.00, and 120.00: together more than 1,100.00, without the declined one less.
  const body = await preview(changedLimit({ maxAmount: '1100.00' }), { days: 1 });
  assert.deepEqual(linesOf(body), ['PASSES>PASSES 3 670.00', 'REVIEW>REVIEW 1 510.00']);
});

test('lists the members near a limit of the day or the month, the fullest first, and none of another institution', async () => {
  const near = async (query: string, by = auditor) => {
    const { status, body } = await by.get(`/limits/near${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as {
      limitKey: number;
      subject: string;
      used: string;
      maxAmount: string;
      remaining: string;
    }[];
  };
  const rows = await near('?percent=20');
  const own = (await auditor.get('/accounts/a-1002-checking/limits')).body as typeof rows;
  const ofMembership = own.find(({ subject, limitKey }) => subject === 'CUSTOMER' && limitKey === 2);
  assert.equal(ofMembership?.maxAmount, '2600.00');
  assert.deepEqual(
    rows.find(({ subject, limitKey }) => subject === 'CUSTOMER' && limitKey === 2),
    ofMembership,
    'the limit starts anew with the day',
  );
  const shares = rows.map(({ used, maxAmount }) => Number(used) / Number(maxAmount));
  assert.deepEqual(
    shares,
    shares.toSorted((one, other) => other - one),
  );
  assert.deepEqual(await near(''), [], 'the default is 80 percent');
  assert.deepEqual(await near('?percent=1', await operatorOf(service, 'Demo auditor', 'lakeside')), []);
  assert.equal((await auditor.get('/limits/near?percent=0')).status, 400);
  const { body } = await auditor.get('/audit?action=person.searched');
  assert.ok(body.some(({ reason }: { reason: string }) => reason === 'limits'));
});
