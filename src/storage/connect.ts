import pg from 'pg';
import { DatabaseStartError } from './database-start-error.ts';
import type { SocketConnection } from './embedded-postgres.ts';

/** A server that takes connections and does not respond would hold a start or a command for ever. */
const connectMillis = 5_000;

/** One connection outside of any pool. DatabaseStartError. */
export async function connect(connection: string | SocketConnection): Promise<pg.Client> {
  const client = new pg.Client({
    ...(typeof connection === 'string' ? { connectionString: connection } : connection),
    connectionTimeoutMillis: connectMillis,
  });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (cause) {
    throw new DatabaseStartError(`The database cannot be reached: ${(cause as Error).message}`, cause);
  }
  return client;
}
