import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/app/config.ts';
import { type AppContext, openAppContext } from '../../src/app/context.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { beginEpoch } from '../../src/events/index.ts';
import { listInstitutions } from '../../src/institutions/index.ts';
import { embeddedLogin, migrate } from '../../src/storage/index.ts';
import { send } from '../support/demo.ts';
import { commandOf } from '../support/operator.ts';
import { asSuperuser } from '../support/postgres.ts';
import { addressOf, eventually, exitOf, isRunning, type Launched, launch } from '../support/processes.ts';
import { testSecretKey } from '../support/secret-key.ts';

/** Two service processes on one database, and an operator. All can be killed; the database can go back to a backup. */
export interface Bank extends AsyncDisposable {
  /** The addresses of the processes; a process that is started again has another. */
  readonly addresses: readonly string[];
  /** The context of the operator's commands. */
  readonly operator: AppContext;
  /** Without policies. */
  sql<Row extends object>(text: string): Promise<Row[]>;
  /** kill -9, and a new process. */
  killService(index: number): Promise<void>;
  /** kill -9 of one server process, which restarts all of them, or of the first. */
  killDatabase(process: 'backend' | 'postmaster'): Promise<void>;
  /** Copies the stopped database. */
  backUp(): Promise<void>;
  /** Puts the copy in the database's place and runs `restored`. The services go on, or are killed and started again. */
  restore(services: 'go on' | 'start again'): Promise<void>;
}

export async function openBank(): Promise<Bank> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-fresh-'));
  await chmod(parent, 0o755);
  const dataDir = path.join(parent, 'data');
  const start = () => ownEmbeddedPostgres({ dataDir, log: () => {} });
  let postgres = await start();
  await migrate(postgres.connection, { login: embeddedLogin });
  const { host } = postgres.connection;
  const settings = {
    DATABASE_URL: `postgresql://${embeddedLogin}@localhost/sharedraft?host=${encodeURIComponent(host)}`,
    SECRET_KEY: testSecretKey,
    PUBLIC_URL: 'http://sharedraft.test',
    ALLOW_DEMO_ANYWHERE: 'true',
    ACCESS_TOKEN_LIFETIME_SECONDS: '86400',
    FAILED_LOGIN_PAUSE_MILLIS: '1',
    LOOK_UPS_PER_MINUTE: '600000',
    DRY_RUNS_PER_MINUTE: '600000',
  };
  const { config, secrets } = loadConfig(settings);
  const operator = await openAppContext(config, secrets, 'borrow', () => {});
  await loadDemoWhenEmpty(operator);

  const serve = () => launch([process.execPath, 'src/main.ts', 'serve'], settings);
  const services: Launched[] = [serve(), serve()];
  const addresses = await Promise.all(services.map(addressOf));

  const sql = <Row extends object>(text: string): Promise<Row[]> =>
    asSuperuser(postgres.connection, async (client) => {
      // The server is killed under it; the query reports that.
      client.on('error', () => {});
      return (await client.query<Row>(text)).rows;
    });

  const end = async (index: number) => {
    const { child } = services[index] as Launched;
    if (isRunning(child)) child.kill('SIGKILL');
    await exitOf(child);
  };
  const startAgain = async (index: number) => {
    const launched = serve();
    services[index] = launched;
    addresses[index] = await addressOf(launched);
  };
  const ready = () =>
    Promise.all(
      addresses.map((_, index) =>
        eventually(
          `process ${index} serves`,
          async () => (await send(addresses[index] as string, 'GET', '/readyz')).status === 200,
        ),
      ),
    );
  const copy = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);
  const data = path.join(dataDir, 'postgres');
  const backup = path.join(parent, 'backup');

  return {
    addresses,
    operator,
    sql,
    killService: async (index) => {
      await end(index);
      await startAgain(index);
    },
    killDatabase: async (which) => {
      const [row] = await sql<{ pid: number }>(
        which === 'postmaster'
          ? `select (string_to_array(pg_read_file('postmaster.pid'), E'\\n'))[1]::integer as pid`
          : `select pid from pg_stat_activity where usename = '${embeddedLogin}' order by random() limit 1`,
      );
      assert.ok(row, 'a server process to kill');
      process.kill(row.pid, 'SIGKILL');
      await eventually('the database serves', async () => (await sql('select 1')).length === 1);
      await ready();
    },
    backUp: async () => {
      await postgres.stop();
      await rm(backup, { recursive: true, force: true });
      await copy(data, backup);
      postgres = await start();
      await ready();
    },
    restore: async (others) => {
      if (others === 'start again') await Promise.all([end(0), end(1)]);
      await postgres.stop();
      await rm(data, { recursive: true });
      await copy(backup, data);
      postgres = await start();
      await eventually('the epoch began', async () => {
        const { database, clock } = operator;
        for (const { institutionId } of await database.directory(listInstitutions)) {
          await beginEpoch(database, institutionId, clock, commandOf('ann'));
        }
        return true;
      });
      if (others === 'start again') await Promise.all([startAgain(0), startAgain(1)]);
      await ready();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([end(0), end(1)]);
      await operator.close();
      await postgres.stop();
      await rm(parent, { recursive: true, force: true });
    },
  };
}
