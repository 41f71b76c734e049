import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { memberOf, paths } from '../support/demo.ts';
import { demoAddress, type OperatorAnswer, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The order of the searches for transfers and in the audit: of the whole list, whatever the length of its pages. */

interface Found {
  readonly id: string;
  readonly amount: string;
  readonly createdAt: string;
}

let service: TestService;
let auditor: TestOperator;
/** The transfers of the test, and nothing that others order meanwhile. */
let ours: Readonly<Record<string, string>>;
before(async () => {
  service = await startTestService({ environment: demoAddress });
  auditor = await operatorOf(service, 'Demo auditor');
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const sides = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };
  for (const [at, amount] of [2.5, 10, 1.25, 2.5, 9.75, 0.01].entries())
    assert.equal((await member.post(paths.transfers, { id: `sorted-${at}`, ...sides, amount })).status, 201);
  const last = (await auditor.get('/transfers/sorted-5')).body.createdAt;
  ours = { accountId: 'a-1001-savings', until: new Date(Date.parse(last) + 1).toISOString() };
});
after(() => service.close());

const search = (path: string, query: Readonly<Record<string, string>>) =>
  auditor.get(`${path}?${new URLSearchParams(query)}`);

function positionIn({ headers }: OperatorAnswer): string | undefined {
  return /after=([\w-]+)/.exec(headers.get('link') ?? '')?.[1];
}

/** All items, page by page. */
async function all<Item>(path: string, query: Readonly<Record<string, string>>): Promise<Item[]> {
  const items: Item[] = [];
  let next: string | undefined;
  do {
    const answer = await search(path, { ...query, ...(next && { after: next }) });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.ok(answer.body.length <= Number(query.limit ?? 50));
    items.push(...answer.body);
    next = positionIn(answer);
  } while (next !== undefined);
  return items;
}

const ids = (found: readonly Found[]) => found.map(({ id }) => id);

test('transfers come in the order of time or of amounts, and backward, on pages of any length', async () => {
  const byTime = await all<Found>('/transfers', { ...ours, order: 'time' });
  assert.ok(byTime.length >= 6);
  const times = byTime.map(({ createdAt }) => createdAt);
  assert.deepEqual(times, times.toSorted());
  const byAmount = await all<Found>('/transfers', { ...ours, order: 'amount' });
  const value = ({ amount }: Found) => Number(amount);
  assert.deepEqual(ids(byAmount).toSorted(), ids(byTime).toSorted());
  assert.deepEqual(
    byAmount.map(value),
    byAmount.map(value).toSorted((left, right) => left - right),
  );
  for (const [order, rows] of Object.entries({ time: byTime, amount: byAmount })) {
    for (const limit of ['1', '2', '5']) {
      assert.deepEqual(
        ids(await all('/transfers', { ...ours, order, limit })),
        ids(rows),
        `${order} ${limit}`,
      );
      const backward = await all<Found>('/transfers', { ...ours, order: `-${order}`, limit });
      assert.deepEqual(ids(backward), ids(rows).toReversed(), `-${order} ${limit}`);
    }
  }
  assert.deepEqual(ids(await all('/transfers', ours)), ids(byTime).toReversed());
});

test('an order of amounts keeps to every part of the filter', async () => {
  const found = async (filter: Readonly<Record<string, string>>) =>
    ids(await all('/transfers', { ...ours, order: '-amount', limit: '2', ...filter }));
  const equal = { leastAmount: '2.5', mostAmount: '2.50' };
  assert.deepEqual((await found(equal)).toSorted(), ['sorted-0', 'sorted-3']);
  const [newest] = await all<Found & { readonly userId: string }>('/transfers', ours);
  assert.ok(newest !== undefined);
  const { createdAt, userId } = newest;
  assert.deepEqual((await found({ ...equal, userId })).toSorted(), ['sorted-0', 'sorted-3']);
  for (const other of [
    { userId: 'no-such-user' },
    { accountId: 'a-1002-checking' },
    { status: 'FAILED' },
    { transferType: 'LOAN_PAYMENT' },
    { failureCode: 'insufficient_funds' },
    { since: new Date(Date.parse(createdAt) + 1).toISOString(), until: '2999-12-31' },
    { until: '2000-01-01' },
  ])
    assert.ok(!(await found({ ...equal, ...other })).includes('sorted-3'), JSON.stringify(other));
  const elsewhere = await operatorOf(service, 'Demo auditor', 'harbor');
  const query = new URLSearchParams({ ...ours, order: '-amount' });
  assert.deepEqual((await elsewhere.get(`/transfers?${query}`)).body, []);
});

test('an order that does not exist is refused, and a position belongs to its order', async () => {
  for (const [path, order] of [
    ['/transfers', '-id'],
    ['/transfers', ''],
    ['/transfers', 'AMOUNT'],
    ['/audit', 'amount'],
  ] as const)
    assert.equal((await search(path, { order })).status, 400, `${path} ${order}`);
  const position = positionIn(await search('/transfers', { ...ours, order: 'amount', limit: '1' })) ?? '';
  assert.equal((await search('/transfers', { ...ours, order: 'amount', after: position })).status, 200);
  for (const order of ['-amount', 'time'])
    assert.equal((await search('/transfers', { ...ours, order, after: position })).status, 400, order);
});

test('a search of the audit comes in both orders of time', async () => {
  const entries = { action: 'transfer.read', subject: 'sorted-5' };
  for (let reads = 0; reads < 4; reads += 1) await auditor.get('/transfers/sorted-5');
  const oldest = await all<{ key: number }>('/audit', { ...entries, limit: '2', order: 'time' });
  const newest = await all<{ key: number }>('/audit', { ...entries, limit: '2', order: '-time' });
  assert.ok(oldest.length >= 5);
  assert.deepEqual(newest, oldest.toReversed());
  assert.deepEqual(await all('/audit', entries), oldest);
});
