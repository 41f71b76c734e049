import { execFileSync } from 'node:child_process';
import { appendFile, chown, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type EmbeddedPostgres, ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import type { SocketConnection } from '../../src/storage/index.ts';
import { asSuperuser } from '../../test/support/postgres.ts';
import { eventually, postmasterOf } from '../../test/support/processes.ts';

const volumeMegabytes = 6_000;

/** A primary on a file system of its own, and a synchronous standby of it. Each is restarted after a crash, as by a supervisor. */
export class Databases {
  readonly #folder: string;
  readonly #volume: string;
  #primary: EmbeddedPostgres | undefined;
  #standby: EmbeddedPostgres | undefined;
  #isPrimaryGone = false;

  constructor(folder: string) {
    this.#folder = folder;
    this.#volume = path.join(folder, 'volume');
  }

  get #dataDir(): string {
    return path.join(this.#volume, 'primary');
  }

  /** The superuser's connection to the server that takes writes. */
  get connection(): SocketConnection {
    const server = this.#isPrimaryGone ? this.#standby : this.#primary;
    if (server === undefined) throw new Error('No server runs.');
    return server.connection;
  }

  environment(login: string): Record<string, string> {
    const hosts = [this.#primary, this.#standby].flatMap((server) => server?.connection.host ?? []).join(',');
    return {
      DATABASE_URL: `postgresql://${login}@localhost/${this.connection.database}?host=${encodeURIComponent(hosts)}`,
      SECRET_KEY: '5c'.repeat(32),
      PUBLIC_URL: 'http://bench.example',
      LOG_LEVEL: 'warn',
      SHUTDOWN_DELAY_SECONDS: '8',
      LOOK_UPS_PER_MINUTE: '999999999',
      DRY_RUNS_PER_MINUTE: '999999999',
    };
  }

  async startPrimary(): Promise<void> {
    const image = path.join(this.#folder, 'volume.img');
    await mkdir(this.#volume);
    execFileSync('truncate', ['--size', `${volumeMegabytes}M`, image]);
    execFileSync('mkfs.ext4', ['-q', image]);
    execFileSync('mount', ['-o', 'loop', image, this.#volume]);
    this.#primary = await ownEmbeddedPostgres({ dataDir: this.#dataDir, log: () => {} });
  }

  /** A copy of the stopped primary that follows it. From then on no commit is acknowledged before the standby has it. */
  async startStandby(): Promise<void> {
    const dataDir = path.join(this.#folder, 'standby');
    await this.#primary?.stop();
    execFileSync('cp', ['-a', this.#dataDir, dataDir]);
    this.#primary = await ownEmbeddedPostgres({ dataDir: this.#dataDir, log: () => {} });
    const cluster = path.join(dataDir, 'postgres');
    const { host, port } = this.#primary.connection;
    const source = `host=${host} port=${port} user=postgres application_name=two`;
    await appendFile(path.join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    await writeFile(path.join(cluster, 'standby.signal'), '');
    const { uid, gid } = await stat(cluster);
    await chown(path.join(cluster, 'standby.signal'), uid, gid);
    this.#standby = await ownEmbeddedPostgres({ dataDir, log: () => {} });
    await asSuperuser(this.#primary.connection, async (client) => {
      await client.query(`alter system set synchronous_standby_names = 'two'`);
      await client.query('select pg_reload_conf()');
    });
    await eventually('the standby is synchronous', async () =>
      asSuperuser(this.connection, async (client) => {
        const { rows } = await client.query(`select 1 from pg_stat_replication where sync_state = 'sync'`);
        return rows.length === 1;
      }),
    );
  }

  /** Stops or continues every process of the primary. */
  async signalPrimary(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const postmaster = await postmasterOf(this.#dataDir);
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(postmaster)], { encoding: 'utf8' });
    for (const pid of [postmaster, ...children.trim().split(/\s+/).map(Number)]) {
      try {
        process.kill(pid, signal);
      } catch {
        // A server process may end meanwhile.
      }
    }
  }

  /** Takes all space that is left on the primary's file system. */
  fillDisk(): void {
    try {
      execFileSync('dd', ['if=/dev/zero', `of=${path.join(this.#volume, 'filler')}`, 'bs=1M'], {
        stdio: 'ignore',
      });
    } catch {
      // dd fails when the file system is full.
    }
  }

  async freeDisk(): Promise<void> {
    await rm(path.join(this.#volume, 'filler'), { force: true });
  }

  /** Ends the primary for good, at once, and promotes the standby. */
  async failOver(): Promise<void> {
    this.#isPrimaryGone = true;
    process.kill(await postmasterOf(this.#dataDir), 'SIGKILL');
    // No supervisor restarts it: two servers that take writes would be a split.
    await this.#primary?.stop();
    if (this.#standby === undefined) throw new Error('There is no standby.');
    await asSuperuser(this.#standby.connection, (client) => client.query('select pg_promote()'));
  }

  async stop(): Promise<void> {
    for (const server of [this.#standby, this.#primary]) await server?.stop().catch(() => {});
    try {
      execFileSync('umount', ['--lazy', this.#volume], { stdio: 'ignore' });
    } catch {
      // It was not mounted yet.
    }
  }
}
