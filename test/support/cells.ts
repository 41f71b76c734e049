import { execFile } from 'node:child_process';
import { appendFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/app/config.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { type Service, startService } from '../../src/app/service.ts';
import { type MoveDeps, openSide, setCell, type WantedCell } from '../../src/cells/index.ts';
import { ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { embeddedLogin, migrate, systemClock } from '../../src/storage/index.ts';
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
  /** Log events of the service. */
  readonly logged: string[];
  rows<Row extends object>(text: string): Promise<Row[]>;
}

const cellOrigin = { ...ownOrigin(), operator: { user: 'tester', host: 'test' } };

/** Two cells, and the demo institutions in the first. They have had their numbers for a while. */
export async function startCells(): Promise<readonly [TestCell, TestCell] & AsyncDisposable> {
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
  const cells = await Promise.all([
    startCell(first, { name: 'east', firstNumber: 1, lastNumber: 999 }, true),
    startCell(second, { name: 'west', firstNumber: 1001, lastNumber: 1999 }, false),
  ]);
  const stop = async () => {
    await Promise.all(cells.map((cell) => cell[Symbol.asyncDispose]()));
    await rm(parent, { recursive: true, force: true });
  };
  return Object.assign(cells, { [Symbol.asyncDispose]: stop });
}

async function startCell(dataDir: string, wanted: WantedCell, hasDemo: boolean): Promise<TestCell> {
  const postgres = await ownEmbeddedPostgres({ dataDir, log: () => {} });
  const { connection } = postgres;
  const urlOf = (user: string) =>
    `postgresql://${user}@localhost/${connection.database}?host=${encodeURIComponent(connection.host)}`;
  const [ownerUrl, url] = [urlOf(connection.user), urlOf(embeddedLogin)];
  const rows = <Row extends object>(text: string) =>
    asSuperuser(connection, async (client) => (await client.query<Row>(text)).rows);
  const side = await openSide(ownerUrl);
  await setCell(side, wanted, { clock: systemClock, origin: cellOrigin });
  await side.close();
  await rows(`update cell set set_at = now() - interval '2 minutes'`);
  const logged: string[] = [];
  const { config, secrets } = loadConfig({
    PORT: '0',
    PUBLIC_URL: 'http://sharedraft.test',
    DATABASE_URL: url,
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
    ...{ name: wanted.name, service, ownerUrl, url, logged, rows },
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
  const sides = { source: await openSide(source.ownerUrl), target: await openSide(target.ownerUrl) };
  const current = Buffer.from(testSecretKey, 'hex');
  try {
    return await work({
      ...sides,
      secrets: { current, other: undefined },
      clock: systemClock,
      origin: cellOrigin,
    });
  } finally {
    await sides.source.close();
    await sides.target.close();
  }
}
