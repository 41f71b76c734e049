import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
});
after(() => service.close());

const account = (caller: DemoCaller, id: string) => caller.get(`${paths.accounts}/${encodeURIComponent(id)}`);

describe('get account: 200', () => {
  test('returns an account as in the interface, field by field, with amounts in cents', async () => {
    const member = await memberOf(service, 'demo.member', 'demo-member-password');
    const answer = await account(member, 'a-1001-savings');
    assert.equal(
      answer.text,
      '{"accountId":"a-1001-savings","accountNumber":"100001-00","accountType":{"DIAccountType":"SAVINGS","description":"Share Savings"},"category":"DEPOSIT","balance":{"availableBalance":{"amount":12600.00,"currencyCode":"USD"},"currentBalance":{"amount":12600.00,"currencyCode":"USD"}},"accountStatus":{"open":true,"closed":false,"delinquent":false}}',
    );
    assert.equal((await account(app, 'a-1001-savings')).text, answer.text);
  });

  test('returns balances by the rule of each account category', async () => {
    const cases = [
      ['a-1001-certificate', 'DEPOSIT', 10_000, 10_000],
      ['a-1001-ira', 'DEPOSIT', 31_400, 31_400],
      // The principal; interest and fees are in the payoff only.
      ['a-1001-carloan', 'LOAN', 14_250, 0],
      ['a-1002-mortgage', 'LOAN', 241_900, 0],
      // The debt, and the unused part of the line.
      ['a-1014-card', 'CREDIT', 842.19, 4_157.81],
      ['a-1006-line', 'CREDIT', 12_000, 38_000],
      ['a-1014-brokerage', 'INVESTMENT', 18_200, 18_200],
      // The overdraft line is in neither balance.
      ['a-1007-checking', 'DEPOSIT', 120, 120],
    ] as const;
    for (const [id, category, current, available] of cases) {
      const { body } = await account(app, id);
      assert.equal(body.category, category, id);
      assert.deepEqual(body.balance.currentBalance, { amount: current, currencyCode: 'USD' }, id);
      assert.deepEqual(body.balance.availableBalance, { amount: available, currencyCode: 'USD' }, id);
    }
  });

  test('returns the last four digits of a card', async () => {
    assert.equal((await account(app, 'a-1014-card')).body.accountNumber, '4242');
  });

  test('returns closed and delinquent accounts as such', async () => {
    assert.deepEqual((await account(app, 'a-1009-savings')).body.accountStatus, {
      open: false,
      closed: true,
      delinquent: false,
    });
    assert.deepEqual((await account(app, 'a-1008-carloan')).body.accountStatus, {
      open: true,
      closed: false,
      delinquent: true,
    });
  });

  test('returns amounts of a currency without decimals without them', async () => {
    assert.match((await account(app, 'a-1015-checking-jpy')).text, /"amount":250000,"currencyCode":"JPY"/);
  });

  test('returns another account for the same id at another institution', async () => {
    const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
    const { body } = await account(harbor, 'a-1001-savings');
    assert.equal(body.balance.currentBalance.amount, 222.22);
  });
});

test('returns the same 404 for a missing, impossible, internal or another member’s account', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const missing = await account(member, 'nothing');
  assert.equal(missing.status, 404);
  for (const id of ['a-1002-checking', 'a-1008-carloan', 'internal:funding:USD', 'a b', '\u0000', 'ü', '%']) {
    const answer = await account(member, id);
    assert.deepEqual({ ...answer.body, instance: '' }, { ...missing.body, instance: '' }, id);
  }
  assert.equal((await account(app, 'internal:funding:USD')).status, 404);
});
