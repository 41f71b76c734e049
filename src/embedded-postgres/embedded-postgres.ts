import { mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DatabaseStartError, type SocketConnection } from '../storage/index.ts';
import { type Cluster, prepareCluster } from './cluster.ts';
import { withProcessLock } from './process-lock.ts';
import { initializeOnce, port, startPatienceMillis, startServer, stopServer } from './server-process.ts';
import { refuseFolderOfOthers, whyDemoOnly } from './server-user.ts';
import { unpackCluster } from './unpack.ts';

/*
 * Phases of the embedded server. The file lock `database.lock` in the data folder orders the processes that start or stop it;
 * the advisory lock `ownerLock` marks the one service that owns it.
 *
 * | phase      | function                     | lock           | why                                                      |
 * |------------|------------------------------|----------------|----------------------------------------------------------|
 * | place      | prepareCluster (cluster.ts)  | file           | two starts must not choose two places                    |
 * | initialize | initializeOnce               | file           | initdb runs once; an unfinished cluster is never used    |
 * | start      | startServer                  | file           | one server a folder; a server that runs is taken over    |
 * | own        | takeOwnership                | advisory, kept | a second service on the folder is refused                |
 * | watch      | supervise, revive            | file, advisory | a server that ends is started again                      |
 * | borrow     | isUsed, stopServer           | file           | the last command stops the server, unless others use it  |
 * | back up    | takeBaseBackup               | none           | writers go on; a slot keeps the log of the meantime      |
 * | restore    | unpackCluster                | file           | into a folder without a database; renamed when complete  |
 * | stop       | stopServer                   | the owner's    | ends the ownership, then the server                      |
 */

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

const database = 'sharedraft';
/** Time for a running server to accept a connection, or to respond to a query about itself. */
const probeMillis = 5_000;
/** Time for a restored server to replay its log. */
const recoveryPatienceMillis = 60 * 60_000;
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
    if (await isRunning(cluster)) await stopServer(cluster);
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
        if ((await isRunning(cluster)) && !(await isUsed(cluster))) await stopServer(cluster);
      }),
  };
}

/**
 * Creates the database from the archive of a backup, and starts its server, which stays up for the next user of the folder. Throws
 * DatabaseStartError if there is a database already.
 */
export function restoreEmbeddedPostgres(options: EmbeddedOptions, archive: string): Promise<void> {
  return lockCluster(options, async (cluster) => {
    await unpackCluster(cluster, archive);
    await startServer(cluster, () => isRunning(cluster), recoveryPatienceMillis);
  });
}

function startCluster(options: EmbeddedOptions): Promise<Cluster> {
  return lockCluster(options, async (cluster) => {
    await ensureRunning(cluster, options);
    return cluster;
  });
}

/** Runs `work` with the cluster of the data folder, under its lock. Throws DatabaseStartError. */
async function lockCluster<T>(options: EmbeddedOptions, work: (cluster: Cluster) => Promise<T>): Promise<T> {
  try {
    await refuseFolderOfOthers(options.dataDir);
    await mkdir(options.dataDir, { recursive: true, mode: 0o755 });
    // In a folder like /tmp, another user may have created it meanwhile.
    await refuseFolderOfOthers(options.dataDir);
    const home = await realpath(options.dataDir);
    const lockFile = path.join(home, 'database.lock');
    return await withProcessLock(lockFile, startPatienceMillis, async () =>
      work(await prepareCluster(home, lockFile)),
    );
  } catch (error) {
    throw explain(error, options.dataDir);
  }
}

/** Starts the server unless one runs. The caller holds the lock. */
async function ensureRunning(cluster: Cluster, options: EmbeddedOptions): Promise<void> {
  if (await isRunning(cluster)) return;
  try {
    await initializeOnce(cluster, options.log);
    await startServer(cluster, () => isRunning(cluster));
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
