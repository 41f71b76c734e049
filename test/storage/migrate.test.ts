import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { loadConfig } from '../../src/app/config.ts';
import { migrateDatabase, openAppContext } from '../../src/app/context.ts';
import {
  Database,
  DatabaseStartError,
  mayCreateLargeObjects,
  migrate,
  refuseTransactionPooling,
  sql,
} from '../../src/storage/index.ts';
import { runCli } from '../support/cli.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';
import { asSuperuser, serviceRole } from '../support/postgres.ts';
import { testSecretKey } from '../support/secret-key.ts';

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

test('migrating again changes nothing', async () => {
  assert.deepEqual(await migrate(db.connection), []);
});

test('several processes may migrate at once', async () => {
  const all = await Promise.all([1, 2, 3, 4].map(() => migrate(db.connection)));
  assert.deepEqual(all, [[], [], [], []]);
});

test('refuses a schema that is newer than the program', async () => {
  await db.superuser(`insert into schema_migrations values (9999, '9999_future.sql', 'x', '2030-01-01Z')`);
  await assert.rejects(
    migrate(db.connection),
    /at migration 9999, this program knows \d+\. Use a newer program/,
  );
  await db.superuser('delete from schema_migrations where version = 9999');
});

test('refuses a migration that was changed after it was applied', async () => {
  const [row] = await db.superuser<{ checksum: string }>(
    'select checksum from schema_migrations where version = 1',
  );
  await db.superuser(`update schema_migrations set checksum = 'other' where version = 1`);
  await assert.rejects(migrate(db.connection), /0001_institutions\.sql is not the one that was applied/);
  await db.superuser('update schema_migrations set checksum = $1 where version = 1', [row?.checksum]);
  assert.deepEqual(await migrate(db.connection), []);
});

test('refuses a database of version 0.1, whose migrations were replaced, and says what to do', async () => {
  await using old = await testDatabase();
  await old.superuser(
    `drop table schema_functions; update schema_migrations set name = '0001_foundation.sql', checksum = 'x' where version = 1`,
  );
  await assert.rejects(migrate(old.owner), {
    name: 'DatabaseStartError',
    message:
      'This database was made by version 0.1, whose migrations were replaced: create an empty database and import the extract again (for a demo on the embedded database, delete its data folder).',
  });
});

test('replaces a function whose file has changed since it was applied, once, and keeps its rights', async () => {
  await using other = await testDatabase();
  const name = 'check_control_total.sql';
  const definition = `select prosrc, proacl::text, prosecdef, proconfig from pg_proc where proname = 'check_control_total'`;
  const before = await other.superuser(definition);
  await other.superuser(
    `create or replace function check_control_total() returns trigger language plpgsql security definer
     set search_path = pg_catalog, public, pg_temp as 'begin return null; end'`,
  );
  assert.notDeepEqual(await other.superuser(definition), before);
  await other.superuser(`update schema_functions set checksum = 'other' where name = $1`, [name]);
  await other.superuser(
    `insert into schema_functions select 'gone.sql', checksum, program, applied_at from schema_functions limit 1`,
  );
  await assert.rejects(migrate(other.connection), /may not migrate.*MIGRATION_DATABASE_URL/);
  const applied = await Promise.all([1, 2, 3].map(() => migrate(other.owner)));
  assert.deepEqual(applied.flat(), [name]);
  assert.deepEqual(await other.superuser(`select from schema_functions where name = 'gone.sql'`), []);
  assert.deepEqual(await other.superuser(definition), before);
});

test('refuses a database whose functions a newer program has applied', async () => {
  const newer = `update schema_functions set program = '10.2.0' where name = 'check_entries.sql' returning program`;
  const [row] = await db.superuser<{ program: string }>(
    `select program from schema_functions where name = 'check_entries.sql'`,
  );
  await db.superuser(newer);
  await assert.rejects(migrate(db.connection), {
    name: 'DatabaseStartError',
    message: `The functions of the database are of version 10.2.0, this program is ${row?.program}. Use a newer program.`,
  });
  await db.superuser(`update schema_functions set program = $1 where program = '10.2.0'`, [row?.program]);
});

test('each function of the database has a file of its name, and each table has a comment', async () => {
  const functions = await db.superuser<{ name: string }>(
    `select proname::text as name from pg_proc where pronamespace = 'public'::regnamespace order by 1`,
  );
  const files = await db.superuser<{ name: string }>(
    `select replace(name, '.sql', '') as name from schema_functions order by 1`,
  );
  assert.deepEqual(functions, files);
  const bare = await db.superuser(
    `select relname::text from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and obj_description(oid, 'pg_class') is null`,
  );
  assert.deepEqual(bare, []);
});

test('names an unreachable database in one sentence', async () => {
  await assert.rejects(migrate({ ...db.connection, host: '/nowhere' }), /The database cannot be reached/);
});

test('the service’s login owns nothing, is bound by policies and can take no other role', async () => {
  const who = sql('test_who', 'select current_user as role, session_user as login');
  const { rows } = await db.database.directory((q) => q.query<{ role: string; login: string }>(who));
  assert.deepEqual(rows, [{ role: 'sharedraft_app', login: 'sharedraft_app' }]);
  const standing = await db.superuser(
    `select rolsuper, rolbypassrls, rolcreaterole, (select count(*) from pg_class where relowner = r.oid) as owns
     from pg_roles r where rolname in ('sharedraft_app', $1)`,
    [serviceRole],
  );
  const bound = { rolsuper: false, rolbypassrls: false, rolcreaterole: false, owns: 0n };
  assert.deepEqual(standing, [bound, bound]);
  for (const role of ['postgres', 'pg_write_all_data', 'none']) {
    const take = sql('test_take_role', `select set_config('role', $1, false) || current_user as role`);
    const taken = db.database.directory((q) => q.query<{ role: string }>(take, [role]));
    if (role === 'none') assert.equal((await taken).rows[0]?.role, 'nonesharedraft_app');
    else await assert.rejects(taken, /permission denied to set role/, role);
  }
});

test('the service can create no temporary table, and nothing else in the schema', async () => {
  for (const [statement, refusal] of [
    ['create temporary table entries (amount bigint)', /permission denied to create temporary tables/],
    ['create table public.notes (note text)', /permission denied for schema public/],
    ['create schema own', /permission denied for database/],
  ] as const) {
    const attempt = db.database.directory((q) => q.query(sql('', statement)));
    await assert.rejects(attempt, refusal, statement);
  }
});

test('the service cannot call any large-object function', async () => {
  for (const statement of ['select lo_create(0)', 'select lo_creat(-1)', `select lo_from_bytea(0, 'x')`]) {
    const attempt = db.database.directory((q) => q.query(sql('', statement)));
    await assert.rejects(attempt, /permission denied for function/, statement);
  }
  const open = await db.superuser(
    `select p.oid::regprocedure from pg_proc p
     where p.proname ~ '^lo(_|read|write)' and has_function_privilege($1, p.oid, 'execute')`,
    [serviceRole],
  );
  assert.deepEqual(open, []);
  assert.equal(await mayCreateLargeObjects(db.database), false);
});

test('a service whose database leaves large objects open starts and logs a warning', async () => {
  await using opened = await testDatabase();
  await opened.superuser('grant execute on function lo_create(oid) to public');
  const events: string[] = [];
  await open({ DATABASE_URL: opened.url }, (event) => events.push(event));
  assert.ok(events.includes('large_objects_open'), events.join());
});

test('every table except those of the global directory is bound to its institution', async () => {
  const open = await db.superuser<{ relname: string }>(
    `select c.relname from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and not (c.relrowsecurity and c.relforcerowsecurity
                and exists (select from pg_policy p where p.polrelid = c.oid))
     order by c.relname`,
  );
  assert.deepEqual(
    open.map((row) => row.relname),
    [
      'audit_keys',
      'cell',
      'cell_keys',
      'changes',
      'changes_kept',
      'client_directory',
      'control_totals',
      'event_partitions',
      'event_timeline',
      'hashing_key',
      'import_runs',
      'institutions',
      'provider_directory',
      'schema_functions',
      'schema_migrations',
      'signing_keys',
    ],
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

test('a connection without an institution gets an error, not rows', async () => {
  const fresh = new Database({ connection: db.connection, maxConnections: 1 });
  const peek = sql('test_peek', 'select count(*) from balances');
  await assert.rejects(
    fresh.directory((q) => q.query(peek)),
    /sharedraft\.institution/,
  );
  await fresh.close();
});

test('every function finds the same tables and functions with any setting of its caller', async () => {
  const free = await db.superuser(
    `select p.oid::regprocedure::text as function from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prosqlbody is null
       and not coalesce(p.proconfig @> array['search_path=pg_catalog, public, pg_temp'], false)`,
  );
  assert.deepEqual(free, []);
  const [row] = await db.superuser<{ count: bigint }>(
    `select count(*) from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  assert.ok((row?.count ?? 0n) > 20n);
});

test('no function runs as the owner for callers that it was not granted to', async () => {
  const free = await db.superuser(
    `select p.oid::regprocedure::text as function from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prosecdef and has_function_privilege('public', p.oid, 'execute')`,
  );
  assert.deepEqual(free, []);
});

test('the functions of the control total run as the owner, and the service may not call them', async () => {
  const found = await db.superuser(
    `select p.proname::text as name, p.prosecdef as "asOwner", has_function_privilege($1, p.oid, 'execute') as callable
     from pg_proc p where p.pronamespace = 'public'::regnamespace
       and p.proname in ('add_to_control_total', 'check_control_total', 'check_entries', 'subtract_from_control_total')
     order by 1`,
    [serviceRole],
  );
  assert.deepEqual(found, [
    { name: 'add_to_control_total', asOwner: false, callable: false },
    { name: 'check_control_total', asOwner: true, callable: false },
    { name: 'check_entries', asOwner: true, callable: false },
    { name: 'subtract_from_control_total', asOwner: true, callable: false },
  ]);
});

test('the service may neither change nor remove permanent rows', async () => {
  for (const statement of [
    'update entries set amount = 1',
    'delete from entries',
    'delete from transfers',
    'delete from idempotency_keys',
    'update idempotency_keys set transfer_key = 1',
    'delete from balances',
    'truncate outbox',
    'update transfers set amount = 1',
    'alter table entries disable row level security',
  ]) {
    const attempt = db.database.directory((q) => q.query(sql('', statement)));
    await assert.rejects(attempt, /permission denied|must be owner/, statement);
  }
});

/** A login of this cluster with those attributes and a database it owns, named like it. */
async function asOwner(
  attributes: string,
  work: (login: string, connection: TestDatabase['connection']) => Promise<void>,
): Promise<void> {
  const login = `owner_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  await db.superuser(`create role ${login} login ${attributes}`);
  await db.superuser(`create database ${login} owner ${login}`);
  try {
    await work(login, { ...db.owner, user: login, database: login });
  } finally {
    await db.superuser(`drop database ${login} with (force)`);
    const roles = await db.superuser<{ rolname: string }>(
      'select rolname from pg_roles where starts_with(rolname, $1) order by rolname desc',
      [login],
    );
    for (const { rolname } of roles) await db.superuser(`drop role ${rolname}`);
  }
}

/** Opens the database from settings, like `serve` and the commands. */
async function open(
  environment: Readonly<Record<string, string>>,
  log: (event: string) => void = () => {},
): Promise<void> {
  const { config, secrets } = loadConfig({ SECRET_KEY: testSecretKey, ...environment });
  const context = await openAppContext(config, secrets, 'borrow', log);
  await context.close();
}

function urlOf({ user, host, database }: TestDatabase['connection']): string {
  return `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}

test('an owner migrates a database from nothing, and a second login serves it, or the owner’s if a setting allows it', async () => {
  await asOwner('createrole', async (login, connection) => {
    assert.ok((await migrate(connection)).length > 0);
    assert.deepEqual(await migrate(connection), []);
    const unforced = await asSuperuser(connection, (client) =>
      client.query('select relname from pg_class where relrowsecurity and not relforcerowsecurity'),
    );
    assert.deepEqual(unforced.rows, []);

    const DATABASE_URL = urlOf(connection);
    await migrateDatabase(loadConfig({ DATABASE_URL, SECRET_KEY: testSecretKey }).config);
    await assert.rejects(open({ DATABASE_URL }), {
      name: 'DatabaseStartError',
      message: new RegExp(
        `^The login "${login}" owns the database or can create roles\\. .* only a member of "${login}_service".*ALLOW_SERVING_AS_DATABASE_OWNER=true`,
      ),
    });
    await open({ DATABASE_URL, ALLOW_SERVING_AS_DATABASE_OWNER: 'true' });

    await db.superuser(`create role ${login}_app login in role ${login}_service`);
    const app = { ...connection, user: `${login}_app` };
    await open({ DATABASE_URL: urlOf(app) });
    await open({ DATABASE_URL: urlOf(app), MIGRATION_DATABASE_URL: DATABASE_URL });

    // A password changes without an outage: a second login takes over, and the first is dropped.
    await db.superuser(`create role ${login}_app_2 login in role ${login}_service`);
    await open({ DATABASE_URL: urlOf({ ...app, user: `${login}_app_2` }) });
    await db.superuser(`drop role ${login}_app`);
    app.user = `${login}_app_2`;
    await open({ DATABASE_URL: urlOf(app) });

    // The logins of one database cannot connect to another database of the same cluster.
    for (const stranger of [
      { ...app, database: db.connection.database },
      { ...db.connection, database: login },
    ]) {
      await assert.rejects(open({ DATABASE_URL: urlOf(stranger) }), /permission denied for database/);
    }

    await db.superuser(`create role ${login}_stranger login`);
    await db.superuser(`grant connect on database ${login} to ${login}_stranger`);
    await assert.rejects(
      open({ DATABASE_URL: urlOf({ ...connection, user: `${login}_stranger` }) }),
      /may not migrate|has no rights/,
    );
  });
});

test('an owner who may not create roles gets the statements to have run, and migrates after them', async () => {
  await asOwner('', async (login, connection) => {
    const refusal = await migrate(connection).catch((error: Error) => error);
    assert.ok(refusal instanceof DatabaseStartError);
    const [, statements] =
      /^This login may not create roles\. Let an administrator run: (.*)$/.exec(refusal.message) ?? [];
    assert.equal(statements, `create role ${login}_service nologin; create role ${login}_backup nologin`);
    await db.superuser(statements);
    assert.ok((await migrate(connection)).length > 0);
    assert.deepEqual(await migrate(connection), []);
    await assert.rejects(open({ DATABASE_URL: urlOf(connection), ALLOW_SERVING_AS_DATABASE_OWNER: 'true' }), {
      name: 'DatabaseStartError',
      message: `The login ${login} may not take the role ${login}_service. Let an administrator run: grant "${login}_service" to "${login}"`,
    });
  });
});

test('refuses a superuser and a login exempt from row-level security, whatever role its sessions take', async () => {
  const login = `exempt_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  for (const exemption of ['superuser', 'bypassrls', 'in role pg_write_all_data']) {
    await db.superuser(`create role ${login} login ${exemption}`);
    try {
      await db.superuser(`grant ${serviceRole} to ${login}`);
      const DATABASE_URL = urlOf({ ...db.connection, user: login });
      // One statement would reset the role that each session takes at its start.
      const taken = `${DATABASE_URL}&options=-c%20role%3D${serviceRole}`;
      for (const url of [DATABASE_URL, taken]) {
        await assert.rejects(
          open({ DATABASE_URL: url, MIGRATION_DATABASE_URL: db.url }),
          /is a superuser, or exempt from row-level security/,
          exemption,
        );
      }
    } finally {
      await db.superuser(`drop owned by ${login}`);
      await db.superuser(`drop role ${login}`);
    }
  }
});

test('a login that is only a member of the service’s role serves a migrated database, and migrates nothing', async () => {
  assert.deepEqual(await migrate(db.connection), []);
  await open({ DATABASE_URL: db.url });
  await db
    .superuser(`delete from schema_migrations where version = (select max(version) from schema_migrations)
                      returning version, name, checksum, applied_at`)
    .then(async ([row]) => {
      await assert.rejects(migrate(db.connection), {
        name: 'DatabaseStartError',
        message: /may not migrate.*MIGRATION_DATABASE_URL/,
      });
      await db.superuser(
        'insert into schema_migrations select * from jsonb_populate_record(null::schema_migrations, $1)',
        [JSON.stringify(row)],
      );
    });
});

test('migrating gives rights that belong to a role of another name to the database’s own role', async () => {
  // Like a database that was migrated by an older program, renamed, or restored under another name.
  await using moved = await testDatabase();
  const rights = (role: string) =>
    moved.superuser(
      `select table_name::text, privilege_type::text, null as column_name from information_schema.role_table_grants where grantee = $1
       union select table_name, privilege_type, column_name from information_schema.role_column_grants where grantee = $1
       union select routine_name, privilege_type, null from information_schema.role_routine_grants where grantee = $1
       union select object_name, privilege_type, null from information_schema.role_usage_grants where grantee = $1
       order by 1, 2, 3`,
      [role],
    );
  const before = await rights(serviceRole);
  assert.ok(before.length > 100);
  const { database } = moved.connection;
  const login = `${database}_app`;
  await migrate(moved.owner, { login });
  assert.deepEqual(await rights(`${database}_service`), before);
  assert.deepEqual(await rights(serviceRole), []);
  await open({ DATABASE_URL: urlOf({ ...moved.connection, user: login }) });
  await assert.rejects(open({ DATABASE_URL: moved.url }), /permission denied for database/);
  await migrate(moved.owner, { login });
});

test('refuses to serve a database in which every login of the cluster may connect or create tables', async () => {
  await using opened = await testDatabase();
  const { database } = opened.connection;
  for (const right of [
    `connect on database ${database}`,
    `temporary on database ${database}`,
    'create on schema public',
  ]) {
    await opened.superuser(`grant ${right} to public`);
    await assert.rejects(open({ DATABASE_URL: opened.url }), /Every login of the cluster may connect/, right);
    await opened.superuser(`revoke ${right} from public`);
  }
  await opened.superuser('grant create on schema public to public');
  await migrate(opened.owner, { login: `${database}_app` });
  await open({ DATABASE_URL: urlOf({ ...opened.connection, user: `${database}_app` }) });
});

for (const [pool, options] of [
  ['with a server process for each client', { mode: 'transaction', processes: 20 }],
  ['that assigns its server processes in turns', { mode: 'transaction', processes: 2, takes: 'the first' }],
] as const) {
  test(`refuses a pooler in transaction mode ${pool}, and leaves no lock behind it`, async () => {
    await using pooler = await startPooler(db.connection.host, options);
    const pooled = urlOf({ ...db.connection, host: pooler.host });
    for (const settings of [
      { DATABASE_URL: pooled },
      { DATABASE_URL: pooled, MIGRATION_DATABASE_URL: db.url },
    ]) {
      await assert.rejects(open(settings), {
        name: 'DatabaseStartError',
        message: /behind a pooler that shares server processes between transactions.*session mode/,
      });
    }
    assert.deepEqual(await db.superuser(advisoryLocks), []);
  });
}

test('refuses a pooler in transaction mode with one server process, because the second connection waits in vain', async () => {
  await using pooler = await startPooler(db.connection.host, { mode: 'transaction', processes: 1 });
  const connection = { ...db.connection, host: pooler.host };
  await assert.rejects(
    refuseTransactionPooling(connection, 100),
    /behind a pooler that shares server processes/,
  );
});

const advisoryLocks = `select pid from pg_locks where locktype = 'advisory' and database = (
  select oid from pg_database where datname = current_database())`;

test('a session that a pooler keeps after migrating holds no lock', async () => {
  await using pooler = await startPooler(db.connection.host, { mode: 'session', processes: 20 });
  assert.deepEqual(await migrate({ ...db.connection, host: pooler.host }), []);
  assert.deepEqual(await db.superuser(advisoryLocks), []);
  assert.deepEqual(await migrate(db.connection, { patienceMillis: 5_000 }), []);
});

test('waits a limited time for a migration lock of another process, and names its holder', async () => {
  const holder = new pg.Client({ ...db.owner });
  await holder.connect();
  try {
    await holder.query('select pg_advisory_lock(7305102)');
    const { rows } = await holder.query('select pg_backend_pid() as pid');
    await assert.rejects(migrate(db.connection, { patienceMillis: 20 }), {
      name: 'DatabaseStartError',
      message: `The server's process ${rows[0]?.pid} has been migrating this database for more than 0.02 seconds. Wait until it has finished, or end it with "select pg_terminate_backend(${rows[0]?.pid})"; then start again.`,
    });
  } finally {
    await holder.end();
  }
});

test('refuses a pooler that passes no start-up options on, with the missing settings', async () => {
  await using pooler = await startPooler(db.connection.host, { mode: 'session', processes: 20 });
  await assert.rejects(open({ DATABASE_URL: urlOf({ ...db.connection, host: pooler.host }) }), {
    name: 'DatabaseStartError',
    message:
      /do not have the settings.*lock_timeout is 0, not 500ms; statement_timeout is 0, not 10s.*passes start-up options on/,
  });
});

test('a command refuses URL options that replace the service’s own, and exits', {
  timeout: 20_000,
}, async () => {
  const url = `${db.url}&options=-c%20statement_timeout%3D5s`;
  const { code, stderr } = await runCli({ ...db, url }, ['client', 'list', '--institution', 'lakeside']);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^The service's connections do not have the settings [^\n]*statement_timeout is 5s, not 10s[^\n]+\n$/,
  );
});

test('settings of the login or of the database do not change those of the service’s sessions', async () => {
  await using other = await testDatabase();
  const { database } = other.connection;
  for (const setting of [
    'synchronous_commit = off',
    "default_transaction_isolation = 'serializable'",
    'default_transaction_read_only = on',
    'search_path = pg_temp',
    "DateStyle = 'SQL, DMY'",
  ]) {
    await other.superuser(`alter database ${database} set ${setting}`);
  }
  await open({ DATABASE_URL: other.url });
});
