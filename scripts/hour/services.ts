import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { childrenOf, eventually, exitOf, freePort, isRunning } from '../../test/support/processes.ts';

export const fakeTimeLibrary = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

/** A start beside the load of the hour, on the same cores. */
const startMillis = 300_000;

interface Member {
  readonly name: string;
  readonly port: string;
  readonly metricsPort: string;
  /** File from which the process reads the offset of its clock. */
  readonly clock: string;
  child?: ChildProcess;
}

interface ServicesOptions {
  /** Of each process. */
  readonly workers: number;
  /** Whether the clocks can be set, which needs faketime. */
  readonly haveClocks: boolean;
}

/** Two processes of the service behind HAProxy. */
export class Services {
  readonly #folder: string;
  readonly #options: ServicesOptions;
  #members: Member[] = [];
  #proxy: ChildProcess | undefined;
  #port = '';

  constructor(folder: string, options: ServicesOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  get address(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get metrics(): readonly string[] {
    return this.#members.map(({ metricsPort }) => `127.0.0.1:${metricsPort}`);
  }

  async start(version: Version): Promise<void> {
    for (const name of ['one', 'two']) {
      const clock = path.join(this.#folder, `clock-${name}`);
      writeFileSync(clock, '+0');
      this.#members.push({ name, port: await freePort(), metricsPort: await freePort(), clock });
    }
    for (const member of this.#members) await this.#serve(member, version);
    this.#port = await freePort();
    const file = path.join(this.#folder, 'haproxy.cfg');
    writeFileSync(file, this.#proxySettings());
    this.#proxy = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
    await eventually('HAProxy', async () => (await fetch(`${this.address}/readyz`)).ok);
  }

  /** As ops/haproxy has it, with http only. */
  #proxySettings(): string {
    const servers = this.#members.map(
      ({ name, port }) => `  server ${name} 127.0.0.1:${port} check inter 1s fall 2 rise 1`,
    );
    return [
      'defaults',
      '  mode http',
      '  timeout connect 2s',
      '  timeout client 75s',
      '  timeout server 75s',
      '  timeout check 5s',
      'frontend bank',
      `  bind 127.0.0.1:${this.#port}`,
      '  default_backend sharedraft',
      'backend sharedraft',
      '  option httpchk GET /readyz',
      ...servers,
      '',
    ].join('\n');
  }

  async #serve(member: Member, { checkout, environment }: Version): Promise<void> {
    const log = createWriteStream(path.join(this.#folder, `${member.name}.log`), { flags: 'a' });
    const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
      cwd: checkout,
      env: {
        PATH: process.env.PATH,
        ...environment,
        PORT: member.port,
        METRICS_PORT: member.metricsPort,
        WORKERS: String(this.#options.workers),
        ...(this.#options.haveClocks && {
          LD_PRELOAD: fakeTimeLibrary,
          FAKETIME_TIMESTAMP_FILE: member.clock,
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    member.child = child;
    const isReady = async () => {
      if (!isRunning(child)) throw new Error(`${member.name} ended`);
      return (await fetch(`http://127.0.0.1:${member.port}/readyz`)).ok;
    };
    await eventually(`${member.name} is ready`, isReady, startMillis);
  }

  /** Replaces one process after the other. */
  async replace(version: Version): Promise<void> {
    for (const member of this.#members) {
      member.child?.kill('SIGTERM');
      if (member.child) await exitOf(member.child);
      await this.#serve(member, version);
      // The proxy finds it ready.
      await sleep(3_000);
    }
  }

  /** Kills a worker of the first process. */
  async loseWorker(): Promise<void> {
    const [{ child } = {}] = this.#members;
    const [worker] = await childrenOf(child?.pid ?? 0);
    if (worker === undefined) throw new Error('There is no worker.');
    process.kill(worker, 'SIGKILL');
  }

  /** Sets the clock of the second process ahead. */
  setClock(offset: '+0' | '+1h'): void {
    const [, member] = this.#members;
    if (member) writeFileSync(member.clock, offset);
  }

  async stop(): Promise<void> {
    const children = [...this.#members.map(({ child }) => child), this.#proxy].filter(
      (child) => child !== undefined,
    );
    for (const child of children) child.kill('SIGTERM');
    for (const child of children) {
      const patience = setTimeout(() => child.kill('SIGKILL'), 60_000);
      await exitOf(child);
      clearTimeout(patience);
    }
  }
}

export interface Version {
  readonly checkout: string;
  readonly environment: Readonly<Record<string, string>>;
}
