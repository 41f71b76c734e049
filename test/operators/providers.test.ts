import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Identity providers that an administrator registers, changes and removes. Each may assert every member, so the sign-in must be recent. */

const reason = 'a test';
const pair = () => generateKeyPairSync('ed25519');
const publicKey = (kid: string) => ({ ...pair().publicKey.export({ format: 'jwk' }), kid });
const jwks = (...keys: object[]) => JSON.stringify({ keys });
const login = (providerId: string) => ({
  ...{ providerId, kind: 'jwt', issuer: `https://${providerId}.bank.example`, reason },
  ...{ keys: jwks(publicKey('one')), userIdType: 'LOGIN_ID', scopes: ['account:read'] },
});

let now = Date.now();
let service: TestService;
let administrator: TestOperator;
before(async () => {
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
  administrator = await operatorOf(service, 'Demo administrator');
});
after(() => service.close());

const listed = async (providerId: string, operator = administrator) =>
  (await operator.get('/providers')).body.find(
    (one: { providerId: string }) => one.providerId === providerId,
  );

test('a provider is registered, changed and removed, each act with its reason in the audit', async () => {
  assert.equal((await administrator.post('/providers', login('branch'))).status, 200);
  const registered = await listed('branch');
  assert.deepEqual(
    [registered.subjectFrom, registered.tokenType, registered.resourceTokens, registered.active],
    ['sub', 'at+jwt', false, true],
  );
  assert.equal(registered.keys[0].kid, 'one');
  const changed = await administrator.post('/providers/branch/settings', {
    ...{ reason: 'The key leaked', keys: jwks(publicKey('two')), scopes: ['transfer:read'] },
  });
  assert.deepEqual(changed.body, { changed: true });
  const after = await listed('branch');
  assert.deepEqual(
    [after.keys[0].kid, after.scopes, after.userIdType],
    ['two', ['transfer:read'], 'LOGIN_ID'],
  );
  assert.deepEqual((await administrator.post('/providers/branch/settings', { reason })).body, {
    changed: false,
  });
  assert.deepEqual((await administrator.post('/providers/branch/remove', { reason })).body, {
    changed: true,
  });
  assert.equal((await administrator.post('/providers/branch/remove', { reason })).status, 404);
  const entries = await service.db.superuser<{ action: string; stated_reason: string; operator: string }>(
    `select action, stated_reason, operator from audit_entries where subject = 'branch' order by audit_key`,
  );
  assert.deepEqual(
    entries.map((one) => [one.action, one.stated_reason, one.operator]),
    [
      ['provider.added', reason, 'Demo administrator'],
      ['provider.changed', 'The key leaked', 'Demo administrator'],
      ['provider.removed', reason, 'Demo administrator'],
    ],
  );
});

for (const [name, given, status, pattern] of [
  [
    'a private key',
    { keys: jwks({ ...pair().privateKey.export({ format: 'jwk' }), kid: 'one' }) },
    400,
    /private/i,
  ],
  ['keys that are no JSON', { keys: 'none' }, 400, /JWK Set/],
  ['a certificate that is none', { kind: 'saml', keys: 'none' }, 400, /Expected 1 to 20 keys/],
  ['access tokens of a SAML provider', { kind: 'saml', resourceTokens: true }, 400, /kind saml/],
  ['the issuer of the service', { issuer: demoAddress.PUBLIC_URL }, 409, /this service itself/],
  ['an issuer with a space', { issuer: 'https://bank example' }, 400, /not valid/],
  ['a scope of clients', { scopes: ['core:write'] }, 400, /not valid/],
  ['a refresh', { scopes: ['offline_access'] }, 400, /not valid/],
  ['no scope', { scopes: [] }, 400, /not valid/],
  ['another kind of id', { userIdType: 'SHOE_SIZE' }, 400, /not valid/],
  ['a member that no provider has', { active: true }, 400, /not valid/],
] as const) {
  test(`refuses a provider with ${name}`, async () => {
    const answer = await administrator.post('/providers', { ...login('refused'), ...given });
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.match(answer.body.detail, pattern);
    assert.equal(await listed('refused'), undefined);
  });
}

test('refuses one of two registrations of an issuer in the same moment', async () => {
  const answers = await Promise.all(
    ['first', 'second'].map((providerId) =>
      administrator.post('/providers', { ...login(providerId), issuer: 'https://twice.bank.example' }),
    ),
  );
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
});

test('a provider of another institution is neither shown nor changed nor removed', async () => {
  await administrator.post('/providers', login('own'));
  const other = await operatorOf(service, 'Demo administrator', 'harbor');
  assert.equal(await listed('own', other), undefined);
  for (const act of ['settings', 'remove'])
    assert.equal((await other.post(`/providers/own/${act}`, { reason })).status, 404);
  assert.ok(await listed('own'));
});

test('a sign-in of more than five minutes ago registers, changes and removes none, and still switches off', async () => {
  await administrator.post('/providers', login('stale'));
  const old = await operatorOf(service, 'Demo administrator');
  now += 301_000;
  for (const [path, body] of [
    ['/providers', login('never')],
    ['/providers/stale/settings', { reason, scopes: ['transfer:read'] }],
    ['/providers/stale/remove', { reason }],
  ] as const) {
    const answer = await old.post(path, body);
    assert.deepEqual([answer.status, answer.body.code], [401, 'insufficient_user_authentication'], path);
  }
  assert.equal((await old.send('PATCH', '/providers/stale', { active: false, reason })).status, 200);
  assert.deepEqual([(await listed('stale')).active, await listed('never')], [false, undefined]);
});
