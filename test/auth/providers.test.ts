import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import {
  addProvider,
  changeProvider,
  listProviders,
  type Provider,
  ProviderRejectedError,
  readJwks,
  removeProvider,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { Institution } from '../../src/institutions/index.ts';
import { anInstitution, longAgo } from '../support/builders.ts';
import { runCli } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let db: TestDatabase;
let ours: Institution;
let theirs: Institution;
before(async () => {
  db = await testDatabase();
  ours = await anInstitution(db.database);
  theirs = await anInstitution(db.database);
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

function provider(parameters: readonly string[], input?: string) {
  return runCli(db, ['provider', ...parameters, '--institution', ours.code], input);
}

async function listed(): Promise<string> {
  return (await provider(['list'])).stdout;
}

describe('sharedraft provider', () => {
  test('adds, lists, sets, switches off and on, and removes a provider', async () => {
    const add = ['add', 'web', '--kind', 'jwt', '--issuer', issuer, ...settings];
    const added = await provider(add, jwks('k1'));
    assert.equal(added.code, 0, added.stderr);
    assert.match(added.stdout, /with the audience http:\/\/sharedraft\.test\./);
    const first = await listed();
    for (const line of [
      /^web \(jwt, on\)$/m,
      /issuer +https:\/\/login\.bank\.example$/m,
      /audience +http:\/\/sharedraft\.test$/m,
      /names members +by the claim sub, as MEMBER_NUMBER$/m,
      /scopes +account:read$/m,
      /resource tokens +not accepted$/m,
      /key +k1 EC P-256 ES256$/m,
    ]) {
      assert.match(first, line);
    }

    const change = [
      '--keys',
      '-',
      '--claim',
      'member',
      '--resource-tokens',
      '--token-type',
      'application/JWT',
    ];
    assert.equal((await provider(['set', 'web', ...change], jwks('k2'))).code, 0);
    assert.equal((await provider(['off', 'web', '--yes'])).code, 0);
    const changed = await listed();
    for (const line of [/\(jwt, off\)/, /claim member, as MEMBER_NUMBER/, /accepted, typ JWT/, /key +k2/]) {
      assert.match(changed, line);
    }
    assert.doesNotMatch(changed, /k1/);
    assert.equal((await provider(['on', 'web'])).code, 0);
    assert.match(await listed(), /\(jwt, on\)/);
    assert.equal((await provider(['remove', 'web', '--yes'])).code, 0);
    assert.match(await listed(), /has no identity providers/);
  });

  test('registers a SAML provider by certificates, and keeps their keys', async () => {
    const pem = readFileSync(new URL('../fixtures/saml/rsa.pem', import.meta.url), 'utf8');
    const add = ['add', 'saml', '--kind', 'saml', '--issuer', 'https://saml.example/idp', ...settings];
    const added = await provider([...add, '--name-id-format', 'email'], pem);
    assert.equal(added.code, 0, added.stderr);
    const fingerprint = createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');
    const seen = await listed();
    assert.ok(seen.includes(`${fingerprint} RSA`), seen);
    assert.match(seen, /NameID of the format urn:oasis:names:tc:SAML:1\.1:nameid-format:emailAddress, as/);
  });

  const wrong: Record<string, { parameters: string[]; input?: string; code: number }> = {
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
    'ourselves as issuer': {
      parameters: ['add', 'x', '--kind', 'jwt', '--issuer', 'http://sharedraft.test', ...settings],
      input: jwks('k'),
      code: 1,
    },
    'a change of nothing': { parameters: ['set', 'saml'], code: 1 },
    'a change of a provider that does not exist': { parameters: ['off', 'nobody', '--yes'], code: 1 },
  };
  for (const [name, { parameters, input, code }] of Object.entries(wrong)) {
    test(`refuses a provider command in one sentence: ${name}`, async () => {
      const result = await provider(parameters, input);
      assert.equal(result.code, code, result.stderr);
      assert.doesNotMatch(result.stderr, /^\s+at /m, 'no stack');
      assert.notEqual(result.stderr, '');
    });
  }

  test('sharedraft provider --help lists the commands', async () => {
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

describe('provider registry', () => {
  const deps = () => ({ database: db.database, clock: () => longAgo, issuer: 'http://sharedraft.test' });
  const a = (settings: Partial<Provider> & { readonly providerId: string }) => ({
    kind: 'jwt' as const,
    issuer,
    audience: 'urn:ours',
    keys: readJwks(jwks('k')),
    subjectFrom: 'sub',
    userIdType: 'USER_ID' as const,
    scopes: ['account:read'] as const,
    resourceTokens: true,
    tokenType: 'x+jwt',
    active: true,
    ...settings,
  });
  const add = (institution: Institution, settings: Parameters<typeof a>[0]) =>
    addProvider(deps(), institution.institutionId, { provider: a(settings), origin: ownOrigin() });
  const known = async (institution: Institution) => listProviders(deps(), institution.institutionId);

  test('one issuer serves two institutions under different audiences, and not under the same', async () => {
    await add(ours, { providerId: 'shared' });
    await assert.rejects(add(theirs, { providerId: 'shared' }), /registered already/);
    await add(theirs, { providerId: 'shared', audience: 'urn:theirs' });
    await assert.rejects(add(ours, { providerId: 'shared', audience: 'urn:another' }), /id is taken/);
    assert.deepEqual(
      (await known(theirs)).map((one) => one.audience),
      ['urn:theirs'],
    );
    assert.deepEqual(
      (await known(ours)).filter((one) => one.issuer === issuer).map((one) => one.audience),
      ['urn:ours'],
    );
  });

  test('accepts one of many simultaneous registrations of an issuer and audience', async () => {
    const attempts = Array.from({ length: 8 }, (_, n) =>
      add(n % 2 === 0 ? ours : theirs, { providerId: `race-${n}`, audience: 'urn:race' }).then(
        () => 1,
        () => 0,
      ),
    );
    assert.equal(
      (await Promise.all(attempts)).reduce<number>((sum, one) => sum + one, 0),
      1,
    );
  });

  test('keeps unnamed settings of a changed provider, and raises its generation', async () => {
    await add(ours, { providerId: 'kept', audience: 'urn:kept' });
    const find = async () => (await known(ours)).find((one) => one.providerId === 'kept');
    const before = await find();
    await changeProvider(deps(), ours.institutionId, {
      providerId: 'kept',
      settings: { scopes: ['transfer:read'] },
      origin: ownOrigin(),
    });
    const after = await find();
    assert.ok(before && after && after.generation > before.generation);
    assert.deepEqual(after, { ...before, scopes: ['transfer:read'], generation: after.generation });
  });

  test('a provider that is removed and registered again gets a generation that it never had', async () => {
    const before = (await known(ours)).find((one) => one.providerId === 'kept');
    await removeProvider(deps(), ours.institutionId, { providerId: 'kept', origin: ownOrigin() });
    await add(ours, { providerId: 'kept', audience: 'urn:kept' });
    const after = (await known(ours)).find((one) => one.providerId === 'kept');
    assert.ok(before && after && after.generation > before.generation);
  });

  test('refuses offline_access as a scope of a provider', async () => {
    const scopes = ['account:read', 'offline_access'] as const;
    await assert.rejects(
      add(ours, { providerId: 'long', audience: 'urn:long', scopes }),
      ProviderRejectedError,
    );
    const change = changeProvider(deps(), ours.institutionId, {
      providerId: 'kept',
      settings: { scopes },
      origin: ownOrigin(),
    });
    await assert.rejects(change, ProviderRejectedError);
  });

  test('an institution changes only its own providers', async () => {
    const theirsOnly = changeProvider(deps(), theirs.institutionId, {
      providerId: 'kept',
      settings: { active: false },
      origin: ownOrigin(),
    });
    await assert.rejects(theirsOnly, ProviderRejectedError);
    await assert.rejects(
      removeProvider(deps(), theirs.institutionId, { providerId: 'kept', origin: ownOrigin() }),
      ProviderRejectedError,
    );
    assert.equal((await known(ours)).find((one) => one.providerId === 'kept')?.active, true);
  });
});

describe('provider rules in the database', () => {
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
    test(`the database refuses a provider: ${name}`, async () => {
      await assert.rejects(plant(columns), { code: '23514' });
    });
  }

  test('the database requires a directory row for a provider', async () => {
    await assert.rejects(plant({ provider_id: 'stray' }), { code: '23503' });
  });

  test('the database requires a new generation for a change of a provider', async () => {
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
