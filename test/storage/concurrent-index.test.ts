import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { applyMigration } from '../../src/storage/migration/migrate.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { asSuperuser, templateRoles } from '../support/postgres.ts';

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const migration = {
  version: 9_999,
  name: '9999_entries_by_day.sql',
  text: '-- Why it is there.\ncreate index concurrently entries_by_day on entries (institution_id, recorded_at);\n',
  checksum: 'none',
};

const apply = () =>
  asSuperuser(db.owner, async (client) => {
    await client.query('delete from schema_migrations where version = 9999');
    await applyMigration(client, migration, templateRoles);
  });

const valid = async () =>
  (
    await db.superuser<{ valid: boolean }>(
      `select indisvalid as valid from pg_index where indexrelid = to_regclass('entries_by_day')`,
    )
  ).map((row) => row.valid);

test('a migration of one concurrent index builds it, and is recorded', async () => {
  await apply();
  assert.deepEqual(await valid(), [true]);
  assert.deepEqual(await db.superuser('select name from schema_migrations where version = 9999'), [
    { name: migration.name },
  ]);
});

test('an index whose build was interrupted is built again', async () => {
  await db.superuser(`update pg_index set indisvalid = false where indexrelid = 'entries_by_day'::regclass`);
  assert.deepEqual(await valid(), [false]);
  await apply();
  assert.deepEqual(await valid(), [true]);
});

test('a writer is not held up by the build of an index that waits for another transaction', async () => {
  const blocker = new pg.Client({ ...db.owner });
  await blocker.connect();
  try {
    await blocker.query('begin');
    await blocker.query(`lock table entries in row exclusive mode`);
    const built = apply();
    const waiting = `select from pg_stat_activity
      where datname = current_database() and query like '%index concurrently%' and wait_event_type = 'Lock'`;
    const deadline = Date.now() + 30_000;
    while ((await db.superuser(waiting)).length === 0)
      assert.ok(Date.now() < deadline, 'the build waits in time');
    await db.superuser(`set lock_timeout = '2s'; lock table entries in row exclusive mode`);
    await blocker.query('commit');
    await built;
    assert.deepEqual(await valid(), [true]);
  } finally {
    await blocker.end();
  }
});
