import type pg from 'pg';
import { connect } from '../hosts/connect.ts';
import { DatabaseStartError } from '../hosts/database-start-error.ts';
import type { SocketConnection } from '../hosts/socket-connection.ts';

const patienceMillis = 5_000;

/**
 * Throws DatabaseStartError if the connection leads to a pooler that gives each transaction another server process, where
 * settings, locks and prepared statements would leak between sessions. Tested with two connections: one holds a transaction
 * open between two transactions of the other. The last pair of queries detects a pooler that rotates its processes.
 */
export async function refuseTransactionPooling(
  connection: string | SocketConnection,
  millis = patienceMillis,
): Promise<void> {
  const one = await connect(connection);
  try {
    const other = await connect(connection);
    try {
      if (await keepTheirProcesses(one, other, millis)) return;
    } finally {
      await other.end();
    }
  } finally {
    await one.end();
  }
  throw new DatabaseStartError(
    'The database is behind a pooler that shares server processes between transactions: sessions would lose their settings and locks. Let the URL lead to PostgreSQL itself, or to a pooler in session mode.',
  );
}

async function keepTheirProcesses(one: pg.Client, other: pg.Client, millis: number): Promise<boolean> {
  const ask = async (client: pg.Client, text = 'select pg_backend_pid() as pid'): Promise<number> => {
    const { rows } = await client.query({ text, query_timeout: millis } as pg.QueryConfig);
    return rows[0]?.pid;
  };
  try {
    const ofOne = [await ask(one)];
    await ask(other, 'begin');
    const ofOther = [await ask(other)];
    ofOne.push(await ask(one));
    await ask(other, 'commit');
    ofOther.push(await ask(other));
    ofOne.push(await ask(one));
    return new Set(ofOne).size === 1 && new Set(ofOther).size === 1 && ofOne[0] !== ofOther[0];
  } catch {
    // A pooler in statement mode refuses BEGIN; one with a single server process never responds to the other connection.
    return false;
  }
}
