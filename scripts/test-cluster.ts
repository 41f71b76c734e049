// The PostgreSQL that is kept between runs of single test files. One process keeps it; a note in node_modules/.cache
// has the folder of its socket; the note's time of change is the last use.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

interface Note {
  /** The folder of the cluster's socket. */
  readonly host: string;
  /** The process that keeps it. */
  readonly keeper: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, 'node_modules/.cache/sharedraft-test-cluster');
const postgresSupport = path.join(root, 'test/support/postgres.ts');
const idleMillis = 10 * 60_000;
const watchMillis = 15_000;
const startPatienceMillis = 60_000;

/** Changes with everything that the kept template database is made from. */
function noteFile(): string {
  const hash = createHash('sha256');
  const sources = [
    'migrations/**',
    'sql/**',
    'src/storage/**',
    'src/embedded-postgres/**',
    'test/support/postgres.ts',
  ];
  for (const file of globSync(sources, { cwd: root }).sort()) {
    const full = path.join(root, file);
    if (statSync(full).isFile()) hash.update(`${file}\0`).update(readFileSync(full));
  }
  return path.join(folder, `${hash.digest('hex').slice(0, 16)}.json`);
}

/** True if the test file imports, by whichever way, the module that starts PostgreSQL. */
export function needsCluster(file: string): boolean {
  const seen = new Set<string>();
  const waiting = [path.resolve(file)];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === postgresSupport) return true;
    if (seen.has(next) || !existsSync(next)) continue;
    seen.add(next);
    for (const [, target = ''] of readFileSync(next, 'utf8').matchAll(
      /\b(?:from|import)\s*\(?\s*'(\.[^']+)'/g,
    )) {
      waiting.push(path.resolve(path.dirname(next), target));
    }
  }
  return false;
}

/** Uses the kept cluster, or starts a process that keeps one; `host` is the folder of its socket. */
export async function keepCluster(): Promise<{ readonly host: string; stop(): Promise<void> }> {
  const note = noteFile();
  const host = (await usable(note)) ?? (await start(note));
  return { host, stop: async () => markUsed(note) };
}

async function usable(note: string): Promise<string | undefined> {
  markUsed(note);
  const { host } = readNote(note) ?? {};
  if (host === undefined) return undefined;
  const socket = net.connect(path.join(host, '.s.PGSQL.5432'));
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return isOpen ? host : undefined;
}

async function start(note: string): Promise<string> {
  // Those of other sources end as soon as no run uses them.
  for (const old of notes()) rmSync(old, { force: true });
  const keeper = spawn(process.execPath, [fileURLToPath(import.meta.url), note], {
    cwd: root,
    detached: true,
    stdio: 'ignore',
  });
  keeper.unref();
  const deadline = Date.now() + startPatienceMillis;
  while (Date.now() < deadline && keeper.exitCode === null) {
    const { host } = readNote(note) ?? {};
    if (host !== undefined) return host;
    await sleep(20);
  }
  throw new Error('The PostgreSQL for tests did not start: run the whole suite to see why.');
}

function notes(): string[] {
  return globSync(path.join(folder, '*.json'));
}

function readNote(note: string): Note | undefined {
  return existsSync(note) ? JSON.parse(readFileSync(note, 'utf8')) : undefined;
}

function markUsed(note: string): void {
  if (existsSync(note)) utimesSync(note, new Date(), new Date());
}

/** Stops each kept cluster of this checkout; false if there was none. */
export function stopKeptCluster(): boolean {
  const kept = notes();
  for (const note of kept) {
    const keeper = readNote(note)?.keeper;
    rmSync(note, { force: true });
    try {
      if (keeper !== undefined) process.kill(keeper, 'SIGTERM');
    } catch {
      // It has ended already.
    }
  }
  return kept.length > 0;
}

/** The keeper. It ends when its note is gone, or nothing used the cluster for ten minutes, and no test is connected. */
async function keep(note: string): Promise<void> {
  const { asSuperuser, startCluster } = await import('../test/support/postgres.ts');
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort());
  const cluster = await startCluster();
  const isUsed = () =>
    asSuperuser(cluster.connection, async (client) => {
      const { rows } = await client.query(
        `select from pg_stat_activity where backend_type = 'client backend' and datname like 'test\\_%' limit 1`,
      );
      return rows.length > 0;
    });
  const isMine = () => readNote(note)?.keeper === process.pid;
  try {
    mkdirSync(folder, { recursive: true });
    const unfinished = `${note}.${process.pid}`;
    writeFileSync(unfinished, JSON.stringify({ host: cluster.connection.host, keeper: process.pid }));
    renameSync(unfinished, note);
    while (!stopping.signal.aborted) {
      await sleep(watchMillis, undefined, { signal: stopping.signal }).catch(() => {});
      const isIdle = !isMine() || Date.now() - statSync(note).mtimeMs > idleMillis;
      if (isIdle && !(await isUsed())) break;
    }
  } finally {
    if (isMine()) rmSync(note, { force: true });
    await cluster.stop();
  }
}

const [, program, note] = process.argv;
if (program === fileURLToPath(import.meta.url) && note !== undefined) await keep(note);
