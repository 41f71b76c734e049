import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  changeClient,
  createClient,
  runAuthMaintenance,
  setPassword,
  setStanding,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { type Answer, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { dumpTables } from '../support/tables.ts';

const day = 24 * 60 * 60_000;
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
const demoMember = ['demo.member', 'demo-member-password'] as const;
const deps = () => one.service.context.auth;
const later = (millis: number) => {
  now = new Date(now.getTime() + millis);
};

function ask(body: object, at = one): Promise<Answer> {
  return send(at.address, 'POST', paths.token, { body });
}

function login([username, password]: readonly [string, string] = demoMember, more: object = {}) {
  const scope = 'account:read transfer:read offline_access';
  return ask({ grant_type: 'password', ...app, username, password, scope, ...more });
}

function refresh(token: string, more: object = {}, at = one): Promise<Answer> {
  return ask({ grant_type: 'refresh_token', ...app, refresh_token: token, ...more }, at);
}

async function lives(accessToken: string, at = one): Promise<boolean> {
  const headers = { authorization: `Bearer ${accessToken}` };
  const { status } = await send(at.address, 'GET', paths.accounts, { headers });
  assert.ok(status === 200 || status === 401, String(status));
  return status === 200;
}

const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

const fields = ['access_token', 'token_type', 'expires_in', 'scope'];

describe('issuing a refresh token', () => {
  test('issues a refresh token only to a member whose client asked for offline_access and may have it', async () => {
    const member = { grant_type: 'password', username: demoMember[0], password: demoMember[1] };
    const granted = await ask({ ...member, ...app, scope: 'account:read offline_access' });
    assert.deepEqual(Object.keys(granted.body), [...fields, 'refresh_token']);
    assert.equal(granted.body.scope, 'account:read offline_access');
    const refused: [string, object, string][] = [
      ['without asking', { ...member, ...app }, 'account:read'],
      [
        'a client token',
        { grant_type: 'client_credentials', ...app, scope: 'account:read offline_access' },
        'account:read',
      ],
    ];
    for (const [name, body, scope] of refused) {
      const reply = await ask(body);
      assert.equal(reply.status, 200, name);
      assert.deepEqual(Object.keys(reply.body), fields, name);
      assert.ok(reply.body.scope.startsWith(scope) && !reply.body.scope.includes('offline_access'), name);
    }
  });

  test('issues no refresh token if the client lacks the grant or the scope', async () => {
    const scopes = ['account:read', 'offline_access'] as const;
    const secret = 'a-secret-of-a-test';
    const base = { institutionId, name: 'x', secret, scopes };
    await createClient(deps(), { ...base, clientId: 'no-grant', grants: ['password'] }, ownOrigin());
    await createClient(
      deps(),
      {
        ...base,
        clientId: 'no-scope',
        scopes: ['account:read'],
        grants: ['password', 'refresh_token'],
      },
      ownOrigin(),
    );
    const scope = 'account:read offline_access';
    const withoutGrant = await login(demoMember, { client_id: 'no-grant', client_secret: secret, scope });
    assert.deepEqual(Object.keys(withoutGrant.body), fields);
    assert.equal(withoutGrant.body.scope, 'account:read');
    const withoutScope = await login(demoMember, { client_id: 'no-scope', client_secret: secret, scope });
    assert.equal(withoutScope.body.error, 'invalid_scope');
    const unasked = await refresh('x', { client_id: 'no-grant', client_secret: secret });
    assert.equal(unasked.body.error, 'unauthorized_client');
  });
});

describe('refreshing', () => {
  test('a refreshed token says how the member signed in, and leaves it out for a login of before the column', async () => {
    const first = (await login()).body;
    assert.deepEqual(claimsOf(first.access_token).amr, ['pwd']);
    const second = (await refresh(first.refresh_token, {}, two)).body;
    const { amr, acr, sid } = claimsOf(second.access_token);
    assert.deepEqual([amr, acr], [['pwd'], undefined]);
    const familyId = String(sid);
    const setTo = (methods: string | null, signInClass: string | null = null) =>
      one.db.superuser(
        `update refresh_families set methods = ${methods}, acr = ${signInClass} where family_id = $1`,
        [familyId],
      );
    await setTo(null, "'phr'");
    const third = claimsOf((await refresh(second.refresh_token)).body.access_token);
    assert.deepEqual([third.amr, third.acr], [undefined, 'phr']);
    const refused: [methods: string, acr: string | null, constraint: string][] = [
      ["'{}'", null, 'refresh_families_methods'],
      ["'{face}'", null, 'refresh_families_methods'],
      ["'{pwd,null}'", null, 'refresh_families_methods'],
      ["'{pwd}'", "'phr'", 'refresh_families_acr_of_methods'],
      ["'{hwk,user,mfa}'", null, 'refresh_families_acr_of_methods'],
      ["'{pwd,otp,mfa}'", "'phr'", 'refresh_families_acr_of_methods'],
    ];
    for (const [methods, signInClass, constraint] of refused)
      await assert.rejects(setTo(methods, signInClass), { constraint }, methods);
  });

  test('a refresh returns a new access token and the next refresh token, in any process', async () => {
    const first = (await login()).body;
    const second = (await refresh(first.refresh_token, {}, two)).body;
    assert.deepEqual(Object.keys(second), [...fields, 'refresh_token']);
    assert.notEqual(second.refresh_token, first.refresh_token);
    assert.ok((await lives(first.access_token)) && (await lives(second.access_token)));
    const third = (await refresh(second.refresh_token)).body;
    assert.ok(await lives(third.access_token, two));
  });

  test('fifty simultaneous refreshes do the work of one: all get the same successor, and the family continues', async () => {
    const { refresh_token: token } = (await login()).body;
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => refresh(token, {}, index % 2 === 0 ? one : two)),
    );
    assert.deepEqual(
      [...new Set(replies.map(({ status }) => status))],
      [200],
      replies.map((r) => r.text).join(),
    );
    const successors = new Set(replies.map(({ body }) => body.refresh_token));
    assert.equal(successors.size, 1);
    const [next = ''] = successors;
    assert.equal((await refresh(next)).status, 200);
    const accessTokens = replies.map(({ body }) => body.access_token);
    assert.equal(new Set(accessTokens).size, 50);
    for (const accessToken of accessTokens.slice(0, 3)) assert.ok(await lives(accessToken));
  });

  test('a refresh whose response was lost can be repeated within ten seconds', async () => {
    const { refresh_token: token } = (await login()).body;
    const answered = (await refresh(token)).body;
    later(10_000);
    const again = (await refresh(token, {}, two)).body;
    assert.equal(again.refresh_token, answered.refresh_token);
    assert.equal((await refresh(again.refresh_token)).status, 200);
  });

  test('a refresh narrows the scope of its access token, never widens it, and the login keeps its scope', async () => {
    const { refresh_token: token } = (await login()).body;
    const narrow = (await refresh(token, { scope: 'account:read' })).body;
    assert.equal(narrow.scope, 'account:read');
    const wide = await refresh(narrow.refresh_token, { scope: 'account:read transfer:write' });
    assert.equal(wide.body.error, 'invalid_scope');
    const whole = (await refresh(narrow.refresh_token)).body;
    assert.equal(whole.scope, 'account:read transfer:read offline_access', 'a refused scope spends nothing');
  });

  test('refreshes a token only for the client that it was issued to', async () => {
    await createClient(
      deps(),
      {
        institutionId,
        clientId: 'another',
        name: 'another',
        secret: 'another-secret-of-a-test',
        scopes: ['account:read', 'offline_access'],
        grants: ['refresh_token'],
      },
      ownOrigin(),
    );
    const { refresh_token: token } = (await login()).body;
    const reply = await refresh(token, { client_id: 'another', client_secret: 'another-secret-of-a-test' });
    assert.equal(reply.body.error, 'invalid_grant');
    assert.equal((await refresh(token)).status, 200, 'a stranger’s try ends nothing');
  });
});

describe('reuse of a refresh token ends its family', () => {
  async function assertEnded(tokens: { access_token: string; refresh_token: string }[]) {
    for (const { access_token, refresh_token } of tokens) {
      assert.equal((await refresh(refresh_token)).body.error, 'invalid_grant');
      assert.equal(await lives(access_token), false);
      assert.equal(await lives(access_token, two), false);
    }
  }

  test('a refresh token reused after the grace period ends its family', async () => {
    const bystander = (await login()).body;
    const first = (await login()).body;
    const second = (await refresh(first.refresh_token)).body;
    later(10_001);
    assert.equal((await refresh(first.refresh_token)).body.error, 'invalid_grant');
    await assertEnded([first, second]);
    assert.ok(await lives(bystander.access_token), 'another login of the same user goes on');
    assert.equal((await refresh(bystander.refresh_token)).status, 200);
  });

  test('a refresh token reused within the grace period ends its family once its successor was used', async () => {
    const first = (await login()).body;
    const second = (await refresh(first.refresh_token)).body;
    const third = (await refresh(second.refresh_token, {}, two)).body;
    assert.equal((await refresh(first.refresh_token)).body.error, 'invalid_grant');
    await assertEnded([first, second, third]);
  });

  test('a refresh token of many refreshes ago ends its family', async () => {
    const first = (await login()).body;
    let { refresh_token: token } = first;
    for (let round = 0; round < 5; round += 1) {
      later(60_000);
      token = (await refresh(token)).body.refresh_token;
    }
    assert.equal((await refresh(first.refresh_token)).body.error, 'invalid_grant');
    assert.equal((await refresh(token)).body.error, 'invalid_grant');
  });
});

describe('end of a login', () => {
  test('a login ends after the idle time without use, and each refresh restarts that time', async () => {
    let { refresh_token: token } = (await login()).body;
    later(14 * day - 1);
    token = (await refresh(token)).body.refresh_token;
    later(14 * day - 1);
    token = (await refresh(token)).body.refresh_token;
    later(14 * day);
    assert.equal((await refresh(token)).body.error, 'invalid_grant');
  });

  test('a login expires after its whole lifetime, with any amount of use', async () => {
    let { refresh_token: token } = (await login()).body;
    for (let passed = 0; passed < 81; passed += 9) {
      later(9 * day);
      token = (await refresh(token)).body.refresh_token;
    }
    later(9 * day - 1);
    token = (await refresh(token)).body.refresh_token;
    later(1);
    assert.equal((await refresh(token)).body.error, 'invalid_grant');
  });

  const clover = ['clover.late', 'clover-late-lantern-10'] as const;
  const shutOut: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'when an operator locks the user, for good',
      () =>
        setStanding(deps(), institutionId, { name: clover[0], lockedByOperator: true, origin: ownOrigin() }),
      () =>
        setStanding(deps(), institutionId, { name: clover[0], lockedByOperator: false, origin: ownOrigin() }),
    ],
    [
      'when the user is deactivated, for good',
      () => setStanding(deps(), institutionId, { name: clover[0], active: false, origin: ownOrigin() }),
      () => setStanding(deps(), institutionId, { name: clover[0], active: true, origin: ownOrigin() }),
    ],
    [
      'when the password is changed',
      () =>
        setPassword(deps(), institutionId, {
          name: clover[0],
          password: 'nine lanterns beside a lake',
          origin: ownOrigin(),
        }),
      async () => {
        const hash = await deps().passwords.hash(clover[1]);
        await one.db.superuser('update users set password_hash = $1 where username = $2', [hash, clover[0]]);
      },
    ],
    [
      'when the client is switched off, for good',
      () =>
        changeClient(deps(), institutionId, {
          clientId: 'demo-app',
          change: { active: false },
          origin: ownOrigin(),
        }),
      () =>
        changeClient(deps(), institutionId, {
          clientId: 'demo-app',
          change: { active: true },
          origin: ownOrigin(),
        }),
    ],
  ];
  for (const [name, shut, open] of shutOut) {
    test(`ends a login and its active tokens in every process: ${name}`, async () => {
      const { refresh_token: token, access_token: accessToken } = (await login(clover)).body;
      assert.ok((await lives(accessToken)) && (await lives(accessToken, two)));
      await shut();
      assert.notEqual((await refresh(token)).status, 200);
      assert.equal(await lives(accessToken), false);
      assert.equal(await lives(accessToken, two), false);
      await open();
      assert.equal((await refresh(token)).body.error, 'invalid_grant');
      assert.equal(await lives(accessToken), false);
      const again = (await login(clover)).body;
      assert.ok(await lives(again.access_token, two), 'a new login is good');
      assert.equal((await refresh(again.refresh_token)).status, 200);
    });
  }

  test('a lock by wrong passwords does not end a login, so a stranger cannot end a session', async () => {
    const { refresh_token: token, access_token: accessToken } = (await login(clover)).body;
    for (let tries = 0; tries < 5; tries += 1) await login([clover[0], 'wrong']);
    assert.equal((await login(clover)).body.error, 'invalid_grant');
    assert.equal((await refresh(token)).status, 200);
    assert.ok(await lives(accessToken));
    later(15 * 60_000);
    assert.equal((await login(clover)).status, 200);
  });

  test('a login is over when the client loses the grant', async () => {
    const { refresh_token: token } = (await login()).body;
    const grants = ['client_credentials', 'password', 'refresh_token'];
    await changeClient(deps(), institutionId, {
      clientId: 'demo-app',
      change: { grants: ['password'] },
      origin: ownOrigin(),
    });
    assert.equal((await refresh(token)).body.error, 'unauthorized_client');
    const scopes = ['account:read', 'institution-users:read', 'transfer:read'];
    await changeClient(deps(), institutionId, {
      clientId: 'demo-app',
      change: { grants, scopes },
      origin: ownOrigin(),
    });
    assert.equal((await refresh(token)).body.error, 'invalid_grant');
    await changeClient(deps(), institutionId, {
      clientId: 'demo-app',
      change: { scopes: ['account:read', 'offline_access'] },
      origin: ownOrigin(),
    });
    assert.equal((await refresh(token)).body.scope, 'account:read offline_access');
    await changeClient(deps(), institutionId, {
      clientId: 'demo-app',
      change: { scopes: [...scopes, 'offline_access'] },
      origin: ownOrigin(),
    });
  });
});

describe('stored data of refresh tokens', () => {
  test('the database stores nothing that could be presented as a refresh token', async () => {
    const first = (await login()).body.refresh_token;
    const second = (await refresh(first)).body.refresh_token;
    const dump = JSON.stringify(await dumpTables(one.db));
    for (const token of [first, second]) {
      const bytes = Buffer.from(token, 'base64url');
      assert.ok(!dump.includes(token));
      assert.ok(!dump.includes(bytes.subarray(20, 52).toString('hex')), 'nor its secret');
    }
  });

  test('a refresh token with any changed byte ends nothing', async () => {
    const token = (await login()).body.refresh_token;
    const bytes = Buffer.from(token, 'base64url');
    for (let at = 0; at < bytes.length; at += 3) {
      const forged = Buffer.from(bytes);
      forged[at] = (forged[at] ?? 0) ^ 1;
      const reply = await refresh(forged.toString('base64url'));
      assert.equal(reply.body.error, 'invalid_grant', `byte ${at}`);
    }
    for (const text of [`${token}A`, token.slice(0, -1), `${token}=`, 'x', `${token}\u0000`]) {
      assert.equal((await refresh(text)).status, 400);
    }
    assert.equal((await refresh(token)).status, 200);
  });

  test('the database refuses to skip a refresh token, and to revive a revoked family', async () => {
    await login();
    const change = (what: string) => one.db.superuser(`update refresh_families set ${what}`);
    await assert.rejects(change(`generation = generation + 2, token_hash = sha256('x')`), {
      code: 'SD202',
      message: /must directly follow/,
    });
    await assert.rejects(change('generation = generation + 1'), {
      code: 'SD202',
      message: /must directly follow/,
    });
    await assert.rejects(change(`token_hash = sha256('x')`), {
      code: 'SD202',
      message: /must directly follow/,
    });
    await change('revoked_at = rotated_at where revoked_at is null');
    await assert.rejects(change('revoked_at = null'), { code: 'SD201', message: /it is revoked for good/ });
  });

  test('deletes a refresh family after its end', async () => {
    later(90 * day);
    await runAuthMaintenance(deps(), institutionId);
    const left = await one.db.superuser(
      'select family_id as id from refresh_families union all select revoked_id from revocations',
    );
    assert.deepEqual(left, []);
  });
});
