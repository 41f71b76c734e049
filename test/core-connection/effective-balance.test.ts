import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addDays, localDate } from '../../src/institutions/index.ts';
import { type Connector, connectorOf, purchase } from '../support/core.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let core: Connector;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  core = await connectorOf(service);
  app = await clientOf(service);
});
after(() => service.close());

const account = 'a-1001-checking';
const savings = 'a-1001-savings';
const zone = 'America/New_York';
const today = () => localDate(new Date(), zone);
const balances = (query: string, accountId = account) =>
  app.get(`${paths.accounts}/${accountId}/balances?${query}`);
const cents = (amount: number) => Math.round(amount * 100);
const currentOn = async (day: string, accountId = account) => {
  const { status, body } = await balances(`effectiveDate=${day}`, accountId);
  assert.equal(status, 200, JSON.stringify(body));
  return cents(body.balance.currentBalance.amount);
};

test('a late posting changes the balance of its effective date and of every day after it, and not the one before', async () => {
  const { body: now } = await balances('');
  const opening = cents(now.balance.currentBalance.amount);
  await core.deliver([purchase('eff-1', { amount: -10, effectiveDate: '2026-03-02' })]);
  await core.deliver([purchase('eff-2', { amount: -200, effectiveDate: '2026-02-20' })]);
  await core.deliver([purchase('eff-3', { amount: -3000, effectiveDate: '2026-03-05' })]);
  assert.equal(await currentOn('2026-02-20'), opening - 20_000);
  assert.equal(await currentOn('2026-03-01'), opening - 20_000);
  assert.equal(await currentOn('2026-03-02'), opening - 21_000);
  assert.equal(await currentOn('2026-03-04'), opening - 21_000);
  assert.equal(await currentOn('2026-03-05'), opening - 321_000);
  assert.equal(await currentOn(today()), opening - 321_000);

  const { body } = await balances('effectiveDate=2026-03-04');
  assert.deepEqual([body.accountId, body.effectiveDate], [account, '2026-03-04']);
  // The balance as of a moment stays that of the order of arrival.
  const { body: arrived } = await balances(`asOf=${encodeURIComponent(now.asOf)}`);
  assert.equal(cents(arrived.balance.currentBalance.amount), opening);
  assert.equal('effectiveDate' in arrived, false);
});

test('a transfer counts from the day of its order, and from the effective date of its echo when that has arrived', async () => {
  const before = await currentOn(today(), savings);
  const order = { id: 'eff-transfer', fromAccountId: account, toAccountId: savings, amount: 7 };
  assert.equal((await app.post(paths.transfers, order)).status, 201);
  assert.equal(await currentOn(today(), savings), before + 700);
  const { body: early } = await balances('effectiveDate=2026-03-04', savings);
  assert.equal(early.code, 'invalid_request');

  const echo = { accountId: savings, amount: 7, kind: 'TRANSFER', transferId: 'eff-transfer' };
  const [answer] = await core.deliver([purchase('eff-echo', { ...echo, effectiveDate: '2026-03-04' })]);
  assert.equal(answer?.result, 'echo');
  assert.equal(await currentOn('2026-03-04', savings), before + 700);
  assert.equal(await currentOn(today(), savings), before + 700);
});

test('a transaction that is effective in the future is in no balance of today', async () => {
  const before = await currentOn(today());
  const line = { amount: -50, effectiveDate: addDays(today(), 1), postedAt: new Date().toISOString() };
  const [answer] = await core.deliver([purchase('eff-ahead', line)]);
  assert.equal(answer?.result, 'posted');
  assert.equal(await currentOn(today()), before);
});

test('a day in the future, before the first entry, of no calendar, or beside a moment is refused with its reason', async () => {
  for (const [query, pointer, detail] of [
    ['effectiveDate=2999-01-01', 'effectiveDate', 'Must not be in the future.'],
    ['effectiveDate=1999-01-01', 'effectiveDate', 'Must not be before the account’s first entry.'],
    ['effectiveDate=2026-02-30', 'effectiveDate', 'Must be a day like 2026-11-20.'],
    [
      'effectiveDate=2026-02-20&asOf=2026-02-20T00:00:00Z',
      'effectiveDate',
      'Must not be together with asOf: leave one of them out.',
    ],
  ] as const) {
    const { status, body } = await balances(query);
    assert.equal(status, 400, query);
    assert.deepEqual(body.errors, [{ pointer, detail }]);
  }
});

test('a member sees the balances of their own accounts only', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const statusOf = async (accountId: string) =>
    (await member.get(`${paths.accounts}/${accountId}/balances?effectiveDate=${today()}`)).status;
  assert.deepEqual([await statusOf(account), await statusOf('a-1002-checking')], [200, 404]);
});
