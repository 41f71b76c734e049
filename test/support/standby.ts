import { execFile } from 'node:child_process';
import { appendFile, chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type EmbeddedPostgres, ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { embeddedLogin, migrate, type SocketConnection } from '../../src/storage/index.ts';
import { asSuperuser } from './postgres.ts';

export interface Replicated {
  readonly primary: EmbeddedPostgres;
  readonly standby: EmbeddedPostgres;
  /** Starts the standby again after its `stop`, at the same address. */
  startStandby(): Promise<EmbeddedPostgres>;
  /** Stops both servers, and removes their folders. */
  stop(): Promise<void>;
}

/** A migrated primary and an asynchronous standby of it, a copy that streams the log. */
export async function primaryAndStandby(standbySettings: readonly string[] = []): Promise<Replicated> {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-standby-'));
  await chmod(parent, 0o755);
  const folders = { primary: path.join(parent, 'primary'), standby: path.join(parent, 'standby') };
  const first = await ownEmbeddedPostgres({ dataDir: folders.primary, log: () => {} });
  await migrate(first.connection, { login: embeddedLogin });
  await first.stop();
  await promisify(execFile)('cp', ['-a', folders.primary, folders.standby]);
  const primary = await ownEmbeddedPostgres({ dataDir: folders.primary, log: () => {} });
  const cluster = path.join(folders.standby, 'postgres');
  const { host, port } = primary.connection;
  const source = `primary_conninfo = 'host=${host} port=${port} user=postgres'`;
  await appendFile(
    path.join(cluster, 'postgresql.auto.conf'),
    [source, ...standbySettings].map((line) => `${line}\n`).join(''),
  );
  const signal = path.join(cluster, 'standby.signal');
  await writeFile(signal, '');
  const { uid, gid } = await stat(cluster);
  if (process.getuid?.() === 0) await chown(signal, uid, gid);
  const startStandby = () => ownEmbeddedPostgres({ dataDir: folders.standby, log: () => {} });
  let standby = await startStandby();
  return {
    primary,
    get standby() {
      return standby;
    },
    startStandby: async () => {
      standby = await startStandby();
      return standby;
    },
    stop: async () => {
      await primary.stop();
      await standby.stop().catch(() => {});
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** The URL of the service's login on these servers. */
export function urlOf(...servers: readonly { readonly connection: SocketConnection }[]): string {
  const hosts = servers.map(({ connection }) => connection.host).join(',');
  return `postgresql://${embeddedLogin}@localhost/sharedraft?host=${encodeURIComponent(hosts)}`;
}

export async function changeSetting(
  server: { readonly connection: SocketConnection },
  setting: string,
): Promise<void> {
  await asSuperuser(server.connection, async (client) => {
    await client.query(`alter system set ${setting}`);
    await client.query('select pg_reload_conf()');
  });
}
