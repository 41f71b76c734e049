import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  addProvider,
  changeProvider,
  listProviders,
  readJwks,
  removeProvider,
  setStanding,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { type Answer, memberOf, paths, send } from '../support/demo.ts';
import { aProvider, institutionOf } from '../support/identity.ts';
import { base64url, signJwt } from '../support/jwt.ts';
import { startTestService, type TestService } from '../support/service.ts';

const issuer = 'https://as.lakeside.example';
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keys = readJwks(
  JSON.stringify({
    keys: [
      { ...ec.publicKey.export({ format: 'jwk' }), kid: 'e' },
      { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'r' },
    ],
  }),
);

let service: TestService;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now });
  const provider = { kind: 'jwt', keys, resourceTokens: true } as const;
  await aProvider(service, 'lakeside', { ...provider, providerId: 'as', issuer });
  await aProvider(service, 'lakeside', {
    ...provider,
    providerId: 'narrow',
    issuer: 'https://narrow.example',
    scopes: ['transfer:read'],
  });
  await aProvider(service, 'lakeside', {
    ...provider,
    providerId: 'mail',
    issuer: 'https://mail.example',
    subjectFrom: 'email',
    userIdType: 'EMAIL',
  });
  await aProvider(service, 'lakeside', {
    ...provider,
    providerId: 'old',
    issuer: 'https://old.example',
    tokenType: 'JWT',
  });
  await aProvider(service, 'lakeside', {
    ...provider,
    providerId: 'assertions-only',
    issuer: 'https://assertions.example',
    resourceTokens: false,
  });
  await aProvider(service, 'lakeside', {
    ...provider,
    providerId: 'shared',
    issuer: 'https://shared.example',
  });
  await aProvider(service, 'harbor', {
    ...provider,
    providerId: 'shared',
    issuer: 'https://shared.example',
    audience: 'urn:harbor',
  });
});
after(() => service.close());

const seconds = () => Math.floor(now.getTime() / 1000);
const header = { alg: 'ES256', typ: 'at+jwt', kid: 'e' };
const claims = (more: object = {}): Record<string, unknown> => ({
  iss: issuer,
  sub: 'u-demo-member',
  aud: 'http://sharedraft.test',
  client_id: 'their-app',
  scope: 'openid account:read transfer:write',
  iat: seconds(),
  exp: seconds() + 3600,
  jti: randomUUID(),
  ...more,
});
const token = (more: object = {}, moreHeader: object = {}, key = ec.privateKey) =>
  signJwt({ ...header, ...moreHeader }, claims(more), key);
const without = (name: string) => {
  const { [name]: _, ...rest } = claims();
  return signJwt(header, rest, ec.privateKey);
};

function call(jwt: string, path: string = paths.accounts, at = service): Promise<Answer> {
  return send(at.address, 'GET', path, { headers: { authorization: `Bearer ${jwt}` } });
}

/** Moves the clock past the second of the last revocation. */
function later(): void {
  now = new Date(now.getTime() + 1_000);
}

async function eventually(status: number, ask: () => Promise<Answer>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while ((await ask()).status !== status) {
    assert.ok(performance.now() < deadline, `it never became ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('a provider’s access token: success', () => {
  test('a provider’s token shows a member exactly the same as one of our tokens', async () => {
    const own = await memberOf(service, 'demo.member', 'demo-member-password');
    const [ours, theirs] = [await own.get(paths.accounts), await call(token())];
    assert.equal(theirs.status, 200, theirs.text);
    assert.deepEqual(theirs.body, ours.body);
    assert.equal(theirs.headers.get('cache-control'), 'no-store');
  });

  test('a provider’s token moves money as its member', async () => {
    const headers = { authorization: `Bearer ${token()}` };
    const body = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
    const made = await send(service.address, 'POST', paths.transfers, { headers, body });
    assert.equal(made.status, 201, made.text);
    const [row] = await service.db.superuser<{ client_id: string; username: string }>(
      `select t.client_id, u.username from transfers t join users u using (institution_id, user_key)
       where t.transfer_id = $1`,
      [made.body.id],
    );
    assert.deepEqual(row, { client_id: 'provider:as', username: 'demo.member' });
  });

  test('accepts a provider’s token with several audiences if one is ours (RFC 9068 4)', async () => {
    assert.equal(
      (await call(token({ aud: ['https://other.example', 'http://sharedraft.test'] }))).status,
      200,
    );
  });

  test('accepts application/at+jwt in any case (RFC 9068 4, RFC 7515 4.1.9)', async () => {
    for (const typ of ['application/at+jwt', 'AT+JWT'])
      assert.equal((await call(token({}, { typ }))).status, 200, typ);
  });

  test('accepts a provider’s token signed with RS256, which RFC 9068 2.1 requires all to support', async () => {
    assert.equal((await call(token({}, { alg: 'RS256', kid: 'r' }, rsa.privateKey))).status, 200);
  });

  test('identifies the member of a provider’s token by a claim of the provider’s choice', async () => {
    const more = { iss: 'https://mail.example', sub: 'x', email: 'willow.testerman@example.test' };
    assert.equal((await call(token(more))).status, 200);
  });

  test('accepts only the typ that the institution set for its provider', async () => {
    const iss = 'https://old.example';
    const { client_id: _, ...plain } = claims({ iss });
    assert.equal((await call(signJwt({ ...header, typ: 'JWT' }, plain, ec.privateKey))).status, 200);
    assert.equal((await call(token({ iss }))).status, 401);
  });

  test('accepts the same provider’s token repeatedly until it expires', async () => {
    const started = now;
    const jwt = token();
    try {
      for (const later of [0, 10, 3659]) {
        now = new Date(started.getTime() + later * 1000);
        assert.equal((await call(jwt)).status, 200, `after ${later} s`);
      }
      now = new Date(started.getTime() + 3_660_000);
      assert.equal((await call(jwt)).status, 401);
    } finally {
      now = started;
    }
  });
});

describe('a provider’s access token: 403', () => {
  const forbidden: [string, () => string][] = [
    ['no scope at all (RFC 9068 2.2.3)', () => without('scope')],
    ['only unknown scopes', () => token({ scope: 'openid profile' })],
    [
      'a scope that the provider may not give',
      () => token({ iss: 'https://narrow.example', scope: 'account:read' }),
    ],
  ];
  for (const [name, make] of forbidden) {
    test(`returns insufficient_scope for a provider’s token: ${name}`, async () => {
      const answer = await call(make());
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.headers.get('www-authenticate') ?? '', /error="insufficient_scope"/);
    });
  }

  test('a provider’s token is always a member’s, and is refused by operations for client tokens', async () => {
    await aProvider(service, 'lakeside', {
      providerId: 'proud',
      kind: 'jwt',
      issuer: 'https://proud.example',
      keys,
      resourceTokens: true,
      scopes: ['institution-users:write'],
    });
    const jwt = token({
      iss: 'https://proud.example',
      scope: 'institution-users:write',
      token_use: 'client',
    });
    const answer = await send(service.address, 'POST', paths.register, {
      headers: { authorization: `Bearer ${jwt}` },
      body: { memberNumber: '900001', email: 'new@example.test' },
    });
    assert.deepEqual([answer.status, answer.body.code], [403, 'client_token_required']);
  });
});

describe('a provider’s access token: 401', () => {
  const refused: [string, () => string][] = [
    ['an unregistered issuer (RFC 9068 4)', () => token({ iss: 'https://x.example' })],
    ['no issuer (RFC 9068 2.2)', () => without('iss')],
    ['our own issuer', () => token({ iss: 'http://sharedraft.test' })],
    ['another audience (RFC 9068 4)', () => token({ aud: 'https://other.example' })],
    ['no audience (RFC 9068 2.2)', () => without('aud')],
    [
      'an audience for each of two institutions (RFC 9068 5)',
      () => token({ iss: 'https://shared.example', aud: ['http://sharedraft.test', 'urn:harbor'] }),
    ],
    [
      'more than the allowed number of audiences',
      () => token({ aud: ['http://sharedraft.test', ...Array.from({ length: 10 }, (_, n) => `urn:${n}`)] }),
    ],
    ['typ JWT (RFC 9068 4)', () => token({}, { typ: 'JWT' })],
    ['no typ (RFC 9068 4)', () => token({}, { typ: undefined })],
    ['a typ that is no text (RFC 7515 4.1.9)', () => token({}, { typ: {} })],
    ['an assertion’s typ', () => token({}, { typ: 'authorization-grant+jwt' })],
    ['no exp (RFC 9068 2.2)', () => without('exp')],
    ['no sub (RFC 9068 2.2)', () => without('sub')],
    ['no client_id (RFC 9068 2.2)', () => without('client_id')],
    ['no iat (RFC 9068 2.2)', () => without('iat')],
    ['no jti (RFC 9068 2.2)', () => without('jti')],
    ['a scope that is no text (RFC 8693 4.2)', () => token({ scope: ['account:read'] })],
    ['expired (RFC 9068 4)', () => token({ exp: seconds() - 60 })],
    ['not yet valid (RFC 7519 4.1.5)', () => token({ nbf: seconds() + 61 })],
    ['issued in the future (RFC 7519 4.1.6)', () => token({ iat: seconds() + 61 })],
    ['good for more than a day', () => token({ exp: seconds() + 86_461 })],
    ['unsigned (RFC 9068 2.1)', () => token({}, { alg: 'none' })],
    [
      'the public key as an HMAC secret (RFC 8725 2.1)',
      () =>
        signJwt(
          { ...header, alg: 'HS256' },
          claims(),
          ec.publicKey.export({ format: 'pem', type: 'spki' }).toString(),
        ),
    ],
    [
      'another algorithm than the key’s (RFC 8725 3.1)',
      () => token({}, { alg: 'PS256', kid: 'r' }, rsa.privateKey),
    ],
    ['signed by a stranger (RFC 9068 4)', () => token({}, {}, other.privateKey)],
    ['an unknown kid', () => token({}, { kid: 'x' })],
    ['crit (RFC 7515 4.1.11)', () => token({}, { crit: ['x'], x: 1 })],
    [
      'other claims under the same signature',
      () => {
        const [head, , signature] = token().split('.');
        return `${head}.${base64url(claims({ sub: 'u-wren-many' }))}.${signature}`;
      },
    ],
    ['a provider whose tokens are not accepted', () => token({ iss: 'https://assertions.example' })],
    ['an unknown member', () => token({ sub: 'u-nobody' })],
    ['a member of another institution', () => token({ sub: 'u-demo-member-harbor' })],
    [
      'no iat, with another typ too',
      () => {
        const { iat: _, ...rest } = claims({ iss: 'https://old.example' });
        return signJwt({ ...header, typ: 'JWT' }, rest, ec.privateKey);
      },
    ],
    ['issued before its provider was registered', () => token({ iat: seconds() - 1 })],
    ['a member locked by an operator', () => token({ sub: 'u-heath-locked' })],
    ['an inactive member', () => token({ sub: 'u-moss-inactive' })],
    [
      'an e-mail of two members',
      () => token({ iss: 'https://mail.example', email: 'family@sharemail.example' }),
    ],
    ['no claim that names the member', () => token({ iss: 'https://mail.example' })],
  ];
  for (const [name, make] of refused) {
    test(`rejects a provider’s token as invalid_token: ${name}`, async () => {
      const answer = await call(make());
      assert.deepEqual([answer.status, answer.body.code], [401, 'invalid_token'], answer.text);
      assert.match(answer.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    });
  }

  test('rejects every invalid provider’s token with the same words', async () => {
    const answers = await Promise.all(refused.map(([, make]) => call(make())));
    const texts = answers.map(({ body: { instance: _, ...rest } }) => JSON.stringify(rest));
    assert.equal(new Set(texts).size, 1);
  });

  test('looks for the member of a provider’s token only in the provider’s institution', async () => {
    const harbor = { iss: 'https://shared.example', aud: 'urn:harbor' };
    assert.equal((await call(token(harbor))).status, 401, 'u-demo-member is not of harbor');
    const theirs = await call(token({ ...harbor, sub: 'u-demo-member-harbor' }));
    assert.equal(theirs.status, 200);
    assert.notDeepEqual(theirs.body, (await call(token())).body);
  });
});

describe('a provider’s access token after a change', () => {
  test('a provider’s token ends in every process when the provider is switched off, and stays ended', async () => {
    const second = await startTestService({ beside: service, clock: () => now });
    try {
      const { institutionId } = await institutionOf(service, 'lakeside');
      const { auth } = service.service.context;
      const jwt = token();
      assert.equal((await call(jwt)).status, 200);
      assert.equal((await call(jwt, paths.accounts, second)).status, 200);
      await changeProvider(auth, institutionId, {
        providerId: 'as',
        settings: { active: false },
        origin: ownOrigin(),
      });
      await eventually(401, () => call(jwt));
      await eventually(401, () => call(jwt, paths.accounts, second));
      later();
      await changeProvider(auth, institutionId, {
        providerId: 'as',
        settings: { active: true, keys: keys.slice(1) },
        origin: ownOrigin(),
      });
      later();
      await eventually(200, () => call(token({}, { alg: 'RS256', kid: 'r' }, rsa.privateKey)));
      assert.equal((await call(jwt)).status, 401, 'its key was taken away meanwhile');
      await changeProvider(auth, institutionId, {
        providerId: 'as',
        settings: { keys },
        origin: ownOrigin(),
      });
      const next = token();
      await eventually(200, () => call(next));
      assert.equal((await call(jwt)).status, 401, 'it was issued before the provider was switched off');
      assert.equal((await call(jwt, paths.accounts, second)).status, 401);
    } finally {
      await second.close();
    }
  });

  test('a provider’s token is no longer valid when the provider’s tokens are not accepted, or when it is removed', async () => {
    const { institutionId } = await institutionOf(service, 'lakeside');
    const { auth } = service.service.context;
    const jwt = token({ iss: 'https://shared.example' });
    assert.equal((await call(jwt)).status, 200);
    await changeProvider(auth, institutionId, {
      providerId: 'shared',
      settings: { resourceTokens: false },
      origin: ownOrigin(),
    });
    await eventually(401, () => call(jwt));
    later();
    await changeProvider(auth, institutionId, {
      providerId: 'shared',
      settings: { resourceTokens: true },
      origin: ownOrigin(),
    });
    later();
    const next = token({ iss: 'https://shared.example' });
    await eventually(200, () => call(next));
    assert.equal((await call(jwt)).status, 401, 'it was issued before');
    const shared = (await listProviders(auth, institutionId)).find((one) => one.providerId === 'shared');
    await removeProvider(auth, institutionId, { providerId: 'shared', origin: ownOrigin() });
    await eventually(401, () => call(next));
    later();
    await addProvider(auth, institutionId, { provider: shared ?? assert.fail(), origin: ownOrigin() });
    await eventually(200, () => call(token({ iss: 'https://shared.example' })));
    assert.equal((await call(next)).status, 401, 'it was issued before the provider was registered again');
  });

  test('a provider’s token loses scopes at once when the provider may give less', async () => {
    const { institutionId } = await institutionOf(service, 'lakeside');
    const { auth } = service.service.context;
    const jwt = token({ iss: 'https://mail.example', email: 'willow.testerman@example.test' });
    assert.equal((await call(jwt)).status, 200);
    await changeProvider(auth, institutionId, {
      providerId: 'mail',
      settings: { scopes: ['transfer:read'] },
      origin: ownOrigin(),
    });
    await eventually(403, () => call(jwt));
  });

  for (const change of ['lockedByOperator', 'active'] as const) {
    test(`a provider’s token stays ended after its user was shut out and let in again (${change})`, async () => {
      const { institutionId } = await institutionOf(service, 'lakeside');
      const shut = (isShut: boolean) => {
        const standing = change === 'active' ? { active: !isShut } : { lockedByOperator: isShut };
        return setStanding(service.service.context.auth, institutionId, {
          name: 'u-cedar-owner',
          ...standing,
          origin: ownOrigin(),
        });
      };
      const jwt = token({ sub: 'u-cedar-owner' });
      assert.equal((await call(jwt)).status, 200);
      await shut(true);
      assert.equal((await call(jwt)).status, 401);
      later();
      const issuedMeanwhile = token({ sub: 'u-cedar-owner' });
      await shut(false);
      assert.equal((await call(jwt)).status, 401, 'it was issued before the user was shut out');
      assert.equal((await call(issuedMeanwhile)).status, 401, 'it was issued while the user was shut out');
      later();
      const next = token({ sub: 'u-cedar-owner' });
      assert.equal((await call(next)).status, 200);
      await shut(false);
      assert.equal((await call(next)).status, 200, 'unlocking a user who is not locked ends nothing');
    });
  }

  test('a provider’s token stays ended after any statement that locks and unlocks its user', async () => {
    const jwt = token({ sub: 'u-linden-clerk' });
    assert.equal((await call(jwt)).status, 200);
    for (const locked of [true, false]) {
      await service.db.superuser(
        `update users set locked_by_operator = $1 where user_id = 'u-linden-clerk'`,
        [locked],
      );
      assert.equal((await call(jwt)).status, 401, String(locked));
    }
    await service.db.superuser(`update users set tokens_ended_at = null where user_id = 'u-linden-clerk'`);
    assert.equal((await call(jwt)).status, 401, 'the moment cannot be taken back');
  });

  test('a provider’s token ends with its user at once', async () => {
    const jwt = token({ sub: 'u-sage-card' });
    assert.equal((await call(jwt)).status, 200);
    await service.db.superuser(`update users set active = false where user_id = 'u-sage-card'`);
    assert.equal((await call(jwt)).status, 401);
  });
});
