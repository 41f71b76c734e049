import { type Connection, quiet, withCallersStack } from './connection.ts';
import { asLockedOut, outcomeUnknown } from './errors.ts';
import { type InstitutionId, sql, type Transaction } from './statement.ts';

const beginnings = {
  readCommitted: sql('begin', 'begin'),
  snapshot: sql('begin_snapshot', 'begin isolation level repeatable read, read only'),
};

/** A lock in one institution holds up the others of the transaction, so it is not waited for as long as usual. */
const waitBriefly = sql('wait_briefly', `select set_config('lock_timeout', '50ms', true)`);

/** Carries an error to the caller, and the news that the connection must be destroyed. */
export class UnusableConnectionError extends Error {
  readonly inner: unknown;
  constructor(inner: unknown) {
    super('the connection cannot be used again');
    this.inner = inner;
  }
}

/** The work of one institution in a transaction. Its statements see the rows of that institution only. */
export interface Part<T> {
  readonly institutionId: InstitutionId;
  readonly work: (tx: Transaction) => Promise<T>;
}

/**
 * Runs the parts in one transaction on the connection and commits them together; an error of one rolls all back. The parts run at the
 * same time, and each statement is sent behind the setting of its institution. So the statements of a turn of the event loop leave
 * in one packet, grouped by part, and COMMIT is sent when the last part has sent its writes.
 */
export async function runTransaction<T>(
  connection: Connection,
  isolation: keyof typeof beginnings,
  parts: readonly Part<T>[],
): Promise<T[]> {
  if (parts[0] !== undefined) connection.enter(parts[0].institutionId);
  const begun = connection.begin(beginnings[isolation]);
  if (parts.length > 1) void quiet(connection.query(waitBriefly));
  const common = new CommonCommit(connection, parts.length);
  try {
    const results = await Promise.all(parts.map((part) => runPart(connection, part, common)));
    await begun;
    await common.sent;
    return results;
  } catch (symptom) {
    common.abandon(symptom);
    const error = withCallersStack(connection.rootOf(symptom));
    const isCommitted = await common.sent?.then(
      () => true,
      () => false,
    );
    // The work failed after its own commit, which is a defect: the writes stand, and a repeated request finds them.
    if (isCommitted) throw outcomeUnknown(error);
    // A rollback that succeeds proves that nothing was committed. Without it, only a commit that was never sent does.
    await connection.rollback().catch(() => {
      throw new UnusableConnectionError(common.sent === undefined ? error : outcomeUnknown(error));
    });
    throw asLockedOut(error);
  }
}

/** COMMIT, sent once behind the writes of the last part. */
class CommonCommit {
  readonly #connection: Connection;
  readonly #settled = Promise.withResolvers<void>();
  #awaited: number;
  isOver = false;
  /** Undefined until it is sent. */
  sent: Promise<void> | undefined;

  constructor(connection: Connection, parts: number) {
    this.#connection = connection;
    this.#awaited = parts;
    void quiet(this.#settled.promise);
  }

  /** A part has sent its last statement. Resolves when all are committed. */
  join(): Promise<void> {
    this.#awaited -= 1;
    if (this.#awaited === 0 && !this.isOver) {
      this.isOver = true;
      this.sent = quiet(this.#connection.commit());
      this.sent.then(this.#settled.resolve, this.#settled.reject);
    }
    return quiet(this.#settled.promise.then(() => {}));
  }

  /** A part has failed: nothing more is sent. */
  abandon(error: unknown): void {
    this.isOver = true;
    if (this.sent === undefined) this.#settled.reject(error);
  }
}

async function runPart<T>(
  connection: Connection,
  { institutionId, work }: Part<T>,
  common: CommonCommit,
): Promise<T> {
  let joined: Promise<void> | undefined;
  // `over` is a field, not a getter: each object literal with a getter has a shape of its own, and V8 discards the code
  // that it compiled for the last one (bench/NOTES.md).
  const tx: { -readonly [Key in keyof Transaction]: Transaction[Key] } = {
    institutionId,
    over: false,
    query: (statement, values) => {
      if (joined !== undefined || tx.over || common.isOver) return quiet(Promise.reject(transactionOver()));
      connection.enter(institutionId);
      return connection.query(statement, values);
    },
    commitWith: (writes) => {
      if (joined !== undefined || tx.over || common.isOver) throw transactionOver();
      connection.enter(institutionId);
      for (const { statement, values } of writes) void connection.query(statement, values);
      joined = common.join();
      return joined;
    },
  };
  try {
    const result = await work(tx);
    tx.over = true;
    joined ??= common.join();
    await joined;
    return result;
  } catch (error) {
    tx.over = true;
    common.abandon(error);
    throw error;
  }
}

function transactionOver(): Error {
  return new Error('storage: a statement was sent behind COMMIT, or in a transaction that is over');
}
