import pg from 'pg';
import { oneUrlPerHost } from '../../shared/text/database-urls.ts';
import { resolvePasswordFile } from './password-file.ts';
import type { SocketConnection } from './socket-connection.ts';

const patienceMillis = 2_000;

/**
 * Chooses the first writable host of a connection (libpq's `target_session_attrs=read-write`), and keeps it until `forget`.
 * With a single host it makes no query.
 */
export class WritableHost {
  readonly #hosts: readonly (string | SocketConnection)[];
  #chosen: Promise<string | SocketConnection> | undefined;

  constructor(connection: string | SocketConnection) {
    this.#hosts = typeof connection === 'string' ? oneUrlPerHost(connection) : [connection];
  }

  get isOneOfSeveral(): boolean {
    return this.#hosts.length > 1;
  }

  /** Rejects with the first host's error if no host is writable. */
  choose(): Promise<string | SocketConnection> {
    const [only] = this.#hosts;
    if (only !== undefined && !this.isOneOfSeveral) return Promise.resolve(only);
    const chosen = this.#chosen ?? this.#ask();
    this.#chosen = chosen;
    chosen.catch(() => this.forget());
    return chosen;
  }

  forget(): void {
    this.#chosen = undefined;
  }

  /** Queries all hosts at once, so that an absent one adds no delay. */
  async #ask(): Promise<string | SocketConnection> {
    const answers = this.#hosts.map((host) => requireWritable(host).then(() => host));
    for (const answer of answers) answer.catch(() => {});
    for (const answer of answers) {
      const host = await answer.catch(() => undefined);
      if (host !== undefined) return host;
    }
    throw await answers[0]?.catch((reason) => reason);
  }
}

async function requireWritable(host: string | SocketConnection): Promise<void> {
  const client = new pg.Client({
    ...clientOptions(host),
    connectionTimeoutMillis: patienceMillis,
    query_timeout: patienceMillis,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ writable: boolean }>(
      `select current_setting('transaction_read_only') = 'off' as writable`,
    );
    if (rows[0]?.writable !== true) throw new Error('The server is a standby, or read-only.');
  } finally {
    client.end().catch(() => {});
  }
}

export function clientOptions(host: string | SocketConnection): pg.ClientConfig {
  return typeof host === 'string' ? { connectionString: resolvePasswordFile(host) } : { ...host };
}
