import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createClient, setStanding } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { multiFactor } from '../../src/institutions/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { type Answer, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';

const issuer = 'http://localhost';
let now = new Date('2026-03-02T12:00:00Z');
let service: TestService;
let institutionId: InstitutionId;
const redirectUri = 'https://app.example/callback?tenant=7';
const member = { username: 'demo.member', password: 'demo-member-password' };
const first = { clientId: 'first-app', secret: 'first-app-secret-that-is-long' };

before(async () => {
  service = await startTestService({ clock: () => now, environment: { PUBLIC_URL: issuer } });
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  institutionId = row?.institution_id as InstitutionId;
  const { auth } = service.service.context;
  const both = {
    institutionId,
    grants: ['authorization_code', 'refresh_token'],
    redirectUris: [redirectUri, 'com.example.wallet:/back'],
    logoutUris: ['https://app.example/bye'],
  };
  const scopes = ['openid', 'profile', 'email', 'account:read', 'offline_access'] as const;
  await createClient(auth, { ...both, ...first, name: 'First', scopes, isFirstParty: true }, ownOrigin());
  const all = [...scopes, 'institution-users:read', 'institution-users:write'] as const;
  const third = { clientId: 'third-app', secret: 'third-app-secret-that-is-long', name: 'Third <b>App</b>' };
  await createClient(auth, { ...both, ...third, scopes: all }, ownOrigin());
});
after(() => service.close());

const later = (millis: number) => {
  now = new Date(now.getTime() + millis);
};

interface Asked {
  readonly clientId?: string;
  readonly more?: Readonly<Record<string, string | undefined>>;
  readonly browser?: TestBrowser;
}

function start({ clientId = 'first-app', more, browser = new TestBrowser(service.address) }: Asked = {}) {
  const proof = pkce();
  const parameters = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid account:read',
    state: 'st&te=1',
    nonce: 'n-1',
    code_challenge: proof.challenge,
    code_challenge_method: 'S256',
    ...more,
  };
  return { browser, proof, opened: browser.get(authorizeUrl(parameters)) };
}

function enter(browser: TestBrowser, page: TestPage, more: object = {}): Promise<TestPage> {
  return browser.post('/auth/v2/sign-in', { request: page.request, ...member, ...more });
}

/** A code for a client, through every page that comes. */
async function codeOf(asked: Asked = {}) {
  const { browser, proof, opened } = start(asked);
  let page = await opened;
  if (page.title === 'Sign in') page = await enter(browser, page);
  if (page.title.startsWith('Allow')) {
    page = await browser.post('/auth/v2/consent', {
      request: page.request,
      days: '30',
      answer: 'allow',
      accounts: 'all',
    });
  }
  assert.equal(page.status, 303, page.text);
  return { browser, proof, code: page.location.searchParams.get('code') ?? '', location: page.location };
}

function exchange(code: string, verifier: string, more: object = {}): Promise<Answer> {
  const { clientId: client_id, secret: client_secret } = first;
  const asked = {
    client_id,
    client_secret,
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
    ...more,
  };
  return send(service.address, 'POST', paths.token, { body: { grant_type: 'authorization_code', ...asked } });
}

type Proof = ReturnType<typeof pkce>;

const swapCase = (text: string) =>
  text.replaceAll(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));

const third = { client_id: 'third-app', client_secret: 'third-app-secret-that-is-long' };

async function isActive(accessToken: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  return (await send(service.address, 'GET', paths.accounts, { headers })).status === 200;
}

function claimsOf(jwt: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
}

describe('the way to a code', () => {
  test('a member signs in on the page and the app gets tokens and an ID token for the code', async () => {
    const { proof, code, location } = await codeOf();
    assert.equal(location.origin + location.pathname, 'https://app.example/callback');
    assert.deepEqual(Object.fromEntries(location.searchParams), {
      tenant: '7',
      code,
      state: 'st&te=1',
      iss: issuer,
    });
    const { status, body } = await exchange(code, proof.verifier);
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.scope, 'account:read openid');
    assert.equal(await isActive(body.access_token), true);
    const claims = claimsOf(body.id_token);
    assert.equal(claims.iss, issuer);
    assert.equal(claims.aud, 'first-app');
    assert.equal(claims.nonce, 'n-1');
    assert.deepEqual(claims.amr, ['pwd']);
    assert.equal(claims.sub, claimsOf(body.access_token).sub);
    assert.equal(claims.auth_time, claimsOf(body.access_token).auth_time);
    assert.deepEqual(claimsOf(body.access_token).amr, ['pwd']);
    const digest = createHash('sha256').update(body.access_token).digest();
    assert.equal(claims.at_hash, digest.subarray(0, 16).toString('base64url'));
  });

  test('a session signs the member in to the next app of the institution without a page', async () => {
    const { browser } = await codeOf();
    const page = await start({ browser }).opened;
    assert.equal(page.status, 303);
    assert.ok(page.location.searchParams.get('code'));
  });

  test('asks for the password after half an hour without use, and twelve hours after the sign-in', async () => {
    const { browser } = await codeOf();
    for (let use = 0; use < 23; use += 1) {
      later(29 * 60_000);
      if (use < 24) assert.equal((await start({ browser }).opened).status, 303, `use ${use}`);
    }
    later(60 * 60_000);
    assert.equal((await start({ browser }).opened).title, 'Sign in');
    const other = await codeOf();
    later(30 * 60_000);
    assert.equal((await start({ browser: other.browser }).opened).title, 'Sign in');
  });

  test('a wrong password shows the page again with the same words for every reason', async () => {
    const texts: string[] = [];
    for (const wrong of [
      { password: 'not-the-password' },
      { username: 'nobody.at.all' },
      { username: 'locked.member', password: 'x' },
    ]) {
      const { browser, opened } = start();
      const page = await enter(browser, await opened, wrong);
      assert.equal(page.status, 401);
      assert.equal(browser.cookies.size, 1);
      texts.push(page.text.replaceAll(/(value|data-options)="[^"]*"/g, ''));
    }
    assert.equal(new Set(texts).size, 1);
  });

  test('prompt login asks again although there is a session, and accepts the sign-in that follows', async () => {
    const { browser } = await codeOf();
    later(1_000);
    const again = start({ browser, more: { prompt: 'login' } });
    const page = await again.opened;
    assert.equal(page.title, 'Sign in');
    assert.equal((await enter(browser, page)).status, 303);
  });

  test('max_age asks again once the sign-in is older, and 0 always does', async () => {
    const { browser } = await codeOf();
    later(61_000);
    assert.equal((await start({ browser, more: { max_age: '120' } }).opened).status, 303);
    assert.equal((await start({ browser, more: { max_age: '60' } }).opened).title, 'Sign in');
    const page = await start({ browser, more: { max_age: '0' } }).opened;
    assert.equal((await enter(browser, page)).status, 303);
  });

  test('the page names the reason of another sign-in by a sentence of its own, and keeps it after a wrong password', async () => {
    const { browser } = await codeOf();
    later(60_000);
    const app = 'First';
    const cases: [more: Record<string, string>, sentence: RegExp][] = [
      [{ max_age: '30' }, new RegExp(`${app} asks you to sign in once more`)],
      [{ prompt: 'login' }, new RegExp(`${app} asks you to sign in once more`)],
      [{ acr_values: 'phr', max_age: '30' }, new RegExp(`${app} asks you to sign in with a passkey`)],
      [
        { acr_values: multiFactor },
        new RegExp(`${app} asks for a passkey, or for your password with a code`),
      ],
      [{ max_age: '0', step_up: 'transfer_amount' }, /Lakeside .* before a transfer of a large amount/],
      [
        { max_age: '0', step_up: 'transfer_destination' },
        /Lakeside .* before a first transfer to an account/,
      ],
      [{ max_age: '0', step_up: 'contact_change' }, /Lakeside .* before your contact details change/],
      // Only the names of the list have a sentence, and only beside a demand that they explain.
      [{ max_age: '0', step_up: '<b>your account is locked</b>' }, new RegExp(`${app} asks you to sign in`)],
      [{ max_age: '0', step_up: 'constructor' }, new RegExp(`${app} asks you to sign in`)],
      [{ max_age: '0', step_up: 'security' }, new RegExp(`${app} asks you to sign in`)],
    ];
    for (const [more, sentence] of cases) {
      const page = await start({ browser, more }).opened;
      assert.equal(page.title, 'Sign in', JSON.stringify(more));
      const reason = /<p class="reason">(.*)<\/p>/.exec(page.text)?.[1] ?? '';
      assert.match(reason, sentence, JSON.stringify(more));
      assert.doesNotMatch(page.text, /locked<|&lt;b/);
    }
    const large = await start({ browser, more: { max_age: '0', step_up: 'transfer_amount' } }).opened;
    const wrong = { ...member, request: large.request, password: 'wrong' };
    const again = await browser.post('/auth/v2/sign-in', wrong);
    assert.match(again.text, /class="reason">Lakeside .* a large amount/);
    const stranger = await start({ more: { prompt: 'login', step_up: 'transfer_amount' } }).opened;
    assert.doesNotMatch(stranger.text, /class="reason"/, 'a first sign-in has no reason');
    assert.equal((await enter(browser, await start({ browser, more: { max_age: '0' } }).opened)).status, 303);
  });

  test('acr_values with phr asks a member with a password session again, and accepts the sign-in that follows', async () => {
    const { browser } = await codeOf();
    assert.equal((await start({ browser, more: { acr_values: 'urn:unknown' } }).opened).status, 303);
    const page = await start({ browser, more: { acr_values: 'urn:unknown phr' } }).opened;
    assert.equal(page.title, 'Sign in');
    assert.equal((await enter(browser, page)).status, 303, 'the value is voluntary');
    const silent = await start({ browser, more: { acr_values: 'phr', prompt: 'none' } }).opened;
    assert.equal(silent.location.searchParams.get('error'), 'login_required');
  });

  test('prompt none answers login_required without a session and consent_required without a consent', async () => {
    const none = { prompt: 'none' };
    const without = await start({ more: none }).opened;
    assert.equal(without.location.searchParams.get('error'), 'login_required');
    assert.equal(without.location.searchParams.get('iss'), issuer);
    const { browser } = await codeOf();
    const page = await start({ browser, clientId: 'third-app', more: { ...none, scope: 'email' } }).opened;
    assert.equal(page.location.searchParams.get('error'), 'consent_required');
    assert.ok((await start({ browser, more: none }).opened).location.searchParams.get('code'));
  });

  test('RFC 8252 8.6: a public app with an address that others can claim asks the member each time, even with a consent', async () => {
    const app = { clientId: 'device-app', name: 'Device' };
    const redirectUris = ['http://127.0.0.1/back', 'com.example.wallet:/back', redirectUri];
    await createClient(
      service.service.context.auth,
      {
        ...{ institutionId, ...app, redirectUris, isPublic: true, isFirstParty: true, logoutUris: [] },
        ...{ grants: ['authorization_code'], scopes: ['openid', 'account:read'] },
      },
      ownOrigin(),
    );
    const { browser } = await codeOf({ clientId: app.clientId });
    const open = (more: object) => start({ browser, clientId: app.clientId, more: { ...more } }).opened;
    for (const redirect_uri of ['http://127.0.0.1:51004/back', 'com.example.wallet:/back']) {
      const page = await open({ redirect_uri });
      assert.match(page.title, /^Allow Device/);
      const silent = await open({ redirect_uri, prompt: 'none' });
      assert.equal(silent.location.searchParams.get('error'), 'consent_required');
    }
    assert.equal((await open({})).status, 303, 'an https address belongs to one app');
    const entered = await enter(
      browser,
      await open({ redirect_uri: 'com.example.wallet:/back', prompt: 'login' }),
    );
    assert.equal(entered.status, 303, 'the member acted on a page that names the app');
  });

  test('a pushed request opens by its name, for its client only, and once', async () => {
    const proof = pkce();
    const pushed = await send(service.address, 'POST', '/auth/v2/par', {
      body: {
        client_id: first.clientId,
        client_secret: first.secret,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid',
        code_challenge: proof.challenge,
        code_challenge_method: 'S256',
      },
    });
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    const { request_uri } = pushed.body;
    const browser = new TestBrowser(service.address);
    const open = (client_id: string) => browser.get(authorizeUrl({ client_id, request_uri }));
    assert.equal((await open('third-app')).status, 400);
    const page = await enter(browser, await open('first-app'));
    assert.equal(page.status, 303);
    const code = page.location.searchParams.get('code') ?? '';
    assert.equal((await exchange(code, proof.verifier)).status, 200);
    assert.equal((await open('first-app')).status, 400, 'a code came of it');
    later(91_000);
    assert.equal((await open('first-app')).status, 400);
  });
});

describe('requests that are refused', () => {
  const unsafe: [section: string, name: string, Record<string, string | undefined>][] = [
    ['RFC 6749 4.1.2.1', 'an unknown client', { client_id: 'no-such-app' }],
    ['RFC 6749 4.1.1', 'no client', { client_id: undefined }],
    ['RFC 6749 3.1.2.3', 'no address', { redirect_uri: undefined }],
    [
      'RFC 9700 4.1.3',
      'an address that is not registered',
      { redirect_uri: 'https://evil.example/callback' },
    ],
    ['RFC 9700 4.1.3', 'a longer address', { redirect_uri: `${redirectUri}&next=1` }],
    ['RFC 9700 4.1.3', 'an address without its query', { redirect_uri: 'https://app.example/callback' }],
    ['RFC 9700 4.1.3', 'another case', { redirect_uri: 'https://app.example/Callback?tenant=7' }],
    [
      'RFC 9700 4.1.3',
      'an address in a folder',
      { redirect_uri: 'https://app.example/x/../callback?tenant=7' },
    ],
    ['RFC 9700 4.1.3', 'a registered address as user', { redirect_uri: 'https://app.example@evil.example/' }],
    ['RFC 9700 4.1.3', 'a host below ours', { redirect_uri: 'https://app.example.evil.example/callback' }],
    ['RFC 8252 8.4', 'the address of plain http', { redirect_uri: 'http://app.example/callback?tenant=7' }],
    ['RFC 6749 3.1.2', 'an address with a fragment', { redirect_uri: `${redirectUri}#` }],
    ['RFC 9700 4.11', 'an address that is a script', { redirect_uri: 'javascript:alert(1)' }],
    ['RFC 9126 2.2', 'a name of our own making', { request_uri: 'urn:ietf:params:oauth:request_uri:AAAA' }],
    ['RFC 9101 10.4', 'an address of another server', { request_uri: 'https://evil.example/request' }],
  ];
  for (const [section, name, more] of unsafe) {
    test(`never leaves our pages for ${name} (${section})`, async () => {
      const page = await start({ more }).opened;
      assert.equal(page.status, 400);
      assert.equal(page.headers.get('location'), null);
      assert.equal(page.title, 'This did not work');
    });
  }

  const returned: [section: string, name: string, Record<string, string | undefined>, error: string][] = [
    ['RFC 6749 3.1.1', 'no response type', { response_type: undefined }, 'invalid_request'],
    ['RFC 9700 2.1.2', 'the implicit grant', { response_type: 'token' }, 'unsupported_response_type'],
    ['RFC 9700 2.1.2', 'a hybrid response', { response_type: 'code id_token' }, 'unsupported_response_type'],
    ['RFC 6749 3.1.1', 'an unknown response type', { response_type: 'Code' }, 'unsupported_response_type'],
    ['RFC 9700 2.1.1', 'no challenge', { code_challenge: undefined }, 'invalid_request'],
    ['RFC 7636 7.2', 'a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['RFC 7636 4.3', 'no method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['RFC 7636 4.3', 'an unknown method', { code_challenge_method: 's256' }, 'invalid_request'],
    ['RFC 7636 4.2', 'a short challenge', { code_challenge: 'abc' }, 'invalid_request'],
    ['RFC 7636 4.2', 'a challenge of 44 characters', { code_challenge: 'A'.repeat(44) }, 'invalid_request'],
    [
      'RFC 7636 4.2',
      'a challenge in plain base64',
      { code_challenge: `${'A'.repeat(42)}+` },
      'invalid_request',
    ],
    ['RFC 6749 3.3', 'a scope that is not registered', { scope: 'transfer:write' }, 'invalid_scope'],
    ['RFC 6749 3.3', 'a scope in another case', { scope: 'OPENID' }, 'invalid_scope'],
    ['OpenID Connect Core 3.1.2.6', 'an unknown prompt', { prompt: 'dance' }, 'invalid_request'],
    [
      'OpenID Connect Core 3.1.2.1',
      'prompt none beside another',
      { prompt: 'none login' },
      'invalid_request',
    ],
    ['OpenID Connect Core 3.1.2.1', 'a negative age', { max_age: '-1' }, 'invalid_request'],
    ['OpenID Connect Core 3.1.2.1', 'an age that is a fraction', { max_age: '1.5' }, 'invalid_request'],
    ['RFC 9700 4.2.4', 'the response in a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['OpenID Connect Core 3.1.2.6', 'a request object', { request: 'eyJ.eyJ.sig' }, 'request_not_supported'],
    ['RFC 6749 10.14', 'a long nonce', { nonce: 'n'.repeat(513) }, 'invalid_request'],
  ];
  for (const [section, name, more, error] of returned) {
    test(`returns ${error} to the app for ${name} (${section})`, async () => {
      const { status, location } = await start({ more }).opened;
      assert.equal(status, 303);
      assert.equal(location.searchParams.get('error'), error);
      assert.equal(location.searchParams.get('state'), 'st&te=1');
      assert.equal(location.searchParams.get('iss'), issuer);
    });
  }

  test('refuses a parameter that comes twice, on our page if it names the client or the address', async () => {
    const url = authorizeUrl({ client_id: 'first-app', redirect_uri: redirectUri, response_type: 'code' });
    const browser = new TestBrowser(service.address);
    const twice = await browser.get(`${url}&redirect_uri=${encodeURIComponent('https://evil.example/')}`);
    assert.equal(twice.status, 400);
    const scopes = await browser.get(`${url}&scope=openid&scope=email`);
    assert.equal(scopes.location.searchParams.get('error'), 'invalid_request');
  });
});

describe('the exchange of a code', () => {
  test('a code is good once; the second time ends the tokens of the first (RFC 6749 section 4.1.2)', async () => {
    const { proof, code } = await codeOf({ more: { scope: 'account:read offline_access' } });
    const { body } = await exchange(code, proof.verifier);
    assert.equal(await isActive(body.access_token), true);
    const again = await exchange(code, proof.verifier);
    assert.equal(again.body.error, 'invalid_grant');
    assert.equal(await isActive(body.access_token), false);
    const refreshed = await send(service.address, 'POST', paths.token, {
      body: {
        grant_type: 'refresh_token',
        client_id: first.clientId,
        client_secret: first.secret,
        refresh_token: body.refresh_token,
      },
    });
    assert.equal(refreshed.body.error, 'invalid_grant');
  });

  test('ends the tokens of a code that two requests exchange at the same moment', async () => {
    const { proof, code } = await codeOf();
    const both = await Promise.all([exchange(code, proof.verifier), exchange(code, proof.verifier)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 400]);
    const won = both.find(({ status }) => status === 200);
    assert.equal(await isActive(won?.body.access_token), false);
  });

  const thefts: [section: string, name: string, error: string, (proof: Proof) => object][] = [
    ['RFC 7636 4.6', 'another verifier', 'invalid_grant', () => ({ code_verifier: pkce().verifier })],
    ['RFC 7636 4.6', 'no verifier', 'invalid_request', () => ({ code_verifier: undefined })],
    ['RFC 7636 4.1', 'a short verifier', 'invalid_grant', () => ({ code_verifier: 'short' })],
    ['RFC 7636 4.1', 'a long verifier', 'invalid_grant', () => ({ code_verifier: 'v'.repeat(129) })],
    [
      'RFC 9700 2.1.1',
      'the challenge itself',
      'invalid_grant',
      (proof) => ({ code_verifier: proof.challenge }),
    ],
    [
      'RFC 7636 4.6',
      'the verifier in another case',
      'invalid_grant',
      (proof) => ({ code_verifier: swapCase(proof.verifier) }),
    ],
    ['RFC 6749 4.1.3', 'no code', 'invalid_request', () => ({ code: undefined })],
    ['RFC 6749 4.1.3', 'an invented code', 'invalid_grant', () => ({ code: 'A'.repeat(43) })],
    ['RFC 6749 4.1.3', 'another client', 'invalid_grant', () => third],
    [
      'RFC 6749 4.1.3',
      'another address of the app',
      'invalid_grant',
      () => ({ redirect_uri: 'com.example.wallet:/back' }),
    ],
    [
      'RFC 6749 2.3.1',
      'a wrong secret',
      'invalid_client',
      () => ({ client_secret: 'not-the-secret-of-first-app' }),
    ],
    ['RFC 6749 3.2.1', 'a name of another client', 'invalid_client', () => ({ client_id: third.client_id })],
    ['RFC 6749 6', 'the code as a refresh token', 'invalid_request', () => ({ grant_type: 'refresh_token' })],
  ];
  for (const [section, name, error, more] of thefts) {
    test(`refuses a code with ${name}, and ends nothing (${section})`, async () => {
      const { proof, code } = await codeOf();
      const refused = await exchange(code, proof.verifier, more(proof));
      assert.equal(refused.body.error, error, refused.text);
      const { status, body } = await exchange(code, proof.verifier);
      assert.equal(status, 200);
      assert.equal(await isActive(body.access_token), true);
    });
  }

  test('a wrong verifier after the exchange ends nothing (RFC 6749 10.5)', async () => {
    const { proof, code } = await codeOf();
    const { body } = await exchange(code, proof.verifier);
    await exchange(code, pkce().verifier);
    assert.equal(await isActive(body.access_token), true);
  });

  test('a code expires after sixty seconds', async () => {
    const { proof, code } = await codeOf();
    later(60_000);
    assert.equal((await exchange(code, proof.verifier)).body.error, 'invalid_grant');
  });

  test('a code of a member who was locked meanwhile is refused', async () => {
    const { proof, code } = await codeOf();
    const { auth } = service.service.context;
    const standing = { name: member.username, origin: ownOrigin() };
    await setStanding(auth, institutionId, { ...standing, lockedByOperator: true });
    assert.equal((await exchange(code, proof.verifier)).body.error, 'invalid_grant');
    await setStanding(auth, institutionId, { ...standing, lockedByOperator: false });
  });

  test('a public client exchanges without a secret, and a client with one cannot leave it out', async () => {
    const asked = { clientId: 'demo-budget', more: { redirect_uri: 'http://127.0.0.1:51004/' } };
    const { proof, code } = await codeOf(asked);
    const own = { client_id: 'demo-budget', client_secret: undefined, redirect_uri: undefined };
    const { status, body } = await exchange(code, proof.verifier, own);
    assert.equal(status, 200, JSON.stringify(body));
    const other = await codeOf();
    const without = await exchange(other.code, other.proof.verifier, { client_secret: undefined });
    assert.equal(without.status, 401);
    const introspection = await send(service.address, 'POST', '/auth/v2/introspect', {
      body: { client_id: 'demo-budget', token: body.access_token },
    });
    assert.equal(introspection.status, 401);
  });
});

describe('consent', () => {
  const wide = 'openid account:read institution-users:read institution-users:write offline_access';
  const asked = { clientId: 'third-app', more: { scope: wide } };

  test('an app of another company asks the member, with its name as text', async () => {
    const { browser, opened } = start(asked);
    const page = await enter(browser, await opened);
    assert.equal(page.title, 'Allow Third &lt;b&gt;App&lt;/b&gt;?');
    assert.match(page.text, /see your accounts, balances and transactions/);
    assert.match(page.text, /<a href="\/auth\/v2\/logout">Sign out<\/a>/);
    const refused = await browser.post('/auth/v2/consent', { request: page.request, answer: 'refuse' });
    assert.equal(refused.location.searchParams.get('error'), 'access_denied');
  });

  test('a consent covers later requests for no more than it allows, until its day', async () => {
    const { browser } = await codeOf(asked);
    assert.equal((await start({ ...asked, browser }).opened).status, 303);
    const more = { scope: `${wide} email` };
    assert.match((await start({ clientId: 'third-app', more, browser }).opened).title, /^Allow/);
    later(30 * 24 * 60 * 60_000);
    const { opened } = start({ ...asked, browser });
    assert.match((await enter(browser, await opened)).title, /^Allow/);
  });

  test('a member lists consents and withdraws one, which ends all tokens of the app at once', async () => {
    const { proof, code } = await codeOf(asked);
    const { body } = await exchange(code, proof.verifier, third);
    const headers = { authorization: `Bearer ${body.access_token}` };
    const listed = await send(service.address, 'GET', '/auth/v2/consents', { headers });
    const consent = listed.body.find((one: { clientId: string }) => one.clientId === 'third-app');
    assert.deepEqual(
      consent.scopes,
      wide.split(' ').toSorted((a, b) => consent.scopes.indexOf(a) - consent.scopes.indexOf(b)),
    );
    const path = `/auth/v2/consents/${consent.consentId}`;
    const ended = await send(service.address, 'DELETE', path, { headers });
    assert.deepEqual(ended.body, { consentId: consent.consentId, ended: true });
    assert.equal(await isActive(body.access_token), false);
    const refreshed = await send(service.address, 'POST', paths.token, {
      body: { grant_type: 'refresh_token', ...third, refresh_token: body.refresh_token },
    });
    assert.equal(refreshed.body.error, 'invalid_grant');
  });

  test('a second click on the page of consent leaves the first code as good as it was', async () => {
    const { browser, proof, opened } = start({ ...asked, more: { ...asked.more, prompt: 'consent' } });
    const page = await enter(browser, await opened);
    const allow = () =>
      browser.post('/auth/v2/consent', {
        request: page.request,
        days: '30',
        answer: 'allow',
        accounts: 'all',
      });
    const code = (await allow()).location.searchParams.get('code') ?? '';
    assert.equal((await allow()).status, 400);
    assert.equal((await exchange(code, proof.verifier, third)).status, 200);
  });

  test('consents that two browsers give at the same moment are both taken, and one is in force', async () => {
    for (let round = 0; round < 5; round += 1) {
      const pages = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { browser, proof, opened } = start({ ...asked, more: { ...asked.more, prompt: 'consent' } });
          return { browser, proof, page: await enter(browser, await opened) };
        }),
      );
      const codes = await Promise.all(
        pages.map(async ({ browser, proof, page: { request } }) => {
          const page = await browser.post('/auth/v2/consent', {
            request,
            days: '30',
            answer: 'allow',
            accounts: 'all',
          });
          assert.equal(page.status, 303, page.text);
          return { code: page.location.searchParams.get('code') ?? '', proof };
        }),
      );
      const results = await Promise.all(
        codes.map(({ code, proof }) => exchange(code, proof.verifier, third)),
      );
      assert.deepEqual(results.map(({ status }) => status).sort(), [200, 400, 400, 400]);
    }
    const rows = await service.db.superuser<{ open: bigint }>(
      `select count(*) as open from consents where client_id = 'third-app' and ended_at is null`,
    );
    assert.equal(rows[0]?.open, 1n);
  });

  test('a consent that ends between page and exchange leaves the code without effect', async () => {
    const { proof, code } = await codeOf(asked);
    const other = await codeOf({ more: { scope: 'account:read' } });
    const tokens = await exchange(other.code, other.proof.verifier);
    assert.equal(tokens.status, 200);
    await service.db.superuser(
      `update consents set ended_at = now(), ended_by = 'OPERATOR' where client_id = 'third-app' and ended_at is null`,
    );
    assert.equal((await exchange(code, proof.verifier, third)).body.error, 'invalid_grant');
  });

  test('issues a token that expires with the consent behind it', async () => {
    const { browser, proof, opened } = start(asked);
    const page = await enter(browser, await opened);
    const allowed = await browser.post('/auth/v2/consent', {
      request: page.request,
      days: '30',
      answer: 'allow',
      accounts: 'all',
    });
    const code = allowed.location.searchParams.get('code') ?? '';
    await exchange(code, proof.verifier, third);
    later(30 * 24 * 60 * 60_000 - 100_000);
    const late = await codeOf({ ...asked, browser });
    const { body } = await exchange(late.code, late.proof.verifier, third);
    assert.ok(body.expires_in <= 100, String(body.expires_in));
  });
});

describe('pages in hostile hands', () => {
  test('a page belongs to the browser that opened it (login CSRF)', async () => {
    const attacker = start();
    const page = await attacker.opened;
    const victim = start();
    await victim.opened;
    assert.equal((await enter(victim.browser, page)).status, 400);
    assert.equal((await enter(new TestBrowser(service.address), page)).status, 400);
  });

  test('a form of another site is refused', async () => {
    const { browser, opened } = start();
    const page = await opened;
    for (const site of ['cross-site', 'same-site', 'none']) {
      const form = { request: page.request, ...member };
      const sent = await browser.post('/auth/v2/sign-in', form, { 'sec-fetch-site': site });
      assert.equal(sent.status, 400, site);
    }
  });

  test('a sign-in always gets a new session, so a planted cookie is worth nothing (fixation)', async () => {
    const planted = new TestBrowser(service.address);
    const name = `session-${institutionId}`;
    planted.cookies.set(name, 'A'.repeat(43));
    const { opened } = start({ browser: planted });
    assert.equal((await enter(planted, await opened)).status, 303);
    assert.notEqual(planted.cookies.get(name), 'A'.repeat(43));
    assert.match(planted.cookies.get(name) ?? '', /^[\w-]{43}$/, '256 bits');
  });

  test('a second sign-in in a browser ends the session before it', async () => {
    const { browser } = await codeOf();
    const name = `session-${institutionId}`;
    const before = browser.cookies.get(name) ?? '';
    const again = await start({ browser, more: { prompt: 'login' } }).opened;
    assert.equal((await enter(browser, again)).status, 303);
    const old = new TestBrowser(service.address);
    old.cookies.set(name, before);
    assert.equal((await start({ browser: old }).opened).title, 'Sign in');
  });

  test('a second click on a page gives no second code', async () => {
    const { browser, opened } = start();
    const page = await opened;
    assert.equal((await enter(browser, page)).status, 303);
    assert.equal((await enter(browser, page)).status, 400);
  });

  test('every page forbids frames, caches and scripts except one module, and leads to its app only', async () => {
    const page = await start({ more: { redirect_uri: 'com.example.wallet:/back' } }).opened;
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.match(policy, /form-action 'self' com\.example\.wallet:;/);
    assert.match(page.text, /name="password" type="password" autocomplete="current-password"/);
    assert.doesNotMatch(policy, /unsafe|script-src (?!'self';)/);
    assert.doesNotMatch(page.text, /<script(?! type="module" src="\/auth\/v2\/passkeys\.js")|style=/);
    assert.equal(page.headers.get('cache-control'), 'no-store');
    assert.equal(page.headers.get('x-frame-options'), 'DENY');
  });

  test('text of a caller never becomes markup', async () => {
    const hint = '"><script>alert(1)</script>';
    const page = await start({ more: { login_hint: hint } }).opened;
    assert.doesNotMatch(page.text, /<script(?! type="module" src="\/auth\/v2\/passkeys\.js")/);
    assert.match(page.text, /&quot;&gt;&lt;script&gt;/);
  });

  test('a page that waited half an hour has expired', async () => {
    const { browser, opened } = start();
    const page = await opened;
    later(30 * 60_000);
    assert.equal((await enter(browser, page)).status, 400);
  });
});

describe('claims of the member', () => {
  test('userinfo has the claims of the scopes and the subject of the ID token', async () => {
    const claims = async (scope: string) => {
      const { proof, code } = await codeOf({ more: { scope } });
      const { body } = await exchange(code, proof.verifier);
      const headers = { authorization: `Bearer ${body.access_token}` };
      const info = await send(service.address, 'GET', '/auth/v2/userinfo', { headers });
      return { idToken: body.id_token && claimsOf(body.id_token), info };
    };
    const all = await claims('openid profile email');
    const { given_name, family_name, name, email, sub } = all.info.body;
    assert.equal(name, `${given_name} ${family_name}`);
    assert.match(email, /@/);
    assert.equal(sub, all.idToken.sub);
    assert.deepEqual((await claims('openid')).info.body, { sub });
    const without = await claims('account:read');
    assert.equal(without.idToken, undefined);
    assert.equal(without.info.status, 403);
  });
});

describe('signing out', () => {
  test('an app with an ID token ends the session and gets the member back', async () => {
    const { browser, proof, code } = await codeOf();
    const { body } = await exchange(code, proof.verifier);
    const back = 'https://app.example/bye';
    const query = new URLSearchParams({
      id_token_hint: body.id_token,
      post_logout_redirect_uri: back,
      state: 'x y',
    });
    later(24 * 60 * 60_000);
    const left = await browser.get(`/auth/v2/logout?${query}`);
    assert.equal(left.headers.get('location'), `${back}?state=x%20y`);
    assert.equal((await start({ browser }).opened).title, 'Sign in');
  });

  test('asks before a logout without an ID token, and ignores an address that is not registered', async () => {
    const { browser, proof, code } = await codeOf();
    const asked = await browser.get('/auth/v2/logout?post_logout_redirect_uri=https://evil.example/');
    assert.equal(asked.title, 'Sign out?');
    assert.equal((await start({ browser }).opened).status, 303);
    const { body } = await exchange(code, proof.verifier);
    const query = new URLSearchParams({
      id_token_hint: body.id_token,
      post_logout_redirect_uri: 'https://evil.example/',
    });
    assert.equal((await browser.get(`/auth/v2/logout?${query}`)).title, 'You are signed out');
    const again = await codeOf();
    assert.equal((await again.browser.post('/auth/v2/sign-out', {})).title, 'You are signed out');
    assert.equal((await start({ browser: again.browser }).opened).title, 'Sign in');
  });

  test('an access token is no ID token', async () => {
    const { browser, proof, code } = await codeOf();
    const { body } = await exchange(code, proof.verifier);
    const asked = await browser.get(`/auth/v2/logout?id_token_hint=${body.access_token}`);
    assert.equal(asked.title, 'Sign out?');
    assert.equal(await isActive(body.id_token), false);
  });
});

describe('rules of the database', () => {
  const change = (table: string, set: string, where = 'true') =>
    service.db.superuser(`update ${table} set ${set} where ${where}`);

  test('sessions, consents and codes end for good', async () => {
    await codeOf({ clientId: 'third-app', more: { scope: 'openid' } });
    await change('member_sessions', 'ended_at = last_used_at', 'ended_at is null');
    await assert.rejects(change('member_sessions', 'ended_at = null'), { code: 'SD203' });
    await change('consents', `ended_at = granted_at, ended_by = 'MEMBER'`, 'ended_at is null');
    await assert.rejects(change('consents', 'ended_at = null, ended_by = null'), { code: 'SD204' });
    await change('authorization_grants', 'exchanged_at = created_at', 'exchanged_at is null');
    await assert.rejects(change('authorization_grants', 'exchanged_at = null'), { code: 'SD205' });
  });

  test('a grant of another company’s app needs a consent that covers it', async () => {
    await codeOf({ clientId: 'third-app', more: { scope: 'openid' } });
    const copy = (columns: string) =>
      service.db.superuser(
        `insert into authorization_grants
         select institution_id, gen_random_uuid(), gen_random_uuid(), sha256(gen_random_bytes.b), client_id, client_epoch,
                user_key, user_epoch, session_id, ${columns}, nonce, code_challenge, authenticated_at, created_at, expires_at,
                null, kept_until
         from authorization_grants g, (select uuid_send(gen_random_uuid()) as b) gen_random_bytes
         where client_id = 'third-app' and exchanged_at is null limit 1`,
      );
    await copy('consent_id, redirect_uri, scopes');
    await assert.rejects(copy('null, redirect_uri, scopes'), { code: 'SD206' });
    await assert.rejects(copy(`consent_id, redirect_uri, array['transfer:write']`), { code: 'SD206' });
  });

  test('a public client may not use its password or act for itself', async () => {
    const grants = `grants = array['client_credentials']`;
    await assert.rejects(change('clients', grants, `client_id = 'demo-budget'`), {
      constraint: 'clients_public',
    });
  });
});
