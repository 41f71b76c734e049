import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../../src/shared/problem.ts';
import { sql } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { testDatabase } from '../support/database.ts';
import { memberOf, paths } from '../support/demo.ts';
import { asSuperuser } from '../support/postgres.ts';
import { startTestService } from '../support/service.ts';

test('a read, a write, a look at the directory and a transaction that wait too long for a lock are overloaded', async (t) => {
  const db = await testDatabase();
  t.after(() => db.close());
  const { database } = db;
  const { institutionId } = await anInstitution(database);
  const count = sql('test_count', 'select count(*) from accounts');
  const ways = {
    read: () => database.read(institutionId, (reader) => reader.query(count)),
    write: () => database.write(institutionId, (writer) => writer.query(count)),
    directory: () =>
      database.directory((directory) =>
        directory.query(sql('test_institutions', 'select count(*) from institutions')),
      ),
    transaction: () => database.transaction(institutionId, (tx) => tx.query(count)),
  };
  // As a migration that changes the table.
  await asSuperuser(db.connection, async (client) => {
    await client.query('begin');
    await client.query('lock table accounts, institutions in access exclusive mode');
    for (const [way, work] of Object.entries(ways)) {
      const outcome = await work().then(
        () => 'answered',
        (error) => (error instanceof Problem ? error.code : String(error)),
      );
      assert.equal(outcome, 'overloaded', way);
    }
    await client.query('rollback');
  });
  for (const work of Object.values(ways)) await work();
});

test('a request whose answer is remembered is overloaded beside a locked table, and answered after it', async (t) => {
  const service = await startTestService();
  t.after(() => service.close());
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const read = async () => {
    const { status, body } = await member.get(`${paths.accounts}/a-1001-checking`);
    return [status, body.code];
  };
  assert.deepEqual(await read(), [200, undefined]);
  for (const table of ['changes', 'balances', 'accounts', 'holders', 'clients']) {
    await asSuperuser(service.db.connection, async (client) => {
      await client.query('begin');
      await client.query(`lock table ${table} in access exclusive mode`);
      const [status, code] = await read();
      assert.ok(status === 200 || code === 'overloaded', `${table}: ${status} ${code}`);
      await client.query('rollback');
    });
    assert.deepEqual(await read(), [200, undefined], table);
  }
});
