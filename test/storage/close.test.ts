import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Database, sql } from '../../src/storage/index.ts';
import { testDatabase } from '../support/database.ts';

const wait = sql('test_wait', 'select pg_sleep(0.01)::text as waited');

test('a closed database leaves no connection that the next user of the server sees', async () => {
  const db = await testDatabase();
  try {
    for (let round = 0; round < 10; round++) {
      const settings = { application_name: 'closed' };
      const database = new Database({ connection: db.connection, maxConnections: 8, settings });
      await Promise.all(Array.from({ length: 8 }, () => database.directory((q) => q.query(wait))));
      await database.close();
      const left = await db.superuser(`select pid from pg_stat_activity where application_name = 'closed'`);
      assert.deepEqual(left, []);
    }
  } finally {
    await db.close();
  }
});
