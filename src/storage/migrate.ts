import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { serviceRole } from './database.ts';
import { DatabaseStartError } from './database-start-error.ts';
import type { SocketConnection } from './embedded-postgres.ts';
import { sqlState, sqlStateOf } from './errors.ts';
import { repositoryRoot } from './postgres-binaries.ts';

const migrationLock = 7_305_102;
const oldestServer = 150_000;

interface Migration {
  readonly version: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
}

/**
 * Brings the schema to this program's version: forward only, each migration once, in its own transaction, under an
 * advisory lock, so that any number of processes may start together. Answers the names of those it applied.
 *
 * Where nothing is missing it needs no rights but the service's own, so that processes can serve without the owner's.
 *
 * DatabaseStartError: a server older than 15 or without durable writes, a login that may not migrate, a migration that
 * was changed after it was applied, or a schema newer than this program.
 */
export async function migrate(connection: string | SocketConnection): Promise<string[]> {
  const client = new pg.Client(
    typeof connection === 'string' ? { connectionString: connection } : { ...connection },
  );
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (cause) {
    throw new DatabaseStartError(`The database cannot be reached: ${(cause as Error).message}`, cause);
  }
  try {
    await checkServer(client);
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    const applied = await applyMissing(client, await readMigrations());
    await letServiceRoleBeTaken(client);
    return applied;
  } catch (error) {
    throw isForbidden(error) ? mayNotMigrate(error) : error;
  } finally {
    await client.end();
  }
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

async function applyMissing(client: pg.Client, migrations: readonly Migration[]): Promise<string[]> {
  await createMigrationsTable(client);
  const { rows } = await client.query<{ version: number; name: string; checksum: string }>(
    'select version, name, checksum from schema_migrations order by version',
  );
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
  const missing = migrations.filter((migration) => !applied.has(migration.version));
  for (const migration of missing) await apply(client, migration);
  return missing.map((migration) => migration.name);
}

/** Asked first: `if not exists` wants the right to create also where the table exists. */
async function createMigrationsTable(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regclass('schema_migrations') is not null as exists`);
  if (rows[0]?.exists === true) return;
  await client.query(
    `create table if not exists schema_migrations (
       version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null)`,
  );
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('begin');
  try {
    await client.query(migration.text);
    await client.query('insert into schema_migrations values ($1, $2, $3, $4)', [
      migration.version,
      migration.name,
      migration.checksum,
      new Date(),
    ]);
    await client.query('commit');
  } catch (cause) {
    await client.query('rollback').catch(() => {});
    if (isForbidden(cause)) throw cause;
    throw new DatabaseStartError(`Migration ${migration.name} failed: ${(cause as Error).message}`, cause);
  }
}

/**
 * A login that is not superuser must be allowed to take the service's role. Since PostgreSQL 16 who has created a role
 * is a member of it and yet may not take it, until they grant themselves just that.
 */
async function letServiceRoleBeTaken(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select current_user as login, role is not null as exists,
            pg_has_role(current_user, role, case when current_setting('server_version_num')::integer < 160000
                                                 then 'member' else 'set' end) as may
     from to_regrole($1) as role`,
    [serviceRole],
  );
  if (rows[0]?.exists !== true) {
    throw new DatabaseStartError(
      `The role ${serviceRole} is missing, and with it all of its rights: roles belong to a cluster and are in no dump of a database. Create it there (create role ${serviceRole} nologin) and restore anew.`,
    );
  }
  if (rows[0].may === true) return;
  await client.query(`grant ${serviceRole} to current_user`).catch((cause) => {
    if (!isForbidden(cause)) throw cause;
    throw new DatabaseStartError(
      `The login ${rows[0]?.login} may not take the role ${serviceRole}. Let an administrator run: grant ${serviceRole} to ${rows[0]?.login}`,
      cause,
    );
  });
}

function isForbidden(error: unknown): error is Error {
  return sqlStateOf(error) === sqlState.insufficientPrivilege;
}

function mayNotMigrate(cause: Error): DatabaseStartError {
  return new DatabaseStartError(
    `This login may not migrate the database (${cause.message}). Set MIGRATION_DATABASE_URL to one that owns it and can create roles.`,
    cause,
  );
}

async function readMigrations(): Promise<Migration[]> {
  const folder = path.join(repositoryRoot, 'migrations');
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file, index) => {
      const version = Number(file.slice(0, 4));
      if (version !== index + 1)
        throw new DatabaseStartError(`The migrations are not numbered in a row: ${file}`);
      const text = await readFile(path.join(folder, file), 'utf8');
      return { version, name: file, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}
