import assert from 'node:assert/strict';
import { test } from 'node:test';
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
