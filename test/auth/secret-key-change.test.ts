import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { examine } from '../../src/app/doctor/examine.ts';
import { Vault } from '../../src/auth/index.ts';
import { openSecret, sealSecret } from '../../src/auth/second-factor/sealed-secret.ts';
import { resealSecrets } from '../../src/operators/index.ts';
import { newSigningKey } from '../../src/webhooks/https/signature.ts';
import { memberOf, paths, send } from '../support/demo.ts';
import { eventually } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* SECRET_KEY is changed while services run: both keys at first, then the new one seals, then everything is sealed anew. */

const origin = { transactionId: 'test', address: null };
const root = fileURLToPath(new URL('../..', import.meta.url));
const [oldKey, newKey] = ['11'.repeat(32), '22'.repeat(32)];
const onlyOld = { SECRET_KEY: oldKey };
const onlyNew = { SECRET_KEY: newKey };
const oldSeals = { SECRET_KEY: oldKey, SECRET_KEY_OTHER: newKey };
const newSeals = { SECRET_KEY: newKey, SECRET_KEY_OTHER: oldKey };

const authenticators = {
  lakeside: 'b53d5d6e-52d9-4b0c-8ba0-3f3a5bb9f001',
  harbor: 'b53d5d6e-52d9-4b0c-8ba0-3f3a5bb9f002',
};
let service: TestService;
before(async () => {
  service = await startTestService({ environment: onlyOld });
});
after(() => service.close());

const beside = (environment: Record<string, string>) => startTestService({ beside: service, environment });

async function refresh(at: TestService, refreshToken: string): Promise<string> {
  const body = {
    grant_type: 'refresh_token',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    refresh_token: refreshToken,
  };
  const answer = await send(at.address, 'POST', paths.token, { body });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.refresh_token;
}

async function login(at: TestService): Promise<{ readonly access: string; readonly refresh: string }> {
  const body = {
    grant_type: 'password',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    username: 'demo.member',
    password: 'demo-member-password',
    scope: 'account:read offline_access',
  };
  const answer = await send(at.address, 'POST', paths.token, { body });
  assert.equal(answer.status, 200, answer.text);
  return { access: answer.body.access_token, refresh: answer.body.refresh_token };
}

async function accountsWith(at: TestService, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await send(at.address, 'GET', paths.accounts, { headers })).status;
}

function command(environment: Record<string, string>, ...words: string[]) {
  return spawn(process.execPath, ['src/main.ts', ...words], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      PUBLIC_URL: 'http://sharedraft.test',
      DATABASE_URL: service.db.url,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

async function run(environment: Record<string, string>, ...words: string[]): Promise<string> {
  const child = command(environment, ...words);
  return (await Promise.all([text(child.stdout), text(child.stderr)])).join('');
}

/** The verdict of `doctor` on the second key. */
async function otherKey(): Promise<string> {
  const environment = { PUBLIC_URL: 'http://sharedraft.test', DATABASE_URL: service.db.url, ...newSeals };
  for await (const { check, verdict, detail } of examine(environment))
    if (check === 'SECRET_KEY_OTHER') return `${verdict} ${detail}`;
  return assert.fail('no verdict');
}

/** Webhooks of before: 350 keys, more than three batches. */
async function addWebhooks(): Promise<void> {
  const vault = new Vault(Buffer.from(oldKey, 'hex'));
  const { secret, privateKey, publicKey } = newSigningKey();
  const [sealedSecret, sealedPrivateKey] = [
    vault.seal('webhook secret', secret),
    vault.seal('webhook private key', privateKey),
  ];
  await service.db.superuser(
    `with bank as (select institution_id from institutions where code = 'lakeside'),
     added as (
       insert into webhook_endpoints (institution_id, endpoint_id, client_id, url, payload, ordering, status, status_reason,
                                      created_at, epoch, xid, event_key, number)
       select institution_id, gen_random_uuid(), 'demo-app', 'https://hooks.example/' || n, 'FULL', 'STRICT', 'PAUSED', 'client',
              now(), 0, '0', 0, 0
       from bank, generate_series(1, 350) n returning institution_id, endpoint_id)
     insert into webhook_keys (institution_id, endpoint_id, slot, sealed_secret, sealed_private_key, public_key, created_at)
     select institution_id, endpoint_id, 1, $1, $2, $3, now() from added`,
    [Buffer.from(sealedSecret), Buffer.from(sealedPrivateKey), publicKey],
  );
}

async function addScreening(): Promise<void> {
  const vault = new Vault(Buffer.from(oldKey, 'hex'));
  await service.db.superuser(
    `insert into screening_hooks (institution_id, url, from_amount, timeout_millis, on_silence, hold_seconds, sealed_secret)
     select institution_id, 'https://fraud.example/', 100000000, 1000, 'HOLD', 60, $1 from institutions where code = 'lakeside'`,
    [Buffer.from(vault.seal('screening secret', Buffer.alloc(32, 7)))],
  );
}

/** Authenticator apps of before: one in each of two institutions. */
async function addAuthenticators(): Promise<void> {
  const vault = new Vault(Buffer.from(oldKey, 'hex'));
  for (const [code, id] of Object.entries(authenticators))
    await service.db.superuser(
      `insert into authenticators (institution_id, user_key, authenticator_id, name, sealed_secret, last_step, created_at)
       select u.institution_id, min(u.user_key), $1, 'Phone', $2, 1, now()
       from users u join institutions i using (institution_id) where i.code = $3 and u.username <> 'demo.member'
       group by u.institution_id`,
      [id, Buffer.from(sealSecret(vault, id, Buffer.alloc(20, 9))), code],
    );
}

async function authenticatorsUnder(key: string): Promise<number> {
  const vault = new Vault(Buffer.from(key, 'hex'));
  const rows = await service.db.superuser<{ id: string; sealed: Uint8Array }>(
    'select authenticator_id as id, sealed_secret as sealed from authenticators',
  );
  return rows.filter(
    ({ id, sealed }) => openSecret(vault, { authenticatorId: id, sealedSecret: sealed })?.[0] === 9,
  ).length;
}

async function screeningSecretUnder(key: string): Promise<Buffer> {
  const [row] = await service.db.superuser<{ sealed: Uint8Array }>(
    'select sealed_secret as sealed from screening_hooks',
  );
  assert.ok(row !== undefined);
  return Buffer.from(new Vault(Buffer.from(key, 'hex')).open('screening secret', row.sealed));
}

async function webhooksUnder(key: string): Promise<number> {
  const rows = await service.db.superuser<{ sealed: Uint8Array }>(
    'select sealed_secret as sealed from webhook_keys',
  );
  const vault = new Vault(Buffer.from(key, 'hex'));
  return rows.filter(({ sealed }) => {
    try {
      return vault.open('webhook secret', sealed).length === 32;
    } catch {
      return false;
    }
  }).length;
}

const entries = () =>
  service.db.superuser<{ after: Record<string, number> }>(
    `select after_change as after from audit_entries where action = 'secret_key.resealed' order by audit_key`,
  );

test('a change of SECRET_KEY loses no token, secret or webhook, also if the command is killed', async () => {
  await addWebhooks();
  await addScreening();
  await addAuthenticators();
  const member = await login(service);

  // First every process learns the next key; then, one after the other, they seal under it.
  await using first = await beside(oldSeals);
  await using second = await beside(newSeals);
  for (const at of [service, first, second]) assert.equal(await accountsWith(at, member.access), 200);
  // A key that is made now is sealed under the new SECRET_KEY, and the processes of before open it.
  await second.service.context.auth.keys.rotate('now', origin);
  assert.equal(await accountsWith(first, (await login(first)).access), 200);
  const refreshed = await refresh(second, await refresh(first, member.refresh));

  assert.match(await otherKey(), /^warning \d+ keys are sealed under it/);
  const child = command(newSeals, 'keys', 'reseal');
  await eventually('a batch', async () => (await entries()).length >= 2 || child.exitCode !== null);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('close', resolve));
  assert.match(await run(newSeals, 'keys', 'reseal'), /SECRET_KEY/);
  assert.deepEqual([await webhooksUnder(newKey), await webhooksUnder(oldKey)], [350, 0]);
  assert.deepEqual([await authenticatorsUnder(newKey), await authenticatorsUnder(oldKey)], [2, 0]);
  assert.deepEqual(await screeningSecretUnder(newKey), Buffer.alloc(32, 7));
  const sums = (await entries()).reduce((sum, { after: { webhookKeys = 0 } }) => sum + webhookKeys, 0);
  assert.equal(sums, 350, 'each key once, in the entry of its batch');
  assert.equal((await resealSecrets(second.service.context.auth, origin)).keys, 0);
  assert.match(await otherKey(), /^ok (Nothing is sealed under it|Needed until)/);

  await using third = await beside(onlyNew);
  assert.equal(await accountsWith(third, member.access), 200);
  assert.equal(await accountsWith(third, (await login(third)).access), 200, 'the secret of the client fits');
  await refresh(third, refreshed);
});

test('the key before opens nothing any more', async () => {
  await assert.rejects(beside(onlyOld), /^ServiceStartError: SECRET_KEY is not the one/);
  const sealed = await service.db.superuser<{ kid: string; key: Uint8Array }>(
    `select 'signing key ' || kid as kid, sealed_private_key as key from signing_keys where sealed_private_key is not null
     union all select 'audit key ' || key_id, sealed_private_key from audit_keys
     union all select 'hashing key', sealed_key from hashing_key`,
  );
  assert.ok(sealed.length >= 2);
  const vault = new Vault(Buffer.from(oldKey, 'hex'));
  for (const { kid, key } of sealed) assert.throws(() => vault.open(kid, key), { name: 'DecryptionError' });
});

test('a service with only the new key is refused until everything is sealed under it', async () => {
  await using other = await startTestService({ environment: onlyOld });
  const next = { beside: other, environment: newSeals };
  await (await startTestService({ beside: other, environment: oldSeals })).close();
  await using both = await startTestService(next);
  // The new key signs; the key of stored hashes is under the old one yet.
  await both.service.context.auth.keys.rotate('compromised', origin);
  await assert.rejects(
    startTestService({ beside: other, environment: onlyNew }),
    /its key of stored hashes cannot be opened/,
  );
});

test('new keys and secrets restore the service after the loss of a key that was changed before', async () => {
  const lost = { SECRET_KEY: '33'.repeat(32) };
  await assert.rejects(beside(lost), /^ServiceStartError: SECRET_KEY is not the one/);
  assert.match(await run(lost, 'keys', 'rotate', '--compromised', '--yes'), /The next key is created/);
  const renewed = await run(lost, 'client', 'rotate-secret', 'demo-app', '--institution', 'lakeside');
  const secret = /[A-Za-z0-9_-]{43}/.exec(renewed)?.[0] ?? assert.fail(renewed);
  await using back = await beside(lost);
  const member = await memberOf(back, 'demo.member', 'demo-member-password', ['demo-app', secret]);
  assert.equal((await member.get(paths.accounts)).status, 200);
});
