import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, rename, rm, rmdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseStartError } from '../storage/index.ts';
import type { Cluster } from './cluster.ts';

export const port = 5432;
export const startPatienceMillis = 30_000;
const stopPatienceSeconds = 20;

/** Creates the cluster under another name and renames it when complete, so that an unfinished one is never used. */
export async function initializeOnce(cluster: Cluster, log: (event: string) => void): Promise<void> {
  if (existsSync(cluster.folder)) return;
  log('database_initializing');
  const unfinished = await createUnfinished(cluster);
  const { code, output } = await runAsServer(cluster, programOf(cluster, 'initdb'), [
    `--pgdata=${unfinished}`,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--locale=C.UTF-8',
  ]);
  if (code !== 0) {
    await removeFolder(cluster, unfinished);
    throw new Error(`initdb ended with ${code}: ${output.trim()}`);
  }
  await rename(unfinished, cluster.folder);
}

/** An empty folder of the server's user, to be renamed to the cluster's when it is complete. Removes one of an earlier try. */
export async function createUnfinished(cluster: Cluster): Promise<string> {
  const unfinished = `${cluster.folder}.new`;
  await removeFolder(cluster, unfinished);
  await mkdir(unfinished, { mode: 0o700 });
  if (cluster.user) await chown(unfinished, cluster.user.uid, cluster.user.gid);
  return unfinished;
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

/** Returns once `isUp`. */
export async function startServer(
  cluster: Cluster,
  isUp: () => Promise<boolean>,
  patienceMillis = startPatienceMillis,
): Promise<void> {
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
    // A restored folder has all of its log, and takes no connection before that is replayed.
    ...(existsSync(path.join(cluster.folder, 'recovery.signal')) && {
      restore_command: 'false',
      hot_standby: 'off',
    }),
  };
  const deadline = Date.now() + patienceMillis;
  for (;;) {
    const child = spawn(
      '/bin/sh',
      [
        '-c',
        appendToLog,
        'sh',
        logFileOf(cluster),
        programOf(cluster, 'postgres'),
        '-D',
        cluster.folder,
        ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      { ...asServer(cluster), stdio: 'ignore' },
    );
    child.unref();
    const ended = exitOf(child).then(() => 'ended' as const);
    for (;;) {
      if (await isUp()) return;
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

/**
 * Fast shutdown: refuses connections, rolls back transactions, writes everything. It runs as the server's user, so that a
 * forged process number in the folder cannot stop a process of root.
 */
export async function stopServer(cluster: Cluster): Promise<void> {
  const { code } = await runAsServer(cluster, programOf(cluster, 'pg_ctl'), [
    'stop',
    `--pgdata=${cluster.folder}`,
    '--mode=fast',
    `--timeout=${stopPatienceSeconds}`,
    '--silent',
  ]);
  if (code !== 0) throw new DatabaseStartError('The embedded PostgreSQL did not stop in time.');
}

/** Runs as the server's user in a session of its own, so that Ctrl-C reaches only the service, which finishes its work first. */
function asServer(cluster: Cluster): SpawnOptions {
  const libraries = path.join(cluster.binaries, 'lib');
  return {
    cwd: path.dirname(cluster.folder),
    env: { PATH: process.env.PATH, LC_ALL: 'C', LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries },
    detached: true,
    ...(cluster.user && { uid: cluster.user.uid, gid: cluster.user.gid }),
  };
}

/** Runs a program to its end: within a minute, or for as long as it reads `input`. `output` has both of its streams. */
export async function runAsServer(
  cluster: Cluster,
  program: string,
  parameters: readonly string[],
  { input }: { readonly input?: Readable } = {},
): Promise<{ readonly code: number | string; readonly output: string }> {
  const stdio: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe'];
  const child = spawn(program, [...parameters], {
    ...asServer(cluster),
    stdio,
    ...(input === undefined && { timeout: 2 * startPatienceMillis }),
  });
  // A program that ends early leaves the rest of its input unread; its exit code is the failure.
  child.stdin.on('error', () => {});
  if (input === undefined) child.stdin.end();
  else input.once('error', () => child.kill()).pipe(child.stdin);
  const [code, ...outputs] = await Promise.all([exitOf(child), readAll(child.stderr), readAll(child.stdout)]);
  return { code, output: outputs.join('') };
}

/** Removes the folder as the server's user, who owns its files. */
export async function removeFolder(cluster: Cluster, folder: string): Promise<void> {
  if (cluster.user === undefined) return rm(folder, { recursive: true, force: true });
  if (!existsSync(folder)) return;
  await runAsServer(cluster, 'rm', ['-rf', '--', folder]);
  await rmdir(folder);
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

function programOf({ binaries }: Cluster, name: 'initdb' | 'pg_ctl' | 'postgres'): string {
  return path.join(binaries, 'bin', name);
}
