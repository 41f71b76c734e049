import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { decodeJwt } from 'jose';
import { changeClient, createClient, runAuthMaintenance, setStanding } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { type Answer, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

const issuer = 'http://sharedraft.test';
let now = new Date('2026-03-02T12:00:00Z');
let one: TestService;
let two: TestService;
let institutionId: InstitutionId;
before(async () => {
  one = await startTestService({ clock: () => now });
  two = await startTestService({ clock: () => now, beside: one });
  const [row] = await one.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  institutionId = row?.institution_id as InstitutionId;
});
after(async () => {
  await two.close();
  await one.close();
});

const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
/** It may introspect every token of its institution. */
const backend = { client_id: 'demo-backend', client_secret: 'demo-backend-secret' };
const reader = { client_id: 'demo-reader', client_secret: 'demo-reader-secret' };
const harbor = { client_id: 'harbor-app', client_secret: 'harbor-app-secret' };
const deps = () => one.service.context.auth;
const later = (millis: number) => {
  now = new Date(now.getTime() + millis);
};

const post = (path: string, body: object, at = one): Promise<Answer> =>
  send(at.address, 'POST', path, { body });
const revoke = (token: string, client: object = app, more: object = {}) =>
  post(paths.revoke, { ...client, token, ...more });
const introspect = async (token: string, client: object = app, at = one) =>
  (await post(paths.introspect, { ...client, token }, at)).body;

async function member(more: object = {}): Promise<{ access_token: string; refresh_token: string }> {
  const credentials = { username: 'demo.member', password: 'demo-member-password' };
  const scope = 'account:read offline_access';
  return (await post(paths.token, { grant_type: 'password', ...app, ...credentials, scope, ...more })).body;
}

async function clientToken(client: object = app): Promise<string> {
  return (await post(paths.token, { grant_type: 'client_credentials', ...client })).body.access_token;
}

const refresh = (token: string) =>
  post(paths.token, { grant_type: 'refresh_token', ...app, refresh_token: token });

async function lives(accessToken: string, at: TestService): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const path = `${paths.accounts}/a-1001-checking`;
  const { status } = await send(at.address, 'GET', path, { headers });
  assert.ok(status === 200 || status === 401, String(status));
  return status === 200;
}

describe('revocation (RFC 7009)', () => {
  test('revoking an access token ends it in every process, even if it was just used, and ends no other', async () => {
    for (const token of [(await member()).access_token, await clientToken()]) {
      const other = await clientToken();
      assert.ok((await lives(token, one)) && (await lives(token, two)));
      const reply = await revoke(token);
      assert.equal(reply.status, 200);
      assert.deepEqual(reply.body, {});
      assert.equal(await lives(token, one), false);
      assert.equal(await lives(token, two), false);
      assert.ok(await lives(other, two));
    }
  });

  test('revoking a refresh token ends the login with its access tokens and refresh tokens', async () => {
    const other = await member();
    const first = await member();
    const second = (await refresh(first.refresh_token)).body;
    assert.equal((await revoke(second.refresh_token)).status, 200);
    for (const { access_token, refresh_token } of [first, second]) {
      assert.equal(await lives(access_token, two), false);
      assert.equal((await refresh(refresh_token)).body.error, 'invalid_grant');
    }
    assert.ok(await lives(other.access_token, one));
    assert.equal((await refresh(other.refresh_token)).status, 200);
  });

  test('revoking a used refresh token ends the login too', async () => {
    const first = await member();
    const second = (await refresh(first.refresh_token)).body;
    await revoke(first.refresh_token);
    assert.equal((await refresh(second.refresh_token)).body.error, 'invalid_grant');
  });

  test('revoking an access token keeps its login', async () => {
    const tokens = await member();
    await revoke(tokens.access_token);
    assert.equal((await refresh(tokens.refresh_token)).status, 200);
  });

  test('returns 200 for revoking unknown, malformed, expired or revoked tokens (section 2.2)', async () => {
    const { access_token: accessToken, refresh_token: refreshToken } = await member();
    for (const token of [accessToken, refreshToken]) {
      assert.equal((await revoke(token)).status, 200);
      assert.equal((await revoke(token)).status, 200, 'again');
    }
    const expired = await clientToken();
    later(1_801_000);
    const altered = `${(await clientToken()).slice(0, -4)}AAAA`;
    for (const token of [expired, altered, 'x', 'a.b.c', 'ümläut', 'x'.repeat(5_000)]) {
      const reply = await revoke(token);
      assert.equal(reply.status, 200, token);
      assert.deepEqual(reply.body, {});
    }
  });

  test('revokes a token with any hint (section 2.1)', async () => {
    for (const hint of ['access_token', 'refresh_token', 'saml2_token', '']) {
      const { access_token: accessToken, refresh_token: refreshToken } = await member();
      await revoke(accessToken, app, { token_type_hint: hint });
      assert.equal(await lives(accessToken, one), false, hint);
      await revoke(refreshToken, app, { token_type_hint: hint });
      assert.equal((await refresh(refreshToken)).body.error, 'invalid_grant', hint);
    }
  });

  test('a revocation leaves one audit entry with the kind and owner of the token, and never the token', async () => {
    const tokens = await member();
    const again = (await refresh(tokens.refresh_token)).body;
    await revoke(tokens.access_token);
    await revoke(tokens.access_token);
    later(10_001);
    await refresh(tokens.refresh_token);
    await revoke(again.refresh_token);
    const entries = await one.db.superuser<{ reason: string; row: string }>(
      `select reason, a::text as row from audit_entries a where action = 'token.revoked' order by audit_key desc limit 2`,
    );
    assert.deepEqual(
      entries.map(({ reason }) => reason),
      ['refresh_token_reused', 'access_token'],
    );
    for (const { row } of entries) {
      assert.match(row, /demo-app/);
      assert.match(row, /u-demo-member/);
      for (const token of Object.values(tokens)) assert.ok(!row.includes(token));
    }
  });

  test('refuses to revoke another client’s token, and audits the client and the token’s owner', async () => {
    const tokens = await member();
    const { jti, sid } = decodeJwt(tokens.access_token);
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const { status, body } = await revoke(token, reader);
      assert.deepEqual([status, body.error], [400, 'unauthorized_client']);
    }
    assert.deepEqual((await revoke(tokens.access_token, harbor)).body.error, 'unauthorized_client');
    await deps().audit.settle();
    const seen = await one.db.superuser<{ client_id: string; subject: string | null }>(
      `select client_id, subject from audit_entries where action = 'token.revoked' and outcome = 'refused'
       order by client_id, subject`,
    );
    const expected = [jti, sid].toSorted().map((subject) => ({ client_id: 'demo-reader', subject }));
    // Data of another institution is hidden from this one.
    assert.deepEqual(seen, [...expected, { client_id: 'harbor-app', subject: null }]);
    assert.ok(await lives(tokens.access_token, two));
  });

  test('keeps a revocation for the token’s lifetime, and forgets it then', async () => {
    const tokens = await member();
    await revoke(tokens.access_token);
    await revoke(tokens.refresh_token);
    const count = async () =>
      (await one.db.superuser<{ n: bigint }>('select count(*) as n from revocations'))[0]?.n;
    later(1_799_000);
    await runAuthMaintenance(deps(), institutionId);
    assert.equal(await lives(tokens.access_token, two), false);
    later(24 * 60 * 60_000 + 5 * 60_000);
    await runAuthMaintenance(deps(), institutionId);
    assert.equal(await count(), 0n);
  });

  test('revokes a token of a client with a token lifetime of one day for that whole day', async () => {
    const secret = 'a-secret-of-a-test';
    const long = { client_id: 'long', client_secret: secret };
    const client = {
      institutionId,
      clientId: 'long',
      name: 'long',
      secret,
      scopes: ['account:read', 'offline_access'],
      grants: ['password', 'refresh_token'],
      tokenLifetimeSeconds: 86_400,
    } as const;
    await createClient(deps(), client, ownOrigin());
    const tokens = await member(long);
    await revoke(tokens.refresh_token, long);
    later(86_399_000);
    await runAuthMaintenance(deps(), institutionId);
    assert.equal(await lives(tokens.access_token, one), false);
  });
});

describe('introspection (RFC 7662)', () => {
  test('introspection shows a client without the right nothing about other clients’ tokens', async () => {
    const tokens = await member();
    const others = [tokens.access_token, tokens.refresh_token, await clientToken(backend)];
    for (const token of others) assert.deepEqual(await introspect(token, reader), { active: false });
    assert.equal((await introspect(await clientToken(reader), reader)).active, true);
    await changeClient(deps(), institutionId, {
      clientId: 'demo-reader',
      change: { introspectsAll: true },
      origin: ownOrigin(),
    });
    for (const token of others) assert.equal((await introspect(token, reader)).active, true);
    await changeClient(deps(), institutionId, {
      clientId: 'demo-reader',
      change: { introspectsAll: false },
      origin: ownOrigin(),
    });
  });

  test('introspection describes a member’s and a client’s token to a client with the right', async () => {
    const tokens = await member();
    const iat = Math.floor(now.getTime() / 1000);
    const introspection = await introspect(tokens.access_token, backend, two);
    assert.match(introspection.jti, /^[0-9a-f-]{36}$/);
    assert.deepEqual(introspection, {
      active: true,
      scope: 'account:read offline_access',
      client_id: 'demo-app',
      token_type: 'Bearer',
      exp: iat + 1800,
      iat,
      sub: 'u-demo-member',
      aud: issuer,
      iss: issuer,
      jti: introspection.jti,
      institution_id: institutionId,
      token_use: 'member',
      auth_time: iat,
      amr: ['pwd'],
    });
    const ofClient = await introspect(await clientToken(reader), backend);
    assert.equal(ofClient.sub, 'demo-reader');
    assert.equal(ofClient.token_use, 'client');
    assert.equal(ofClient.amr, undefined);
    const ofRefresh = await introspect(tokens.refresh_token);
    assert.equal(ofRefresh.active, true);
    assert.equal(ofRefresh.token_type, undefined);
    assert.equal(ofRefresh.exp, iat + 14 * 24 * 60 * 60);
  });

  const dead: [string, () => Promise<string>][] = [
    [
      'a revoked access token',
      async () => {
        const { access_token: token } = await member();
        await revoke(token);
        return token;
      },
    ],
    [
      'an access token of a revoked login',
      async () => {
        const tokens = await member();
        await revoke(tokens.refresh_token);
        return tokens.access_token;
      },
    ],
    [
      'a revoked refresh token',
      async () => {
        const { refresh_token: token } = await member();
        await revoke(token);
        return token;
      },
    ],
    [
      'a spent refresh token',
      async () => {
        const { refresh_token: token } = await member();
        await refresh(token);
        return token;
      },
    ],
    [
      'an expired access token',
      async () => {
        const { access_token: token } = await member();
        later(1_801_000);
        return token;
      },
    ],
    [
      'an expired refresh token',
      async () => {
        const { refresh_token: token } = await member();
        later(15 * 24 * 60 * 60_000);
        return token;
      },
    ],
    ['an altered token', async () => `${(await clientToken()).slice(0, -4)}AAAA`],
    ['something else', async () => 'x'],
    ['a token of another institution', () => clientToken(harbor)],
    [
      'a token of a user who was shut out',
      async () => {
        const { access_token: token } = await member();
        await setStanding(deps(), institutionId, { name: 'demo.member', active: false, origin: ownOrigin() });
        await setStanding(deps(), institutionId, { name: 'demo.member', active: true, origin: ownOrigin() });
        return token;
      },
    ],
  ];
  for (const [name, make] of dead) {
    test(`introspection returns inactive and nothing else for ${name} (section 2.2)`, async () => {
      const token = await make();
      assert.deepEqual(await introspect(token), { active: false });
      assert.deepEqual(await introspect(token, backend, two), { active: false });
    });
  }

  test('returns inactive for another institution’s refresh token, and cannot revoke it', async () => {
    const { refresh_token: token, access_token: accessToken } = await member();
    assert.deepEqual(await introspect(token, harbor), { active: false });
    assert.equal((await revoke(token, harbor)).status, 200);
    assert.equal((await revoke(accessToken, harbor)).body.error, 'unauthorized_client');
    assert.ok(await lives(accessToken, one));
    assert.equal((await refresh(token)).status, 200);
  });
});
