import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Database, migrate, sql } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

test('migrating again does nothing', async () => {
  assert.deepEqual(await migrate(db.connection), []);
});

test('several processes may migrate at once', async () => {
  const all = await Promise.all([1, 2, 3, 4].map(() => migrate(db.connection)));
  assert.deepEqual(all, [[], [], [], []]);
});

test('a schema newer than the program is refused', async () => {
  await db.superuser(`insert into schema_migrations values (9999, '9999_future.sql', 'x', '2030-01-01Z')`);
  await assert.rejects(
    migrate(db.connection),
    /at migration 9999, this program knows \d+\. Use a newer program/,
  );
  await db.superuser('delete from schema_migrations where version = 9999');
});

test('a migration that was changed after it was applied is refused', async () => {
  const [row] = await db.superuser<{ checksum: string }>(
    'select checksum from schema_migrations where version = 1',
  );
  await db.superuser(`update schema_migrations set checksum = 'other' where version = 1`);
  await assert.rejects(migrate(db.connection), /0001_foundation\.sql is not the one that was applied/);
  await db.superuser('update schema_migrations set checksum = $1 where version = 1', [row?.checksum]);
  assert.deepEqual(await migrate(db.connection), []);
});

test('a database that cannot be reached is named in one sentence', async () => {
  await assert.rejects(migrate({ ...db.connection, host: '/nowhere' }), /The database cannot be reached/);
});

test("the service's connections own nothing and are bound by policies", async () => {
  const who = sql('test_who', 'select current_user as name, session_user as login');
  const { rows } = await db.database.directory((q) => q.query<{ name: string }>(who));
  assert.equal(rows[0]?.name, 'sharedraft_service');
  const [role] = await db.superuser<{ rolsuper: boolean; rolbypassrls: boolean; owns: bigint }>(
    `select rolsuper, rolbypassrls, (select count(*) from pg_class where relowner = r.oid) as owns
     from pg_roles r where rolname = 'sharedraft_service'`,
  );
  assert.deepEqual(role, { rolsuper: false, rolbypassrls: false, owns: 0n });
});

test('every table but the global directory is bound to its institution', async () => {
  const open = await db.superuser<{ relname: string }>(
    `select c.relname from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
       and not (c.relrowsecurity and c.relforcerowsecurity
                and exists (select from pg_policy p where p.polrelid = c.oid))
     order by c.relname`,
  );
  assert.deepEqual(
    open.map((row) => row.relname),
    ['client_directory', 'institutions', 'provider_directory', 'schema_migrations', 'signing_keys'],
  );
});

test('institution_id leads every key of those tables', async () => {
  const other = await db.superuser<{ name: string }>(
    `select i.indexrelid::regclass::text as name
     from pg_index i join pg_class c on c.oid = i.indrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
     where c.relnamespace = 'public'::regnamespace and c.relrowsecurity and a.attname <> 'institution_id'`,
  );
  assert.deepEqual(other, []);
});

test('a connection that has not said its institution gets an error, not rows', async () => {
  const fresh = new Database({ connection: db.connection, maxConnections: 1 });
  const peek = sql('test_peek', 'select count(*) from balances');
  await assert.rejects(
    fresh.directory((q) => q.query(peek)),
    /sharedraft\.institution/,
  );
  await fresh.close();
});

test('the service may neither change nor remove what is for ever', async () => {
  for (const statement of [
    'update entries set amount = 1',
    'delete from entries',
    'delete from transfers',
    'delete from used_ids',
    'update used_ids set transfer_key = 1',
    'delete from balances',
    'truncate outbox',
    'update transfers set amount = 1',
    'alter table entries disable row level security',
  ]) {
    const attempt = db.database.directory((q) => q.query(sql('', statement)));
    await assert.rejects(attempt, /permission denied|must be owner/, statement);
  }
});
