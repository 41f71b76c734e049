import type { Duplex } from 'node:stream';
import pg from 'pg';
import { seams } from '../shared/seams.ts';
import type { CommitWatch } from './commit-watch.ts';
import { sqlState, sqlStateOf } from './errors.ts';
import { type PendingStatement, PipelinedQuery, type PreparedStatements } from './pipelined-query.ts';
import {
  type Directory,
  type InstitutionId,
  type Queryable,
  type Result,
  type Statement,
  sql,
} from './statement.ts';

/** Silence is counted in steps of a timer: a query reads no clock, and time in which this process stood still counts as one step. */
const stepsOfSilence = 10;
/** A commit without a response for so many steps is delayed: one to two seconds with the usual silence. */
const stepsOfDelay = 2;

export const columnTypes = new pg.TypeOverrides();
columnTypes.setTypeParser(20, BigInt); // int8: money and keys, never a float
columnTypes.setTypeParser(1082, (text: string) => text); // date: a business day, not a moment

const setInstitution = sql('set_institution', `select set_config('sharedraft.institution', $1, false)`);
const commit = sql('commit', 'commit');
const rollback = sql('rollback', 'rollback');

interface ConnectionOptions {
  /** The connection ends itself if the server owes a response and sends nothing for so long. */
  readonly silenceMillis: number;
  readonly commits?: CommitWatch | undefined;
  readonly onSilence?: () => void;
}

/** A connection that remembers the institution its session is set to, and sets it only when it changes. */
export class Connection implements Directory {
  readonly #client: pg.PoolClient;
  #held = false;
  #firstFailure: unknown;
  /** The institution that the session is set to; '' for none, undefined if unknown. */
  #entered: string | undefined = '';
  #inTransaction = false;
  #isGathering = false;
  #unsent: PendingStatement[] = [];
  readonly #prepared: PreparedStatements = new Map();
  #pendingResponses = 0;
  #silentSteps = 0;
  #committing = 0;
  readonly #commits: CommitWatch | undefined;
  readonly #onSilence: () => void;

  constructor(client: pg.PoolClient, { silenceMillis, commits, onSilence = () => {} }: ConnectionOptions) {
    this.#client = client;
    this.#commits = commits;
    this.#onSilence = onSilence;
    // One timer for each connection. pg would have one for each query: linked with one another, they keep rows from being
    // collected while they are young (ADR 11).
    const watch = setInterval(() => this.#endIfSilent(), silenceMillis / stepsOfSilence).unref();
    client.once('end', () => clearInterval(watch));
  }

  query<Row extends object>(statement: Statement, values: readonly unknown[] = []): Promise<Result<Row>> {
    const result = seams.statement.hasSubscribers
      ? seams.statement.tracePromise(() => this.#ask<Row>(statement, values), {
          statement: statement.name,
          startedAt: performance.now(),
        })
      : this.#ask<Row>(statement, values);
    // One statement may fail while another is awaited, so each has a handler from the beginning.
    result.catch((error) => {
      this.#firstFailure ??= error;
    });
    return result;
  }

  #ask<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Result<Row>> {
    this.#holdPacket();
    const result = new Promise<Result<Row>>((resolve, reject) => {
      this.#unsent.push({ statement, values, institution: this.#entered, resolve, reject });
    });
    // Outside a transaction each statement is a query of its own, so that one that fails does not fail others.
    if (!this.#inTransaction && !this.#isGathering) this.#send();
    return result;
  }

  /** The statements that `work` asks before it first awaits are one query, and so one transaction of the server: all fail with one of them. */
  asOneQuery<T>(work: () => T): T {
    this.#send();
    this.#isGathering = true;
    try {
      return work();
    } finally {
      this.#isGathering = false;
      this.#send();
    }
  }

  /** Statements of one turn of the event loop leave in one packet: a write to the socket costs more than a statement. */
  #holdPacket(): void {
    if (this.#held) return;
    this.#held = true;
    const stream = streamOf(this.#client);
    stream.cork();
    setImmediate(() => {
      this.#held = false;
      this.#send();
      stream.uncork();
    });
  }

  #send(): void {
    if (this.#unsent.length === 0) return;
    const query = new PipelinedQuery(this.#unsent, this.#prepared, columnTypes, () => {
      this.#pendingResponses -= 1;
      this.#silentSteps = 0;
    });
    this.#unsent = [];
    this.#pendingResponses += 1;
    this.#client.query(query as never);
  }

  #endIfSilent(): void {
    this.#silentSteps = this.#pendingResponses === 0 ? 0 : this.#silentSteps + 1;
    if (this.#committing > 0 && this.#silentSteps >= stepsOfDelay) this.#commits?.waits();
    if (this.#silentSteps <= stepsOfSilence) return;
    streamOf(this.#client).destroy();
    this.#onSilence();
  }

  onceLost(listener: () => void): void {
    this.#client.once('error', listener);
  }

  /** Watches a commit: its response means that data is on the disk, and on the standbys that commits wait for. */
  async durably<T>(response: Promise<T>): Promise<T> {
    this.#committing += 1;
    try {
      const result = await response;
      this.#commits?.succeeded();
      return result;
    } finally {
      this.#committing -= 1;
    }
  }

  /**
   * Pipelined ahead of the next statement, so no one waits for it. If it fails, the next statement runs under the policies
   * of the previous institution, with the keys of this one: it finds no row and changes none.
   */
  enter(institutionId: InstitutionId): void {
    this.#set(String(institutionId));
  }

  /** Hides the rows of every institution. A policy that needs the institution is an error until `enter`. */
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

  begin(how: Statement): Promise<unknown> {
    this.#firstFailure = undefined;
    this.#inTransaction = true;
    return quiet(this.query(how));
  }

  /** The cause of an error: of pipelined statements those behind the failed one fail too, and may be awaited first. */
  rootOf(error: unknown): unknown {
    return sqlStateOf(error) === sqlState.inFailedTransaction ? (this.#firstFailure ?? error) : error;
  }

  /** Resolves only if the server responds COMMIT. To a failed transaction it responds ROLLBACK, without an error. */
  async commit(): Promise<void> {
    const response = this.query<never>(commit);
    this.#send();
    this.#inTransaction = false;
    const { command } = await this.durably(response);
    if (command !== 'COMMIT') throw this.#firstFailure ?? new Error(`the response to commit was ${command}`);
  }

  /** In a query of its own: behind a failed statement of the same query it would not be run. */
  async rollback(): Promise<void> {
    this.#send();
    this.#inTransaction = false;
    // A setting that the transaction changed goes back to the one before.
    this.#entered = undefined;
    await this.query(rollback);
  }
}

/** One institution's use of a connection, which other institutions may use at the same time. */
export class InstitutionConnection implements Queryable {
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

/** Private to pg, which has no public way to hold a packet back or to cut a silent connection that has queries in flight. */
export function streamOf(client: pg.PoolClient): Duplex {
  return (client as unknown as { readonly connection: { readonly stream: Duplex } }).connection.stream;
}

/** The server's error with the stack of its caller. Its own stack is that of the socket's reader. */
export function withCallersStack(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) Error.captureStackTrace(error, withCallersStack);
  return error;
}

export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
