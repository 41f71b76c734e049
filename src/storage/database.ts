import type { Duplex } from 'node:stream';
import pg from 'pg';
import { within } from '../shared/within.ts';
import type { CommitWatch } from './commit-watch.ts';
import {
  databaseLost,
  databaseUnavailable,
  isConnectionLoss,
  isLockedOut,
  lockedOut,
  outcomeUnknown,
  sqlState,
  sqlStateOf,
} from './errors.ts';
import { type JoinedRead, JoinedReads } from './joined-reads.ts';
import { requireNoHolding, whileHolding } from './nested-use.ts';
import type { SocketConnection } from './socket-connection.ts';
import { type Asked, type Prepared, StatementGroup } from './statement-group.ts';
import { WritableHost } from './writable-host.ts';

/** The internal number of an institution: the tenant every row but the directory's belongs to. */
export type InstitutionId = number & { readonly __brand: 'InstitutionId' };

/** One named statement: prepared once a connection, then sent by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Every statement of the modules that are loaded. A test prepares them all as the service's role. */
export const declaredStatements = new Map<string, Statement>();

export function sql(name: string, text: string): Statement {
  const statement = { name, text };
  declaredStatements.set(`${name} ${text}`, statement);
  return statement;
}

/**
 * A write that the database counts by itself: `sent` is, in SQL, how many rows it must have written. With another number
 * it fails, for an update hidden by a policy touches no row and raises no error. So nobody need look at its answer.
 */
export function counted(name: string, table: string, sent: string, write: string): Statement {
  return sql(
    name,
    `with written as (${write} returning 1) select expect_rows('${table}', count(*), ${sent}) from written`,
  );
}

export interface Result<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
  readonly command: string;
}

/** The global directory: it has no institution, and the rows of every institution are hidden from it. */
export interface Directory {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>>;
}

/** Sees the rows of one institution only. */
export interface Queryable extends Directory {
  readonly institutionId: InstitutionId;
}

/** A write as data: a statement, which fails by itself where anything is wrong, and its values. */
export interface Write {
  readonly statement: Statement;
  readonly values: readonly unknown[];
}

/** Statements on it commit together or not at all. */
export interface Transaction extends Queryable {
  /** Its work has ended, well or not: what comes later is of no account, and nothing can be asked any more. */
  readonly over: boolean;
  /**
   * Sends these and COMMIT in one packet, without a wait for the answers. Any write that fails undoes the transaction and is
   * the error. Nothing can be sent afterwards.
   */
  commitWith(writes: readonly Write[]): Promise<void>;
}

/** What can be asked of one connection that is kept. */
export interface Session {
  directory<T>(work: (db: Directory) => Promise<T>): Promise<T>;
  transaction<T>(institutionId: InstitutionId, work: (tx: Transaction) => Promise<T>): Promise<T>;
}

export interface DatabaseOptions {
  /** A connection URL, or a unix socket's folder with user and database. */
  readonly connection: string | SocketConnection;
  readonly maxConnections: number;
  /** Sent with each connection's start; an inherited setting could undo a promise. */
  readonly settings?: Readonly<Record<string, string>>;
  /** How long a statement may go unanswered before its connection is taken for lost; 11 s when left out. */
  readonly silenceMillis?: number;
  /** Called with each new connection before its first use; a connection with which it fails is not used. */
  readonly onConnect?: (db: Directory) => Promise<void>;
  /** Notes commits that wait. */
  readonly commits?: CommitWatch;
  /** Told of connections that fail while idle. */
  readonly onIdleError?: (error: Error) => void;
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
 * A server that responds at all has ended any statement before this (statement_timeout). One that froze, or is behind a
 * network that swallows packets, would hold its callers for as long as TCP is patient, a quarter of an hour. With a step of
 * silence, and the time to connect again, a request ends within 15 s.
 */
const silenceMillis = 11_000;

const connectMillis = 2_000;
const endPatienceMillis = 2_000;

/** Silence is counted in steps of a timer: no clock is read for a query, and time in which this process stood still counts as one. */
const stepsOfSilence = 10;
/** A commit unanswered for so many steps waits: one to two seconds with the usual silence. */
const stepsOfDelay = 2;

const types = new pg.TypeOverrides();
types.setTypeParser(20, BigInt); // int8: money and keys, never a float
types.setTypeParser(1082, (text: string) => text); // date: a business day, not a moment

const setInstitution = sql('set_institution', `select set_config('sharedraft.institution', $1, false)`);
const begin = sql('begin', 'begin');
const beginSnapshot = sql('begin_snapshot', 'begin isolation level repeatable read, read only');
const commit = sql('commit', 'commit');
const rollback = sql('rollback', 'rollback');

/** A connection that remembers which institution it has said, and says it again only when that changes. */
export class Connection implements Directory {
  readonly #client: pg.PoolClient;
  #held = false;
  #firstFailure: unknown;
  /** The institution that the session is set to; '' for none, undefined where it is not known. */
  #entered: string | undefined = '';
  #inTransaction = false;
  #together: Asked[] = [];
  readonly #prepared: Prepared = new Map();
  #unanswered = 0;
  #silentSteps = 0;
  #committing = 0;
  readonly #commits: CommitWatch | undefined;
  readonly #onSilence: () => void;

  /** Ends itself, and calls `onSilence`, if the server owes an answer and sends nothing for so long. */
  constructor(
    client: pg.PoolClient,
    mostSilentMillis: number,
    {
      commits,
      onSilence = () => {},
    }: {
      readonly commits?: CommitWatch | undefined;
      readonly onSilence?: () => void;
    } = {},
  ) {
    this.#client = client;
    this.#commits = commits;
    this.#onSilence = onSilence;
    // One timer a connection. pg would have one a query: linked with one another, they keep what queries read from being
    // collected while it is young (ADR 11).
    const watch = setInterval(() => this.#endIfSilent(), mostSilentMillis / stepsOfSilence).unref();
    client.once('end', () => clearInterval(watch));
  }

  query<Row extends object>(statement: Statement, values: readonly unknown[] = []): Promise<Result<Row>> {
    this.#holdPacket();
    const answer = new Promise<Result<Row>>((resolve, reject) => {
      this.#together.push({ statement, values, resolve, reject });
    });
    // Outside a transaction each stands for itself: one that fails must not take others with it.
    if (!this.#inTransaction) this.#send();
    // Statements go out pipelined: one may fail while another is awaited, so each has a handler from birth.
    answer.catch((error) => {
      this.#firstFailure ??= error;
    });
    return answer;
  }

  /** Statements of one turn of the event loop go out as one packet: a write to the socket costs more than a statement. */
  #holdPacket(): void {
    if (this.#held) return;
    this.#held = true;
    const stream = this.#stream;
    stream.cork();
    setImmediate(() => {
      this.#held = false;
      this.#send();
      stream.uncork();
    });
  }

  #send(): void {
    if (this.#together.length === 0) return;
    const group = new StatementGroup(this.#together, this.#prepared, types, () => {
      this.#unanswered -= 1;
      this.#silentSteps = 0;
    });
    this.#together = [];
    this.#unanswered += 1;
    this.#client.query(group as never);
  }

  #endIfSilent(): void {
    this.#silentSteps = this.#unanswered === 0 ? 0 : this.#silentSteps + 1;
    if (this.#committing > 0 && this.#silentSteps >= stepsOfDelay) this.#commits?.waits();
    if (this.#silentSteps <= stepsOfSilence) return;
    this.#stream.destroy();
    this.#onSilence();
  }

  onceLost(listener: () => void): void {
    this.#client.once('error', listener);
  }

  get #stream(): Duplex {
    return streamOf(this.#client);
  }

  /** What the answer to says that data is on the disk, and on the standbys that commits wait for. */
  async durably<T>(answer: Promise<T>): Promise<T> {
    this.#committing += 1;
    try {
      const result = await answer;
      this.#commits?.succeeded();
      return result;
    } finally {
      this.#committing -= 1;
    }
  }

  /**
   * Pipelined ahead of what follows, so nobody need wait. Should it fail, what is behind it asks for rows that the policies
   * of the institution before do not show: it finds none, and changes none.
   */
  enter(institutionId: InstitutionId): void {
    this.#set(String(institutionId));
  }

  /** Sees no institution's rows until it enters one: a policy that asks for the institution then is an error. */
  leave(): void {
    this.#set('');
  }

  #set(institution: string): void {
    if (this.#entered === institution) return;
    this.#entered = institution;
    this.query(setInstitution, [institution]).catch(() => {
      this.#entered = undefined;
    });
  }

  begin(how: Statement = begin): Promise<unknown> {
    this.#firstFailure = undefined;
    this.#inTransaction = true;
    return quiet(this.query(how));
  }

  /** Of pipelined statements each after the failed one fails as well, and may be heard of first: what was the cause. */
  rootOf(error: unknown): unknown {
    return sqlStateOf(error) === sqlState.inFailedTransaction ? (this.#firstFailure ?? error) : error;
  }

  /** Resolves only when the server answered COMMIT: to a failed transaction it answers ROLLBACK, without an error. */
  async commit(): Promise<void> {
    const answer = this.query<never>(commit);
    this.#send();
    this.#inTransaction = false;
    const { command } = await this.durably(answer);
    if (command !== 'COMMIT') throw this.#firstFailure ?? new Error(`commit was answered ${command}`);
  }

  /** The same behind these writes, in one group: behind a statement that fails it is not run. */
  commitWith(writes: readonly Write[]): Promise<void> {
    for (const { statement, values } of writes) void this.query(statement, values);
    return quiet(this.commit());
  }

  /** Apart from what went before: in one group with a statement that fails it would not be run. */
  async rollback(): Promise<void> {
    this.#send();
    this.#inTransaction = false;
    await this.query(rollback);
  }
}

/** One institution's use of a connection, which other institutions may use at the same time. */
class InstitutionConnection implements Queryable {
  readonly institutionId: InstitutionId;
  readonly #connection: Connection;

  constructor(connection: Connection, institutionId: InstitutionId) {
    this.#connection = connection;
    this.institutionId = institutionId;
  }

  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>> {
    this.#connection.enter(this.institutionId);
    return this.#connection.query(statement, values);
  }
}

/** A connection that many reads share, kept from the pool for as long as it lives. */
interface Reader {
  readonly connection: Connection;
  underWay: number;
  readonly release: (broken: boolean) => void;
}

const connectionsPerReader = 4;

/** For readers: a plan is made once, and reads by keys also where a table was empty when it was made. */
const readByKeys = sql(
  'read_by_keys',
  `select set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false)`,
);

/** The server's error with the callers that wait for it; its own stack is that of the reader of the socket. */
function located(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) Error.captureStackTrace(error, located);
  return error;
}

function streamOf(client: pg.PoolClient): Duplex {
  return (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection.stream;
}

function tooLate(): Error {
  return new Error('storage: nothing can be asked behind COMMIT, nor of a transaction that is over');
}

function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/**
 * The service's way to PostgreSQL: a bounded pool of pipelined connections, each with the service's login.
 *
 * Errors: a database that cannot be reached is Problem `database_unavailable` (nothing was written), a lost
 * answer to a commit is Problem `outcome_unknown`; errors of a statement come through as pg.DatabaseError.
 */
export class Database {
  /** What each connection sends with its start. */
  readonly settings: Readonly<Record<string, string>>;
  readonly #pool: pg.Pool;
  readonly #open = new Map<pg.PoolClient, { readonly ended: Promise<void>; isLent: boolean }>();
  readonly #connections = new WeakMap<pg.PoolClient, Connection>();
  readonly #silenceMillis: number;
  readonly #commits: CommitWatch | undefined;
  readonly #onConnect: DatabaseOptions['onConnect'];
  readonly #host: WritableHost;
  readonly #maxReaders: number;
  readonly #readers = new Set<Reader>();
  #openingReader: Promise<Reader> | undefined;
  readonly #joinedReads = new JoinedReads((institutionId, work) => this.read(institutionId, work));

  constructor(options: DatabaseOptions) {
    this.settings = { ...sessionSettings, ...options.settings };
    const settings = Object.entries(this.settings)
      .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
      .join(' ');
    this.#silenceMillis = options.silenceMillis ?? silenceMillis;
    this.#commits = options.commits;
    this.#onConnect = options.onConnect;
    this.#host = new WritableHost(options.connection);
    this.#pool = new pg.Pool({
      ...(typeof options.connection === 'string' ? {} : options.connection),
      max: options.maxConnections,
      connectionTimeoutMillis: connectMillis,
      idleTimeoutMillis: 0,
      options: settings,
      // Not in the type package yet: statements are sent without waiting for the answer to the one before.
      ...({ pipeline: true } as object),
      types,
    });
    this.#pool.on('error', (error) => options.onIdleError?.(error));
    // Without a listener of ours an error on a connection in use would end the process; from the start, since the server may
    // end it in one breath with having let it in.
    this.#pool.on('connect', (client) => {
      client.on('error', () => {});
      const ended = new Promise<void>((resolve) => client.once('end', resolve)).then(() => {
        this.#open.delete(client);
      });
      this.#open.set(client, { ended, isLent: true });
    });
    this.#maxReaders = Math.max(1, Math.floor(options.maxConnections / connectionsPerReader));
  }

  /**
   * Reads for one institution, each statement its own transaction. They share a few connections with others' reads,
   * so each says whose it is as it goes out, and none may wait for a lock: what writes has a connection of its own.
   */
  async read<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T> {
    requireNoHolding(this);
    const reader = this.#idlestReader() ?? (await this.#openReader());
    reader.underWay += 1;
    try {
      return await work(new InstitutionConnection(reader.connection, institutionId));
    } catch (error) {
      if (!isConnectionLoss(error)) throw located(error);
      this.#closeReader(reader);
      throw databaseUnavailable(error);
    } finally {
      reader.underWay -= 1;
    }
  }

  /**
   * A single, self-contained write for one institution: the statement is its transaction. What is lost with its answer may have
   * been written: Problem `database_unavailable`, which then does not say that nothing was.
   */
  async write<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T> {
    return this.#with(async (connection) => {
      const db = new InstitutionConnection(connection, institutionId);
      return connection.durably(work(db)).catch((error) => {
        throw isConnectionLoss(error) ? new UnusableConnection(databaseLost(error)) : error;
      });
    });
  }

  /** One key of a read that is joined with others asked at the same time. Undefined where nothing is found by it. */
  readJoined<Key, Value>(
    institutionId: InstitutionId,
    joined: JoinedRead<Key, Value>,
    key: Key,
  ): Promise<Value | undefined> {
    requireNoHolding(this);
    return this.#joinedReads.ask(institutionId, joined, key);
  }

  /** None where the first has yet to be opened; while all are busy, another one is opened beside. */
  #idlestReader(): Reader | undefined {
    let idlest: Reader | undefined;
    for (const reader of this.#readers) {
      if (idlest === undefined || reader.underWay < idlest.underWay) idlest = reader;
    }
    if (idlest !== undefined && idlest.underWay > 0 && this.#readers.size < this.#maxReaders) {
      this.#openReader().catch(() => {});
    }
    return idlest;
  }

  #openReader(): Promise<Reader> {
    this.#openingReader ??= this.#connectReader().finally(() => {
      this.#openingReader = undefined;
    });
    return this.#openingReader;
  }

  async #connectReader(): Promise<Reader> {
    const { connection, release } = await this.#lend();
    connection.query(readByKeys).catch(() => {});
    const reader: Reader = { connection, underWay: 0, release };
    connection.onceLost(() => this.#closeReader(reader));
    this.#readers.add(reader);
    return reader;
  }

  #closeReader(reader: Reader, broken = true): void {
    if (this.#readers.delete(reader)) reader.release(broken);
  }

  /** The global directory: institutions, client ids, providers by issuer, signing keys. Tenant tables are closed to it. */
  async directory<T>(work: (db: Directory) => Promise<T>): Promise<T> {
    return this.#with((connection) => {
      connection.leave();
      return work(connection);
    });
  }

  /**
   * READ COMMITTED. `work` throwing rolls back; its error comes through, but for a lock that was not to be had in
   * time, which is Problem `overloaded`.
   */
  transaction<T>(institutionId: InstitutionId, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(institutionId, begin, work);
  }

  /** Several statements that see one and the same moment, and can write nothing. */
  snapshot<T>(institutionId: InstitutionId, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transaction(institutionId, beginSnapshot, work);
  }

  /**
   * One connection for many transactions, one after another: a lock on its session lasts from one to the next, and until the
   * connection ends.
   */
  session<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#with((connection) =>
      work({
        directory: (ask) => ask(connection),
        transaction: (institutionId, change) => this.#transactionOn(connection, institutionId, begin, change),
      }),
    );
  }

  #transaction<T>(
    institutionId: InstitutionId,
    how: Statement,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#with((connection) => this.#transactionOn(connection, institutionId, how, work));
  }

  async #transactionOn<T>(
    connection: Connection,
    institutionId: InstitutionId,
    how: Statement,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    connection.enter(institutionId);
    const begun = connection.begin(how);
    let committed: Promise<void> | undefined;
    // A field, no getter: an object literal with one has a shape of its own each time, and what was compiled for the last
    // one is thrown away (ADR 12).
    const tx: { -readonly [Key in keyof Transaction]: Transaction[Key] } = {
      institutionId,
      over: false,
      query: (statement, values) =>
        committed === undefined && !tx.over
          ? connection.query(statement, values)
          : quiet(Promise.reject(tooLate())),
      commitWith: (writes) => {
        if (committed !== undefined || tx.over) throw tooLate();
        committed = connection.commitWith(writes);
        return committed;
      },
    };
    try {
      const result = await work(tx).finally(() => {
        tx.over = true;
      });
      await begun;
      committed ??= connection.commit();
      await committed;
      return result;
    } catch (symptom) {
      const error = located(connection.rootOf(symptom));
      const done = await committed?.then(
        () => true,
        () => false,
      );
      // A defect of who sent COMMIT too soon: what is done stands, and whoever repeats the request will find it.
      if (done) throw outcomeUnknown(error);
      // Who can still roll back knows that nothing was committed, whatever failed; who cannot knows it only where COMMIT was
      // never asked for.
      await connection.rollback().catch(() => {
        throw new UnusableConnection(committed === undefined ? error : outcomeUnknown(error));
      });
      throw isLockedOut(error) ? lockedOut(error) : error;
    }
  }

  /**
   * Waits until all connections have ended, since the next user of the server may count them. A server that does not let go
   * of them is not waited for, nor is a caller that keeps one.
   */
  async close(): Promise<void> {
    await this.#openingReader?.catch(() => {});
    for (const reader of this.#readers) this.#closeReader(reader, false);
    const left = [...this.#open.values()].map(({ ended }) => ended);
    const ended = Promise.all([this.#pool.end(), ...left]);
    if (await within(endPatienceMillis, ended)) return;
    for (const client of this.#open.keys()) streamOf(client).destroy();
    await within(endPatienceMillis, ended);
  }

  async #lend(): Promise<{ connection: Connection; release: (broken: boolean) => void }> {
    const client = await this.#connect();
    let connection = this.#connections.get(client);
    const isNew = connection === undefined;
    if (connection === undefined) {
      connection = new Connection(client, this.#silenceMillis, {
        commits: this.#commits,
        onSilence: () => this.#dropUnused(),
      });
      this.#connections.set(client, connection);
    }
    const open = this.#open.get(client);
    if (open !== undefined) open.isLent = true;
    const release = (broken: boolean) => {
      if (open !== undefined) open.isLent = false;
      client.release(broken);
    };
    if (isNew && this.#onConnect !== undefined) {
      try {
        await this.#onConnect(connection);
      } catch (error) {
        release(true);
        this.#host.forget();
        throw isConnectionLoss(error) ? databaseUnavailable(error) : located(error);
      }
    }
    return { connection, release };
  }

  /** From the pool; the host is chosen anew if the one before cannot be reached. */
  async #connect(): Promise<pg.PoolClient> {
    const connect = async () => {
      const host = await this.#host.choose();
      // The pool reads its options for each new connection.
      if (typeof host === 'string') this.#pool.options.connectionString = host;
      return this.#pool.connect();
    };
    try {
      return await connect().catch((error) => {
        if (!this.#host.isOneOfSeveral) throw error;
        this.#host.forget();
        return connect();
      });
    } catch (error) {
      throw databaseUnavailable(error);
    }
  }

  /**
   * If one connection has fallen silent, others have too: a caller that got one of them would wait for another silence. So
   * those that idle end, and so do those for reads, which are safe to repeat.
   */
  #dropUnused(): void {
    for (const reader of this.#readers) this.#closeReader(reader);
    for (const [client, { isLent }] of this.#open) if (!isLent) streamOf(client).destroy();
  }

  async #with<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    requireNoHolding(this);
    const { connection, release } = await this.#lend();
    let broken = false;
    try {
      return await whileHolding(this, () => work(connection));
    } catch (error) {
      if (error instanceof UnusableConnection) {
        broken = true;
        const inner = error.inner;
        throw isConnectionLoss(inner) ? databaseUnavailable(inner) : inner;
      }
      if (isConnectionLoss(error)) {
        broken = true;
        throw databaseUnavailable(error);
      }
      throw located(error);
    } finally {
      // A connection that could not roll back, or was lost, is destroyed rather than lent again.
      release(broken);
    }
  }
}

/** Carries the error to the caller and the news that the connection must be destroyed. */
class UnusableConnection extends Error {
  readonly inner: unknown;
  constructor(inner: unknown) {
    super('the connection cannot be used again');
    this.inner = inner;
  }
}
