import { type ChildProcess, fork, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type EmbeddedPostgres, ownEmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import type { SocketConnection } from '../src/storage/index.ts';
import { environmentOf, type Filling, fill } from './fill.ts';
import type { FromClient, Job, JobResult, People } from './job.ts';
import { runWrk, wrkCan } from './wrk/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A filled database and the bearers in it. */
export interface Dataset {
  readonly connection: SocketConnection;
  readonly people: People;
}

export interface Server {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Everything that a row needs: the embedded database, services and clients. Disposing stops and removes it. */
export class Stage implements AsyncDisposable {
  readonly folder: string;
  readonly #postgres: EmbeddedPostgres;
  readonly #datasets = new Map<string, Promise<Dataset>>();
  readonly #servers = new Map<string, Promise<Server>>();
  readonly #clients = new Map<number, ChildProcess>();
  readonly say: (text: string) => void;

  private constructor(folder: string, postgres: EmbeddedPostgres, say: (text: string) => void) {
    this.folder = folder;
    this.#postgres = postgres;
    this.say = say;
  }

  static async open(say: (text: string) => void): Promise<Stage> {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-bench-'));
    // If the bench runs as root, the database runs as another user, which must reach its folder.
    await chmod(folder, 0o755);
    return new Stage(folder, await ownEmbeddedPostgres({ dataDir: folder, log: () => {} }), say);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients.values()) client.kill();
    for (const server of this.#servers.values()) await (await server).stop();
    await this.#postgres.stop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Runs SQL in the given database as the superuser of the cluster. */
  async sql<Row extends object>(database: string, text: string): Promise<Row[]> {
    const client = new pg.Client({ ...this.#postgres.connection, database });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Filled once; `copy` names one of several with the same contents. */
  dataset(filling: Filling, copy = 'ours'): Promise<Dataset> {
    const { members, historyPerAccount, institutions = 1, record = 'own' } = filling;
    const name = `bench_${members}_${historyPerAccount}_${institutions}_${record}_${copy}`;
    return once(this.#datasets, name, async () => {
      this.say(
        `filling a database: ${count(members)} members of ${count(institutions)} institutions, ${count(members * 10)} accounts, ${count(members * 5 * historyPerAccount)} transfers`,
      );
      const connection = await this.emptyDatabase(name);
      return { connection, people: await fill(connection, filling) };
    });
  }

  async emptyDatabase(name: string): Promise<SocketConnection> {
    await this.sql('postgres', `create database ${name}`);
    return { ...this.#postgres.connection, database: name };
  }

  /** The service, started as in production on this dataset; one process for the same settings. */
  service(dataset: Dataset, settings: Readonly<Record<string, string>> = {}): Promise<Server> {
    const name = `service ${dataset.connection.database} ${JSON.stringify(settings)}`;
    return once(this.#servers, name, async () => {
      const port = await freePort();
      const environment = {
        ...environmentOf(dataset.connection),
        PORT: String(port),
        LOG_LEVEL: 'warn',
        ...settings,
      };
      return this.#start(path.join(root, 'bin/sharedraft'), ['serve'], environment, port, '/readyz');
    });
  }

  /** One of bench/baselines; one process for the same settings. */
  baseline(file: string, settings: Readonly<Record<string, string>>): Promise<Server> {
    return once(this.#servers, `${file} ${JSON.stringify(settings)}`, async () => {
      const port = await freePort();
      return this.#start(
        process.execPath,
        [path.join('bench', 'baselines', file)],
        { ...settings, PORT: String(port) },
        port,
        '/ready',
      );
    });
  }

  async stop(server: Server): Promise<void> {
    for (const [name, one] of this.#servers) {
      if ((await one) === server) this.#servers.delete(name);
    }
    await server.stop();
  }

  async #start(
    command: string,
    parameters: string[],
    environment: Record<string, string>,
    port: number,
    ready: string,
  ): Promise<Server> {
    const log = path.join(this.folder, `${randomUUID()}.log`);
    const output = openSync(log, 'w');
    const child = spawn(command, parameters, {
      cwd: root,
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    const url = `http://127.0.0.1:${port}`;
    const deadline = Date.now() + 30_000;
    while (!(await isReady(`${url}${ready}`))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        throw new Error(
          `${[command, ...parameters].join(' ')} did not start:\n${await readFile(log, 'utf8')}`,
        );
      }
      await sleep(20);
    }
    return {
      url,
      pid: child.pid as number,
      stop: async () => {
        child.kill('SIGTERM');
        await ended;
      },
    };
  }

  /** Runs a job in the client process `clientIndex`; simultaneous jobs need different ones. `during` starts with the measured time. */
  async run(job: Job, during: () => Promise<void> = async () => {}, clientIndex = 0): Promise<JobResult> {
    let meanwhile: Promise<void> = Promise.resolve();
    const began = () => {
      meanwhile = during();
      meanwhile.catch(() => {});
    };
    const result = await (wrkCan(job)
      ? runWrk(job, this.folder, began)
      : this.#runClient(job, began, clientIndex));
    await meanwhile;
    if (result.unexpected !== null)
      throw new Error(`${job.traffic}: unexpected response ${result.unexpected}`);
    return result;
  }

  #runClient(job: Job, began: () => void, clientIndex: number): Promise<JobResult> {
    let client = this.#clients.get(clientIndex);
    if (client === undefined) {
      client = fork(path.join(root, 'bench', 'client.ts'), { serialization: 'advanced' });
      this.#clients.set(clientIndex, client);
    }
    const running = client;
    return new Promise<JobResult>((resolve, reject) => {
      const onMessage = (message: FromClient) => {
        if ('began' in message) return began();
        running.off('message', onMessage);
        running.off('exit', onExit);
        if ('ended' in message) resolve(message.ended);
        else reject(new Error(`the client failed: ${message.failed}`));
      };
      const onExit = () => reject(new Error('the client exited'));
      running.on('message', onMessage);
      running.on('exit', onExit);
      running.send({ run: job });
    });
  }

  /** The server process of the embedded database. */
  async databasePid(): Promise<number> {
    const [line = ''] = (await readFile(path.join(this.folder, 'postgres', 'postmaster.pid'), 'utf8')).split(
      '\n',
    );
    return Number(line);
  }
}

function once<T>(kept: Map<string, Promise<T>>, name: string, make: () => Promise<T>): Promise<T> {
  let one = kept.get(name);
  if (one === undefined) {
    one = make();
    kept.set(name, one);
  }
  return one;
}

async function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    async (response) => {
      await response.arrayBuffer();
      return response.ok;
    },
    () => false,
  );
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

export function count(number: number): string {
  return Math.round(number).toLocaleString('en-US');
}
