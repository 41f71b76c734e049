import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { migrate, type SocketConnection } from '../../src/storage/index.ts';
import { asSuperuser, templateName } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const login = `dump_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
let service: TestService;
let backup: SocketConnection;
before(async () => {
  service = await startTestService();
  const { database } = service.db.connection;
  await service.db.superuser(`create role ${login} login in role ${templateName}_backup`);
  // A clone has the template's rights, except those to the database itself.
  await service.db.superuser(`grant connect on database ${database} to ${templateName}_backup`);
  backup = { ...service.db.connection, user: login };
});
after(async () => {
  await service.db.superuser(`drop role ${login}`);
  await service.close();
});

/** For each table, the number of rows that this login sees, and a sum over their contents. */
async function contentsFor(connection: SocketConnection): Promise<Map<string, string>> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1`,
    );
    const contents = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query(
        `select count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)), 0) as sum from ${name} t`,
      );
      contents.set(name, rows[0].sum);
    }
    return contents;
  } finally {
    await client.end();
  }
}

test('a backup login reads every row of every table, of all institutions', async () => {
  const all = await contentsFor(service.db.owner);
  assert.ok([...all.values()].filter((sum) => !sum.startsWith('0 ')).length > 20, 'most tables have rows');
  assert.deepEqual(await contentsFor(backup), all);
});

test('a backup login may write to no table, column or sequence, and owns nothing', async () => {
  const writable = await service.db.superuser(
    `select c.relname from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'S')
       and case c.relkind
             when 'S' then has_sequence_privilege($1, c.oid, 'usage, update')
             else has_table_privilege($1, c.oid, 'insert, update, delete, truncate, references, trigger')
                  or has_any_column_privilege($1, c.oid, 'insert, update, references')
           end`,
    [login],
  );
  assert.deepEqual(writable, []);
  const client = new pg.Client({ ...backup });
  await client.connect();
  try {
    for (const statement of [
      'delete from entries',
      'create table notes (note text)',
      'create temporary table notes (note text)',
      `select begin_event_epoch('2026-01-01Z')`,
      `select set_config('role', '${templateName}_service', false)`,
    ]) {
      await assert.rejects(client.query(statement), { code: '42501' }, statement);
    }
  } finally {
    await client.end();
  }
});

test('a backup login can read a new table once the owner has migrated', async () => {
  const { database } = service.db.connection;
  await service.db.superuser('create table newer (institution_id integer); insert into newer values (7)');
  await service.db.superuser(
    `alter table newer enable row level security; alter table newer force row level security;
     create policy institution on newer using (institution_id = (select current_setting('sharedraft.institution')::integer))`,
  );
  await migrate(service.db.owner);
  await service.db.superuser(`grant ${database}_backup to ${login}`);
  assert.deepEqual(await contentsFor(backup), await contentsFor(service.db.owner));
  await service.db.superuser('drop table newer');
});

const run = promisify(execFile);

/** The reason that the recipe cannot run here; undefined if it can. */
async function missingTools(): Promise<string | undefined> {
  try {
    const { stdout } = await run('pg_dump', ['--version']);
    await run('pg_restore', ['--version']);
    const [, major = '0'] = / (\d+)/.exec(stdout) ?? [];
    const [server] = await service.db.superuser<{ major: number }>(
      `select current_setting('server_version_num')::integer / 10000 as major`,
    );
    if (Number(major) >= (server?.major ?? 0)) return undefined;
    return `pg_dump is of version ${major}, and the server of version ${server?.major}`;
  } catch {
    return 'pg_dump and pg_restore are not on the PATH';
  }
}

/** The commands of the page that begin with this word, a line each. */
async function recipe(program: string): Promise<string> {
  const page = await readFile(path.join(root, 'docs/operations.md'), 'utf8');
  const lines = page.split('\n').map((line) => line.trim());
  const [command, ...more] = lines.filter((line) => line.startsWith(`${program} --`));
  assert.ok(command !== undefined && more.length === 0, `one ${program} in docs/operations.md`);
  return command;
}

test('the dump and the restore of docs/operations.md restore every row', async (t) => {
  const [dump, restore] = [await recipe('pg_dump'), await recipe('pg_restore')];
  const missing = await missingTools();
  if (missing !== undefined) return t.skip(missing);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-dump-'));
  const restored = `restored_${randomUUID().replaceAll('-', '').slice(0, 12)}`;
  const urlOf = ({ user, host, database }: SocketConnection) =>
    `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}`;
  const sh = (command: string, environment: Record<string, string>) =>
    run('sh', ['-ec', command], { cwd: folder, env: { PATH: process.env.PATH, ...environment } });
  await service.db.superuser(`create role ${restored} login createrole`);
  await service.db.superuser(`create database ${restored} owner ${restored}`);
  try {
    await sh(dump, { BACKUP_DATABASE_URL: urlOf(backup) });
    const owner = { ...service.db.owner, user: restored, database: restored };
    await sh(restore, { MIGRATION_DATABASE_URL: urlOf(owner) });
    await migrate(owner);
    const superuser = { ...owner, user: service.db.owner.user };
    assert.deepEqual(await contentsFor(superuser), await contentsFor(service.db.owner));
    const open = await asSuperuser(superuser, (client) =>
      client.query(`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
                    and relrowsecurity and not relforcerowsecurity`),
    );
    assert.deepEqual(open.rows, []);
  } finally {
    await service.db.superuser(`drop database ${restored} with (force)`);
    for (const role of [`${restored}_service`, `${restored}_backup`, restored]) {
      await service.db.superuser(`drop role if exists ${role}`);
    }
    await rm(folder, { recursive: true, force: true });
  }
});
