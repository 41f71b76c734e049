import pg from 'pg';
import { DatabaseStartError } from './database-start-error.ts';
import type { SocketConnection } from './socket-connection.ts';
import { clientOptions, WritableHost } from './writable-host.ts';

/** A server that takes connections and does not respond would hold a start or a command for ever. */
const connectMillis = 5_000;

/** One connection outside of any pool. DatabaseStartError. */
export async function connect(connection: string | SocketConnection): Promise<pg.Client> {
  try {
    const host = await new WritableHost(connection).choose();
    const client = new pg.Client({ ...clientOptions(host), connectionTimeoutMillis: connectMillis });
    client.on('error', () => {});
    await client.connect();
    return client;
  } catch (cause) {
    throw new DatabaseStartError(`The database cannot be reached: ${(cause as Error).message}`, cause);
  }
}
