import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitOf } from '../../test/support/processes.ts';
import type { Databases } from './databases.ts';
import type { Load } from './load.ts';
import type { Services } from './services.ts';

export interface Fault {
  readonly name: string;
  readonly does: string;
  /** When it begins, as a part of the whole time. */
  readonly part: number;
  /** Returns once the fault is over. */
  run(): Promise<void>;
}

export interface World {
  readonly root: string;
  readonly databases: Databases;
  readonly services: Services;
  readonly environment: Readonly<Record<string, string>>;
  readonly load: Load;
  readonly say: (text: string) => void;
}

/** Longer than the minute after which the alerts of a database that is away fire. */
const awaySeconds = 90;

export function faultsOf({ root, databases, services, environment }: World): readonly Fault[] {
  return [
    {
      name: 'upgrade',
      does: 'this version migrates, then replaces one process after the other',
      part: 5 / 60,
      async run() {
        const { connection } = databases;
        const owner = `postgresql://postgres@localhost/${connection.database}?host=${encodeURIComponent(connection.host)}`;
        const child = spawn(process.execPath, ['src/main.ts', 'migrate'], {
          cwd: root,
          env: { PATH: process.env.PATH, ...environment, MIGRATION_DATABASE_URL: owner },
          stdio: ['ignore', 'ignore', 'inherit'],
        });
        if ((await exitOf(child)) !== 0) throw new Error('The migration failed.');
        await services.replace({ checkout: root, environment });
      },
    },
    {
      name: 'worker',
      does: 'a worker of the first process is killed',
      part: 14 / 60,
      async run() {
        await services.loseWorker();
        await sleep(15_000);
      },
    },
    {
      name: 'freeze',
      does: `every process of the primary stands still for ${awaySeconds} s`,
      part: 20 / 60,
      async run() {
        await databases.signalPrimary('SIGSTOP');
        await sleep(awaySeconds * 1_000);
        await databases.signalPrimary('SIGCONT');
        await sleep(15_000);
      },
    },
    {
      name: 'disk',
      does: `the file system of the primary is full for ${awaySeconds} s`,
      part: 30 / 60,
      async run() {
        databases.fillDisk();
        await sleep(awaySeconds * 1_000);
        await databases.freeDisk();
        await sleep(20_000);
      },
    },
    {
      name: 'clock',
      does: 'the clock of the second process is an hour ahead for a minute',
      part: 40 / 60,
      async run() {
        services.setClock('+1h');
        await sleep(60_000);
        services.setClock('+0');
        await sleep(10_000);
      },
    },
    {
      name: 'fail-over',
      does: 'the primary is killed for good, and the standby promoted',
      part: 50 / 60,
      async run() {
        await databases.failOver();
        await sleep(30_000);
      },
    },
  ];
}
