import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import pg from 'pg';
import {
  borrowEmbeddedPostgres,
  migrate,
  ownEmbeddedPostgres,
  type SocketConnection,
} from '../../src/storage/index.ts';

let parent: string;
let dataDir: string;
const log = () => {};
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-embedded-'));
  // As a service's data folder is: its parents let the server's user through.
  await chmod(parent, 0o755);
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(parent, 'data-'));
  await chmod(dataDir, 0o755);
});

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function ask(connection: SocketConnection, text: string): Promise<unknown> {
  const client = new pg.Client({ ...connection });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query(text);
    return Object.values(rows[0] ?? {})[0];
  } finally {
    await client.end().catch(() => {});
  }
}

async function postmasterOf(folder: string): Promise<number> {
  const text = await readFile(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8');
  return Number(text.split('\n')[0]);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function eventually(what: string, test: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (!(await test().catch(() => false))) {
    assert.ok(Date.now() < deadline, `in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test('what was written is there after stop and start; stopping twice is stopping once', async () => {
  const first = await ownEmbeddedPostgres({ dataDir, log });
  await ask(first.connection, 'create table kept as select 42 as answer');
  await Promise.all([first.stop(), first.stop()]);
  await assert.rejects(ask(first.connection, 'select 1'));
  const second = await ownEmbeddedPostgres({ dataDir, log });
  assert.equal(await ask(second.connection, 'select answer from kept'), 42);
  await second.stop();
});

test('a link in the place of the socket’s folder is not followed', async () => {
  const folder = await realpath(dataDir);
  const other = await mkdtemp(path.join(parent, 'other-'));
  await chmod(other, 0o755);
  const hash = createHash('sha256').update(folder).digest('hex').slice(0, 12);
  const link = path.join(os.tmpdir(), `sharedraft-${hash}`);
  await symlink(other, link);
  try {
    await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /belongs to somebody else/);
    const { mode, uid } = await stat(other);
    assert.deepEqual([mode & 0o777, uid], [0o755, process.getuid?.()]);
  } finally {
    await rm(link, { force: true });
  }
});

test('commits are durable and nobody else on the machine can reach the socket', async () => {
  const postgres = await ownEmbeddedPostgres({ dataDir, log });
  try {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
      assert.equal(await ask(postgres.connection, `show ${setting}`), 'on', setting);
    }
    assert.equal(await ask(postgres.connection, 'show listen_addresses'), '');
    assert.equal(await ask(postgres.connection, 'show unix_socket_permissions'), '0700');
  } finally {
    await postgres.stop();
  }
});

test('a second owner of the same folder is refused in one sentence', async () => {
  const first = await ownEmbeddedPostgres({ dataDir, log });
  try {
    await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /Another service is running on .*DATA_DIR/);
    assert.equal(await ask(first.connection, 'select 1'), 1);
  } finally {
    await first.stop();
  }
});

test('a command borrows the running database and leaves it running, or starts it for its own time', async () => {
  const alone = await borrowEmbeddedPostgres({ dataDir, log });
  const pid = await postmasterOf(dataDir);
  await alone.stop();
  assert.equal(isAlive(pid), false);

  const owner = await ownEmbeddedPostgres({ dataDir, log });
  const borrowed = await borrowEmbeddedPostgres({ dataDir, log });
  await borrowed.stop();
  assert.equal(await ask(owner.connection, 'select 1'), 1);
  await owner.stop();
});

test('the last command that uses the database stops it, also where the one that started it was killed or went before', async () => {
  const first = await borrowEmbeddedPostgres({ dataDir, log });
  const pid = await postmasterOf(dataDir);
  const second = await borrowEmbeddedPostgres({ dataDir, log });
  const session = new pg.Client({ ...second.connection });
  await session.connect();
  await first.stop();
  assert.equal((await session.query('select 1 as one')).rows[0]?.one, 1, 'it is still used');
  await session.end();
  await second.stop();
  assert.equal(isAlive(pid), false);

  // As a command that was killed: it stops nothing.
  await borrowEmbeddedPostgres({ dataDir, log });
  const orphan = await postmasterOf(dataDir);
  await (await borrowEmbeddedPostgres({ dataDir, log })).stop();
  assert.equal(isAlive(orphan), false);
});

test('a database whose server is killed is brought back by its owner, with all that was committed', async () => {
  const events: string[] = [];
  const postgres = await ownEmbeddedPostgres({ dataDir, log: (event) => events.push(event) });
  try {
    await ask(postgres.connection, 'create table kept as select 1 as one');
    process.kill(await postmasterOf(dataDir), 'SIGKILL');
    await eventually('brought back', async () => events.includes('database_up'));
    assert.equal(await ask(postgres.connection, 'select one from kept'), 1);
  } finally {
    await postgres.stop();
  }
});

test('a database that outlived its killed owner is found and taken over', async () => {
  const program = `
    import { ownEmbeddedPostgres } from ${JSON.stringify(new URL('../../src/storage/index.ts', import.meta.url).href)};
    await ownEmbeddedPostgres({ dataDir: ${JSON.stringify(dataDir)}, log: () => {} });
    console.log('ready');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const pid = await postmasterOf(dataDir);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  assert.equal(isAlive(pid), true, 'the orphan goes on');

  const heir = await ownEmbeddedPostgres({ dataDir, log });
  assert.equal(await postmasterOf(dataDir), pid);
  await heir.stop();
  assert.equal(isAlive(pid), false);
});

test('an initialization that was not finished is begun again', async () => {
  await import('node:fs/promises').then(async ({ mkdir }) => {
    await mkdir(path.join(dataDir, 'postgres.new'));
    await writeFile(path.join(dataDir, 'postgres.new', 'PG_VERSION'), '18\n');
  });
  const postgres = await ownEmbeddedPostgres({ dataDir, log });
  assert.equal(await ask(postgres.connection, 'select 1'), 1);
  await postgres.stop();
});

test('two that start at once on a fresh folder: one owns it, the other is refused, nothing is harmed', async () => {
  const both = await Promise.allSettled([
    ownEmbeddedPostgres({ dataDir, log }),
    ownEmbeddedPostgres({ dataDir, log }),
  ]);
  const owners = both.filter((one) => one.status === 'fulfilled');
  assert.equal(owners.length, 1);
  assert.equal(await ask(owners[0]?.value.connection as SocketConnection, 'select 1'), 1);
  await owners[0]?.value.stop();
});

test('a folder that is closed to the server user: the cluster lives elsewhere, and a note says where', {
  skip: process.getuid?.() !== 0 && 'only root runs the server as another user',
}, async () => {
  await chmod(dataDir, 0o700);
  const inner = path.join(dataDir, 'inner');
  const postgres = await ownEmbeddedPostgres({ dataDir: inner, log });
  assert.equal(await ask(postgres.connection, 'select 1'), 1);
  await postgres.stop();
  const place = (await readFile(path.join(inner, 'database-is-in'), 'utf8')).trim();
  const again = await ownEmbeddedPostgres({ dataDir: inner, log });
  assert.equal(String(await ask(again.connection, 'show data_directory')).startsWith(place), true);
  await again.stop();
  await rm(place, { recursive: true, force: true });
});

test('a data folder that is a file is named in one sentence', async () => {
  const file = path.join(dataDir, 'file');
  await writeFile(file, '');
  await assert.rejects(ownEmbeddedPostgres({ dataDir: file, log }), /is not a folder/);
});

test("a database that came into a cluster without the service's role is refused: no dump has a role's rights", async () => {
  const { connection, stop } = await ownEmbeddedPostgres({ dataDir, log });
  await migrate(connection);
  await ask(connection, 'alter role sharedraft_service rename to left_behind');
  await assert.rejects(migrate(connection), {
    name: 'DatabaseStartError',
    message: /role sharedraft_service is missing.*create role sharedraft_service nologin.*restore anew/,
  });
  await stop();
});
