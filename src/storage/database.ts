import pg from 'pg';
import {
  databaseUnavailable,
  isConnectionLoss,
  isLockedOut,
  lockedOut,
  outcomeUnknown,
  sqlState,
  sqlStateOf,
} from './errors.ts';

/** The internal number of an institution: the tenant every row but the directory's belongs to. */
export type InstitutionId = number & { readonly __brand: 'InstitutionId' };

/** One named statement: prepared once a connection, then sent by name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export function sql(name: string, text: string): Statement {
  return { name, text };
}

export interface Result<Row> {
  readonly rows: Row[];
  readonly rowCount: number;
  readonly command: string;
}

export interface Queryable {
  query<Row extends object>(statement: Statement, values?: readonly unknown[]): Promise<Result<Row>>;
}

/** Statements on it commit together or not at all. It sees the rows of one institution only. */
export interface Transaction extends Queryable {
  readonly institutionId: InstitutionId;
}

export interface DatabaseOptions {
  /** A connection URL, or a unix socket's folder with user and database. */
  readonly connection: string | { host: string; port: number; user: string; database: string };
  readonly maxConnections: number;
  /** Sent with each connection's start; an inherited setting could undo a promise. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Told of connections that fail while idle. */
  readonly onIdleError?: (error: Error) => void;
}

/** The role that owns nothing and is bound by row-level security; migration 0001 makes it. */
export const serviceRole = 'sharedraft_service';

const sessionSettings: Readonly<Record<string, string>> = {
  role: serviceRole,
  synchronous_commit: 'on',
  jit: 'off',
  TimeZone: 'UTC',
  lock_timeout: '500ms',
  statement_timeout: '10s',
  idle_in_transaction_session_timeout: '5s',
  application_name: 'sharedraft',
};

const types = new pg.TypeOverrides();
types.setTypeParser(20, BigInt); // int8: money and keys, never a float
types.setTypeParser(1082, (text: string) => text); // date: a business day, not a moment

const setInstitution = sql('set_institution', `select set_config('sharedraft.institution', $1, false)`);
const begin: Statement = { name: '', text: 'begin' };
const beginSnapshot: Statement = { name: '', text: 'begin isolation level repeatable read, read only' };
const commit: Statement = { name: '', text: 'commit' };
const rollback: Statement = { name: '', text: 'rollback' };

/** A connection that remembers which institution it has said, and says it again only when that changes. */
export class Connection implements Queryable {
  readonly #client: pg.PoolClient;
  #firstFailure: unknown;
  #institutionId: InstitutionId | undefined;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  query<Row extends object>(statement: Statement, values: readonly unknown[] = []): Promise<Result<Row>> {
    const answer = this.#client.query(
      statement.name === ''
        ? { text: statement.text, values: values as unknown[] }
        : { name: statement.name, text: statement.text, values: values as unknown[] },
    ) as unknown as Promise<pg.QueryResult<Row>>;
    // Statements go out pipelined: one may fail while another is awaited, so each has a handler from birth.
    answer.catch((error) => {
      this.#firstFailure ??= error;
    });
    return answer.then((result) => ({
      rows: result.rows,
      rowCount: result.rowCount ?? 0,
      command: result.command,
    }));
  }

  /** Pipelined ahead of what follows; an error in it fails the statements behind it, so nobody need wait. */
  enter(institutionId: InstitutionId): void {
    if (this.#institutionId === institutionId) return;
    this.#institutionId = institutionId;
    this.query(setInstitution, [String(institutionId)]).catch(() => {
      this.#institutionId = undefined;
    });
  }

  begin(how: Statement = begin): Promise<unknown> {
    this.#firstFailure = undefined;
    return quiet(this.query(how));
  }

  /** Of pipelined statements each after the failed one fails as well, and may be heard of first: what was the cause. */
  rootOf(error: unknown): unknown {
    return sqlStateOf(error) === sqlState.inFailedTransaction ? (this.#firstFailure ?? error) : error;
  }

  /** Resolves only when the server answered COMMIT: to a failed transaction it answers ROLLBACK, without an error. */
  async commit(): Promise<void> {
    const { command } = await this.query(commit);
    if (command !== 'COMMIT') throw new Error(`commit was answered ${command}`);
  }

  async rollback(): Promise<void> {
    await this.query(rollback);
  }
}

function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}

/**
 * The service's way to PostgreSQL: a bounded pool of pipelined connections, each bound to the service's role.
 *
 * Errors: a database that cannot be reached is Problem `database_unavailable` (nothing was written), a lost
 * answer to a commit is Problem `outcome_unknown`; errors of a statement come through as pg.DatabaseError.
 */
export class Database {
  readonly #pool: pg.Pool;
  readonly #connections = new WeakMap<pg.PoolClient, Connection>();

  constructor(options: DatabaseOptions) {
    const settings = Object.entries({ ...sessionSettings, ...options.settings })
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' ');
    this.#pool = new pg.Pool({
      ...(typeof options.connection === 'string'
        ? { connectionString: options.connection }
        : options.connection),
      max: options.maxConnections,
      connectionTimeoutMillis: 2_000,
      idleTimeoutMillis: 0,
      options: settings,
      // Not in the type package yet: statements are sent without waiting for the answer to the one before.
      ...({ pipeline: true } as object),
      types,
    });
    this.#pool.on('error', (error) => options.onIdleError?.(error));
  }

  /** Reads (or single, self-contained writes) for one institution, each statement its own transaction. */
  async read<T>(institutionId: InstitutionId, work: (db: Queryable) => Promise<T>): Promise<T> {
    return this.#with(async (connection) => {
      connection.enter(institutionId);
      return work(connection);
    });
  }

  /** The global directory: institutions, client ids, signing keys. Tenant tables are closed to it. */
  async directory<T>(work: (db: Queryable) => Promise<T>): Promise<T> {
    return this.#with(work);
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

  #transaction<T>(
    institutionId: InstitutionId,
    how: Statement,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#with(async (connection) => {
      connection.enter(institutionId);
      const begun = connection.begin(how);
      let result: T;
      try {
        const tx: Transaction = { institutionId, query: (s, v) => connection.query(s, v) };
        result = await work(tx);
        await begun;
      } catch (symptom) {
        const error = connection.rootOf(symptom);
        await connection.rollback().catch(() => {
          throw new UnusableConnection(error);
        });
        throw isLockedOut(error) ? lockedOut(error) : error;
      }
      try {
        await connection.commit();
      } catch (error) {
        if (isConnectionLoss(error)) throw new UnusableConnection(outcomeUnknown(error));
        throw error;
      }
      return result;
    });
  }

  /** A connection of one's own, for who keeps a protocol of their own (the ledger's lanes, advisory locks). */
  async withConnection<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return this.#with(work);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #with<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw databaseUnavailable(error);
    }
    let connection = this.#connections.get(client);
    if (connection === undefined) {
      connection = new Connection(client);
      this.#connections.set(client, connection);
      // Without a listener of ours an error on a connection in use would end the process.
      client.on('error', () => {});
    }
    let broken = false;
    try {
      return await work(connection);
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
      throw error;
    } finally {
      // A connection that could not roll back, or was lost, is destroyed rather than lent again.
      client.release(broken);
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

const roleStanding = sql(
  'role_standing',
  `select r.rolsuper or r.rolbypassrls
          or exists (select from pg_class c where c.relowner = r.oid and c.relnamespace = 'public'::regnamespace)
          as powerful
   from pg_roles r where r.rolname = current_user`,
);

/** Row-level security binds neither superusers nor owners: the service does not run as one. */
export async function refusePowerfulRole(database: Database): Promise<void> {
  const { rows } = await database.directory((db) => db.query<{ powerful: boolean }>(roleStanding));
  if (rows[0]?.powerful !== false) {
    throw new Error(`the service's connections do not run as ${serviceRole}, which row-level security binds`);
  }
}
