// Moves of an institution between two cells whose PostgreSQL is under Patroni, while the primary of one cell is killed: at the source and
// at the target, in the copy and in the catch-up behind the close.
//
//   node scripts/move-failovers.ts                     all four; each move goes the other way than the one before
//   node scripts/move-failovers.ts --only source-copy  some of them
//   node scripts/move-failovers.ts --programs FOLDER --patroni PROGRAM --api etcd3    another PostgreSQL, with a Patroni that fits it
//
// The command is repeated as docs/cells.md says: until it has moved, or undone and begun anew once it refuses. Members pay meanwhile, and
// repeat each order without an outcome. Exits with 1 unless every decided order stands once in the books as decided, the feed has the
// event of each once, and reconcile finds nothing in either cell. `skip:` names a program that is missing.
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/app/config.ts';
import { loadDemoWhenEmpty } from '../src/app/demo/demo.ts';
import { type Service, startService } from '../src/app/service.ts';
import {
  confirmMove,
  type MoveDeps,
  type MoveStep,
  moveInstitution,
  openSide,
  setCell,
  undoMove,
  type WantedCell,
} from '../src/cells/index.ts';
import { ownOrigin } from '../src/events/index.ts';
import { listInstitutions } from '../src/institutions/index.ts';
import { reconcile } from '../src/reconciliation/index.ts';
import { embeddedLogin, migrate, systemClock } from '../src/storage/index.ts';
import { follow, lakesideApp, pay, RetryingClient } from '../test/support/cell-clients.ts';
import { asSuperuser } from '../test/support/postgres.ts';
import { eventually } from '../test/support/processes.ts';
import { testSecretKey } from '../test/support/secret-key.ts';
import { Cluster, keepsSlots, superuser } from './failovers/cluster.ts';
import { loopbackNetwork, postgresPrograms, serverNumbers } from './failovers/settings.ts';
import { isInstalled, versionOf } from './programs.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    programs: { type: 'string' },
    patroni: { type: 'string', default: 'patroni' },
    api: { type: 'string', default: 'etcd' },
    keep: { type: 'boolean', default: false },
  },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const password = 'of-no-use-elsewhere';
const code = 'lakeside';
const payers = 3;
/** Longer than a fail-over, and than the repetitions of the command behind it. */
const clientPatienceMillis = 300_000;
const mostTries = 60;
const repeatMillis = 1_000;
const slotPatienceMillis = 90_000;
const api = values.api === 'etcd3' ? 'etcd3' : 'etcd';
const operator = { ...ownOrigin(), operator: { user: 'tester', host: 'test' } };

interface Fault {
  readonly name: string;
  readonly side: 'source' | 'target';
  readonly step: MoveStep;
}

const faults: readonly Fault[] = [
  { name: 'source-copy', side: 'source', step: 'copy' },
  { name: 'source-catch-up', side: 'source', step: 'follow' },
  { name: 'target-copy', side: 'target', step: 'copy' },
  { name: 'target-catch-up', side: 'target', step: 'follow' },
];

interface Cell {
  readonly name: string;
  readonly cluster: Cluster;
  readonly service: Service;
  readonly address: string;
  readonly ownerUrl: string;
  rows<Row extends object>(text: string): Promise<Row[]>;
}

const programs = values.programs ?? postgresPrograms();
const missing = [values.patroni, 'etcd', 'haproxy', 'openssl'].filter((program) => !isInstalled(program));
if (programs === undefined) missing.push('postgresql');
if (programs === undefined || missing.length > 0) {
  say(`skip: move-failovers: ${missing.join(', ')} missing`);
  process.exit(0);
}
const hasCopies = keepsSlots(programs);
const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-moves-'));
await chmod(folder, 0o755);
const clusters = await Promise.all(['east', 'west'].map((name) => makeCluster(name, programs)));
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    await Promise.all(clusters.map((cluster) => cluster.stop()));
    process.exit(1);
  });
}
const services: Service[] = [];
let isSound = false;
try {
  await Promise.all(clusters.map((cluster) => cluster.start()));
  const [first, second] = clusters as [Cluster, Cluster];
  const cells = [
    await startCell(first, { name: 'east', firstNumber: 1, lastNumber: 999 }, true),
    await startCell(second, { name: 'west', firstNumber: 1001, lastNumber: 1999 }, false),
  ] as const;
  say(
    `two cells of three servers each; ${versionOf(values.patroni)}, ${versionOf('etcd')}, ${versionOf(path.join(programs, 'postgres'))}; ` +
      `copies of slots at the standbys: ${hasCopies ? 'yes' : 'no'}`,
  );
  isSound = await run(cells);
} finally {
  for (const service of services) await service.close();
  await Promise.all(clusters.map((cluster) => cluster.stop()));
  if (values.keep) say(`The logs are in ${folder}.`);
  else await rm(folder, { recursive: true, force: true });
}
process.exitCode = isSound ? 0 : 1;

async function makeCluster(name: string, programsOfServer: string): Promise<Cluster> {
  const home = path.join(folder, name);
  await mkdir(home);
  const patroni = { program: values.patroni, api } as const;
  return new Cluster({
    ...{ folder: home, network: loopbackNetwork(), mode: 'sync' },
    ...{ programs: programsOfServer, patroni },
  });
}

async function startCell(cluster: Cluster, wanted: WantedCell, hasDemo: boolean): Promise<Cell> {
  const made = await cluster.connection();
  await asSuperuser({ ...made, database: 'postgres' }, (client) =>
    client.query(`create database ${made.database}`),
  );
  await migrate(made, { login: embeddedLogin });
  await asSuperuser(made, (client) => client.query(`alter role ${embeddedLogin} password '${password}'`));
  // The other cell's PostgreSQL connects by it too, where no HAProxy of this cell listens.
  const ownerUrl = cluster.urlOf(superuser.login, superuser.password, 'hosts');
  const side = await openSide(ownerUrl);
  await setCell(side, wanted, { clock: systemClock, origin: operator });
  await side.close();
  const rows = async <Row extends object>(text: string) =>
    asSuperuser(await cluster.connection(), async (client) => (await client.query<Row>(text)).rows);
  await rows(`update cell set set_at = now() - interval '2 minutes'`);
  const { config, secrets } = loadConfig({
    PORT: '0',
    PUBLIC_URL: 'http://sharedraft.test',
    DATABASE_URL: cluster.urlOf(embeddedLogin, password, 'proxy'),
    SECRET_KEY: testSecretKey,
    LOG_LEVEL: 'silent',
    ALLOW_DEMO_ANYWHERE: 'true',
    SHUTDOWN_GRACE_SECONDS: '1',
  });
  const service = await startService(config, secrets, {
    log: () => {},
    beforeListening: async (context) => {
      if (hasDemo) await loadDemoWhenEmpty(context);
    },
  });
  services.push(service);
  return { name: wanted.name, cluster, service, address: service.address, ownerUrl, rows };
}

async function run(cells: readonly [Cell, Cell]): Promise<boolean> {
  let stopped = false;
  const times: number[] = [];
  const paying = Array.from({ length: payers }, async () => {
    const client = new RetryingClient(cells, clientPatienceMillis);
    await client.logIn({
      ...{ grant_type: 'password', username: 'demo.member', password: 'demo-member-password' },
      ...lakesideApp,
    });
    return pay(
      client,
      () => stopped,
      () => times.push(performance.now()),
    );
  });
  // An error of a payer is seen at the end, and ends no move.
  const paid = Promise.allSettled(paying);
  let [source, target] = cells;
  const wanted = values.only?.split(',');
  for (const fault of faults.filter(({ name }) => wanted?.includes(name) ?? true)) {
    for (const { cluster } of cells) await cluster.untilWhole();
    await sleep(repeatMillis);
    const from = performance.now();
    const told = await moveWith(fault, source, target);
    const whole = performance.now() - from;
    await sleep(repeatMillis);
    const decided = times.filter((time) => time >= from);
    const gap = Math.max(...decided.slice(1).map((time, index) => time - (decided[index] ?? time)));
    say(`${fault.name}: moved after ${seconds(whole)}, longest without a decided order ${seconds(gap)}`);
    for (const line of told) say(`  ${line}`);
    await between(source, target, (deps) => confirmMove(deps, code, target.name));
    [source, target] = [target, source];
  }
  stopped = true;
  await paid;
  const orders = (await Promise.all(paying)).flatMap((each) => [...each]);
  return isProven(cells, source, orders);
}

/** Moves with the fault once, and repeats the command until the institution has moved. Returns what happened, in order. */
async function moveWith({ side, step }: Fault, source: Cell, target: Cell): Promise<readonly string[]> {
  const told: string[] = [];
  const { cluster } = side === 'source' ? source : target;
  let isBroken = false;
  let broken: Promise<void> | undefined;
  let steps: string[] = [];
  const onStep = async (now: MoveStep, detail?: string) => {
    if (steps.at(-1) !== now) steps.push(now);
    // In an institution of more rows the standbys have had their copies since long before.
    if (now === 'close' && step === 'follow' && side === 'source' && !isBroken && hasCopies)
      await untilStandbysHaveSlot(cluster).then(
        () => told.push('both standbys have a copy of the slot'),
        () => told.push('a standby has no copy of the slot'),
      );
    // A copy under way has told how far it is.
    if (now !== step || isBroken || (step === 'copy' && detail === undefined)) return;
    isBroken = true;
    const leader = await cluster.leader();
    const postmaster = await cluster.postmasterOf(leader);
    const { patroni } = cluster.server(leader);
    broken = (async () => {
      process.kill(postmaster, 'SIGKILL');
      await patroni.kill();
      const next = await cluster.untilAnotherLeads(leader);
      patroni.start();
      told.push(
        `db${leader} of ${side} killed in the step "${step}" (${detail ?? 'closed'}), db${next} leads`,
      );
    })();
  };
  for (let turn = 0; turn < mostTries; turn += 1) {
    steps = [];
    try {
      const { rows, findings } = await between(source, target, (deps) =>
        moveInstitution({ ...deps, onStep }, code, target.name),
      );
      told.push(`moved by ${steps[0]} … ${steps.at(-1)}: ${rows} rows compared, ${findings.length} findings`);
      if (broken === undefined) throw new Error('The move was over before the fault.');
      await broken;
      return told;
    } catch (error) {
      const { message } = error as Error;
      if (told.at(-1) !== message) told.push(message);
      if (/\bundo\b/i.test(message)) {
        await between(source, target, (deps) => undoMove(deps, code, target.name)).then(
          () => told.push('undone'),
          () => {},
        );
      }
      await sleep(repeatMillis);
    }
  }
  throw new Error(told.join('\n'));
}

/** A standby looks for new slots once in a while, up to half a minute. */
async function untilStandbysHaveSlot(cluster: Cluster): Promise<void> {
  const leader = await cluster.leader();
  const { database } = await cluster.connection();
  for (const server of serverNumbers.filter((each) => each !== leader)) {
    const host = path.join(cluster.server(server).home, 'socket');
    const hasIt = () =>
      asSuperuser({ host, port: 5432, user: superuser.login, database }, async (client) => {
        const { rows } = await client.query(
          `select from pg_replication_slots where slot_name like 'sharedraft_move_%' and synced and not temporary`,
        );
        return rows.length === 1;
      });
    await eventually(`db${server} has the slot`, hasIt, slotPatienceMillis);
  }
}

async function between<T>(source: Cell, target: Cell, work: (deps: MoveDeps) => Promise<T>): Promise<T> {
  const opened = await openSide(source.ownerUrl);
  try {
    const other = await openSide(target.ownerUrl);
    try {
      const current = Buffer.from(testSecretKey, 'hex');
      return await work({
        ...{ source: opened, target: other, secrets: { current, other: undefined } },
        ...{ clock: systemClock, origin: operator },
      });
    } finally {
      await other.close();
    }
  } finally {
    await opened.close();
  }
}

async function isProven(
  cells: readonly [Cell, Cell],
  home: Cell,
  orders: readonly (readonly [string, number])[],
): Promise<boolean> {
  const stored = await home.rows<{ id: string; status: string }>(
    'select transfer_id as id, status from transfers where institution_id = 1',
  );
  const books = Map.groupBy(stored, ({ id }) => id);
  const wrong = orders.filter(([id, status]) => {
    const of = books.get(id) ?? [];
    return of.length !== 1 || of[0]?.status !== (status === 422 ? 'FAILED' : 'COMPLETED');
  });
  const counted = await home.rows<{ events: number }>(
    'select count(*)::integer as events from outbox where institution_id = 1',
  );
  const written = counted[0]?.events ?? 0;
  const reader = new RetryingClient(cells, clientPatienceMillis);
  await reader.logIn({ grant_type: 'client_credentials', ...lakesideApp });
  const events = await follow(reader, (read) => read >= written);
  const twice = events.length - new Set(events.map(({ eventId }) => eventId)).size;
  const inFeed = new Set(events.map(({ transfer }) => transfer?.id));
  const skipped = orders.filter(([id, status]) => status !== 422 && !inFeed.has(id));
  const found: string[] = [];
  for (const { name, service } of cells) {
    const { context } = service;
    for (const { institutionId, code: of } of await context.database.directory(listInstitutions))
      await reconcile(context.database, institutionId, {
        at: context.businessTime(institutionId, context.clock()),
        onFinding: ({ check, row, detail }) => found.push(`${name}: ${of} ${check} ${row}: ${detail}`),
      });
  }
  say(
    `${orders.length} decided orders: ${wrong.length} lost, doubled or otherwise than decided; ${events.length} events of ${written}, ` +
      `${skipped.length} skipped, ${twice} twice; ${found.length} findings of reconcile`,
  );
  for (const line of found.slice(0, 5)) say(`  ${line}`);
  return (
    wrong.length + skipped.length + twice + found.length === 0 &&
    events.length === written &&
    orders.length > 0
  );
}

function seconds(millis: number): string {
  return `${(millis / 1_000).toFixed(1)} s`;
}
