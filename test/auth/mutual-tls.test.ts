import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import * as openid from 'openid-client';
import {
  addClientCertificate,
  addClientKey,
  changeClient,
  createClient,
  InvalidCertificateError,
  listClients,
  readCertificatePem,
  readPublicKey,
  removeClientCertificate,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { TestCertificate } from '../support/certificates.ts';
import { Client, type Reply } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { sha256, TestKey } from '../support/dpop.ts';
import { fetchAtHost } from '../support/fetch-at-host.ts';
import { signJws } from '../support/jws.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';
import { startTlsProxy } from '../support/tls-proxy.ts';

/** Mutual TLS (RFC 8705) by the header `Client-Cert` of a trusted proxy (RFC 9440). The test's own address is that of the proxy. */

const issuer = 'http://localhost';
const mtlsUrl = 'https://localhost:8443';
const redirectUri = 'https://app.example/back';
const member = { username: 'demo.member', password: 'demo-member-password' };
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const userinfo = '/auth/v2/userinfo';
const account = `${paths.accounts}/a-1001-checking`;
const fdxAccount = '/fdx/v6/accounts/a-1001-checking';
let now = Date.parse('2026-03-02T12:00:00Z');
const seconds = () => Math.floor(now / 1000);

const own = new TestCertificate();
const others = new TestCertificate();
const strangers = new TestCertificate();
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signingKey = readPublicKey(pair.publicKey.export({ format: 'pem', type: 'spki' }).toString());
let service: TestService;
let client: Client;
let institutionId: InstitutionId;

const deps = () => service.service.context.auth;
const origin = ownOrigin();
const registered = ({ pem }: TestCertificate) => readCertificatePem(pem, new Date(now));
const fapi = {
  name: 'Aggregator',
  scopes: ['openid', 'account:read', 'institution-users:read', 'offline_access'] as const,
  grants: ['authorization_code', 'refresh_token', 'client_credentials'],
  redirectUris: [redirectUri],
  securityProfile: 'FAPI2' as const,
};
const create = (clientId: string, more: Partial<Parameters<typeof createClient>[1]>) =>
  createClient(deps(), { ...fapi, institutionId, clientId, ...more }, origin);

before(async () => {
  const environment = {
    PUBLIC_URL: issuer,
    MTLS_URL: mtlsUrl,
    CLIENT_CERT_PROXIES: '127.0.0.1',
    FAILED_LOGIN_PAUSE_MILLIS: '0',
  };
  service = await startTestService({ clock: () => new Date(now), environment });
  client = new Client(service.address);
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  institutionId = row?.institution_id as InstitutionId;
  await create('mtls-app', { bindsToCertificate: true, certificate: registered(own) });
  await create('mtls-other', { bindsToCertificate: true, certificate: registered(others) });
  await create('mtls-dpop', { requiresDpop: true, certificate: registered(own) });
  await create('jwt-app', { bindsToCertificate: true, key: await signingKey });
});
after(() => service.close());

const by = ({ header }: Pick<TestCertificate, 'header'>) => ({ 'client-cert': header });

/** A request for tokens of the client itself. */
const ask = (headers: Record<string, string>, clientId = 'mtls-app', form: Record<string, string> = {}) =>
  client.post(paths.token, {
    form: { grant_type: 'client_credentials', client_id: clientId, scope: 'account:read', ...form },
    headers,
  });

async function tokenOf(headers: Record<string, string> = by(own), clientId = 'mtls-app'): Promise<string> {
  const reply = await ask(headers, clientId);
  assert.equal(reply.status, 200, reply.text);
  return reply.body.access_token;
}

const read = (token: string, headers: Record<string, string>, path = account) =>
  client.get(path, { token, headers });

/** A member signs in for the app and allows it all accounts. */
async function signedIn(): Promise<Reply> {
  const { challenge, verifier } = pkce();
  const pushed = await client.post('/auth/v2/par', {
    form: {
      ...{ client_id: 'mtls-app', response_type: 'code', redirect_uri: redirectUri },
      ...{ scope: fapi.scopes.join(' '), code_challenge: challenge, code_challenge_method: 'S256' },
    },
    headers: by(own),
  });
  assert.equal(pushed.status, 201, pushed.text);
  const browser = new TestBrowser(service.address);
  const url = authorizeUrl({ client_id: 'mtls-app', request_uri: pushed.body.request_uri });
  const first = await browser.get(url);
  let page = await browser.post('/auth/v2/sign-in', { request: first.request, ...member });
  // An earlier consent covers the request.
  if (page.status === 200) {
    const answer = { request: page.request, days: '90', answer: 'allow', accounts: 'all' };
    page = await browser.post('/auth/v2/consent', answer);
  }
  const { location } = page;
  const code = location.searchParams.get('code') ?? '';
  return client.post(paths.token, {
    form: {
      ...{ grant_type: 'authorization_code', client_id: 'mtls-app', code, code_verifier: verifier },
      redirect_uri: redirectUri,
    },
    headers: by(own),
  });
}

const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

describe('tokens that are bound to a certificate', () => {
  test('signs a member in by pushed request, certificate and code, and serves the bound token (RFC 8705 3.1)', async () => {
    const tokens = await signedIn();
    assert.deepEqual([tokens.status, tokens.body.token_type], [200, 'Bearer'], tokens.text);
    const token = tokens.body.access_token;
    assert.deepEqual(claimsOf(token).cnf, { 'x5t#S256': own.thumbprint });
    for (const path of [account, fdxAccount, userinfo]) {
      assert.equal((await read(token, by(own), path)).status, 200, path);
    }
  });

  test('refuses a bound token at every kind of operation without its certificate (RFC 8705 3)', async () => {
    const token = (await signedIn()).body.access_token;
    for (const path of [account, fdxAccount, userinfo, paths.transfers]) {
      // A remembered caller is compared, too.
      await read(token, by(own), path);
      for (const headers of [{}, by(others)] as Record<string, string>[]) {
        const reply = await read(token, headers, path);
        assert.equal(reply.status, 401, `${path} ${JSON.stringify(headers).slice(0, 20)}`);
        assert.match(reply.headers.get('www-authenticate') ?? '', /^Bearer .*error="invalid_token"/);
      }
    }
    assert.equal((await read(token, by(own))).status, 200);
  });

  test('refuses a bound token with a certificate that has expired since (RFC 8705 3)', async () => {
    const brief = new TestCertificate({ until: new Date(now + 60_000).toISOString() });
    const token = await tokenOf(by(brief), 'jwt-app').catch(() => undefined);
    assert.equal(token, undefined, 'the key alone authenticates this client');
    const reply = await askByJwt(by(brief));
    const bound = reply.body.access_token;
    assert.equal((await read(bound, by(brief))).status, 200);
    now += 61_000;
    assert.equal((await read(bound, by(brief))).status, 401);
  });

  test('refuses a bound token as DPoP, also with a proof (RFC 8705 3)', async () => {
    const token = await tokenOf();
    const key = new TestKey();
    const claims = { htm: 'GET', htu: issuer + account, iat: seconds(), nonce: nonce(), ath: sha256(token) };
    const headers = { authorization: `DPoP ${token}`, dpop: key.proof({ claims }), ...by(own) };
    assert.equal((await client.get(account, { headers })).body.code, 'invalid_token');
  });

  test('serves a bearer token of another client with any certificate or a malformed one', async () => {
    const token = await client.token({
      ...{ grant_type: 'client_credentials', client_id: 'demo-app', client_secret: 'demo-app-secret' },
      scope: 'account:read',
    });
    for (const headers of [{}, by(strangers), { 'client-cert': 'malformed' }] as Record<string, string>[]) {
      assert.equal((await read(token, headers)).status, 200);
    }
  });

  test('reports the certificate of a token at introspection (RFC 8705 3.2)', async () => {
    const token = await tokenOf();
    const reply = await client.post('/auth/v2/introspect', {
      form: { token, client_id: 'mtls-app' },
      headers: by(own),
    });
    assert.deepEqual(
      [reply.body.active, reply.body.token_type, reply.body.cnf],
      [true, 'Bearer', { 'x5t#S256': own.thumbprint }],
    );
  });

  test('refreshes with a certificate of the client only, and binds the new token to it (RFC 8705 6.3)', async () => {
    const { refresh_token } = (await signedIn()).body;
    const renew = (headers: Record<string, string>, clientId = 'mtls-app') =>
      client.post(paths.token, {
        form: { grant_type: 'refresh_token', refresh_token, client_id: clientId },
        headers,
      });
    assert.equal((await renew({})).body.error, 'invalid_client');
    assert.equal((await renew(by(strangers))).body.error, 'invalid_client');
    assert.equal((await renew(by(others), 'mtls-other')).body.error, 'invalid_grant');
    const next = new TestCertificate();
    const certificate = registered(next);
    await addClientCertificate(deps(), institutionId, { clientId: 'mtls-app', certificate, origin });
    const renewed = await renew(by(next));
    assert.equal(renewed.status, 200, renewed.text);
    assert.deepEqual(claimsOf(renewed.body.access_token).cnf, { 'x5t#S256': next.thumbprint });
    assert.equal((await read(renewed.body.access_token, by(own))).status, 401);
    const { thumbprint } = next;
    await removeClientCertificate(deps(), institutionId, { clientId: 'mtls-app', thumbprint, origin });
    assert.equal((await renew(by(next))).body.error, 'invalid_client');
  });

  test('refuses a refresh family without a certificate, and one that is bound twice, in the database', async () => {
    const insert = (key: string | null, certificate: string | null) =>
      service.db.superuser(
        `insert into refresh_families (institution_id, family_id, client_id, user_key, scopes, client_epoch, user_epoch, generation,
                                       token_hash, rotated_at, idle_until, expires_at, created_at, key_thumbprint, certificate_thumbprint)
         select institution_id, gen_random_uuid(), 'mtls-app', user_key, '{offline_access}', 0, 0, 0, decode(repeat('00', 32), 'hex'),
                now(), now(), now(), now(), ${key}, ${certificate}
         from users where institution_id = ${institutionId} limit 1`,
      );
    await assert.rejects(insert(null, null), { code: 'SD207' });
    await assert.rejects(insert(`'${own.thumbprint}'`, null), { code: 'SD207' });
    await assert.rejects(insert(`'${own.thumbprint}'`, `'${own.thumbprint}'`), {
      constraint: 'refresh_families_one_binding',
    });
    await assert.rejects(insert(null, `'short'`), { constraint: 'refresh_families_certificate_thumbprint' });
  });
});

const nonce = () => deps().proofNonces.current();

function askByJwt(headers: Record<string, string>, clientId = 'jwt-app'): Promise<Reply> {
  const claims = { iss: clientId, sub: clientId, aud: issuer, exp: seconds() + 60, jti: randomUUID() };
  const client_assertion = signJws({ alg: 'ES256' }, claims, pair.privateKey);
  return ask(headers, clientId, { client_assertion_type: assertionType, client_assertion });
}

describe('token requests', () => {
  test('binds the tokens of a client with a key to any certificate of its connection (RFC 8705 3)', async () => {
    const reply = await askByJwt(by(strangers));
    assert.deepEqual(claimsOf(reply.body.access_token).cnf, { 'x5t#S256': strangers.thumbprint });
    assert.equal((await askByJwt({})).body.error, 'invalid_request');
    assert.equal((await askByJwt({ 'client-cert': '::' })).body.error, 'invalid_request');
  });

  test('refuses a proof of a key from a client whose tokens are bound to a certificate (RFC 8705 3)', async () => {
    const claims = { htm: 'POST', htu: issuer + paths.token, iat: seconds(), nonce: nonce() };
    const reply = await ask({ ...by(own), dpop: new TestKey().proof({ claims }) });
    assert.equal(reply.body.error, 'invalid_dpop_proof', reply.text);
  });

  test('binds the tokens of a client with a certificate to a key if it is set so, also at the alias (RFC 9449 5)', async () => {
    const key = new TestKey();
    const proofAt = (base: string) =>
      key.proof({ claims: { htm: 'POST', htu: base + paths.token, iat: seconds(), nonce: nonce() } });
    assert.equal((await ask(by(own), 'mtls-dpop')).body.error, 'invalid_dpop_proof');
    const reply = await ask({ ...by(own), dpop: proofAt(issuer) }, 'mtls-dpop');
    assert.deepEqual(claimsOf(reply.body.access_token).cnf, { jkt: key.thumbprint });
    const host = new URL(mtlsUrl).host;
    const atAlias = await ask({ ...by(own), host, dpop: proofAt(mtlsUrl) }, 'mtls-dpop');
    assert.equal(atAlias.body.token_type, 'DPoP', atAlias.text);
    const elsewhere = await ask({ ...by(own), dpop: proofAt(mtlsUrl) }, 'mtls-dpop');
    assert.equal(elsewhere.body.error, 'invalid_dpop_proof');
  });

  const refused: [section: string, name: string, headers: () => Record<string, string>][] = [
    ['RFC 8705 2.2', 'no certificate', () => ({})],
    ['RFC 8705 2.2', 'a certificate that nobody registered', () => by(strangers)],
    ['RFC 8705 2.2', 'the certificate of another client', () => by(others)],
    [
      'RFC 8705 2.2',
      'another certificate of the same name',
      () => by(new TestCertificate({ name: 'app.example' })),
    ],
  ];
  for (const [section, name, headers] of refused) {
    test(`refuses a client with ${name}, with the response of an unknown client (${section})`, async () => {
      const [known, unknown] = [await ask(headers()), await ask(headers(), 'nobody')];
      assert.deepEqual([known.status, known.body.error], [401, 'invalid_client']);
      assert.equal(known.text, unknown.text);
    });
  }

  test('refuses a certificate without client_id (RFC 8705 2)', async () => {
    const form = { grant_type: 'client_credentials', scope: 'account:read' };
    const reply = await client.post(paths.token, { form, headers: by(own) });
    assert.deepEqual([reply.status, reply.body.error], [401, 'invalid_client']);
  });

  test('refuses the certificate of a client without a registered one', async () => {
    assert.equal((await ask(by(own), 'jwt-app')).body.error, 'invalid_client');
    assert.equal((await ask(by(own), 'demo-app')).body.error, 'invalid_client');
  });

  test('refuses a wrong secret beside the right certificate (RFC 6749 2.3)', async () => {
    assert.equal((await ask(by(own), 'mtls-app', { client_secret: 'guess' })).body.error, 'invalid_client');
    const authorization = `Basic ${Buffer.from('mtls-app:guess').toString('base64')}`;
    assert.equal((await ask({ ...by(own), authorization })).body.error, 'invalid_client');
  });

  test('refuses a client that is switched off, and calls from other networks, as unknown', async () => {
    const change = (one: Parameters<typeof changeClient>[2]['change']) =>
      changeClient(deps(), institutionId, { clientId: 'mtls-other', change: one, origin });
    const unknown = (await ask(by(others), 'nobody')).text;
    await change({ active: false });
    assert.equal((await ask(by(others), 'mtls-other')).text, unknown);
    await change({ active: true, networks: ['192.0.2.0/24'] });
    assert.equal((await ask(by(others), 'mtls-other')).text, unknown);
    await change({ networks: null });
    assert.equal((await ask(by(others), 'mtls-other')).status, 200);
  });
});

describe('the header Client-Cert', () => {
  const base64 = own.der.toString('base64');
  const wrong: [section: string, name: string, header: string][] = [
    ['RFC 9440 2.2', 'base64 without colons', base64],
    ['RFC 9440 2.2', 'one colon', `:${base64}`],
    ['RFC 9440 2.2', 'nothing between the colons', '::'],
    ['RFC 9440 2.2', 'a parameter', `:${base64}:;a=1`],
    ['RFC 9440 2.2', 'two certificates in one list', `:${base64}:, :${base64}:`],
    ['RFC 9440 2.2', 'a text instead of bytes', `"${base64}"`],
    ['RFC 8941 3.3.5', 'base64url', `:${base64.replaceAll('+', '-').replaceAll('/', '_')}-_:`],
    ['RFC 8941 3.3.5', 'a line break in base64', `:${base64.slice(0, 64)} ${base64.slice(64)}:`],
    ['RFC 8941 3.3.5', 'too much padding', `:${base64}==:`],
    ['RFC 9440 2.1', 'PEM', `:${Buffer.from(own.pem).toString('base64')}:`],
    ['RFC 9440 2.1', 'PEM as nginx escapes it', encodeURIComponent(own.pem)],
    [
      'RFC 5280 4.1',
      'bytes behind the certificate',
      `:${Buffer.concat([own.der, own.der]).toString('base64')}:`,
    ],
    ['RFC 5280 4.1', 'half a certificate', `:${own.der.subarray(0, 200).toString('base64')}:`],
    ['RFC 5280 4.1', 'no certificate', `:${Buffer.from('certificate').toString('base64')}:`],
    ['RFC 9440 4', 'ten thousand bytes', `:${Buffer.alloc(9_000).toString('base64')}:`],
    [
      'RFC 5280 4.1.2.5',
      'an expired certificate',
      new TestCertificate({ from: '2024-01-01T00:00:00Z', until: '2026-03-01T00:00:00Z' }).header,
    ],
    [
      'RFC 5280 4.1.2.5',
      'a certificate of tomorrow',
      new TestCertificate({ from: '2026-03-09T00:00:00Z' }).header,
    ],
  ];
  for (const [section, name, header] of wrong) {
    test(`is refused with ${name} (${section})`, async () => {
      const headers = { 'client-cert': header };
      const [known, unknown] = [await ask(headers), await ask(headers, 'nobody')];
      assert.deepEqual([known.status, known.body.error], [401, 'invalid_client']);
      assert.equal(known.text, unknown.text);
      assert.equal((await read(await tokenOf(), headers)).status, 401);
    });
  }

  test('is refused if it comes twice, as of a proxy that adds to the header of its caller (RFC 9440 4)', async () => {
    const twice = new Headers([
      ['client-cert', own.header],
      ['client-cert', own.header],
    ]);
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'mtls-app' });
    const reply = await fetch(service.address + paths.token, { method: 'POST', headers: twice, body: form });
    assert.equal(reply.status, 401);
  });

  test('is taken as nginx writes it with our script, and left out there without a certificate', async () => {
    const script = new URL('../../ops/nginx/client_cert.js', import.meta.url);
    const { header } = (await import(script.href)).default;
    const written = header({ variables: { ssl_client_raw_cert: own.pem } });
    assert.equal(written, own.header);
    assert.equal((await ask({ 'client-cert': written })).status, 200);
    assert.equal(header({ variables: {} }), '', 'nginx sends no header with an empty value');
  });

  test('is refused beyond what a head may have', async () => {
    const reply = await fetch(service.address + account, {
      headers: { 'client-cert': `:${'A'.repeat(20_000)}:` },
    });
    assert.equal(reply.status, 431);
  });

  test('is not replaced by a chain (RFC 9440 2.3)', async () => {
    const chain = { 'client-cert-chain': own.header };
    assert.equal((await ask(chain)).body.error, 'invalid_client');
    assert.equal((await ask({ ...by(own), 'client-cert-chain': 'malformed' })).status, 200);
  });

  test('is ignored from anybody but the proxies of the configuration (RFC 9440 4)', async () => {
    const elsewhere = { localAddress: '127.0.0.2' };
    const headers = { ...by(own), 'x-forwarded-for': '127.0.0.1' };
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: 'mtls-app' });
    const init = { method: 'POST', headers, body: form };
    const reply = await fetchAtHost(service.address + paths.token, init, elsewhere);
    assert.equal(reply.status, 401);
    assert.match(await reply.text(), /Client authentication is needed/);
    const token = await tokenOf();
    const bound = { headers: { ...headers, authorization: `Bearer ${token}` } };
    assert.equal((await fetchAtHost(service.address + account, bound, elsewhere)).status, 401);
    assert.equal((await fetchAtHost(service.address + account, bound)).status, 200);
  });
});

describe('settings of a client with a certificate', () => {
  test('gives a client of the FAPI profile one way to authenticate and one binding, in the code and in the database', async () => {
    const change = (one: Parameters<typeof changeClient>[2]['change']) =>
      changeClient(deps(), institutionId, { clientId: 'mtls-app', change: one, origin });
    const set = (columns: string) =>
      service.db.superuser(`update clients set ${columns} where client_id = 'mtls-app'`);
    await assert.rejects(change({ requiresDpop: true }), { code: 'invalid_request' });
    await assert.rejects(set('requires_dpop = true'), { constraint: /clients_(?:one_binding|fapi2)/ });
    await assert.rejects(change({ bindsToCertificate: false }), { code: 'invalid_request' });
    await assert.rejects(set('binds_to_certificate = false'), { constraint: 'clients_fapi2' });
    const key = await signingKey;
    await assert.rejects(addClientKey(deps(), institutionId, { clientId: 'mtls-app', key, origin }), {
      code: 'invalid_request',
    });
    const certificate = registered(own);
    await assert.rejects(
      addClientCertificate(deps(), institutionId, { clientId: 'jwt-app', certificate, origin }),
      { code: 'invalid_request' },
    );
    await assert.rejects(
      service.db.superuser(
        `insert into client_certificates (institution_id, client_id, thumbprint, expires_at, created_at)
         select institution_id, client_id, '${own.thumbprint}', now(), now() from clients where client_id = 'jwt-app'`,
      ),
      { code: 'SD208' },
    );
    await assert.rejects(
      service.db.superuser(
        `insert into client_keys (institution_id, client_id, kid, algorithm, public_jwk, created_at)
         select institution_id, 'mtls-app', kid, algorithm, public_jwk, now() from client_keys where client_id = 'jwt-app'`,
      ),
      { code: 'SD208' },
    );
    await assert.rejects(create('mtls-both', { bindsToCertificate: true, certificate, key }), {
      code: 'invalid_request',
    });
    await assert.rejects(create('mtls-secret', { bindsToCertificate: true }), { code: 'invalid_request' });
  });

  test('keeps the binding of a client that gets the profile, and else binds to a certificate if it has one, or to a key', async () => {
    const standard = { securityProfile: 'STANDARD' } as const;
    const [certificate, key] = [registered(own), await signingKey];
    const bindings: [clientId: string, more: Parameters<typeof create>[1], bindsToCertificate: boolean][] = [
      ['was-certificate', { certificate, bindsToCertificate: true }, true],
      ['was-certificate-with-key', { key, bindsToCertificate: true }, true],
      ['was-key-with-certificate', { certificate, requiresDpop: true }, false],
      ['was-bearer-with-certificate', { certificate }, true],
      ['was-bearer-with-key', { key }, false],
    ];
    const bindingOf = async (clientId: string) => {
      const found = (await listClients(deps(), institutionId)).find((one) => one.clientId === clientId);
      return [found?.securityProfile, found?.bindsToCertificate, found?.requiresDpop];
    };
    for (const [clientId, more, isBound] of bindings) {
      await create(clientId, { ...standard, ...more });
      const change = { securityProfile: 'FAPI2' } as const;
      await changeClient(deps(), institutionId, { clientId, change, origin });
      await changeClient(deps(), institutionId, { clientId, change, origin });
      assert.deepEqual(await bindingOf(clientId), ['FAPI2', isBound, !isBound], clientId);
      await create(`new-${clientId}`, more);
      assert.deepEqual(await bindingOf(`new-${clientId}`), ['FAPI2', isBound, !isBound], `new ${clientId}`);
    }
    const named = { securityProfile: 'FAPI2', requiresDpop: true, bindsToCertificate: false } as const;
    await changeClient(deps(), institutionId, { clientId: 'was-certificate', change: named, origin });
    assert.deepEqual(await bindingOf('was-certificate'), ['FAPI2', false, true]);
    const bearer = { ...standard, requiresDpop: false, bindsToCertificate: false };
    await changeClient(deps(), institutionId, { clientId: 'was-certificate', change: bearer, origin });
    assert.deepEqual(await bindingOf('was-certificate'), ['STANDARD', false, false]);
  });

  test('admits one of a key and a certificate that are added at once to a client of the profile', async () => {
    const clientId = 'mtls-race';
    await create(clientId, { requiresDpop: true, key: await signingKey });
    await service.db.superuser(`delete from client_keys where client_id = '${clientId}'`);
    const key = await signingKey;
    const outcomes = await Promise.allSettled([
      addClientKey(deps(), institutionId, { clientId, key, origin }),
      addClientCertificate(deps(), institutionId, { clientId, certificate: registered(own), origin }),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  });

  test('binds no tokens of a public client to a certificate, in the code and in the database', async () => {
    const app = { securityProfile: 'STANDARD', grants: ['authorization_code'], isPublic: true } as const;
    await assert.rejects(create('mtls-public', { ...app, bindsToCertificate: true }), {
      code: 'invalid_request',
    });
    await create('mtls-public', app);
    await assert.rejects(
      service.db.superuser(`update clients set binds_to_certificate = true where client_id = 'mtls-public'`),
      { constraint: 'clients_one_binding' },
    );
  });

  test('refuses to register a chain, a weak key, an expired certificate and other texts', () => {
    const read = (pem: string) => () => readCertificatePem(pem, new Date(now));
    const weak = new TestCertificate({ pair: generateKeyPairSync('rsa', { modulusLength: 1_024 }) });
    const expired = new TestCertificate({ until: '2026-03-01T00:00:00Z' });
    const strong = new TestCertificate({ pair: generateKeyPairSync('rsa', { modulusLength: 2_048 }) });
    for (const text of [own.pem + others.pem, weak.pem, expired.pem, 'text', '']) {
      assert.throws(read(text), InvalidCertificateError);
    }
    assert.equal(read(strong.pem)().thumbprint, strong.thumbprint);
  });

  test('records the certificates that are added and removed', async () => {
    const extra = new TestCertificate();
    const clientId = 'mtls-other';
    const { thumbprint } = extra;
    const certificate = registered(extra);
    const add = () => addClientCertificate(deps(), institutionId, { clientId, certificate, origin });
    const remove = () => removeClientCertificate(deps(), institutionId, { clientId, thumbprint, origin });
    assert.deepEqual([await add(), await add()], ['added', 'known']);
    assert.deepEqual([await remove(), await remove()], [true, false]);
    const acts = await service.db.superuser<{ action: string }>(
      `select action from audit_entries where subject = '${thumbprint}' order by action`,
    );
    assert.deepEqual(
      acts.map(({ action }) => action),
      ['client.certificate_added', 'client.certificate_removed'],
    );
  });
});

test('names the method, the binding and the aliases in the metadata (RFC 8705 2.1, 3.3, 5)', async () => {
  const { body } = await client.get('/.well-known/openid-configuration');
  assert.ok(body.token_endpoint_auth_methods_supported.includes('self_signed_tls_client_auth'));
  assert.ok(body.introspection_endpoint_auth_methods_supported.includes('self_signed_tls_client_auth'));
  assert.equal(body.tls_client_certificate_bound_access_tokens, true);
  assert.equal(body.mtls_endpoint_aliases.token_endpoint, mtlsUrl + paths.token);
});

test('openid-client gets a bound token over TLS with its certificate, and reads with it', async () => {
  // The library reads the real clock, which is within the validity of the certificates, as is the clock of the test.
  const proxy = await startTlsProxy(service.address);
  const connectWith = (certificate: TestCertificate) => (url: string, init: object) =>
    url.startsWith(mtlsUrl)
      ? fetchAtHost(url.replace(mtlsUrl, proxy.url), init as RequestInit, certificate.tls)
      : fetch(url.replace(issuer, service.address), init as RequestInit);
  try {
    const discover = (certificate: TestCertificate) =>
      openid.discovery(
        new URL(issuer),
        'mtls-app',
        { use_mtls_endpoint_aliases: true, tls_client_certificate_bound_access_tokens: true },
        openid.TlsClientAuth(),
        { execute: [openid.allowInsecureRequests], [openid.customFetch]: connectWith(certificate) },
      );
    const config = await discover(own);
    const tokens = await openid.clientCredentialsGrant(config, { scope: 'account:read' });
    assert.deepEqual(claimsOf(tokens.access_token).cnf, { 'x5t#S256': own.thumbprint });
    const url = new URL(mtlsUrl + account);
    const found = await openid.fetchProtectedResource(config, tokens.access_token, url, 'GET');
    assert.equal(found.status, 200);
    const stranger = await discover(strangers);
    await assert.rejects(openid.clientCredentialsGrant(stranger, { scope: 'account:read' }), {
      status: 401,
    });
    const forged = { headers: { ...by(own), authorization: `Bearer ${tokens.access_token}` } };
    const answer = await fetchAtHost(proxy.url + account, forged, strangers.tls);
    assert.equal(answer.status, 401, 'the proxy replaces the header of its caller');
  } finally {
    proxy.close();
  }
});
