// Runs the tests against one embedded PostgreSQL in a folder of its own. Arguments are test files or options of
// node's test runner; without a file, all.
import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startCluster } from '../test/support/postgres.ts';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const given = process.argv.slice(2);
const named = given.filter((argument) => !argument.startsWith('-'));
const options = given.filter((argument) => argument.startsWith('-'));
const files = named.length > 0 ? named : globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort();

const cluster = await startCluster();
const runner = spawn(process.execPath, ['--test', '--test-concurrency=2', ...options, ...files], {
  stdio: 'inherit',
  env: {
    // A process a file, and many that files start: what they share is compiled once.
    NODE_COMPILE_CACHE: 'node_modules/.cache/sharedraft-tests',
    ...process.env,
    SHAREDRAFT_TEST_SOCKET: cluster.connection.host,
  },
});
// The runner hears Ctrl-C too, being in the same group; here it only must not end this process before the cleaning up.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => runner.kill(signal));
const code = await new Promise((resolve) => runner.once('exit', (status) => resolve(status ?? 1)));
await cluster.stop();
process.exit(code);
