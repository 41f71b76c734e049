import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { changeClient, createClient, runAuthMaintenance, setStanding } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Authenticator, type Lie, optionsIn } from '../support/authenticator.ts';
import { paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const member = { username: 'demo.member', password: 'demo-member-password' };
const app = { clientId: 'passkey-app', secret: 'passkey-app-secret-that-is-long' };
const elsewhere = { clientId: 'elsewhere-app', secret: 'elsewhere-app-secret-that-is-long' };
let now = new Date('2026-03-02T12:00:00Z');
let service: TestService;
let institutionId: InstitutionId;

before(async () => {
  service = await startTestService({ clock: () => now, environment: { PUBLIC_URL: issuer } });
  const both = { grants: ['authorization_code'], redirectUris: [redirectUri], logoutUris: [], name: 'App' };
  const { auth } = service.service.context;
  const scopes = ['openid', 'account:read'] as const;
  const idOf = async (code: string) => {
    const rows = await service.db.superuser<{ institution_id: InstitutionId }>(
      `select institution_id from institutions where code = '${code}'`,
    );
    return rows[0]?.institution_id as InstitutionId;
  };
  institutionId = await idOf('lakeside');
  const of = async (code: string, client: typeof app) =>
    createClient(
      auth,
      { ...both, ...client, institutionId: await idOf(code), scopes, isFirstParty: true },
      ownOrigin(),
    );
  await of('lakeside', app);
  await of('harbor', elsewhere);
});
after(() => service.close());

const later = (millis: number) => {
  now = new Date(now.getTime() + millis);
};
const security = (clientId = app.clientId) => `/auth/v2/security?client_id=${clientId}`;

/** A browser on the page of security, signed in by password a moment ago. */
async function atSecurity(who = member, browser = new TestBrowser(service.address)) {
  const first = await browser.get(security());
  assert.equal(first.title, 'Sign in');
  const sent = await browser.post('/auth/v2/sign-in', { request: first.request, ...who });
  assert.equal(sent.location.href, `${issuer}${security()}`);
  return { browser, page: await browser.get(security()) };
}

async function enroll(name = 'Phone', lie: Lie = {}, key = new Authenticator(issuer)) {
  const { browser, page } = await atSecurity();
  const credential = key.create(optionsIn(page.text), lie);
  const added = await browser.post('/auth/v2/security/passkeys', { request: page.request, credential, name });
  return { browser, page, added, key, credential };
}

interface Opened {
  readonly browser: TestBrowser;
  readonly page: TestPage;
  readonly verifier: string;
}

async function open(clientId = app.clientId, browser = new TestBrowser(service.address)): Promise<Opened> {
  const { verifier, challenge } = pkce();
  const page = await browser.get(
    authorizeUrl({
      ...{
        client_id: clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid account:read',
      },
      ...{ prompt: 'login', code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  return { browser, page, verifier };
}

function enter({ browser, page }: Opened, credential: string): Promise<TestPage> {
  return browser.post('/auth/v2/sign-in/passkey', { request: page.request, credential });
}

async function signIn(key: Authenticator, lie: Lie = {}): Promise<TestPage> {
  const opened = await open();
  return enter(opened, key.get(optionsIn(opened.page.text), lie));
}

const clear = () => service.db.superuser('delete from passkeys');
const auditOf = (action: string) =>
  service.db.superuser<{ outcome: string; reason: string | null }>(
    `select outcome, reason from audit_entries where action = '${action}' order by audit_key desc`,
  );
/** Refusals are written behind the response. */
async function refusedFor(reason: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if ((await auditOf('login')).some((entry) => entry.reason === reason)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`no audit entry with ${reason}`);
}

describe('a passkey', () => {
  test('a passkey is added on the page of security and signs the member in without a password', async () => {
    await clear();
    const { added, key } = await enroll();
    assert.equal(added.status, 200, added.text);
    assert.match(added.text, /The passkey was added/);
    assert.match(added.text, /<strong[^>]*>Phone<\/strong>/);
    const opened = await open();
    const page = await enter(opened, key.get(optionsIn(opened.page.text)));
    assert.equal(page.status, 303, page.text);
    const { body } = await send(service.address, 'POST', paths.token, {
      body: {
        ...{ grant_type: 'authorization_code', client_id: app.clientId, client_secret: app.secret },
        ...{ code: page.location.searchParams.get('code'), code_verifier: opened.verifier },
        redirect_uri: redirectUri,
      },
    });
    const claims = JSON.parse(Buffer.from(body.id_token.split('.')[1], 'base64url').toString());
    assert.equal(claims.sub, 'u-demo-member');
    assert.equal(claims.acr, 'phr');
    assert.deepEqual(claims.amr, ['hwk', 'user', 'mfa']);
    const granted = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString());
    assert.deepEqual([granted.acr, granted.amr, granted.auth_time], ['phr', claims.amr, claims.auth_time]);
    const known = await send(service.address, 'POST', paths.introspect, {
      body: { token: body.access_token, client_id: app.clientId, client_secret: app.secret },
    });
    assert.partialDeepStrictEqual(known.body, {
      ...{ active: true, acr: 'phr', amr: claims.amr, auth_time: claims.auth_time },
    });
    const { challenge } = pkce();
    const again = await opened.browser.get(
      authorizeUrl({
        ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope: 'openid' },
        ...{ acr_values: 'phr', code_challenge: challenge, code_challenge_method: 'S256' },
      }),
    );
    assert.equal(again.status, 303, 'a passkey session reaches the class');
    const logins = await auditOf('login');
    assert.equal(logins.find(({ reason }) => reason === 'passkey')?.outcome, 'succeeded');
    assert.equal((await auditOf('passkey.added')).length, 1);
  });

  test('a passkey that is copied among devices is reported as a key in software', async () => {
    await clear();
    const { key, added } = await enroll('Cloud', { flags: 0x0d });
    assert.match(added.text, /On your synced devices/);
    assert.equal((await signIn(key, { flags: 0x0d })).status, 303);
    const rows = await service.db.superuser<{ methods: string[] }>(
      'select methods from member_sessions order by created_at desc, session_id limit 50',
    );
    assert.ok(rows.some(({ methods }) => methods.join(' ') === 'swk user mfa'));
  });

  test('a passkey signs in although wrong passwords lock the password, and not while an operator locks the member', async () => {
    await clear();
    const { key } = await enroll();
    await service.db.superuser(
      `update users set locked_until = '2026-04-01T00:00:00Z' where user_id = 'u-demo-member'`,
    );
    assert.equal((await signIn(key)).status, 303);
    await service.db.superuser(`update users set locked_until = null where user_id = 'u-demo-member'`);
    const { auth } = service.service.context;
    const standing = { name: member.username, origin: ownOrigin() };
    await setStanding(auth, institutionId, { ...standing, lockedByOperator: true });
    assert.equal((await signIn(key)).status, 401);
    await setStanding(auth, institutionId, { ...standing, lockedByOperator: false });
    assert.equal((await signIn(key)).status, 303);
  });

  test('a removed passkey signs in no more, and the other browsers of the member are signed out', async () => {
    await clear();
    const { key, browser } = await enroll('Lost phone');
    const lost = await open();
    assert.equal((await enter(lost, key.get(optionsIn(lost.page.text)))).status, 303);
    assert.notEqual((await lost.browser.get(security())).title, 'Sign in');
    const page = await browser.get(security());
    const passkey = /name="passkey" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    const removed = await browser.post('/auth/v2/security/passkeys/remove', {
      request: page.request,
      passkey,
    });
    assert.match(removed.text, /The passkey was removed/);
    assert.equal((await signIn(key)).status, 401);
    assert.equal((await lost.browser.get(security())).title, 'Sign in');
    assert.notEqual((await browser.get(security())).title, 'Sign in');
    assert.ok((await auditOf('session.ended')).some(({ reason }) => reason === 'passkey_removed'));
  });

  test('a member has ten passkeys at most', async () => {
    await clear();
    const { browser } = await atSecurity();
    for (let count = 0; count < 10; count += 1) {
      const page = await browser.get(security());
      const credential = new Authenticator(issuer).create(optionsIn(page.text));
      const form = { request: page.request, credential, name: `Key ${count}` };
      assert.equal((await browser.post('/auth/v2/security/passkeys', form)).status, 200);
    }
    const page = await browser.get(security());
    assert.match(page.text, /You have ten passkeys/);
    const key = new Authenticator(issuer);
    const challenge = Buffer.alloc(32).toString('base64url');
    const credential = key.create({ challenge, rp: { id: 'localhost', name: '' } });
    const form = { request: page.request, credential, name: 'Eleventh' };
    assert.equal((await browser.post('/auth/v2/security/passkeys', form)).status, 422);
    await clear();
  });
});

describe('a sign-in by passkey is refused', () => {
  const lies: [string, Lie][] = [
    ['of another origin (WebAuthn 7.2 step 13)', { origin: 'https://evil.example' }],
    ['of another host (WebAuthn 7.2 step 15)', { rpId: 'evil.example' }],
    ['for another challenge (WebAuthn 7.2 step 12)', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['made for an enrollment (WebAuthn 7.2 step 11)', { type: 'webauthn.create' }],
    ['without the member present (WebAuthn 7.2 step 16)', { flags: 0x04 }],
    ['without verification of the member (WebAuthn 7.2 step 17)', { flags: 0x01 }],
    ['for another owner (WebAuthn 7.2 step 6)', { userHandle: Buffer.alloc(32).toString('base64url') }],
    ['with a counter that went back (WebAuthn 7.2 step 22)', { count: 1 }],
  ];
  for (const [name, lie] of lies) {
    test(`refuses a sign-in by a passkey ${name}`, async () => {
      await clear();
      const { key } = await enroll();
      assert.equal((await signIn(key)).status, 303);
      const page = await signIn(key, lie);
      assert.equal(page.status, 401);
      assert.equal(page.headers.getSetCookie().length, 0);
      await refusedFor('wrong_passkey');
      assert.equal((await signIn(key, { count: 100 })).status, 303);
    });
  }

  test('refuses a passkey with a changed signature, and texts that are no credential', async () => {
    await clear();
    const { key } = await enroll();
    const opened = await open();
    const credential = JSON.parse(key.get(optionsIn(opened.page.text)));
    const other = new Authenticator(issuer).get(optionsIn(opened.page.text));
    const { signature } = JSON.parse(other).response;
    const forged = { ...credential, response: { ...credential.response, signature } };
    const { id } = credential;
    const texts = [JSON.stringify(forged), '', '{', 'null', '[]', '{}', JSON.stringify({ id, response: 7 })];
    texts.push(
      JSON.stringify({ id, rawId: id, type: 'public-key', response: {} }),
      `{"id":"${'A'.repeat(40_000)}"}`,
    );
    for (const text of texts) assert.equal((await enter(opened, text)).status, 401, text.slice(0, 60));
    assert.equal((await enter(opened, JSON.stringify(credential))).status, 303);
  });

  test('refuses the second answer to a challenge, even with a new signature (WebAuthn 13.4.3)', async () => {
    await clear();
    const { key } = await enroll();
    const opened = await open();
    const options = optionsIn(opened.page.text);
    assert.equal((await enter(opened, key.get(options))).status, 303);
    assert.equal((await enter(opened, key.get(options))).status, 401);
    await refusedFor('replayed');
  });

  test('refuses a passkey at another institution', async () => {
    await clear();
    const { key } = await enroll();
    const opened = await open(elsewhere.clientId);
    assert.equal((await enter(opened, key.get(optionsIn(opened.page.text)))).status, 401);
    await refusedFor('unknown_passkey');
  });

  test('refuses a passkey from a browser that did not open the page, as in login CSRF (RFC 9700 section 4.7)', async () => {
    await clear();
    const { key } = await enroll();
    const opened = await open();
    const credential = key.get(optionsIn(opened.page.text));
    const stranger = { ...opened, browser: new TestBrowser(service.address) };
    assert.equal((await enter(stranger, credential)).status, 400);
    const form = { request: opened.page.request, credential };
    const foreign = { 'sec-fetch-site': 'same-site' };
    assert.equal((await opened.browser.post('/auth/v2/sign-in/passkey', form, foreign)).status, 400);
    assert.equal((await enter(opened, credential)).status, 303);
  });

  test('shows one page for an unknown key, a wrong one and an inactive member', async () => {
    await clear();
    const { key } = await enroll();
    const pages = [await signIn(new Authenticator(issuer)), await signIn(key, { flags: 0x01 })];
    const { auth } = service.service.context;
    const standing = { name: member.username, origin: ownOrigin() };
    await setStanding(auth, institutionId, { ...standing, active: false });
    pages.push(await signIn(key));
    await setStanding(auth, institutionId, { ...standing, active: true });
    const shown = pages.map(({ text }) => text.replaceAll(/(value|data-options)="[^"]*"/g, ''));
    assert.equal(new Set(shown).size, 1);
  });

  test('the page of sign-in reveals no member in the options of the page (WebAuthn 14.6.2)', async () => {
    await clear();
    await enroll();
    const { page } = await open();
    assert.deepEqual(Object.keys(optionsIn(page.text)).sort(), [
      'challenge',
      'rpId',
      'timeout',
      'userVerification',
    ]);
  });
});

describe('an enrollment is refused', () => {
  const lies: [string, Lie][] = [
    ['of another origin (WebAuthn 7.1 step 9)', { origin: 'https://evil.example' }],
    ['of another host (WebAuthn 7.1 step 14)', { rpId: 'evil.example' }],
    ['for another challenge (WebAuthn 7.1 step 8)', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['made for a sign-in (WebAuthn 7.1 step 7)', { type: 'webauthn.get' }],
    ['without verification of the member (WebAuthn 7.1 step 16)', { flags: 0x01 }],
  ];
  for (const [name, lie] of lies) {
    test(`refuses an enrollment ${name}`, async () => {
      await clear();
      const { added } = await enroll('Phone', lie);
      assert.equal(added.status, 422);
      assert.match(added.text, /You have no passkey yet/);
    });
  }

  test('refuses a name that is empty, long or has control characters', async () => {
    for (const name of ['', '   ', 'n'.repeat(65), 'a\u0007b']) {
      assert.equal((await enroll(name)).added.status, 422, name);
    }
  });

  test('refuses a key that is enrolled, and a challenge that was used', async () => {
    await clear();
    const { browser, page, key, credential } = await enroll();
    const form = { request: page.request, name: 'Again' };
    const again = await browser.post('/auth/v2/security/passkeys', { ...form, credential });
    assert.equal(again.status, 422);
    const fresh = new Authenticator(issuer).create(optionsIn(page.text));
    const replay = await browser.post('/auth/v2/security/passkeys', { ...form, credential: fresh });
    assert.equal(replay.status, 422);
    const same = key.create(optionsIn(again.text));
    const twice = { request: again.request, name: 'Twice', credential: same };
    assert.equal((await browser.post('/auth/v2/security/passkeys', twice)).status, 422);
    assert.deepEqual(optionsIn(again.text).excludeCredentials?.length, 1);
  });

  test('refuses a passkey in the session of another browser, from another site, and without a session', async () => {
    await clear();
    const { page } = await atSecurity();
    const { browser: other } = await atSecurity();
    const credential = new Authenticator(issuer).create(optionsIn(page.text));
    const form = { request: page.request, credential, name: 'Planted' };
    assert.equal((await other.post('/auth/v2/security/passkeys', form)).title, 'Sign in');
    const foreign = { 'sec-fetch-site': 'cross-site' };
    assert.equal((await other.post('/auth/v2/security/passkeys', form, foreign)).status, 400);
    const stranger = new TestBrowser(service.address);
    assert.equal((await stranger.post('/auth/v2/security/passkeys', form)).title, 'Sign in');
    const [count] = await service.db.superuser<{ count: bigint }>('select count(*) from passkeys');
    assert.equal(Number(count?.count), 0);
  });

  test('a member signs in again to change passkeys ten minutes after the sign-in', async () => {
    const { browser, page } = await atSecurity();
    later(10 * 60_000 - 1);
    assert.notEqual((await browser.get(security())).title, 'Sign in');
    later(1);
    assert.equal((await browser.get(security())).title, 'Sign in');
    const form = { request: page.request, credential: '{}', name: 'Late' };
    assert.equal((await browser.post('/auth/v2/security/passkeys', form)).status, 400);
  });

  test('a member cannot remove the passkey of another', async () => {
    await clear();
    const { added } = await enroll();
    const passkey = /name="passkey" value="([^"]+)"/.exec(added.text)?.[1] ?? '';
    const another = { username: 'fern.joint', password: 'fern-green-lantern-2' };
    const { browser, page } = await atSecurity(another);
    for (const named of [passkey, 'no-uuid']) {
      const form = { request: page.request, passkey: named };
      const removed = await browser.post('/auth/v2/security/passkeys/remove', form);
      assert.equal(removed.status, 422);
    }
    const [count] = await service.db.superuser<{ count: bigint }>('select count(*) from passkeys');
    assert.equal(Number(count?.count), 1);
  });
});

describe('the pages', () => {
  test('the pages allow one module of our own and nothing inline, and no frame (clickjacking, RFC 9700 section 4.16)', async () => {
    const { page } = await atSecurity();
    assert.match(page.text, /<a href="\/auth\/v2\/logout">Sign out<\/a>/);
    for (const one of [page, (await open()).page]) {
      const policy = one.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'; script-src 'self'; /);
      assert.match(policy, /frame-ancestors 'none'/);
      assert.doesNotMatch(policy, /unsafe|\*/);
      assert.doesNotMatch(one.text, /<script(?![^>]*src=)|<style|style=| on[a-z]+=/);
    }
    const script = await new TestBrowser(service.address).get('/auth/v2/passkeys.js');
    assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/);
    assert.match(script.text, /navigator\.credentials\.get/);
  });

  test('the service sends no code for the page of security, also if its form is sent as a consent', async () => {
    const { browser } = await atSecurity();
    later(10 * 60_000);
    const page = await browser.get(security());
    const form = { request: page.request, days: '30', answer: 'allow', accounts: 'all' };
    const sent = await browser.post('/auth/v2/consent', form);
    assert.equal(sent.location.href, `${issuer}${security()}`);
    assert.equal((await browser.get('/auth/v2/security?client_id=nobody')).status, 400);
  });

  test('refuses the page of a client that was switched off', async () => {
    const { auth } = service.service.context;
    const { page, browser } = await open();
    const change = (active: boolean) =>
      changeClient(auth, institutionId, { clientId: app.clientId, change: { active }, origin: ownOrigin() });
    await change(false);
    const sent = await browser.post('/auth/v2/sign-in/passkey', { request: page.request, credential: '{}' });
    assert.equal(sent.status, 400);
    await change(true);
  });
});

describe('the database', () => {
  test('the database refuses a counter that goes back, a used challenge and an eleventh passkey', async () => {
    await clear();
    const { key } = await enroll();
    await signIn(key);
    await signIn(key);
    const run = (text: string) => service.db.superuser(text);
    await assert.rejects(run('update passkeys set sign_count = sign_count'), { code: 'SD211' });
    await assert.rejects(run('update passkeys set sign_count = 0'), { code: 'SD211' });
    await assert.rejects(run('insert into passkey_challenges select * from passkey_challenges'), {
      constraint: 'passkey_challenges_pkey',
    });
    const copy = (id: string, place: string) =>
      run(`insert into passkeys select institution_id, gen_random_uuid(), ${id}, user_key, ${place}, public_key, sign_count,
                                       is_synced, name, created_at, last_used_at from passkeys`);
    await assert.rejects(copy('credential_id', '2'), { constraint: 'passkeys_by_credential' });
    await assert.rejects(copy(`'\\x01'`, 'place'), { constraint: 'passkeys_by_place' });
    await assert.rejects(copy(`'\\x01'`, '11'), { constraint: 'passkeys_place' });
  });

  test('the service deletes used challenges once their pages have expired', async () => {
    await clear();
    const { key } = await enroll();
    await signIn(key);
    const count = async () => {
      const [row] = await service.db.superuser<{ count: bigint }>('select count(*) from passkey_challenges');
      return Number(row?.count);
    };
    assert.ok((await count()) > 0);
    later(30 * 60_000);
    await runAuthMaintenance(service.service.context.auth, institutionId);
    assert.equal(await count(), 0);
  });
});
