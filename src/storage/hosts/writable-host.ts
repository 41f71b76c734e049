import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { oneUrlPerHost } from '../../shared/text/database-urls.ts';
import { resolvePasswordFile } from './password-file.ts';
import type { SocketConnection } from './socket-connection.ts';

const patienceMillis = 2_000;
/** A host that stands still takes connections and says nothing. One that lives is heard within this of the others. */
const graceMillis = 500;

type Host = string | SocketConnection;

/**
 * Chooses the first writable host of a connection (libpq's `target_session_attrs=read-write`), and keeps it until it is forgotten.
 * With a single host it makes no query.
 */
export class WritableHost {
  readonly #hosts: readonly Host[];
  #choice: Promise<Host> | undefined;
  /** Undefined while the hosts are being asked. */
  #chosen: Host | undefined;

  constructor(connection: string | SocketConnection) {
    this.#hosts = typeof connection === 'string' ? oneUrlPerHost(connection) : [connection];
  }

  get isOneOfSeveral(): boolean {
    return this.#hosts.length > 1;
  }

  /** Rejects with the first host's error if no host is writable. */
  choose(): Promise<Host> {
    const [only] = this.#hosts;
    if (only !== undefined && !this.isOneOfSeveral) return Promise.resolve(only);
    this.#choice ??= this.#ask().then(
      (host) => {
        this.#chosen = host;
        return host;
      },
      (error) => {
        this.#choice = undefined;
        throw error;
      },
    );
    return this.#choice;
  }

  /** The host failed. Another one may have been chosen since, which stays. */
  forget(host: Host | undefined): void {
    if (host === undefined || host !== this.#chosen) return;
    this.#choice = undefined;
    this.#chosen = undefined;
  }

  /** Queries all hosts at once, so that neither an absent one nor one that stands still adds a delay. */
  async #ask(): Promise<Host> {
    const heard: ({ readonly host: Host } | { readonly error: unknown } | undefined)[] = [];
    const answers = this.#hosts.map(async (host, at) => {
      heard[at] = await requireWritable(host).then(
        () => ({ host }),
        (error: unknown) => ({ error }),
      );
    });
    const writable = answers.map(async (answer, at) => {
      await answer;
      if ('error' in (heard[at] ?? {})) throw new Error('not writable');
    });
    const grace = Promise.any(writable).then(
      () => sleep(graceMillis),
      () => {},
    );
    // Of two that are writable every process chooses the first, if it lives.
    for (const [at, answer] of answers.entries()) {
      await Promise.race([answer, grace]);
      const one = heard[at];
      if (one !== undefined && 'host' in one) return one.host;
    }
    const [first] = heard;
    throw first !== undefined && 'error' in first
      ? first.error
      : new Error('The first host does not answer.');
  }
}

async function requireWritable(host: Host): Promise<void> {
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

export function clientOptions(host: Host): pg.ClientConfig {
  return typeof host === 'string' ? { connectionString: resolvePasswordFile(host) } : { ...host };
}
