import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseStartError } from './database-start-error.ts';
import { canReach, findServerUser, locateBinaries, type ServerUser } from './postgres-binaries.ts';
import { alone } from './process-guard.ts';

export interface SocketConnection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export interface EmbeddedPostgres {
  /** As the cluster's superuser and owner of the database, over a unix socket that only this user can reach. */
  readonly connection: SocketConnection;
  /** Fast shutdown; of a borrowed one only when nobody else uses it. Idempotent. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: (event: string, details?: object) => void;
}

interface Cluster {
  readonly folder: string;
  readonly binaries: string;
  readonly user: ServerUser | undefined;
  readonly socketFolder: string;
  readonly guardName: string;
}

const database = 'sharedraft';
const port = 5432;
const startPatienceMillis = 30_000;
const stopPatienceMillis = 20_000;
/** Held by the one service that owns the cluster, for as long as it runs. */
const ownerLock = 7_305_101;

/**
 * Starts the embedded PostgreSQL in `dataDir` and keeps it running: if it dies it is brought back. One service owns
 * a data folder; a second one gets a DatabaseStartError. A database that outlived its service (kill -9) is found by
 * connecting and taken over.
 */
export async function ownEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(options.dataDir);
  await alone(cluster.guardName, startPatienceMillis, () => ensureRunning(cluster, options));
  let owner = await takeOwnership(cluster, options);
  let stopping = false;
  let supervising: Promise<void> = Promise.resolve();

  const supervise = () => {
    owner.once('end', () => {
      if (stopping) return;
      options.log('database_down');
      supervising = revive();
    });
  };
  const revive = async () => {
    for (let pauseMillis = 50; !stopping; pauseMillis = Math.min(pauseMillis * 2, 5_000)) {
      try {
        await alone(cluster.guardName, startPatienceMillis, () => ensureRunning(cluster, options));
        owner = await takeOwnership(cluster, options);
        options.log('database_up');
        supervise();
        return;
      } catch (error) {
        options.log('database_still_down', { error });
        await sleep(pauseMillis);
      }
    }
  };
  supervise();

  let stopped: Promise<void> | undefined;
  const stop = async () => {
    stopping = true;
    await supervising;
    await owner.end().catch(() => {});
    await stopServer(cluster);
  };
  return {
    connection: connectionOf(cluster),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * For a command: uses the running database, or starts it for the time of the command. The last to use it stops it,
 * whoever started it: that one may have been interrupted, or may have gone before another command was done.
 */
export async function borrowEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const cluster = await prepareCluster(options.dataDir);
  await alone(cluster.guardName, startPatienceMillis, () => ensureRunning(cluster, options));
  return {
    connection: connectionOf(cluster),
    stop: () =>
      alone(cluster.guardName, startPatienceMillis, async () => {
        if (!(await isUsed(cluster))) await stopServer(cluster);
      }),
  };
}

async function prepareCluster(dataDir: string): Promise<Cluster> {
  const user = await findServerUser();
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o755 });
    const home = await realpath(dataDir);
    // When the folder is closed to the server's user, the cluster lives elsewhere and a note in the folder says where.
    const reachable = user === undefined || (await canReach(user, home));
    const place = reachable ? home : await otherPlace(home);
    if (!reachable) await mkdir(place, { recursive: true, mode: 0o755 });
    const hash = createHash('sha256').update(place).digest('hex').slice(0, 12);
    const socketFolder = await makeSocketFolder(`sharedraft-${hash}`, user);
    const binaries = await locateBinaries(user, '/var/lib/sharedraft');
    return {
      folder: path.join(place, 'postgres'),
      binaries,
      user,
      socketFolder,
      guardName: `sharedraft-${hash}`,
    };
  } catch (error) {
    throw explain(error, dataDir);
  }
}

async function otherPlace(home: string): Promise<string> {
  const note = path.join(home, 'database-is-in');
  try {
    return (await readFile(note, 'utf8')).trim();
  } catch {
    const place = `/var/lib/sharedraft/${randomUUID()}`;
    await writeFile(note, `${place}\n`);
    return place;
  }
}

/** Short, since a socket's path may have 107 bytes, and private: whoever can open the socket is superuser. */
async function makeSocketFolder(name: string, user: ServerUser | undefined): Promise<string> {
  const candidates = [os.tmpdir(), '/tmp'];
  for (const parent of candidates) {
    const folder = path.join(parent, name);
    if (folder.length > 80 || (user !== undefined && !(await canReach(user, parent)))) continue;
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    // Anybody may have made a link of this name, and what it names would be given away.
    const found = await lstat(folder);
    const owners = [user?.uid, process.getuid?.()];
    if (!found.isDirectory() || !owners.includes(found.uid)) {
      throw new DatabaseStartError(`The folder ${folder} belongs to somebody else; remove it or set TMPDIR.`);
    }
    if (user !== undefined) await chown(folder, user.uid, user.gid);
    await chmod(folder, 0o700);
    return folder;
  }
  throw new DatabaseStartError('There is no short enough folder for the database socket; set TMPDIR to one.');
}

/** Starts the server where none runs. Only under the guard. */
async function ensureRunning(cluster: Cluster, options: EmbeddedOptions): Promise<void> {
  if (await isRunning(cluster)) return;
  try {
    await initializeOnce(cluster, options);
    await startServer(cluster);
    await createDatabase(cluster);
  } catch (error) {
    throw explain(error, options.dataDir);
  }
}

/** Proven by connecting and asking, never by a process number alone: numbers are reused. */
async function isRunning(cluster: Cluster): Promise<boolean> {
  const client = newClient(cluster, 'postgres');
  try {
    await client.connect();
    const { rows } = await client.query('show data_directory');
    return rows[0]?.data_directory === cluster.folder;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Made under another name and renamed when complete: a cluster that was begun and not finished is never used. */
async function initializeOnce(cluster: Cluster, options: EmbeddedOptions): Promise<void> {
  if (await exists(cluster.folder)) return;
  options.log('database_initializing');
  const unfinished = `${cluster.folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (cluster.user) await chown(unfinished, cluster.user.uid, cluster.user.gid);
  const child = spawn(
    path.join(cluster.binaries, 'bin', 'initdb'),
    [
      '-D',
      unfinished,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale-provider=builtin',
      '--locale=C.UTF-8',
    ],
    {
      ...identityOf(cluster),
      stdio: ['ignore', 'ignore', 'pipe'],
      env: environmentOf(cluster),
      // In a group of its own: Ctrl-C is for the service, which finishes its start before it stops.
      detached: true,
    },
  );
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint += chunk;
  });
  const code = await exitOf(child);
  if (code !== 0) {
    await rm(unfinished, { recursive: true, force: true });
    throw new Error(`initdb ended with ${code}: ${complaint.trim()}`);
  }
  await rename(unfinished, cluster.folder);
}

/**
 * What the server may keep in its own memory: an eighth of the machine's, or of what a container allows (0 or nothing where there
 * is no such limit); the service is here as well. What nobody needs is never touched. With too little, each transfer reads its
 * pages again from the kernel (ADR 12).
 */
export function sharedMegabytes(machineBytes: number, allowedBytes = 0): number {
  const bytes = allowedBytes > 0 ? Math.min(machineBytes, allowedBytes) : machineBytes;
  return Math.min(4_096, Math.max(256, Math.floor(bytes / 8 / 2 ** 20)));
}

async function startServer(cluster: Cluster): Promise<void> {
  const logFile = path.join(cluster.folder, 'server.log');
  const log = await open(logFile, 'a');
  if (cluster.user) await log.chown(cluster.user.uid, cluster.user.gid);
  const settings = {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: cluster.socketFolder,
    unix_socket_permissions: '0700',
    max_connections: '100',
    shared_buffers: `${sharedMegabytes(os.totalmem(), process.constrainedMemory())}MB`,
    max_wal_size: '2GB',
    // What was promised to be written is on the disk.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
  };
  const deadline = Date.now() + startPatienceMillis;
  for (;;) {
    const child = spawn(
      path.join(cluster.binaries, 'bin', 'postgres'),
      [
        '-D',
        cluster.folder,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      // A session of its own: Ctrl-C at the terminal must not reach it under work that is in flight.
      {
        ...identityOf(cluster),
        detached: true,
        stdio: ['ignore', log.fd, log.fd],
        env: environmentOf(cluster),
      },
    );
    child.unref();
    const ended = exitOf(child).then(() => 'ended' as const);
    for (;;) {
      if (await isRunning(cluster)) {
        await log.close();
        return;
      }
      const state = await Promise.race([ended, sleep(20)]);
      if (state === 'ended') break;
      if (Date.now() > deadline) break;
    }
    // After a kill -9 the old server's children may hold its memory for a moment.
    if (Date.now() > deadline || !(await mentionsOldServer(logFile))) {
      await log.close();
      throw new Error(`PostgreSQL did not start: ${await lastComplaint(logFile)}`);
    }
    await sleep(100);
  }
}

async function createDatabase(cluster: Cluster): Promise<void> {
  const client = newClient(cluster, 'postgres');
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${database}`);
  } finally {
    await client.end();
  }
}

async function takeOwnership(cluster: Cluster, options: EmbeddedOptions): Promise<pg.Client> {
  const client = newClient(cluster, 'postgres');
  client.on('error', (error) => options.log('database_connection_lost', { error }));
  await client.connect();
  const { rows } = await client.query('select pg_try_advisory_lock($1) as mine', [ownerLock]);
  if (rows[0]?.mine !== true) {
    await client.end();
    throw new DatabaseStartError(
      `Another service is running on ${options.dataDir}. Stop it, or set DATA_DIR to another folder.`,
    );
  }
  return client;
}

/** By whoever has a session; an owner always has one. */
async function isUsed(cluster: Cluster): Promise<boolean> {
  const client = newClient(cluster, 'postgres');
  try {
    await client.connect();
    const { rows } = await client.query(
      `select exists (select from pg_stat_activity
                      where backend_type = 'client backend' and pid <> pg_backend_pid()) as used`,
    );
    return rows[0]?.used === true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Fast shutdown: no new connections, running transactions rolled back, everything written. */
async function stopServer(cluster: Cluster): Promise<void> {
  if (!(await isRunning(cluster))) return;
  const [line = ''] = (await readFile(path.join(cluster.folder, 'postmaster.pid'), 'utf8')).split('\n');
  const pid = Number(line);
  process.kill(pid, 'SIGINT');
  const deadline = Date.now() + stopPatienceMillis;
  while (isAlive(pid)) {
    if (Date.now() > deadline) throw new DatabaseStartError('The embedded PostgreSQL did not stop in time.');
    await sleep(20);
  }
  await rm(cluster.socketFolder, { recursive: true, force: true });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function newClient(cluster: Cluster, name: string): pg.Client {
  const client = new pg.Client({ ...connectionOf(cluster), database: name, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  return client;
}

function connectionOf(cluster: Cluster): SocketConnection {
  return { host: cluster.socketFolder, port, user: 'postgres', database };
}

function identityOf(cluster: Cluster) {
  return {
    cwd: path.dirname(cluster.folder),
    ...(cluster.user && { uid: cluster.user.uid, gid: cluster.user.gid }),
  };
}

function environmentOf(cluster: Cluster): NodeJS.ProcessEnv {
  const libraries = path.join(cluster.binaries, 'lib');
  return { PATH: process.env.PATH, LC_ALL: 'C', LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries };
}

function exitOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'nothing'));
  });
}

async function mentionsOldServer(logFile: string): Promise<boolean> {
  return /pre-existing shared memory block|lock file .* already exists/.test(await tail(logFile));
}

async function lastComplaint(logFile: string): Promise<string> {
  const lines = (await tail(logFile)).split('\n').filter((line) => /FATAL|PANIC|ERROR/.test(line));
  return lines.at(-1)?.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '') ?? `see ${logFile}`;
}

async function tail(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).slice(-4_000);
}

async function exists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

/** One clear sentence for what people really meet: a full disk, a folder that may not be written. */
function explain(error: unknown, dataDir: string): Error {
  if (error instanceof DatabaseStartError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|No space left/i.test(text)) {
    return new DatabaseStartError(`The disk that holds ${dataDir} is full.`, error);
  }
  // Of a folder on a read-only file system Node says that it is not there.
  if (/EACCES|EPERM|EROFS|ENOENT.*, mkdir|Permission denied|Read-only file system/i.test(text)) {
    return new DatabaseStartError(
      `The folder ${dataDir} cannot be written. Set DATA_DIR to one that can.`,
      error,
    );
  }
  if (/ENOTDIR|EEXIST/.test(text)) return new DatabaseStartError(`${dataDir} is not a folder.`, error);
  return new DatabaseStartError(`The embedded PostgreSQL could not be started: ${text}`, error);
}
