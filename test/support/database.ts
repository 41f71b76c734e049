import { randomUUID } from 'node:crypto';
import pg from 'pg';
import {
  Database,
  embeddedLogin,
  migrate,
  refuseNestedUse,
  type SocketConnection,
} from '../../src/storage/index.ts';
import { asSuperuser, serviceRole, templateName, useCluster } from './postgres.ts';

refuseNestedUse();

/** A test's own database, freshly migrated. */
export interface TestDatabase extends AsyncDisposable {
  /** With the service's login. */
  readonly connection: SocketConnection;
  /** With the owner's login, a superuser. */
  readonly owner: SocketConnection;
  /** The service's connection, as DATABASE_URL contains it. */
  readonly url: string;
  /** Bound by row-level security, like the service's. */
  readonly database: Database;
  /** Without policies, to insert and to inspect. */
  superuser<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function testDatabase(): Promise<TestDatabase> {
  const cluster = await useCluster();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(cluster.connection, async (client) => {
    await client.query(`create database ${name} template ${templateName}`);
    // A clone has the template's rights, except those to the database itself.
    await client.query(
      `revoke connect, temporary on database ${name} from public; grant connect on database ${name} to ${serviceRole}`,
    );
  });
  const owner = { ...cluster.connection, database: name };
  const connection = { ...owner, user: embeddedLogin };
  const { host, user } = connection;
  const url = `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
  const database = new Database({ connection, maxConnections: 8 });
  const types = new pg.TypeOverrides();
  types.setTypeParser(20, BigInt);
  const superuser = new pg.Pool({ ...owner, max: 2, types });
  superuser.on('error', () => {});

  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await database.close();
    await superuser.end();
    await asSuperuser(cluster.connection, (client) => client.query(`drop database ${name} with (force)`));
    await cluster.stop();
  };
  return {
    connection,
    owner,
    url,
    database,
    superuser: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await superuser.query<Row>(text, [...values])).rows,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A directory of cells of a test's own, freshly migrated. */
export async function testDirectory(): Promise<
  AsyncDisposable & { readonly owner: SocketConnection; readonly url: string }
> {
  const cluster = await useCluster();
  const name = `test_${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  await asSuperuser(cluster.connection, (client) => client.query(`create database ${name}`));
  const owner = { ...cluster.connection, database: name };
  await migrate(owner, { schema: 'directory', login: embeddedLogin });
  return {
    owner,
    url: `postgresql://${embeddedLogin}@localhost/${name}?host=${encodeURIComponent(owner.host)}`,
    [Symbol.asyncDispose]: async () => {
      await asSuperuser(cluster.connection, async (client) => {
        await client.query(`drop database ${name} with (force)`);
        await client.query(`drop role ${name}_service; drop role ${name}_backup`);
      });
      await cluster.stop();
    },
  };
}
