import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { Database, migrate, sql } from '../../src/storage/index.ts';
import { runCli } from '../support/cli.ts';
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

test('connections that no policy binds are refused, and whoever asked for them ends', {
  timeout: 20_000,
}, async () => {
  // Options in the URL take the place of the service's own, as a pooler may that does not pass them on.
  const url = `${db.url}&options=-c%20statement_timeout%3D5s`;
  const { code, stderr } = await runCli({ ...db, url }, ['client', 'list', '--institution', 'lakeside']);
  assert.equal(code, 1);
  assert.match(stderr, /^The service's connections do not run as sharedraft_service, [^\n]+\n$/);
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

/** A login of this cluster with those attributes, and the database it owns, or that of the test. */
async function asLogin(
  attributes: string,
  work: (login: string, connection: TestDatabase['connection']) => Promise<void>,
  database?: string,
): Promise<void> {
  const login = `login_${randomUUID().replaceAll('-', '')}`;
  await db.superuser(`create role ${login} login ${attributes}`);
  try {
    if (database === undefined) await db.superuser(`create database ${login} owner ${login}`);
    await work(login, { ...db.connection, user: login, database: database ?? login });
  } finally {
    if (database === undefined) await db.superuser(`drop database ${login} with (force)`);
    await db.superuser(`drop owned by ${login}`);
    await db.superuser(`drop role ${login}`);
  }
}

async function serviceRoleIn(connection: TestDatabase['connection']): Promise<string | undefined> {
  const service = new Database({ connection, maxConnections: 1 });
  try {
    const who = sql('test_who', 'select current_user as name');
    const { rows } = await service.directory((q) => q.query<{ name: string }>(who));
    return rows[0]?.name;
  } finally {
    await service.close();
  }
}

test('an owner who is no superuser but can create roles migrates a database from nothing, and serves', async () => {
  await asLogin('createrole', async (login, connection) => {
    // What PostgreSQL 16 and newer give to who has created a role: to hand it on, not to take it.
    await db.superuser(`grant sharedraft_service to ${login} with admin true, set false, inherit false`);
    assert.ok((await migrate(connection)).length > 0);
    assert.deepEqual(await migrate(connection), []);
    assert.equal(await serviceRoleIn(connection), 'sharedraft_service');
  });
});

test("a login that is only a member of the service's role serves what is migrated, and migrates nothing", async () => {
  await asLogin(
    'in role sharedraft_service',
    async (_, connection) => {
      assert.deepEqual(await migrate(connection), []);
      assert.equal(await serviceRoleIn(connection), 'sharedraft_service');
    },
    db.connection.database,
  );
});

test('a login that may not migrate is told so in one sentence, and nothing is begun', async () => {
  await asLogin('', async (_, connection) => {
    await assert.rejects(migrate(connection), {
      name: 'DatabaseStartError',
      message: /may not migrate.*permission denied to create role.*MIGRATION_DATABASE_URL/,
    });
  });
  await asLogin(
    '',
    async (_, connection) => {
      await assert.rejects(migrate(connection), { name: 'DatabaseStartError', message: /may not migrate/ });
    },
    db.connection.database,
  );
});

test("a login that may not take the service's role is told who may give it, and how", async () => {
  await asLogin('createrole', async (login, connection) => {
    await assert.rejects(migrate(connection), {
      name: 'DatabaseStartError',
      message: new RegExp(`may not take the role.*grant sharedraft_service to ${login}`),
    });
  });
});
