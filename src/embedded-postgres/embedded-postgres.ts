import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseStartError, type SocketConnection } from '../storage/index.ts';
import { locateBinaries } from './postgres-binaries.ts';
import { withProcessLock } from './process-lock.ts';
import {
  canReach,
  findServerUser,
  refuseFolderOfOthers,
  refuseNamesOf,
  type ServerUser,
  whyDemoOnly,
} from './server-user.ts';

export interface EmbeddedPostgres {
  /** Connects as the cluster's superuser, over a unix socket that only this user can reach. */
  readonly connection: SocketConnection;
  /** The reason why this database may hold demo institutions only, in one sentence; undefined if it may hold any. */
  readonly demoOnly: string | undefined;
  /** Fast shutdown. Leaves a borrowed server running while other processes use it. Idempotent. */
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
  /** Held while the server is initialized, started or stopped. */
  readonly lockFile: string;
}

const database = 'sharedraft';
const port = 5432;
const startPatienceMillis = 30_000;
const stopPatienceSeconds = 20;
/** Time for a running server to accept a connection, or to respond to a query about itself. */
const probeMillis = 5_000;
/** The path of a socket, with its name, may have 107 bytes; on macOS 103. */
const longestSocketFolder = 88;
/** Parent of the server's folder if the service runs as root and the data folder is closed to the server's user. */
const rootsFolder = '/var/lib/sharedraft';
/** The one service that owns the cluster holds this lock while it runs. */
const ownerLock = 7_305_101;

/**
 * Starts the embedded PostgreSQL in `dataDir`, and starts it again if it ends. One service owns a data folder; a second one
 * gets DatabaseStartError. A server that outlived its service (kill -9) is found by connecting to it, and taken over.
 */
export async function ownEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const cluster = await startCluster(options);
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
        await withProcessLock(cluster.lockFile, startPatienceMillis, () => ensureRunning(cluster, options));
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
    demoOnly: whyDemoOnly(cluster.user, cluster.folder),
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * For a command: uses the running server, or starts one for the time of the command. The last user stops it, since the
 * command that started it may have ended or been interrupted earlier.
 */
export async function borrowEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const cluster = await startCluster(options);
  return {
    connection: connectionOf(cluster),
    demoOnly: whyDemoOnly(cluster.user, cluster.folder),
    stop: () =>
      withProcessLock(cluster.lockFile, startPatienceMillis, async () => {
        if (!(await isUsed(cluster))) await stopServer(cluster);
      }),
  };
}

async function startCluster(options: EmbeddedOptions): Promise<Cluster> {
  try {
    await refuseFolderOfOthers(options.dataDir);
    await mkdir(options.dataDir, { recursive: true, mode: 0o755 });
    // In a folder like /tmp, another user may have created it meanwhile.
    await refuseFolderOfOthers(options.dataDir);
    const home = await realpath(options.dataDir);
    const lockFile = path.join(home, 'database.lock');
    return await withProcessLock(lockFile, startPatienceMillis, async () => {
      const cluster = await prepareCluster(home, lockFile);
      await ensureRunning(cluster, options);
      return cluster;
    });
  } catch (error) {
    throw explain(error, options.dataDir);
  }
}

/**
 * Chooses the folder and the user of the server. If the data folder is closed to the server's user, the cluster is elsewhere,
 * and a note in the data folder has its path. The caller holds the lock.
 */
async function prepareCluster(home: string, lockFile: string): Promise<Cluster> {
  const noted = await readNote(home, 'database-is-in');
  const user = await findServerUser(path.join(noted ?? home, 'postgres'));
  if (user !== undefined) await refuseNamesOf(user, home);
  const place = noted ?? (await choosePlace(home, user));
  await mkdir(place, { recursive: true, mode: 0o755 });
  return {
    folder: path.join(place, 'postgres'),
    binaries: await locateBinaries(user, rootsFolder),
    user,
    socketFolder: await prepareSocketFolder(home, place, user),
    lockFile,
  };
}

async function choosePlace(home: string, user: ServerUser | undefined): Promise<string> {
  if (user === undefined || (await exists(path.join(home, 'postgres'))) || (await canReach(user, home)))
    return home;
  const place = `${rootsFolder}/${randomUUID()}`;
  await writeNote(home, 'database-is-in', place);
  return place;
}

/**
 * The folder of the socket. It is private, since any user who can open the socket is superuser. It stands beside the cluster,
 * where no other user can create it. If that path is too long for a socket, a folder with a random name is created and noted.
 */
async function prepareSocketFolder(
  home: string,
  place: string,
  user: ServerUser | undefined,
): Promise<string> {
  const beside = path.join(place, 'socket');
  if (beside.length <= longestSocketFolder) {
    await mkdir(beside, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return givePrivateFolder(beside, user);
  }
  const noted = await readNote(home, 'socket-is-in');
  if (noted !== undefined && (await exists(noted))) return givePrivateFolder(noted, user);
  const parent = user === undefined ? shortTemporaryFolder() : rootsFolder;
  await mkdir(parent, { recursive: true, mode: 0o755 });
  const made = await mkdtemp(path.join(parent, 'sharedraft-'));
  await writeNote(home, 'socket-is-in', made);
  return givePrivateFolder(made, user);
}

function shortTemporaryFolder(): string {
  const room = longestSocketFolder - '/sharedraft-XXXXXX'.length;
  return os.tmpdir().length <= room ? os.tmpdir() : '/tmp';
}

/** Gives the folder to the server's user if this process is root. A symbolic link is not followed. */
async function givePrivateFolder(folder: string, user: ServerUser | undefined): Promise<string> {
  const found = await lstat(folder);
  const isOurs = [user?.uid, process.getuid?.()].includes(found.uid);
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
    throw new DatabaseStartError(
      `The folder ${folder} for the database's socket must be a folder that only its owner, the database's user, may enter. Remove it and start again.`,
    );
  }
  if (user !== undefined) await lchown(folder, user.uid, user.gid);
  return folder;
}

async function readNote(home: string, name: string): Promise<string | undefined> {
  const file = path.join(home, name);
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const folder = text?.trim();
  if (folder === undefined) return undefined;
  const isRoot = process.getuid?.() === 0;
  if (path.isAbsolute(folder) && (!isRoot || path.dirname(path.resolve(folder)) === rootsFolder))
    return folder;
  throw new DatabaseStartError(
    `${file} must name a folder ${isRoot ? `in ${rootsFolder}` : 'by its full path'}.`,
  );
}

async function writeNote(home: string, name: string, folder: string): Promise<void> {
  await writeFile(path.join(home, name), `${folder}\n`);
}

/** Starts the server unless one runs. The caller holds the lock. */
async function ensureRunning(cluster: Cluster, options: EmbeddedOptions): Promise<void> {
  if (await isRunning(cluster)) return;
  try {
    await initializeOnce(cluster, options);
    await startServer(cluster);
    if (whyDemoOnly(cluster.user, cluster.folder) !== undefined)
      options.log('database_runs_as_nobody_for_a_demo_only');
    await createDatabase(cluster);
  } catch (error) {
    throw explain(error, options.dataDir);
  }
}

/** Proves it by a connection and a query, since process numbers are reused. */
async function isRunning(cluster: Cluster): Promise<boolean> {
  const client = newClient(cluster, 'postgres', probeMillis);
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

/** Creates the cluster under another name and renames it when complete, so that an unfinished one is never used. */
async function initializeOnce(cluster: Cluster, options: EmbeddedOptions): Promise<void> {
  if (await exists(cluster.folder)) return;
  options.log('database_initializing');
  const unfinished = `${cluster.folder}.new`;
  await removeFolder(cluster, unfinished);
  await mkdir(unfinished, { mode: 0o700 });
  if (cluster.user) await chown(unfinished, cluster.user.uid, cluster.user.gid);
  const { code, output } = await runAsServer(cluster, path.join(cluster.binaries, 'bin', 'initdb'), [
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
  ]);
  if (code !== 0) {
    await removeFolder(cluster, unfinished);
    throw new Error(`initdb ended with ${code}: ${output.trim()}`);
  }
  await rename(unfinished, cluster.folder);
}

/**
 * Shared buffers of the server: an eighth of the memory of the machine or the container, since the service needs memory too.
 * Unused buffers are never touched. With too few, each transfer reads its pages from the kernel again (ADR 12). A container
 * limit of 0 or undefined means no limit.
 */
export function sharedMegabytes(machineBytes: number, allowedBytes = 0): number {
  const bytes = allowedBytes > 0 ? Math.min(machineBytes, allowedBytes) : machineBytes;
  return Math.min(4_096, Math.max(256, Math.floor(bytes / 8 / 2 ** 20)));
}

/** The server's user opens the log, since root must not open a file whose name that user controls. */
const appendToLog = 'log=$1; shift; exec "$@" </dev/null >>"$log" 2>&1';

async function startServer(cluster: Cluster): Promise<void> {
  const settings = {
    listen_addresses: '',
    port: String(port),
    unix_socket_directories: cluster.socketFolder,
    unix_socket_permissions: '0700',
    max_connections: '100',
    shared_buffers: `${sharedMegabytes(os.totalmem(), process.constrainedMemory())}MB`,
    max_wal_size: '2GB',
    // A commit returns only after its data is on the disk.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
  };
  const deadline = Date.now() + startPatienceMillis;
  for (;;) {
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        appendToLog,
        'sh',
        logFileOf(cluster),
        path.join(cluster.binaries, 'bin', 'postgres'),
        '-D',
        cluster.folder,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      { ...asServer(cluster), stdio: 'ignore' },
    );
    child.unref();
    const ended = exitOf(child).then(() => 'ended' as const);
    for (;;) {
      if (await isRunning(cluster)) return;
      const state = await Promise.race([ended, sleep(20)]);
      if (state === 'ended') break;
      if (Date.now() > deadline) break;
    }
    // After kill -9, the old server's children may hold its shared memory for a moment.
    const said = await tailOfLog(cluster);
    if (Date.now() > deadline || !mentionsOldServer(said)) {
      throw new Error(`PostgreSQL did not start: ${lastComplaint(said) ?? `see ${logFileOf(cluster)}`}`);
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

/** True if any process has a session; an owner always has one. */
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

/**
 * Fast shutdown: refuses connections, rolls back transactions, writes everything. It runs as the server's user, so that a
 * forged process number in the folder cannot stop a process of root.
 */
async function stopServer(cluster: Cluster): Promise<void> {
  if (!(await isRunning(cluster))) return;
  const { code } = await runAsServer(cluster, path.join(cluster.binaries, 'bin', 'pg_ctl'), [
    'stop',
    '--pgdata',
    cluster.folder,
    '--mode=fast',
    `--timeout=${stopPatienceSeconds}`,
    '--silent',
  ]);
  if (code !== 0) throw new DatabaseStartError('The embedded PostgreSQL did not stop in time.');
}

/** Bounded in time, so that a silent server does not hold the lock against later starts. */
function newClient(cluster: Cluster, name: string, queryMillis = startPatienceMillis): pg.Client {
  const client = new pg.Client({
    ...connectionOf(cluster),
    database: name,
    connectionTimeoutMillis: probeMillis,
    query_timeout: queryMillis,
  });
  client.on('error', () => {});
  return client;
}

function connectionOf(cluster: Cluster): SocketConnection {
  return { host: cluster.socketFolder, port, user: 'postgres', database };
}

/** Runs as the server's user in a session of its own, so that Ctrl-C reaches only the service, which finishes its work first. */
function asServer(cluster: Cluster): SpawnOptions {
  return {
    cwd: path.dirname(cluster.folder),
    env: environmentOf(cluster),
    detached: true,
    ...(cluster.user && { uid: cluster.user.uid, gid: cluster.user.gid }),
  };
}

/** Runs a program to its end. `output` has both of its streams. */
async function runAsServer(
  cluster: Cluster,
  program: string,
  parameters: readonly string[],
): Promise<{ readonly code: number | string; readonly output: string }> {
  const child = spawn(program, [...parameters], {
    ...asServer(cluster),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 2 * startPatienceMillis,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      output += chunk;
    });
  }
  const code = await exitOf(child);
  return { code, output };
}

/** Removes the folder as the server's user, who owns its files. */
async function removeFolder(cluster: Cluster, folder: string): Promise<void> {
  if (cluster.user === undefined) return rm(folder, { recursive: true, force: true });
  if (!(await exists(folder))) return;
  await runAsServer(cluster, 'rm', ['-rf', '--', folder]);
  await rmdir(folder);
}

function environmentOf(cluster: Cluster): NodeJS.ProcessEnv {
  const libraries = path.join(cluster.binaries, 'lib');
  return { PATH: process.env.PATH, LC_ALL: 'C', LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries };
}

function exitOf(child: ChildProcess): Promise<number | string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal ?? 'nothing'));
  });
}

function mentionsOldServer(log: string): boolean {
  return /pre-existing shared memory block|lock file .* already exists/.test(log);
}

function lastComplaint(log: string): string | undefined {
  const lines = log.split('\n').filter((line) => /FATAL|PANIC|ERROR/.test(line));
  return lines
    .at(-1)
    ?.replace(/^.*?(FATAL|PANIC|ERROR):\s*/, '')
    .replace(/\p{Cc}/gu, '');
}

function logFileOf(cluster: Cluster): string {
  return path.join(cluster.folder, 'server.log');
}

async function tailOfLog(cluster: Cluster): Promise<string> {
  return (await runAsServer(cluster, 'tail', ['-c', '4000', logFileOf(cluster)])).output;
}

async function exists(folder: string): Promise<boolean> {
  return stat(folder).then(
    () => true,
    () => false,
  );
}

/** One sentence for common causes: a full disk, a folder without write permission. */
function explain(error: unknown, dataDir: string): Error {
  if (error instanceof DatabaseStartError) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (/ENOSPC|No space left/i.test(text)) {
    return new DatabaseStartError(`The disk that holds ${dataDir} is full.`, error);
  }
  // Node reports ENOENT for a new folder on a read-only file system.
  if (/EACCES|EPERM|EROFS|ENOENT.*, mkdir|Permission denied|Read-only file system/i.test(text)) {
    return new DatabaseStartError(
      `The folder ${dataDir} cannot be written. Set DATA_DIR to one that can.`,
      error,
    );
  }
  if (/ENOTDIR|EEXIST/.test(text)) return new DatabaseStartError(`${dataDir} is not a folder.`, error);
  return new DatabaseStartError(`The embedded PostgreSQL could not be started: ${text}`, error);
}
