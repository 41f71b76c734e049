import pg from 'pg';
import { within } from '../shared/within.ts';
import type { CommitWatch } from './commit-watch.ts';
import { Connection, columnTypes, InstitutionConnection, streamOf, withCallersStack } from './connection.ts';
import {
  asLockedOut,
  asRefusalOfFence,
  databaseLost,
  databaseUnavailable,
  isConnectionLoss,
  isLockedOut,
} from './errors.ts';
import { resolvePasswordFile } from './hosts/password-file.ts';
import type { SocketConnection } from './hosts/socket-connection.ts';
import { WritableHost } from './hosts/writable-host.ts';
import { requireNoHolding, whileHolding } from './nested-use.ts';
import { type Lent, readByKeys, SharedReaders } from './shared-readers.ts';
import type { Directory, InstitutionId, Queryable, Transaction } from './statement.ts';
import { type Part, runTransaction, UnusableConnectionError } from './transaction.ts';

/** One connection for several transactions, one after another. */
export interface Session {
  directory<T>(work: (db: Directory) => Promise<T>): Promise<T>;
  transaction<T>(institutionId: InstitutionId, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

interface PoolState {
  readonly most: number;
  readonly open: number;
  readonly idle: number;
  readonly waiting: number;
}

/** A connection that one part of the program keeps. */
export interface OwnConnection extends Directory {
  /** Ends it. */
  release(): void;
}

export interface DatabaseOptions {
  /** A connection URL, or a unix socket's folder with user and database. */
  readonly connection: string | SocketConnection;
  readonly maxConnections: number;
  /** Sent with each connection's start; an inherited setting could undo a promise. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How long a statement may wait for its response before its connection counts as lost; 11 s by default. */
  readonly silenceMillis?: number;
  /** Called with each new connection before its first use. If it rejects, the connection is closed. */
  readonly onConnect?: (db: Directory) => Promise<void>;
  /** Notes commits that wait. */
  readonly commits?: CommitWatch;
  /** Called when an idle connection fails. */
  readonly onIdleError?: (error: Error) => void;
  /** Throws a Problem if the institution is not served here. Asked before each use of its rows, except in a batch of several. */
  readonly requireServed?: (institutionId: InstitutionId) => void;
}

const sessionSettings: Readonly<Record<string, string>> = {
  synchronous_commit: 'on',
  jit: 'off',
  TimeZone: 'UTC',
  lock_timeout: '500ms',
  statement_timeout: '10s',
  idle_in_transaction_session_timeout: '5s',
  application_name: 'sharedraft',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  row_security: 'on',
  search_path: 'public',
  DateStyle: 'ISO',
  bytea_output: 'hex',
  standard_conforming_strings: 'on',
};

/**
 * A server that responds at all ends any statement before this (statement_timeout). A server that froze, or a network that
 * drops packets, would hold callers until TCP gives up, after a quarter of an hour. With a step of silence, and the time to
 * connect again, a request ends within 15 s.
 */
const defaultSilenceMillis = 11_000;

const connectMillis = 2_000;
const closeMillis = 2_000;
/** One in so many connections is for reads to share. */
const connectionsPerReader = 4;

/**
 * A bounded pool of pipelined connections to PostgreSQL, each with the service's login.
 *
 * Errors: Problem `database_unavailable` if the database cannot be reached (nothing was written), Problem
 * `outcome_unknown` if the response to a commit was lost, pg.DatabaseError if a statement fails.
 */
export class Database {
  /** Sent with the start of each connection. */
  readonly settings: Readonly<Record<string, string>>;
  readonly #pool: pg.Pool;
  readonly #open = new Map<pg.PoolClient, { readonly ended: Promise<void>; isLent: boolean }>();
  readonly #connections = new WeakMap<
    pg.PoolClient,
    { readonly connection: Connection; readonly host: string | SocketConnection }
  >();
  readonly #silenceMillis: number;
  readonly #commits: CommitWatch | undefined;
  readonly #onConnect: DatabaseOptions['onConnect'];
  readonly #host: WritableHost;
  readonly #readers: SharedReaders;
  readonly #own = new Set<OwnConnection>();
  readonly #requireServed: (institutionId: InstitutionId) => void;

  constructor(options: DatabaseOptions) {
    this.settings = { ...sessionSettings, ...options.settings };
    const settings = Object.entries(this.settings)
      .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
      .join(' ');
    this.#silenceMillis = options.silenceMillis ?? defaultSilenceMillis;
    this.#commits = options.commits;
    this.#onConnect = options.onConnect;
    this.#requireServed = options.requireServed ?? (() => {});
    this.#host = new WritableHost(options.connection);
    this.#pool = new pg.Pool({
      ...(typeof options.connection === 'string' ? {} : options.connection),
      max: options.maxConnections,
      connectionTimeoutMillis: connectMillis,
      idleTimeoutMillis: 0,
      options: settings,
      // Sends statements without waiting for the response to the one before. Not in the type package yet.
      ...({ pipeline: true } as object),
      types: columnTypes,
    });
    this.#pool.on('error', (error) => options.onIdleError?.(error));
    // Without a listener an error on a connection in use would end the process. The server may end a connection right after
    // it accepted it, so the listener is there from the start.
    this.#pool.on('connect', (client) => {
      client.on('error', () => {});
      const ended = new Promise<void>((resolve) => client.once('end', resolve)).then(() => {
        this.#open.delete(client);
      });
      this.#open.set(client, { ended, isLent: true });
    });
    const maxReaders = Math.max(1, Math.floor(options.maxConnections / connectionsPerReader));
    this.#readers = new SharedReaders(() => this.#lend(), maxReaders);
  }

  /**
   * Reads for one institution, each statement its own transaction. The connection is shared with other reads, so no
   * statement may lock a row. Only a migration lets it wait: Problem `overloaded` if it takes too long.
   */
  async read<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T> {
    requireNoHolding(this);
    this.#requireServed(institutionId);
    return this.#readers.read(institutionId, work);
  }

  /**
   * A single write for one institution: the statement is its transaction. If the response is lost, the row may have been
   * written; the detail of Problem `database_unavailable` then leaves that open.
   */
  async write<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T> {
    this.#requireServed(institutionId);
    return this.#with(async (connection) => {
      const db = new InstitutionConnection(connection, institutionId);
      return connection.durably(work(db)).catch((error) => {
        throw isConnectionLoss(error) ? new UnusableConnectionError(databaseLost(error)) : error;
      });
    });
  }

  /**
   * A connection for statements that must not wait for those of others, kept until `onLost`, `release` or `close`. A failed
   * statement is the caller's to handle, and a caller whose statement fails must release it.
   */
  async ownConnection(onLost: () => void): Promise<OwnConnection> {
    const { connection, release } = await this.#lend();
    let isReleased = false;
    const own: OwnConnection = {
      query: (statement, values) =>
        connection.query<never>(statement, values).catch((error) => {
          throw isConnectionLoss(error) ? databaseUnavailable(error) : withCallersStack(error);
        }),
      release: () => {
        if (!isReleased) release(true);
        isReleased = true;
        this.#own.delete(own);
      },
    };
    this.#own.add(own);
    connection.leave();
    connection.query(readByKeys).catch(() => {});
    connection.onceLost(onLost);
    return own;
  }

  /** The global directory: institutions, client ids, providers by issuer, signing keys. It cannot read an institution's tables. */
  async directory<T>(work: (db: Directory) => Promise<T>): Promise<T> {
    return this.#with((connection) => {
      connection.leave();
      return work(connection);
    });
  }

  /** As `directory`, for questions asked at once: those before the first await are one transaction, and all fail with one of them. */
  async directoryAtOnce<T>(questions: (db: Directory) => Promise<T>): Promise<T> {
    return this.#with((connection) => {
      connection.leave();
      return connection.asOneQuery(() => questions(connection));
    });
  }

  /**
   * READ COMMITTED. If `work` throws, the transaction is rolled back and the error passed on. A lock that is not free in
   * time is Problem `overloaded`.
   */
  async transaction<T>(institutionId: InstitutionId, work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.#requireServed(institutionId);
    return this.#with((connection) => runAlone(connection, 'readCommitted', { institutionId, work }));
  }

  /**
   * One transaction of several institutions: all parts commit together, or none. The error of a statement names its institution
   * (`institutionOf`). Locks are waited for only briefly, since one that is not free holds up all parts.
   */
  together<T>(parts: readonly Part<T>[]): Promise<T[]> {
    return this.#with((connection) => runTransaction(connection, 'readCommitted', parts));
  }

  /** Several statements that see the database at the same moment. They cannot write. */
  async snapshot<T>(institutionId: InstitutionId, work: (tx: Transaction) => Promise<T>): Promise<T> {
    this.#requireServed(institutionId);
    return this.#with((connection) => runAlone(connection, 'snapshot', { institutionId, work }));
  }

  /**
   * One connection for many transactions, one after another. A lock of its session lasts from one to the next, until the
   * connection ends.
   */
  session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#with((connection) =>
      work({
        directory: (read) => read(connection),
        transaction: async (institutionId, change) => {
          this.#requireServed(institutionId);
          return runAlone(connection, 'readCommitted', { institutionId, work: change });
        },
      }),
    );
  }

  /** Connections of this pool: the most, those that are open, those without work, and callers that wait for one. */
  get pool(): PoolState {
    const { totalCount, idleCount, waitingCount } = this.#pool;
    return { most: this.#pool.options.max, open: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /**
   * Waits until all connections have ended, since the next user of the server may count them. It does not wait longer than
   * two seconds for a server that does not close them, nor for a caller that keeps one.
   */
  async close(): Promise<void> {
    for (const own of this.#own) own.release();
    await this.#readers.close();
    const left = [...this.#open.values()].map(({ ended }) => ended);
    const ended = Promise.all([this.#pool.end(), ...left]);
    if (await within(closeMillis, ended)) return;
    for (const client of this.#open.keys()) streamOf(client).destroy();
    await within(closeMillis, ended);
  }

  async #lend(): Promise<Lent> {
    const { client, chosen } = await this.#connect();
    let known = this.#connections.get(client);
    const isNew = known === undefined;
    if (known === undefined) {
      const connection = new Connection(client, {
        silenceMillis: this.#silenceMillis,
        commits: this.#commits,
        onSilence: () => {
          this.#host.forget(chosen);
          this.#dropUnused();
        },
      });
      known = { connection, host: chosen };
      this.#connections.set(client, known);
    }
    const { connection, host } = known;
    const open = this.#open.get(client);
    if (open !== undefined) open.isLent = true;
    const release = (broken: boolean) => {
      if (open !== undefined) open.isLent = false;
      // It may be no primary any more, or stand still.
      if (broken) this.#host.forget(host);
      client.release(broken);
    };
    if (isNew && this.#onConnect !== undefined) {
      try {
        await this.#onConnect(connection);
      } catch (error) {
        release(true);
        // A promoted server notes its first connection in a commit that waits for a standby, and others wait for that one.
        throw isConnectionLoss(error) || isLockedOut(error)
          ? databaseUnavailable(error)
          : withCallersStack(error);
      }
    }
    return { connection, release };
  }

  /** Takes a connection from the pool. It chooses another host if the last one cannot be reached. */
  async #connect(): Promise<{
    readonly client: pg.PoolClient;
    readonly chosen: string | SocketConnection;
  }> {
    let chosen: string | SocketConnection | undefined;
    const connect = async () => {
      chosen = await this.#host.choose();
      // The pool reads its options for each new connection.
      if (typeof chosen === 'string') this.#pool.options.connectionString = resolvePasswordFile(chosen);
      return { client: await this.#pool.connect(), chosen };
    };
    try {
      return await connect().catch((error) => {
        if (!this.#host.isOneOfSeveral) throw error;
        this.#host.forget(chosen);
        return connect();
      });
    } catch (error) {
      throw databaseUnavailable(error);
    }
  }

  /**
   * If one connection is silent, others probably are, and their next callers would wait as long again. So idle connections
   * end, and so do the shared ones for reads, which are safe to repeat.
   */
  #dropUnused(): void {
    this.#readers.release(true);
    for (const [client, { isLent }] of this.#open) if (!isLent) streamOf(client).destroy();
  }

  async #with<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    requireNoHolding(this);
    const { connection, release } = await this.#lend();
    let broken = false;
    try {
      return await whileHolding(this, () => work(connection));
    } catch (error) {
      if (error instanceof UnusableConnectionError) {
        broken = true;
        const inner = error.inner;
        throw isConnectionLoss(inner) ? databaseUnavailable(inner) : inner;
      }
      if (isConnectionLoss(error)) {
        broken = true;
        throw databaseUnavailable(error);
      }
      throw asLockedOut(asRefusalOfFence(withCallersStack(error)));
    } finally {
      // A connection that was lost, or could not roll back, is destroyed.
      release(broken);
    }
  }
}

async function runAlone<T>(
  connection: Connection,
  isolation: 'readCommitted' | 'snapshot',
  part: Part<T>,
): Promise<T> {
  const [result] = await runTransaction(connection, isolation, [part]);
  return result as T;
}
