import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { type Answer, clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';
import { until } from '../webhooks/receiver.ts';

/* The accounts that a consent covers, at every operation that the token of an app reaches. Two processes serve. */

const redirectUri = 'https://app.example/callback';
const willow = { username: 'demo.member', password: 'demo-member-password' };
const fern = { username: 'fern.joint', password: 'fern-green-lantern-2' };
const app = { clientId: 'purse-app', secret: 'purse-app-secret-that-is-long' };
const client = { client_id: app.clientId, client_secret: app.secret };
const everything =
  'openid account:read transfer:read transfer:write alertHist:read alertPref:read alertPref:write institution-users:read institution-users:write offline_access';
const [checking, savings, certificate] = ['a-1001-checking', 'a-1001-savings', 'a-1001-certificate'];

let one: TestService;
let two: TestService;
before(async () => {
  const environment = { PUBLIC_URL: 'http://localhost' };
  one = await startTestService({ environment });
  two = await startTestService({ beside: one, environment });
  const [row] = await one.db.superuser<{ id: InstitutionId }>(
    `select institution_id as id from institutions where code = 'lakeside'`,
  );
  await createClient(
    one.service.context.auth,
    {
      ...app,
      institutionId: row?.id as InstitutionId,
      name: 'Purse',
      grants: ['authorization_code', 'refresh_token'],
      scopes: everything.split(' ') as never,
      redirectUris: [redirectUri],
      logoutUris: [],
    },
    ownOrigin(),
  );
});
after(async () => {
  await two.close();
  await one.close();
});

/** The page of consent, after the sign-in. */
async function consentPage(who = willow, scope = everything) {
  const { verifier, challenge } = pkce();
  const browser = new TestBrowser(one.address);
  const page = await browser.get(
    authorizeUrl({
      ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope },
      ...{ prompt: 'consent', code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  return {
    browser,
    verifier,
    page: await browser.post('/auth/v2/sign-in', { request: page.request, ...who }),
  };
}

interface App extends DemoCaller {
  readonly consentId: string;
  readonly refreshToken: string;
  /** The same token at the other process. */
  readonly elsewhere: { get(path: string): Promise<Answer> };
}

/** Boxes are ticked by their names: `see a-1` and `pay a-1`. */
async function consent(ticked: readonly string[] | 'all', who = willow, scope = everything): Promise<App> {
  const { browser, verifier, page } = await consentPage(who, scope);
  const choice =
    ticked === 'all'
      ? { accounts: 'all' }
      : { accounts: 'chosen', ...Object.fromEntries(ticked.map((box) => [box, 'on'])) };
  const sent = { request: page.request, days: '90', answer: 'allow', ...choice };
  const allowed = await browser.post('/auth/v2/consent', sent);
  assert.equal(allowed.status, 303, allowed.text);
  const body = {
    ...{ ...client, grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier },
    code: allowed.location.searchParams.get('code'),
  };
  const { body: tokens, text } = await send(one.address, 'POST', paths.token, { body });
  assert.ok(tokens.access_token, text);
  const headers = { authorization: `Bearer ${tokens.access_token}` };
  const at = (address: string) => (method: string) => (path: string, json?: object, more?: object) =>
    send(address, method, path, { headers: { ...headers, ...more }, ...(json && { body: json }) });
  const here = at(one.address);
  const [, claims = ''] = tokens.access_token.split('.');
  return {
    token: tokens.access_token,
    refreshToken: tokens.refresh_token,
    consentId: JSON.parse(Buffer.from(claims, 'base64url').toString()).consent_id,
    get: here('GET'),
    post: here('POST'),
    patch: here('PATCH'),
    elsewhere: { get: at(two.address)('GET') },
  };
}

const order = (fromAccountId: string, toAccountId: string, more: object = {}) => ({
  ...{ fromAccountId, toAccountId, amount: 1 },
  ...more,
});
const withoutInstance = ({ status, body: { instance: _, ...body } }: Answer) => ({ status, body });
const idsOf = (answer: Answer) => answer.body.map((each: { accountId: string }) => each.accountId);
const narrowed = (purse: App, body: object) => purse.patch(`/auth/v2/consents/${purse.consentId}`, body);

describe('the page of consent', () => {
  test('offers each account of the member, and boxes to pay only if the app asks for it', async () => {
    const { page } = await consentPage();
    assert.match(page.text, /Share Draft, ending in 0110/);
    const boxes = [...page.text.matchAll(/type="checkbox" name="([^"]+)"/g)].map(([, name]) => name);
    assert.deepEqual(
      boxes.filter((name) => name?.endsWith(checking as string)),
      [`see ${checking}`, `pay ${checking}`],
    );
    const { page: reading } = await consentPage(willow, 'account:read');
    assert.doesNotMatch(reading.text, /name="pay /);
    const { page: profile } = await consentPage(willow, 'openid');
    assert.doesNotMatch(profile.text, /name="accounts"/);
  });

  test('is shown again for no account, for one of another member, and for one that does not exist', async () => {
    for (const boxes of [
      {},
      { 'see a-1002-savings': 'on' },
      { [`see ${checking}`]: 'on', 'pay a-9': 'on' },
    ]) {
      const { browser, page } = await consentPage();
      const sent = { request: page.request, days: '30', answer: 'allow', accounts: 'chosen', ...boxes };
      const again: TestPage = await browser.post('/auth/v2/consent', sent);
      assert.equal(again.status, 422);
      assert.match(again.text, /role="alert"/);
      const fixed = await browser.post('/auth/v2/consent', {
        ...{ ...sent, request: again.request, [`see ${checking}`]: 'on' },
        ...{ 'see a-1002-savings': 'on' },
      });
      assert.equal(fixed.status, 422);
    }
  });
});

describe('an app with some of the accounts', () => {
  let purse: App;
  let member: DemoCaller;
  before(async () => {
    member = await memberOf(one, willow.username, willow.password);
    await member.post(paths.transfers, order(savings as string, checking as string, { id: 'from-outside' }));
    await member.post(paths.transfers, order(checking as string, savings as string, { id: 'from-inside' }));
    await member.post(paths.transfers, order(checking as string, 'a-1', { id: 'failed-inside' }));
    await member.post(paths.transfers, order(savings as string, 'a-1', { id: 'failed-outside' }));
    purse = await consent([`see ${checking}`, `pay ${checking}`, `see ${certificate}`]);
  });

  test('lists these accounts only', async () => {
    for (const path of [
      paths.accounts,
      `${paths.accounts}?customerId=c-1001`,
      `${paths.customer('c-1001')}/accounts`,
    ]) {
      assert.deepEqual(idsOf(await purse.get(path)), [certificate, checking], path);
      assert.equal((await member.get(path)).body.length, 5, 'the member still has all');
    }
  });

  test('gets the answer of a missing account for the others', async () => {
    for (const rest of ['', '/transactions', '/balances', '/balances?effectiveDate=2026-01-02']) {
      assert.notEqual((await purse.get(`${paths.accounts}/${checking}${rest}`)).status, 404, rest);
      const hidden = await purse.get(`${paths.accounts}/${savings}${rest}`);
      assert.equal(hidden.status, 404, rest);
      const missing = await purse.get(`${paths.accounts}/a-none${rest}`);
      assert.deepEqual(withoutInstance(hidden), withoutInstance(missing), rest);
    }
    const options = (id: string) => purse.get(`${paths.transfers}/options?fromAccountId=${id}`);
    assert.deepEqual(
      withoutInstance(await options(savings as string)),
      withoutInstance(await options('a-none')),
    );
    const { body } = await options(checking as string);
    const reached = body.options.map((each: { toAccountId?: string }) => each.toAccountId);
    assert.ok(reached.includes(certificate) && !reached.includes(savings), JSON.stringify(reached));
  });

  test('orders from an account with a box to pay, and from no other', async () => {
    const from = async (account: string, path: string = paths.transfers) => {
      const { status, body } = await purse.post(
        path,
        order(account, 'a-1002-checking', { id: `by-${account}` }),
      );
      return [status, body.code ?? body.reasons?.[0]?.code];
    };
    const dry = `${paths.transfers}/dry-run`;
    assert.deepEqual(await from(savings as string), [422, 'account_not_found']);
    assert.deepEqual(await from(savings as string, dry), [200, 'account_not_found']);
    assert.deepEqual(await from(certificate as string), [422, 'account_restricted']);
    assert.equal((await from(checking as string))[0], 201);
    const free = await member.post(
      paths.transfers,
      order(savings as string, 'a-1002-checking', { id: `by-${savings}` }),
    );
    assert.equal(free.status, 201, 'the refused order used up no id');
    const [stored] = await one.db.superuser<{ consentId: string }>(
      `select c.consent_id as "consentId" from transfer_consents c join transfers t using (institution_id, transfer_key)
       where t.transfer_id = 'by-a-1001-checking'`,
    );
    assert.equal(stored?.consentId, purse.consentId);
  });

  test('sees the transfers from these accounts, also by their id and in the lists', async () => {
    const listed = async (query: string) =>
      (await purse.get(`${paths.transfers}${query}`)).body.map((each: { id: string }) => each.id);
    const all = await listed('');
    for (const id of ['from-inside', 'failed-inside']) assert.ok(all.includes(id), id);
    for (const id of ['from-outside', 'failed-outside']) {
      assert.ok(!all.includes(id), id);
      assert.equal((await member.get(`${paths.transfers}/${id}`)).status, 200);
      const hidden = await purse.get(`${paths.transfers}/${id}`);
      assert.deepEqual(
        withoutInstance(hidden),
        withoutInstance(await purse.get(`${paths.transfers}/no-such`)),
      );
      assert.equal((await purse.post(`${paths.transfers}/${id}/cancel`, {})).status, 404);
      const reused = await purse.post(paths.transfers, order(checking as string, 'a-1002-checking', { id }));
      assert.deepEqual([reused.status, reused.body.differs], [409, undefined]);
    }
    assert.deepEqual(await listed(`?accountId=${savings}`), []);
    const ofChecking = await listed(`?accountId=${checking}`);
    assert.ok(ofChecking.includes('from-inside') && !ofChecking.includes('from-outside'));
    assert.deepEqual((await listed('?limit=1')).length, 1);
  });

  test('reads in the history of an account what a payee reads of the payer outside', async () => {
    const rows = async (caller: { get(path: string): Promise<Answer> }) =>
      (await caller.get(`${paths.accounts}/${checking}/transactions`)).body;
    const [own] = (await rows(member)).filter(
      (each: { transferId?: string }) => each.transferId === 'from-outside',
    );
    assert.equal(own.counterparty.accountId, savings);
    const seen = (await rows(purse)).find((each: { id: string }) => each.id === own.id);
    assert.equal(seen.transferId, undefined);
    assert.equal(seen.counterparty.accountId, undefined);
    assert.match(seen.counterparty.name, /^Willow T\.$/);
    assert.ok((await rows(purse)).some((each: { transferId?: string }) => each.transferId === 'from-inside'));
  });

  test('reads and replaces the alerts of these accounts, and leaves the others', async () => {
    const preferences = '/digitalbanking/db-alerts/v1/preferences';
    const rule = (accountId: string | undefined) => ({
      alertType: 'TRANSFER_COMPLETE',
      accountId,
      channels: ['INBOX'],
    });
    const put = (caller: DemoCaller, rules: object[]) =>
      send(one.address, 'PUT', preferences, {
        headers: { authorization: `Bearer ${caller.token}` },
        body: { alerts: rules },
      });
    assert.equal((await put(member, [rule(checking), rule(savings)])).status, 200);
    await member.post(paths.transfers, order(savings as string, checking as string));
    assert.deepEqual(idsOf({ body: (await purse.get(preferences)).body.alerts } as Answer), [checking]);
    assert.equal((await put(purse, [rule(savings)])).status, 400);
    assert.equal((await put(purse, [])).status, 200);
    assert.deepEqual(idsOf({ body: (await member.get(preferences)).body.alerts } as Answer), [savings]);
    const accountsOf = async (caller: DemoCaller) =>
      new Set(idsOf(await caller.get('/digitalbanking/db-alerts/v1/alerts')));
    await until(async () => (await accountsOf(member)).has(savings), 'an alert about the account');
    assert.ok(!(await accountsOf(purse)).has(savings));
  });

  test('lists its consent with its accounts', async () => {
    const { body } = await purse.get('/auth/v2/consents');
    const own = body.find((each: { consentId: string }) => each.consentId === purse.consentId);
    assert.equal(own.allAccounts, false);
    assert.deepEqual(own.accounts, [
      { accountId: certificate, mayPay: false },
      { accountId: checking, mayPay: true },
    ]);
  });
});

describe('a consent that becomes narrower', () => {
  const account = (id: string | undefined) => `${paths.accounts}/${id}`;

  test('holds at the next request in every process, with answers that were remembered', async () => {
    const purse = await consent([`see ${checking}`, `see ${savings}`, `pay ${savings}`]);
    for (const caller of [purse, purse.elsewhere]) {
      for (let times = 0; times < 3; times += 1) {
        assert.equal((await caller.get(account(savings))).status, 200);
        assert.equal((await caller.get(paths.accounts)).body.length, 2);
      }
    }
    const { status, body } = await narrowed(purse, { removeAccountIds: [savings, 'a-none'] });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(idsOf({ body: body.accounts } as Answer), [checking]);
    for (const caller of [purse, purse.elsewhere]) {
      assert.equal((await caller.get(account(savings))).status, 404);
      assert.deepEqual(idsOf(await caller.get(paths.accounts)), [checking]);
    }
    const { body: refused } = await purse.post(paths.transfers, order(savings as string, 'a-1002-checking'));
    assert.equal(refused.code, 'account_not_found');
  });

  test('loses the right to pay, and sees the account', async () => {
    const purse = await consent([`pay ${checking}`]);
    assert.equal((await narrowed(purse, { removePayingAccountIds: [checking] })).status, 200);
    assert.equal((await purse.get(account(checking))).status, 200);
    const { body } = await purse.post(paths.transfers, order(checking as string, 'a-1002-checking'));
    assert.equal(body.code, 'account_restricted');
  });

  test('loses a scope for access tokens, refresh tokens and introspection', async () => {
    const purse = await consent('all');
    assert.equal((await narrowed(purse, { removeScopes: ['transfer:read'] })).status, 200);
    const { status, body } = await purse.get(paths.transfers);
    assert.deepEqual([status, body.code], [403, 'insufficient_scope']);
    const introspected = await send(one.address, 'POST', paths.introspect, {
      body: { ...client, token: purse.token },
    });
    assert.equal(introspected.body.active, true);
    assert.ok(!introspected.body.scope.split(' ').includes('transfer:read'));
    const renewed = await send(one.address, 'POST', paths.token, {
      body: { ...client, grant_type: 'refresh_token', refresh_token: purse.refreshToken },
    });
    assert.equal(renewed.status, 200, renewed.text);
    assert.ok(!renewed.body.scope.split(' ').includes('transfer:read'));
  });

  test('names the other accounts once a consent for all loses one, also in renewed tokens', async () => {
    const purse = await consent('all');
    assert.equal((await purse.get(paths.accounts)).body.length, 5);
    const { body } = await narrowed(purse, { removeAccountIds: [savings] });
    assert.deepEqual([body.allAccounts, body.accounts.length], [false, 4]);
    assert.equal((await purse.elsewhere.get(paths.accounts)).body.length, 4);
    const renewed = await send(one.address, 'POST', paths.token, {
      body: { ...client, grant_type: 'refresh_token', refresh_token: purse.refreshToken },
    });
    const headers = { authorization: `Bearer ${renewed.body.access_token}` };
    assert.equal((await send(two.address, 'GET', account(savings), { headers })).status, 404);
  });

  test('changes nothing a second time, keeps its last account, and is of no other member', async () => {
    const purse = await consent([`see ${checking}`, `see ${savings}`]);
    const count = async () =>
      (
        await one.db.superuser(
          `select from audit_entries where action = 'consent.narrowed' and subject = '${purse.consentId}'`,
        )
      ).length;
    for (let times = 0; times < 2; times += 1) {
      assert.equal((await narrowed(purse, { removeAccountIds: [savings] })).status, 200);
      assert.equal(await count(), 1);
    }
    const last = await narrowed(purse, { removeAccountIds: [checking] });
    assert.deepEqual([last.status, last.body.code], [400, 'invalid_request']);
    const others = await consent('all', fern);
    const path = `/auth/v2/consents/${purse.consentId}`;
    assert.equal((await others.patch(path, { removeAccountIds: [checking] })).status, 404);
    assert.equal((await purse.get(account(checking))).status, 200);
  });

  test('is narrowed by the member on the security page, without JavaScript', async () => {
    const purse = await consent([`see ${checking}`, `pay ${checking}`, `see ${savings}`]);
    const browser = new TestBrowser(one.address);
    const path = `/auth/v2/security?client_id=${app.clientId}`;
    const page = await browser.get(path);
    await browser.post('/auth/v2/sign-in', { request: page.request, ...willow });
    const security = await browser.get(path);
    const narrow = (removed: string) =>
      browser.post('/auth/v2/security/narrow', { request: security.request, removed });
    const part = (kind: string, name: string | undefined) => `${purse.consentId} ${kind} ${name}`;
    for (const offered of [part('see', savings), part('pay', checking), part('scope', 'transfer:read')]) {
      assert.ok(security.text.includes(`name="removed" value="${offered}"`), offered);
      assert.equal((await narrow(offered)).status, 200);
    }
    assert.deepEqual(idsOf(await purse.get(paths.accounts)), [checking]);
    assert.equal((await purse.get(paths.transfers)).status, 403);
    assert.equal((await narrow(part('see', checking))).status, 422, 'the last account stays');
    assert.equal((await narrow('nonsense')).status, 422);
    const other = await consent('all', fern);
    await narrow(`${other.consentId} see a-1002-checking`);
    assert.equal((await other.get(account('a-1002-checking'))).status, 200);
  });

  test('has an event for its beginning, each change and its end', async () => {
    const purse = await consent([`see ${checking}`, `see ${savings}`]);
    await narrowed(purse, { removeAccountIds: [savings] });
    const headers = { authorization: `Bearer ${purse.token}` };
    await send(one.address, 'DELETE', `/auth/v2/consents/${purse.consentId}`, { headers });
    const institution = await clientOf(one);
    let events: { eventType: string; userId: string; data: { accounts?: object[]; endedBy?: string } }[] = [];
    await until(async () => {
      const { body } = await institution.get('/digitalbanking/db-events/v1/events?limit=200');
      events = body.filter(
        (each: { data?: { consentId?: string } }) => each.data?.consentId === purse.consentId,
      );
      return events.length === 3;
    }, 'three events of the consent');
    assert.deepEqual(
      events.map((each) => [each.eventType, each.userId, each.data.accounts?.length ?? each.data.endedBy]),
      [
        ['consent.granted', 'u-demo-member', 2],
        ['consent.narrowed', 'u-demo-member', 1],
        ['consent.ended', 'u-demo-member', 'MEMBER'],
      ],
    );
    assert.equal((await purse.elsewhere.get(paths.accounts)).status, 401);
  });
});

describe('authority that goes while a request is on its way', () => {
  test('an account that its joint holder leaves is gone for the app at once', async () => {
    const purse = await consent(['see a-1002-checking', 'see a-1002-mortgage'], fern);
    assert.equal((await purse.get(paths.accounts)).body.length, 2);
    await one.db.superuser(
      `delete from holders h using accounts a, persons p
       where a.institution_id = h.institution_id and a.account_key = h.account_key and a.account_id = 'a-1002-mortgage'
         and p.institution_id = h.institution_id and p.person_key = h.person_key and p.person_id = 'p-1003'`,
    );
    assert.deepEqual(idsOf(await purse.get(paths.accounts)), ['a-1002-checking']);
    assert.equal((await purse.elsewhere.get(`${paths.accounts}/a-1002-mortgage`)).status, 404);
  });

  /** An order that begins while `change` of the consent is under way and not committed. */
  async function during(change: string): Promise<Answer> {
    const purse = await consent([`pay ${checking}`, `see ${savings}`]);
    const stranger = new pg.Client(one.db.owner);
    await stranger.connect();
    try {
      await stranger.query('begin');
      await stranger.query(`select from consents where consent_id = $1 for update`, [purse.consentId]);
      const answer = purse.post(
        paths.transfers,
        order(checking as string, 'a-1002-checking', { id: `during-${purse.consentId}` }),
      );
      await until(
        async () =>
          (
            await one.db.superuser(
              `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
            )
          ).length > 0,
        'the order waits for the consent',
      );
      await stranger.query(change, [purse.consentId]);
      await stranger.query('commit');
      return await answer;
    } finally {
      await stranger.end();
    }
  }

  test('an order waits for a change of its consent, and moves nothing from an account that was withdrawn', async () => {
    const withdrawn = await during(
      `delete from consent_accounts k using accounts a where k.consent_id = $1 and a.institution_id = k.institution_id
         and a.account_key = k.account_key and a.account_id = 'a-1001-checking'`,
    );
    assert.deepEqual([withdrawn.status, withdrawn.body.code], [422, 'account_not_found']);
    const ended = await during(
      `update consents set ended_at = now(), ended_by = 'MEMBER' where consent_id = $1`,
    );
    assert.deepEqual([ended.status, ended.body.code], [401, 'invalid_token']);
    const unscoped = await during(`update consents set scopes = '{account:read}' where consent_id = $1`);
    assert.deepEqual([unscoped.status, unscoped.body.code], [401, 'invalid_token']);
    const moved = await one.db.superuser(`select from transfers where transfer_id like 'during-%'`);
    assert.equal(moved.length, 0);
  });
});

describe('the database', () => {
  const refuses = (code: string, text: string, values: readonly unknown[] = []) =>
    assert.rejects(one.db.superuser(text, values), { code });

  test('refuses a consent that becomes wider', async () => {
    const { consentId } = await consent([`see ${checking}`]);
    await refuses('SD216', `update consents set all_accounts = true where consent_id = $1`, [consentId]);
    await refuses('SD216', `update consents set scopes = scopes || '{email}' where consent_id = $1`, [
      consentId,
    ]);
    await refuses('SD216', `update consent_accounts set may_pay = true where consent_id = $1`, [consentId]);
    await refuses(
      'SD216',
      `insert into consent_accounts (institution_id, consent_id, account_key, may_pay)
       select s.institution_id, s.consent_id, a.account_key, false from consents s
       join accounts a on a.institution_id = s.institution_id and a.account_id = 'a-1001-savings' where s.consent_id = $1`,
      [consentId],
    );
  });

  test('refuses a consent for an account that its member does not hold', async () => {
    const { consentId } = await consent('all');
    await refuses(
      'SD217',
      `insert into consent_accounts (institution_id, consent_id, account_key, may_pay)
       select s.institution_id, s.consent_id, a.account_key, false from consents s
       join accounts a on a.institution_id = s.institution_id and a.account_id = 'a-1002-savings' where s.consent_id = $1`,
      [consentId],
    );
  });

  test('refuses a transfer under a consent that does not let the app pay from its source', async () => {
    const { consentId } = await consent([`see ${checking}`]);
    await refuses(
      'SD218',
      `insert into transfer_consents (institution_id, transfer_key, consent_id)
       select t.institution_id, t.transfer_key, $1 from transfers t where t.transfer_id = 'from-inside'`,
      [consentId],
    );
  });
});
