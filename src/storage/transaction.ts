import { type Connection, quiet, withCallersStack } from './connection.ts';
import { isLockedOut, lockedOut, outcomeUnknown } from './errors.ts';
import { type InstitutionId, sql, type Transaction } from './statement.ts';

const beginnings = {
  readCommitted: sql('begin', 'begin'),
  snapshot: sql('begin_snapshot', 'begin isolation level repeatable read, read only'),
};

/** Carries an error to the caller, and the news that the connection must be destroyed. */
export class UnusableConnectionError extends Error {
  readonly inner: unknown;
  constructor(inner: unknown) {
    super('the connection cannot be used again');
    this.inner = inner;
  }
}

interface Options<T> {
  readonly institutionId: InstitutionId;
  readonly isolation: keyof typeof beginnings;
  readonly work: (tx: Transaction) => Promise<T>;
}

/** Runs the work in a transaction on the connection and commits it; an error of the work rolls it back. */
export async function runTransaction<T>(
  connection: Connection,
  { institutionId, isolation, work }: Options<T>,
): Promise<T> {
  connection.enter(institutionId);
  const begun = connection.begin(beginnings[isolation]);
  let committed: Promise<void> | undefined;
  // `over` is a field, not a getter: each object literal with a getter has a shape of its own, and V8 discards the code
  // that it compiled for the last one (bench/NOTES.md).
  const tx: { -readonly [Key in keyof Transaction]: Transaction[Key] } = {
    institutionId,
    over: false,
    query: (statement, values) =>
      committed === undefined && !tx.over
        ? connection.query(statement, values)
        : quiet(Promise.reject(transactionOver())),
    commitWith: (writes) => {
      if (committed !== undefined || tx.over) throw transactionOver();
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
    const error = withCallersStack(connection.rootOf(symptom));
    const isCommitted = await committed?.then(
      () => true,
      () => false,
    );
    // The work failed after its own commit, which is a defect: the writes stand, and a repeated request finds them.
    if (isCommitted) throw outcomeUnknown(error);
    // A rollback that succeeds proves that nothing was committed. Without it, only a commit that was never sent does.
    await connection.rollback().catch(() => {
      throw new UnusableConnectionError(committed === undefined ? error : outcomeUnknown(error));
    });
    throw isLockedOut(error) ? lockedOut(error) : error;
  }
}

function transactionOver(): Error {
  return new Error('storage: a statement was sent behind COMMIT, or in a transaction that is over');
}
