import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';
import { until } from '../webhooks/receiver.ts';

/* The page on which a member sees and ends all that may act for them. */

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const willow = { username: 'demo.member', password: 'demo-member-password' };
const fern = { username: 'fern.joint', password: 'fern-green-lantern-2' };
const app = { clientId: 'wallet-app', secret: 'wallet-app-secret-that-is-long' };
const client = { client_id: app.clientId, client_secret: app.secret };
let now = new Date('2026-03-02T12:00:00Z');
let service: TestService;
before(async () => {
  service = await startTestService({ clock: () => now, environment: { PUBLIC_URL: issuer } });
  const [row] = await service.db.superuser<{ id: InstitutionId }>(
    `select institution_id as id from institutions where code = 'lakeside'`,
  );
  await createClient(
    service.service.context.auth,
    {
      ...app,
      institutionId: row?.id as InstitutionId,
      name: 'Wallet <b>App</b>',
      grants: ['authorization_code', 'refresh_token', 'password'],
      scopes: ['openid', 'account:read', 'offline_access'],
      redirectUris: [redirectUri],
      logoutUris: [],
    },
    ownOrigin(),
  );
});
after(() => service.close());

beforeEach(async () => {
  now = new Date(now.getTime() + 3_600_000);
  await service.db.superuser('delete from member_sessions');
  await service.db.superuser(`update refresh_families set revoked_at = now() where revoked_at is null`);
});

const security = `/auth/v2/security?client_id=${app.clientId}`;
const endPath = '/auth/v2/security/end';

/** A browser on the page, signed in a moment ago. */
async function atSecurity(
  who = willow,
  userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0',
) {
  const browser = new TestBrowser(service.address);
  const first = await browser.get(security);
  const headers = { 'user-agent': userAgent };
  await browser.post('/auth/v2/sign-in', { request: first.request, ...who }, headers);
  const page = await browser.get(security);
  assert.equal(page.title, 'Sign-in and security', page.text);
  return { browser, page };
}

const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

async function byPassword(who = willow) {
  const body = { ...client, ...who, grant_type: 'password', scope: 'account:read offline_access' };
  const { body: tokens, text } = await send(service.address, 'POST', paths.token, { body });
  assert.ok(tokens.refresh_token, text);
  return { refreshToken: tokens.refresh_token as string, accessToken: tokens.access_token as string };
}

test('shows of a hostile user agent the names of a browser and a system that it claims, and nothing else of it', async () => {
  const script = '"><img src=x onerror="self.taken=1"><script>self.taken=1</script>';
  for (const [agent, name] of [
    [script, 'A browser'],
    [`Mozilla/5.0 (X11; Linux x86_64; ${script}) Firefox/142.0${script}`, 'Firefox on Linux'],
  ] as const) {
    const { page } = await atSecurity(willow, agent);
    assert.ok(page.text.includes(name), name);
    assert.doesNotMatch(page.text, /onerror|self\.taken/);
    const [row] = await service.db.superuser<{ agents: string[] }>(
      'select array_agg(user_agent) as agents from member_sessions',
    );
    assert.ok(row?.agents.includes(agent), 'the session has the whole text');
  }
});

async function byConsent(who = willow) {
  const { verifier, challenge } = pkce();
  const browser = new TestBrowser(service.address);
  const page = await browser.get(
    authorizeUrl({
      ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri },
      ...{ scope: 'openid account:read offline_access', prompt: 'consent' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  const consent = await browser.post('/auth/v2/sign-in', { request: page.request, ...who });
  const allowed = await browser.post('/auth/v2/consent', {
    request: consent.request,
    days: '90',
    answer: 'allow',
    accounts: 'all',
  });
  const body = {
    ...{ ...client, grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier },
    code: allowed.location.searchParams.get('code'),
  };
  const { body: tokens, text } = await send(service.address, 'POST', paths.token, { body });
  assert.ok(tokens.refresh_token, text);
  return {
    browser,
    refreshToken: tokens.refresh_token as string,
    accessToken: tokens.access_token as string,
  };
}

async function isActive(accessToken: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await send(service.address, 'GET', paths.accounts, { headers })).status === 200;
}

async function renews(refreshToken: string): Promise<boolean> {
  const body = { ...client, grant_type: 'refresh_token', refresh_token: refreshToken };
  return (await send(service.address, 'POST', paths.token, { body })).status === 200;
}

/** The accesses that the page offers to end, `kind id`. */
const offered = (page: TestPage) =>
  [...page.text.matchAll(/name="access" value="([^"]+)"/g)].map(([, access]) => access ?? '');
const ofKind = (page: TestPage, kind: string) => offered(page).filter((access) => access.startsWith(kind));

const auditOf = async (action: string) =>
  (
    await service.db.superuser<{ subject: string }>(
      `select subject from audit_entries where action = $1 and reason = 'member' and outcome = 'succeeded'`,
      [action],
    )
  ).map(({ subject }) => subject);

/** No request of the member ended anything. */
async function endedCount(): Promise<number> {
  const counts = await Promise.all(['session.ended', 'token.revoked', 'consent.ended'].map(auditOf));
  return counts.flat().length;
}

describe('the list of accesses', () => {
  test('shows browsers, apps, consents and the last sign-ins, with the words of others escaped', async () => {
    await byPassword();
    await byConsent();
    const wrong = { ...client, ...willow, password: 'not-this-password', grant_type: 'password' };
    await send(service.address, 'POST', paths.token, { body: wrong });
    await atSecurity(willow, iPhone);
    const { browser, page } = await atSecurity();
    assert.match(
      page.text,
      /Firefox on Linux<\/strong><br><span class="note">this browser · 127\.0\.0\.1 · since /,
    );
    assert.match(page.text, /Safari on iPhone/);
    assert.match(page.text, /Wallet &lt;b&gt;App&lt;\/b&gt;/);
    assert.ok(!page.text.includes('<b>App'));
    assert.match(
      page.text,
      /may see your accounts, balances and transactions, know that it is you, go on while you are away · All your accounts, also later ones · until /,
    );
    assert.deepEqual(
      ['browser', 'app', 'consent', 'others'].map((kind) => ofKind(page, kind).length),
      [2, 2, 1, 1],
    );
    assert.match(page.text, /<strong>Signed in<\/strong>/);
    // The refusal is written behind its response.
    await until(
      async () => /<strong>Refused<\/strong>/.test((await browser.get(security)).text),
      'the refused sign-in',
    );
  });

  test('shows nothing of another member, and nothing that has ended', async () => {
    await byPassword(fern);
    await byConsent(fern);
    await service.db.superuser(
      `update consents set ended_at = now(), ended_by = 'MEMBER' where ended_at is null`,
    );
    const { page } = await atSecurity();
    assert.deepEqual(offered(page), []);
    assert.match(page.text, /No app stays signed in/);
  });
});

describe('ending an access', () => {
  test('a browser that is ended is asked to sign in again', async () => {
    const phone = await atSecurity(willow, iPhone);
    const { browser, page } = await atSecurity();
    const [access = ''] = ofKind(page, 'browser');
    const ended = await browser.post(endPath, { request: page.request, access });
    assert.equal(ended.status, 200);
    assert.match(ended.text, /role="status">It was ended/);
    assert.equal((await phone.browser.get(security)).title, 'Sign in');
    assert.equal((await browser.get(security)).title, 'Sign-in and security');
    assert.ok((await auditOf('session.ended')).includes(access.split(' ')[1] ?? ''));
  });

  test('the tokens of an app that is ended work no more, and other apps go on', async () => {
    const tokens = await byPassword();
    const { browser, page } = await atSecurity();
    const [access = ''] = ofKind(page, 'app');
    const later = await byPassword();
    assert.equal((await browser.post(endPath, { request: page.request, access })).status, 200);
    assert.deepEqual([await isActive(tokens.accessToken), await renews(tokens.refreshToken)], [false, false]);
    assert.deepEqual([await isActive(later.accessToken), await renews(later.refreshToken)], [true, true]);
    assert.ok((await auditOf('token.revoked')).includes(access.split(' ')[1] ?? ''));
  });

  test('a consent that is ended takes its tokens with it', async () => {
    const tokens = await byConsent();
    const { browser, page } = await atSecurity();
    const [access = ''] = ofKind(page, 'consent');
    assert.equal((await browser.post(endPath, { request: page.request, access })).status, 200);
    assert.deepEqual([await isActive(tokens.accessToken), await renews(tokens.refreshToken)], [false, false]);
    assert.ok((await auditOf('consent.ended')).includes(access.split(' ')[1] ?? ''));
  });

  test('a member signs out everywhere else at once, and consents stay', async () => {
    const [one, two] = [await byPassword(), await byConsent()];
    const phone = await atSecurity(willow, iPhone);
    const others = await byPassword(fern);
    const { browser, page } = await atSecurity();
    const ended = await browser.post(endPath, { request: page.request, access: 'others' });
    assert.deepEqual(
      ['browser', 'app', 'consent', 'others'].map((kind) => ofKind(ended, kind).length),
      [0, 0, 1, 0],
    );
    assert.equal((await phone.browser.get(security)).title, 'Sign in');
    assert.deepEqual([await renews(one.refreshToken), await renews(two.refreshToken)], [false, false]);
    assert.equal(await renews(others.refreshToken), true);
  });

  test('a hundred and one apps end with one click, those of a client that is switched off among them', async () => {
    const tokens = await byPassword();
    await service.db.superuser(
      `insert into refresh_families
       select (r).* from (
         select jsonb_populate_record(f, jsonb_build_object('family_id', gen_random_uuid())) as r
         from refresh_families f, generate_series(1, 100)
         where f.revoked_at is null) x`,
    );
    const { browser, page } = await atSecurity();
    const switched = (active: boolean) =>
      service.db.superuser('update clients set active = $1 where client_id = $2', [active, app.clientId]);
    await switched(false);
    const other = 'client_id=demo-budget';
    const here = await browser.get(security.replace(/client_id=.*/, other));
    assert.equal((await browser.post(endPath, { request: here.request, access: 'others' })).status, 200);
    await switched(true);
    const left = await service.db.superuser('select from refresh_families where revoked_at is null');
    assert.deepEqual([left.length, await renews(tokens.refreshToken)], [0, false]);
    const again = await browser.post(endPath, { request: page.request, access: 'others' });
    assert.match(again.text, /It had ended before/);
  });

  test('a second click says that it had ended before', async () => {
    await byPassword();
    const { browser, page } = await atSecurity();
    const [access = ''] = ofKind(page, 'app');
    const form = { request: page.request, access };
    await browser.post(endPath, form);
    const earlier = await endedCount();
    const again = await browser.post(endPath, form);
    assert.deepEqual([again.status, /It had ended before/.test(again.text)], [200, true]);
    assert.equal(await endedCount(), earlier);
  });

  test('eight clicks at once end an access once', async () => {
    await byPassword();
    const { browser, page } = await atSecurity();
    const [access = ''] = ofKind(page, 'app');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => browser.post(endPath, { request: page.request, access })),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(8).fill(200),
    );
    const subject = access.split(' ')[1];
    assert.equal((await auditOf('token.revoked')).filter((one) => one === subject).length, 1);
  });
});

describe('refused ends of an access', () => {
  test('an access at another institution is answered like one that had ended, and goes on (ASVS 8.4.1)', async () => {
    const harbor = { client_id: 'harbor-app', client_secret: 'harbor-app-secret' };
    const body = {
      ...harbor,
      grant_type: 'password',
      username: 'demo.member',
      password: 'harbor-member-password',
    };
    await service.db.superuser(
      `update clients set scopes = scopes || '{offline_access}', grants = grants || '{refresh_token}'
       where client_id = 'harbor-app' and not scopes @> '{offline_access}'`,
    );
    const scope = 'account:read offline_access';
    const theirs = await send(service.address, 'POST', paths.token, { body: { ...body, scope } });
    assert.ok(theirs.body.refresh_token, theirs.text);
    const [row] = await service.db.superuser<{ family_id: string }>(
      `select family_id from refresh_families where client_id = 'harbor-app' and revoked_at is null`,
    );
    const { browser, page } = await atSecurity();
    const access = `app ${row?.family_id}`;
    const answer = await browser.post(endPath, { request: page.request, access });
    assert.deepEqual([answer.status, /It had ended before/.test(answer.text)], [200, true]);
    await browser.post(endPath, { request: page.request, access: 'others' });
    const again = { ...harbor, grant_type: 'refresh_token', refresh_token: theirs.body.refresh_token };
    assert.equal((await send(service.address, 'POST', paths.token, { body: again })).status, 200);
  });

  test('an access of another member is answered like one that had ended, and goes on (ASVS 8.2.2)', async () => {
    const tokens = await byConsent(fern);
    const theirs = await atSecurity(fern);
    const { browser, page } = await atSecurity();
    const earlier = await endedCount();
    const missing = '00000000-0000-4000-8000-000000000000';
    const [family] = ofKind(theirs.page, 'app');
    const [consent] = ofKind(theirs.page, 'consent');
    const [session] = ofKind((await atSecurity(fern)).page, 'browser');
    for (const access of [
      family,
      consent,
      session,
      `app ${missing}`,
      `consent ${missing}`,
      `browser ${missing}`,
    ]) {
      const answer = await browser.post(endPath, { request: page.request, access: access ?? 'none' });
      assert.deepEqual([answer.status, /It had ended before/.test(answer.text)], [200, true], String(access));
    }
    assert.equal(await endedCount(), earlier);
    assert.deepEqual([await isActive(tokens.accessToken), await renews(tokens.refreshToken)], [true, true]);
    assert.equal((await theirs.browser.get(security)).title, 'Sign-in and security');
  });

  test('the session of the page and a text that names no access are refused', async () => {
    const { browser, page } = await atSecurity();
    const [row] = await service.db.superuser<{ session_id: string }>(
      'select session_id from member_sessions where ended_at is null',
    );
    const wrong = [
      '',
      'others ',
      'all',
      `browser ${row?.session_id}`,
      'app x',
      `passkey ${row?.session_id}`,
      "app ' or 1=1",
    ];
    for (const access of wrong) {
      assert.equal((await browser.post(endPath, { request: page.request, access })).status, 422, access);
    }
    assert.equal((await browser.get(security)).title, 'Sign-in and security');
  });

  test('a form of another site, of another browser or of an old page ends nothing (ASVS 3.5.1, 7.5.1)', async () => {
    const tokens = await byPassword();
    const { browser, page } = await atSecurity();
    const [access = ''] = ofKind(page, 'app');
    const form = { request: page.request, access };
    assert.equal((await browser.post(endPath, form, { 'sec-fetch-site': 'cross-site' })).status, 400);
    assert.equal((await browser.post(endPath, { ...form, request: 'made-up' })).status, 400);
    const other = await atSecurity();
    assert.equal((await other.browser.post(endPath, form)).title, 'Sign in');
    assert.equal((await new TestBrowser(service.address).post(endPath, form)).title, 'Sign in');
    now = new Date(now.getTime() + 11 * 60_000);
    assert.equal((await browser.post(endPath, form)).status, 400);
    const late = await browser.get(security);
    assert.equal(late.title, 'Sign in', 'the sign-in is not recent any more');
    assert.match(late.text, /asks for a recent sign-in before you see or change how you sign in/);
    assert.equal(await isActive(tokens.accessToken), true);
  });
});
