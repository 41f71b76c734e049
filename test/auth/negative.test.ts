import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { addClientKey, readPublicKey } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Client, type Reply, type RequestOptions } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { signJws, tamper } from '../support/jws.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Requests that the standards require to be refused, each with its section. */

const issuer = 'http://sharedraft.test';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const reader = { client_id: 'demo-reader', client_secret: 'demo-reader-secret' };
const member = { username: 'demo.member', password: 'demo-member-password' };
const account = `${paths.accounts}/a-1001-checking`;
const now = new Date('2026-03-02T12:00:00Z');
const seconds = now.getTime() / 1000;

const registered = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const strangerRsa = generateKeyPairSync('rsa', { modulusLength: 2048 });

let service: TestService;
let client: Client;
/** The key that signs access tokens, so that no case is refused for its signature. */
let ours: { readonly kid: string; readonly privateKey: KeyObject; readonly publicJwk: object };
let good: { readonly access_token: string; readonly refresh_token: string };
before(async () => {
  service = await startTestService({ clock: () => now, environment: { FAILED_LOGIN_PAUSE_MILLIS: '0' } });
  client = new Client(service.address);
  const { auth } = service.service.context;
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  const key = await readPublicKey(registered.publicKey.export({ format: 'pem', type: 'spki' }).toString());
  await addClientKey(auth, row?.institution_id as InstitutionId, {
    clientId: 'demo-app',
    key,
    origin: ownOrigin(),
  });
  ours = { ...(await auth.keys.signer()), publicJwk: (await auth.keys.published())[0] ?? {} };
  good = (await ask({ grant_type: 'password', ...app, ...member, scope: 'account:read offline_access' }))
    .body;
});
after(() => service.close());

const ask = (json: object): Promise<Reply> => client.post(paths.token, { json });
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
});

test('accepts the unchanged requests that the negative cases below modify', async () => {
  assert.equal((await client.get(account, { token: good.access_token })).status, 200);
  assert.equal((await client.get(account, { token: accessToken({}) })).status, 200);
  const reply = await ask({ grant_type: 'client_credentials', ...asserted(assertion({})) });
  assert.equal(reply.status, 200, reply.text);
});

describe('token request', () => {
  const clientGrant = { grant_type: 'client_credentials' };
  const cases: [
    section: string,
    name: string,
    status: number,
    error: string,
    request: () => RequestOptions,
  ][] = [
    [
      'RFC 6749 2.3',
      'two ways of authentication',
      400,
      'invalid_request',
      () => ({ json: { ...clientGrant, ...app }, headers: basic('demo-app', 'demo-app-secret') }),
    ],
    [
      'RFC 6749 2.3',
      'a secret beside an assertion',
      400,
      'invalid_request',
      () => ({ json: { ...clientGrant, ...app, ...asserted(assertion({})) } }),
    ],
    [
      'RFC 6749 2.3.1',
      'an id without a secret',
      401,
      'invalid_client',
      () => ({ json: { ...clientGrant, client_id: 'demo-app' } }),
    ],
    [
      'RFC 6749 2.3.1',
      'an empty secret',
      401,
      'invalid_client',
      () => ({ json: { ...clientGrant, ...app, client_secret: '' } }),
    ],
    [
      'RFC 6749 2.3.1',
      'an empty secret in Basic',
      401,
      'invalid_client',
      () => ({ json: clientGrant, headers: basic('demo-app', '') }),
    ],
    [
      'RFC 6749 2.3.1',
      'a secret in another case',
      401,
      'invalid_client',
      () => ({ json: { ...clientGrant, ...app, client_secret: 'DEMO-APP-SECRET' } }),
    ],
    ['RFC 6749 2.3.1', 'credentials in the query', 401, 'invalid_client', () => ({ json: clientGrant })],
    [
      'RFC 6749 2.3.1',
      'a broken percent escape in Basic',
      401,
      'invalid_client',
      () => ({ json: clientGrant, headers: basic('demo-app', '%zz') }),
    ],
    [
      'RFC 6749 3.2',
      'a parameter sent twice',
      400,
      'invalid_request',
      () => ({
        body: 'grant_type=client_credentials&scope=account%3Aread&scope=account%3Aread',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...basic('demo-app', 'demo-app-secret'),
        },
      }),
    ],
    ['RFC 6749 3.2', 'no grant type', 400, 'invalid_request', () => ({ json: app })],
    [
      'RFC 6749 3.2',
      'an empty grant type, which counts as left out',
      400,
      'invalid_request',
      () => ({ json: { ...app, grant_type: '' } }),
    ],
    [
      'RFC 6749 3.3',
      'a scope with a quote',
      400,
      'invalid_scope',
      () => ({ json: { ...clientGrant, ...app, scope: 'account:read"' } }),
    ],
    [
      'RFC 6749 3.3',
      'scopes with two spaces between',
      400,
      'invalid_scope',
      () => ({ json: { ...clientGrant, ...app, scope: 'account:read  transfer:read' } }),
    ],
    [
      'RFC 6749 3.3',
      'scopes with a tab between',
      400,
      'invalid_scope',
      () => ({ json: { ...clientGrant, ...app, scope: 'account:read\ttransfer:read' } }),
    ],
    [
      'RFC 6749 3.3',
      'a scope in another case',
      400,
      'invalid_scope',
      () => ({ json: { ...clientGrant, ...app, scope: 'ACCOUNT:READ' } }),
    ],
    [
      'RFC 6749 4.1',
      'a code for a client that is not registered for codes',
      400,
      'unauthorized_client',
      () => ({ json: { ...app, grant_type: 'authorization_code', code: 'x' } }),
    ],
    [
      'RFC 6749 4.3.2',
      'the password grant without a password',
      400,
      'invalid_request',
      () => ({ json: { ...app, grant_type: 'password', username: 'demo.member' } }),
    ],
    [
      'RFC 6749 4.3.2',
      'the password grant without a username',
      400,
      'invalid_request',
      () => ({ json: { ...app, grant_type: 'password', password: 'x' } }),
    ],
    [
      'RFC 6749 4.5',
      'an unknown grant type',
      400,
      'unsupported_grant_type',
      () => ({ json: { ...app, grant_type: 'urn:example:nobody' } }),
    ],
    [
      'RFC 6749 5.2',
      'a grant that the client may not use',
      400,
      'unauthorized_client',
      () => ({ json: { grant_type: 'refresh_token', ...reader, refresh_token: good.refresh_token } }),
    ],
    [
      'RFC 6749 6',
      'a refresh without a refresh token',
      400,
      'invalid_request',
      () => ({ json: { ...app, grant_type: 'refresh_token' } }),
    ],
    [
      'RFC 6749 6',
      'an invented refresh token',
      400,
      'invalid_grant',
      () => ({ json: { ...app, grant_type: 'refresh_token', refresh_token: 'made-up' } }),
    ],
    [
      'RFC 6749 6',
      'an access token for a refresh token',
      400,
      'invalid_grant',
      () => ({ json: { ...app, grant_type: 'refresh_token', refresh_token: good.access_token } }),
    ],
    [
      'RFC 6749 6',
      'a scope beyond the login’s',
      400,
      'invalid_scope',
      () => ({
        json: {
          ...app,
          grant_type: 'refresh_token',
          refresh_token: good.refresh_token,
          scope: 'account:read transfer:write',
        },
      }),
    ],
    [
      'RFC 8259 4',
      'a name twice in JSON',
      400,
      'invalid_request',
      () => ({
        body: '{"grant_type":"client_credentials","grant_type":"password"}',
        headers: { 'content-type': 'application/json' },
      }),
    ],
    [
      'RFC 7521 4.2',
      'an assertion without its type',
      400,
      'invalid_request',
      () => ({ json: { ...clientGrant, client_assertion: assertion({}) } }),
    ],
    [
      'RFC 7521 4.2',
      'the type without an assertion',
      400,
      'invalid_request',
      () => ({ json: { ...clientGrant, client_assertion_type: assertionType } }),
    ],
    [
      'RFC 7521 4.2',
      'an assertion of another type',
      400,
      'invalid_request',
      () => ({
        json: {
          ...clientGrant,
          client_assertion: assertion({}),
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
        },
      }),
    ],
    [
      'RFC 7521 4.2',
      'an assertion beside another client_id',
      401,
      'invalid_client',
      () => ({ json: { ...clientGrant, client_id: 'demo-reader', ...asserted(assertion({})) } }),
    ],
    [
      'RFC 7521 4.2',
      'an assertion beside Basic',
      400,
      'invalid_request',
      () => ({
        json: { ...clientGrant, ...asserted(assertion({})) },
        headers: basic('demo-app', 'demo-app-secret'),
      }),
    ],
  ];
  for (const [section, name, status, error, request] of cases) {
    test(`${section}: returns ${error} for ${name}`, async () => {
      const path = name.includes('in the query')
        ? `${paths.token}?client_id=demo-app&client_secret=demo-app-secret`
        : paths.token;
      const reply = await client.post(path, request());
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.body.error, error);
      assert.equal(reply.headers.get('cache-control'), 'no-store');
      assert.equal(reply.headers.has('www-authenticate'), status === 401, 'RFC 9110 15.5.2');
    });
  }

  test('RFC 6749 3.2: refuses every method but POST', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of [paths.token, paths.revoke, paths.introspect]) {
        assert.equal((await client.request(method, path)).status, 405, `${method} ${path}`);
      }
    }
  });
});

function asserted(clientAssertion: string) {
  return { client_assertion_type: assertionType, client_assertion: clientAssertion };
}

function assertion(
  claims: object,
  header: object = {},
  key: Parameters<typeof signJws>[2] = registered.privateKey,
): string {
  const usual = { iss: 'demo-app', sub: 'demo-app', aud: issuer, jti: randomUUID(), exp: seconds + 60 };
  return signJws({ alg: 'ES256', ...header }, { ...usual, ...claims }, key);
}

/** Signed anew with an `exp` that JSON can write and JavaScript cannot. */
function infinite(jwt: string): string {
  const payload = Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString();
  return signJws({ alg: 'ES256' }, payload.replace('1e+300', '1e999'), registered.privateKey);
}

describe('client assertion', () => {
  const publicPem = registered.publicKey.export({ format: 'pem', type: 'spki' });
  const cases: [section: string, name: string, make: () => string][] = [
    ['RFC 7521 3', 'no JWT at all', () => 'made-up'],
    ['RFC 7519 7.2', 'four parts', () => `${assertion({})}.x`],
    ['RFC 7516 3.1', 'an encrypted one', () => 'eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkExMjhHQ00ifQ.a.b.c.d'],
    [
      'RFC 7519 7.2',
      'a payload that is no JSON object',
      () => signJws({ alg: 'ES256' }, '["sub"]', registered.privateKey),
    ],
    ['RFC 7519 6.1', 'alg none', () => `${assertion({}, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`],
    [
      'RFC 8725 2.1',
      'alg none in another case',
      () => `${assertion({}, { alg: 'nOnE' }).split('.').slice(0, 2).join('.')}.`,
    ],
    [
      'RFC 8725 2.1',
      'the public key as an HMAC secret',
      () => assertion({}, { alg: 'HS256' }, { secret: publicPem }),
    ],
    [
      'RFC 8725 2.1',
      'a client secret as an HMAC secret',
      () => assertion({}, { alg: 'HS256' }, { secret: app.client_secret }),
    ],
    ['RFC 8725 3.1', 'an algorithm of another kind of key', () => assertion({}, { alg: 'RS256' })],
    ['RFC 7523 3 (9)', 'the signature of a stranger', () => assertion({}, {}, stranger.privateKey)],
    [
      'RFC 7515 4.1.3',
      'a stranger’s key that it brings along',
      () => assertion({}, { jwk: stranger.publicKey.export({ format: 'jwk' }) }, stranger.privateKey),
    ],
    ['RFC 7515 4.1.4', 'a kid that is not registered', () => assertion({}, { kid: 'other' })],
    [
      'RFC 7515 4.1.11',
      'a critical extension that is not understood',
      () => assertion({}, { crit: ['example'], example: true }),
    ],
    ['RFC 7515 4.1.11', 'an empty crit', () => assertion({}, { crit: [] })],
    ['RFC 7797 7', 'an unencoded payload', () => assertion({}, { crit: ['b64'], b64: false })],
    ['RFC 8725 3.11', 'the typ of an access token', () => assertion({}, { typ: 'at+jwt' })],
    ['RFC 7523 3 (1)', 'no iss', () => assertion({ iss: undefined })],
    ['RFC 7523 3 (2)', 'no sub', () => assertion({ sub: undefined })],
    ['RFC 7523 3 (2)', 'sub of another client', () => assertion({ sub: 'demo-reader' })],
    ['RFC 7523 3 (1)', 'iss of another client', () => assertion({ iss: 'demo-reader' })],
    ['RFC 7523 3 (2)', 'a client that does not exist', () => assertion({ iss: 'nobody', sub: 'nobody' })],
    ['RFC 7523 3 (3)', 'no aud', () => assertion({ aud: undefined })],
    ['RFC 7523 3 (3)', 'aud of another server', () => assertion({ aud: 'https://other.example' })],
    [
      'draft-ietf-oauth-rfc7523bis 4',
      'the token endpoint as aud',
      () => assertion({ aud: `${issuer}${paths.token}` }),
    ],
    [
      'draft-ietf-oauth-rfc7523bis 4',
      'our issuer as one aud of several',
      () => assertion({ aud: [issuer, 'https://other.example'] }),
    ],
    ['draft-ietf-oauth-rfc7523bis 4', 'our issuer in a list of one', () => assertion({ aud: [issuer] })],
    [
      'draft-ietf-oauth-rfc7523bis 4',
      'our issuer with a slash behind',
      () => assertion({ aud: `${issuer}/` }),
    ],
    ['RFC 7523 3 (4)', 'no exp', () => assertion({ exp: undefined })],
    ['RFC 7519 4.1.4', 'exp this second', () => assertion({ exp: seconds })],
    ['RFC 7519 2', 'exp as a string', () => assertion({ exp: String(seconds + 60) })],
    ['RFC 7523 3 (4)', 'exp unreasonably far ahead', () => assertion({ exp: seconds + 301 })],
    ['RFC 7519 2', 'exp beyond every date', () => assertion({ exp: 1e13 })],
    ['RFC 7519 2', 'exp beyond every number', () => infinite(assertion({ exp: 1e300 }))],
    ['RFC 7523 3 (5)', 'nbf in a minute', () => assertion({ nbf: seconds + 60 })],
    ['RFC 7523 3 (7)', 'no jti', () => assertion({ jti: undefined })],
    ['RFC 7519 4.1.7', 'jti as a number', () => assertion({ jti: 7 })],
    ['RFC 8725 3.12', 'an access token of ours', () => good.access_token],
  ];
  for (const [section, name, make] of cases) {
    test(`${section}: returns invalid_client for ${name}`, async () => {
      const reply = await ask({ grant_type: 'client_credentials', ...asserted(make()) });
      assert.equal(reply.status, 401, reply.text);
      assert.equal(reply.body.error, 'invalid_client');
    });
  }

  test('RFC 7523 3 (7): returns invalid_client for a used assertion, at another operation too', async () => {
    const used = asserted(assertion({}));
    assert.equal((await client.post(paths.introspect, { json: { ...used, token: 'x' } })).status, 200);
    for (const path of [paths.token, paths.revoke, paths.introspect]) {
      const json = { grant_type: 'client_credentials', token: 'x', ...used };
      assert.equal((await client.post(path, { json })).body.error, 'invalid_client', path);
    }
  });
});

function accessToken(
  claims: object,
  header: object = {},
  key: Parameters<typeof signJws>[2] = ours.privateKey,
): string {
  const usual = JSON.parse(Buffer.from(good.access_token.split('.')[1] ?? '', 'base64url').toString());
  return signJws(
    { alg: 'ES256', typ: 'at+jwt', kid: ours.kid, ...header },
    { ...usual, jti: randomUUID(), ...claims },
    key,
  );
}

describe('access token', () => {
  const unsigned = (alg: string) => `${accessToken({}, { alg }).split('.').slice(0, 2).join('.')}.`;
  const cases: [section: string, name: string, make: () => string][] = [
    ['RFC 7519 6.1', 'alg none', () => unsigned('none')],
    ['RFC 8725 2.1', 'alg None', () => unsigned('None')],
    ['RFC 8725 2.1', 'alg NONE', () => unsigned('NONE')],
    ['RFC 7515 4.1.1', 'no alg', () => accessToken({}, { alg: undefined })],
    [
      'RFC 8725 2.1',
      'our public key in PEM as an HMAC secret',
      () =>
        accessToken(
          {},
          { alg: 'HS256' },
          { secret: createPublicKey(ours.privateKey).export({ format: 'pem', type: 'spki' }) },
        ),
    ],
    [
      'RFC 8725 2.1',
      'our public key as a JWK as an HMAC secret',
      () => accessToken({}, { alg: 'HS256' }, { secret: JSON.stringify(ours.publicJwk) }),
    ],
    [
      'RFC 8725 3.1',
      'RS256 by a stranger, with our kid',
      () => accessToken({}, { alg: 'RS256' }, strangerRsa.privateKey),
    ],
    ['RFC 8725 3.1', 'ES384 in the header', () => accessToken({}, { alg: 'ES384' })],
    [
      'RFC 7515 5.2',
      'the signature of a stranger, with our kid',
      () => accessToken({}, {}, stranger.privateKey),
    ],
    ['RFC 7515 5.2', 'no signature', () => tamper(good.access_token, { signature: '' })],
    [
      'RFC 7515 5.2',
      'a signature of zeros',
      () => tamper(good.access_token, { signature: Buffer.alloc(64).toString('base64url') }),
    ],
    [
      'RFC 7515 5.2',
      'another payload under the same signature',
      () => tamper(good.access_token, { payload: { scope: 'transfer:write' } }),
    ],
    [
      'RFC 7515 5.2',
      'another header under the same signature',
      () => tamper(good.access_token, { header: { x: 1 } }),
    ],
    [
      'RFC 7515 4.1.3',
      'a key that it brings along',
      () =>
        accessToken(
          {},
          { kid: undefined, jwk: stranger.publicKey.export({ format: 'jwk' }) },
          stranger.privateKey,
        ),
    ],
    [
      'RFC 7515 4.1.2',
      'a key at an address that it names',
      () => accessToken({}, { kid: 'other', jku: 'https://attacker.example/jwks' }, stranger.privateKey),
    ],
    [
      'RFC 8725 3.10',
      'a kid meant for a database',
      () => accessToken({}, { kid: `' or '1'='1` }, stranger.privateKey),
    ],
    [
      'RFC 8725 3.10',
      'a kid meant for a file system',
      () => accessToken({}, { kid: '../../dev/null' }, { secret: '' }),
    ],
    ['RFC 7515 4.1.4', 'a kid that is no string', () => accessToken({}, { kid: 7 })],
    ['RFC 7515 4.1.4', 'no kid', () => accessToken({}, { kid: undefined })],
    [
      'RFC 7515 4.1.11',
      'a critical extension that is not understood',
      () => accessToken({}, { crit: ['example'], example: 1 }),
    ],
    ['RFC 7515 4.1.11', 'crit with a missing member', () => accessToken({}, { crit: ['exp'] })],
    ['RFC 7797 7', 'an unencoded payload', () => accessToken({}, { crit: ['b64'], b64: false })],
    ['RFC 9068 4', 'typ JWT', () => accessToken({}, { typ: 'JWT' })],
    ['RFC 9068 4', 'no typ', () => accessToken({}, { typ: undefined })],
    ['RFC 8725 3.11', 'typ of a logout token', () => accessToken({}, { typ: 'logout+jwt' })],
    ['RFC 9068 4', 'another issuer', () => accessToken({ iss: 'https://other.example' })],
    ['RFC 9068 4', 'no issuer', () => accessToken({ iss: undefined })],
    ['RFC 9068 4', 'another audience', () => accessToken({ aud: 'https://other.example' })],
    ['RFC 9068 2.2', 'no audience', () => accessToken({ aud: undefined })],
    ['RFC 7519 4.1.4', 'exp this second', () => accessToken({ exp: seconds })],
    ['RFC 9068 2.2', 'no exp', () => accessToken({ exp: undefined })],
    ['RFC 7519 2', 'exp as a string', () => accessToken({ exp: `${seconds + 60}` })],
    ['RFC 7519 4.1.5', 'nbf in an hour', () => accessToken({ nbf: seconds + 3_600 })],
    ['RFC 9068 2.2', 'no iat', () => accessToken({ iat: undefined })],
    ['RFC 9068 2.2', 'no jti', () => accessToken({ jti: undefined })],
    ['RFC 9068 2.2', 'no sub', () => accessToken({ sub: undefined })],
    ['RFC 9068 2.2', 'no client_id', () => accessToken({ client_id: undefined })],
    ['RFC 9068 2.2', 'a client that does not exist', () => accessToken({ client_id: 'nobody' })],
    ['RFC 9068 5', 'a user that does not exist', () => accessToken({ sub: 'nobody' })],
    ['RFC 9068 5', 'sub of a client in a member’s token', () => accessToken({ sub: 'demo-app' })],
    ['RFC 9068 5', 'a token of no kind', () => accessToken({ token_use: undefined })],
    ['RFC 9068 5', 'an institution that does not exist', () => accessToken({ institution_id: 999 })],
    [
      'RFC 7519 7.2',
      'a payload that is a list',
      () => signJws({ alg: 'ES256', typ: 'at+jwt', kid: ours.kid }, '[]', ours.privateKey),
    ],
    [
      'RFC 7519 7.2',
      'a payload that is no JSON',
      () => signJws({ alg: 'ES256', typ: 'at+jwt', kid: ours.kid }, 'x', ours.privateKey),
    ],
    [
      'RFC 7519 7.2',
      'a header that is no JSON',
      () => `eA.${good.access_token.split('.').slice(1).join('.')}`,
    ],
    ['RFC 7516 3.1', 'an encrypted token', () => 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMTI4R0NNIn0..a.b.c'],
    ['RFC 7515 2', 'padding behind base64url', () => `${good.access_token}=`],
    ['RFC 7515 2', 'the padding that would be due', () => `${good.access_token}==`],
    ['RFC 8725 3.12', 'a client assertion', () => assertion({})],
    ['RFC 6749 1.5', 'a refresh token', () => good.refresh_token],
  ];
  for (const [section, name, make] of cases) {
    test(`${section}: rejects a token as invalid and inactive: ${name}`, async () => {
      const token = make();
      const reply = await client.get(account, { token });
      assert.equal(reply.status, 401, reply.text);
      assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer .*error="invalid_token"/);
      if (name === 'a refresh token') return;
      const { body } = await client.post(paths.introspect, { json: { ...app, token } });
      assert.deepEqual(body, { active: false }, 'RFC 7662 2.2');
    });
  }
});

describe('presentation of a token', () => {
  const cases: [
    section: string,
    name: string,
    path: string,
    headers: () => Record<string, string>,
    code: string,
  ][] = [
    ['RFC 6750 3', 'not at all', account, () => ({}), 'missing_token'],
    [
      'RFC 6750 2.1',
      'a token by another scheme',
      account,
      () => basic('demo-app', 'demo-app-secret'),
      'missing_token',
    ],
    ['RFC 6750 2.1', 'without a token', account, () => ({ authorization: 'Bearer' }), 'invalid_token'],
    [
      'RFC 6750 2.1',
      'two tokens',
      account,
      () => ({ authorization: `Bearer ${good.access_token} ${good.access_token}` }),
      'invalid_token',
    ],
    [
      'RFC 6750 2.1',
      'a token with a comma behind',
      account,
      () => ({ authorization: `Bearer ${good.access_token},` }),
      'invalid_token',
    ],
    [
      'RFC 6750 2.1',
      'a token in quotes',
      account,
      () => ({ authorization: `Bearer "${good.access_token}"` }),
      'invalid_token',
    ],
  ];
  for (const [section, name, path, headers, code] of cases) {
    test(`${section}: returns ${code} for ${name}`, async () => {
      const reply = await client.get(path, { headers: headers() });
      assert.equal(reply.status, 401);
      assert.equal(reply.body.code, code);
      const challenge = reply.headers.get('www-authenticate') ?? '';
      assert.match(challenge, /^Bearer realm="/);
      assert.equal(
        challenge.includes('error='),
        code === 'invalid_token',
        'RFC 6750 3.1: no code without a token',
      );
    });
  }

  test('RFC 6750 2.3: ignores a token in the query', async () => {
    const reply = await client.get(`${account}?access_token=${good.access_token}`);
    assert.equal(reply.status, 401);
    assert.equal(reply.body.code, 'missing_token');
  });

  test('RFC 6750 2.2: ignores a token in the body', async () => {
    const reply = await client.post(paths.transfers, { json: { access_token: good.access_token } });
    assert.equal(reply.status, 401);
    assert.equal(reply.body.code, 'missing_token');
  });

  test('RFC 6750 3.1: returns insufficient_scope without the scope, which the challenge names', async () => {
    const reply = await client.get(`${paths.transfers}/x`, { token: good.access_token });
    assert.equal(reply.status, 403);
    const challenge = reply.headers.get('www-authenticate') ?? '';
    assert.match(challenge, /error="insufficient_scope", scope="transfer:read"/);
  });
});

describe('revocation and introspection', () => {
  const cases: [
    section: string,
    name: string,
    path: string,
    request: () => RequestOptions,
    status: number,
    error: string,
  ][] = [
    [
      'RFC 7009 2.1',
      'no client',
      paths.revoke,
      () => ({ json: { token: good.access_token } }),
      401,
      'invalid_client',
    ],
    [
      'RFC 7009 2.1',
      'a wrong secret',
      paths.revoke,
      () => ({ json: { ...app, client_secret: 'x', token: good.access_token } }),
      401,
      'invalid_client',
    ],
    ['RFC 7009 2.1', 'no token', paths.revoke, () => ({ json: app }), 400, 'invalid_request'],
    [
      'RFC 7009 2.1',
      'a token twice',
      paths.revoke,
      () => ({
        body: 'token=a&token=b',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          ...basic('demo-app', 'demo-app-secret'),
        },
      }),
      400,
      'invalid_request',
    ],
    [
      'RFC 7009 2.1',
      'the access token of another client',
      paths.revoke,
      () => ({ json: { ...reader, token: good.access_token } }),
      400,
      'unauthorized_client',
    ],
    [
      'RFC 7009 2.1',
      'the refresh token of another client',
      paths.revoke,
      () => ({ json: { ...reader, token: good.refresh_token } }),
      400,
      'unauthorized_client',
    ],
    [
      'RFC 7662 2.1',
      'no client',
      paths.introspect,
      () => ({ json: { token: good.access_token } }),
      401,
      'invalid_client',
    ],
    [
      'RFC 7662 2.3',
      'a wrong secret',
      paths.introspect,
      () => ({ json: { ...app, client_secret: 'x', token: good.access_token } }),
      401,
      'invalid_client',
    ],
    [
      'RFC 7662 2.1',
      'the token itself as authorization',
      paths.introspect,
      () => ({
        json: { token: good.access_token },
        headers: { authorization: `Bearer ${good.access_token}` },
      }),
      401,
      'invalid_client',
    ],
    ['RFC 7662 2.1', 'no token', paths.introspect, () => ({ json: app }), 400, 'invalid_request'],
    [
      'RFC 7662 2.1',
      'a token that is no string',
      paths.introspect,
      () => ({ json: { ...app, token: 7 } }),
      400,
      'invalid_request',
    ],
  ];
  for (const [section, name, path, request, status, error] of cases) {
    test(`${section}: returns ${error} for ${name}`, async () => {
      const reply = await client.post(path, request());
      assert.equal(reply.status, status, reply.text);
      assert.equal(reply.body.error, error);
    });
  }

  test('the refused revocations above have ended no token', async () => {
    assert.equal((await client.get(account, { token: good.access_token })).status, 200);
    const refresh = { grant_type: 'refresh_token', ...app, refresh_token: good.refresh_token };
    assert.equal((await ask(refresh)).status, 200);
  });
});

describe('metadata', () => {
  const path = '/.well-known/oauth-authorization-server';

  test('RFC 8414 2: the metadata has the required members and omits what the service does not offer', async () => {
    const { body } = await client.get(path);
    for (const name of ['issuer', 'token_endpoint', 'response_types_supported'])
      assert.ok(name in body, name);
    assert.deepEqual(body.response_types_supported, ['code']);
    assert.ok(!('registration_endpoint' in body));
    // A public client names itself at the token endpoint, and may not introspect.
    assert.ok(body.token_endpoint_auth_methods_supported.includes('none'));
    assert.ok(!body.introspection_endpoint_auth_methods_supported.includes('none'));
    const algorithms: string[] = body.token_endpoint_auth_signing_alg_values_supported;
    assert.ok(!algorithms.includes('none'), 'RFC 8414 2: the value "none" MUST NOT be used');
    assert.ok(algorithms.every((alg) => !alg.startsWith('HS')));
  });

  test('RFC 8414 3.2: the metadata is JSON and is read with GET only', async () => {
    const { headers } = await client.get(path);
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    assert.equal((await client.post(path)).status, 405);
  });

  test('RFC 8414 3.1: the metadata does not exist for an issuer with a path', async () => {
    assert.equal((await client.get(`${path}/lakeside`)).status, 404);
  });

  test('RFC 8414 3.3: the metadata names the configured issuer, independent of Host', async () => {
    const { port } = new URL(service.address);
    const request = `GET ${path} HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n`;
    const { text } = await sendRaw(Number(port), [request]);
    assert.ok(text.includes(`"issuer":"${issuer}"`), text);
    assert.ok(!text.includes('attacker.example'));
  });
});
