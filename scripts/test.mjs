// Runs tests: all of them, or the files and folders given. Other arguments are options of Node's test runner.
//
//   npm test                          every file, on a PostgreSQL of the run's own
//   npm test test/members             these files; a PostgreSQL is kept for the next run and stops after ten idle minutes
//   npm test -- --stop                stops the kept PostgreSQL now
//
// Files that import nothing of the database get none. SLOW_FEED=1 lets events arrive late, as on a busy machine.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { keepCluster, needsCluster, stopKeptCluster } from './test-cluster.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const given = process.argv.slice(2);
if (given.includes('--stop')) process.exit(stopKeptCluster() ? 0 : 1);

const named = given
  .filter((argument) => !argument.startsWith('-'))
  .flatMap((name) => (isFolder(name) ? globSync(`${name}/**/*.test.ts`).sort() : [name]));
const options = given.filter((argument) => argument.startsWith('-'));
const files = named.length > 0 ? named : globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort();

const cluster = await provideCluster();
// A run of all tests must see every optional field of the responses.
const seenFields = named.length === 0 ? mkdtempSync(path.join(os.tmpdir(), 'sharedraft-seen-')) : undefined;
if (process.env.SLOW_FEED && cluster) {
  const { slowFeed } = await import('./slow-feed.ts');
  void slowFeed(cluster.host);
}
const runner = spawn(process.execPath, ['--test', '--test-concurrency=2', ...options, ...files], {
  stdio: 'inherit',
  env: {
    // Each file is a process, and many start more: compiled code is shared by all.
    NODE_COMPILE_CACHE: 'node_modules/.cache/sharedraft-tests',
    ...process.env,
    ...(cluster && { SHAREDRAFT_TEST_SOCKET: cluster.host }),
    ...(seenFields && { SEEN_FIELDS: seenFields }),
  },
});
// Ctrl-C reaches the runner too, which is in the same process group. This process stays to clean up.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => runner.kill(signal));
const code = await new Promise((resolve) => runner.once('exit', (status) => resolve(status ?? 1)));
await cluster?.stop();
process.exit((await hasUnseenFields()) ? 1 : code);

function isFolder(name) {
  return statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
}

async function hasUnseenFields() {
  if (seenFields === undefined) return false;
  const { unseenFields } = await import('../test/support/seen-fields.ts');
  const unseen = options.length === 0 ? unseenFields(seenFields) : [];
  rmSync(seenFields, { recursive: true });
  if (unseen.length > 0)
    console.error(`No test saw these optional fields of responses: ${unseen.join(', ')}`);
  return unseen.length > 0;
}

async function provideCluster() {
  if (named.length === 0) {
    const { startCluster } = await import('../test/support/postgres.ts');
    const own = await startCluster();
    return { host: own.connection.host, stop: own.stop };
  }
  return named.some(needsCluster) ? keepCluster() : undefined;
}
