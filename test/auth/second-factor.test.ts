import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  activateMember,
  createClient,
  reissueActivation,
  removeSecondFactor,
  setPassword,
  setStanding,
} from '../../src/auth/index.ts';
import { codeOf, stepAt } from '../../src/auth/second-factor/totp.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { multiFactor } from '../../src/institutions/index.ts';
import { standardAlphabet } from '../../src/shared/text/base32.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Authenticator, optionsIn } from '../support/authenticator.ts';
import { paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';
import { until } from '../webhooks/receiver.ts';

/* The second step of a sign-in by password: codes of an authenticator app (RFC 6238), and recovery codes. */

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const member = { username: 'demo.member', password: 'demo-member-password' };
/** A new password of the member. */
const anew = { username: 'demo.member', password: 'a feather falls on ink' };
const fern = { username: 'fern.joint', password: 'fern-green-lantern-2' };
const app = { clientId: 'second-app', secret: 'second-app-secret-that-is-long' };
const elsewhere = { clientId: 'elsewhere-app', secret: 'elsewhere-app-secret-that-is-long' };
const client = { client_id: app.clientId, client_secret: app.secret };
const environment = { PUBLIC_URL: issuer, FAILED_LOGIN_PAUSE_MILLIS: '0' };
let now = new Date('2026-03-02T12:00:00Z');
let service: TestService;
let second: TestService;
let institutionId: InstitutionId;
let passwordHash: string | undefined;

before(async () => {
  service = await startTestService({ clock: () => now, environment });
  second = await startTestService({ clock: () => now, environment, beside: service });
  for (const [code, one] of [
    ['harbor', elsewhere],
    ['lakeside', app],
  ] as const) {
    const [row] = await service.db.superuser<{ id: InstitutionId }>(
      `select institution_id as id from institutions where code = '${code}'`,
    );
    institutionId = row?.id as InstitutionId;
    const facts = { ...one, institutionId, name: 'App', redirectUris: [redirectUri], logoutUris: [] };
    const grants = ['authorization_code', 'refresh_token', 'password'];
    const scopes = ['openid', 'account:read', 'offline_access'] as const;
    await createClient(
      service.service.context.auth,
      { ...facts, grants, scopes, isFirstParty: true },
      ownOrigin(),
    );
  }
  const [row] = await service.db.superuser<{ hash: string }>(
    'select password_hash as hash from users where institution_id = $1 and username = $2',
    [institutionId, member.username],
  );
  passwordHash = row?.hash;
});
after(async () => {
  await second.close();
  await service.close();
});

beforeEach(async () => {
  later(3_600_000);
  await service.db.superuser('delete from recovery_codes');
  await service.db.superuser('delete from authenticators');
  await service.db.superuser('update users set failed_logins = 0, locked_until = null');
  await service.db.superuser(
    'update users set password_hash = $1 where institution_id = $2 and username = $3',
    [passwordHash, institutionId, member.username],
  );
  // Equal refusals of a minute are one entry.
  await service.service.context.auth.audit.settle();
});

function later(millis: number): void {
  now = new Date(now.getTime() + millis);
}

const security = `/auth/v2/security?client_id=${app.clientId}`;
const codePath = '/auth/v2/sign-in/code';
const beginPath = '/auth/v2/security/authenticator';
const confirmPath = `${beginPath}/confirm`;
const removePath = `${beginPath}/remove`;
const renewPath = '/auth/v2/security/recovery-codes';

function secretIn(page: TestPage): Buffer {
  const text = /secret=([A-Z2-7]+)/.exec(page.text)?.[1] ?? assert.fail(page.text);
  const bits = [...text]
    .map((letter) => standardAlphabet.indexOf(letter).toString(2).padStart(5, '0'))
    .join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

const codesIn = (page: TestPage) =>
  [...page.text.matchAll(/<code>([0-9A-Z-]{27})<\/code>/g)].map(([, code = '']) => code);
const codeAt = (secret: Buffer, skew = 0) => codeOf(secret, stepAt(now) + skew);

/** A browser on the page of security, signed in by password a moment ago. */
async function atSecurity(who = member, browser = new TestBrowser(service.address)) {
  const first = await browser.get(security);
  await browser.post('/auth/v2/sign-in', { request: first.request, ...who });
  const page = await browser.get(security);
  assert.equal(page.title, 'Sign-in and security', page.text);
  return { browser, page };
}

/** A member whose sign-in by password needs a code from the next step on. */
async function setUp(who = member) {
  const { browser, page } = await atSecurity(who);
  const shown = await browser.post(beginPath, { request: page.request });
  assert.equal(shown.title, 'Set up an authenticator app', shown.text);
  const secret = secretIn(shown);
  const form = { request: shown.request, code: codeAt(secret), name: ' Blue phone ' };
  const codes = await browser.post(confirmPath, form);
  assert.equal(codes.title, 'Your recovery codes', codes.text);
  later(30_000);
  return { browser, secret, codes: codesIn(codes), form };
}

interface Opened {
  readonly browser: TestBrowser;
  readonly page: TestPage;
  readonly verifier: string;
}

/** A browser on the page that asks for the code. */
async function atCode(
  who = member,
  { clientId = app.clientId, ...more }: Record<string, string> = {},
): Promise<Opened> {
  const browser = new TestBrowser(service.address);
  const { verifier, challenge } = pkce();
  const first = await browser.get(
    authorizeUrl({
      ...{ client_id: clientId, response_type: 'code', redirect_uri: redirectUri, prompt: 'login' },
      ...{ scope: 'openid account:read offline_access', ...more },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  const page = await browser.post('/auth/v2/sign-in', { request: first.request, ...who });
  return { browser, page, verifier };
}

const enter = ({ browser, page }: Opened, code: string) =>
  browser.post(codePath, { request: page.request, code });
const recover = ({ browser, page }: Opened, recovery: string) =>
  browser.post(codePath, { request: page.request, recovery });

async function tokensOf({ verifier }: Opened, page: TestPage) {
  const code = page.location.searchParams.get('code');
  const body = { ...client, grant_type: 'authorization_code', code, code_verifier: verifier };
  const answer = await send(service.address, 'POST', paths.token, {
    body: { ...body, redirect_uri: redirectUri },
  });
  assert.equal(answer.status, 200, answer.text);
  return answer.body;
}

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());

interface Entry {
  readonly action: string;
  readonly outcome: string;
  readonly reason: string | null;
}
const audit = () =>
  service.db.superuser<Entry>(
    'select action, outcome, reason from audit_entries where recorded_at >= $1 order by audit_key',
    [new Date(now.getTime() - 1_800_000)],
  );
/** Refusals are written behind the response. */
const audited = (action: string, reason: string | null) =>
  until(
    async () => (await audit()).some((one) => one.action === action && one.reason === reason),
    `${action} ${reason}`,
  );
const eventsOf = (kind: string) =>
  service.db.superuser('select from outbox where kind = $1 and recorded_at >= $2', [
    kind,
    new Date(now.getTime() - 1_800_000),
  ]);
const failures = async (username = member.username) => {
  const [row] = await service.db.superuser<{ failed: number; locked: boolean }>(
    'select failed_logins as failed, locked_until is not null as locked from users where institution_id = $1 and username = $2',
    [institutionId, username],
  );
  return row;
};

describe('an authenticator app', () => {
  test('a member sets up an app with its first code, and then signs in with the password and a code', async () => {
    const { browser, codes } = await setUp();
    assert.equal(new Set(codes).size, 10);
    const page = await browser.get(security);
    assert.match(page.text, /<strong[^>]*>Blue phone<\/strong>/);
    assert.match(page.text, /10 of 10 left/);
    assert.equal((await eventsOf('member.second_factor_added')).length, 1);
    await audited('authenticator.added', null);
    const opened = await atCode();
    assert.equal(opened.page.status, 200);
    assert.equal(opened.page.title, 'Enter your code');
    assert.match(opened.page.text, /autocomplete="one-time-code"/);
    assert.equal(opened.page.headers.getSetCookie().filter((line) => line.includes('session')).length, 0);
  });

  test('returns the class of two factors in each token and in introspection, and never phr', async () => {
    const { secret } = await setUp();
    const opened = await atCode();
    const done = await enter(opened, codeAt(secret));
    assert.equal(done.status, 303, done.text);
    const tokens = await tokensOf(opened, done);
    const { acr, amr, auth_time: authTime } = claimsOf(tokens.id_token);
    assert.deepEqual([acr, amr, authTime], [multiFactor, ['pwd', 'otp', 'mfa'], now.getTime() / 1000]);
    assert.partialDeepStrictEqual(claimsOf(tokens.access_token), { acr: multiFactor, amr });
    const body = { ...client, grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const refreshed = (await send(service.address, 'POST', paths.token, { body })).body;
    assert.partialDeepStrictEqual(claimsOf(refreshed.access_token), { acr: multiFactor, amr });
    const token = refreshed.access_token;
    const known = await send(service.address, 'POST', paths.introspect, { body: { ...client, token } });
    assert.partialDeepStrictEqual(known.body, { active: true, acr: multiFactor, amr });
    const again = (acrValues: string) =>
      opened.browser.get(
        authorizeUrl({
          ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope: 'openid' },
          ...{ acr_values: acrValues, code_challenge: pkce().challenge, code_challenge_method: 'S256' },
        }),
      );
    assert.equal((await again(multiFactor)).status, 303, 'the session has two factors');
    assert.equal((await again('phr')).title, 'Sign in', 'a code is no passkey');
    await audited('login', 'password_and_code');
    await audited('user.password_proven', null);
  });

  test('a session by password alone does not satisfy acr_values for two factors', async () => {
    const { browser } = await atSecurity();
    const page = await browser.get(
      authorizeUrl({
        ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope: 'openid' },
        ...{ acr_values: multiFactor, code_challenge: pkce().challenge, code_challenge_method: 'S256' },
      }),
    );
    assert.equal(page.title, 'Sign in');
  });

  test('a passkey signs in without a code', async () => {
    const { browser } = await setUp();
    const page = await browser.get(security);
    const key = new Authenticator(issuer);
    const form = { request: page.request, credential: key.create(optionsIn(page.text)), name: 'Key' };
    assert.match((await browser.post('/auth/v2/security/passkeys', form)).text, /The passkey was added/);
    const other = new TestBrowser(service.address);
    const first = await other.get(security);
    const credential = key.get(optionsIn(first.text));
    const done = await other.post('/auth/v2/sign-in/passkey', { request: first.request, credential });
    assert.equal(done.status, 303);
    await service.db.superuser('delete from passkeys');
  });

  test('a wrong code, an empty name and a name of control characters set up nothing', async () => {
    const { browser, page } = await atSecurity();
    let shown = await browser.post(beginPath, { request: page.request });
    const secret = secretIn(shown);
    for (const wrong of [
      { code: '', name: 'Phone' },
      { code: codeAt(secret, 5), name: 'Phone' },
      { code: codeAt(secret), name: ' ' },
      { code: codeAt(secret), name: 'a\u0007b' },
    ]) {
      shown = await browser.post(confirmPath, { request: shown.request, ...wrong });
      assert.equal(shown.status, 422);
      assert.deepEqual(secretIn(shown), secret, 'the app keeps its secret');
    }
    assert.equal((await service.db.superuser('select from authenticators')).length, 0);
    const done = await browser.post(confirmPath, {
      request: shown.request,
      code: codeAt(secret),
      name: 'Phone',
    });
    assert.equal(done.title, 'Your recovery codes');
  });

  test('a member has one app, also of two pages that are sent at once', async () => {
    const { browser, page } = await atSecurity();
    const pages = await Promise.all([1, 2].map(() => browser.post(beginPath, { request: page.request })));
    const sent = await Promise.all(
      pages.map((shown) =>
        browser.post(confirmPath, { request: shown.request, code: codeAt(secretIn(shown)), name: 'Phone' }),
      ),
    );
    assert.deepEqual(sent.map(({ title }) => title).toSorted(), [
      'Sign-in and security',
      'Your recovery codes',
    ]);
    const open = await browser.get(security);
    const third = await browser.post(beginPath, { request: open.request });
    assert.equal(third.status, 422);
  });

  test('an old page sets up no second app after the first was removed', async () => {
    const { browser, form } = await setUp();
    const page = await browser.get(security);
    assert.match((await browser.post(removePath, { request: page.request })).text, /was removed/);
    later(-30_000);
    const again = await browser.post(confirmPath, form);
    assert.equal(again.status, 422);
    assert.equal((await service.db.superuser('select from authenticators')).length, 0);
  });

  test('a removed app asks for no code any more, ends its recovery codes, and signs out other browsers', async () => {
    const { browser, secret } = await setUp();
    const opened = await atCode();
    assert.equal((await enter(opened, codeAt(secret))).status, 303);
    const half = await atCode();
    const page = await browser.get(security);
    const removed = await browser.post(removePath, { request: page.request });
    assert.match(removed.text, /The authenticator app was removed/);
    assert.equal((await opened.browser.get(security)).title, 'Sign in');
    later(30_000);
    const late = await enter(half, codeAt(secret));
    assert.equal(late.title, 'Sign in', 'the member signs in anew');
    assert.equal((await atCode()).page.status, 303);
    assert.equal((await eventsOf('member.second_factor_removed')).length, 1);
    assert.equal((await service.db.superuser('select from recovery_codes')).length, 0);
    await audited('authenticator.removed', null);
    await audited('session.ended', 'authenticator_removed');
    const again = await browser.post(removePath, { request: removed.request });
    assert.equal(again.status, 422);
  });

  test('a change needs a sign-in of the last ten minutes, and the page of the session in this browser', async () => {
    const { browser } = await setUp();
    const page = await browser.get(security);
    const stranger = await atSecurity(fern);
    for (const path of [removePath, renewPath, beginPath]) {
      const foreign = await browser.post(path, { request: page.request }, { 'sec-fetch-site': 'cross-site' });
      assert.equal(foreign.status, 400);
      const other = await stranger.browser.post(path, { request: page.request });
      assert.equal(other.title, 'Sign in', path);
      assert.equal((await browser.post(path, { request: 'x' })).status, 400);
    }
    // The page of sign-in is none of these, nor is the page that asks for a code.
    const { page: half } = await atCode();
    assert.equal((await browser.post(removePath, { request: half.request })).status, 400);
    later(10 * 60_000);
    assert.ok([200, 400].includes((await browser.post(removePath, { request: page.request })).status));
    assert.equal((await service.db.superuser('select from authenticators')).length, 1);
  });

  test('the page shows the secret as a picture, as a link and as text, and loads nothing from elsewhere', async () => {
    const { browser, page } = await atSecurity();
    const shown = await browser.post(beginPath, { request: page.request });
    assert.match(shown.text, /<svg class="qr"/);
    assert.match(
      shown.text,
      /<a href="otpauth:\/\/totp\/Lakeside%20[^"]*demo\.member\?secret=[A-Z2-7]{32}&amp;issuer=/,
    );
    assert.match(shown.text, /<code>([A-Z2-7]{4} ){7}[A-Z2-7]{4}<\/code>/);
    assert.doesNotMatch(shown.headers.get('content-security-policy') ?? '', /unsafe|data:|https:/);
    assert.match(shown.headers.get('cache-control') ?? '', /no-store/);
  });
});

describe('the second step refuses', () => {
  test('a code counts once, also on another page and in another process at the same moment', async () => {
    const { secret } = await setUp();
    const code = codeAt(secret);
    const opened = await Promise.all([atCode(), atCode(), atCode()]);
    const other = new TestBrowser(second.address);
    const [first] = opened;
    assert.ok(first);
    for (const [name, value] of first.browser.cookies) other.cookies.set(name, value);
    const sent = await Promise.all([
      ...opened.map((one) => enter(one, code)),
      other.post(codePath, { request: first.page.request, code }),
    ]);
    assert.equal(sent.filter(({ status }) => status === 303).length, 1);
    assert.equal(sent.filter(({ status }) => status === 401).length, 3);
    assert.equal((await enter(await atCode(), code)).status, 401);
    assert.equal((await enter(await atCode(), codeAt(secret, -1))).status, 401, 'nor does an earlier one');
    await service.db.superuser('update users set failed_logins = 0, locked_until = null');
    assert.equal((await enter(await atCode(), codeAt(secret, 1))).status, 303);
  });

  test('a code of two steps before or after is refused, and the code of a step beside is accepted', async () => {
    const { secret } = await setUp();
    later(300_000);
    for (const [skew, status] of [
      [-2, 401],
      [2, 401],
      [-1, 303],
      [0, 303],
      [1, 303],
    ] as const)
      assert.equal((await enter(await atCode(), codeAt(secret, skew))).status, status, String(skew));
  });

  test('wrong codes count as wrong passwords: the right password resets nothing, and the fifth locks both steps alike', async () => {
    const { secret } = await setUp();
    for (let count = 1; count <= 4; count += 1) {
      const page = await enter(await atCode(), '000000');
      assert.equal(page.status, 401);
      assert.deepEqual(await failures(), { failed: count, locked: false });
    }
    const byGrant = { ...client, grant_type: 'password', ...member };
    await send(service.address, 'POST', paths.token, { body: byGrant });
    const opened = await atCode();
    assert.deepEqual(
      await failures(),
      { failed: 4, locked: false },
      'neither page nor grant resets the count',
    );
    const wrong = await enter(opened, '000000');
    assert.deepEqual(await failures(), { failed: 5, locked: true });
    const locked = await enter(opened, codeAt(secret));
    assert.equal(locked.status, 401, 'the right code is refused during the lock');
    const told = (page: TestPage) => page.text.replaceAll(/value="[^"]*"/g, '');
    assert.equal(told(locked), told(wrong));
    const { page: first } = await atCode();
    assert.equal(first.title, 'Sign in', 'the right password looks like a wrong one');
    await audited('login', 'wrong_code');
    await audited('login', 'locked');
    await audited('user.locked', 'wrong_passwords');
    later(16 * 60_000);
    assert.equal((await enter(await atCode(), codeAt(secret))).status, 303);
    assert.deepEqual(await failures(), { failed: 0, locked: false });
  });

  test('nothing tells of a second step before the password is right', async () => {
    const told = (page: TestPage) => page.text.replaceAll(/(value|data-options)="[^"]*"/g, '');
    await setUp();
    const wrong = 'not-the-password-at-all';
    const pages = [
      await atCode({ ...member, password: wrong }),
      await atCode({ ...fern, password: wrong }),
      await atCode({ username: 'nobody.at.all', password: wrong }),
    ];
    assert.equal(new Set(pages.map(({ page }) => `${page.status} ${told(page)}`)).size, 1);
    const answers = await Promise.all(
      [member.username, fern.username].map((username) => {
        const body = { ...client, grant_type: 'password', username, password: wrong };
        return send(service.address, 'POST', paths.token, { body });
      }),
    );
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  });

  test('the code page belongs to its browser, its institution and five minutes', async () => {
    const { secret } = await setUp();
    const opened = await atCode();
    const code = codeAt(secret);
    const request = { request: opened.page.request, code };
    assert.equal((await new TestBrowser(service.address).post(codePath, request)).status, 400);
    assert.equal(
      (await opened.browser.post(codePath, request, { 'sec-fetch-site': 'same-site' })).status,
      400,
    );
    const other = await atCode(fern);
    assert.equal(other.page.status, 303, 'a member without an app has no second page');
    // The page of the first step is no page of the second, and the other way round.
    const first = await opened.browser.get(security);
    assert.equal((await opened.browser.post(codePath, { request: first.request, code })).status, 400);
    const asFirst = { request: opened.page.request, ...member };
    assert.equal((await opened.browser.post('/auth/v2/sign-in', asFirst)).status, 400);
    assert.equal(
      (await opened.browser.post('/auth/v2/consent', { request: opened.page.request })).status,
      400,
    );
    const strange = await atCode(member, { clientId: elsewhere.clientId });
    assert.equal(strange.page.title, 'Sign in', 'the password is not right at the other institution');
    later(5 * 60_000);
    assert.equal((await opened.browser.post(codePath, { ...request, code: codeAt(secret) })).status, 400);
  });

  test('a sign-in starts anew if the password changed, and is refused if the member was locked, between its steps', async () => {
    const { secret } = await setUp();
    const { auth } = service.service.context;
    const act = { name: member.username, origin: ownOrigin() };
    const opened = await atCode();
    await setPassword(auth, institutionId, { ...act, password: anew.password });
    assert.equal((await enter(opened, codeAt(secret))).title, 'Sign in');
    const locked = await atCode(anew);
    await setStanding(auth, institutionId, { ...act, lockedByOperator: true });
    assert.notEqual((await enter(locked, codeAt(secret))).status, 303);
    await setStanding(auth, institutionId, { ...act, lockedByOperator: false });
    assert.equal((await enter(await atCode(anew), codeAt(secret))).status, 303);
  });

  test('an activation code and a new password leave the second step as it is', async () => {
    const { secret } = await setUp();
    const { auth } = service.service.context;
    const origin = ownOrigin();
    const issued = await reissueActivation(auth, institutionId, { name: member.username, origin });
    const browser = new TestBrowser(service.address);
    const first = await browser.get(security);
    const form = { request: first.request, code: issued?.code ?? '', ...anew };
    const page = await browser.post('/auth/v2/activate', form);
    assert.equal(page.title, 'Enter your code', page.text);
    const done = await browser.post(codePath, { request: page.request, code: codeAt(secret) });
    assert.equal(done.status, 303);
    const next = await reissueActivation(auth, institutionId, { name: member.username, origin });
    const actor = { kind: 'client', institutionId, clientId: app.clientId } as const;
    const activation = { ...anew, activationCode: next?.code ?? '', origin };
    await activateMember({ ...auth, depositOpening: async () => {} }, actor, activation);
    assert.equal((await atCode(anew)).page.title, 'Enter your code');
  });

  test('the password grant is refused with its reason for a member with an app, and works for any other', async () => {
    await setUp();
    const grant = (who: typeof member) =>
      send(service.address, 'POST', paths.token, { body: { ...client, grant_type: 'password', ...who } });
    const refused = await grant(member);
    assert.equal(refused.status, 400);
    assert.deepEqual(refused.body, {
      error: 'invalid_grant',
      error_description: 'This member signs in with a second step. Use the authorization code grant.',
    });
    await audited('login', 'second_factor_needed');
    assert.equal((await grant(fern)).status, 200);
  });
});

describe('recovery codes', () => {
  test('each recovery code signs in once, in any spelling, with an event and an audit entry', async () => {
    const { browser, codes } = await setUp();
    const [first = '', second_ = ''] = codes;
    const opened = await atCode();
    const done = await recover(opened, ` ${first.toLowerCase().replaceAll('-', ' ')} `);
    assert.equal(done.status, 303, done.text);
    const { acr, amr } = claimsOf((await tokensOf(opened, done)).id_token);
    assert.deepEqual([acr, amr], [multiFactor, ['pwd', 'mfa']]);
    assert.equal((await recover(await atCode(), first)).status, 401);
    assert.match((await browser.get(security)).text, /9 of 10 left/);
    assert.equal((await eventsOf('member.recovery_code_used')).length, 1);
    await audited('recovery_code.used', null);
    await until(async () => {
      const alerts = await service.db.superuser<{ type: string }>(
        `select distinct alert_type as type from alerts where alert_type in ('SECOND_FACTOR_CHANGED', 'RECOVERY_CODE_USED')`,
      );
      return alerts.length === 2;
    }, 'the alerts');
    await audited('login', 'password_and_recovery_code');
    const both = await Promise.all([atCode(), atCode()]);
    const sent = await Promise.all(both.map((one) => recover(one, second_)));
    assert.deepEqual(sent.map(({ status }) => status).toSorted(), [303, 401]);
  });

  test('new recovery codes void those of before, and a second click makes no others', async () => {
    const { browser, codes } = await setUp();
    const page = await browser.get(security);
    const sent = await Promise.all([1, 2].map(() => browser.post(renewPath, { request: page.request })));
    const shown = sent.find(({ title }) => title === 'Your recovery codes');
    assert.equal(sent.filter(({ status }) => status === 422).length, 1);
    assert.ok(shown);
    const fresh = codesIn(shown);
    assert.equal(new Set([...fresh, ...codes]).size, 20);
    assert.equal((await recover(await atCode(), codes[0] ?? '')).status, 401);
    assert.equal((await recover(await atCode(), fresh[0] ?? '')).status, 303);
    await audited('recovery_codes.created', null);
  });

  test('no recovery code of another member, and no text of another form, signs in', async () => {
    const { codes } = await setUp();
    const strangers = await setUp(fern);
    for (const text of [strangers.codes[0] ?? '', '', '0', `${codes[0]}0`, (codes[0] ?? '').slice(1)])
      assert.equal((await recover(await atCode(), text)).status, 401, text);
  });

  test('the database keeps no recovery code and no secret in the clear', async () => {
    const { secret, codes } = await setUp();
    const rows = await service.db.superuser<{ text: string }>(
      `select r::text as text from recovery_codes r union all select a::text from authenticators a`,
    );
    assert.equal(rows.length, 11);
    const stored = rows.map(({ text }) => text).join('\n');
    assert.ok(!stored.includes(secret.toString('hex')));
    for (const code of codes) assert.ok(!stored.includes(code.replaceAll('-', '')));
  });
});

describe('the way out', () => {
  test('an operator removes the second step, once, with the audit entry and the event', async () => {
    const { secret } = await setUp();
    const half = await atCode();
    const { auth } = service.service.context;
    const act = { name: member.username, statedReason: 'Lost phone', origin: ownOrigin() };
    assert.equal(await removeSecondFactor(auth, institutionId, act), 'changed');
    assert.equal(await removeSecondFactor(auth, institutionId, act), 'unchanged');
    assert.equal(await removeSecondFactor(auth, institutionId, { ...act, name: 'nobody' }), 'no_such_user');
    assert.equal((await enter(half, codeAt(secret))).title, 'Sign in');
    assert.equal((await atCode()).page.status, 303);
    assert.equal((await audit()).filter(({ action }) => action === 'user.second_factor_removed').length, 1);
    assert.equal((await eventsOf('member.second_factor_removed')).length, 1);
  });
});

describe('the database refuses', () => {
  test('the database refuses a code that does not follow the last one, an eleventh recovery code, and codes without an app', async () => {
    await setUp();
    const owner = `institution_id = ${institutionId}`;
    const refused = (statement: string, name: RegExp) =>
      assert.rejects(
        service.db.superuser(statement),
        (error: Error & { code?: string; constraint?: string }) =>
          name.test(`${error.code} ${error.constraint}`),
      );
    const earlier = service.db.superuser('update authenticators set last_step = last_step - 1');
    await assert.rejects(earlier, { code: 'SD215' });
    const same = service.db.superuser('update authenticators set last_used_at = created_at');
    await assert.rejects(same, { code: 'SD215' });
    await refused(
      `insert into recovery_codes select institution_id, user_key, 11, sha256('x'), created_at from authenticators where ${owner}`,
      /recovery_codes_place/,
    );
    await refused('delete from authenticators', /23503/);
    await refused(
      `insert into authenticators select institution_id, user_key, gen_random_uuid(), name, sealed_secret, 1, created_at
       from authenticators where ${owner}`,
      /authenticators_pkey/,
    );
  });
});
