import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { chmod, chown, lchown, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { oneUrlPerHost } from '../shared/text/database-urls.ts';
import { ConfigError, loadConfig, readEnvironment } from './config.ts';
import { keyEncryptionKey } from './secret-key.ts';

test('serves the demo on loopback from the embedded database without any setting', () => {
  const { config, secrets } = loadConfig({});
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.port, 8080);
  assert.equal(config.publicUrl, 'http://127.0.0.1:8080');
  assert.equal(config.databaseUrl, undefined);
  assert.equal(config.accessTokenLifetimeSeconds, 1800);
  assert.equal(secrets.keyEncryptionKey, undefined);
});

test('names every wrong setting at once, with the expected form and without the value', () => {
  const wrong = {
    HOST: 'no spaces please',
    PORT: '70000',
    DATABASE_URL: 'mysql://root:hunter2@db/x',
    PUBLIC_URL: 'https://bank.example/path',
    LOG_LEVEL: 'loud',
    SECRET_KEY: 'hunter2',
    CORS_ORIGINS: 'https://a.example/,b',
    ACCESS_TOKEN_LIFETIME_SECONDS: '59',
    ALLOW_DEMO_ANYWHERE: 'yes',
  };
  assert.throws(
    () => loadConfig(wrong),
    (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      for (const name of Object.keys(wrong))
        assert.match(error.message, new RegExp(`^${name}: expected `, 'm'));
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    },
  );
});

test('divides request rates among workers, and rejects more workers than the database has connections for', () => {
  const rates = { TOKENS_PER_MINUTE: '100', REGISTRATIONS_PER_MINUTE: '2' };
  const { config } = loadConfig({ ...rates, WORKERS: '4' });
  assert.equal(config.workers, 4);
  assert.equal(config.tokensPerMinute, 25);
  assert.equal(config.registrationsPerMinute, 1);
  assert.equal(loadConfig(rates).config.tokensPerMinute, 100);
  assert.throws(() => loadConfig({ WORKERS: '9' }), /DATABASE_CONNECTIONS: expected fewer, or fewer WORKERS/);
  assert.doesNotThrow(() => loadConfig({ WORKERS: '9', DATABASE_CONNECTIONS: '4' }));
  const external = { DATABASE_URL: 'postgres://service@db.example/bank', SECRET_KEY: 'ab'.repeat(32) };
  assert.doesNotThrow(() => loadConfig({ ...external, WORKERS: '10' }));
});

test('requires the operator’s SECRET_KEY for an external database', () => {
  const url = { DATABASE_URL: 'postgres://service@db.example/bank' };
  assert.throws(() => loadConfig(url), /SECRET_KEY: expected beside DATABASE_URL/);
  const { secrets } = loadConfig({ ...url, SECRET_KEY: 'ab'.repeat(32) });
  assert.equal(secrets.keyEncryptionKey?.length, 32);
});

test('creates the key of the embedded database once, readable by its owner alone', async () => {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-config-'));
  try {
    const { config, secrets } = loadConfig({ DATA_DIR: dataDir });
    const keys = await Promise.all([1, 2, 3].map(() => keyEncryptionKey(config, secrets)));
    assert.deepEqual(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size, 1);
    const file = path.join(dataDir, 'secret.key');
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    for (const mode of [0o640, 0o604, 0o620]) {
      await chmod(file, mode);
      const message = new RegExp(`secret\\.key: .*chmod 600.*\\(${mode.toString(8)}\\)`);
      await assert.rejects(keyEncryptionKey(config, secrets), message);
    }
    await chmod(file, 0o400);
    assert.deepEqual(await keyEncryptionKey(config, secrets), keys[0]);
    await chmod(file, 0o600);
    // Only root can give a file away; any other user gets the refusal that the file is not theirs.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) await chown(file, 65_534, 65_534);
    await assert.rejects(
      keyEncryptionKey(config, secrets, isRoot ? 0 : (process.geteuid?.() ?? 0) + 1),
      /secret\.key: expected a file of the user that runs this .* belongs to user \d+/,
    );
    if (isRoot) {
      assert.deepEqual(await keyEncryptionKey(config, secrets, 65_534), keys[0]);
      await chown(file, 0, 0);
      assert.deepEqual(await keyEncryptionKey(config, secrets, 65_534), keys[0], 'root may keep it for all');
    }
    await writeFile(file, 'half a key');
    await assert.rejects(keyEncryptionKey(config, secrets), /the file is damaged/);
    await rm(file);
    await symlink('secret.key', file);
    await assert.rejects(keyEncryptionKey(config, secrets), /secret\.key: cannot be read \(ELOOP\)/);
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test('accepts a database URL with several hosts, each of them well formed', () => {
  const urlOf = (DATABASE_URL: string) =>
    loadConfig({ DATABASE_URL, SECRET_KEY: '0f'.repeat(32) }).config.databaseUrl;
  const several = 'postgres://bank_app:p%40ss@db1:5432,db2:5433/bank?sslmode=verify-full';
  assert.equal(urlOf(several), several);
  assert.deepEqual(oneUrlPerHost(several), [
    'postgres://bank_app:p%40ss@db1:5432/bank?sslmode=verify-full',
    'postgres://bank_app:p%40ss@db2:5433/bank?sslmode=verify-full',
  ]);
  const folders = 'postgresql://app@localhost/bank?host=%2Frun%2Fone%2C%2Frun%2Ftwo&connect_timeout=2';
  assert.deepEqual(oneUrlPerHost(folders), [
    'postgresql://app@localhost/bank?host=%2Frun%2Fone&connect_timeout=2',
    'postgresql://app@localhost/bank?host=%2Frun%2Ftwo&connect_timeout=2',
  ]);
  assert.deepEqual(oneUrlPerHost('postgres://app@[::1]:5432/bank'), ['postgres://app@[::1]:5432/bank']);
  assert.throws(() => urlOf('postgres://db1:5432,db 2:x/bank'), ConfigError);
});

test('reads no .env that belongs to another user or is a link of another user', {
  skip: process.getuid?.() !== 0 && 'only root can make files of another user',
}, async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-env-'));
  const file = path.join(folder, '.env');
  await writeFile(file, 'LOG_LEVEL=warn\n');
  assert.equal((await readEnvironment(file)).LOG_LEVEL, process.env.LOG_LEVEL ?? 'warn');
  const refused = { name: 'ConfigError', message: /belongs to user 65533/ };
  await chown(file, 65_533, 65_533);
  await assert.rejects(readEnvironment(file), refused);
  const link = path.join(folder, 'link');
  await symlink(file, link);
  await assert.rejects(readEnvironment(link), refused);
  await chown(file, 0, 0);
  await lchown(link, 65_533, 65_533);
  await assert.rejects(readEnvironment(link), refused);
  await rm(folder, { recursive: true });
  assert.equal(await readEnvironment(file), process.env, 'no file is fine');
});

test('takes the key and the passwords of the database from files', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'config-'));
  const file = path.join(folder, 'key');
  writeFileSync(file, `${'ab'.repeat(32)}\n`);
  const url = 'postgres://service@db.example/bank';
  const environment = { DATABASE_URL: url, SECRET_KEY_FILE: file, DATABASE_PASSWORD_FILE: file };
  const { config, secrets } = loadConfig(environment);
  assert.deepEqual(secrets.keyEncryptionKey, new Uint8Array(32).fill(0xab));
  assert.equal(config.databaseUrl, `${url}?passwordfile=${encodeURIComponent(file)}`);
  assert.throws(() => loadConfig({ ...environment, SECRET_KEY: 'ab'.repeat(32) }), /only without SECRET_KEY/);
  assert.throws(
    () => loadConfig({ ...environment, SECRET_KEY_FILE: `${file}.gone` }),
    /SECRET_KEY_FILE: expected a readable file \(ENOENT\)/,
  );
});
