import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { resolvePasswordFile, withPasswordFile } from './password-file.ts';

const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'password file & more-')), 'p=1');
const driver = (url: string) => {
  const client = new pg.Client({ connectionString: resolvePasswordFile(url) });
  const { user, host, port, database, password } = client;
  return { user, host, port, database, password };
};

test('a password file gives the driver its present password, with any character', () => {
  for (const password of ['plain', 'p@ss/w?rd&=#%20 é', '  spaces  ']) {
    writeFileSync(file, `${password}\n`);
    const url = withPasswordFile('postgres://service@db.example:6432/bank?host=/tmp', file);
    assert.deepEqual(driver(url), { user: 'service', host: '/tmp', port: 6432, database: 'bank', password });
    assert.equal(driver(withPasswordFile('postgres://service@db.example/bank', file)).password, password);
  }
});

test('a URL without a password file stays as it is', () => {
  const url = 'postgres://service:secret@db.example/bank?sslmode=verify-full';
  assert.equal(resolvePasswordFile(url), url);
});

test('a password file that is missing is an error with its name', () => {
  assert.throws(
    () => resolvePasswordFile(withPasswordFile('postgres://a@b/c', '/nowhere/p')),
    /\/nowhere\/p/,
  );
});
