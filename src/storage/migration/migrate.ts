import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { repositoryRoot } from '../../shared/process/repository-root.ts';
import { sqlState, sqlStateOf } from '../errors.ts';
import { connect } from '../hosts/connect.ts';
import { DatabaseStartError } from '../hosts/database-start-error.ts';
import type { SocketConnection } from '../hosts/socket-connection.ts';
import { refuseTransactionPooling } from '../start-checks/transaction-pooling.ts';
import {
  createLogin,
  createMissingRoles,
  type DatabaseRoles,
  forDatabase,
  grantMissingRights,
  rolesOf,
} from './database-roles.ts';

const migrationLock = 7_305_102;
const lockPatienceMillis = 60_000;
const lockPauseMillis = 50;
const oldestServer = 150_000;

const firstOfReplaced = '0001_foundation.sql';
const replacedMigrations =
  'This database was made by version 0.1, whose migrations were replaced: create an empty database and import the extract again (for a demo on the embedded database, delete its data folder).';

interface SqlFile {
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

interface Migration extends SqlFile {
  readonly version: number;
}

/** The files of a schema. */
interface Schema {
  readonly migrations: string;
  readonly functions: string;
  /** A table into which the service's role inserts. */
  readonly table: string;
}

/** `cell`: the database of a service. `directory`: that of the cells' directory (docs/cells.md). */
export type SchemaName = 'cell' | 'directory';

const schemas: Readonly<Record<SchemaName, Schema>> = {
  cell: { migrations: 'migrations', functions: 'sql/functions', table: 'transfers' },
  directory: {
    migrations: 'sql/directory/migrations',
    functions: 'sql/directory/functions',
    table: 'directory_institutions',
  },
};

export interface MigrateOptions {
  /** Default: `cell`. */
  readonly schema?: SchemaName;
  /** Created if missing, as a member of the service's role. */
  readonly login?: string;
  /** Time to wait for another process that migrates. */
  readonly patienceMillis?: number;
}

/**
 * Brings the schema, its functions and the rights of the database's roles to this program's version. Migrations go forward
 * only, each once and in its own transaction; a function is replaced when its file has changed (ADR 31). An advisory lock lets
 * any number of processes start together. Returns the names of the files it applied.
 *
 * With a login that does not own the database it changes nothing, and succeeds if nothing is missing, so that a process can
 * serve without the owner's login.
 *
 * Throws DatabaseStartError for a server older than 15 or without durable writes, a pooler that shares server processes, a
 * lock that another process does not release, a login that may not migrate, a migration that was changed after it was applied, or
 * a schema newer than this program.
 */
export async function migrate(
  connection: string | SocketConnection,
  { schema: name = 'cell', login, patienceMillis = lockPatienceMillis }: MigrateOptions = {},
): Promise<string[]> {
  const schema = schemas[name];
  // The embedded server's socket has no pooler.
  if (typeof connection === 'string') await refuseTransactionPooling(connection);
  const client = await connect(connection);
  try {
    await checkServer(client);
    // An inherited search path could create the tables in another schema.
    await client.query('set search_path = public');
    return await underMigrationLock(client, patienceMillis, async () => {
      const { roles, isOwner } = await whoMigrates(client);
      if (isOwner) await createMissingRoles(client, roles);
      const applied = await bringUpToDate(client, roles, schema);
      if (isOwner) await grantMissingRights(client, roles, schema.table);
      if (login !== undefined) await createLogin(client, login, roles);
      return applied;
    });
  } catch (error) {
    throw isForbidden(error) ? mayNotMigrate(error) : error;
  } finally {
    await client.end();
  }
}

/**
 * Takes a session lock and releases it before the connection ends: behind a pooler the session continues, and its lock would
 * block every later start. Throws DatabaseStartError with the holder's name if the lock is not free in time.
 */
async function underMigrationLock<T>(
  client: pg.Client,
  patienceMillis: number,
  work: () => Promise<T>,
): Promise<T> {
  // A session that waits inside the server would hold a snapshot, and the holder's `create index concurrently` would wait for it.
  const deadline = performance.now() + patienceMillis;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      migrationLock,
    ]);
    if (rows[0]?.taken === true) break;
    if (performance.now() > deadline) throw await lockHeld(client, patienceMillis);
    await sleep(lockPauseMillis);
  }
  try {
    return await work();
  } finally {
    await client.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {});
  }
}

async function lockHeld(client: pg.Client, patienceMillis: number): Promise<DatabaseStartError> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_locks
     where locktype = 'advisory' and granted and objid = $1 and database = (
       select oid from pg_database where datname = current_database())`,
    [migrationLock],
  );
  const [{ pid } = { pid: undefined }] = rows;
  const holder = pid === undefined ? 'Another process' : `The server's process ${pid}`;
  const end = pid === undefined ? '' : `, or end it with "select pg_terminate_backend(${pid})"`;
  return new DatabaseStartError(
    `${holder} has been migrating this database for more than ${patienceMillis / 1_000} seconds. Wait until it has finished${end}; then start again.`,
  );
}

async function whoMigrates(client: pg.Client): Promise<{ roles: DatabaseRoles; isOwner: boolean }> {
  const { rows } = await client.query<{ database: string; owner: boolean }>(
    `select datname as database, pg_has_role(datdba, 'usage') as owner from pg_database where datname = current_database()`,
  );
  const [{ database, owner } = { database: '', owner: false }] = rows;
  return { roles: rolesOf(database), isOwner: owner };
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select current_setting('server_version_num')::integer as version, current_setting('server_version') as name,
            current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes`,
  );
  const server = rows[0];
  if (server.version < oldestServer) {
    throw new DatabaseStartError(`PostgreSQL 15 or newer is needed; this server is ${server.name}.`);
  }
  for (const setting of ['fsync', 'full_page_writes']) {
    if (server[setting] !== 'on') {
      throw new DatabaseStartError(`The server runs with ${setting}=off and could lose money; turn it on.`);
    }
  }
}

/**
 * Triggers and constraints refer to functions, so a missing function is created before the migrations; its body is checked
 * when it first runs. A changed function may refer to new tables, so it is replaced after them.
 */
async function bringUpToDate(client: pg.Client, roles: DatabaseRoles, schema: Schema): Promise<string[]> {
  const [migrations, functions] = await readSchema(schema);
  await createHistory(client);
  const missing = await missingMigrations(client, migrations);
  const history = await readFunctionHistory(client);
  const isNew = (file: SqlFile) => !history.has(file.name);
  const created = functions.filter(isNew);
  const changed = functions.filter((file) => !isNew(file) && history.get(file.name) !== file.checksum);
  await applyFunctions(client, created, roles);
  for (const migration of missing) await applyMigration(client, migration, roles);
  await applyFunctions(client, changed, roles);
  await forgetFunctions(client, [...history.keys()], functions);
  return [...missing, ...created, ...changed].map((file) => file.name);
}

async function missingMigrations(
  client: pg.Client,
  migrations: readonly Migration[],
): Promise<readonly Migration[]> {
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    'select version, name, checksum from schema_migrations order by version',
  );
  if (rows[0]?.name === firstOfReplaced) throw new DatabaseStartError(replacedMigrations);
  const newest = migrations.at(-1)?.version ?? 0;
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const row of rows) {
    if (row.version > newest) {
      throw new DatabaseStartError(
        `The database is at migration ${row.version}, this program knows ${newest}. Use a newer program.`,
      );
    }
    if (known.get(row.version)?.checksum !== row.checksum) {
      throw new DatabaseStartError(`Migration ${row.name} is not the one that was applied to this database.`);
    }
  }
  const applied = new Set(rows.map((row) => row.version));
  return migrations.filter((migration) => !applied.has(migration.version));
}

/**
 * The names of the migrations and function files that `migrate` would apply; with any login of the service, and without a change.
 * Throws DatabaseStartError like `migrate`.
 */
export async function unappliedMigrations(
  connection: string | SocketConnection,
  name: SchemaName = 'cell',
): Promise<string[]> {
  const client = await connect(connection);
  try {
    await checkServer(client);
    await client.query('set search_path = public');
    const [migrations, functions] = await readSchema(schemas[name]);
    const { rows } = await client.query(`select to_regclass('schema_functions') is not null as exists`);
    if (rows[0]?.exists !== true) return [...migrations, ...functions].map((file) => file.name);
    const missing = await missingMigrations(client, migrations);
    const history = await readFunctionHistory(client);
    const changed = functions.filter((file) => history.get(file.name) !== file.checksum);
    return [...missing, ...changed].map((file) => file.name);
  } finally {
    await client.end();
  }
}

/** The checksums of the function files as last applied. An older program must not restore older functions. */
async function readFunctionHistory(client: pg.Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; checksum: string; program: string }>(
    'select name, checksum, program from schema_functions',
  );
  const newest = rows
    .map((row) => row.program)
    .sort(compareVersions)
    .at(-1);
  if (newest !== undefined && compareVersions(newest, programVersion) > 0) {
    throw new DatabaseStartError(
      `The functions of the database are of version ${newest}, this program is ${programVersion}. Use a newer program.`,
    );
  }
  return new Map(rows.map((row) => [row.name, row.checksum]));
}

function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true });
}

/** Checked first, since `if not exists` needs the right to create even if the table exists. */
async function createHistory(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regclass('schema_functions') is not null as exists`);
  if (rows[0]?.exists === true) return;
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null);
     create table if not exists schema_functions (
       name text primary key, checksum text not null, program text not null, applied_at timestamptz not null);
     comment on table schema_migrations is 'The migrations applied to this database, each once.';
     comment on table schema_functions is 'The files of sql/functions as last applied, and the version of the program that did.'`,
  );
}

/**
 * Suspends forced policies for the transaction of a migration. They bind an owner who is no superuser, so that a migration
 * would change no row and a foreign key could not be checked. If a migration forces a policy itself, it hides all rows
 * instead of failing, since no institution has the number 0.
 */
const seeEveryRow = `
  do $$
  declare
    tenant regclass;
  begin
    perform set_config('sharedraft.institution', '0', true);
    for tenant in
      select c.oid from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relforcerowsecurity
        and not (select rolsuper from pg_roles where rolname = current_user)
    loop
      execute format('alter table %s no force row level security', tenant);
    end loop;
  end
  $$`;

const forcePolicies = `
  set constraints all immediate;
  do $$
  declare
    tenant regclass;
  begin
    for tenant in
      select c.oid from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relrowsecurity and not c.relforcerowsecurity
    loop
      execute format('alter table %s force row level security', tenant);
    end loop;
  end
  $$`;

const concurrentIndex = /^create (?:unique )?index concurrently (\w+)\b/im;

/** Applies one migration and records it. The caller holds the lock. */
export async function applyMigration(
  client: pg.Client,
  migration: Migration,
  roles: DatabaseRoles,
): Promise<void> {
  const [, index] = concurrentIndex.exec(migration.text) ?? [];
  if (index !== undefined) return buildIndex(client, migration, index);
  await inTransaction(client, `Migration ${migration.name}`, async () => {
    await client.query(seeEveryRow);
    await client.query(forDatabase(migration.text, roles));
    await client.query(forcePolicies);
    await recordMigration(client, migration);
  });
}

async function recordMigration(client: pg.Client, { version, name, checksum }: Migration): Promise<void> {
  const values = [version, name, checksum, new Date()];
  await client.query('insert into schema_migrations values ($1, $2, $3, $4)', values);
}

/**
 * A migration that is one index of a large table. It is built while others write, which PostgreSQL does in no transaction. An interrupted
 * build leaves an index that is not valid, so the next start drops it and builds it again.
 */
async function buildIndex(client: pg.Client, migration: Migration, index: string): Promise<void> {
  try {
    await client.query(`drop index concurrently if exists ${index}`);
    await client.query(migration.text);
    await recordMigration(client, migration);
  } catch (cause) {
    if (isForbidden(cause)) throw cause;
    throw new DatabaseStartError(`Migration ${migration.name} failed: ${(cause as Error).message}`, cause);
  }
}

async function applyFunctions(
  client: pg.Client,
  files: readonly SqlFile[],
  roles: DatabaseRoles,
): Promise<void> {
  if (files.length === 0) return;
  const names = files.map((file) => file.name);
  await inTransaction(client, `Applying ${names.join(', ')}`, async () => {
    await client.query('set local check_function_bodies = off');
    await client.query(forDatabase(files.map((file) => file.text).join('\n'), roles));
    await client.query(
      `insert into schema_functions (name, checksum, program, applied_at)
       select name, checksum, $3, $4 from unnest($1::text[], $2::text[]) as file (name, checksum)
       on conflict (name) do update
       set checksum = excluded.checksum, program = excluded.program, applied_at = excluded.applied_at`,
      [names, files.map((file) => file.checksum), programVersion, new Date()],
    );
  });
}

/** A migration drops a function whose file is gone; if the file comes back, the function must be created again. */
async function forgetFunctions(
  client: pg.Client,
  recorded: readonly string[],
  files: readonly SqlFile[],
): Promise<void> {
  const present = new Set(files.map((file) => file.name));
  const gone = recorded.filter((name) => !present.has(name));
  if (gone.length > 0) await client.query('delete from schema_functions where name = any ($1)', [gone]);
}

async function inTransaction(client: pg.Client, title: string, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    if (isForbidden(cause)) throw cause;
    throw new DatabaseStartError(`${title} failed: ${(cause as Error).message}`, cause);
  }
}

/**
 * Lets the owner take the service's role, and returns its name: for an institution that has chosen to serve with the owner's
 * login. Since PostgreSQL 16 the creator of a role is a member of it and yet may not take it without a grant of just that.
 */
export async function letOwnerServe(connection: string | SocketConnection): Promise<string> {
  const client = await connect(connection);
  try {
    const { service } = (await whoMigrates(client)).roles;
    const { rows } = await client.query<{ login: string; may: boolean }>(
      `select current_user as login, pg_has_role(current_user, $1, case
         when current_setting('server_version_num')::integer < 160000 then 'member' else 'set' end) as may`,
      [service],
    );
    if (rows[0]?.may === true) return service;
    const grant = `grant ${pg.escapeIdentifier(service)} to`;
    await client.query(`${grant} current_user`).catch((cause) => {
      if (!isForbidden(cause)) throw cause;
      throw new DatabaseStartError(
        `The login ${rows[0]?.login} may not take the role ${service}. Let an administrator run: ${grant} ${pg.escapeIdentifier(rows[0]?.login ?? '')}`,
        cause,
      );
    });
    return service;
  } finally {
    await client.end();
  }
}

function isForbidden(error: unknown): error is Error {
  return sqlStateOf(error) === sqlState.insufficientPrivilege;
}

function mayNotMigrate(cause: Error): DatabaseStartError {
  return new DatabaseStartError(
    `This login may not migrate the database (${cause.message}). Set MIGRATION_DATABASE_URL to one that owns it.`,
    cause,
  );
}

/** Functions have unique names, so a file that moves to another folder stays the same function. */
function readSchema({ migrations, functions }: Schema): Promise<[Migration[], SqlFile[]]> {
  return Promise.all([readMigrations(migrations), readSqlFiles(functions)]);
}

/** The number of the newest migration of a cell's database that this program knows. */
export async function newestMigration(): Promise<number> {
  return (await readMigrations(schemas.cell.migrations)).length;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const files = await readSqlFiles(folder);
  return files.map((file, index) => {
    const version = Number(file.name.slice(0, 4));
    if (version !== index + 1)
      throw new DatabaseStartError(`The migrations are not numbered in a row: ${file.name}`);
    return { ...file, version };
  });
}

async function readSqlFiles(folder: string): Promise<SqlFile[]> {
  const root = path.join(repositoryRoot, folder);
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(path.join(root, file), 'utf8');
      return { name: path.basename(file), text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

const programVersion: string = JSON.parse(
  readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8'),
).version;
