import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WritableHost } from '../../src/storage/hosts/writable-host.ts';
import { Database, sql } from '../../src/storage/index.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { testDatabase } from '../support/database.ts';

/* The host of before accepts connections and says nothing: every process of it stands still. Another host is the primary now. */

const one = sql('test_one', 'select 1 as one');

test('the first new connection after a host froze goes to the next host, and waits for the frozen one no more', {
  timeout: 60_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const { user, database: name, host } = db.connection;
  const hosts = [proxy.host, proxy.host, host].map(encodeURIComponent).join(',');
  const database = new Database({
    connection: `postgresql://${user}@localhost/${name}?host=${hosts}`,
    maxConnections: 4,
    silenceMillis: 1_000,
  });
  const ask = () => database.directory((q) => q.query(one));
  try {
    await ask();
    proxy.freezeForGood();
    await assert.rejects(ask(), { code: 'database_unavailable' });
    const from = performance.now();
    await ask();
    const millis = performance.now() - from;
    // An attempt at the frozen host takes two seconds, and asking it whether it is writable two more.
    assert.ok(millis < 1_900, `${millis} ms`);
  } finally {
    await database.close();
  }
});

test('the first of two writable hosts is chosen while it lives, and a late failure of the other one changes no choice', {
  timeout: 60_000,
}, async () => {
  await using db = await testDatabase();
  await using proxy = await cuttingProxy(db.connection.host);
  const { user, database: name, host } = db.connection;
  const urlOf = (folder: string) =>
    `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(folder)}`;
  const hosts = new WritableHost(urlOf(`${proxy.host},${host}`));
  assert.equal(await hosts.choose(), urlOf(proxy.host));
  proxy.freezeForGood();
  hosts.forget(urlOf(proxy.host));
  const choice = hosts.choose();
  assert.equal(await choice, urlOf(host));
  hosts.forget(urlOf(proxy.host));
  assert.equal(hosts.choose(), choice, 'nobody asks again');
  hosts.forget(urlOf(host));
  assert.notEqual(hosts.choose(), choice);
  assert.equal(await hosts.choose(), urlOf(host));
});
