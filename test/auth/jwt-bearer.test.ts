import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { changeProvider, deleteExpiredAssertions, readJwks, removeProvider } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { type Answer, paths, send } from '../support/demo.ts';
import {
  anAssertionClient,
  aProvider,
  exchangeAssertion,
  institutionOf,
  jwtBearer,
  saml2Bearer,
} from '../support/identity.ts';
import { base64url, signJwt, validClaims } from '../support/jwt.ts';
import { startTestService, type TestService } from '../support/service.ts';

const issuer = 'https://login.lakeside.example';
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const keySet = (...keys: [kid: string, key: KeyObject, alg?: string][]) =>
  readJwks(
    JSON.stringify({
      keys: keys.map(([kid, key, alg]) => ({ ...key.export({ format: 'jwk' }), kid, ...(alg && { alg }) })),
    }),
  );

let service: TestService;
let now = new Date('2026-03-02T12:00:00Z');
let assertionClient: readonly [string, string];
let harborAssertionClient: readonly [string, string];
before(async () => {
  service = await startTestService({ clock: () => now });
  assertionClient = await anAssertionClient(service, 'lakeside', 'bridge', ['account:read', 'transfer:read']);
  harborAssertionClient = await anAssertionClient(service, 'harbor', 'harbor-bridge', ['account:read']);
  await aProvider(service, 'lakeside', {
    providerId: 'web',
    kind: 'jwt',
    issuer,
    keys: keySet(['e', ec.publicKey], ['r', rsa.publicKey]),
  });
});
after(() => service.close());

const header = { alg: 'ES256', kid: 'e' };
const member = 'u-demo-member';
const claims = (more: object = {}) => ({ ...validClaims(now, issuer, member), ...more });
const seconds = () => Math.floor(now.getTime() / 1000);
const assertion = (more: object = {}, moreHeader: object = {}, key = ec.privateKey) =>
  signJwt({ ...header, ...moreHeader }, claims(more), key);
const without = (name: string) => {
  const { [name]: _, ...rest } = claims() as Record<string, unknown>;
  return signJwt(header, rest, ec.privateKey);
};
const lakeside = () => institutionOf(service, 'lakeside');

async function accounts(token: string, at = service): Promise<Answer> {
  return send(at.address, 'GET', paths.accounts, { headers: { authorization: `Bearer ${token}` } });
}

/** Other processes read a provider up to a second late. */
async function eventually(status: number, ask: () => Promise<Answer>): Promise<void> {
  const deadline = performance.now() + 30_000;
  while ((await ask()).status !== status) {
    assert.ok(performance.now() < deadline, `it never became ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe('jwt-bearer grant: success', () => {
  test('issues a member token for a JWT assertion, within the scopes of client and provider, without a refresh token', async () => {
    const answer = await exchangeAssertion(service, assertionClient, jwtBearer, assertion());
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(Object.keys(answer.body), ['access_token', 'token_type', 'expires_in', 'scope']);
    assert.equal(answer.body.scope, 'account:read transfer:read');
    assert.equal(answer.body.expires_in, 1800);
    const seen = await accounts(answer.body.access_token);
    assert.equal(seen.status, 200);
    const owners = seen.body.map((account: { accountId: string }) => account.accountId.slice(0, 7));
    assert.deepEqual([...new Set(owners)], ['a-1001-']);
  });

  test('issues the requested scope for a JWT assertion if client and provider have it', async () => {
    const answer = await exchangeAssertion(service, assertionClient, jwtBearer, assertion(), {
      scope: 'account:read',
    });
    assert.equal(answer.body.scope, 'account:read');
  });

  const stated: [name: string, amr: unknown, expected: string[] | undefined][] = [
    ['no methods', undefined, undefined],
    ['methods of RFC 8176', ['user', 'hwk', 'hwk'], ['hwk', 'user']],
    ['other methods beside one of RFC 8176', ['pwd', 'magic', 7, null, { otp: true }], ['pwd']],
    ['only other methods', ['magic'], undefined],
    ['a text in place of a list', 'pwd', undefined],
  ];
  for (const [name, amr, expected] of stated) {
    test(`a token for an assertion has the provider’s word on the methods, and no class: ${name}`, async () => {
      const { body } = await exchangeAssertion(
        service,
        assertionClient,
        jwtBearer,
        assertion({ amr, acr: 'phr' }),
      );
      const claimed = JSON.parse(Buffer.from(body.access_token.split('.')[1], 'base64url').toString());
      assert.deepEqual([claimed.amr, claimed.acr], [expected, undefined]);
    });
  }

  const kinds = [
    ['USER_ID', 'u-demo-member'],
    ['LOGIN_ID', 'Demo.Member'],
    ['EMAIL', 'Willow.Testerman@example.test'],
    ['CUSTOMER_ID', 'c-1001'],
    ['MEMBER_NUMBER', '1001'],
  ] as const;
  for (const [userIdType, subject] of kinds) {
    test(`issues a token for a member named as ${userIdType} by a claim of the provider’s choice`, async () => {
      const iss = `https://${userIdType}.example`;
      await aProvider(service, 'lakeside', {
        providerId: userIdType,
        kind: 'jwt',
        issuer: iss,
        keys: keySet(['e', ec.publicKey]),
        subjectFrom: 'customer',
        userIdType,
      });
      const [number] = await service.db.superuser<{ member_number: string }>(
        `select member_number from customers join institutions using (institution_id)
         where customer_id = 'c-1001' and code = 'lakeside'`,
      );
      const named = userIdType === 'MEMBER_NUMBER' ? number?.member_number : subject;
      const answer = await exchangeAssertion(
        service,
        assertionClient,
        jwtBearer,
        assertion({ iss, sub: 'opaque', customer: named }),
      );
      assert.equal(answer.status, 200, answer.text);
      const [, payload = ''] = answer.body.access_token.split('.');
      assert.equal(JSON.parse(Buffer.from(payload, 'base64url').toString()).sub, 'u-demo-member');
    });
  }

  const algorithms: [string, { publicKey: KeyObject; privateKey: KeyObject }][] = [
    ['ES384', generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['ES512', generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['RS256', rsa],
    ['RS512', rsa],
    ['PS256', rsa],
    ['EdDSA', generateKeyPairSync('ed25519')],
    ['Ed25519', generateKeyPairSync('ed25519')],
  ];
  for (const [alg, pair] of algorithms) {
    test(`accepts a JWT assertion signed with ${alg}`, async () => {
      const iss = `https://${alg}.example`;
      const keys = keySet(['k', pair.publicKey, alg]);
      await aProvider(service, 'lakeside', { providerId: alg, kind: 'jwt', issuer: iss, keys });
      const jwt = signJwt({ alg }, claims({ iss }), pair.privateKey);
      assert.equal((await exchangeAssertion(service, assertionClient, jwtBearer, jwt)).status, 200);
    });
  }

  test('accepts typ JWT and authorization-grant+jwt, with and without application/', async () => {
    for (const typ of ['JWT', 'authorization-grant+jwt', 'application/authorization-grant+jwt']) {
      assert.equal(
        (await exchangeAssertion(service, assertionClient, jwtBearer, assertion({}, { typ }))).status,
        200,
        typ,
      );
    }
  });

  test('accepts JWT assertions whose clock differs by a minute in either direction', async () => {
    for (const more of [
      { exp: seconds() - 59 },
      { exp: seconds() + 660 },
      { nbf: seconds() + 60 },
      { iat: seconds() + 60 },
    ]) {
      const answer = await exchangeAssertion(service, assertionClient, jwtBearer, assertion(more));
      assert.equal(answer.status, 200, answer.text);
    }
  });

  test('accepts an assertion for a member locked by wrong passwords, so guesses cannot keep them out', async () => {
    const until = new Date(now.getTime() + 900_000);
    await service.db.superuser(`update users set locked_until = $1 where user_id = 'u-juniper-two'`, [until]);
    assert.equal(
      (await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ sub: 'u-juniper-two' })))
        .status,
      200,
    );
  });

  test('the metadata lists both assertion grants (RFC 8414 2)', async () => {
    const metadata = await send(service.address, 'GET', '/.well-known/oauth-authorization-server');
    for (const grant of [jwtBearer, saml2Bearer]) {
      assert.ok(metadata.body.grant_types_supported.includes(grant), grant);
    }
  });

  test('an unchanged standard OAuth library gets a token with a JWT assertion', async () => {
    const server = { issuer: 'http://sharedraft.test', token_endpoint: service.address + paths.token };
    const client = { client_id: assertionClient[0] };
    const answer = await oauth.genericTokenEndpointRequest(
      server,
      client,
      oauth.ClientSecretBasic(assertionClient[1]),
      jwtBearer,
      { assertion: assertion() },
      { [oauth.allowInsecureRequests]: true },
    );
    const token = await oauth.processGenericTokenEndpointResponse(server, client, answer);
    assert.equal(token.scope, 'account:read transfer:read');
  });
});

describe('jwt-bearer grant: invalid_grant', () => {
  const decoded = (jwt: string) => jwt.split('.') as [string, string, string];
  const publicPem = () => ec.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const refused: [name: string, why: RegExp, make: () => string][] = [
    // RFC 7523 section 3, by its numbers
    ['no iss (7523 3 #1)', /iss/, () => without('iss')],
    ['an unregistered issuer (7523 3 #1)', /not registered/, () => assertion({ iss: 'https://x.example' })],
    [
      'an issuer in other letters (7519 4.1.1)',
      /not registered/,
      () => assertion({ iss: issuer.toUpperCase() }),
    ],
    ['an issuer with NUL', /iss/, () => assertion({ iss: `${issuer}\0` })],
    ['an issuer that is no text', /iss/, () => assertion({ iss: [issuer] })],
    ['no sub (7523 3 #2)', /claim sub/, () => without('sub')],
    ['a sub that is no text (7519 4.1.2)', /claim sub/, () => assertion({ sub: 1001 })],
    ['an empty sub (7523 3 #2)', /claim sub/, () => assertion({ sub: '' })],
    ['a sub with NUL', /claim sub/, () => assertion({ sub: `${member}\0` })],
    ['a sub of many (7519 4.1.2)', /claim sub/, () => assertion({ sub: [member] })],
    ['no aud (7523 3 #3)', /aud/, () => without('aud')],
    ['another audience (7523 3 #3)', /not registered/, () => assertion({ aud: 'https://other.example' })],
    [
      'the token endpoint, where the issuer is registered (7523 3 #3)',
      /not registered/,
      () => assertion({ aud: 'http://sharedraft.test/auth/v2/token' }),
    ],
    [
      'two audiences, one of them us (7523 3 #3)',
      /one audience/,
      () => assertion({ aud: ['http://sharedraft.test', 'https://other.example'] }),
    ],
    ['no audiences at all (7523 3 #3)', /aud/, () => assertion({ aud: [] })],
    ['an audience that is no text (7519 4.1.3)', /aud/, () => assertion({ aud: 7 })],
    ['no exp (7523 3 #4)', /claim exp/, () => without('exp')],
    ['an exp that is no number (7519 4.1.4)', /claim exp/, () => assertion({ exp: String(seconds() + 300) })],
    ['expired beyond the skew (7523 3 #4)', /expired/, () => assertion({ exp: seconds() - 60 })],
    ['an exp unreasonably far ahead (7523 3 #4)', /too far/, () => assertion({ exp: seconds() + 661 })],
    ['not yet valid (7523 3 #5)', /not valid yet/, () => assertion({ nbf: seconds() + 61 })],
    ['an nbf that is no number (7519 4.1.5)', /claim nbf/, () => assertion({ nbf: 'now' })],
    ['issued in the future (7523 3 #6)', /claim iat/, () => assertion({ iat: seconds() + 61 })],
    ['an iat that is no number (7519 4.1.6)', /claim iat/, () => assertion({ iat: 'now' })],
    ['no jti (7523 3 #7)', /claim jti/, () => without('jti')],
    ['a jti that is no text (7519 4.1.7)', /claim jti/, () => assertion({ jti: 7 })],
    ['unsigned (7523 3 #9, 8725 3.1)', /signature/, () => assertion({}, { alg: 'none' })],
    ['alg in other letters (7515 4.1.1)', /signature/, () => assertion({}, { alg: 'nOnE' })],
    [
      'the public key as an HMAC secret (8725 2.1)',
      /signature/,
      () => signJwt({ alg: 'HS256', kid: 'e' }, claims(), publicPem()),
    ],
    [
      'another algorithm than the key’s: PS256 (8725 3.1)',
      /signature/,
      () => signJwt({ alg: 'PS256', kid: 'r' }, claims(), rsa.privateKey),
    ],
    [
      'another algorithm than the key’s: RS512 (8725 3.1)',
      /signature/,
      () => signJwt({ alg: 'RS512', kid: 'r' }, claims(), rsa.privateKey),
    ],
    [
      'an algorithm for another type of key (8725 2.1)',
      /signature/,
      () => signJwt({ alg: 'RS256', kid: 'e' }, claims(), rsa.privateKey),
    ],
    [
      'signed by a stranger under the provider’s kid (7515 5.2)',
      /signature/,
      () => assertion({}, {}, other.privateKey),
    ],
    ['an unknown kid (7515 4.1.4)', /signature/, () => assertion({}, { kid: 'x' })],
    ['no kid where there are two keys (7515 4.1.4)', /signature/, () => assertion({}, { kid: undefined })],
    [
      'a key in the header: jwk (8725 3.10)',
      /signature/,
      () =>
        assertion({}, { kid: undefined, jwk: other.publicKey.export({ format: 'jwk' }) }, other.privateKey),
    ],
    [
      'a key to be fetched: jku (8725 3.10)',
      /signature/,
      () => assertion({}, { kid: 'j', jku: 'https://x.example/jwks' }, other.privateKey),
    ],
    [
      'an extension that must be understood: crit (7515 4.1.11)',
      /not a JWT/,
      () => assertion({}, { crit: ['x'], x: 1 }),
    ],
    ['crit with b64 (7797 6)', /signature|not a JWT/, () => assertion({}, { crit: ['b64'], b64: true })],
    [
      'an unencoded payload: b64 (7797 7)',
      /not a JWT|signature/,
      () => assertion({}, { crit: ['b64'], b64: false }),
    ],
    ['an empty crit (7515 4.1.11)', /not a JWT/, () => assertion({}, { crit: [] })],
    ['an access token as assertion (9068 5, 8725 3.11)', /typ/, () => assertion({}, { typ: 'at+jwt' })],
    [
      'a client’s authentication as assertion (8725 3.11)',
      /typ/,
      () => assertion({}, { typ: 'client-authentication+jwt' }),
    ],
    ['a log-out as assertion (8725 3.11)', /typ/, () => assertion({}, { typ: 'logout+jwt' })],
    ...[1, {}, ['JWT'], null, true].map((typ): (typeof refused)[number] => [
      `a typ that is no text: ${JSON.stringify(typ)} (7515 4.1.9)`,
      /not a JWT/,
      () => assertion({}, { typ }),
    ]),
    [
      'other claims under the same signature (7515 5.2)',
      /signature/,
      () => {
        const [head, , signature] = decoded(assertion());
        return `${head}.${base64url(claims({ sub: 'u-wren-many' }))}.${signature}`;
      },
    ],
    ['a signature cut short (7515 5.2)', /signature/, () => assertion().slice(0, -8)],
    ['a signature cut off (7515 5.2)', /signature/, () => `${decoded(assertion()).slice(0, 2).join('.')}.`],
    ['two parts (7519 7.2)', /not a JWT/, () => decoded(assertion()).slice(0, 2).join('.')],
    ['five parts: encrypted (7519 7.2)', /not a JWT/, () => `${assertion()}.a.b`],
    [
      'JSON serialization (7519 3)',
      /not a JWT/,
      () => {
        const [head, payload, signature] = decoded(assertion());
        return JSON.stringify({ protected: head, payload, signature });
      },
    ],
    ['claims that are no object (7519 7.2)', /not a JWT/, () => signJwt(header, ['x'], ec.privateKey)],
    ['a header that is no JSON (7519 7.2)', /not a JWT/, () => `${base64url('{')}.${base64url(claims())}.AA`],
    ['text', /not a JWT/, () => 'assertion'],
    ['a signature with padding (7515 2)', /not a JWT/, () => `${assertion()}==`],
    ['more than 16 KiB', /not a JWT/, () => assertion({ note: 'x'.repeat(16_384) })],
    // its subject
    ['an unknown member', /nobody/, () => assertion({ sub: 'u-nobody' })],
    ['a member of another institution', /nobody/, () => assertion({ sub: 'u-demo-member-harbor' })],
    ['a member locked by an operator', /nobody/, () => assertion({ sub: 'u-heath-locked' })],
    ['an inactive member', /nobody/, () => assertion({ sub: 'u-moss-inactive' })],
    ['another kind of id than registered', /nobody/, () => assertion({ sub: 'demo.member' })],
  ];
  for (const [name, why, make] of refused) {
    test(`rejects a JWT assertion with invalid_grant: ${name}`, async () => {
      const answer = await exchangeAssertion(service, assertionClient, jwtBearer, make());
      assert.equal(answer.status, 400, answer.text);
      assert.equal(answer.body.error, 'invalid_grant');
      assert.match(answer.body.error_description, why);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    });
  }

  test('rejects assertions for unknown, locked, inactive and foreign members with identical responses', async () => {
    const named = ['u-nobody', 'u-heath-locked', 'u-moss-inactive', 'u-demo-member-harbor'];
    const answers = await Promise.all(
      named.map((sub) => exchangeAssertion(service, assertionClient, jwtBearer, assertion({ sub }))),
    );
    assert.equal(new Set(answers.map((answer) => answer.text)).size, 1);
  });

  test('rejects a JWT assertion without sub, even if another claim names the member (7523 3 #2)', async () => {
    const iss = 'https://who.example';
    const keys = keySet(['e', ec.publicKey]);
    await aProvider(service, 'lakeside', {
      providerId: 'who',
      kind: 'jwt',
      issuer: iss,
      keys,
      subjectFrom: 'who',
    });
    for (const sub of [undefined, '', 7]) {
      const answer = await exchangeAssertion(
        service,
        assertionClient,
        jwtBearer,
        assertion({ iss, who: member, sub }),
      );
      assert.match(answer.body.error_description, /claim sub/);
    }
    assert.equal(
      (await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss, who: member }))).status,
      200,
    );
  });

  test('rejects a JWT assertion with an e-mail that two members have', async () => {
    const iss = 'https://mail.example';
    const keys = keySet(['e', ec.publicKey]);
    await aProvider(service, 'lakeside', {
      providerId: 'mail',
      kind: 'jwt',
      issuer: iss,
      keys,
      userIdType: 'EMAIL',
    });
    const answer = await exchangeAssertion(
      service,
      assertionClient,
      jwtBearer,
      assertion({ iss, sub: 'family@sharemail.example' }),
    );
    assert.equal(answer.body.error, 'invalid_grant');
  });

  test('rejects a name that matches a member only by Unicode lower case: with the Kelvin sign or a dotted capital I', async () => {
    const names = [
      ['LOGIN_ID', ['broo\u212A.overdraft', 'ol\u0130ve.euro', 'BROOK.OVERDRAFT']],
      ['EMAIL', ['broo\u212A.overdrawn@example.test', 'Brook.Overdrawn@example.test']],
    ] as const;
    for (const [userIdType, subjects] of names) {
      const providerId = `folded-${userIdType}`;
      const iss = `https://${providerId}.example`;
      const keys = keySet(['e', ec.publicKey]);
      await aProvider(service, 'lakeside', { providerId, kind: 'jwt', issuer: iss, keys, userIdType });
      for (const sub of subjects) {
        const { status } = await exchangeAssertion(
          service,
          assertionClient,
          jwtBearer,
          assertion({ iss, sub }),
        );
        assert.equal(status, /^[!-~]+$/.test(sub) ? 200 : 400, sub);
      }
    }
  });

  test('a membership in a JWT assertion identifies its PRIMARY, not another person in it', async () => {
    const iss = 'https://membership.example';
    const keys = keySet(['e', ec.publicKey]);
    await aProvider(service, 'lakeside', {
      providerId: 'm',
      kind: 'jwt',
      issuer: iss,
      keys,
      userIdType: 'CUSTOMER_ID',
    });
    const [joint] = await service.db.superuser<{ customer_id: string; user_id: string }>(
      `select c.customer_id, u.user_id from customer_persons cp
       join customers c using (institution_id, customer_key) join institutions i using (institution_id)
       join users u using (institution_id, person_key) where cp.role = 'PRIMARY' and i.code = 'lakeside'
       and exists (select from customer_persons j where j.institution_id = cp.institution_id
                   and j.customer_key = cp.customer_key and j.role = 'JOINT') limit 1`,
    );
    const answer = await exchangeAssertion(
      service,
      assertionClient,
      jwtBearer,
      assertion({ iss, sub: joint?.customer_id }),
    );
    const [, payload = ''] = answer.body.access_token.split('.');
    assert.equal(JSON.parse(Buffer.from(payload, 'base64url').toString()).sub, joint?.user_id);
  });

  test('rejects an assertion of another institution’s provider', async () => {
    assert.equal(
      (await exchangeAssertion(service, harborAssertionClient, jwtBearer, assertion())).body.error,
      'invalid_grant',
    );
    const iss = 'https://login.harbor.example';
    await aProvider(service, 'harbor', {
      providerId: 'web',
      kind: 'jwt',
      issuer: iss,
      keys: keySet(['e', ec.publicKey]),
    });
    const theirs = () => assertion({ iss });
    assert.match(
      (await exchangeAssertion(service, assertionClient, jwtBearer, theirs())).body.error_description,
      /not registered/,
    );
    const foreign = await exchangeAssertion(service, harborAssertionClient, jwtBearer, theirs());
    assert.match(foreign.body.error_description, /nobody/, 'a user of lakeside does not exist in harbor');
  });

  test('rejects a JWT assertion in the name of a SAML provider', async () => {
    const iss = 'https://saml.example';
    await aProvider(service, 'lakeside', {
      providerId: 'saml',
      kind: 'saml',
      issuer: iss,
      keys: keySet(['e', ec.publicKey]),
    });
    const answer = await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss }));
    assert.match(answer.body.error_description, /not registered/);
  });
});

describe('jwt-bearer grant: other errors', () => {
  test('returns invalid_request without an assertion (7521 4.1)', async () => {
    const answer = await exchangeAssertion(service, assertionClient, jwtBearer, '');
    assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_request']);
  });

  test('returns unauthorized_client to a client without the jwt-bearer grant (6749 5.2)', async () => {
    const answer = await exchangeAssertion(service, ['demo-app', 'demo-app-secret'], jwtBearer, assertion());
    assert.deepEqual([answer.status, answer.body.error], [400, 'unauthorized_client']);
  });

  test('returns invalid_client for a wrong secret beside an assertion (7521 4.1)', async () => {
    const answer = await exchangeAssertion(service, [assertionClient[0], 'wrong'], jwtBearer, assertion());
    assert.deepEqual([answer.status, answer.body.error], [401, 'invalid_client']);
  });

  test('returns invalid_scope for a scope that the client does not have (7521 4.1.1)', async () => {
    const answer = await exchangeAssertion(service, assertionClient, jwtBearer, assertion(), {
      scope: 'transfer:write',
    });
    assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_scope']);
  });

  test('leaves out scopes that the provider does not have, and returns invalid_scope if none is left (7521 4.1.1)', async () => {
    const iss = 'https://narrow.example';
    const keys = keySet(['e', ec.publicKey]);
    await aProvider(service, 'lakeside', {
      providerId: 'narrow',
      kind: 'jwt',
      issuer: iss,
      keys,
      scopes: ['account:read'],
    });
    const both = await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss }), {
      scope: 'account:read transfer:read',
    });
    assert.equal(both.body.scope, 'account:read');
    const none = await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss }), {
      scope: 'transfer:read',
    });
    assert.deepEqual([none.status, none.body.error], [400, 'invalid_scope']);
  });
});

describe('a JWT assertion is accepted once', () => {
  test('accepts one of twenty simultaneous uses of a JWT assertion at two processes (7523 3 #7)', async () => {
    const second = await startTestService({ beside: service, clock: () => now });
    try {
      const once = assertion();
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          exchangeAssertion(n % 2 === 0 ? service : second, assertionClient, jwtBearer, once),
        ),
      );
      assert.equal(answers.filter((answer) => answer.status === 200).length, 1);
      const refusals = answers.filter((answer) => answer.status !== 200);
      assert.ok(refusals.every((answer) => /used already/.test(answer.body.error_description)));
    } finally {
      await second.close();
    }
  });

  test('rejects a used jti under a new signature', async () => {
    const jti = randomUUID();
    assert.equal(
      (await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ jti }))).status,
      200,
    );
    const again = await exchangeAssertion(
      service,
      assertionClient,
      jwtBearer,
      assertion({ jti, exp: seconds() + 500 }),
    );
    assert.match(again.body.error_description, /used already/);
  });

  test('does not use up a rejected JWT assertion', async () => {
    const once = assertion();
    assert.equal((await exchangeAssertion(service, harborAssertionClient, jwtBearer, once)).status, 400);
    assert.equal((await exchangeAssertion(service, assertionClient, jwtBearer, once)).status, 200);
  });

  test('remembers a used JWT assertion as long as any process may accept it, and no longer', async () => {
    const { institutionId } = await lakeside();
    const started = now;
    const once = assertion();
    assert.equal((await exchangeAssertion(service, assertionClient, jwtBearer, once)).status, 200);
    const remembered = async (at: Date) => {
      await service.db.database.read(institutionId, (db) => deleteExpiredAssertions(db, at));
      return service.db.superuser(`select from provider_assertion_replays where institution_id = $1`, [
        institutionId,
      ]);
    };
    const after = (later: number) => new Date(started.getTime() + later * 1000);
    try {
      now = after(359);
      // Also by a process whose clock is five minutes ahead.
      assert.ok((await remembered(after(659))).length > 0);
      assert.match(
        (await exchangeAssertion(service, assertionClient, jwtBearer, once)).body.error_description,
        /used already/,
      );
      now = after(360);
      assert.match(
        (await exchangeAssertion(service, assertionClient, jwtBearer, once)).body.error_description,
        /expired/,
      );
      assert.equal((await remembered(after(1_100))).length, 0);
    } finally {
      now = started;
    }
  });
});

describe('a token depends on its provider', () => {
  const iss = 'https://short-lived.example';
  const keys = keySet(['e', ec.publicKey]);
  const register = () =>
    aProvider(service, 'lakeside', { providerId: 'short', kind: 'jwt', issuer: iss, keys });
  const login = async () => {
    const answer = await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss }));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.access_token as string;
  };
  const auth = () => service.service.context.auth;

  test('ends a provider’s tokens in every process within a second when it is switched off, permanently', async () => {
    const second = await startTestService({ beside: service, clock: () => now });
    try {
      await register();
      const { institutionId } = await lakeside();
      const token = await login();
      assert.equal((await accounts(token)).status, 200);
      assert.equal((await accounts(token, second)).status, 200);
      await changeProvider(auth(), institutionId, {
        providerId: 'short',
        settings: { active: false },
        origin: ownOrigin(),
      });
      await eventually(401, () => accounts(token));
      await eventually(401, () => accounts(token, second));
      const refused = await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss }));
      assert.match(refused.body.error_description, /not registered/);

      await changeProvider(auth(), institutionId, {
        providerId: 'short',
        settings: { active: true },
        origin: ownOrigin(),
      });
      await eventually(200, () => exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss })));
      assert.equal((await accounts(token)).status, 401, 'an ended token stays ended');
    } finally {
      await second.close();
    }
  });

  test('ends a provider’s tokens when it is changed, so that a removed key ends its logins', async () => {
    const { institutionId } = await lakeside();
    const token = await login();
    await changeProvider(auth(), institutionId, {
      providerId: 'short',
      settings: { keys: keySet(['n', other.publicKey]) },
      origin: ownOrigin(),
    });
    await eventually(401, () => accounts(token));
    assert.match(
      (await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss }))).body
        .error_description,
      /signature/,
    );
    await changeProvider(auth(), institutionId, {
      providerId: 'short',
      settings: { keys },
      origin: ownOrigin(),
    });
  });

  test('ends a provider’s tokens when it is removed, even if one of the same name is registered again', async () => {
    const { institutionId } = await lakeside();
    await eventually(200, () => exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss })));
    const token = await login();
    await removeProvider(auth(), institutionId, { providerId: 'short', origin: ownOrigin() });
    await eventually(401, () => accounts(token));
    await register();
    await eventually(200, () => exchangeAssertion(service, assertionClient, jwtBearer, assertion({ iss })));
    assert.equal((await accounts(token)).status, 401);
  });

  test('ends an asserted member’s token at once when an operator locks the user', async () => {
    const answer = await exchangeAssertion(
      service,
      assertionClient,
      jwtBearer,
      assertion({ sub: 'u-sage-card' }),
    );
    const token = answer.body.access_token;
    assert.equal((await accounts(token)).status, 200);
    await service.db.superuser(`update users set locked_by_operator = true where user_id = 'u-sage-card'`);
    assert.equal((await accounts(token)).status, 401);
  });
});

test('the audit records each asserted login and each reason of a refusal with its provider, and never the assertion', async () => {
  const once = assertion();
  await exchangeAssertion(service, assertionClient, jwtBearer, once);
  await exchangeAssertion(service, assertionClient, jwtBearer, once);
  await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ sub: 'u-heath-locked' }));
  await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ sub: 'u-nobody' }));
  await exchangeAssertion(service, assertionClient, jwtBearer, assertion({ aud: 'https://other.example' }));
  await exchangeAssertion(service, assertionClient, jwtBearer, assertion({}, {}, other.privateKey));
  const wanted = [
    'assertion_invalid refused',
    'assertion_invalid refused of web',
    'assertion_replayed refused u-demo-member of web',
    'locked_or_inactive refused u-heath-locked of web',
    'unknown_user refused of web',
    `${jwtBearer} succeeded u-demo-member of web`,
  ];
  const deadline = performance.now() + 30_000;
  for (;;) {
    const rows = await service.db.superuser<{ seen: string }>(
      `select distinct concat_ws(' ', reason, outcome, user_id, 'of ' || subject) as seen from audit_entries
       where client_id = 'bridge' and action = 'login'`,
    );
    const seen = new Set(rows.map((row) => row.seen));
    if (wanted.every((one) => seen.has(one))) break;
    assert.ok(performance.now() < deadline, [...seen].join('\n'));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const [leaks] = await service.db.superuser<{ count: bigint }>(
    `select count(*) from audit_entries a where a::text like '%' || $1 || '%'`,
    [once.slice(-40)],
  );
  assert.equal(leaks?.count, 0n);
});
