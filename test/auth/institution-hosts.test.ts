import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import * as openid from 'openid-client';
import { createClient, readPublicKey } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { changeInstitution } from '../../src/operators/index.ts';
import { Authenticator, optionsIn } from '../support/authenticator.ts';
import { Client, type Reply } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { sha256, TestKey } from '../support/dpop.ts';
import { fetchAtHost } from '../support/fetch-at-host.ts';
import { institutionOf } from '../support/identity.ts';
import { signJws } from '../support/jws.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';

/* Two institutions at host names of their own, and all of them at PUBLIC_URL: each name is an issuer that knows nothing of another. */

const publicUrl = 'https://banks.example';
const [lakeside, harbor] = ['lakeside.example', 'harbor.example'];
const own = 'banks.example';
const redirectUri = 'https://app.example/callback';
const member = { username: 'demo.member', password: 'demo-member-password' };
const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const harborApp = { client_id: 'harbor-app', client_secret: 'harbor-app-secret' };
const web = { clientId: 'lakeside-web', secret: 'lakeside-web-secret-that-is-long' };
const harborWeb = { clientId: 'harbor-web', secret: 'harbor-web-secret-that-is-long' };
const signer = { clientId: 'lakeside-signer', key: generateKeyPairSync('ec', { namedCurve: 'P-256' }) };

let service: TestService;
let second: TestService;
let client: Client;
before(async () => {
  const environment = { PUBLIC_URL: publicUrl, FAILED_LOGIN_PAUSE_MILLIS: '0' };
  service = await startTestService({ environment });
  second = await startTestService({ environment, beside: service });
  client = new Client(service.address);
  const facts = {
    ...{ grants: ['authorization_code', 'refresh_token', 'client_credentials'], redirectUris: [redirectUri] },
    ...{ logoutUris: [], isFirstParty: true, scopes: ['openid', 'account:read', 'offline_access'] as const },
  };
  const { auth } = service.service.context;
  const add = async (code: string, known: typeof web) => {
    const { institutionId } = await institutionOf(service, code);
    await createClient(auth, { ...facts, ...known, name: known.clientId, institutionId }, ownOrigin());
  };
  await add('lakeside', web);
  await add('harbor', harborWeb);
  const { institutionId } = await institutionOf(service, 'lakeside');
  const jwk = { ...signer.key.publicKey.export({ format: 'jwk' }), kid: 'one' };
  const key = await readPublicKey(JSON.stringify(jwk), 'ES256');
  const scopes = ['account:read'] as const;
  const named = { institutionId, clientId: signer.clientId, name: 'Signer' };
  await createClient(auth, { ...named, scopes, grants: ['client_credentials'], key }, ownOrigin());
  await setHost('lakeside', lakeside);
  await setHost('harbor', harbor);
});
after(async () => {
  await second.close();
  await service.close();
});

async function setHost(code: string, host: string | null): Promise<void> {
  const { institutionId } = await institutionOf(service, code);
  const origin = { ...ownOrigin(), operator: { user: 'test' } };
  await changeInstitution(service.service.context, institutionId, { settings: { host }, origin });
}

const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());
const askToken = (
  host: string,
  form: Record<string, string>,
  more: Record<string, string> = {},
): Promise<Reply> => client.post(paths.token, { form, headers: { host, ...more } });
const clientToken = (host: string, credentials = app) =>
  askToken(host, { grant_type: 'client_credentials', ...credentials });
const memberToken = async (host: string): Promise<string> => {
  const { body } = await askToken(host, { grant_type: 'password', ...app, ...member });
  return body.access_token;
};
const readAt = (host: string, token: string) => client.get(paths.accounts, { token, headers: { host } });
const issuerAt = async (host: string, at = client) =>
  (await at.get('/.well-known/oauth-authorization-server', { headers: { host } })).body.issuer;

describe('the issuer', () => {
  test("both metadata documents at an institution's host name that issuer and addresses of that host alone", async () => {
    for (const document of ['oauth-authorization-server', 'openid-configuration']) {
      const { body } = await client.get(`/.well-known/${document}`, { headers: { host: lakeside } });
      assert.equal(body.issuer, `https://${lakeside}`);
      const addresses = Object.entries(body).filter(([name]) => /_(?:endpoint|uri)$/.test(name));
      assert.ok(addresses.length >= 7);
      for (const [name, address] of addresses)
        assert.match(String(address), /^https:\/\/lakeside\.example\//, name);
    }
    assert.equal(await issuerAt(own), publicUrl);
  });

  test('a host name counts in any case, with a port and with the dot of an absolute name', async () => {
    const same = [
      'LakeSide.Example',
      `${lakeside}:443`,
      `${lakeside}:8443`,
      `${lakeside}.`,
      `${lakeside}.:443`,
    ];
    for (const host of same) assert.equal(await issuerAt(host), `https://${lakeside}`, host);
  });

  test('any other host is at PUBLIC_URL: unknown, an address, a longer name, a list, or no name at all', async () => {
    const others = ['unknown.example', '127.0.0.1', 'localhost', `x.${lakeside}`, `${lakeside}.evil.example`];
    const odd = [
      `${lakeside}, ${harbor}`,
      `${lakeside}:x`,
      `${lakeside}..`,
      `user@${lakeside}`,
      `${lakeside}/`,
    ];
    for (const host of [...others, ...odd]) assert.equal(await issuerAt(host), publicUrl, host);
  });

  test('a name of another script is found by its form in ASCII, which is what browsers send', async () => {
    await setHost('harbor', 'xn--bcher-kva.example');
    assert.equal(await issuerAt('xn--bcher-kva.example'), 'https://xn--bcher-kva.example');
    assert.equal(await issuerAt('XN--BCHER-KVA.example'), 'https://xn--bcher-kva.example');
    await setHost('harbor', harbor);
  });

  test('refuses two Host headers, and reads no X-Forwarded-Host, Forwarded or address in the request line', async () => {
    const port = Number(new URL(service.address).port);
    const raw = (lines: readonly string[], target = '/.well-known/oauth-authorization-server') =>
      sendRaw(port, [`GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`]);
    const twice = await raw([`Host: ${lakeside}`, `Host: ${harbor}`]);
    assert.match(twice.text, /^HTTP\/1\.1 400 /);
    const forwarded = [`X-Forwarded-Host: ${lakeside}`, `Forwarded: host=${lakeside}`, `X-Host: ${lakeside}`];
    const named = await raw([`Host: ${own}`, ...forwarded]);
    assert.match(named.text, /"issuer":"https:\/\/banks\.example"/);
    const absolute = await raw([`Host: ${own}`], `http://${lakeside}/.well-known/oauth-authorization-server`);
    assert.match(absolute.text, /"issuer":"https:\/\/banks\.example"/);
  });

  test('every process follows a change of a host name from its next request on', async () => {
    const other = new Client(second.address);
    const host = 'new.example';
    assert.equal(await issuerAt(host, other), publicUrl);
    await setHost('harbor', host);
    assert.equal(await issuerAt(host, other), `https://${host}`);
    assert.equal(await issuerAt(host), `https://${host}`);
    await setHost('harbor', harbor);
    assert.equal(await issuerAt(host, other), publicUrl);
  });

  test("operators work at PUBLIC_URL: an institution's host has none of their pages and operations", async () => {
    for (const path of ['/console', '/operations/sign-in', '/operations/v1/institution']) {
      const at = (host: string) => fetchAtHost(service.address + path, { headers: { host } });
      assert.equal((await at(lakeside)).status, 404, path);
      if (path !== '/console') assert.notEqual((await at(own)).status, 404, path);
    }
  });

  test('the keys of a host are those of this cell, and of the cells that its institution came from', async () => {
    const keysAt = async (host: string): Promise<string[]> => {
      const { body } = await client.get('/auth/v2/jwks', { headers: { host } });
      return body.keys.map(({ kid }: { kid: string }) => kid);
    };
    const ofCell = await keysAt(own);
    const { institutionId } = await institutionOf(service, 'lakeside');
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await service.db.superuser(
      `insert into cell_keys (institution_id, kid, public_jwk, verifies_until) values ($1, 'moved', $2, now() + interval '1 hour')`,
      [
        institutionId,
        JSON.stringify({ ...publicKey.export({ format: 'jwk' }), kid: 'moved', alg: 'ES256', use: 'sig' }),
      ],
    );
    // A process reads its keys once a second.
    for (let tries = 0; tries < 200 && !(await keysAt(lakeside)).includes('moved'); tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual((await keysAt(lakeside)).toSorted(), [...ofCell, 'moved'].toSorted());
    assert.deepEqual((await keysAt(harbor)).toSorted(), ofCell.toSorted());
    assert.deepEqual((await keysAt(own)).toSorted(), [...ofCell, 'moved'].toSorted());
  });

  test('a host of an institution that another cell serves says so, as its clients hear it', async () => {
    const state = (served: string, otherCell: string | null) =>
      service.db.superuser(`update institutions set served = $1, other_cell = $2 where code = 'harbor'`, [
        served,
        otherCell,
      ]);
    const metadata = () => client.get('/.well-known/openid-configuration', { headers: { host: harbor } });
    try {
      await state('leaving', 'west');
      const moving = await metadata();
      assert.deepEqual([moving.status, moving.body.code], [503, 'institution_moving']);
      await state('left', 'west');
      const elsewhere = await metadata();
      assert.deepEqual([elsewhere.status, elsewhere.body.code], [421, 'institution_elsewhere']);
    } finally {
      await state('here', null);
    }
    assert.equal((await metadata()).status, 200);
    assert.equal((await client.get('/livez', { headers: { host: harbor } })).status, 200);
  });

  test('browsers are told to come back by TLS only', async () => {
    const { headers } = await client.get('/auth/v2/jwks', { headers: { host: lakeside } });
    assert.match(headers.get('strict-transport-security') ?? '', /max-age/);
  });
});

describe('clients and tokens', () => {
  test("another institution's client is refused as an unknown one is, word for word", async () => {
    const foreign = await clientToken(lakeside, harborApp);
    const unknown = await clientToken(lakeside, { client_id: 'no-such-app', client_secret: 'x' });
    assert.deepEqual([foreign.status, foreign.body], [unknown.status, unknown.body]);
    assert.equal(foreign.body.error, 'invalid_client');
    assert.equal((await clientToken(harbor, harborApp)).status, 200);
    assert.equal((await clientToken(own, harborApp)).status, 200);
  });

  test("a page of another institution's app is refused as that of an unknown app", async () => {
    const open = (client_id: string) =>
      new TestBrowser(service.address, { host: harbor }).get(
        authorizeUrl({ client_id, response_type: 'code' }),
      );
    const [foreign, unknown] = [await open(web.clientId), await open('no-such-app')];
    assert.equal(foreign.status, 400);
    assert.equal(foreign.text, unknown.text);
  });

  test('a token names its host as issuer and audience, and is good there alone', async () => {
    const tokens = { [own]: await memberToken(own), [lakeside]: await memberToken(lakeside) };
    assert.equal(claimsOf(tokens[lakeside] ?? '').iss, `https://${lakeside}`);
    assert.equal(claimsOf(tokens[lakeside] ?? '').aud, `https://${lakeside}`);
    assert.equal(claimsOf(tokens[own] ?? '').iss, publicUrl);
    const foreign = await readAt(
      lakeside,
      signJws({ typ: 'at+jwt', alg: 'ES256' }, { iss: 'x' }, new TestKey().privateKey),
    );
    for (const host of [own, lakeside, harbor]) {
      for (const [issued, token] of Object.entries(tokens)) {
        // Twice: also by the memory of the process.
        for (const reply of [await readAt(host, token), await readAt(host, token)]) {
          if (issued === host) assert.equal(reply.status, 200, host);
          else {
            assert.equal(reply.status, 401, `${issued} at ${host}`);
            const { transactionId: _one, instance: _two, ...said } = reply.body;
            const { transactionId: _three, instance: _four, ...expected } = foreign.body;
            assert.deepEqual(said, expected);
          }
        }
      }
    }
  });

  test('remembered answers have the links of the host at which they were asked for', async () => {
    const path = `${paths.accounts}/a-1001-checking/transactions?limit=1`;
    for (const host of [own, lakeside, own, lakeside]) {
      const token = await memberToken(host);
      const { headers } = await client.get(path, { token, headers: { host } });
      const link = headers.get('link');
      if (link !== null) assert.ok(link.startsWith(`<https://${host}/`), link);
    }
  });

  test('a token that was issued before its institution got a host stays good at PUBLIC_URL', async () => {
    await setHost('lakeside', null);
    const before = await memberToken(own);
    await setHost('lakeside', lakeside);
    assert.equal((await readAt(own, before)).status, 200);
    assert.equal((await readAt(lakeside, before)).status, 401);
  });

  test('a token of a host ends with it, also for the institution that gets the host next', async () => {
    await setHost('lakeside', null);
    await setHost('harbor', 'moved.example');
    const { body } = await clientToken('moved.example', harborApp);
    const read = () =>
      client.get('/digitalbanking/db-events/v1/events', {
        token: body.access_token,
        headers: { host: 'moved.example' },
      });
    assert.notEqual((await read()).status, 401);
    await setHost('harbor', null);
    assert.equal((await read()).status, 401);
    await setHost('lakeside', 'moved.example');
    assert.equal((await read()).status, 401);
    await setHost('lakeside', lakeside);
    await setHost('harbor', harbor);
  });

  test('introspection and revocation know no token of another issuer', async () => {
    const token = await memberToken(own);
    const ask = (path: string, host: string) =>
      client.post(path, { form: { token, ...app }, headers: { host } });
    assert.deepEqual((await ask('/auth/v2/introspect', lakeside)).body, { active: false });
    assert.equal((await ask('/auth/v2/revoke', lakeside)).status, 200);
    assert.equal((await ask('/auth/v2/introspect', own)).body.active, true);
  });

  test('the assertion of a client is for the issuer that it is sent to', async () => {
    const ask = (host: string, aud: string) => {
      const now = Math.floor(Date.now() / 1000);
      const { clientId: iss } = signer;
      const claims = { iss, sub: iss, aud, jti: randomUUID(), iat: now, exp: now + 60 };
      const client_assertion = signJws({ alg: 'ES256', kid: 'one' }, claims, signer.key.privateKey);
      const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
      return askToken(host, { grant_type: 'client_credentials', client_assertion, client_assertion_type });
    };
    assert.equal((await ask(lakeside, `https://${lakeside}`)).status, 200);
    assert.equal((await ask(own, publicUrl)).status, 200);
    assert.equal((await ask(lakeside, publicUrl)).body.error, 'invalid_client');
    assert.equal((await ask(own, `https://${lakeside}`)).body.error, 'invalid_client');
    assert.equal((await ask(harbor, `https://${harbor}`)).body.error, 'invalid_client');
  });

  test('a DPoP proof names the address at the host, for a token and beside one', async () => {
    const key = new TestKey();
    const nonce = service.service.context.auth.proofNonces.current();
    const proof = (htm: string, address: string, more: object = {}) =>
      key.proof({ claims: { htm, htu: address, iat: Math.floor(Date.now() / 1000), nonce, ...more } });
    const ask = (host: string, named: string) =>
      askToken(
        host,
        { grant_type: 'password', ...app, ...member },
        { dpop: proof('POST', `https://${named}${paths.token}`) },
      );
    assert.equal((await ask(lakeside, harbor)).body.error, 'invalid_dpop_proof');
    assert.equal((await ask(lakeside, own)).body.error, 'invalid_dpop_proof');
    const { body } = await ask(lakeside, lakeside);
    assert.equal(body.token_type, 'DPoP');
    const token: string = body.access_token;
    const read = (named: string) =>
      client.get(paths.accounts, {
        headers: {
          ...{ host: lakeside, authorization: `DPoP ${token}` },
          dpop: proof('GET', `https://${named}${paths.accounts}`, { ath: sha256(token) }),
        },
      });
    assert.equal((await read(lakeside)).status, 200);
    assert.equal((await read(own)).body.code, 'invalid_dpop_proof');
    assert.equal((await read(harbor)).body.code, 'invalid_dpop_proof');
  });
});

interface Signed {
  readonly browser: TestBrowser;
  readonly location: URL;
  readonly verifier: string;
}

/** A member signs in on the page of a host, for an app that asks for no consent. */
async function signInAt(
  host: string,
  { clientId = web.clientId, scope = 'openid account:read offline_access' } = {},
): Promise<Signed> {
  const browser = new TestBrowser(service.address, { host });
  const { verifier, challenge } = pkce();
  const asked = {
    client_id: clientId,
    response_type: 'code',
    redirect_uri: redirectUri,
    scope,
    state: 'mine',
  };
  const page = await browser.get(
    authorizeUrl({ ...asked, code_challenge: challenge, code_challenge_method: 'S256' }),
  );
  assert.equal(page.title, 'Sign in', page.text);
  const done = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
  assert.equal(done.status, 303, done.text);
  return { browser, location: done.location, verifier };
}

const exchange = (host: string, { location, verifier }: Signed, known = web) =>
  askToken(host, {
    ...{ grant_type: 'authorization_code', client_id: known.clientId, client_secret: known.secret },
    ...{ code: location.searchParams.get('code') ?? '', code_verifier: verifier, redirect_uri: redirectUri },
  });

describe('sign-in', () => {
  test('the response and the ID token name the host, and the cookies are bound to it', async () => {
    const signed = await signInAt(lakeside);
    assert.equal(signed.location.searchParams.get('iss'), `https://${lakeside}`);
    assert.ok([...signed.browser.cookies.keys()].every((name) => name.startsWith('__Host-')));
    const { body } = await exchange(lakeside, signed);
    assert.equal(claimsOf(body.id_token).iss, `https://${lakeside}`);
    assert.equal(claimsOf(body.access_token).iss, `https://${lakeside}`);
  });

  test('a refusal of a request names the host too', async () => {
    const browser = new TestBrowser(service.address, { host: lakeside });
    const page = await browser.get(
      authorizeUrl({
        client_id: web.clientId,
        redirect_uri: redirectUri,
        response_type: 'token',
        state: 's',
      }),
    );
    assert.equal(page.location.searchParams.get('iss'), `https://${lakeside}`);
    assert.ok(page.location.searchParams.get('error'));
  });

  test('a code is exchanged at the host that gave it, and is unknown at any other', async () => {
    const signed = await signInAt(lakeside);
    assert.equal((await exchange(own, signed)).body.error, 'invalid_grant');
    assert.equal((await exchange(harbor, signed)).body.error, 'invalid_client');
    assert.equal((await exchange(harbor, signed, harborWeb)).body.error, 'invalid_grant');
    assert.equal((await exchange(lakeside, signed)).status, 200);
    const ofPublic = await signInAt(own);
    assert.equal((await exchange(lakeside, ofPublic)).body.error, 'invalid_grant');
    assert.equal((await exchange(own, ofPublic)).status, 200);
  });

  test('a refresh token renews at the host that gave it, and an attempt elsewhere ends nothing', async () => {
    const { body } = await exchange(lakeside, await signInAt(lakeside));
    const renew = (host: string) =>
      askToken(host, {
        ...{ grant_type: 'refresh_token', refresh_token: body.refresh_token },
        ...{ client_id: web.clientId, client_secret: web.secret },
      });
    assert.equal((await renew(own)).body.error, 'invalid_grant');
    const renewed = await renew(lakeside);
    assert.equal(renewed.status, 200);
    assert.equal(claimsOf(renewed.body.access_token).iss, `https://${lakeside}`);
  });

  test("a page of one host is no page of another, and a session's cookie that was carried over names none", async () => {
    const signed = await signInAt(own);
    const carried = new TestBrowser(service.address, { host: lakeside });
    for (const [name, value] of signed.browser.cookies) carried.cookies.set(name, value);
    const { challenge } = pkce();
    const asked = {
      client_id: web.clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid',
    };
    const url = authorizeUrl({ ...asked, code_challenge: challenge, code_challenge_method: 'S256' });
    assert.equal((await carried.get(url)).title, 'Sign in');
    assert.equal((await signed.browser.get(url)).status, 303);
    const page = await new TestBrowser(service.address, { host: own }).get(url);
    const sent = await carried.post('/auth/v2/sign-in', { request: page.request, ...member });
    assert.equal(sent.status, 400);
  });

  test('a pushed request is opened at the host that took it', async () => {
    const { challenge } = pkce();
    const form = {
      ...{
        client_id: web.clientId,
        client_secret: web.secret,
        response_type: 'code',
        redirect_uri: redirectUri,
      },
      ...{ scope: 'openid', code_challenge: challenge, code_challenge_method: 'S256' },
    };
    const { body } = await client.post('/auth/v2/par', { form, headers: { host: lakeside } });
    const open = (host: string) =>
      new TestBrowser(service.address, { host }).get(
        authorizeUrl({ client_id: web.clientId, request_uri: body.request_uri }),
      );
    assert.equal((await open(own)).status, 400);
    assert.equal((await open(lakeside)).title, 'Sign in');
  });

  test('a passkey is bound to the host at which it was made', async () => {
    const security = `/auth/v2/security?client_id=${web.clientId}`;
    const browser = new TestBrowser(service.address, { host: lakeside });
    const first = await browser.get(security);
    const sent = await browser.post('/auth/v2/sign-in', { request: first.request, ...member });
    assert.equal(sent.location.href, `https://${lakeside}${security}`);
    const page = await browser.get(security);
    const key = new Authenticator(`https://${lakeside}`);
    const options = optionsIn(page.text);
    assert.equal(options.rp?.id, lakeside);
    const credential = key.create(options);
    const added = await browser.post('/auth/v2/security/passkeys', {
      request: page.request,
      credential,
      name: 'Phone',
    });
    assert.match(added.text, /The passkey was added/);
    const enter = async (host: string, lie: Parameters<Authenticator['get']>[1] = {}) => {
      const fresh = new TestBrowser(service.address, { host });
      const { challenge } = pkce();
      const asked = {
        client_id: web.clientId,
        response_type: 'code',
        redirect_uri: redirectUri,
        scope: 'openid',
      };
      const opened = await fresh.get(
        authorizeUrl({ ...asked, code_challenge: challenge, code_challenge_method: 'S256' }),
      );
      const proof = key.get(optionsIn(opened.text), lie);
      return fresh.post('/auth/v2/sign-in/passkey', { request: opened.request, credential: proof });
    };
    assert.equal((await enter(lakeside)).status, 303);
    // A browser signs for no other name; one that lies about either part is refused.
    assert.equal((await enter(own)).title, 'Sign in');
    assert.equal((await enter(own, { rpId: lakeside, origin: publicUrl })).title, 'Sign in');
    assert.equal((await enter(own, { rpId: own, origin: `https://${lakeside}` })).title, 'Sign in');
  });

  test("openid-client discovers an institution's host, signs a member in, refreshes and signs out", async () => {
    const toService = (url: string, { headers, ...init }: RequestInit) => {
      const { host, pathname, search } = new URL(url);
      return fetchAtHost(service.address + pathname + search, {
        ...init,
        headers: { ...Object(headers), host },
      });
    };
    const issuer = new URL(`https://${lakeside}`);
    const config = await openid.discovery(
      issuer,
      web.clientId,
      undefined,
      openid.ClientSecretPost(web.secret),
      {
        [openid.customFetch]: toService as unknown as openid.CustomFetch,
      },
    );
    const verifier = openid.randomPKCECodeVerifier();
    const nonce = openid.randomNonce();
    const url = openid.buildAuthorizationUrl(config, {
      ...{ redirect_uri: redirectUri, scope: 'openid account:read offline_access', nonce },
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    assert.equal(url.host, lakeside);
    const browser = new TestBrowser(service.address, { host: url.host });
    const page = await browser.get(url.pathname + url.search);
    const { location } = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
    const tokens = await openid.authorizationCodeGrant(config, location, {
      ...{ pkceCodeVerifier: verifier, expectedNonce: nonce, idTokenExpected: true },
    });
    assert.equal(tokens.claims()?.iss, `https://${lakeside}`);
    const info = await openid.fetchUserInfo(config, tokens.access_token, 'u-demo-member');
    assert.equal(info.sub, 'u-demo-member');
    await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    const mixedUp = new URL(location);
    mixedUp.searchParams.set('iss', `https://${harbor}`);
    await assert.rejects(
      openid.authorizationCodeGrant(config, mixedUp, { pkceCodeVerifier: verifier }),
      (error) => /unexpected "iss"/.test(String((error as Error).cause)),
    );
    const out = openid.buildEndSessionUrl(config, { id_token_hint: tokens.id_token ?? '' });
    assert.equal((await browser.get(out.pathname + out.search)).title, 'You are signed out');
  });
});
