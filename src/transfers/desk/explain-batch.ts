import type { InstitutionId, Statement, Transaction } from '../../storage/index.ts';

/** One run of a batch, for the log at level debug. A batch that is run again has a report for each run. */
export interface BatchReport {
  readonly institutionId: InstitutionId;
  readonly orders: number;
  /** Each transfer with the time that its order waited for its turn. */
  readonly transfers: readonly string[];
  /** The longest of these times. */
  readonly waitedMillis: number;
  /** Each statement with the time until its response; a statement that waits for a lock or behind another takes longer. */
  readonly statements: readonly string[];
  readonly millis: number;
  /** The class of the error that ended the run. */
  readonly failedWith?: string;
}

type Run<Order, Outcome> = (
  tx: Transaction,
  orders: readonly Order[],
  patient: boolean,
) => Promise<readonly Outcome[]>;

/** Reports each run of a batch. */
export class BatchExplainer<Order extends { readonly transferId: string }> {
  readonly #report: (report: BatchReport) => void;
  readonly #submittedAt = new WeakMap<Order, number>();

  constructor(report: (report: BatchReport) => void) {
    this.#report = report;
  }

  submitted(order: Order): void {
    this.#submittedAt.set(order, performance.now());
  }

  around<Outcome>(run: Run<Order, Outcome>): Run<Order, Outcome> {
    return async (tx, orders, patient) => {
      const startedAt = performance.now();
      const waits = orders.map((order) => startedAt - (this.#submittedAt.get(order) ?? startedAt));
      const statements: string[] = [];
      let failedWith: string | undefined;
      try {
        return await run(timed(tx, statements), orders, patient);
      } catch (error) {
        failedWith = error instanceof Error ? error.name : 'unknown';
        throw error;
      } finally {
        this.#report({
          institutionId: tx.institutionId,
          orders: orders.length,
          transfers: orders.map(({ transferId }, at) => `${transferId} ${tenths(waits[at] ?? 0)} ms`),
          waitedMillis: tenths(Math.max(...waits)),
          statements,
          millis: tenths(performance.now() - startedAt),
          ...(failedWith !== undefined && { failedWith }),
        });
      }
    };
  }
}

/** The transaction, with the time of each statement written into `statements`. */
function timed(tx: Transaction, statements: string[]): Transaction {
  const note = <T>(name: string, response: Promise<T>): Promise<T> => {
    const sentAt = performance.now();
    const done = () => statements.push(`${name} ${tenths(performance.now() - sentAt)} ms`);
    response.then(done, done);
    return response;
  };
  return {
    institutionId: tx.institutionId,
    get over() {
      return tx.over;
    },
    query: <Row extends object>(statement: Statement, values?: readonly unknown[]) =>
      note(statement.name, tx.query<Row>(statement, values)),
    commitWith: (writes) =>
      note([...writes.map(({ statement }) => statement.name), 'commit'].join(' + '), tx.commitWith(writes)),
  };
}

function tenths(millis: number): number {
  return Math.round(millis * 10) / 10;
}
