import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Database, refuseNestedUse, type SocketConnection } from '../../src/storage/index.ts';
import { asSuperuser, templateName, useCluster } from './postgres.ts';

refuseNestedUse();

/** A database of a test's own, freshly migrated. */
export interface TestDatabase extends AsyncDisposable {
  readonly connection: SocketConnection;
  /** The same as DATABASE_URL has it. */
  readonly url: string;
  /** As the service has it: bound by row-level security. */
  readonly database: Database;
  /** Past every policy, to plant and to look. */
  superuser<Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function testDatabase(): Promise<TestDatabase> {
  const cluster = await useCluster();
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await asSuperuser(cluster.connection, (client) =>
    client.query(`create database ${name} template ${templateName}`),
  );
  const connection = { ...cluster.connection, database: name };
  const { host, user } = connection;
  const url = `postgresql://${user}@localhost/${name}?host=${encodeURIComponent(host)}`;
  const database = new Database({ connection, maxConnections: 8 });
  const types = new pg.TypeOverrides();
  types.setTypeParser(20, BigInt);
  const superuser = new pg.Pool({ ...connection, max: 2, types });
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
    url,
    database,
    superuser: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await superuser.query<Row>(text, [...values])).rows,
    close,
    [Symbol.asyncDispose]: close,
  };
}
