import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import pg from 'pg';
import { borrowEmbeddedPostgres, ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { findServerUser, whyDemoOnly } from '../../src/embedded-postgres/server-user.ts';
import { migrate, type SocketConnection } from '../../src/storage/index.ts';

let parent: string;
let dataDir: string;
const log = () => {};
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-embedded-'));
  // Like a service's data folder: its parents let the server's user through.
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

test('data survives a stop and a start of the embedded server, and stopping twice equals stopping once', async () => {
  const first = await ownEmbeddedPostgres({ dataDir, log });
  await ask(first.connection, 'create table kept as select 42 as answer');
  await Promise.all([first.stop(), first.stop()]);
  await assert.rejects(ask(first.connection, 'select 1'));
  const second = await ownEmbeddedPostgres({ dataDir, log });
  assert.equal(await ask(second.connection, 'select answer from kept'), 42);
  await second.stop();
});

test('refuses a link in place of its socket folder, and leaves the link’s target unchanged', async () => {
  const other = await mkdtemp(path.join(parent, 'other-'));
  await chmod(other, 0o755);
  await symlink(other, path.join(dataDir, 'socket'));
  await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /must be a folder that only its owner/);
  const { mode, uid } = await stat(other);
  assert.deepEqual([mode & 0o777, uid], [0o755, process.getuid?.()]);
});

test('keeps its lock and socket out of reach of other users', async () => {
  const hash = createHash('sha256')
    .update(await realpath(dataDir))
    .digest('hex')
    .slice(0, 12);
  const folder = path.join(os.tmpdir(), `sharedraft-${hash}`);
  const squatter = createServer();
  await mkdir(folder);
  await new Promise<void>((resolve) => squatter.listen(`\0sharedraft-${hash}`, resolve));
  try {
    const postgres = await ownEmbeddedPostgres({ dataDir, log });
    assert.equal((await stat(path.join(dataDir, 'database.lock'))).mode & 0o777, 0o600);
    assert.equal((await stat(path.join(dataDir, 'socket'))).mode & 0o777, 0o700);
    await postgres.stop();
  } finally {
    squatter.close();
    await rm(folder, { recursive: true });
  }
});

test('finds its socket again for a data folder whose path is too long for one', async () => {
  const long = path.join(dataDir, 'a-folder-with-a-long-name'.repeat(4));
  const owner = await ownEmbeddedPostgres({ dataDir: long, log });
  const noted = (await readFile(path.join(long, 'socket-is-in'), 'utf8')).trim();
  assert.equal(owner.connection.host, noted);
  const borrowed = await borrowEmbeddedPostgres({ dataDir: long, log });
  assert.equal(await ask(borrowed.connection, 'select 1'), 1);
  await borrowed.stop();
  await owner.stop();
  await rm(noted, { recursive: true });
});

const onlyRoot = { skip: process.getuid?.() !== 0 && 'only root runs the server as another user' };

/** The folder of a stopped server, which the server's user may change at will. */
async function aStoppedServer(): Promise<string> {
  await (await ownEmbeddedPostgres({ dataDir, log })).stop();
  return path.join(dataDir, 'postgres');
}

test(
  'neither opens nor hands over a file of root that the server’s user put in place of the log',
  onlyRoot,
  async () => {
    const folder = await aStoppedServer();
    const secret = path.join(parent, 'root-only');
    await writeFile(secret, 'untouched', { mode: 0o600 });
    await rm(path.join(folder, 'server.log'));
    await symlink(secret, path.join(folder, 'server.log'));
    await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), { name: 'DatabaseStartError' });
    const { uid, mode } = await stat(secret);
    assert.deepEqual([uid, mode & 0o777, await readFile(secret, 'utf8')], [0, 0o600, 'untouched']);
  },
);

test(
  'signals none of root’s processes when the server’s user forges the process number',
  onlyRoot,
  async () => {
    const postgres = await ownEmbeddedPostgres({ dataDir, log });
    const bystander = spawn('sleep', ['60']);
    children.push(bystander);
    const pidFile = path.join(dataDir, 'postgres', 'postmaster.pid');
    const lines = (await readFile(pidFile, 'utf8')).split('\n');
    const { uid, gid } = await stat(pidFile);
    await writeFile(pidFile, [String(bystander.pid), ...lines.slice(1)].join('\n'));
    await assert.rejects(postgres.stop(), /did not stop/);
    assert.equal(bystander.signalCode, null);
    await writeFile(pidFile, lines.join('\n'));
    assert.equal((await stat(pidFile)).uid, uid, `still of ${uid}:${gid}`);
    const heir = await ownEmbeddedPostgres({ dataDir, log });
    await heir.stop();
  },
);

test('refuses a data folder that the server’s user can write', onlyRoot, async () => {
  const user = await findServerUser(path.join(dataDir, 'postgres'));
  await chown(dataDir, user?.uid ?? 0, 0);
  await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /user with the number .* owns/);
  await chown(dataDir, 0, user?.gid ?? 0);
  await chmod(dataDir, 0o775);
  await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /database's user ".*" can write/);
  await chmod(dataDir, 0o777);
  await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /Every user can write/);
});

test('starts its server in place of one that accepts connections and never responds', async () => {
  await aStoppedServer();
  const pretender = createServer((socket) => {
    socket.on('error', () => {});
    // AuthenticationOk and ReadyForQuery.
    socket.once('data', () => socket.write(Buffer.from('5200000008000000005a0000000549', 'hex')));
  });
  await new Promise<void>((resolve) => {
    pretender.listen(path.join(dataDir, 'socket', '.s.PGSQL.5432'), resolve);
  });
  try {
    const postgres = await ownEmbeddedPostgres({ dataDir, log });
    assert.equal(await ask(postgres.connection, 'show listen_addresses'), '');
    await postgres.stop();
  } finally {
    pretender.close();
  }
});

test('opens nothing in a data folder that belongs to another user or is below one', onlyRoot, async () => {
  const stranger = 65_533;
  const target = path.join(parent, 'made-by-root');
  await symlink(target, path.join(dataDir, 'database.lock'));
  await chown(dataDir, stranger, stranger);
  const below = path.join(dataDir, 'below');
  const linked = path.join(parent, 'linked');
  await symlink(dataDir, linked);
  for (const folder of [dataDir, below, linked]) {
    await assert.rejects(borrowEmbeddedPostgres({ dataDir: folder, log }), /user with the number 65533 owns/);
  }
  await chown(dataDir, 0, 0);
  await lchown(linked, stranger, stranger);
  await assert.rejects(borrowEmbeddedPostgres({ dataDir: linked, log }), /number 65533 owns .*linked/);
  await rm(linked);
  await assert.rejects(stat(target), { code: 'ENOENT' });
  await assert.rejects(stat(below), { code: 'ENOENT' });
});

test(
  'runs as the owner of its folder, else as sharedraft, postgres or nobody, in this order',
  onlyRoot,
  async () => {
    const passwd = path.join(dataDir, 'passwd');
    const missing = path.join(dataDir, 'postgres');
    const userOf = async (names: readonly string[], folder = missing) => {
      await writeFile(
        passwd,
        names.map((name, index) => `${name}:x:${900 + index}:${900 + index}::/:/bin/sh`).join('\n'),
      );
      return (await findServerUser(folder, passwd))?.name;
    };
    assert.equal(await userOf(['nobody', 'postgres', 'sharedraft']), 'sharedraft');
    assert.equal(await userOf(['nobody', 'postgres']), 'postgres');
    assert.equal(await userOf(['root', 'nobody']), 'nobody');
    await assert.rejects(userOf(['root']), /useradd --system .* sharedraft/);
    await mkdir(missing);
    await chown(missing, 900, 900);
    assert.equal(await userOf(['nobody', 'sharedraft']), 'nobody');
    await chown(missing, 0, 0);
    await assert.rejects(userOf(['nobody', 'sharedraft']), /belongs to uid 0/);
  },
);

test('keeps only demo institutions under a user that other programs share', () => {
  assert.match(
    whyDemoOnly({ name: 'nobody', uid: 1, gid: 1 }, '/data/postgres') ?? '',
    /useradd .* chown -Rh .* \/data\/postgres/,
  );
  assert.equal(whyDemoOnly({ name: 'sharedraft', uid: 1, gid: 1 }, '/data/postgres'), undefined);
  assert.equal(whyDemoOnly(undefined, '/data/postgres'), undefined);
});

test('makes commits durable, and no other user of the machine can reach the socket', async () => {
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

test('refuses a second owner of the same folder in one sentence', async () => {
  const first = await ownEmbeddedPostgres({ dataDir, log });
  try {
    await assert.rejects(ownEmbeddedPostgres({ dataDir, log }), /Another service is running on .*DATA_DIR/);
    assert.equal(await ask(first.connection, 'select 1'), 1);
  } finally {
    await first.stop();
  }
});

test('a command borrows the running database and leaves it running, or starts it for its own duration', async () => {
  const alone = await borrowEmbeddedPostgres({ dataDir, log });
  const pid = await postmasterOf(dataDir);
  await alone.stop();
  await eventually('the server has ended', async () => !isAlive(pid));

  const owner = await ownEmbeddedPostgres({ dataDir, log });
  const borrowed = await borrowEmbeddedPostgres({ dataDir, log });
  await borrowed.stop();
  assert.equal(await ask(owner.connection, 'select 1'), 1);
  await owner.stop();
});

test('the last command stops the database, even if the one that started it was killed or ended before', async () => {
  const first = await borrowEmbeddedPostgres({ dataDir, log });
  const pid = await postmasterOf(dataDir);
  const second = await borrowEmbeddedPostgres({ dataDir, log });
  const session = new pg.Client({ ...second.connection });
  await session.connect();
  await first.stop();
  assert.equal((await session.query('select 1 as one')).rows[0]?.one, 1, 'it is still used');
  await session.end();
  await second.stop();
  await eventually('the server has ended', async () => !isAlive(pid));

  // Like a killed command: it stops nothing.
  await borrowEmbeddedPostgres({ dataDir, log });
  const orphan = await postmasterOf(dataDir);
  await (await borrowEmbeddedPostgres({ dataDir, log })).stop();
  await eventually('the orphan has ended', async () => !isAlive(orphan));
});

test('the owner restarts a database whose server was killed, with everything that was committed', async () => {
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

test('finds and takes over a database that outlived its killed owner', async () => {
  const program = `
    import { ownEmbeddedPostgres } from ${JSON.stringify(new URL('../../src/embedded-postgres/index.ts', import.meta.url).href)};
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
  await eventually('the server has ended', async () => !isAlive(pid));
});

test('restarts an unfinished initialization', async () => {
  const unfinished = path.join(dataDir, 'postgres.new');
  await mkdir(unfinished);
  await writeFile(path.join(unfinished, 'PG_VERSION'), '18\n');
  const { uid, gid } = (await findServerUser(path.join(dataDir, 'postgres'))) ?? (await stat(dataDir));
  for (const made of [path.join(unfinished, 'PG_VERSION'), unfinished]) await chown(made, uid, gid);
  const postgres = await ownEmbeddedPostgres({ dataDir, log });
  assert.equal(await ask(postgres.connection, 'select 1'), 1);
  await postgres.stop();
});

test('lets one of two simultaneous starts own a new folder, and refuses the other without harm', async () => {
  const both = await Promise.allSettled([
    ownEmbeddedPostgres({ dataDir, log }),
    ownEmbeddedPostgres({ dataDir, log }),
  ]);
  const owners = both.filter((one) => one.status === 'fulfilled');
  assert.equal(owners.length, 1);
  assert.equal(await ask(owners[0]?.value.connection as SocketConnection, 'select 1'), 1);
  await owners[0]?.value.stop();
});

test('puts the cluster elsewhere with a note if the folder is closed to the server user', {
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

test('names a data folder that is a file in one sentence', async () => {
  const file = path.join(dataDir, 'file');
  await writeFile(file, '');
  await assert.rejects(ownEmbeddedPostgres({ dataDir: file, log }), /is not a folder/);
});

test('refuses a database that came into a cluster without the service’s role, because dumps omit the role’s rights', async () => {
  const { connection, stop } = await ownEmbeddedPostgres({ dataDir, log });
  await migrate(connection);
  await ask(connection, 'alter role sharedraft_service rename to left_behind');
  await assert.rejects(migrate(connection), {
    name: 'DatabaseStartError',
    message:
      /role "sharedraft_service" has no rights.*create role "sharedraft_service" nologin.*restore anew/,
  });
  await stop();
});
