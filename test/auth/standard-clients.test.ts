import assert from 'node:assert/strict';
import { createPublicKey, webcrypto } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createVerifier } from 'fast-jwt';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { dpopWith, password, Sharedraft } from '../../client/src/index.ts';
import { addClientKey, readPublicKey } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Client } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Published client libraries, unchanged, with only the metadata. */

const issuer = 'http://sharedraft.test';
const member = { username: 'demo.member', password: 'demo-member-password' };
const scope = 'account:read offline_access';
/** The libraries read the real clock; the test's clock catches up with it, past a rotation. */
let behindMillis = 20_000;
let service: TestService;
let key: webcrypto.CryptoKey;
before(async () => {
  service = await startTestService({ clock: () => new Date(Date.now() - behindMillis) });
  const pair = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  key = pair.privateKey;
  const jwk = await webcrypto.subtle.exportKey('jwk', pair.publicKey);
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  const institutionId = row?.institution_id as InstitutionId;
  const publicKey = await readPublicKey(JSON.stringify(jwk));
  await addClientKey(service.service.context.auth, institutionId, {
    clientId: 'demo-app',
    key: publicKey,
    origin: ownOrigin(),
  });
});
after(() => service.close());

/** The name in PUBLIC_URL does not resolve: requests to it are sent to the test's address. */
function toService(url: string, init: object): Promise<Response> {
  return fetch(url.replace(issuer, service.address), init as RequestInit);
}

async function accountsWith(accessToken: string): Promise<number> {
  const { status } = await new Client(service.address).get(paths.accounts, { token: accessToken });
  return status;
}

describe('openid-client', () => {
  const authentications: [string, () => openid.ClientAuth][] = [
    ['client_secret_post', () => openid.ClientSecretPost('demo-app-secret')],
    ['client_secret_basic', () => openid.ClientSecretBasic('demo-app-secret')],
    ['private_key_jwt', () => openid.PrivateKeyJwt(key)],
  ];
  for (const [name, authentication] of authentications) {
    test(`openid-client finds the service by its metadata and, with ${name}, uses every token operation`, async () => {
      const config = await openid.discovery(new URL(issuer), 'demo-app', undefined, authentication(), {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
        [openid.customFetch]: toService,
      });
      assert.equal(config.serverMetadata().issuer, issuer);
      const byDefault = await openid.discovery(new URL(issuer), 'demo-app', undefined, authentication(), {
        execute: [openid.allowInsecureRequests],
        [openid.customFetch]: toService,
      });
      assert.deepEqual(byDefault.serverMetadata(), config.serverMetadata(), 'without a word about OAuth');

      const ofClient = await openid.clientCredentialsGrant(config, { scope: 'account:read' });
      assert.equal(ofClient.scope, 'account:read');
      assert.equal(ofClient.refresh_token, undefined);

      const login = await openid.genericGrantRequest(config, 'password', { ...member, scope });
      assert.equal(await accountsWith(login.access_token), 200);
      const renewed = await openid.refreshTokenGrant(config, login.refresh_token ?? '');
      assert.equal(renewed.scope, scope);
      assert.notEqual(renewed.refresh_token, login.refresh_token);

      const living = await openid.tokenIntrospection(config, renewed.access_token);
      assert.equal(living.active, true);
      assert.equal(living.sub, 'u-demo-member');
      await openid.tokenRevocation(config, renewed.refresh_token ?? '', {
        token_type_hint: 'refresh_token',
      });
      assert.equal((await openid.tokenIntrospection(config, renewed.access_token)).active, false);
      assert.equal(await accountsWith(renewed.access_token), 401);
      await assert.rejects(openid.refreshTokenGrant(config, renewed.refresh_token ?? ''), {
        error: 'invalid_grant',
      });
    });
  }
});

describe('oauth4webapi', () => {
  const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: toService };
  const client: oauth.Client = { client_id: 'demo-app' };
  const authentication = () => oauth.PrivateKeyJwt(key);

  async function discovered(): Promise<oauth.AuthorizationServer> {
    const url = new URL(issuer);
    const response = await oauth.discoveryRequest(url, { ...options, algorithm: 'oauth2' });
    return oauth.processDiscoveryResponse(url, response);
  }

  test('oauth4webapi logs in, refreshes, introspects and revokes', async () => {
    const server = await discovered();
    const auth = authentication();
    const first = await oauth.genericTokenEndpointRequest(
      server,
      client,
      auth,
      'password',
      { ...member, scope },
      options,
    );
    const login = await oauth.processGenericTokenEndpointResponse(server, client, first);
    const second = await oauth.refreshTokenGrantRequest(
      server,
      client,
      auth,
      login.refresh_token ?? '',
      options,
    );
    const renewed = await oauth.processRefreshTokenResponse(server, client, second);
    const asked = await oauth.introspectionRequest(server, client, auth, renewed.access_token, options);
    assert.equal((await oauth.processIntrospectionResponse(server, client, asked)).active, true);
    const revoked = await oauth.revocationRequest(server, client, auth, renewed.refresh_token ?? '', options);
    assert.equal(await oauth.processRevocationResponse(revoked), undefined);
    assert.equal(await accountsWith(renewed.access_token), 401);
  });

  test('oauth4webapi validates our access token as RFC 9068 asks of a resource server', async () => {
    const server = await discovered();
    const response = await oauth.clientCredentialsGrantRequest(server, client, authentication(), {}, options);
    const { access_token: token } = await oauth.processClientCredentialsResponse(server, client, response);
    const request = new Request('http://resource.example', {
      headers: { authorization: `Bearer ${token}` },
    });
    const claims = await oauth.validateJwtAccessToken(server, request, issuer, options);
    assert.equal(claims.client_id, 'demo-app');
    assert.equal(claims.sub, 'demo-app');
  });
});

describe('DPoP', () => {
  const accounts = new URL(issuer + paths.accounts);

  test('openid-client binds tokens to its key, reads and refreshes with proofs, and takes our nonces', async () => {
    const config = await openid.discovery(
      new URL(issuer),
      'demo-app',
      undefined,
      openid.ClientSecretPost('demo-app-secret'),
      { execute: [openid.allowInsecureRequests], [openid.customFetch]: toService },
    );
    const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const login = await openid.genericGrantRequest(config, 'password', { ...member, scope }, { DPoP });
    assert.equal(login.token_type, 'dpop');
    const read = (token: string) =>
      openid.fetchProtectedResource(config, token, accounts, 'GET', null, undefined, { DPoP });
    assert.equal((await read(login.access_token)).status, 200);
    const renewed = await openid.refreshTokenGrant(config, login.refresh_token ?? '', undefined, { DPoP });
    assert.equal((await read(renewed.access_token)).status, 200);
    assert.equal(await accountsWith(renewed.access_token), 401, 'as Bearer');
  });

  test('our client library binds its tokens to a key that cannot be exported', async () => {
    const pair = await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ]);
    const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
    const schemes = new Set<string | null>();
    const bank = new Sharedraft({
      baseUrl: issuer,
      auth: password(app, member),
      dpop: dpopWith(pair),
      fetch: (url, init) => {
        schemes.add(new Headers(init?.headers).get('authorization')?.split(' ')[0] ?? null);
        return toService(String(url), init ?? {});
      },
    });
    assert.ok((await bank.accounts.list()).length > 1);
    assert.equal((await bank.accounts.get('a-1001-checking')).accountId, 'a-1001-checking');
    assert.deepEqual([...schemes], [null, 'DPoP']);
  });
});

describe('fast-jwt', () => {
  async function jwks(): Promise<webcrypto.JsonWebKey[]> {
    const { body } = await new Client(service.address).get('/auth/v2/jwks');
    return body.keys;
  }

  const verifier = (keys: readonly webcrypto.JsonWebKey[]) => {
    const find = async ({ header }: { readonly header: { readonly kid?: string } }) => {
      const jwk = keys.find((one) => (one as { kid?: string }).kid === header.kid);
      if (jwk === undefined) throw new Error('no such key');
      const publicKey = createPublicKey({ key: jwk, format: 'jwk' });
      return publicKey.export({ format: 'pem', type: 'spki' }).toString();
    };
    return createVerifier({
      key: find,
      algorithms: ['ES256'],
      allowedIss: issuer,
      allowedAud: issuer,
      requiredClaims: ['sub', 'client_id', 'scope', 'iat', 'exp', 'jti'],
      checkTyp: 'at+jwt',
    });
  };

  test('fast-jwt verifies our tokens by the published keys, including tokens signed before a rotation', async () => {
    const client = new Client(service.address);
    const grant = {
      grant_type: 'client_credentials',
      client_id: 'demo-app',
      client_secret: 'demo-app-secret',
    };
    const before = await client.token(grant);
    await service.service.context.auth.keys.rotate('now', ownOrigin());
    behindMillis = -45_000;
    const keys = await jwks();
    assert.equal(keys.length, 2);
    const after = await client.token(grant);
    assert.notEqual(after.split('.')[0], before.split('.')[0], 'another key signed it');
    for (const token of [before, after]) {
      const payload = await verifier(keys)(token);
      assert.equal(payload.client_id, 'demo-app');
      assert.equal(payload.token_use, 'client');
      await assert.rejects(verifier(keys)(`${token.slice(0, -4)}AAAA`));
    }
    await assert.rejects(verifier(keys.slice(1))(before), /key/);
  });
});
