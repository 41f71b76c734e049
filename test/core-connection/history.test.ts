import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
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

const accountId = 'a-1001-checking';
const historyOf = (account: string, query = '') =>
  app.get(`${paths.accounts}/${account}/transactions?limit=200&${query}`);
const descriptionsOf = async (query: string, account = accountId) =>
  (await historyOf(account, query)).body.map(({ description }: { description: string }) => description);

describe("the core's transactions in the history of an account", () => {
  test('shows each with its type, its texts and its effective date', async () => {
    await core.deliver([
      purchase('hist-1', {
        description: 'CORNER BAKERY 0042',
        merchant: 'Corner Bakery',
        category: 'RESTAURANTS',
        effectiveDate: '2026-03-01',
      }),
      purchase('hist-2', { kind: 'CHECK', amount: -150, description: 'Check 1042', checkNumber: '1042' }),
      purchase('hist-3', { kind: 'ACH_CREDIT', amount: 2400, description: 'Payroll Northgate Mills' }),
    ]);
    const member = await memberOf(service, 'demo.member', 'lakeside-member-password').catch(() => app);
    const { body } = await member.get(`${paths.accounts}/${accountId}/transactions?limit=3`);
    const [payroll, check, bakery] = body;
    assert.deepEqual(
      [payroll.type, payroll.isCreditTransaction, payroll.amount.amount],
      ['DIRECT_DEPOSIT', true, 2400],
    );
    assert.deepEqual([check.type, check.checkNumber], ['CHECK', '1042']);
    const { id: _id, ledgerBalance, ...rest } = bakery;
    assert.deepEqual(rest, {
      transactionDate: '2026-03-02T19:05:00.000Z',
      type: 'POS_PURCHASE',
      description: 'CORNER BAKERY 0042',
      amount: { amount: -12.34, currencyCode: 'USD' },
      isPending: false,
      isCreditTransaction: false,
      merchant: 'Corner Bakery',
      category: 'RESTAURANTS',
      effectiveDate: '2026-03-01',
    });
    assert.equal(ledgerBalance.amount, 48_238.41);
  });

  test('shows a pending authorization until it is posted, and no entry that only holds', async () => {
    const account = 'a-1002-checking';
    await core.deliver([
      purchase('auth-1', {
        status: 'AUTHORIZED',
        accountId: account,
        amount: -45,
        description: 'Hilltop Fuel',
      }),
    ]);
    const [pending] = (await historyOf(account)).body;
    assert.deepEqual(
      [
        pending.id,
        pending.transactionDate,
        pending.description,
        pending.type,
        pending.isPending,
        pending.amount.amount,
        pending.ledgerBalance,
      ],
      [
        'authorization:auth-1',
        '2026-03-02T19:05:00.000Z',
        'Hilltop Fuel',
        'POS_PURCHASE',
        true,
        -45,
        undefined,
      ],
    );
    await core.deliver([
      purchase('auth-1-posted', {
        accountId: account,
        amount: -47,
        authorizationId: 'auth-1',
        description: 'Hilltop Fuel',
      }),
    ]);
    const posted = (await historyOf(account)).body.filter(
      ({ type }: { type: string }) => type === 'POS_PURCHASE',
    );
    assert.deepEqual(
      posted.map(({ isPending, amount }: { isPending: boolean; amount: { amount: number } }) => [
        isPending,
        amount.amount,
      ]),
      [[false, -47]],
    );
  });

  test('shows the words of the core for the echo of a transfer', async () => {
    await app.post(paths.transfers, {
      id: 'shown-1',
      fromAccountId: accountId,
      toAccountId: 'a-1001-savings',
      amount: 5,
    });
    await core.deliver([
      purchase('shown-echo', {
        kind: 'TRANSFER',
        amount: -5,
        transferId: 'shown-1',
        description: 'Transfer to share 00',
      }),
    ]);
    const [first] = (await historyOf(accountId, 'status=POSTED')).body;
    assert.deepEqual(
      [first.type, first.description, first.transferId],
      ['TRANSFER_DEBIT', 'Transfer to share 00', 'shown-1'],
    );
  });
});

describe('the search of an account', () => {
  const account = 'a-1005-checking';
  before(async () => {
    await core.deliver([
      purchase('find-1', {
        accountId: account,
        description: 'Harborview Grocery',
        category: 'GROCERIES',
        amount: -80.5,
        effectiveDate: '2026-01-05',
      }),
      purchase('find-2', {
        accountId: account,
        description: '100% Cotton_Shop',
        category: 'Clothing',
        amount: -20,
      }),
      purchase('find-3', {
        accountId: account,
        description: 'Refund Harborview',
        amount: 10,
        merchant: 'Harborview Grocery',
      }),
      purchase('find-4', { accountId: account, kind: 'FEE', description: 'Monthly fee', amount: -5 }),
      purchase('find-5', {
        accountId: account,
        kind: 'CHECK',
        description: 'Check',
        checkNumber: '778',
        amount: -99.99,
      }),
    ]);
    await app.post(paths.transfers, {
      fromAccountId: account,
      toAccountId: 'a-1005-savings',
      amount: 33,
      memo: 'Harborview trip',
    });
  });

  const searches: Readonly<Record<string, readonly [query: string, found: readonly string[]]>> = {
    'each of its words in any text and any case': [
      'text=harborview+GROCERY',
      ['Refund Harborview', 'Harborview Grocery'],
    ],
    'the memo of a transfer': ['text=trip', ['Transfer out']],
    'a check number': ['text=778', ['Check']],
    'signs that are wildcards elsewhere': ['text=0%25+n_S', ['100% Cotton_Shop']],
    'a percent sign, which matches itself only': ['text=%25%25', []],
    'a category in any case': ['category=clothing', ['100% Cotton_Shop']],
    'amounts without their sign': ['minAmount=80.5&maxAmount=100', ['Check', 'Harborview Grocery']],
    'a type': ['type=REFUND', ['Refund Harborview']],
    'a type of the ledger': ['type=TRANSFER_DEBIT&minAmount=33&maxAmount=33', ['Transfer out']],
    'days by their effective date': ['startDate=2026-01-05&endDate=2026-01-05', ['Harborview Grocery']],
    'several conditions together': ['text=harborview&type=POS_PURCHASE', ['Harborview Grocery']],
  };
  for (const [what, [query, found]] of Object.entries(searches)) {
    test(`a search finds ${what}`, async () => {
      assert.deepEqual(await descriptionsOf(query, account), found);
    });
  }

  test('pages through the matches without a gap or a repetition', async () => {
    const seen: string[] = [];
    let next: string | null = `${paths.accounts}/${account}/transactions?limit=1&text=harborview`;
    for (let pages = 0; next !== null && pages < 10; pages += 1) {
      const { body, headers } = await app.get(next);
      seen.push(...body.map(({ description }: { description: string }) => description));
      next =
        /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]?.replace('http://sharedraft.test', '') ??
        null;
    }
    assert.deepEqual(seen, ['Transfer out', 'Refund Harborview', 'Harborview Grocery']);
  });

  test('refuses a bound that is no amount and a day that is none', async () => {
    for (const query of ['minAmount=-1', 'minAmount=1e3', 'startDate=2026-02-30', 'type=BARTER', 'text=']) {
      assert.equal((await historyOf(account, query)).status, 400, query);
    }
  });

  test('finds a transaction behind thousands of others within a few pages', async () => {
    const busy = 'a-1003-savings';
    const many = Array.from({ length: 5_200 }, (_, n) =>
      purchase(`busy-${n}`, { accountId: busy, amount: -0.01, historic: true }),
    );
    const needle = purchase('needle', { accountId: busy, description: 'Needle Works' });
    const answers = await core.deliver([needle, ...many]);
    assert.equal(answers.at(-1)?.summary?.posted, 5_201, JSON.stringify(answers.at(-1)));
    let pages = 0;
    let found: string[] = [];
    let next: string | null = `${paths.accounts}/${busy}/transactions?text=needle`;
    for (; next !== null && pages < 10; pages += 1) {
      const { status, text, body, headers } = await app.get(next);
      assert.equal(status, 200, text);
      found = [...found, ...body.map(({ description }: { description: string }) => description)];
      next =
        /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]?.replace('http://sharedraft.test', '') ??
        null;
    }
    assert.deepEqual(found, ['Needle Works']);
    assert.ok(pages <= 3);
  });
});
