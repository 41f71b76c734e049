import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { anInstitution, longAgo } from '../support/builders.ts';
import { runCli } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let db: TestDatabase;
let ours: string;
let theirs: string;
before(async () => {
  db = await testDatabase();
  ours = (await anInstitution(db.database)).code;
  theirs = (await anInstitution(db.database)).code;
});
after(() => db.close());

const jwks = (kid: string) =>
  JSON.stringify({
    keys: [
      { ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }), kid },
    ],
  });
const settings = ['--keys', '-', '--user-id-type', 'MEMBER_NUMBER', '--scopes', 'account:read'];
const issuer = 'https://login.bank.example';

function provider(code: string, parameters: readonly string[], input?: string) {
  return runCli(db, ['provider', ...parameters, '--institution', code], input);
}

describe('sharedraft provider', () => {
  test('add, list, set, off, on, remove', async () => {
    const added = await provider(
      ours,
      ['add', 'web', '--kind', 'jwt', '--issuer', issuer, ...settings],
      jwks('k1'),
    );
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /meant for http:\/\/sharedraft\.test\./);
    const listed = (await provider(ours, ['list'])).stdout;
    for (const line of [
      /^web \(jwt, on\)$/m,
      /issuer +https:\/\/login\.bank\.example$/m,
      /audience +http:\/\/sharedraft\.test$/m,
      /names members +by the claim sub, as MEMBER_NUMBER$/m,
      /scopes +account:read$/m,
      /resource tokens +not accepted$/m,
      /key +k1 EC P-256 ES256$/m,
    ]) {
      assert.match(listed, line);
    }

    const change = [
      'set',
      'web',
      '--keys',
      '-',
      '--claim',
      'member',
      '--resource-tokens',
      '--token-type',
      'JWT',
    ];
    assert.equal((await provider(ours, change, jwks('k2'))).code, 0);
    assert.equal((await provider(ours, ['off', 'web'])).code, 0);
    const changed = (await provider(ours, ['list'])).stdout;
    for (const line of [/\(jwt, off\)/, /claim member/, /accepted, typ JWT/, /key +k2/])
      assert.match(changed, line);
    assert.doesNotMatch(changed, /k1/);
    assert.equal((await provider(ours, ['on', 'web'])).code, 0);
    assert.match((await provider(ours, ['list'])).stdout, /\(jwt, on\)/);

    assert.equal((await provider(ours, ['remove', 'web'])).code, 0);
    assert.match((await provider(ours, ['list'])).stdout, /has no identity providers/);
  });

  test('one issuer may serve two institutions, under an audience for each and not under the same', async () => {
    const add = (code: string, id: string, audience: string) =>
      provider(
        code,
        [
          'add',
          id,
          '--kind',
          'jwt',
          '--issuer',
          'https://shared.example',
          '--audience',
          audience,
          ...settings,
        ],
        jwks('k'),
      );
    assert.equal((await add(ours, 'shared', 'urn:ours')).code, 0);
    const squatting = await add(theirs, 'shared', 'urn:ours');
    assert.equal(squatting.code, 1);
    assert.match(squatting.stderr, /registered already/);
    assert.equal((await add(theirs, 'shared', 'urn:theirs')).code, 0);
    const twice = await add(ours, 'shared', 'urn:another');
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /id is taken/);
    assert.match((await provider(ours, ['list'])).stdout, /urn:ours/);
    assert.doesNotMatch((await provider(ours, ['list'])).stdout, /urn:theirs/);
    const foreign = await provider(ours, ['off', 'nobody']);
    assert.deepEqual([foreign.code, foreign.stderr], [1, 'There is no such provider in this institution.\n']);
  });

  test('a SAML provider is registered by its certificates, which stand for their keys', async () => {
    const pem = readFileSync(new URL('../fixtures/saml/rsa.pem', import.meta.url), 'utf8');
    const add = ['add', 'saml', '--kind', 'saml', '--issuer', 'https://saml.example/idp', ...settings];
    const added = await provider(ours, add, pem);
    assert.equal(added.code, 0, added.stderr);
    const listed = (await provider(ours, ['list'])).stdout;
    assert.match(listed, /NameID of the format urn:oasis:names:tc:SAML:2\.0:nameid-format:persistent, as/);
    const fingerprint = createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');
    assert.ok(listed.includes(`${fingerprint} RSA`), listed);
    const changed = await provider(ours, ['set', 'saml', '--name-id-format', 'email', '--keys', '-'], pem);
    assert.equal(changed.code, 0, changed.stderr);
    assert.match((await provider(ours, ['list'])).stdout, /nameid-format:emailAddress/);
  });

  test('what is not said in a change stays', async () => {
    const add = [
      'add',
      'kept',
      '--kind',
      'jwt',
      '--issuer',
      'https://kept.example',
      '--claim',
      'who',
      ...settings,
    ];
    await provider(ours, [...add, '--resource-tokens', '--token-type', 'application/x+jwt'], jwks('kept'));
    const lines = async () => {
      const { stdout } = await provider(ours, ['list']);
      return (stdout.split('\n\n').find((one) => one.startsWith('kept ')) ?? '').trim().split('\n');
    };
    const before = await lines();
    assert.equal((await provider(ours, ['set', 'kept', '--scopes', 'transfer:read'])).code, 0);
    const after = await lines();
    assert.deepEqual(
      after.filter((line) => !before.includes(line)).map((line) => line.trim().split(/ +/).join(' ')),
      ['scopes transfer:read'],
    );
    assert.equal(after.length, before.length);
  });

  const wrong: Record<string, { parameters: string[]; input?: string; code: number }> = {
    'no key': {
      parameters: ['add', 'x', '--kind', 'jwt', '--issuer', issuer, ...settings],
      input: '',
      code: 1,
    },
    'a kind that does not exist': {
      parameters: ['add', 'x', '--kind', 'ldap', '--issuer', issuer, ...settings],
      code: 2,
    },
    'no user id type': {
      parameters: [
        'add',
        'x',
        '--kind',
        'jwt',
        '--issuer',
        issuer,
        '--keys',
        '-',
        '--scopes',
        'account:read',
      ],
      code: 2,
    },
    'ourselves as issuer': {
      parameters: ['add', 'x', '--kind', 'jwt', '--issuer', 'http://sharedraft.test', ...settings],
      input: jwks('k'),
      code: 1,
    },
    'a claim of a SAML provider': {
      parameters: ['add', 'x', '--kind', 'saml', '--issuer', issuer, '--claim', 'sub', ...settings],
      code: 1,
    },
    'a file that is not there': {
      parameters: [
        'add',
        'x',
        '--kind',
        'jwt',
        '--issuer',
        issuer,
        ...settings,
        '--keys',
        '/nowhere/keys.json',
      ],
      code: 1,
    },
    'a change of a provider that does not exist': {
      parameters: ['set', 'nobody', '--keys', '-'],
      input: jwks('k'),
      code: 1,
    },
    'refresh tokens for what is asserted': {
      parameters: [
        'add',
        'x',
        '--kind',
        'jwt',
        '--issuer',
        issuer,
        ...settings,
        '--scopes',
        'offline_access',
      ],
      input: jwks('k'),
      code: 1,
    },
    'certificates of a JWT provider': {
      parameters: ['add', 'x', '--kind', 'jwt', '--issuer', issuer, ...settings],
      input: '-----BEGIN CERTIFICATE-----',
      code: 1,
    },
    'nothing to change': { parameters: ['set', 'x'], code: 1 },
  };
  for (const [name, { parameters, input, code }] of Object.entries(wrong)) {
    test(`refused in a sentence: ${name}`, async () => {
      const result = await provider(ours, parameters, input);
      assert.equal(result.code, code, result.stderr);
      assert.doesNotMatch(result.stderr, /^\s+at /m, 'no stack');
      assert.notEqual(result.stderr, '');
    });
  }

  test('--help says what there is', async () => {
    const help = await runCli(db, ['provider', 'add', '--help']);
    assert.equal(help.code, 0);
    for (const option of [
      '--kind',
      '--issuer',
      '--audience',
      '--keys',
      '--claim',
      '--name-id-format',
      '--user-id-type',
    ]) {
      assert.ok(help.stdout.includes(option), option);
    }
  });
});

describe('what the database holds to by itself', () => {
  const plant = (columns: Record<string, unknown>) => {
    const row = {
      institution_id: 1,
      provider_id: 'planted',
      kind: 'jwt',
      keys: '[{"kty":"EC"}]',
      subject_from: 'sub',
      user_id_type: 'EMAIL',
      scopes: ['account:read'],
      resource_tokens: false,
      token_type: 'at+jwt',
      active: true,
      created_at: longAgo,
      ...columns,
    };
    const names = Object.keys(row);
    return db.superuser(
      `insert into identity_providers (${names}) values (${names.map((_, n) => `$${n + 1}`)})`,
      Object.values(row),
    );
  };
  before(async () => {
    const directory = `insert into provider_directory (issuer, audience, institution_id, provider_id)`;
    await db.superuser(`${directory} values ('urn:planted', 'urn:us', 1, 'planted')`);
  });

  const refused: Record<string, Record<string, unknown>> = {
    'a private key': { keys: '[{"kty":"EC","d":"x"}]' },
    'a secret key': { keys: '[{"kty":"EC"},{"kty":"oct","k":"x"}]' },
    'no keys': { keys: '[]' },
    'resource tokens of a SAML provider': { kind: 'saml', resource_tokens: true },
    'no scopes': { scopes: [] },
    'an unknown kind of id': { user_id_type: 'PHONE' },
  };
  for (const [name, columns] of Object.entries(refused)) {
    test(`refused: ${name}`, async () => {
      await assert.rejects(plant(columns), { code: '23514' });
    });
  }

  test('a provider belongs to the directory', async () => {
    await assert.rejects(plant({ provider_id: 'stray' }), { code: '23503' });
  });

  test('a change needs a new generation', async () => {
    await plant({});
    const where = `where provider_id = 'planted'`;
    await assert.rejects(db.superuser(`update identity_providers set active = false ${where}`), {
      code: 'SD101',
    });
    await db.superuser(
      `update identity_providers set active = false, generation = nextval('provider_generations') ${where}`,
    );
  });
});
