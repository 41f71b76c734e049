import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import {
  addClientKey,
  addProvider,
  createClient,
  readJwks,
  readPublicKey,
  reissueActivation,
  retireSecrets,
  rotateSecret,
  type Scope,
  setPassword,
  setStanding,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { Client } from '../support/client.ts';
import { paths } from '../support/demo.ts';
import { institutionOf, jwtBearer, saml2Bearer } from '../support/identity.ts';
import { signJws } from '../support/jws.ts';
import { addressOf, exitOf, type Launched, launch } from '../support/processes.ts';
import { anAssertion, samlIssuer, signAssertion, toParameter } from '../support/saml.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signInWithoutPages } from '../support/sign-in.ts';

/**
 * Every kind of secret goes through a process with full logging; then its output and every row of the database are
 * searched for them. Each operation must also leave its audit entry.
 */

const issuer = 'http://sharedraft.test';
const secretKey = '0f'.repeat(32);
const clientKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const providerKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const samlKey = generateKeyPairSync('rsa', { modulusLength: 2048 });

let beside: TestService;
let process: Launched;
let client: Client;
before(async () => {
  beside = await startTestService({ environment: { SECRET_KEY: secretKey } });
  process = launch([globalThis.process.execPath, 'src/main.ts', 'serve'], {
    DATABASE_URL: beside.db.url,
    SECRET_KEY: secretKey,
    LOG_LEVEL: 'trace',
    ALLOW_DEMO_ANYWHERE: 'true',
    FAILED_LOGIN_PAUSE_MILLIS: '0',
  });
  client = new Client(await addressOf(process));
});
after(async () => {
  process.child.kill('SIGKILL');
  await exitOf(process.child);
  await beside.close();
});

const secrets = new Map<string, string>();
/** Records a secret and returns it. */
function kept(what: string, secret: string): string {
  secrets.set(secret, what);
  return secret;
}
const invented = (what: string) => kept(what, `invented-${randomUUID()}`);

async function ask(path: string, json: object, expected: number): Promise<Record<string, string>> {
  const reply = await client.post(path, { json });
  assert.equal(reply.status, expected, reply.text);
  return reply.body;
}

/** Requests a token and records its parts. */
async function granted(what: string, json: object): Promise<{ access_token: string; refresh_token: string }> {
  const body = await ask(paths.token, json, 200);
  const { access_token = '', refresh_token = '' } = body;
  kept(`the access token of ${what}`, access_token);
  if (refresh_token !== '') kept(`the refresh token of ${what}`, refresh_token);
  return { access_token, refresh_token };
}

test('no log line and no row contains a secret of any kind after any operation', async () => {
  const { auth } = beside.service.context;
  const { institutionId, ...lakeside } = await institutionOf(beside, 'lakeside');
  const institution = { ...lakeside, institutionId };
  const scopes: Scope[] = ['account:read', 'events:read', 'institution-users:write', 'offline_access'];
  const origin = ownOrigin();

  // An operator registers a client, gives it a second secret and a key, and a member a password.
  const clientId = 'secretive';
  const grants = [
    'authorization_code',
    'client_credentials',
    'password',
    'refresh_token',
    jwtBearer,
    saml2Bearer,
  ];
  const created = await createClient(
    auth,
    {
      ...{ institutionId, clientId, name: clientId, scopes, grants },
      ...{ isFirstParty: true, redirectUris: ['https://app.example/'] },
    },
    origin,
  );
  const first = kept('the first client secret', created?.secret ?? '');
  const rotated = await rotateSecret(auth, institutionId, { clientId, overlapMillis: 3_600_000, origin });
  const second = kept('the second client secret', typeof rotated === 'object' ? rotated.secret : '');
  const pem = clientKey.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  await addClientKey(auth, institutionId, { clientId, key: await readPublicKey(pem), origin });
  const password = invented('the password');
  assert.ok(await setPassword(auth, institution.institutionId, { name: 'wren.many', password, origin }));
  const app = { client_id: clientId, client_secret: second };

  // Clients authenticate, and fail to.
  const forClient = { grant_type: 'client_credentials', scope: 'account:read' };
  const { access_token: clientToken } = await granted('the client', { ...forClient, ...app });
  await granted('the client, by its first secret', {
    ...forClient,
    client_id: clientId,
    client_secret: first,
  });
  await ask(
    paths.token,
    { ...forClient, client_id: clientId, client_secret: invented('a wrong client secret') },
    401,
  );
  const pasted = invented('a secret pasted as the client id');
  await ask(
    paths.token,
    { ...forClient, client_id: pasted, client_secret: invented('a secret beside') },
    401,
  );
  await ask(paths.token, { ...app, ...forClient, scope: invented('a secret pasted as the scope') }, 400);
  const inQuery = `?client_secret=${invented('a secret in the query')}&access_token=${invented('a token in the query')}`;
  await client.post(`${paths.token}${inQuery}`, { json: { ...forClient, ...app } });
  await client.get(`${paths.accounts}${inQuery}`);
  const basic = Buffer.from(`${clientId}:${invented('a wrong secret in Basic')}`).toString('base64');
  const headers = { authorization: `Basic ${kept('the header Basic', basic)}` };
  assert.equal((await client.post(paths.token, { json: forClient, headers })).status, 401);
  const assertion = kept('the client assertion', clientAssertion(clientId));
  const asserted = {
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: assertion,
  };
  await granted('the client, by its assertion', { ...forClient, ...asserted });
  await ask(paths.token, { ...forClient, ...asserted }, 401);

  // A member logs in, refreshes, and has a token stolen.
  const member = {
    ...app,
    grant_type: 'password',
    username: 'wren.many',
    password,
    scope: 'account:read offline_access',
  };
  const login = await granted('the member', member);
  await ask(paths.token, { ...member, password: invented('a wrong password') }, 400);
  await ask(paths.token, { ...member, username: invented('a password typed as the username') }, 400);
  const renewal = { ...app, grant_type: 'refresh_token' };
  const renewed = await granted('the renewed login', { ...renewal, refresh_token: login.refresh_token });
  const again = await granted('it, once more', { ...renewal, refresh_token: renewed.refresh_token });
  await ask(paths.token, { ...renewal, refresh_token: login.refresh_token }, 400);
  await ask(paths.token, { ...renewal, refresh_token: again.refresh_token }, 400);
  await ask(paths.token, { ...renewal, refresh_token: invented('a made-up refresh token') }, 400);

  // Tokens are used, introspected and revoked, malformed ones too.
  const another = await granted('another login', member);
  for (const token of [
    clientToken,
    another.access_token,
    another.refresh_token,
    invented('no token at all'),
  ]) {
    await client.get(paths.accounts, { token });
    await ask(paths.introspect, { ...app, token }, 200);
    await ask(paths.revoke, { ...app, token }, 200);
  }
  const cut = kept('a token without its end', clientToken.slice(0, -30));
  assert.equal((await client.get(paths.accounts, { token: cut })).status, 401);

  // Providers assert a member.
  const base = { audience: issuer, userIdType: 'USER_ID', scopes: ['account:read'], active: true } as const;
  const jwk = { ...providerKey.publicKey.export({ format: 'jwk' }), kid: 'p' };
  const jwtProvider = { ...base, providerId: 'web', kind: 'jwt', issuer: 'https://idp.example' } as const;
  await addProvider(auth, institutionId, {
    provider: {
      ...jwtProvider,
      subjectFrom: 'sub',
      resourceTokens: true,
      tokenType: 'at+jwt',
      keys: readJwks(JSON.stringify(jwk)),
    },
    origin,
  });
  const samlJwk = samlKey.publicKey.export({ format: 'jwk' }) as { kty: string; n: string; e: string };
  const format = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
  await addProvider(auth, institutionId, {
    provider: {
      ...base,
      providerId: 'saml',
      kind: 'saml',
      issuer: samlIssuer,
      subjectFrom: format,
      resourceTokens: false,
      tokenType: 'at+jwt',
      keys: [{ ...samlJwk, kid: 's' }],
    },
    origin,
  });
  const jwt = kept('the provider’s assertion', providerJwt('JWT'));
  await granted('an asserted member', {
    ...app,
    grant_type: jwtBearer,
    assertion: jwt,
    scope: 'account:read',
  });
  await ask(paths.token, { ...app, grant_type: jwtBearer, assertion: jwt }, 400);
  const saml = kept(
    'the SAML assertion',
    toParameter(signAssertion(anAssertion(new Date()), samlKey.privateKey)),
  );
  await granted('a member by SAML', {
    ...app,
    grant_type: saml2Bearer,
    assertion: saml,
    scope: 'account:read',
  });
  await ask(paths.token, { ...app, grant_type: saml2Bearer, assertion: saml }, 400);
  const foreign = kept('the provider’s access token', providerJwt('at+jwt'));
  assert.equal((await client.get(paths.accounts, { token: foreign })).status, 200);

  // A newcomer is registered and activated, once with a wrong code and once with a bad password.
  const staff = { ...app, grant_type: 'client_credentials', scope: 'institution-users:write events:read' };
  const { access_token: token } = await granted('the staff', staff);
  const newcomer = { memberNumber: '900777', email: 'newcomer@example.test' };
  const registered = await client.post(paths.register, { token, json: newcomer });
  assert.equal(registered.status, 201, registered.text);
  const [event] = await beside.db.superuser<{ id: string }>(
    `select concat_ws('-', epoch, xid, event_key) as id from outbox where secret is not null`,
  );
  const handover = `/digitalbanking/db-events/v1/events/${event?.id}/activation-code`;
  const handed = await client.get(handover, { token });
  assert.equal(handed.status, 200, handed.text);
  const handedCode = kept('the activation code handed over', handed.body.activationCode);
  kept('it, without its selector', handedCode.split('-')[1] ?? '');
  assert.equal((await client.post(`${handover}/delivered`, { token })).status, 200);
  const issued = await reissueActivation(auth, institutionId, { name: registered.body.userId, origin });
  const activationCode = kept('the activation code', issued?.code ?? '');
  kept('the code without its selector', activationCode.split('-')[1] ?? '');
  const wrongCode = kept('a wrong activation code', `${activationCode.slice(0, -3)}000`);
  const chosen = invented('the chosen password');
  for (const [code, secret, expected] of [
    [wrongCode, chosen, 422],
    [activationCode, kept('a password that is refused', `the.newcomer-${randomUUID()}`), 422],
    [activationCode, chosen, 201],
  ] as const) {
    const json = { activationCode: code, username: 'the.newcomer', password: secret };
    const reply = await client.post(paths.activate, { token, json });
    assert.equal(reply.status, expected, reply.text);
  }

  // A sign-in on our page, whose code is stolen afterwards.
  const page = { clientId, redirectUri: 'https://app.example/', scope: 'account:read offline_access' };
  const entered = await signInWithoutPages(auth, page, {
    username: member.username,
    password: member.password,
  });
  const proof = {
    code: kept('the code', entered.code),
    code_verifier: kept('the verifier of the code', entered.verifier),
  };
  kept('the cookie of the browser', entered.browserSecret);
  kept('the cookie of the session', entered.sessionSecret);
  await granted('the member, by a code', { grant_type: 'authorization_code', ...app, ...proof });
  await ask(paths.token, { grant_type: 'authorization_code', ...app, ...proof }, 400);

  // The end of sessions.
  for (const lockedByOperator of [true, false])
    await setStanding(auth, institutionId, { name: 'wren.many', lockedByOperator, origin });
  for (let tries = 0; tries < 5; tries += 1) {
    await ask(paths.token, { ...member, username: 'sage.card', password: invented('a guess') }, 400);
  }
  await retireSecrets(auth, institutionId, { clientId, which: 'older', origin });
  await auth.keys.rotate('now', origin);
  kept('the key that seals', secretKey);
  const { d = '' } = (await auth.keys.signer()).privateKey.export({ format: 'jwk' });
  kept('the private part of the signing key', d);

  await auth.audit.settle();
  process.child.kill('SIGTERM');
  assert.equal(await exitOf(process.child), 0, process.output());

  const output = process.output();
  assert.ok(output.split('"answered"').length > 40, 'the log tells of each request');
  const rows = await everyRow();
  const audit = rows.filter(({ table }) => table === 'audit_entries');
  for (const [secret, what] of secrets) {
    assert.ok(secret.length >= 20, what);
    // A secret can appear as text, or in hex, as PostgreSQL prints bytes.
    const bytes = [Buffer.from(secret), Buffer.from(secret, 'base64url'), Buffer.from(secret, 'hex')];
    const forms = [secret, ...bytes.filter(({ length }) => length >= 12).map((one) => one.toString('hex'))];
    for (const form of forms) {
      assert.ok(!output.includes(form), `${what} is in the log`);
      const found = rows.find(({ row }) => row.includes(form));
      assert.equal(found?.table, undefined, `${what} is in the table ${found?.table}`);
    }
  }

  const done = new Set(
    audit.map(({ row }) => row.replace(/^\([^,]*,[^,]*,[^,]*,([^,]*),([^,]*),.*$/, '$1 $2')),
  );
  assert.deepEqual([...done].toSorted(), [
    'alert.preferences_changed succeeded',
    'authorization.granted succeeded',
    'client.created succeeded',
    'client.key_added succeeded',
    'client.secret_added succeeded',
    'client.secret_removed succeeded',
    'client_token refused',
    'client_token succeeded',
    'import.finished succeeded',
    'import.started succeeded',
    'institution.changed succeeded',
    'key.created succeeded',
    'login refused',
    'login succeeded',
    'provider.added succeeded',
    'token.revoked succeeded',
    'token_request refused',
    'transfer.rules_changed succeeded',
    'user.activated refused',
    'user.activated succeeded',
    'user.activation_code_delivered succeeded',
    'user.activation_code_issued succeeded',
    'user.activation_code_read succeeded',
    'user.locked succeeded',
    'user.password_set succeeded',
    'user.registered succeeded',
    'user.unlocked succeeded',
  ]);
});

function clientAssertion(clientId: string): string {
  const exp = Math.floor(Date.now() / 1_000) + 60;
  const claims = { iss: clientId, sub: clientId, aud: issuer, jti: randomUUID(), exp };
  return signJws({ alg: 'ES256' }, claims, clientKey.privateKey);
}

function providerJwt(typ: string): string {
  const iat = Math.floor(Date.now() / 1_000);
  const claims = { iss: 'https://idp.example', sub: 'u-demo-member', aud: issuer, iat, exp: iat + 120 };
  const more = { jti: randomUUID(), client_id: 'web', scope: 'account:read' };
  return signJws({ alg: 'ES256', typ, kid: 'p' }, { ...claims, ...more }, providerKey.privateKey);
}

/** Every row of every table, as text. */
async function everyRow(): Promise<{ table: string; row: string }[]> {
  const tables = await beside.db.superuser<{ table: string }>(
    `select table_schema || '.' || table_name as table from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const all = tables.map(async ({ table }) => {
    const rows = await beside.db.superuser<{ row: string }>(`select t::text as row from ${table} t`);
    return rows.map(({ row }) => ({ table: table.replace('public.', ''), row }));
  });
  return (await Promise.all(all)).flat();
}
