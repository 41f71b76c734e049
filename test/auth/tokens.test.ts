import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { importJWK, type JWK, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { memberScopes } from '../../src/auth/index.ts';
import { operations } from '../../src/http/operations.ts';
import { clientOf, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

const issuer = 'http://sharedraft.test';
let service: TestService;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now });
});
after(() => service.close());

const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const member = { username: 'demo.member', password: 'demo-member-password' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

function token(body: object | string, headers: Record<string, string> = {}) {
  return send(service.address, 'POST', paths.token, { body, headers });
}

function basic(id: string, secret: string): { authorization: string } {
  return { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
}

describe('token operation: success', () => {
  test('issues tokens for both grants, in JSON and as a form, with the secret in the body or in Basic', async () => {
    const grants = [{ grant_type: 'client_credentials' }, { grant_type: 'password', ...member }];
    for (const grant of grants) {
      const asForm = new URLSearchParams({ ...grant }).toString();
      const ways = [
        await token({ ...grant, ...app }),
        await token(new URLSearchParams({ ...grant, ...app }).toString(), form),
        await token(asForm, { ...form, ...basic('demo-app', 'demo-app-secret') }),
        await token(asForm, { ...form, ...basic('demo%2Dapp', 'demo%2Dapp%2Dsecret') }),
        await token({ ...grant, client_id: 'demo-app' }, basic('demo-app', 'demo-app-secret')),
      ];
      for (const answer of ways) {
        assert.equal(answer.status, 200, answer.text);
        assert.deepEqual(Object.keys(answer.body), ['access_token', 'token_type', 'expires_in', 'scope']);
        assert.equal(answer.body.token_type, 'Bearer');
        assert.equal(answer.body.expires_in, 1800);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
      }
    }
  });

  test('grants all registered scopes by default, the requested ones otherwise, and accepts plural spellings', async () => {
    const grant = { grant_type: 'client_credentials', ...app };
    const all = (await token(grant)).body.scope;
    assert.equal(
      all,
      'account:read institution-users:read institution-users:write transfer:read transfer:write alertPref:read alertPref:write alertHist:read alertMail:write events:read webhooks:manage',
    );
    assert.equal((await token({ ...grant, scope: '' })).body.scope, all);
    assert.equal(
      (await token({ ...grant, scope: 'transfers:write accounts:read' })).body.scope,
      'account:read transfer:write',
    );
  });

  test('a member token carries only scopes of operations that accept a member token', async () => {
    const usable = operations.flatMap((one) =>
      (one.token === 'any' || one.token === 'member') && one.scope ? [one.scope] : [],
    );
    assert.deepEqual(new Set(memberScopes), new Set([...usable, 'profile', 'email', 'offline_access']));
    const grant = { grant_type: 'password', ...app, ...member };
    const all =
      'account:read institution-users:read institution-users:write transfer:read transfer:write alertPref:read alertPref:write alertHist:read';
    assert.equal((await token(grant)).body.scope, all);
    const some = await token({ ...grant, scope: 'events:read account:read' });
    assert.equal(some.body.scope, 'account:read');
    const none = await token({ ...grant, scope: 'events:read' });
    assert.deepEqual([none.status, none.body.error], [400, 'invalid_scope']);
  });

  test('ignores unknown parameters of a token request', async () => {
    assert.equal(
      (await token({ grant_type: 'client_credentials', ...app, audience: 'x', extra: { a: 1 } })).status,
      200,
    );
  });

  test('a standard OAuth library obtains tokens with both grants, unchanged', async () => {
    const server: oauth.AuthorizationServer = { issuer, token_endpoint: service.address + paths.token };
    const client: oauth.Client = { client_id: 'demo-app' };
    const insecure = { [oauth.allowInsecureRequests]: true };
    for (const authentication of [oauth.ClientSecretPost, oauth.ClientSecretBasic]) {
      const auth = authentication('demo-app-secret');
      const first = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        auth,
        { scope: 'account:read' },
        insecure,
      );
      const granted = await oauth.processClientCredentialsResponse(server, client, first);
      assert.equal(granted.scope, 'account:read');
      const second = await oauth.genericTokenEndpointRequest(
        server,
        client,
        auth,
        'password',
        member,
        insecure,
      );
      const login = await oauth.processGenericTokenEndpointResponse(server, client, second);
      assert.equal(login.token_type, 'bearer');
      const accounts = await oauth.protectedResourceRequest(
        login.access_token,
        'GET',
        new URL(service.address + paths.accounts),
        undefined,
        undefined,
        insecure,
      );
      assert.equal(accounts.status, 200);
    }
  });

  test('a published JWT library verifies the token by its public key, with the claims of RFC 9068', async () => {
    const { token: jwt } = await memberOf(service, member.username, member.password);
    const [row] = await service.db.superuser<{ public_jwk: JWK }>('select public_jwk from signing_keys');
    const { payload, protectedHeader } = await jwtVerify(
      jwt,
      await importJWK(row?.public_jwk as JWK, 'ES256'),
      {
        issuer,
        audience: issuer,
        typ: 'at+jwt',
        currentDate: now,
      },
    );
    assert.equal(protectedHeader.alg, 'ES256');
    assert.equal(payload.sub, 'u-demo-member');
    assert.equal(payload.client_id, 'demo-app');
    assert.equal(payload.token_use, 'member');
    assert.deepEqual(payload.customer_ids, ['c-1001']);
    assert.equal(Number(payload.exp) - Number(payload.iat), 1800);
  });
});

describe('token operation: 400 and 401, after RFC 6749 section 5.2', () => {
  const cases: [string, number, string, object | string, Record<string, string>?][] = [
    ['no grant type', 400, 'invalid_request', { ...app }],
    ['an unknown grant', 400, 'unsupported_grant_type', { grant_type: 'implicit', ...app }],
    ['no client', 401, 'invalid_client', { grant_type: 'client_credentials' }],
    [
      'an unknown client',
      401,
      'invalid_client',
      { grant_type: 'client_credentials', client_id: 'nobody', client_secret: 'x' },
    ],
    [
      'a wrong secret',
      401,
      'invalid_client',
      { grant_type: 'client_credentials', client_id: 'demo-app', client_secret: 'x' },
    ],
    [
      'a wrong secret in Basic',
      401,
      'invalid_client',
      { grant_type: 'client_credentials' },
      basic('demo-app', 'x'),
    ],
    [
      'Basic that is no base64',
      401,
      'invalid_client',
      { grant_type: 'client_credentials' },
      { authorization: 'Basic %%%' },
    ],
    [
      'Basic without a colon',
      401,
      'invalid_client',
      { grant_type: 'client_credentials' },
      { authorization: `Basic ${Buffer.from('demo-app').toString('base64')}` },
    ],
    [
      'a Bearer token as client authentication',
      401,
      'invalid_client',
      { grant_type: 'client_credentials' },
      { authorization: 'Bearer abc' },
    ],
    [
      'two secrets',
      400,
      'invalid_request',
      { grant_type: 'client_credentials', ...app },
      basic('demo-app', 'demo-app-secret'),
    ],
    [
      'another client_id beside Basic',
      400,
      'invalid_request',
      { grant_type: 'client_credentials', client_id: 'demo-reader' },
      basic('demo-app', 'demo-app-secret'),
    ],
    [
      'a repeated parameter',
      400,
      'invalid_request',
      'grant_type=client_credentials&grant_type=password',
      { ...form, ...basic('demo-app', 'demo-app-secret') },
    ],
    [
      'a number as username',
      400,
      'invalid_request',
      { grant_type: 'password', ...app, username: 7, password: 'x' },
    ],
    ['no username', 400, 'invalid_request', { grant_type: 'password', ...app, password: 'x' }],
    ['no password', 400, 'invalid_request', { grant_type: 'password', ...app, username: 'demo.member' }],
    [
      'a grant the client may not use',
      400,
      'unauthorized_client',
      { grant_type: 'password', client_id: 'demo-backend', client_secret: 'demo-backend-secret', ...member },
    ],
    [
      'a scope that does not exist',
      400,
      'invalid_scope',
      { grant_type: 'client_credentials', ...app, scope: 'everything' },
    ],
    [
      'a scope the client does not have',
      400,
      'invalid_scope',
      {
        grant_type: 'client_credentials',
        client_id: 'demo-reader',
        client_secret: 'demo-reader-secret',
        scope: 'transfer:write',
      },
    ],
    [
      'a malformed scope',
      400,
      'invalid_scope',
      { grant_type: 'client_credentials', ...app, scope: 'account:read  transfer:read' },
    ],
    [
      'a wrong password',
      400,
      'invalid_grant',
      { grant_type: 'password', ...app, username: 'olive.euro', password: 'wrong' },
    ],
    [
      'an unknown user',
      400,
      'invalid_grant',
      { grant_type: 'password', ...app, username: 'nobody.here', password: 'wrong' },
    ],
    [
      'a user locked by an operator',
      400,
      'invalid_grant',
      { grant_type: 'password', ...app, username: 'heath.locked', password: 'heath-lock-lantern-12' },
    ],
    [
      'an inactive user',
      400,
      'invalid_grant',
      { grant_type: 'password', ...app, username: 'moss.inactive', password: 'moss-sleep-lantern-13' },
    ],
    [
      "another institution's member",
      400,
      'invalid_grant',
      { grant_type: 'password', ...app, username: 'demo.member', password: 'harbor-member-password' },
    ],
  ];
  for (const [name, status, error, body, headers] of cases) {
    test(`returns ${error} for a token request: ${name}`, async () => {
      const answer = await token(body, headers);
      assert.equal(answer.status, status, answer.text);
      assert.equal(answer.body.error, error);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      if (status === 401 && headers?.authorization?.startsWith('Basic')) {
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic /);
      }
    });
  }

  test('refuses an Authorization header beside credentials in the body as a second method, with any content', async () => {
    const { token: live } = await memberOf(service, member.username, member.password);
    const { authorization } = basic('demo-app', 'demo-app-secret');
    for (const path of [paths.token, paths.revoke, paths.introspect]) {
      for (const header of [
        `Bearer ${live}`,
        'Bearer stale',
        'Bearer',
        'Basic %%%',
        'Negotiate x',
        authorization,
      ]) {
        const body = { grant_type: 'client_credentials', token: live, ...app };
        const answer = await send(service.address, 'POST', path, {
          body,
          headers: { authorization: header },
        });
        assert.equal(answer.status, 400, answer.text);
        assert.equal(answer.body.error, 'invalid_request');
        assert.match(answer.body.error_description, /Authorization/);
        assert.equal(answer.headers.get('ratelimit'), null, 'no client was counted');
      }
    }
    const body = { token: live, ...app };
    const { active } = (await send(service.address, 'POST', paths.introspect, { body })).body;
    assert.equal(active, true, 'nothing was revoked');
  });

  test('names an Authorization header that is not Basic, instead of a wrong secret', async () => {
    for (const [header, message] of [
      ['Bearer abc', /access token/],
      ['Bearer', /access token/],
      ['Basic %%%', /malformed/],
      [basic('demo-app', '50%off').authorization, /malformed/],
    ] as const) {
      const answer = await token({ grant_type: 'client_credentials' }, { authorization: header });
      assert.equal(answer.status, 401, answer.text);
      assert.equal(answer.body.error, 'invalid_client');
      assert.match(answer.body.error_description, message);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic /);
    }
  });

  test('ignores an empty Authorization header', async () => {
    const answer = await token({ grant_type: 'client_credentials', ...app }, { authorization: '' });
    assert.equal(answer.status, 200, answer.text);
  });

  test('gives identical responses for an unknown user, a wrong password, a locked and an inactive user', async () => {
    const tries = [
      { username: 'nobody.here', password: 'wrong' },
      { username: 'reed.shared', password: 'wrong' },
      { username: 'heath.locked', password: 'heath-lock-lantern-12' },
      { username: 'moss.inactive', password: 'moss-sleep-lantern-13' },
    ];
    const answers = await Promise.all(tries.map((one) => token({ grant_type: 'password', ...app, ...one })));
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
  });
});

describe('lock by wrong passwords', () => {
  const clover = { grant_type: 'password', ...app, username: 'clover.late' };
  const right = 'clover-late-lantern-10';

  test('five wrong passwords in a row, here among twenty at once, lock the user for 15 minutes and no longer', async () => {
    const live = await memberOf(service, 'clover.late', right);
    await Promise.all(Array.from({ length: 20 }, () => token({ ...clover, password: 'wrong' })));
    assert.equal((await token({ ...clover, password: right })).body.error, 'invalid_grant');
    const bank = await clientOf(service);
    const profile = `${paths.customer('c-1008')}/contact-methods`;
    assert.deepEqual((await bank.get(profile)).body.userStatus, { active: true, locked: true });
    assert.equal(
      (await live.get(paths.accounts)).status,
      200,
      'a lock by wrong passwords ends no live token',
    );

    const lockedAt = now;
    now = new Date(lockedAt.getTime() + 14 * 60_000 + 59_000);
    assert.equal((await token({ ...clover, password: 'wrong' })).status, 400);
    assert.equal((await token({ ...clover, password: right })).status, 400);
    now = new Date(lockedAt.getTime() + 15 * 60_000);
    assert.equal(
      (await token({ ...clover, password: right })).status,
      200,
      'tries while locked do not extend it',
    );
    assert.deepEqual((await bank.get(profile)).body.userStatus, { active: true, locked: false });
  });

  test('four wrong passwords and a right one restart the count', async () => {
    const aspen = { grant_type: 'password', ...app, username: 'aspen.closed' };
    for (let round = 0; round < 3; round++) {
      for (let tries = 0; tries < 4; tries++) await token({ ...aspen, password: 'wrong' });
      assert.equal(
        (await token({ ...aspen, password: 'aspen-shut-lantern-11' })).status,
        200,
        `round ${round}`,
      );
    }
  });
});

describe('inactive tokens', () => {
  const parts = (jwt: string) => jwt.split('.') as [string, string, string];
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const signed = (input: string) =>
    `${input}.${sign('sha256', Buffer.from(input), { key: stranger, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;

  const forgeries: Record<string, (jwt: string) => string | Promise<string>> = {
    'text in another form': () => 'abc',
    'alg none (RFC 8725 3.1)': (jwt) =>
      `${encode({ ...decode(parts(jwt)[0]), alg: 'none' })}.${parts(jwt)[1]}.`,
    'the public key as an HMAC secret (RFC 8725 2.1)': async (jwt) => {
      const [row] = await service.db.superuser<{ public_jwk: object }>('select public_jwk from signing_keys');
      const input = `${encode({ ...decode(parts(jwt)[0]), alg: 'HS256' })}.${parts(jwt)[1]}`;
      return `${input}.${createHmac('sha256', JSON.stringify(row?.public_jwk)).update(input).digest('base64url')}`;
    },
    'another claim under the same signature': (jwt) =>
      [parts(jwt)[0], encode({ ...decode(parts(jwt)[1]), institution_id: 2 }), parts(jwt)[2]].join('.'),
    'signed by a stranger with our kid': (jwt) => signed(parts(jwt).slice(0, 2).join('.')),
    'a kid that does not exist': (jwt) =>
      signed(`${encode({ ...decode(parts(jwt)[0]), kid: 'other' })}.${parts(jwt)[1]}`),
    'a signature cut short': (jwt) => jwt.slice(0, -4),
  };
  for (const [name, forge] of Object.entries(forgeries)) {
    test(`rejects a forged token as invalid_token: ${name}`, async () => {
      const { token: jwt, get } = await memberOf(service, member.username, member.password);
      assert.equal((await get(paths.accounts)).status, 200);
      const authorization = `Bearer ${await forge(jwt)}`;
      const answer = await send(service.address, 'GET', paths.accounts, { headers: { authorization } });
      assert.equal(answer.status, 401, answer.text);
      assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    });
  }

  test('rejects an expired token, even if it was used a moment ago', async () => {
    const caller = await memberOf(service, member.username, member.password);
    const issuedAt = now;
    now = new Date(issuedAt.getTime() + 1_799_000);
    assert.equal((await caller.get(paths.accounts)).status, 200);
    now = new Date(issuedAt.getTime() + 1_801_000);
    assert.equal((await caller.get(paths.accounts)).status, 401);
  });

  test('rejects a token for another issuer’s resource', async () => {
    const other = await startTestService({
      beside: service,
      clock: () => now,
      environment: { PUBLIC_URL: 'http://other.test' },
    });
    try {
      const { token: jwt } = await memberOf(other, member.username, member.password);
      const headers = { authorization: `Bearer ${jwt}` };
      assert.equal((await send(service.address, 'GET', paths.accounts, { headers })).status, 401);
      assert.equal((await send(other.address, 'GET', paths.accounts, { headers })).status, 200);
    } finally {
      await other.close();
    }
  });

  test('rejects a token of a user or client that was switched off a moment ago', async () => {
    const caller = await memberOf(service, 'ivy.shared', 'ivy-shared-lantern-14');
    const reader = await clientOf(service, ['demo-reader', 'demo-reader-secret']);
    const profile = `${paths.customer('c-1012')}/contact-methods`;
    assert.equal((await caller.get(profile)).status, 200);
    assert.equal((await reader.get(profile)).status, 200);
    await service.db.superuser(`update users set active = false where username = 'ivy.shared'`);
    await service.db.superuser(`update clients set active = false where client_id = 'demo-reader'`);
    assert.equal((await caller.get(profile)).status, 401);
    assert.equal((await reader.get(profile)).status, 401);
  });
});
