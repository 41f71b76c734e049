import { spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { ownEmbeddedPostgres } from '../../src/embedded-postgres/index.ts';
import { embeddedLogin, migrate, type SocketConnection } from '../../src/storage/index.ts';

/** A cluster for tests, with a migrated database to clone from. */
export interface TestCluster {
  /** The connection of its superuser. */
  readonly connection: SocketConnection;
  stop(): Promise<void>;
}

export const templateName = 'sharedraft_template';

/** The role that has the service's rights in databases cloned from the template. */
export const serviceRole = `${templateName}_service`;

export const templateRoles = { service: serviceRole, backup: `${templateName}_backup` };

const superuserName = 'postgres';

/** Tests that post by hand with the service's login subtract their postings from the control total. */
const onlyForTests = `
  create schema test_support;
  grant usage on schema test_support to ${serviceRole};
  create function test_support.ordered_elsewhere() returns void language sql security definer
  set search_path = pg_catalog, public, pg_temp
  as 'delete from public.control_totals where transaction = pg_current_xact_id()'`;

/** Set by scripts/test.mjs for the test files of a run: the socket of their common cluster. */
const socketVariable = 'SHAREDRAFT_TEST_SOCKET';

export async function startCluster(): Promise<TestCluster> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-test-'));
  // Under root the server runs as another user, which must reach its folder.
  await chmod(dataDir, 0o755);
  endWithThisProcess(dataDir);
  const postgres = await ownEmbeddedPostgres({ dataDir, log: () => {} });
  await makeTemplate(postgres.connection);
  return {
    connection: postgres.connection,
    stop: async () => {
      await postgres.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Stops the server and removes its folder once this process is gone. The server has a session of its own, and a killed process
 * stops nothing; but the kernel then closes its end of the pipe that this shell reads.
 */
function endWithThisProcess(dataDir: string): void {
  const script = `
    cat >/dev/null
    if read -r server <"$1/postgres/postmaster.pid"; then
      kill -INT "$server"
      while kill -0 "$server"; do sleep 0.1; done
    fi
    rm -rf "$1"`;
  const watchdog = spawn('/bin/sh', ['-c', script, 'sh', dataDir], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watchdog.unref();
  (watchdog.stdin as Socket).unref();
}

/** Makes the migrated database that those of the tests are cloned from. */
export async function makeTemplate(connection: SocketConnection): Promise<void> {
  await asSuperuser(connection, (client) => client.query(`create database ${templateName}`));
  const template = { ...connection, database: templateName };
  await migrate(template, { login: embeddedLogin });
  await asSuperuser(template, (client) => client.query(onlyForTests));
}

let own: Promise<TestCluster> | undefined;
let users = 0;

/** The run's common cluster; for a test file run alone, its own cluster while it is in use. */
export async function useCluster(): Promise<TestCluster> {
  const host = process.env[socketVariable];
  if (host !== undefined) {
    const connection = { host, port: 5432, user: superuserName, database: 'sharedraft' };
    return { connection, stop: async () => {} };
  }
  users += 1;
  own ??= startCluster();
  const cluster = await own;
  return {
    connection: cluster.connection,
    stop: async () => {
      users -= 1;
      if (users > 0) return;
      own = undefined;
      await cluster.stop();
    },
  };
}

export async function asSuperuser<T>(
  connection: SocketConnection,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ ...connection, user: superuserName });
  // Without a listener, a server that crashes between two statements would end the test; the next statement fails anyway.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
