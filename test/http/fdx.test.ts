import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Sharedraft } from '../../client/src/index.ts';
import { type Account, accountTypes } from '../../src/accounts/index.ts';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { Transaction } from '../../src/feed/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { type Answer, clientOf, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';
import { account, consentedToken, memberToken, startEdge } from './fake-services.ts';

/* Aggregators by the shapes of FDX 6: the mapping at the edge alone, and consents with the whole service. */

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const posting: Transaction = {
  id: '7',
  at: new Date('2026-11-20T15:04:05.678Z'),
  type: 'POS_PURCHASE',
  description: 'Card purchase',
  currency: 'USD',
  amountMinor: -12_345n,
  balanceMinor: 100n,
  pending: false,
  credit: false,
  transferId: null,
  memo: null,
  reverses: null,
  reversedBy: null,
  counterparty: null,
  merchant: 'Corner Bakery',
  category: 'Groceries',
  checkNumber: '0042',
  effectiveDate: null,
};

describe('the translation to FDX', () => {
  const shown = async (replaced: Partial<Account>, transaction: Partial<Transaction> = {}) => {
    const one: Account = { ...account, ...replaced };
    await using edge = await startEdge({
      getAccount: async () => one,
      listAccounts: async () => [one],
      listTransactions: async () => ({ items: [{ ...posting, ...transaction }], next: null }),
      balancesAsOf: async () => new Date('2026-11-20T15:00:00Z'),
    });
    const read = (path: string) => edge.client.get(`/fdx/v6${path}`, { token: consentedToken });
    const { text, body } = await read('/accounts/acc-1');
    const listed = await read('/accounts?resultType=details');
    assert.deepEqual(listed.body.accounts, [body]);
    const [described] = (await read('/accounts')).body.accounts;
    const posted = (await read('/accounts/acc-1/transactions')).body.transactions[0];
    return { text, body, described, posted };
  };
  const as = (diAccountType: string, category: Account['category']) => ({ diAccountType, category });

  test('shows a deposit with its current and available balance, exactly', async () => {
    const { text, body, described, posted } = await shown({});
    assert.match(text, /"currentBalance":1290.00,"availableBalance":1240.50/);
    const descriptor = {
      accountCategory: 'DEPOSIT_ACCOUNT',
      accountId: 'acc-1',
      accountType: 'CHECKING',
      accountNumberDisplay: '0110',
      productName: 'Share Draft',
      status: 'OPEN',
      currency: { currencyCode: 'USD' },
    };
    assert.deepEqual(described, descriptor);
    assert.deepEqual(body, {
      ...descriptor,
      ...{ balanceAsOf: '2026-11-20T15:00:00.000Z', currentBalance: 1290, availableBalance: 1240.5 },
    });
    assert.deepEqual(posted, {
      ...{ accountCategory: 'DEPOSIT_ACCOUNT', transactionId: '7', description: 'Card purchase' },
      ...{ transactionTimestamp: '2026-11-20T15:04:05.678Z', postedTimestamp: '2026-11-20T15:04:05.678Z' },
      ...{ debitCreditMemo: 'DEBIT', status: 'POSTED', amount: 123.45 },
      ...{ category: 'Groceries', payee: 'Corner Bakery', checkNumber: 42 },
    });
  });

  test('shows a loan with its principal, and a payment on it as a credit', async () => {
    const payment = { type: 'PAYMENT', credit: true, pending: true, amountMinor: -500n } as const;
    const { body, posted } = await shown({ ...as('MORTGAGE_LOAN', 'LOAN'), delinquent: true }, payment);
    assert.deepEqual(
      [body.accountCategory, body.accountType, body.status, body.principalBalance, body.currentBalance],
      ['LOAN_ACCOUNT', 'MORTGAGE', 'DELINQUENT', 1290, undefined],
    );
    assert.deepEqual(
      [posted.debitCreditMemo, posted.transactionType, posted.amount, posted.status, posted.postedTimestamp],
      ['CREDIT', 'PAYMENT', 5, 'PENDING', undefined],
    );
    assert.deepEqual([posted.payee, posted.checkNumber], [undefined, undefined]);
  });

  test('shows a credit line with the amount owed and the unused part', async () => {
    const { body, posted } = await shown({ ...as('CREDIT_CARD_LOAN', 'CREDIT'), closed: true });
    assert.deepEqual(
      [body.accountCategory, body.accountType, body.status, body.currentBalance, body.availableCredit],
      ['LOC_ACCOUNT', 'CREDITCARD', 'CLOSED', 1290, 1240.5],
    );
    assert.equal(posted.transactionType, 'PURCHASE');
  });

  test('shows an investment with its value and cash', async () => {
    const { body, posted } = await shown(as('BROKERAGE', 'INVESTMENT'), { type: 'DIVIDEND', credit: true });
    assert.deepEqual(
      [body.accountCategory, body.accountType, body.currentValue, body.availableCashBalance],
      ['INVESTMENT_ACCOUNT', 'BROKERAGEPRODUCT', 1290, 1240.5],
    );
    assert.equal(posted.transactionType, 'DIVIDEND');
  });

  test('has a type for every kind of account that a member can hold', async () => {
    const known =
      /^(CHECKING|SAVINGS|CD|MONEYMARKET|OTHERDEPOSIT|BROKERAGEPRODUCT|KEOGH|401K|CREDITCARD|LINEOFCREDIT|INSTALLMENT|PERSONALLOAN|LOAN|MORTGAGE|HOMEEQUITYLOAN)$/;
    const every = [...accountTypes].flatMap(([type, { category }]) =>
      category === 'INTERNAL' ? [] : [{ ...account, ...as(type, category) }],
    );
    await using edge = await startEdge({ listAccounts: async () => every });
    const { body } = await edge.client.get('/fdx/v6/accounts', { token: consentedToken });
    assert.equal(body.accounts.length, every.length);
    for (const { accountType } of body.accounts) assert.match(accountType, known);
  });

  test('shows the customer by the user id, with mail and telephones', async () => {
    await using edge = await startEdge();
    const { body } = await edge.client.get('/fdx/v6/customers/current', { token: consentedToken });
    assert.deepEqual(body, {
      customerId: 'usr-1',
      name: { first: 'Wilhelmina', last: 'Quillfeather' },
      email: ['wilhelmina@quillfeather.example'],
      telephones: [{ number: '+12025550143', type: 'PERSONAL', network: 'CELLULAR' }],
    });
  });

  test('returns the caller’s interaction id if it is a UUID, also with an error, and log it', async () => {
    await using edge = await startEdge();
    const id = '5f0c1c1e-6f1c-4a86-9d3f-0d8f3c2b7a10';
    const ask = (token: string, headers: Record<string, string>) =>
      edge.client.get('/fdx/v6/accounts', { token, headers });
    for (const token of [consentedToken, memberToken, 'unknown']) {
      const { headers } = await ask(token, { 'x-fapi-interaction-id': id });
      assert.equal(headers.get('x-fapi-interaction-id'), id);
      assert.equal(headers.get('transactionId'), id);
    }
    const upper = await ask(consentedToken, {
      'x-fapi-interaction-id': id.toUpperCase(),
      transactionId: 'mine',
    });
    assert.equal(upper.headers.get('x-fapi-interaction-id'), id.toUpperCase());
    assert.equal(upper.headers.get('transactionId'), 'mine');
    for (const given of ['not-a-uuid', `${id}, ${id}`, '']) {
      const made = await ask(consentedToken, { 'x-fapi-interaction-id': given });
      assert.match(made.headers.get('x-fapi-interaction-id') ?? '', uuid, given);
    }
    const { headers } = await ask(consentedToken, {});
    assert.equal(headers.get('x-fapi-interaction-id'), headers.get('transactionId'));
  });

  test('has numbers for the errors of the service', async () => {
    for (const [problem, status, code] of [
      [new Problem('database_unavailable', 'No database.'), 503, '501'],
      [new Error('unexpected'), 500, '500'],
      [new Problem('institution_elsewhere', 'It moved.'), 421, 'institution_elsewhere'],
    ] as const) {
      await using edge = await startEdge({ listAccounts: () => Promise.reject(problem) });
      const answer = await edge.client.get('/fdx/v6/accounts', { token: consentedToken });
      assert.deepEqual([answer.status, answer.body.code], [status, code]);
      assert.doesNotMatch(answer.text, /unexpected/);
    }
  });
});

const redirectUri = 'https://app.example/callback';
const willow = { username: 'demo.member', password: 'demo-member-password' };
const fern = { username: 'fern.joint', password: 'fern-green-lantern-2' };
const app = { clientId: 'fdx-app', secret: 'fdx-app-secret-that-is-long' };
const scope = 'openid account:read institution-users:read institution-users:write';
const checking = 'a-1001-checking';
const savings = 'a-1001-savings';

describe('an aggregator', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ environment: { PUBLIC_URL: 'http://localhost' } });
    const [row] = await service.db.superuser<{ id: InstitutionId }>(
      `select institution_id as id from institutions where code = 'lakeside'`,
    );
    for (const [clientId, isFirstParty] of [
      [app.clientId, false],
      ['own-app', true],
    ] as const) {
      await createClient(
        service.service.context.auth,
        {
          ...{ ...app, clientId, institutionId: row?.id as InstitutionId, name: 'Gatherer' },
          ...{ grants: ['authorization_code'], scopes: scope.split(' ') as never },
          ...{ redirectUris: [redirectUri], logoutUris: [], isFirstParty },
        },
        ownOrigin(),
      );
    }
  });
  after(() => service.close());

  async function tokenOf(
    accounts: readonly string[],
    { who = willow, clientId = app.clientId, wanted = scope } = {},
  ) {
    const { verifier, challenge } = pkce();
    const browser = new TestBrowser(service.address);
    const page = await browser.get(
      authorizeUrl({
        ...{ client_id: clientId, response_type: 'code', redirect_uri: redirectUri, scope: wanted },
        ...{ code_challenge: challenge, code_challenge_method: 'S256' },
        ...(clientId === app.clientId && { prompt: 'consent' }),
      }),
    );
    let allowed = await browser.post('/auth/v2/sign-in', { request: page.request, ...who });
    if (clientId === app.clientId) {
      const ticked = Object.fromEntries(accounts.map((id) => [`see ${id}`, 'on']));
      const sent = { request: allowed.request, days: '90', answer: 'allow', accounts: 'chosen', ...ticked };
      allowed = await browser.post('/auth/v2/consent', sent);
    }
    assert.equal(allowed.status, 303, allowed.text);
    const body = {
      ...{ grant_type: 'authorization_code', client_id: clientId, client_secret: app.secret },
      ...{ redirect_uri: redirectUri, code_verifier: verifier },
      code: allowed.location.searchParams.get('code'),
    };
    const { body: tokens, text } = await send(service.address, 'POST', paths.token, { body });
    assert.ok(tokens.access_token, text);
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    const [, claims = ''] = tokens.access_token.split('.');
    const consentPath = `/auth/v2/consents/${JSON.parse(Buffer.from(claims, 'base64url').toString()).consent_id}`;
    return {
      library: new Sharedraft({ baseUrl: service.address, auth: () => tokens.access_token }).aggregators,
      get: (path: string) => send(service.address, 'GET', `/fdx/v6${path}`, { headers }),
      narrow: (body: object) => send(service.address, 'PATCH', consentPath, { headers, body }),
      withdraw: () => send(service.address, 'DELETE', consentPath, { headers }),
    };
  }
  const refusal = ({ status, body }: Answer) => [status, body.code, body.debugMessage?.split(':')[0]];

  test('reads the accounts of its consent, and gets the same 404 for all others', async () => {
    const fdx = await tokenOf([checking, 'a-1001-carloan']);
    const { body } = await fdx.get('/accounts?resultType=details');
    assert.deepEqual(
      body.accounts.map((one: { accountId: string; accountCategory: string }) => [
        one.accountId,
        one.accountCategory,
      ]),
      [
        ['a-1001-carloan', 'LOAN_ACCOUNT'],
        [checking, 'DEPOSIT_ACCOUNT'],
      ],
    );
    assert.equal((await fdx.get('/customers/current')).body.customerId, 'u-demo-member');
    for (const rest of ['', '/transactions', '/transactions?limit=1&startTime=2026-01-01']) {
      assert.equal((await fdx.get(`/accounts/${checking}${rest}`)).status, 200, rest);
      const missing = await fdx.get(`/accounts/a-none${rest}`);
      assert.deepEqual(refusal(missing), [404, '701', 'not_found']);
      for (const id of [savings, 'a-1002-checking', 'a'.repeat(65)])
        assert.equal((await fdx.get(`/accounts/${id}${rest}`)).text, missing.text, id);
    }
  });

  test('is refused without a consent: a password, a client, a first-party app', async () => {
    const member = await memberOf(service, willow.username, willow.password);
    const first = await tokenOf([], { clientId: 'own-app' });
    const others = [
      (path: string) => member.get(`/fdx/v6${path}`),
      async (path: string) => (await clientOf(service)).get(`/fdx/v6${path}`),
      first.get,
    ];
    for (const get of others) {
      for (const path of ['/customers/current', '/accounts', `/accounts/${checking}`])
        assert.deepEqual(refusal(await get(path)), [403, '602', 'consent_required'], path);
    }
    const narrow = await tokenOf([checking], { wanted: 'openid account:read' });
    const answer = await narrow.get('/customers/current');
    assert.deepEqual(refusal(answer), [403, '602', 'insufficient_scope']);
    assert.match(answer.headers.get('www-authenticate') ?? '', /scope="institution-users:read"/);
  });

  test('pages through all transactions without a gap or a double, while new ones arrive', async () => {
    const member = await memberOf(service, willow.username, willow.password);
    const order = (amount: number) =>
      member.post(paths.transfers, { fromAccountId: checking, toAccountId: savings, amount });
    for (let amount = 1; amount <= 7; amount += 1) await order(amount);
    // Held for review: pending.
    await member.post(paths.transfers, {
      ...{ fromAccountId: checking, toAccountId: 'a-1002-checking', amount: 1000.01 },
    });
    const fdx = await tokenOf([checking]);
    const path = `/accounts/${checking}/transactions`;
    const whole = (await fdx.get(`${path}?limit=200`)).body;
    assert.equal(whole.page, undefined);
    assert.equal(whole.transactions[0].status, 'PENDING');
    for (const times of ['', '&startTime=2020-01-01&endTime=2999-01-01T00:00:00Z']) {
      const seen: string[] = [];
      for (let offset: string | undefined = ''; offset !== undefined; ) {
        const { body, text } = await fdx.get(
          `${path}?limit=2${times}${offset === '' ? '' : `&offset=${offset}`}`,
        );
        assert.ok(body.transactions?.length <= 2, text);
        seen.push(...body.transactions.map((one: { transactionId: string }) => one.transactionId));
        offset = body.page?.nextOffset;
        await order(0.01);
      }
      const known = new Set(whole.transactions.map((one: { transactionId: string }) => one.transactionId));
      assert.deepEqual(
        seen.filter((id) => known.has(id)),
        whole.transactions.map((one: { transactionId: string }) => one.transactionId),
      );
      assert.equal(new Set(seen).size, seen.length);
    }
    const amounts: string[] = [];
    const { library } = fdx;
    for await (const { amount } of library.transactions(checking, { limit: 3 })) amounts.push(amount);
    assert.equal(amounts[0], '1000.01');
    assert.ok(amounts.length >= whole.transactions.length);
    assert.equal((await library.account(checking)).accountCategory, 'DEPOSIT_ACCOUNT');
    await assert.rejects(library.account(savings), { status: 404, code: 'not_found' });
  });

  test('finds the account gone between two pages once the member takes it back, and the token ended with the consent', async () => {
    const fdx = await tokenOf([checking, savings]);
    const path = (id: string) => `/accounts/${id}/transactions?limit=1`;
    const { body } = await fdx.get(path(savings));
    assert.ok(body.page.nextOffset);
    const own = (await fdx.get(path(checking))).body;
    assert.equal((await fdx.narrow({ removeAccountIds: [savings] })).status, 200);
    const gone = await fdx.get(`${path(savings)}&offset=${body.page.nextOffset}`);
    assert.deepEqual(refusal(gone), [404, '701', 'not_found']);
    assert.equal((await fdx.get(`${path(checking)}&offset=${own.page.nextOffset}`)).status, 200);
    assert.equal((await fdx.get('/accounts')).body.accounts.length, 1);
    // A narrowed scope counts at once, too.
    await fdx.narrow({ removeScopes: ['account:read'] });
    assert.equal((await fdx.get('/accounts')).status, 403);
    assert.equal((await fdx.withdraw()).status, 200);
    for (const rest of ['/customers/current', '/accounts', path(checking)])
      assert.deepEqual(refusal(await fdx.get(rest)), [401, '602', 'invalid_token'], rest);
  });

  test('reads neither the accounts nor the pages of another member', async () => {
    const fdx = await tokenOf([checking]);
    const { nextOffset } = (await fdx.get(`/accounts/${checking}/transactions?limit=1`)).body.page;
    const other = await tokenOf(['a-1002-checking'], { who: fern });
    const stolen = `/accounts/${checking}/transactions?limit=1&offset=${nextOffset}`;
    assert.deepEqual(refusal(await other.get(stolen)), [404, '701', 'not_found']);
    const moved = await other.get(`/accounts/a-1002-checking/transactions?offset=${nextOffset}`);
    assert.deepEqual(refusal(moved), [400, '401', 'invalid_request']);
  });

  test('gets 400 with a number of FDX for parameters that are not valid, which are named', async () => {
    const fdx = await tokenOf([checking]);
    const { nextOffset } = (await fdx.get(`/accounts/${checking}/transactions?limit=1`)).body.page;
    for (const [query, code, named] of [
      ['limit=0', '401', 'limit'],
      ['limit=201', '401', 'limit'],
      ['limit=ten', '401', 'limit'],
      ['offset=2', '401', 'offset'],
      [`offset=${nextOffset}&startTime=2026-01-01`, '401', 'offset'],
      ['offset=a&offset=b', '401', 'offset'],
      ['pageKey=x', '401', 'pageKey'],
      ['startTime=yesterday', '702', 'startTime'],
      ['endTime=2026-02-30', '702', 'endTime'],
      ['startTime=2026-11-21&endTime=2026-11-20', '703', 'ends before it starts'],
    ] as const) {
      const answer = await fdx.get(`/accounts/${checking}/transactions?${query}`);
      assert.deepEqual([answer.status, answer.body.code], [400, code], `${query} ${answer.text}`);
      assert.match(answer.body.debugMessage, new RegExp(`^invalid_request: .*${named}`), query);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
    }
    assert.deepEqual(refusal(await fdx.get('/accounts?resultType=all')).slice(0, 2), [400, '401']);
  });
});
