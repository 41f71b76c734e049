// A hundred fail-overs and switch-overs of a PostgreSQL under Patroni, with transfers and readers of the feed: whether anything is lost,
// doubled or skipped, and how long money stands still.
//
//   node scripts/failovers.ts --count 100         a seed mixes the kinds of scripts/failovers/faults.ts
//   node scripts/failovers.ts --seed 7            another order
//   node scripts/failovers.ts --only freeze,kill  some of the kinds
//   node scripts/failovers.ts --mode async        asynchronous replication; before each kill the standbys receive nothing for --lag seconds
//   node scripts/failovers.ts --way hosts         the service finds the primary by itself among three hosts; by default HAProxy does
//   node scripts/failovers.ts --patroni PROGRAM --api etcd3    another Patroni, and the newer API of etcd
//
// Three servers on addresses of the loopback interface have the settings of ops/patroni, with a shorter time to live. Two processes of the
// service stand before them. Each order without an outcome is repeated with its id.
//
// Needs Debian's patroni, etcd-server, haproxy and postgresql, and openssl. Exits with 2 after `skip:` with the missing ones, and with 1 if an
// order is doubled or declined, an event skipped or read twice, or reconcile finds anything; in synchronous mode also if anything
// acknowledged is lost.
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { fill } from '../bench/fill.ts';
import { embeddedLogin } from '../src/storage/index.ts';
import { asSuperuser } from '../test/support/postgres.ts';
import { mulberry32 } from '../test/support/random.ts';
import { Cluster, times } from './failovers/cluster.ts';
import { faultsOf } from './failovers/faults.ts';
import { Reader } from './failovers/reader.ts';
import { Episodes } from './failovers/report.ts';
import { loopbackNetwork, postgresPrograms } from './failovers/settings.ts';
import { Load } from './hour/load.ts';
import { Services } from './hour/services.ts';
import { verify } from './hour/verify.ts';
import { isInstalled, versionOf } from './programs.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    mode: { type: 'string', default: 'sync' },
    way: { type: 'string', default: 'proxy' },
    only: { type: 'string' },
    lag: { type: 'string', default: '1' },
    rate: { type: 'string', default: '100' },
    institutions: { type: 'string', default: '3' },
    members: { type: 'string', default: '300' },
    patroni: { type: 'string', default: 'patroni' },
    api: { type: 'string', default: 'etcd' },
    keep: { type: 'boolean', default: false },
  },
});
const mode = oneOf('mode', ['sync', 'async']);
const way = oneOf('way', ['proxy', 'hosts']);
const api = oneOf('api', ['etcd', 'etcd3']);
const root = fileURLToPath(new URL('..', import.meta.url));
const say = (text: string) => process.stdout.write(`${text}\n`);
const password = 'of-no-use-elsewhere';
const name = 'fail-over';
/** The cluster has been whole for so long before the next fault. */
const calmMillis = 1_000;

const programs = postgresPrograms();
const missing = [values.patroni, 'etcd', 'haproxy', 'openssl'].filter((program) => !isInstalled(program));
if (programs === undefined) missing.push('postgresql');
if (programs === undefined || missing.length > 0) {
  say(`skip: failovers: ${missing.join(', ')} missing`);
  process.exit(2);
}

let isStopped = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true;
  });
}
const count = Number(values.count);
const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-failovers-'));
await chmod(folder, 0o755);
const patroni = { program: values.patroni, api } as const;
const cluster = new Cluster({ folder, network: loopbackNetwork(), mode, programs, patroni });
const services = new Services(folder, { workers: 1, haveClocks: false });
const episodes = new Episodes();
let isSound = false;
try {
  await cluster.start();
  const people = await fillDatabase();
  const environment = {
    DATABASE_URL: cluster.urlOf(embeddedLogin, password, way),
    SECRET_KEY: '5c'.repeat(32),
    PUBLIC_URL: 'http://bench.example',
    LOG_LEVEL: 'warn',
    LOOK_UPS_PER_MINUTE: '999999999',
  };
  const institutions = Array.from({ length: Number(values.institutions) }, (_, index) =>
    index === 0 ? 'bench' : `bench-${index}`,
  );
  await services.start({ checkout: root, environment });
  const readers: Reader[] = [];
  for (const institution of institutions) {
    const credentials = await makeReader(institution, environment);
    readers.push(new Reader(services.address, credentials));
  }
  const load = new Load({
    address: services.address,
    people,
    perSecond: Number(values.rate),
    name,
    retryMillis: 300,
  });
  say(
    `${count} faults, mode ${mode}, seed ${values.seed}, by ${way}; ${values.rate} requests a second, a fifth of them orders; ` +
      `ttl ${times.ttl} s, loop_wait ${times.loop_wait} s, retry_timeout ${times.retry_timeout} s; ` +
      `${versionOf(values.patroni)}, ${versionOf('etcd')}, ${versionOf(path.join(programs, 'postgres'))}`,
  );
  for (const reader of readers) reader.start();
  load.start();
  const isComplete = await runFaults(load).catch((error) => {
    say(`The run ends early: ${error.message} ${error.cause ?? ''}`);
    return false;
  });
  await load.stop();
  for (const reader of readers) await reader.stop();
  episodes.report(say);
  const connection = await cluster.connection();
  const verdict = await verify({ root, environment, load, name, connection, institutions, say });
  const areReadersSound = await reportReaders({ readers, load, lost: verdict.lost });
  isSound =
    isComplete && verdict.isSound && areReadersSound && (mode === 'async' || verdict.lost.length === 0);
} finally {
  await services.stop();
  await cluster.stop();
  if (values.keep) say(`The logs are in ${folder}.`);
  else await rm(folder, { recursive: true, force: true });
}
process.exitCode = isSound ? 0 : 1;

async function fillDatabase() {
  const connection = await cluster.connection();
  await asSuperuser({ ...connection, database: 'postgres' }, (client) =>
    client.query(`create database ${connection.database}`),
  );
  const people = await fill(connection, {
    members: Number(values.members),
    historyPerAccount: 0,
    institutions: Number(values.institutions),
  });
  await asSuperuser(connection, (client) =>
    client.query(`alter role ${embeddedLogin} password '${password}'`),
  );
  await cluster.untilWhole();
  return people;
}

/** A client that reads the feed of the institution. */
async function makeReader(institution: string, environment: Readonly<Record<string, string>>) {
  const clientId = `reader-${institution}`;
  const words = ['client', 'create', clientId, '--institution', institution, '--scopes', 'events:read'];
  const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', ...words], {
    cwd: root,
    env: { PATH: process.env.PATH, ...environment },
  });
  const secret = /client_secret: (\S+)/.exec(stdout)?.[1];
  if (secret === undefined) throw new Error('The client has no secret.');
  return { client_id: clientId, client_secret: secret };
}

/** Returns whether all faults ran. */
async function runFaults(load: Load): Promise<boolean> {
  const wanted = values.only?.split(',');
  const kinds = faultsOf({ mode, lagMillis: Number(values.lag) * 1_000 }).filter(
    (fault) => wanted === undefined || wanted.includes(fault.name),
  );
  const random = mulberry32(Number(values.seed));
  const order = Array.from({ length: count }, (_, index) => kinds[index % kinds.length]).map(
    (fault) => [random(1_000_000), fault] as const,
  );
  for (const [, fault] of order.toSorted(([one], [other]) => one - other)) {
    if (isStopped) return false;
    if (fault === undefined) throw new Error('No such kind of fault.');
    await sleep(calmMillis);
    load.takeLongestPause();
    load.phase = fault.name;
    const started = performance.now();
    const before = await cluster.leader();
    await fault.run(cluster, before);
    const broken = performance.now() - started;
    await cluster.untilWhole();
    const after = await cluster.leader();
    const pauseMillis = load.takeLongestPause();
    const wholeMillis = performance.now() - started;
    load.phase = 'between';
    episodes.add({ kind: fault.name, does: fault.does, pauseMillis, wholeMillis, moved: before !== after });
    const seconds = (millis: number) => (millis / 1_000).toFixed(1);
    say(
      `${episodes.length}. ${fault.name} of db${before}, db${after} leads: ${seconds(pauseMillis)} s without a decided order, ` +
        `back after ${seconds(broken)} s, whole after ${seconds(wholeMillis)} s`,
    );
  }
  return true;
}

/** Whether each reader has the events of every order that the books have, each once and in order. */
async function reportReaders({
  readers,
  load,
  lost,
}: {
  readonly readers: readonly Reader[];
  readonly load: Load;
  readonly lost: readonly string[];
}): Promise<boolean> {
  const gone = new Set(lost);
  const completed = new Set(readers.flatMap((reader) => [...reader.completed]));
  const skipped = [...load.outcomes].filter(
    ([id, status]) => status !== 422 && !gone.has(id) && !completed.has(id),
  );
  const undone = readers.flatMap((reader) => [...reader.undone.values()]);
  const told = new Set(undone.filter((id) => id !== undefined && gone.has(id)));
  const faults = readers.flatMap((reader) => reader.faults);
  const total = (of: (reader: Reader) => number) => readers.reduce((sum, reader) => sum + of(reader), 0);
  say(
    `${readers.length} readers: ${total(({ events }) => events)} events, ${skipped.length} skipped, ${faults.length} twice or out of order; ` +
      `${total(({ refused }) => refused)} times a position was refused; ${undone.length} events that were read are undone`,
  );
  for (const fault of faults.slice(0, 5)) say(`  ${fault}`);
  if (lost.length > 0)
    say(
      `${lost.length} acknowledged orders are lost; the readers had the events of ${told.size} of them, and see them undone`,
    );
  return skipped.length === 0 && faults.length === 0 && (mode === 'async' || undone.length === 0);
}

function oneOf<const Word extends string>(option: 'mode' | 'way' | 'api', words: readonly Word[]): Word {
  const word = words.find((each) => each === values[option]);
  if (word === undefined) throw new Error(`--${option} is one of ${words.join(', ')}.`);
  return word;
}
