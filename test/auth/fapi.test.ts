import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  addClientKey,
  changeClient,
  createClient,
  readPublicKey,
  rotateSecret,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Client, type Reply } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { sha256, TestKey } from '../support/dpop.ts';
import { signJws } from '../support/jws.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, type Pkce, pkce, TestBrowser } from '../support/sign-in.ts';

/** A client of the FAPI 2.0 Security Profile. docs/fapi.md names the modules of the OpenID Foundation's test plan that these tests stand for. */

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/back';
const member = { username: 'demo.member', password: 'demo-member-password' };
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const parPath = '/auth/v2/par';
const scope = 'openid account:read offline_access';
let now = Date.parse('2026-03-02T12:00:00Z');
const seconds = () => Math.floor(now / 1000);

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const key = new TestKey();
let service: TestService;
let client: Client;
let institutionId: InstitutionId;

const pem = (one: KeyObject) => one.export({ format: 'pem', type: 'spki' }).toString();
const fapi = {
  name: 'Aggregator',
  scopes: ['openid', 'account:read', 'offline_access'] as const,
  grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  redirectUris: [redirectUri],
  requiresDpop: true,
  securityProfile: 'FAPI2' as const,
};

before(async () => {
  const environment = { PUBLIC_URL: issuer, FAILED_LOGIN_PAUSE_MILLIS: '0' };
  service = await startTestService({ clock: () => new Date(now), environment });
  client = new Client(service.address);
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  institutionId = row?.institution_id as InstitutionId;
  const { auth } = service.service.context;
  for (const clientId of ['fapi-app', 'fapi-other']) {
    const publicKey = await readPublicKey(pem(pair.publicKey));
    await createClient(auth, { ...fapi, institutionId, clientId, key: publicKey }, ownOrigin());
  }
});
after(() => service.close());

interface Changes {
  readonly header?: object;
  readonly claims?: object;
  readonly privateKey?: KeyObject;
}

/** Client authentication by private_key_jwt, with changes of the assertion. */
function authenticated(changes: Changes = {}, clientId = 'fapi-app') {
  const claims = {
    iss: clientId,
    sub: clientId,
    aud: issuer,
    exp: seconds() + 60,
    iat: seconds(),
    jti: randomUUID(),
  };
  const header = { alg: 'ES256', ...changes.header };
  const client_assertion = signJws(
    header,
    { ...claims, ...changes.claims },
    changes.privateKey ?? pair.privateKey,
  );
  return { client_id: clientId, client_assertion_type: assertionType, client_assertion };
}

const nonce = () => service.service.context.auth.proofNonces.current();
function proof(
  path: string,
  {
    by = key,
    method = 'POST',
    token,
    claims,
  }: { by?: TestKey; method?: string; token?: string; claims?: object } = {},
) {
  const ath = token && sha256(token);
  const own = { htm: method, htu: issuer + path, iat: seconds(), nonce: nonce(), ath };
  return { dpop: by.proof({ claims: { ...own, ...claims } }) };
}

const requestOf = ({ challenge }: Pkce) => ({
  ...{ response_type: 'code', redirect_uri: redirectUri, scope },
  ...{ code_challenge: challenge, code_challenge_method: 'S256' },
});

const push = (form: Record<string, string>, headers: Record<string, string> = {}): Promise<Reply> =>
  client.post(parPath, { form, headers });

async function pushed(more: Record<string, string | undefined> = {}, secret = pkce(), headers = {}) {
  const all = { ...requestOf(secret), ...authenticated(), ...more };
  const form = Object.fromEntries(
    Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined),
  );
  const reply = await push(form, headers);
  assert.equal(reply.status, 201, reply.text);
  return { uri: reply.body.request_uri as string, secret };
}

/** The member signs in and allows; the response of the pages. `beside` stands in the address beside the pushed request. */
async function allow(
  uri: string,
  {
    browser = new TestBrowser(service.address),
    beside = {},
  }: { readonly browser?: TestBrowser; readonly beside?: Record<string, string> } = {},
): Promise<URL> {
  let page = await browser.get(authorizeUrl({ client_id: 'fapi-app', request_uri: uri, ...beside }));
  if (page.status === 200 && !page.title.startsWith('Allow')) {
    page = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
  }
  if (page.title.startsWith('Allow')) {
    page = await browser.post('/auth/v2/consent', {
      request: page.request,
      days: '90',
      answer: 'allow',
      accounts: 'all',
    });
  }
  return page.location;
}

async function code(more: Record<string, string> = {}) {
  const { uri, secret } = await pushed(more);
  const response = await allow(uri);
  const text = response.searchParams.get('code') ?? '';
  assert.notEqual(text, '', response.href);
  return { code: text, code_verifier: secret.verifier, redirect_uri: redirectUri };
}

const exchange = (form: object, headers: Record<string, string> = proof(paths.token)): Promise<Reply> =>
  client.post(paths.token, {
    form: { grant_type: 'authorization_code', ...authenticated(), ...form },
    headers,
  });

const account = `${paths.accounts}/a-1001-checking`;
const read = (token: string, headers: Record<string, string>) =>
  client.get(account, { headers: { authorization: `DPoP ${token}`, ...headers } });

test('signs a member in by a pushed request, with iss in the response, and reads with a bound token', async () => {
  const { uri, secret } = await pushed({ state: 'st', nonce: 'n'.repeat(64) });
  const response = await allow(uri);
  assert.deepEqual([response.searchParams.get('iss'), response.searchParams.get('state')], [issuer, 'st']);
  const text = response.searchParams.get('code') ?? '';
  const tokens = await exchange({ code: text, code_verifier: secret.verifier, redirect_uri: redirectUri });
  assert.equal(tokens.status, 200, tokens.text);
  assert.equal(tokens.body.token_type, 'DPoP');
  assert.equal(claimsOf(tokens.body.id_token).nonce, 'n'.repeat(64));
  const token = tokens.body.access_token;
  assert.equal((await read(token, proof(account, { method: 'GET', token }))).status, 200);
  const small = { authorization: `dpop ${token}`, ...proof(account, { method: 'GET', token }) };
  assert.equal((await client.get(account, { headers: small })).status, 200, 'the scheme in small letters');
});

test('reads the accounts of a consent in the shapes of FDX with a bound token, and not without its key', async () => {
  const { body } = await exchange(await code());
  const token: string = body.access_token;
  const path = '/fdx/v6/accounts/a-1001-checking';
  const ask = (authorization: string, headers: Record<string, string>) =>
    client.get(path, { headers: { authorization, ...headers } });
  const found = await ask(`DPoP ${token}`, proof(path, { method: 'GET', token }));
  assert.deepEqual([found.status, found.body.accountCategory], [200, 'DEPOSIT_ACCOUNT'], found.text);
  for (const [scheme, headers, code] of [
    ['Bearer', {}, 'invalid_token'],
    ['DPoP', {}, 'invalid_dpop_proof'],
    ['DPoP', proof(path, { method: 'GET', token, claims: { nonce: undefined } }), 'use_dpop_nonce'],
  ] as const) {
    const refused = await ask(`${scheme} ${token}`, headers);
    assert.deepEqual([refused.status, refused.body.code], [401, '602'], refused.text);
    assert.match(refused.body.debugMessage, new RegExp(`^${code}: `));
    assert.match(refused.headers.get('www-authenticate') ?? '', new RegExp(`error="${code}"`));
    assert.equal(refused.headers.has('dpop-nonce'), scheme === 'DPoP');
  }
});

const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

test('keeps the refresh token of the profile, which only the client with its key can use', async () => {
  const tokens = await exchange(await code());
  const refresh = (form: object, headers: Record<string, string> = proof(paths.token)) =>
    client.post(paths.token, {
      form: { grant_type: 'refresh_token', refresh_token: tokens.body.refresh_token, ...form },
      headers,
    });
  for (let turn = 0; turn < 3; turn += 1) {
    const renewed = await refresh(authenticated());
    assert.equal(renewed.status, 200, renewed.text);
    assert.equal(renewed.body.refresh_token, tokens.body.refresh_token);
    now += 60_000;
  }
  assert.equal((await refresh({ client_id: 'fapi-app' })).body.error, 'invalid_client');
  assert.equal((await refresh(authenticated({}, 'fapi-other'))).body.error, 'invalid_grant');
  assert.equal((await refresh(authenticated(), {})).body.error, 'invalid_dpop_proof');
  const [family] = await service.db.superuser<{ generation: number; is_moved: boolean }>(
    `select max(generation) as generation, bool_or(idle_until > created_at + interval '14 days') as is_moved
     from refresh_families where client_id = 'fapi-app'`,
  );
  assert.deepEqual(family, { generation: 0, is_moved: true });
});

describe('authorization requests', () => {
  test('refuses a request that was not pushed (FAPI 2.0 5.3.2.2)', async () => {
    const url = authorizeUrl({ client_id: 'fapi-app', ...requestOf(pkce()), state: 'st' });
    const { location } = await new TestBrowser(service.address).get(url);
    assert.equal(location.searchParams.get('error'), 'invalid_request');
    assert.equal(location.searchParams.get('iss'), issuer);
  });

  test('opens a pushed request again until a code came of it, and not after (FAPI 2.0 5.3.2.2)', async () => {
    const { uri } = await pushed();
    const browser = new TestBrowser(service.address);
    await browser.get(authorizeUrl({ client_id: 'fapi-app', request_uri: uri }));
    assert.ok((await allow(uri, { browser })).searchParams.has('code'));
    const again = await browser.get(authorizeUrl({ client_id: 'fapi-app', request_uri: uri }));
    assert.equal(again.status, 400);
  });

  test('refuses a pushed request of another client, and one that has expired (RFC 9126 2.2, 4)', async () => {
    const { uri } = await pushed();
    const browser = new TestBrowser(service.address);
    assert.equal(
      (await browser.get(authorizeUrl({ client_id: 'fapi-other', request_uri: uri }))).status,
      400,
    );
    now += 91_000;
    assert.equal((await browser.get(authorizeUrl({ client_id: 'fapi-app', request_uri: uri }))).status, 400);
  });

  test('returns access_denied with iss if the member refuses (RFC 6749 4.1.2.1)', async () => {
    const { uri } = await pushed({ prompt: 'consent' });
    const browser = new TestBrowser(service.address);
    const first = await browser.get(authorizeUrl({ client_id: 'fapi-app', request_uri: uri }));
    const page = await browser.post('/auth/v2/sign-in', { request: first.request, ...member });
    const { location } = await browser.post('/auth/v2/consent', { request: page.request, answer: 'refuse' });
    assert.deepEqual(
      [location.searchParams.get('error'), location.searchParams.get('iss')],
      ['access_denied', issuer],
    );
  });

  const refused: [
    section: string,
    name: string,
    error: string,
    form: () => Record<string, string | undefined>,
  ][] = [
    [
      'RFC 9126 2.1',
      'a request_uri',
      'invalid_request',
      () => ({ request_uri: 'urn:ietf:params:oauth:request_uri:x' }),
    ],
    ['FAPI 2.0 5.3.2.2', 'no challenge', 'invalid_request', () => ({ code_challenge: undefined })],
    ['FAPI 2.0 5.3.2.2', 'a plain challenge', 'invalid_request', () => ({ code_challenge_method: 'plain' })],
    [
      'FAPI 2.0 5.3.2.2',
      'a challenge without its method',
      'invalid_request',
      () => ({ code_challenge_method: undefined }),
    ],
    ['FAPI 2.0 5.3.2.2', 'no address', 'invalid_request', () => ({ redirect_uri: undefined })],
    [
      'RFC 9700 2.1',
      'an address that is not registered',
      'invalid_request',
      () => ({ redirect_uri: 'https://evil.example/' }),
    ],
    [
      'RFC 9700 2.1',
      'a registered address with more',
      'invalid_request',
      () => ({ redirect_uri: `${redirectUri}/more` }),
    ],
    ['FAPI 2.0 5.3.2.2', 'response_type token', 'invalid_request', () => ({ response_type: 'token' })],
    [
      'FAPI 2.0 5.3.2.2',
      'response_type code id_token',
      'invalid_request',
      () => ({ response_type: 'code id_token' }),
    ],
    ['RFC 9101 5', 'a request object', 'invalid_request', () => ({ request: 'eyJhbGciOiJub25lIn0.e30.' })],
    [
      'RFC 6749 3.3',
      'a scope that the client does not have',
      'invalid_scope',
      () => ({ scope: 'transfer:write' }),
    ],
    [
      'RFC 7523 3',
      'RS256',
      'invalid_client',
      () => authenticated({ header: { alg: 'RS256' }, privateKey: rsa.privateKey }),
    ],
    [
      'RFC 7523 3',
      'the key of a stranger',
      'invalid_client',
      () => authenticated({ privateKey: key.privateKey }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'the pushing endpoint as audience',
      'invalid_client',
      () => authenticated({ claims: { aud: issuer + parPath } }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'the token endpoint as audience',
      'invalid_client',
      () => authenticated({ claims: { aud: issuer + paths.token } }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'a list as audience',
      'invalid_client',
      () => authenticated({ claims: { aud: [issuer] } }),
    ],
    [
      'RFC 7523 3',
      'another audience',
      'invalid_client',
      () => authenticated({ claims: { aud: 'https://other.example' } }),
    ],
    ['RFC 7523 3', 'no sub', 'invalid_client', () => authenticated({ claims: { sub: undefined } })],
    [
      'RFC 7523 3',
      'an assertion of five minutes ago',
      'invalid_client',
      () => authenticated({ claims: { exp: seconds() - 300 } }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'an assertion of the next minute but one',
      'invalid_client',
      () => authenticated({ claims: { nbf: seconds() + 61, iat: seconds() + 61 } }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'no authentication',
      'invalid_client',
      () => ({ client_assertion: undefined, client_assertion_type: undefined, client_id: 'fapi-app' }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'a secret',
      'invalid_client',
      () => ({ client_assertion: undefined, client_assertion_type: undefined, client_secret: 'guess' }),
    ],
  ];
  for (const [section, name, error, change] of refused) {
    test(`refuses to take a pushed request with ${name} (${section})`, async () => {
      const all = { ...requestOf(pkce()), ...authenticated(), ...change() };
      const form = Object.fromEntries(
        Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined),
      );
      const reply = await push(form);
      assert.equal(reply.body.error, error, reply.text);
      assert.equal(reply.status, error === 'invalid_client' ? 401 : 400);
    });
  }

  test('takes an assertion whose clock is eight seconds ahead (FAPI 2.0 5.3.2.1)', async () => {
    const ahead = { nbf: seconds() + 8, iat: seconds() + 8 };
    assert.equal((await push({ ...requestOf(pkce()), ...authenticated({ claims: ahead }) })).status, 201);
  });

  test('takes a request without state and nonce, and scopes in another order', async () => {
    const { uri } = await pushed({ scope: 'offline_access account:read openid' });
    const response = await allow(uri);
    assert.equal(response.searchParams.has('state'), false);
    assert.ok(response.searchParams.has('code'));
  });

  test('returns the state of the pushed request, and not the one beside it or none (RFC 9126 4, RFC 9101 6.3)', async () => {
    for (const [inside, expected] of [
      [{ state: 'inside' }, 'inside'],
      [{}, null],
    ] as const) {
      const response = await allow((await pushed(inside)).uri, { beside: { state: 'outside' } });
      assert.ok(response.searchParams.has('code'), response.href);
      assert.equal(response.searchParams.get('state'), expected);
    }
  });

  test('puts the nonce of the pushed request into the ID token, and not the one beside it or none (RFC 9126 4, RFC 9101 6.3)', async () => {
    for (const [inside, expected] of [
      [{ nonce: 'inside' }, 'inside'],
      [{}, undefined],
    ] as const) {
      const { uri, secret } = await pushed(inside);
      const response = await allow(uri, { beside: { nonce: 'outside' } });
      const form = { code: response.searchParams.get('code'), code_verifier: secret.verifier };
      const tokens = await exchange(form);
      assert.equal(claimsOf(tokens.body.id_token).nonce, expected, tokens.text);
    }
  });

  test('ignores scope, address and challenge beside a pushed request (RFC 9126 4, RFC 9101 6.3)', async () => {
    const { uri, secret } = await pushed({ scope: 'openid' });
    const beside = {
      ...{ scope: 'openid account:read', redirect_uri: 'https://evil.example/' },
      ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
    };
    const response = await allow(uri, { beside });
    assert.equal(response.origin + response.pathname, redirectUri);
    const form = { code: response.searchParams.get('code'), code_verifier: secret.verifier };
    assert.equal((await exchange(form)).body.scope, 'openid');
  });

  test('returns a nonce and a state of the longest size whole, and refuses longer ones (OpenID Connect Core 1.0 3.1.2.1)', async () => {
    const [nonce, state] = ['n'.repeat(512), 's'.repeat(2_048)];
    const { uri, secret } = await pushed({ nonce, state });
    const response = await allow(uri);
    assert.equal(response.searchParams.get('state'), state);
    const form = { code: response.searchParams.get('code'), code_verifier: secret.verifier };
    assert.equal(claimsOf((await exchange(form)).body.id_token).nonce, nonce);
    for (const longer of [{ nonce: `${nonce}n` }, { state: `${state}s` }] as Record<string, string>[]) {
      const reply = await push({ ...requestOf(pkce()), ...authenticated(), ...longer });
      assert.deepEqual([reply.status, reply.body.error], [400, 'invalid_request']);
    }
  });

  test('refuses to take a pushed request by another method than POST (RFC 9126 2.3)', async () => {
    assert.equal((await client.get(parPath)).status, 405);
  });
});

describe('token requests', () => {
  const refused: [section: string, name: string, error: string, send: () => Promise<Reply>][] = [
    [
      'FAPI 2.0 5.3.2.1',
      'a code without a proof',
      'invalid_dpop_proof',
      async () => exchange(await code(), {}),
    ],
    [
      'RFC 9449 10',
      'a code that is bound to another key',
      'invalid_grant',
      async () => exchange(await code({ dpop_jkt: new TestKey().thumbprint })),
    ],
    [
      'RFC 6749 4.1.3',
      'the code of another client',
      'invalid_grant',
      async () => exchange({ ...(await code()), ...authenticated({}, 'fapi-other') }),
    ],
    [
      'RFC 7636 4.6',
      'another verifier',
      'invalid_grant',
      async () => exchange({ ...(await code()), code_verifier: pkce().verifier }),
    ],
    [
      'RFC 7636 4.5',
      'no verifier',
      'invalid_request',
      async () => exchange({ ...(await code()), code_verifier: '' }),
    ],
    [
      'RFC 6749 4.1.3',
      'another address',
      'invalid_grant',
      async () => exchange({ ...(await code()), redirect_uri: 'https://app.example/other' }),
    ],
    [
      'RFC 7523 3',
      'no assertion',
      'invalid_client',
      async () => exchange({ ...(await code()), client_assertion: '', client_assertion_type: '' }),
    ],
    [
      'RFC 7523 3',
      'an assertion of RS256',
      'invalid_client',
      async () =>
        exchange({
          ...(await code()),
          ...authenticated({ header: { alg: 'RS256' }, privateKey: rsa.privateKey }),
        }),
    ],
    [
      'RFC 7523 3',
      'an assertion without sub',
      'invalid_client',
      async () => exchange({ ...(await code()), ...authenticated({ claims: { sub: undefined } }) }),
    ],
    [
      'RFC 7523 3',
      'an assertion for another audience',
      'invalid_client',
      async () =>
        exchange({ ...(await code()), ...authenticated({ claims: { aud: 'https://other.example' } }) }),
    ],
    [
      'RFC 7523 3',
      'an expired assertion',
      'invalid_client',
      async () => exchange({ ...(await code()), ...authenticated({ claims: { exp: seconds() - 300 } }) }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'a code after a minute',
      'invalid_grant',
      async () => {
        const form = await code();
        now += 61_000;
        return exchange(form);
      },
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'the password grant',
      'unauthorized_client',
      () =>
        client.post(paths.token, {
          form: { grant_type: 'password', ...member, ...authenticated() },
          headers: proof(paths.token),
        }),
    ],
    [
      'FAPI 2.0 5.3.2.1',
      'a token of the client without a proof',
      'invalid_dpop_proof',
      () => client.post(paths.token, { form: { grant_type: 'client_credentials', ...authenticated() } }),
    ],
  ];
  for (const [section, name, error, send] of refused) {
    test(`refuses ${name} (${section})`, async () => {
      const reply = await send();
      assert.equal(reply.body.error, error, reply.text);
    });
  }

  test('ends the tokens of a code that comes a second time (RFC 6749 4.1.2)', async () => {
    const form = await code();
    const tokens = await exchange(form);
    now += 1_000;
    assert.equal((await exchange(form)).body.error, 'invalid_grant');
    const token = tokens.body.access_token;
    assert.equal((await read(token, proof(account, { method: 'GET', token }))).status, 401);
  });

  test('takes the client from its assertion if client_id is left out, and refuses another client_id (RFC 7521 4.2)', async () => {
    const { client_id: _, ...assertion } = authenticated();
    const send = (form: object) =>
      client.post(paths.token, {
        form: { grant_type: 'client_credentials', scope: 'account:read', ...assertion, ...form },
        headers: proof(paths.token),
      });
    assert.equal((await send({ client_id: 'fapi-other' })).body.error, 'invalid_client');
    assert.equal((await send({})).status, 200);
  });

  test('takes proofs of clocks that are ten seconds early or late, and ignores their exp and nbf', async () => {
    for (const claims of [
      { iat: seconds() - 10 },
      { iat: seconds() + 10 },
      { exp: seconds() + 60, nbf: seconds() },
    ]) {
      const tokens = await exchange(await code(), proof(paths.token, { claims }));
      assert.equal(tokens.status, 200, JSON.stringify(claims));
    }
  });

  test('binds a code to the key that the pushed request proves (RFC 9449 10.1)', async () => {
    for (const [by, status] of [
      [key, 200],
      [new TestKey(), 400],
    ] as const) {
      const { uri, secret } = await pushed({}, pkce(), proof(parPath));
      const text = (await allow(uri)).searchParams.get('code') ?? '';
      const form = { code: text, code_verifier: secret.verifier };
      assert.equal((await exchange(form, proof(paths.token, { by }))).status, status);
    }
  });
});

describe('settings of the profile', () => {
  const deps = () => service.service.context.auth;
  const change = (clientId: string, one: Parameters<typeof changeClient>[2]['change']) =>
    changeClient(deps(), institutionId, { clientId, change: one, origin: ownOrigin() });
  const wrong: [name: string, change: Parameters<typeof change>[1], column: string][] = [
    [
      'a public client',
      { isPublic: true, grants: ['authorization_code'] },
      `is_public = true, grants = '{authorization_code}'`,
    ],
    ['bearer tokens', { requiresDpop: false }, 'requires_dpop = false'],
    ['the password grant', { grants: ['password'] }, `grants = '{password}'`],
    [
      'the token endpoint as audience',
      { allowsTokenEndpointAudience: true },
      'allows_token_endpoint_audience = true',
    ],
    [
      'an address of http',
      { redirectUris: ['http://127.0.0.1/'] },
      `redirect_uris = '{https://a.example/,http://127.0.0.1/}'`,
    ],
    ['a private scheme', { redirectUris: ['com.example.app:/'] }, `redirect_uris = '{com.example.app:/}'`],
  ];
  for (const [name, one, column] of wrong) {
    test(`refuses ${name} for a client of the profile, in the code and in the database`, async () => {
      await assert.rejects(change('fapi-other', one), { code: 'invalid_request' });
      await assert.rejects(
        service.db.superuser(`update clients set ${column} where client_id = 'fapi-other'`),
        { constraint: 'clients_fapi2' },
      );
    });
  }

  test('refuses a secret and a key for RS256 of a client of the profile, in the code and in the database', async () => {
    const origin = ownOrigin();
    await assert.rejects(
      rotateSecret(deps(), institutionId, { clientId: 'fapi-other', overlapMillis: 0, origin }),
      { code: 'invalid_request' },
    );
    const rsaKey = await readPublicKey(pem(rsa.publicKey), 'RS256');
    await assert.rejects(
      addClientKey(deps(), institutionId, { clientId: 'fapi-other', key: rsaKey, origin }),
      {
        code: 'invalid_request',
      },
    );
    for (const statement of [
      `insert into client_secrets (institution_id, client_id, slot, secret_hash, created_at)
       select institution_id, client_id, 1, decode(repeat('00', 32), 'hex'), now() from clients where client_id = 'fapi-other'`,
      `insert into client_keys (institution_id, client_id, kid, algorithm, public_jwk, created_at)
       select institution_id, client_id, 'rsa', 'RS256', '{"kty":"RSA","n":"AQ","e":"AQAB"}', now() from clients where client_id = 'fapi-other'`,
    ]) {
      await assert.rejects(service.db.superuser(statement), { code: 'SD208' });
    }
  });

  test('refuses the profile for a client that has a secret, in the code and in the database', async () => {
    await assert.rejects(
      change('demo-app', { securityProfile: 'FAPI2', requiresDpop: true, grants: ['client_credentials'] }),
      { code: 'invalid_request' },
    );
    await assert.rejects(
      service.db.superuser(
        `update clients set security_profile = 'FAPI2', requires_dpop = true, grants = '{client_credentials}' where client_id = 'demo-app'`,
      ),
      { code: 'SD208' },
    );
    await assert.rejects(
      createClient(deps(), { ...fapi, institutionId, clientId: 'fapi-secret' }, ownOrigin()),
      { code: 'invalid_request' },
    );
  });

  test('names its endpoints and methods in both metadata documents', async () => {
    const [one, other] = await Promise.all(
      ['oauth-authorization-server', 'openid-configuration'].map((name) =>
        client.get(`/.well-known/${name}`),
      ),
    );
    assert.deepEqual(one?.body, other?.body);
    const { body } = one as Reply;
    assert.ok(body.token_endpoint_auth_methods_supported.includes('private_key_jwt'));
    assert.ok(body.dpop_signing_alg_values_supported.includes('ES256'));
    assert.equal(body.authorization_response_iss_parameter_supported, true);
    assert.equal(body.pushed_authorization_request_endpoint, issuer + parPath);
    assert.deepEqual(body.code_challenge_methods_supported, ['S256']);
  });
});
