import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject, randomUUID, webcrypto } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import {
  addClientKey,
  type ClientKeyAlgorithm,
  changeClient,
  createClient,
  readPublicKey,
  removeClientKey,
  retireSecrets,
  rotateSecret,
  runAuthMaintenance,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { clientOf, paths, send } from '../support/demo.ts';
import { signJws } from '../support/jws.ts';
import { startTestService, type TestService } from '../support/service.ts';

const issuer = 'http://sharedraft.test';
const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const hour = 60 * 60_000;
let now = new Date('2026-03-02T12:00:00Z');
let service: TestService;
let institutionId: InstitutionId;
let other: TestService;
before(async () => {
  service = await startTestService({ clock: () => now });
  other = await startTestService({ clock: () => now, beside: service });
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  institutionId = row?.institution_id as InstitutionId;
});
after(async () => {
  await other.close();
  await service.close();
});

const deps = () => service.service.context.auth;

function ask(body: object, headers: Record<string, string> = {}, at = service) {
  return send(at.address, 'POST', paths.token, {
    body: { grant_type: 'client_credentials', ...body },
    headers,
  });
}

async function statusWith(clientId: string, secret: string): Promise<number> {
  return (await ask({ client_id: clientId, client_secret: secret })).status;
}

async function aClient(options: Partial<Parameters<typeof createClient>[1]> = {}) {
  const clientId = `client-${randomUUID()}`;
  const created = await createClient(
    deps(),
    {
      institutionId,
      clientId,
      name: clientId,
      scopes: ['account:read'],
      grants: ['client_credentials'],
      ...options,
    },
    ownOrigin(),
  );
  return { clientId, secret: created?.secret ?? '' };
}

describe('client secrets', () => {
  test('accepts both secrets of a client during a replacement, until the old one expires or is retired', async () => {
    const { clientId, secret: first } = await aClient();
    const rotated = await rotateSecret(deps(), institutionId, {
      clientId,
      overlapMillis: 2 * hour,
      origin: ownOrigin(),
    });
    assert.ok(typeof rotated === 'object');
    assert.equal(await statusWith(clientId, first), 200);
    assert.equal(await statusWith(clientId, rotated.secret), 200);
    assert.equal(
      await rotateSecret(deps(), institutionId, { clientId, overlapMillis: hour, origin: ownOrigin() }),
      'two_already',
    );
    now = new Date(now.getTime() + 2 * hour);
    assert.equal(await statusWith(clientId, first), 401);
    assert.equal(await statusWith(clientId, rotated.secret), 200);

    const again = await rotateSecret(deps(), institutionId, {
      clientId,
      overlapMillis: hour,
      origin: ownOrigin(),
    });
    assert.ok(typeof again === 'object');
    now = new Date(now.getTime() + 1);
    assert.equal(
      await retireSecrets(deps(), institutionId, { clientId, which: 'older', origin: ownOrigin() }),
      1,
    );
    assert.equal(await statusWith(clientId, rotated.secret), 401);
    assert.equal(await statusWith(clientId, again.secret), 200);
    assert.equal(
      await retireSecrets(deps(), institutionId, { clientId, which: 'all', origin: ownOrigin() }),
      1,
    );
    assert.equal(await statusWith(clientId, again.secret), 401);
  });

  test('the database stores at most two secrets per client', async () => {
    const { clientId } = await aClient();
    await rotateSecret(deps(), institutionId, { clientId, overlapMillis: hour, origin: ownOrigin() });
    await assert.rejects(
      service.db.superuser(`insert into client_secrets values ($1, $2, sha256('x'), now(), null, 2)`, [
        institutionId,
        clientId,
      ]),
      /client_secrets_two/,
    );
    await assert.rejects(
      service.db.superuser(`insert into client_secrets values ($1, $2, sha256('x'), now(), null, 3)`, [
        institutionId,
        clientId,
      ]),
      /client_secrets_slot_check/,
    );
  });
});

describe('client ids', () => {
  test('client ids have only characters that stay the same in Basic, form-encoded or not', async () => {
    const clientId = `A-z_0.9~${randomUUID()}`;
    const { secret } = await aClient({ clientId });
    for (const name of [clientId, encodeURIComponent(clientId), clientId.replaceAll(/[-._~]/g, escaped)]) {
      const basic = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
      assert.equal((await ask({}, { authorization: basic })).status, 200, name);
    }
    const [row] = await service.db.superuser<{ definition: string }>(
      `select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'client_directory_plain_ids'`,
    );
    assert.match(row?.definition ?? '', /A-Za-z0-9/);
    for (const wrong of ['a+b', 'a%20b', 'a:b', 'a b', 'ä', '', 'a'.repeat(129), 'https://app.example']) {
      await assert.rejects(aClient({ clientId: wrong }), { code: 'invalid_request' }, wrong);
      await assert.rejects(
        service.db.superuser('insert into client_directory (client_id, institution_id) values ($1, $2)', [
          wrong,
          institutionId,
        ]),
        /client_directory_(?:plain_ids|client_id_check)/,
        wrong,
      );
    }
  });
});

function escaped(character: string): string {
  return `%${character.charCodeAt(0).toString(16)}`;
}

describe('permissions of a client', () => {
  test('changes of a client’s grants, scopes and token lifetime take effect at once in all processes', async () => {
    const { clientId, secret } = await aClient();
    const credentials = { client_id: clientId, client_secret: secret };
    await changeClient(deps(), institutionId, {
      clientId,
      change: {
        scopes: ['account:read', 'transfer:read'],
        tokenLifetimeSeconds: 60,
      },
      origin: ownOrigin(),
    });
    const reply = await ask(credentials, {}, other);
    assert.equal(reply.body.scope, 'account:read transfer:read');
    assert.equal(reply.body.expires_in, 60);
    await changeClient(deps(), institutionId, {
      clientId,
      change: { grants: ['password'], tokenLifetimeSeconds: null },
      origin: ownOrigin(),
    });
    assert.equal((await ask(credentials, {}, other)).body.error, 'unauthorized_client');
    assert.equal(
      await changeClient(deps(), institutionId, {
        clientId: 'nobody',
        change: { active: false },
        origin: ownOrigin(),
      }),
      false,
    );
  });

  test('refuses the password grant to a client without it', async () => {
    const { clientId, secret } = await aClient();
    const credentials = { client_id: clientId, client_secret: secret };
    const member = { grant_type: 'password', username: 'demo.member', password: 'demo-member-password' };
    assert.equal((await ask({ ...credentials, ...member })).body.error, 'unauthorized_client');
  });

  test('gives an inactive client the same response as an unknown one', async () => {
    const { clientId, secret } = await aClient();
    await changeClient(deps(), institutionId, { clientId, change: { active: false }, origin: ownOrigin() });
    const off = await ask({ client_id: clientId, client_secret: secret });
    const unknown = await ask({ client_id: 'nobody', client_secret: secret });
    assert.equal(off.status, 401);
    assert.equal(off.text, unknown.text);
  });

  const networks: [string, string[], number][] = [
    ['its own address', ['127.0.0.1/32'], 200],
    ['its network', ['10.0.0.0/8', '127.0.0.0/8'], 200],
    ['an address inside of a network, as an operator may write it', ['127.0.0.9/8'], 200],
    ['another network', ['10.0.0.0/8'], 401],
    ['the same bits in IPv6', ['7f00:1::/32'], 401],
    ['all of IPv6', ['::/0'], 401],
  ];
  for (const [name, allowed, status] of networks) {
    test(`returns ${status} to a client that is allowed from ${name}`, async () => {
      const { clientId, secret } = await aClient({ networks: allowed });
      assert.equal(await statusWith(clientId, secret), status);
    });
  }
});

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed: Pair = generateKeyPairSync('ed25519');
const pem = ({ publicKey }: Pair) => publicKey.export({ format: 'pem', type: 'spki' }).toString();

async function keyedClient(pair: Pair, algorithm: ClientKeyAlgorithm, kid?: string) {
  const { clientId } = await aClient({ key: await readPublicKey(pem(pair), algorithm) });
  if (kid !== undefined) {
    const jwk = { ...pair.publicKey.export({ format: 'jwk' }), kid };
    await addClientKey(deps(), institutionId, {
      clientId,
      key: await readPublicKey(JSON.stringify(jwk), algorithm),
      origin: ownOrigin(),
    });
  }
  return clientId;
}

function claims(clientId: string, changes: object = {}) {
  const seconds = Math.floor(now.getTime() / 1000);
  return {
    iss: clientId,
    sub: clientId,
    aud: issuer,
    jti: randomUUID(),
    iat: seconds,
    exp: seconds + 60,
    ...changes,
  };
}

const asserted = (assertion: string) => ({
  client_assertion_type: assertionType,
  client_assertion: assertion,
});

describe('private_key_jwt', () => {
  const kinds: [ClientKeyAlgorithm, string, Pair][] = [
    ['ES256', 'ES256', ec],
    ['RS256', 'RS256', rsa],
    ['PS256', 'PS256', rsa],
    ['EdDSA', 'EdDSA', ed],
    ['EdDSA', 'Ed25519', ed],
  ];
  for (const [algorithm, alg, pair] of kinds) {
    test(`a key for ${algorithm} authenticates with ${alg} and with no other algorithm`, async () => {
      const clientId = await keyedClient(pair, algorithm);
      const reply = await ask(asserted(signJws({ alg }, claims(clientId), pair.privateKey)));
      assert.equal(reply.status, 200, reply.text);
      for (const [, wrong] of kinds.filter(([one]) => one !== algorithm)) {
        const refused = await ask(asserted(signJws({ alg: wrong }, claims(clientId), pair.privateKey)));
        assert.equal(refused.status, 401, wrong);
      }
    });
  }

  test('oauth4webapi authenticates unchanged with each kind of key', async () => {
    const server = { issuer, token_endpoint: service.address + paths.token };
    const kindsOfKeys = [
      [{ name: 'ECDSA', namedCurve: 'P-256' }, 'ES256'],
      [{ name: 'Ed25519' }, 'EdDSA'],
      [
        {
          name: 'RSASSA-PKCS1-v1_5',
          hash: 'SHA-256',
          modulusLength: 2048,
          publicExponent: new Uint8Array([1, 0, 1]),
        },
        'RS256',
      ],
      [
        { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
        'PS256',
      ],
    ] as const;
    for (const [kind, algorithm] of kindsOfKeys) {
      const pair = (await webcrypto.subtle.generateKey(kind, true, [
        'sign',
        'verify',
      ])) as webcrypto.CryptoKeyPair;
      const jwk = await webcrypto.subtle.exportKey('jwk', pair.publicKey);
      const { clientId } = await aClient({ key: await readPublicKey(JSON.stringify(jwk), algorithm) });
      const client = {
        client_id: clientId,
        [oauth.clockSkew]: Math.round((now.getTime() - Date.now()) / 1000),
      };
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        oauth.PrivateKeyJwt(pair.privateKey),
        {},
        { [oauth.allowInsecureRequests]: true },
      );
      const granted = await oauth.processClientCredentialsResponse(server, client, response);
      assert.equal(granted.scope, 'account:read', algorithm);
    }
  });

  test('accepts only our issuer as the audience of a client assertion, as one string, and explains a refusal', async () => {
    const clientId = await keyedClient(ec, 'ES256');
    const exchangeAssertion = (aud: unknown) =>
      ask(asserted(signJws({ alg: 'ES256' }, claims(clientId, { aud }), ec.privateKey)));
    const others = [`${issuer}/auth/v2/token`, [issuer], [issuer, 'https://other.example'], `${issuer}/`, ''];
    for (const aud of others) {
      const reply = await exchangeAssertion(aud);
      assert.equal(reply.status, 401, String(aud));
      assert.equal(
        reply.body.error_description,
        `The client assertion is refused: aud must be the issuer ${issuer} as a single string, not the token endpoint and not a list.`,
      );
    }
    assert.equal((await exchangeAssertion(issuer)).status, 200);
  });

  test('accepts only the token endpoint as the audience from a client set to it', async () => {
    const clientId = await keyedClient(ec, 'ES256');
    const exchangeAssertion = async (aud: unknown, at = service) =>
      (await ask(asserted(signJws({ alg: 'ES256' }, claims(clientId, { aud }), ec.privateKey)), {}, at))
        .status;
    const endpoint = `${issuer}/auth/v2/token`;
    const allow = (allowsTokenEndpointAudience: boolean) =>
      changeClient(deps(), institutionId, {
        clientId,
        change: { allowsTokenEndpointAudience },
        origin: ownOrigin(),
      });
    await allow(true);
    assert.equal(await exchangeAssertion(endpoint), 200);
    assert.equal(await exchangeAssertion(endpoint, other), 200);
    assert.equal(await exchangeAssertion(issuer), 200);
    for (const aud of [[endpoint], [issuer, endpoint], `${endpoint}/`, `${issuer}/auth/v2/revoke`]) {
      assert.equal(await exchangeAssertion(aud), 401, String(aud));
    }
    await allow(false);
    assert.equal(await exchangeAssertion(endpoint, other), 401);
  });

  test('rejects a client assertion with padding (RFC 7515 section 2)', async () => {
    const clientId = await keyedClient(ec, 'ES256');
    for (const part of [0, 1, 2]) {
      const parts = signJws({ alg: 'ES256' }, claims(clientId), ec.privateKey).split('.');
      const padded = parts.map((text, index) =>
        index === part ? text.padEnd(text.length + (4 - (text.length % 4) || 4), '=') : text,
      );
      assert.equal((await ask(asserted(padded.join('.')))).status, 401, String(part));
    }
  });

  test('accepts a client assertion for one request, in any process, of any number at once', async () => {
    const clientId = await keyedClient(ec, 'ES256');
    const assertion = asserted(signJws({ alg: 'ES256' }, claims(clientId), ec.privateKey));
    const replies = await Promise.all(
      Array.from({ length: 16 }, (_, index) => ask(assertion, {}, index % 2 === 0 ? service : other)),
    );
    const statuses = replies.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 1, String(statuses));
    assert.equal(statuses.filter((status) => status === 401).length, 15, String(statuses));
  });

  test('forgets a used client assertion after its expiry, not before', async () => {
    const clientId = await keyedClient(ec, 'ES256');
    const assertion = asserted(signJws({ alg: 'ES256' }, claims(clientId), ec.privateKey));
    assert.equal((await ask(assertion)).status, 200);
    const count = () =>
      service.db
        .superuser<{ n: bigint }>('select count(*) as n from client_assertion_replays')
        .then(([row]) => row?.n);
    // A process whose clock is five minutes ahead keeps it for the others.
    const started = now.getTime();
    now = new Date(started + 60_000 + 5 * 60_000 - 2_000);
    await runAuthMaintenance(deps(), institutionId);
    assert.notEqual(await count(), 0n);
    now = new Date(started + 59_000);
    assert.match((await ask(assertion)).body.error_description, /used before/);
    now = new Date(now.getTime() + 10 * 60_000);
    await runAuthMaintenance(deps(), institutionId);
    assert.equal(await count(), 0n);
    assert.equal((await ask(assertion)).status, 401);
  });

  test('rejects a removed key, and chooses among several by the header’s kid', async () => {
    const clientId = await keyedClient(ec, 'ES256', 'second');
    const { kid } = await readPublicKey(pem(ec));
    const sign = (header: object) =>
      asserted(signJws({ alg: 'ES256', ...header }, claims(clientId), ec.privateKey));
    assert.equal((await ask(sign({ kid: 'second' }))).status, 200);
    assert.equal((await ask(sign({ kid }))).status, 200);
    assert.equal((await ask(sign({ kid: 'third' }))).status, 401);
    assert.ok(await removeClientKey(deps(), institutionId, { clientId, kid: 'second', origin: ownOrigin() }));
    assert.equal((await ask(sign({ kid: 'second' }))).status, 401);
    assert.equal((await ask(sign({}))).status, 200);
    assert.ok(await removeClientKey(deps(), institutionId, { clientId, kid, origin: ownOrigin() }));
    assert.equal((await ask(sign({}))).status, 401);
  });

  test('rejects a client that authenticates with its own key or secret in the name of another client', async () => {
    const clientId = await keyedClient(ec, 'ES256');
    const reader = await clientOf(service, ['demo-reader', 'demo-reader-secret']);
    assert.ok(reader.token);
    const assertion = signJws({ alg: 'ES256' }, claims('demo-reader'), ec.privateKey);
    assert.equal((await ask(asserted(assertion))).status, 401);
    assert.equal((await ask({ client_id: clientId, client_secret: 'demo-reader-secret' })).status, 401);
  });
});

describe('reading a public key', () => {
  const jwk = (pair: Pair, more: object = {}) =>
    JSON.stringify({ ...pair.publicKey.export({ format: 'jwk' }), ...more });
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const curve = generateKeyPairSync('ec', { namedCurve: 'P-384' });

  const taken: [string, string, ClientKeyAlgorithm | undefined, string][] = [
    ['EC in PEM', pem(ec), undefined, 'ES256'],
    ['RSA in PEM', pem(rsa), undefined, 'RS256'],
    ['RSA with a choice', pem(rsa), 'PS256', 'PS256'],
    ['RSA with an alg in the JWK', jwk(rsa, { alg: 'PS256' }), undefined, 'PS256'],
    ['Ed25519 as a JWK', jwk(ed, { alg: 'Ed25519' }), undefined, 'EdDSA'],
  ];
  for (const [name, text, algorithm, expected] of taken) {
    test(`reads a public key: ${name} gives ${expected}`, async () => {
      assert.equal((await readPublicKey(text, algorithm)).algorithm, expected);
    });
  }

  const refused: [string, string, ClientKeyAlgorithm | undefined, RegExp][] = [
    [
      'a private key in PEM',
      ec.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
      undefined,
      /private/,
    ],
    ['a private JWK', JSON.stringify(ec.privateKey.export({ format: 'jwk' })), undefined, /private/],
    ['RSA of 1024 bits', pem(small), undefined, /2048/],
    ['another curve', pem(curve), undefined, /ES256/],
    ['an algorithm of another kind of key', pem(ec), 'RS256', /ES256/],
    ['a JWK for encryption', jwk(rsa, { alg: 'RSA-OAEP' }), undefined, /ES256/],
    ['a secret', JSON.stringify({ kty: 'oct', k: 'AAAA' }), undefined, /public key/],
    ['nonsense', 'hello', undefined, /public key/],
    ['broken JSON', '{', undefined, /JSON/],
    ['a kid with a space', jwk(ec, { kid: 'a b' }), undefined, /kid/],
  ];
  for (const [name, text, algorithm, message] of refused) {
    test(`rejects a public key: ${name}`, () => assert.rejects(readPublicKey(text, algorithm), message));
  }
});
