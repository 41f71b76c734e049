import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { test } from 'node:test';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { ConfigError, loadConfig } from '../../src/app/config.ts';
import { openAppContext } from '../../src/app/context.ts';
import { migrate, refuseUnverifiedUrl } from '../../src/storage/index.ts';
import { testSecretKey } from '../support/secret-key.ts';

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url));
const refusal = /^DATABASE_URL leads to another machine and does not verify it\. Add sslmode=verify-full/;

const local = [
  'postgres://app@localhost/bank',
  'postgres://app@LOCALHOST:5433/bank',
  'postgres://app@127.0.0.1/bank',
  'postgres://app@127.8.9.10/bank',
  'postgres://app@[::1]:5432/bank',
  'postgres://app@/bank?host=/run/postgresql',
  'postgres://app@localhost/bank?host=%2Frun%2Fpostgresql',
  'postgres://app@db.example/bank?host=/run/postgresql',
  'postgres://app@%2Frun%2Fpostgresql/bank',
  'postgres://app@localhost:5432,127.0.0.1:5433/bank',
];
for (const url of local) {
  test(`requires no TLS on this machine: ${url}`, () => refuseUnverifiedUrl(url, 'DATABASE_URL'));
}

const unverified = [
  'postgres://app@db.example/bank',
  'postgresql://app@10.0.0.5:5432/bank',
  'postgres://app@db.example/bank?sslmode=disable',
  'postgres://app@db.example/bank?sslmode=no-verify',
  'postgres://app@db.example/bank?ssl=0',
  'postgres://app@db.example/bank?uselibpqcompat=true&sslmode=require',
  'postgres://app@db.example/bank?uselibpqcompat=true&sslmode=prefer',
  `postgres://app@db.example/bank?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${fixture('localhost.pem')}`,
  'postgres://app@localhost/bank?host=db.example',
  'postgres://app@localhost/bank?host=/run/postgresql,db.example',
  'postgres://app@127.0.0.1.example/bank',
  'postgres://app@localhost.example/bank',
  'postgres://app@0.0.0.0/bank',
  'postgres://app@localhost:5432,db.example:5432/bank',
  'postgres://app:p%40ss@db-1.example:5432,db-2.example:5432/bank?target_session_attrs=read-write',
];
for (const url of unverified) {
  test(`refuses another machine without verified TLS: ${url}`, () => {
    assert.throws(() => refuseUnverifiedUrl(url, 'DATABASE_URL'), {
      name: 'DatabaseStartError',
      message: refusal,
    });
  });
}

const verified = [
  'postgres://app@db.example/bank?sslmode=verify-full',
  'postgres://app@db.example/bank?ssl=true',
  'postgres://app@db.example/bank?uselibpqcompat=true&sslmode=verify-full',
  `postgres://app@db.example/bank?sslmode=verify-full&sslrootcert=${fixture('localhost.pem')}`,
  'postgres://app@db-1.example:5432,db-2.example:5432/bank?sslmode=verify-full',
];
for (const url of verified) {
  test(`accepts another machine with verified TLS: ${url}`, () => refuseUnverifiedUrl(url, 'DATABASE_URL'));
}

test('names a certificate file that cannot be read, and repeats no password', () => {
  const url = 'postgres://app:secret@db.example/bank?sslmode=verify-full&sslrootcert=/nowhere/ca.pem';
  assert.throws(() => refuseUnverifiedUrl(url, 'DATABASE_URL'), {
    name: 'DatabaseStartError',
    message: 'DATABASE_URL cannot be used: /nowhere/ca.pem cannot be read (ENOENT)',
  });
});

test('requires the same TLS for the URL that migrates, before anything is sent, unless a setting allows less', async () => {
  const remote = 'postgres://app@db.invalid/bank';
  const open = (environment: Record<string, string>) => {
    const { config, secrets } = loadConfig({ SECRET_KEY: testSecretKey, ...environment });
    return openAppContext(config, secrets, 'borrow', () => {});
  };
  await assert.rejects(open({ DATABASE_URL: remote }), { message: refusal });
  await assert.rejects(open({ DATABASE_URL: local[0] as string, MIGRATION_DATABASE_URL: remote }), {
    message: /^MIGRATION_DATABASE_URL leads to another machine/,
  });
  await assert.rejects(open({ DATABASE_URL: remote, ALLOW_UNVERIFIED_DATABASE: 'true' }), {
    message: /cannot be reached: .*db\.invalid/,
  });
});

test('refuses to start if Node is set to verify no certificate', () => {
  const environment = {
    DATABASE_URL: verified[0],
    SECRET_KEY: testSecretKey,
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  };
  assert.throws(
    () => loadConfig(environment),
    (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /^NODE_TLS_REJECT_UNAUTHORIZED: expected not to be 0/);
      return true;
    },
  );
  loadConfig({ ...environment, ALLOW_UNVERIFIED_DATABASE: 'true' });
});

/** A server with this TLS certificate; resolves with the first bytes that it could read. */
async function tlsServer(name: string) {
  const { promise: read, resolve } = Promise.withResolvers<string>();
  const server = net.createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write('S');
      const secured = new tls.TLSSocket(socket, {
        isServer: true,
        key: readFileSync(fixture(`${name}.key.pem`)),
        cert: readFileSync(fixture(`${name}.pem`)),
      });
      secured.on('error', () => {});
      secured.once('data', (bytes: Buffer) => {
        resolve(bytes.toString('latin1'));
        secured.destroy();
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return { port, read, [Symbol.asyncDispose]: async () => void server.close() };
}

for (const [what, name, root, reason] of [
  ['an unknown authority', 'localhost', undefined, /self-signed certificate/],
  ['another name', 'db.example', 'db.example.pem', /altnames|does not match/],
] as const) {
  test(`sends neither login nor password to a server with a certificate of ${what}`, async () => {
    await using server = await tlsServer(name);
    const authority = root === undefined ? '' : `&sslrootcert=${fixture(root)}`;
    const url = `postgres://app:secret@localhost:${server.port}/bank?sslmode=verify-full${authority}`;
    await assert.rejects(migrate(url), { name: 'DatabaseStartError', message: reason });
    assert.equal(await Promise.race([server.read, Promise.resolve('nothing')]), 'nothing');
  });
}

test('trusts the authority of the URL for the name in the URL', async () => {
  await using server = await tlsServer('localhost');
  const authority = `sslrootcert=${fixture('localhost.pem')}`;
  const url = `postgres://app:secret@localhost:${server.port}/bank?sslmode=verify-full&${authority}`;
  await assert.rejects(migrate(url), { name: 'DatabaseStartError', message: /cannot be reached/ });
  assert.match(await server.read, /user\0app\0/);
});
