import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { changeClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Client, type Reply } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { sha256, TestKey } from '../support/dpop.ts';
import { signJws, tamper } from '../support/jws.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';

/** Tokens that are bound to a key (RFC 9449). */

const issuer = 'http://localhost';
const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const member = { username: 'demo.member', password: 'demo-member-password' };
const account = `${paths.accounts}/a-1001-checking`;
const start = Date.parse('2026-03-02T12:00:00Z');
let now = start;
const seconds = () => Math.floor(now / 1000);

let service: TestService;
let second: TestService;
let client: Client;
before(async () => {
  const clock = () => new Date(now);
  const environment = { PUBLIC_URL: issuer, FAILED_LOGIN_PAUSE_MILLIS: '0' };
  service = await startTestService({ clock, environment });
  second = await startTestService({ clock, environment, beside: service });
  client = new Client(service.address);
});
after(async () => {
  await second.close();
  await service.close();
});

const key = new TestKey();
const nonce = () => service.service.context.auth.proofNonces.current();
const tokenClaims = () => ({ htm: 'POST', htu: issuer + paths.token, iat: seconds(), nonce: nonce() });
const accountClaims = (token: string) => ({
  ...{ htm: 'GET', htu: issuer + account, iat: seconds(), nonce: nonce() },
  ath: sha256(token),
});

function ask(json: object, proof?: string, at = client): Promise<Reply> {
  return at.post(paths.token, { json, ...(proof !== undefined && { headers: { dpop: proof } }) });
}

function read(
  token: string,
  proof: string | undefined,
  { scheme = 'DPoP', at = client } = {},
): Promise<Reply> {
  const headers = { authorization: `${scheme} ${token}`, ...(proof !== undefined && { dpop: proof }) };
  return at.get(account, { headers });
}

async function boundToken(by = key): Promise<string> {
  const grant = { grant_type: 'password', ...app, ...member };
  const reply = await ask(grant, by.proof({ claims: tokenClaims() }));
  assert.equal(reply.status, 200, reply.text);
  return reply.body.access_token;
}

const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString());

test('binds the tokens of a request with a proof to its key, and introspection names the key', async () => {
  const grants = [
    { grant_type: 'client_credentials', ...app },
    { grant_type: 'password', ...app, ...member },
  ];
  for (const grant of grants) {
    const reply = await ask(grant, key.proof({ claims: tokenClaims() }));
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.body.token_type, 'DPoP');
    assert.deepEqual(claimsOf(reply.body.access_token).cnf, { jkt: key.thumbprint });
    const about = await client.post('/auth/v2/introspect', {
      json: { ...app, token: reply.body.access_token },
    });
    assert.deepEqual([about.body.token_type, about.body.cnf], ['DPoP', { jkt: key.thumbprint }]);
  }
  const bearer = await ask({ grant_type: 'client_credentials', ...app });
  assert.equal(bearer.body.token_type, 'Bearer');
  assert.equal(claimsOf(bearer.body.access_token).cnf, undefined);
});

test('takes a bound token with a proof, whether or not it is remembered, and refuses it as Bearer', async () => {
  const token = await boundToken();
  for (const turn of ['new', 'remembered', 'answer remembered']) {
    const reply = await read(token, key.proof({ claims: accountClaims(token) }));
    assert.equal(reply.status, 200, `${turn}: ${reply.text}`);
    assert.equal(reply.headers.get('dpop-nonce'), nonce());
    for (const proof of [undefined, key.proof({ claims: accountClaims(token) })]) {
      const refused = await read(token, proof, { scheme: 'Bearer' });
      assert.deepEqual([refused.status, refused.body.code], [401, 'invalid_token'], turn);
    }
  }
});

test('takes a bound token for a write once, and not the same proof again', async () => {
  const token = await boundToken();
  const transfers = paths.transfers;
  const claims = { htm: 'POST', htu: issuer + transfers, iat: seconds(), nonce: nonce(), ath: sha256(token) };
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
  const proof = key.proof({ claims });
  const send = (id: string) =>
    client.post(transfers, {
      json: { id, ...order },
      headers: { authorization: `DPoP ${token}`, dpop: proof },
    });
  assert.equal((await send('dpop-1')).status, 201);
  const replayed = await send('dpop-2');
  assert.deepEqual([replayed.status, replayed.body.code], [401, 'invalid_dpop_proof']);
  const found = await service.db.superuser(`select 1 from transfers where transfer_id = 'dpop-2'`);
  assert.equal(found.length, 0, 'the replayed request has done nothing');
});

test('accepts a proof once among two processes, also when both get it at once', async () => {
  const token = await boundToken();
  const other = new Client(second.address);
  for (let turn = 0; turn < 10; turn += 1) {
    const proof = key.proof({ claims: accountClaims(token) });
    const replies = await Promise.all([client, other, client, other].map((at) => read(token, proof, { at })));
    assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  }
});

test('records the proofs of many simultaneous requests, each once', async () => {
  const token = await boundToken();
  const proofs = Array.from({ length: 40 }, () => key.proof({ claims: accountClaims(token) }));
  const replies = await Promise.all(proofs.map((proof) => read(token, proof)));
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  const again = await Promise.all(proofs.map((proof) => read(token, proof)));
  assert.deepEqual(new Set(again.map(({ status }) => status)), new Set([401]));
});

test('takes nonces of another process, and asks for a new one when a nonce is old', async () => {
  const token = await boundToken();
  const other = new Client(second.address);
  const asked = await read(token, key.proof({ claims: { ...accountClaims(token), nonce: undefined } }), {
    at: other,
  });
  assert.equal(asked.body.code, 'use_dpop_nonce');
  assert.match(asked.headers.get('www-authenticate') ?? '', /^DPoP .*error="use_dpop_nonce".*algs="ES256 /);
  const given = asked.headers.get('dpop-nonce') ?? '';
  const proofWith = (used: string) => key.proof({ claims: { ...accountClaims(token), nonce: used } });
  assert.equal((await read(token, proofWith(given))).status, 200);
  now += 130_000;
  assert.equal((await read(token, proofWith(given))).status, 200);
  now += 120_000;
  assert.equal((await read(token, proofWith(given))).body.code, 'use_dpop_nonce');
});

test('asks for a nonce before a code is used up, and binds refresh tokens of a public client to the key', async () => {
  const browser = new TestBrowser(service.address);
  const { verifier, challenge } = pkce();
  const redirectUri = 'http://127.0.0.1:49152/';
  const url = authorizeUrl({
    ...{ client_id: 'demo-budget', response_type: 'code', redirect_uri: redirectUri },
    ...{ scope: 'openid account:read offline_access', dpop_jkt: key.thumbprint },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const page = await browser.get(url);
  const signedIn = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
  const end = await browser.post('/auth/v2/consent', {
    ...{ request: signedIn.request, days: '90', answer: 'allow', accounts: 'all' },
  });
  const code = end.location.searchParams.get('code') ?? '';
  const exchange = {
    grant_type: 'authorization_code',
    client_id: 'demo-budget',
    code,
    code_verifier: verifier,
  };

  const withoutNonce = await ask(exchange, key.proof({ claims: { ...tokenClaims(), nonce: undefined } }));
  assert.deepEqual([withoutNonce.status, withoutNonce.body.error], [400, 'use_dpop_nonce']);
  assert.equal(withoutNonce.headers.get('dpop-nonce'), nonce());
  const thief = new TestKey();
  for (const proof of [undefined, thief.proof({ claims: tokenClaims() })]) {
    assert.equal((await ask(exchange, proof)).body.error, 'invalid_grant', 'RFC 9449 section 10');
  }
  const tokens = await ask(exchange, key.proof({ claims: tokenClaims() }));
  assert.equal(tokens.body.token_type, 'DPoP', tokens.text);

  const refresh = {
    ...{ grant_type: 'refresh_token', client_id: 'demo-budget' },
    refresh_token: tokens.body.refresh_token,
  };
  for (const proof of [undefined, thief.proof({ claims: tokenClaims() })]) {
    assert.equal((await ask(refresh, proof)).body.error, 'invalid_grant', 'RFC 9449 section 5');
  }
  const renewed = await ask(refresh, key.proof({ claims: tokenClaims() }));
  assert.equal(renewed.body.token_type, 'DPoP', renewed.text);
  assert.deepEqual(claimsOf(renewed.body.access_token).cnf, { jkt: key.thumbprint });
});

test('lets a client with a secret renew a bound login with a new key, and never as Bearer', async () => {
  const grant = { grant_type: 'password', ...app, ...member, scope: 'account:read offline_access' };
  const first = await ask(grant, key.proof({ claims: tokenClaims() }));
  const refresh = { grant_type: 'refresh_token', ...app, refresh_token: first.body.refresh_token };
  assert.equal((await ask(refresh)).body.error, 'invalid_grant');
  const next = new TestKey();
  const renewed = await ask(refresh, next.proof({ claims: tokenClaims() }));
  assert.deepEqual(claimsOf(renewed.body.access_token).cnf, { jkt: next.thumbprint });
});

test('takes the key of a pushed request from its proof or from dpop_jkt, and refuses two keys', async () => {
  const push = (more: object, proof?: string) =>
    client.post('/auth/v2/par', {
      json: {
        ...{ client_id: 'demo-budget', response_type: 'code', redirect_uri: 'http://127.0.0.1/' },
        ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256', ...more },
      },
      ...(proof !== undefined && { headers: { dpop: proof } }),
    });
  const proof = () => key.proof({ claims: { ...tokenClaims(), htu: `${issuer}/auth/v2/par` } });
  assert.equal((await push({}, proof())).status, 201);
  assert.equal((await push({ dpop_jkt: key.thumbprint }, proof())).status, 201);
  const two = await push({ dpop_jkt: new TestKey().thumbprint }, proof());
  assert.deepEqual([two.status, two.body.error], [400, 'invalid_dpop_proof']);
  assert.equal((await push({ dpop_jkt: 'short' })).body.error, 'invalid_request');
});

test('requires a proof of a client whose tokens are bound, in the code and in the database', async () => {
  const { auth } = service.service.context;
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  const institutionId = row?.institution_id as InstitutionId;
  const set = (requiresDpop: boolean) =>
    changeClient(auth, institutionId, {
      ...{ clientId: 'demo-app', change: { requiresDpop }, origin: ownOrigin() },
    });
  assert.equal(await set(true), true);
  try {
    const grant = { grant_type: 'password', ...app, ...member, scope: 'account:read offline_access' };
    const refused = await ask(grant);
    assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_dpop_proof']);
    assert.equal((await ask(grant, key.proof({ claims: tokenClaims() }))).status, 200);
    await assert.rejects(
      service.db.superuser(
        `insert into refresh_families (institution_id, family_id, client_id, user_key, scopes, client_epoch, user_epoch,
                                       generation, token_hash, rotated_at, idle_until, expires_at, created_at, authenticated_at)
         select institution_id, gen_random_uuid(), client_id, user_key, scopes, client_epoch, user_epoch, 0, token_hash,
                rotated_at, idle_until, expires_at, created_at, authenticated_at
         from refresh_families where client_id = 'demo-app' limit 1`,
      ),
      { code: 'SD207' },
    );
  } finally {
    await set(false);
  }
});

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const weakRsa = generateKeyPairSync('rsa', { modulusLength: 1024 });
const edwards = generateKeyPairSync('ed25519');
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });

describe('kinds of keys', () => {
  for (const [alg, pair] of [
    ['PS256', rsa],
    ['EdDSA', edwards],
    ['Ed25519', edwards],
  ] as const) {
    test(`accepts a proof by ${alg}`, async () => {
      const header = { typ: 'dpop+jwt', alg, jwk: pair.publicKey.export({ format: 'jwk' }) };
      const proof = signJws(header, { jti: randomUUID(), ...tokenClaims() }, pair.privateKey);
      const reply = await ask({ grant_type: 'client_credentials', ...app }, proof);
      assert.equal(reply.body.token_type, 'DPoP', reply.text);
    });
  }
});

type Bad = [section: string, name: string, proof: (claims: object) => string];

/** Each is refused at the token endpoint and at a resource. */
const badProofs: Bad[] = [
  ['RFC 9449 4.3 (2)', 'no JWT', () => 'made-up'],
  ['RFC 9449 4.3 (2)', 'two parts', (claims) => key.proof({ claims }).split('.').slice(0, 2).join('.')],
  [
    'RFC 9449 4.3 (2)',
    'a header that is no JSON',
    (claims) => `e30x.${key.proof({ claims }).split('.').slice(1).join('.')}`,
  ],
  [
    'RFC 9449 4.3 (2)',
    'a payload that is no JSON',
    () => signJws({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.publicJwk }, 'no json', key.privateKey),
  ],
  ['RFC 7515 2', 'base64 with padding', (claims) => `${key.proof({ claims })}=`],
  [
    'RFC 9449 4.3 (1)',
    'two proofs in one header',
    (claims) => `${key.proof({ claims })}, ${key.proof({ claims })}`,
  ],
  ['RFC 9449 4.3 (4)', 'typ JWT', (claims) => key.proof({ header: { typ: 'JWT' }, claims })],
  ['RFC 9449 4.3 (4)', 'no typ', (claims) => key.proof({ header: { typ: undefined }, claims })],
  [
    'RFC 9449 4.3 (4)',
    'typ of an access token',
    (claims) => key.proof({ header: { typ: 'at+jwt' }, claims }),
  ],
  [
    'RFC 9449 4.3 (5)',
    'alg none',
    (claims) =>
      `${key
        .proof({ header: { alg: 'none' }, claims })
        .split('.')
        .slice(0, 2)
        .join('.')}.`,
  ],
  ['RFC 9449 4.3 (5)', 'no alg', (claims) => key.proof({ header: { alg: undefined }, claims })],
  [
    'RFC 9449 4.3 (5)',
    'an HMAC',
    (claims) =>
      signJws(
        { typ: 'dpop+jwt', alg: 'HS256', jwk: key.publicJwk },
        { jti: 'h', ...claims },
        { secret: 'known' },
      ),
  ],
  [
    'RFC 9449 4.3 (5)',
    'a symmetric key',
    (claims) =>
      signJws(
        { typ: 'dpop+jwt', alg: 'HS256', jwk: { kty: 'oct', k: 'a25vd24' } },
        { jti: 'o', ...claims },
        { secret: 'known' },
      ),
  ],
  [
    'RFC 9449 4.3 (5)',
    'RS256, which is not offered',
    (claims) =>
      signJws(
        { typ: 'dpop+jwt', alg: 'RS256', jwk: rsa.publicKey.export({ format: 'jwk' }) },
        { jti: randomUUID(), ...claims },
        rsa.privateKey,
      ),
  ],
  [
    'RFC 9449 4.3 (5)',
    'an RSA key of 1024 bits',
    (claims) =>
      signJws(
        { typ: 'dpop+jwt', alg: 'PS256', jwk: weakRsa.publicKey.export({ format: 'jwk' }) },
        { jti: randomUUID(), ...claims },
        weakRsa.privateKey,
      ),
  ],
  [
    'RFC 9449 4.3 (5)',
    'another curve than the algorithm',
    (claims) =>
      signJws(
        { typ: 'dpop+jwt', alg: 'ES256', jwk: p384.publicKey.export({ format: 'jwk' }) },
        { jti: randomUUID(), ...claims },
        p384.privateKey,
      ),
  ],
  [
    'RFC 9449 4.3 (5)',
    'the algorithm of another key',
    (claims) => key.proof({ header: { alg: 'PS256' }, claims }),
  ],
  [
    'RFC 9449 4.3 (5)',
    'alg of the name of a member of every object',
    (claims) => key.proof({ header: { alg: 'toString' }, claims }),
  ],
  [
    'RFC 9449 4.3 (6)',
    'another key in the header than the signer',
    (claims) => key.proof({ header: { jwk: new TestKey().publicJwk }, claims }),
  ],
  [
    'RFC 9449 4.3 (6)',
    'a changed claim',
    (claims) => tamper(key.proof({ claims }), { payload: { jti: 'changed' } }),
  ],
  [
    'RFC 9449 4.3 (6)',
    'an empty signature',
    (claims) => `${key.proof({ claims }).split('.').slice(0, 2).join('.')}.`,
  ],
  [
    'RFC 9449 4.3 (6)',
    'a signature of zeros',
    (claims) => tamper(key.proof({ claims }), { signature: Buffer.alloc(64).toString('base64url') }),
  ],
  [
    'RFC 9449 4.3 (7)',
    'a private key in the header',
    (claims) => key.proof({ header: { jwk: key.privateKey.export({ format: 'jwk' }) }, claims }),
  ],
  ['RFC 9449 4.2', 'no jwk', (claims) => key.proof({ header: { jwk: undefined }, claims })],
  ['RFC 9449 4.2', 'a jwk that is a text', (claims) => key.proof({ header: { jwk: 'key' }, claims })],
  [
    'RFC 9449 4.2',
    'a key named by kid only',
    (claims) => key.proof({ header: { jwk: undefined, kid: 'known' }, claims }),
  ],
  [
    'RFC 7517 4',
    'a point that is not on the curve',
    (claims) => key.proof({ header: { jwk: { ...key.publicJwk, x: key.publicJwk.y } }, claims }),
  ],
  ['RFC 7515 4.1.11', 'a critical extension', (claims) => key.proof({ header: { crit: ['exp'] }, claims })],
  ['RFC 9449 4.2', 'no jti', (claims) => key.proof({ claims: { ...claims, jti: undefined } })],
  ['RFC 9449 4.2', 'an empty jti', (claims) => key.proof({ claims: { ...claims, jti: '' } })],
  ['RFC 9449 4.2', 'a jti that is a number', (claims) => key.proof({ claims: { ...claims, jti: 7 } })],
  [
    'RFC 9449 11.1',
    'a jti that would fill the replay cache',
    (claims) => key.proof({ claims: { ...claims, jti: 'x'.repeat(257) } }),
  ],
  ['RFC 9449 4.3 (3)', 'no htm', (claims) => key.proof({ claims: { ...claims, htm: undefined } })],
  ['RFC 9449 4.3 (8)', 'another method', (claims) => key.proof({ claims: { ...claims, htm: 'DELETE' } })],
  [
    'RFC 9449 4.3 (8)',
    'the method in small letters',
    (claims) => key.proof({ claims: { ...claims, htm: 'get' } }),
  ],
  ['RFC 9449 4.3 (3)', 'no htu', (claims) => key.proof({ claims: { ...claims, htu: undefined } })],
  [
    'RFC 9449 4.3 (9)',
    'another path',
    (claims) => key.proof({ claims: { ...claims, htu: `${issuer}/auth/v2/other` } }),
  ],
  [
    'RFC 9449 4.3 (9)',
    'another host',
    (claims) => key.proof({ claims: { ...claims, htu: `http://evil.test${account}` } }),
  ],
  [
    'RFC 9449 4.3 (9)',
    'another port',
    (claims) => key.proof({ claims: { ...claims, htu: `http://localhost:81${account}` } }),
  ],
  [
    'RFC 9449 4.3 (9)',
    'another scheme of address',
    (claims) => key.proof({ claims: { ...claims, htu: `https://localhost${account}` } }),
  ],
  [
    'RFC 9449 4.3 (9)',
    'a path without a host',
    (claims) => key.proof({ claims: { ...claims, htu: account } }),
  ],
  [
    'RFC 9449 4.3 (9)',
    'a user in the address',
    (claims) => key.proof({ claims: { ...claims, htu: `http://me@localhost${account}` } }),
  ],
  [
    'RFC 9449 4.3 (9)',
    'a list of addresses',
    (claims) => key.proof({ claims: { ...claims, htu: [issuer + account] } }),
  ],
  ['RFC 9449 4.3 (3)', 'no iat', (claims) => key.proof({ claims: { ...claims, iat: undefined } })],
  [
    'RFC 7519 2',
    'an iat that is a text',
    (claims) => key.proof({ claims: { ...claims, iat: String(seconds()) } }),
  ],
  [
    'RFC 9449 4.3 (11)',
    'a proof of five minutes ago',
    (claims) => key.proof({ claims: { ...claims, iat: seconds() - 300 } }),
  ],
  [
    'RFC 9449 4.3 (11)',
    'a proof of the next minute but one',
    (claims) => key.proof({ claims: { ...claims, iat: seconds() + 61 } }),
  ],
  [
    'RFC 9449 4.3 (11)',
    'a time beyond every calendar',
    (claims) => key.proof({ claims: { ...claims, iat: 1e300 } }),
  ],
];

const badNonces: Bad[] = [
  ['RFC 9449 8', 'no nonce', (claims) => key.proof({ claims: { ...claims, nonce: undefined } })],
  [
    'RFC 9449 8',
    'an invented nonce',
    (claims) => key.proof({ claims: { ...claims, nonce: 'A'.repeat(22) } }),
  ],
  ['RFC 9449 8', 'a nonce that is a number', (claims) => key.proof({ claims: { ...claims, nonce: 7 } })],
  ['RFC 9449 8', 'a cut nonce', (claims) => key.proof({ claims: { ...claims, nonce: nonce().slice(1) } })],
  [
    'RFC 9449 8',
    'a nonce of other letters',
    (claims) => key.proof({ claims: { ...claims, nonce: 'é'.repeat(22) } }),
  ],
];

describe('refused proofs', () => {
  let token: string;
  before(async () => {
    token = await boundToken();
  });

  for (const [section, name, proofOf] of badProofs) {
    test(`refuses a proof with ${name} (${section})`, async () => {
      const atToken = await ask({ grant_type: 'client_credentials', ...app }, proofOf(tokenClaims()));
      assert.deepEqual([atToken.status, atToken.body.error], [400, 'invalid_dpop_proof'], atToken.text);
      const atResource = await read(token, proofOf(accountClaims(token)));
      assert.deepEqual(
        [atResource.status, atResource.body.code],
        [401, 'invalid_dpop_proof'],
        atResource.text,
      );
      assert.match(atResource.headers.get('www-authenticate') ?? '', /^DPoP .*error="invalid_dpop_proof"/);
    });
  }

  for (const [section, name, proofOf] of badNonces) {
    test(`asks for a nonce of a proof with ${name} (${section})`, async () => {
      const atToken = await ask({ grant_type: 'client_credentials', ...app }, proofOf(tokenClaims()));
      assert.deepEqual([atToken.status, atToken.body.error], [400, 'use_dpop_nonce']);
      const atResource = await read(token, proofOf(accountClaims(token)));
      assert.deepEqual([atResource.status, atResource.body.code], [401, 'use_dpop_nonce']);
      assert.equal(atResource.headers.get('dpop-nonce'), nonce());
    });
  }

  const atResources: [section: string, name: string, code: string, send: () => Promise<Reply>][] = [
    ['RFC 9449 7.1', 'a bound token without a proof', 'invalid_dpop_proof', () => read(token, undefined)],
    [
      'RFC 9449 4.3 (12)',
      'no ath',
      'invalid_dpop_proof',
      () => read(token, key.proof({ claims: { ...accountClaims(token), ath: undefined } })),
    ],
    [
      'RFC 9449 4.3 (12)',
      'the ath of another token',
      'invalid_dpop_proof',
      () => read(token, key.proof({ claims: accountClaims('another') })),
    ],
    [
      'RFC 9449 4.3 (12)',
      'the token itself as ath',
      'invalid_dpop_proof',
      () => read(token, key.proof({ claims: { ...accountClaims(token), ath: token } })),
    ],
    [
      'RFC 9449 4.3 (12)',
      'a proof of another key',
      'invalid_token',
      () => read(token, new TestKey().proof({ claims: accountClaims(token) })),
    ],
    [
      'RFC 9449 7.2',
      'a bound token as Bearer',
      'invalid_token',
      () => read(token, undefined, { scheme: 'Bearer' }),
    ],
    [
      'RFC 9449 7.1',
      'a proof of the token endpoint',
      'invalid_dpop_proof',
      () => read(token, key.proof({ claims: { ...tokenClaims(), ath: sha256(token) } })),
    ],
    [
      'RFC 9449 7.1',
      'a bearer token as DPoP',
      'invalid_token',
      async () => {
        const bearer = await client.token({ grant_type: 'password', ...app, ...member });
        return read(bearer, key.proof({ claims: accountClaims(bearer) }));
      },
    ],
    [
      'RFC 9449 7.1',
      'an unknown token',
      'invalid_token',
      () => read('made-up', key.proof({ claims: accountClaims('made-up') })),
    ],
    [
      'RFC 9449 11.1',
      'a proof that was used before',
      'invalid_dpop_proof',
      async () => {
        const proof = key.proof({ claims: accountClaims(token) });
        assert.equal((await read(token, proof)).status, 200);
        return read(token, proof);
      },
    ],
    [
      'RFC 9449 11.1',
      'a jti that another proof of the key has used',
      'invalid_dpop_proof',
      async () => {
        const claims = { ...accountClaims(token), jti: randomUUID() };
        assert.equal((await read(token, key.proof({ claims }))).status, 200);
        return read(token, key.proof({ claims: { ...claims, iat: seconds() - 1 } }));
      },
    ],
    [
      'RFC 9449 6.1',
      'a token whose confirmation was changed',
      'invalid_token',
      () => {
        const thief = new TestKey();
        const changed = tamper(token, { payload: { cnf: { jkt: thief.thumbprint } } });
        return read(changed, thief.proof({ claims: accountClaims(changed) }));
      },
    ],
    [
      'RFC 7800 3',
      'a token that is bound to something else',
      'invalid_token',
      async () => {
        const { kid, privateKey } = await service.service.context.auth.keys.signer();
        const header = { alg: 'ES256', typ: 'at+jwt', kid };
        const other = signJws(header, { ...claimsOf(token), cnf: { 'x5t#S256': 'certificate' } }, privateKey);
        return read(other, undefined, { scheme: 'Bearer' });
      },
    ],
  ];
  for (const [section, name, code, send] of atResources) {
    test(`refuses at a resource ${name} (${section})`, async () => {
      const reply = await send();
      assert.deepEqual([reply.status, reply.body.code], [401, code], reply.text);
    });
  }

  test('refuses two DPoP headers (RFC 9449 4.3 (1))', async () => {
    const proofs = [1, 2].map(() => `DPoP: ${key.proof({ claims: accountClaims(token) })}\r\n`).join('');
    const { text } = await sendRaw(Number(new URL(service.address).port), [
      `GET ${account} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: DPoP ${token}\r\n${proofs}\r\n`,
    ]);
    assert.match(text, /^HTTP\/1.1 401 /);
    assert.match(text, /invalid_dpop_proof/);
  });

  test('takes htu as RFC 3986 normalizes it, and ignores its query and fragment (RFC 9449 4.3 (9))', async () => {
    for (const htu of [
      `HTTP://LOCALHOST:80${account}`,
      `${issuer}${account}?a=1`,
      `${issuer}${account}#part`,
      `${issuer}/x/..${account}`,
    ]) {
      const reply = await read(token, key.proof({ claims: { ...accountClaims(token), htu } }));
      assert.equal(reply.status, 200, htu);
    }
  });

  test('removes proofs that no process accepts any more, and no others', async () => {
    const count = async () =>
      Number((await service.db.superuser<{ n: string }>('select count(*) as n from dpop_proofs'))[0]?.n);
    const { auth } = service.service.context;
    const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
      `select institution_id from institutions where code = 'lakeside'`,
    );
    const { runAuthMaintenance } = await import('../../src/auth/index.ts');
    const run = () => runAuthMaintenance(auth, row?.institution_id as InstitutionId);
    await boundToken();
    await run();
    assert.ok((await count()) > 0);
    now += 10 * 60_000;
    await run();
    assert.equal(await count(), 0);
  });
});
