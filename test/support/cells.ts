import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/app/config.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { type Service, startService } from '../../src/app/service.ts';
import { openVault } from '../../src/auth/index.ts';
import { CellDirectory } from '../../src/cell-directory/index.ts';
import {
  describeSettings,
  type MoveDeps,
  openSide,
  setCell,
  type WantedCell,
} from '../../src/cells/index.ts';
import { type EmbeddedPostgres, ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { embeddedLogin, migrate, type SocketConnection, systemClock } from '../../src/storage/index.ts';
import { asSuperuser } from './postgres.ts';
import { testSecretKey } from './secret-key.ts';

/** A cell: a PostgreSQL of its own, and a service on it. */
export interface TestCell extends AsyncDisposable {
  readonly name: string;
  readonly address: string;
  readonly service: Service;
  /** The superuser's, as CELL_DATABASE_URL and MIGRATION_DATABASE_URL have it. */
  readonly ownerUrl: string;
  /** The service's. */
  readonly url: string;
  readonly directory: TestDirectory;
  /** Log events of the service. */
  readonly logged: string[];
  rows<Row extends object>(text: string): Promise<Row[]>;
}

const testPublicUrl = 'http://localhost';
const cellOrigin = { ...ownOrigin(), operator: { user: 'tester', host: 'test' } };

/** The directory of two cells, a database of the server of the first. */
interface TestDirectory {
  /** The service's login. */
  readonly url: string;
  rows<Row extends object>(text: string): Promise<Row[]>;
  /** Ends its connections and refuses new ones. */
  leave(): Promise<void>;
  comeBack(): Promise<void>;
  /** As a command has it. The caller closes it. */
  open(): CellDirectory;
}

type TestCells = readonly [TestCell, TestCell] & AsyncDisposable & { readonly directory: TestDirectory };

/** Two cells with a directory, and the demo institutions in the first. They have had their numbers for a while. */
export async function startCells({ forwards = false } = {}): Promise<TestCells> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-cells-'));
  await chmod(parent, 0o755);
  const folders = ['east', 'west'].map((name) => path.join(parent, name));
  const [first = '', second = ''] = folders;
  const made = await ownEmbeddedPostgres({ dataDir: first, log: () => {} });
  await migrate(made.connection, { login: embeddedLogin });
  await made.stop();
  await appendFile(
    path.join(first, 'postgres', 'postgresql.auto.conf'),
    'wal_level = logical\nmax_sync_workers_per_subscription = 4\nmax_logical_replication_workers = 8\n',
  );
  await promisify(execFile)('cp', ['-a', first, second]);
  const servers = await Promise.all(
    [first, second].map((dataDir) => ownEmbeddedPostgres({ dataDir, log: () => {} })),
  );
  const [server, other] = servers as [EmbeddedPostgres, EmbeddedPostgres];
  const directory = await makeDirectory(server.connection);
  const cells = await Promise.all([
    startCell(
      server,
      { name: 'east', firstNumber: 1, lastNumber: 999 },
      { directory, forwards, hasDemo: true },
    ),
    startCell(
      other,
      { name: 'west', firstNumber: 1001, lastNumber: 1999 },
      { directory, forwards, hasDemo: false },
    ),
  ]);
  const stop = async () => {
    await Promise.all(cells.map((cell) => cell[Symbol.asyncDispose]()));
    await rm(parent, { recursive: true, force: true });
  };
  return Object.assign(cells, { directory, [Symbol.asyncDispose]: stop });
}

function urlOf({ database, host }: SocketConnection, user: string): string {
  return `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}`;
}

async function makeDirectory(server: SocketConnection): Promise<TestDirectory> {
  const connection = { ...server, database: 'cell_directory' };
  await asSuperuser(server, (client) => client.query('create database cell_directory'));
  await migrate(connection, { schema: 'directory', login: embeddedLogin });
  const url = urlOf(connection, embeddedLogin);
  const allow = (isAllowed: boolean) =>
    asSuperuser(server, async (client) => {
      await client.query(`alter database cell_directory allow_connections ${isAllowed}`);
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = 'cell_directory'`,
      );
    });
  return {
    url,
    rows: <Row extends object>(text: string) =>
      asSuperuser(connection, async (client) => (await client.query<Row>(text)).rows),
    leave: () => allow(false),
    comeBack: () => allow(true),
    open: () => new CellDirectory({ url, clock: systemClock, actor: 'a test' }),
  };
}

/** The free port of the service must be known before it starts, for its line in the directory. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startCell(
  postgres: EmbeddedPostgres,
  wanted: WantedCell,
  {
    directory,
    forwards,
    hasDemo,
  }: { readonly directory: TestDirectory; readonly forwards: boolean; readonly hasDemo: boolean },
): Promise<TestCell> {
  const { connection } = postgres;
  const [ownerUrl, url] = [urlOf(connection, connection.user), urlOf(connection, embeddedLogin)];
  const port = await freePort();
  const rows = <Row extends object>(text: string) =>
    asSuperuser(connection, async (client) => (await client.query<Row>(text)).rows);
  const side = await openSide(ownerUrl);
  const vault = await openVault(side.database, {
    current: Buffer.from(testSecretKey, 'hex'),
    other: undefined,
  });
  const common = await describeSettings({ publicUrl: testPublicUrl, vault });
  const opened = directory.open();
  await setCell(side, wanted, {
    clock: systemClock,
    origin: cellOrigin,
    register: (cell) => opened.register({ ...common, ...cell }, `http://127.0.0.1:${port}`),
  });
  await opened.close();
  await side.close();
  await rows(`update cell set set_at = now() - interval '2 minutes'`);
  const logged: string[] = [];
  const { config, secrets } = loadConfig({
    PORT: String(port),
    PUBLIC_URL: testPublicUrl,
    DATABASE_URL: url,
    DIRECTORY_DATABASE_URL: directory.url,
    FORWARD_REQUESTS: String(forwards),
    SECRET_KEY: testSecretKey,
    LOG_LEVEL: 'silent',
    ALLOW_DEMO_ANYWHERE: 'true',
    SHUTDOWN_GRACE_SECONDS: '1',
  });
  const service = await startService(config, secrets, {
    log: (event, details) => logged.push(`${event} ${JSON.stringify(details ?? {})}`),
    logStream: { write: () => {} },
    beforeListening: async (context) => {
      if (hasDemo) await loadDemoWhenEmpty(context);
    },
  });
  return {
    ...{ name: wanted.name, service, ownerUrl, url, logged, rows, directory },
    address: service.address,
    [Symbol.asyncDispose]: async () => {
      await service.close();
      await postgres.stop();
    },
  };
}

/** Both sides of a move, for the time of the work. */
export async function between<T>(
  source: TestCell,
  target: TestCell,
  work: (deps: MoveDeps) => Promise<T>,
): Promise<T> {
  const directory = source.directory.open();
  const sides = { source: await openSide(source.ownerUrl), target: await openSide(target.ownerUrl) };
  const current = Buffer.from(testSecretKey, 'hex');
  try {
    return await work({
      ...sides,
      directory,
      secrets: { current, other: undefined },
      clock: systemClock,
      origin: cellOrigin,
    });
  } finally {
    await directory.close();
    await sides.source.close();
    await sides.target.close();
  }
}

/** Settings of a command at the source of a move, in a process of its own. */
export function environmentOfMove(source: TestCell, target: TestCell): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    PUBLIC_URL: testPublicUrl,
    DATABASE_URL: source.url,
    MIGRATION_DATABASE_URL: source.ownerUrl,
    CELL_DATABASE_URL: target.ownerUrl,
    DIRECTORY_DATABASE_URL: source.directory.url,
    SECRET_KEY: testSecretKey,
  };
}
