// Serves for a developer: `npm run dev`. The service restarts when a source changes; the embedded PostgreSQL stays up
// meanwhile, on the same data folder as `npm start`. Settings come from the environment and .env, as always.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { loadConfig, readEnvironment } from '../src/app/config.ts';
import { keyEncryptionKey } from '../src/app/secret-key.ts';
import { openServiceLog } from '../src/app/service-log.ts';
import { welcome } from '../src/cli/commands/serve/serve.ts';
import { ownEmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import { embeddedLogin, migrate } from '../src/storage/index.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const watched = [
  'src',
  'migrations',
  'sql',
  'docs/problems',
  'web',
  'client/src',
  '.env',
  'package-lock.json',
];
/** An editor writes a file in several steps. */
const settleMillis = 30;
/** Requests in flight may finish within this time; an idle service stops in less. */
const graceMillis = 200;

const { config, secrets } = loadConfig(await readEnvironment());
/** Text for people, even if this runs behind a pipe. */
const output = Object.assign(new PassThrough(), { isTTY: true });
output.pipe(process.stdout);
// A closed pipe loses output; it does not leave the database running.
process.stdout.on('error', () => {});
const { log, stream } = openServiceLog('info', output);
const database = config.databaseUrl === undefined ? await startDatabase() : undefined;

let service: ChildProcess | undefined;
let next: ChildProcess | undefined;
let restart: NodeJS.Timeout | undefined;
let isStopping = false;
const watchers = watched.flatMap(watchForRestart);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
start(performance.now(), 'started');

/** Reached by its socket as an external database: the service that connects to it does not stop it. */
async function startDatabase() {
  const postgres = await ownEmbeddedPostgres({ dataDir: config.dataDir, log });
  // Makes the service's login; the service itself applies migrations that come later.
  await migrate(postgres.connection, { login: embeddedLogin });
  const { host, database: name } = postgres.connection;
  const urlOf = (user: string) => `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
  const settings = {
    DATABASE_URL: urlOf(embeddedLogin),
    MIGRATION_DATABASE_URL: urlOf(postgres.connection.user),
    SECRET_KEY: Buffer.from(await keyEncryptionKey(config, secrets)).toString('base64'),
    ALLOW_DEMO_ANYWHERE: 'true',
  };
  return { settings, stop: postgres.stop };
}

function watchForRestart(name: string): FSWatcher[] {
  try {
    return [
      watch(name, { recursive: true }, (_event, file) => {
        if (file !== null && /\.test\.ts$|~$|^\.#/.test(path.basename(file))) return;
        if (name === 'package-lock.json') dropWaitingService();
        clearTimeout(restart);
        restart = setTimeout(() => restartService(performance.now()), settleMillis);
      }),
    ];
  } catch {
    // The folder or file does not exist in this checkout.
    return [];
  }
}

/** The next process loads its modules while the last one ends; it listens later than that one may take. */
function restartService(since: number): void {
  if (isStopping) return;
  const before = service;
  if (before !== undefined && isRunning(before)) {
    before.kill('SIGTERM');
    setTimeout(() => before.kill('SIGKILL'), graceMillis).unref();
  }
  start(since, 'restarted');
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** A process that has loaded the packages and waits for its turn. */
function waitingService(): ChildProcess {
  return spawn(process.execPath, ['scripts/dev-service.ts'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { NODE_COMPILE_CACHE: 'node_modules/.cache/sharedraft', ...process.env, ...database?.settings },
  });
}

/** It has loaded packages of an earlier installation. */
function dropWaitingService(): void {
  next?.kill();
  next = undefined;
}

function start(since: number, how: string): void {
  const child = next?.connected ? next : waitingService();
  next = undefined;
  child.send('serve');
  service = child;
  let unfinished = '';
  child.stdout?.on('data', (chunk) => {
    const lines = `${unfinished}${chunk}`.split('\n');
    unfinished = lines.pop() ?? '';
    for (const line of lines) {
      const address = /"event":"serving","address":"([^"]+)"/.exec(line)?.[1];
      if (address === undefined) stream.write(`${line}\n`);
      else {
        showServing(address, how, performance.now() - since);
        next ??= waitingService();
      }
    }
  });
  child.once('exit', (code) => {
    if (isStopping || service !== child) return;
    log('waits_for_a_change', { exitCode: code });
    next ??= waitingService();
  });
}

function showServing(address: string, how: string, millis: number): void {
  // The simulated core runs on the service's own database only.
  const shown = { ...config, demoCore: false };
  if (how === 'started') output.write(`${welcome(address, shown, database !== undefined)}\n\n`);
  log(`${how}_in_${Math.round(millis)}_ms`);
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  clearTimeout(restart);
  for (const watcher of watchers) watcher.close();
  dropWaitingService();
  if (service !== undefined && isRunning(service)) {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
  await database?.stop();
}
