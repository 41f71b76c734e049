import { AccountsBusyError } from '../../ledger/index.ts';
import { FairShare, inTurns } from '../../shared/fair-queue.ts';
import { Problem } from '../../shared/problem.ts';
import { seams } from '../../shared/seams.ts';
import {
  type Database,
  type InstitutionId,
  institutionOf,
  outcomeUnknown,
  sqlState,
  sqlStateOf,
  type Transaction,
} from '../../storage/index.ts';

export interface BatchQueueOptions<Order, Outcome> {
  readonly database: Database;
  /** Batches that may run at once, each on a connection of its own. */
  readonly lanes: number;
  readonly maxBatch: number;
  /** Orders in the queue beyond this, or beyond their caller's share of it, are refused: Problem `overloaded`. */
  readonly maxWaiting: number;
  /** The queue gives up an order that has no outcome by then. */
  readonly deadlineMillis: number;
  /** The accounts and ids of an order: two running batches never share a key. */
  readonly keysOf: (order: Order) => readonly string[];
  /**
   * A batch takes the orders of the institutions in turns, and of an institution those of its callers, so that a flood of one does not
   * hold up the others.
   */
  readonly callerOf: (order: Order) => string;
  /** Reads ahead for an institution what `run` needs, before the transaction begins. */
  readonly prepare?: (institutionId: InstitutionId) => Promise<unknown>;
  /**
   * Runs the orders of one institution in the batch's transaction and returns an outcome per order. With `patient` false it must throw
   * AccountsBusyError instead of waiting for locks. It may be run again, so it must be idempotent by key. It throws
   * OrdersRefusedError before it writes if some of the orders must not be done.
   */
  readonly run: (tx: Transaction, orders: readonly Order[], patient: boolean) => Promise<readonly Outcome[]>;
  /** An order as it is run again after a commit that carried it was sent and the response lost. */
  readonly onceSent: (order: Order) => Order;
  /** Receives each order at its submission, for a report. */
  readonly onSubmit?: ((order: Order) => void) | undefined;
  /** Members of the problem `outcome_unknown`. */
  readonly membersWhenUnknown: (order: Order) => Record<string, unknown>;
}

interface Waiter<Order, Outcome> {
  readonly institutionId: InstitutionId;
  order: Order;
  readonly keys: readonly string[];
  readonly caller: string;
  readonly deadline: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
  /** A commit with this order was sent, and the response was lost. */
  unknown: boolean;
  /** Another transaction held a lock on its accounts: it runs apart from the others, without waiting for locks. */
  cautious: boolean;
  notBefore: number;
}

interface Batch<Order, Outcome> {
  /** Those of an institution stand together, in the order of the institutions. */
  readonly waiters: readonly Waiter<Order, Outcome>[];
  readonly keys: ReadonlySet<string>;
  readonly begunAt: number;
}

const rerunAtOnce: ReadonlySet<string> = new Set([sqlState.uniqueViolation, sqlState.deadlockDetected]);
const maxReruns = 3;
const busyPauseMillis = 100;
const tickMillis = 50;

/** These orders of a batch must not be done. The batch is rolled back, and runs again without them. */
export class OrdersRefusedError extends Error {
  readonly orders: ReadonlySet<unknown>;
  readonly refusal: Problem;

  constructor(orders: ReadonlySet<unknown>, refusal: Problem) {
    super(`${orders.size} orders of a batch are refused`);
    this.orders = orders;
    this.refusal = refusal;
  }
}

/**
 * The queue of batches. Orders that arrive while a commit is under way share the next one: a single caller pays one commit, a
 * hundred callers share one. A batch spans institutions: each has a part of the transaction, and sees its own rows only (ADR 47).
 *
 * A failure stays with its orders:
 * - An institution whose statement failed leaves the batch, and the others run again without it.
 * - A batch that lost a race runs again.
 * - The queue halves a failing batch until the poison order fails alone.
 * - A refused order leaves its batch, and the others run again.
 * - Orders on an account that another transaction has locked wait apart from the others.
 * - After a lost response to a commit the same orders run again; their ids show which were committed.
 *
 * Rejections: Problem `overloaded` and `database_unavailable` (nothing was or will be written), `outcome_unknown`,
 * `internal_error` (nothing was written).
 */
export class BatchQueue<Order, Outcome> {
  readonly #options: BatchQueueOptions<Order, Outcome>;
  // Arrays, not Sets: a long-lived Set keeps removed entries in its old tables (ADR 11).
  #waiting: Waiter<Order, Outcome>[] = [];
  readonly #underWay: Batch<Order, Outcome>[] = [];
  readonly #shares: FairShare;
  #freeLanes: number;
  #pumpScheduled = false;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: BatchQueueOptions<Order, Outcome>) {
    this.#options = options;
    this.#shares = new FairShare(options.maxWaiting);
    this.#freeLanes = options.lanes;
  }

  /** Orders without an outcome, those under way included. */
  get waiting(): number {
    return this.#shares.taken;
  }

  get capacity(): number {
    return this.#options.maxWaiting;
  }

  get busyLanes(): number {
    return this.#options.lanes - this.#freeLanes;
  }

  submit(institutionId: InstitutionId, order: Order): Promise<Outcome> {
    const caller = `${institutionId} ${this.#options.callerOf(order)}`;
    if (!this.#shares.take(caller)) return Promise.reject(overloaded());
    this.#options.onSubmit?.(order);
    if (seams.order.hasSubscribers) seams.order.publish({ order });
    const outcome = new Promise<Outcome>((resolve, reject) => {
      const waiter: Waiter<Order, Outcome> = {
        institutionId,
        order,
        keys: this.#options.keysOf(order).map((key) => qualified(institutionId, key)),
        caller,
        deadline: performance.now() + this.#options.deadlineMillis,
        resolve,
        reject,
        unknown: false,
        cautious: false,
        notBefore: 0,
      };
      this.#enqueue(waiter);
    });
    return outcome.finally(() => this.#shares.free(caller));
  }

  #enqueue(waiter: Waiter<Order, Outcome>): void {
    this.#waiting.push(waiter);
    this.#schedulePump();
  }

  /** Waits for the events of this turn, so that orders that arrive together share a batch. */
  #schedulePump(): void {
    if (this.#pumpScheduled) return;
    this.#pumpScheduled = true;
    setImmediate(() => {
      this.#pumpScheduled = false;
      this.#pump();
    });
  }

  #pump(): void {
    this.#expire();
    while (this.#freeLanes > 0 && this.#isWorthALane()) {
      const batch = this.#takeBatch();
      if (batch === undefined) break;
      this.#freeLanes -= 1;
      void this.#settle(batch).finally(() => {
        this.#freeLanes += 1;
        this.#schedulePump();
      });
    }
    // For orders that pause, and for the deadlines of waiting orders.
    if (this.#waiting.length > 0) this.#ticker ??= setInterval(() => this.#schedulePump(), tickMillis);
    else if (this.#ticker !== undefined) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }

  /**
   * A batch costs as much as five to eight orders (ADR 12). So another one starts beside it only with enough orders. Fewer
   * orders wait for the commit that will come soon, unless it is held up.
   */
  #isWorthALane(): boolean {
    const newest = this.#underWay.at(-1);
    if (newest === undefined || performance.now() - newest.begunAt > tickMillis) return true;
    const orders = this.#underWay.reduce((sum, { waiters }) => sum + waiters.length, 0);
    return this.#waiting.length >= Math.max(fewestBeside, orders / 2);
  }

  #takeBatch(): Batch<Order, Outcome> | undefined {
    const now = performance.now();
    const taken: Waiter<Order, Outcome>[] = [];
    // Keys of skipped orders: a later order must not overtake them on the same account.
    const reserved = new Set<string>();
    const byCaller = inTurns(this.#waiting, ({ caller }) => caller);
    for (const waiter of inTurns(byCaller, ({ institutionId }) => String(institutionId))) {
      if (taken.length === this.#options.maxBatch) break;
      const first = taken[0];
      const blocked =
        waiter.notBefore > now ||
        (first !== undefined && first.cautious !== waiter.cautious) ||
        waiter.keys.some((key) => reserved.has(key) || this.#underWay.some(({ keys }) => keys.has(key)));
      if (blocked) for (const key of waiter.keys) reserved.add(key);
      else taken.push(waiter);
    }
    if (taken.length === 0) return undefined;
    const gone = new Set(taken);
    this.#waiting = this.#waiting.filter((waiter) => !gone.has(waiter));
    // Batches of all processes lock in the order of the institutions.
    const waiters = taken.toSorted((a, b) => a.institutionId - b.institutionId);
    const batch = { waiters, keys: new Set(taken.flatMap(({ keys }) => keys)), begunAt: now };
    this.#underWay.push(batch);
    return batch;
  }

  #expire(): void {
    const now = performance.now();
    const [late, left] = partition(this.#waiting, (waiter) => waiter.deadline <= now);
    this.#waiting = left;
    for (const waiter of late) waiter.reject(this.#givenUp(waiter));
  }

  #givenUp(waiter: Waiter<Order, Outcome>, cause?: unknown): Problem {
    return waiter.unknown
      ? outcomeUnknown(cause, this.#options.membersWhenUnknown(waiter.order))
      : overloaded(cause);
  }

  async #settle(batch: Batch<Order, Outcome>): Promise<void> {
    const postponed: Waiter<Order, Outcome>[] = [];
    try {
      await this.#attempt(batch.waiters, postponed);
    } catch (error) {
      // A defect of this queue; no caller may wait forever.
      for (const waiter of batch.waiters) waiter.reject(this.#failed(waiter, error));
    }
    this.#underWay.splice(this.#underWay.indexOf(batch), 1);
    for (const waiter of postponed) this.#enqueue(waiter);
  }

  async #attempt(
    waiters: readonly Waiter<Order, Outcome>[],
    postponed: Waiter<Order, Outcome>[],
  ): Promise<void> {
    let patient = waiters[0]?.cautious !== true;
    let left = waiters;
    for (let reruns = 0; left.length > 0; ) {
      try {
        const outcomes = await this.#run(left, patient);
        for (const [index, waiter] of left.entries()) waiter.resolve(outcomes[index] as Outcome);
        return;
      } catch (error) {
        const state = sqlStateOf(causeOf(error));
        const failing = institutionOf(causeOf(error));
        if (error instanceof OrdersRefusedError) {
          const [refused, others] = partition(left, (waiter) => error.orders.has(waiter.order));
          for (const waiter of refused) waiter.reject(error.refusal);
          left = others;
        } else if (error instanceof AccountsBusyError) {
          const busy = new Set(error.keys);
          const [held, free] = partition(left, (waiter) => waiter.keys.some((key) => busy.has(key)));
          for (const waiter of held) {
            waiter.cautious = true;
            waiter.notBefore = performance.now() + busyPauseMillis;
            postponed.push(waiter);
          }
          left = free;
          patient = free[0]?.cautious !== true;
        } else if (failing !== undefined && left.some(({ institutionId }) => institutionId !== failing)) {
          const [own, others] = partition(left, ({ institutionId }) => institutionId === failing);
          await this.#attempt(others, postponed);
          left = own;
        } else if (state === sqlState.lockNotAvailable && patient && reruns < maxReruns) {
          // Another transaction holds a lock. Run again without waiting, to learn on which account.
          patient = false;
          reruns += 1;
        } else if (state !== undefined && rerunAtOnce.has(state) && reruns < maxReruns) {
          reruns += 1;
        } else if (error instanceof Problem && error.code === 'outcome_unknown') {
          for (const waiter of left) {
            waiter.unknown = true;
            waiter.order = this.#options.onceSent(waiter.order);
          }
          left = this.#dropExpired(left, error);
          await pause(tickMillis);
        } else if (error instanceof Problem && error.code === 'database_unavailable') {
          // This attempt wrote nothing, but an earlier one may have been committed.
          reruns += 1;
          const [unknown, fresh] = partition(left, (waiter) => waiter.unknown);
          if (reruns > maxReruns) for (const waiter of fresh) waiter.reject(error);
          left = this.#dropExpired(reruns > maxReruns ? unknown : left, error);
          await pause(tickMillis);
        } else if (left.length > 1) {
          const middle = left.length >> 1;
          await this.#attempt(left.slice(0, middle), postponed);
          await this.#attempt(left.slice(middle), postponed);
          return;
        } else {
          for (const waiter of left) waiter.reject(this.#failed(waiter, error));
          return;
        }
      }
    }
  }

  /** Runs the orders in one transaction, and publishes the run on its seam, from the wait for a connection to the commit. */
  #run(waiters: readonly Waiter<Order, Outcome>[], patient: boolean): Promise<readonly Outcome[]> {
    const groups = [...Map.groupBy(waiters, ({ institutionId }) => institutionId)];
    const run = async () => {
      const { prepare, database } = this.#options;
      if (prepare !== undefined) await Promise.all(groups.map(([institutionId]) => prepare(institutionId)));
      const parts = groups.map(([institutionId, own]) => {
        const orders = own.map(({ order }) => order);
        return { institutionId, work: (tx: Transaction) => this.#runPart(tx, orders, patient) };
      });
      return (await database.together(parts)).flat();
    };
    if (!seams.batch.hasSubscribers) return run();
    const startedAt = performance.now();
    return seams.batch.tracePromise(run, {
      institutionIds: groups.map(([institutionId]) => institutionId),
      orders: waiters.map(({ order }) => order),
      waitedMillis: waiters.map(({ deadline }) => startedAt - deadline + this.#options.deadlineMillis),
      startedAt,
    });
  }

  async #runPart(tx: Transaction, orders: readonly Order[], patient: boolean): Promise<readonly Outcome[]> {
    try {
      return await this.#options.run(tx, orders, patient);
    } catch (error) {
      if (!(error instanceof AccountsBusyError)) throw error;
      throw new AccountsBusyError(error.keys.map((key) => qualified(tx.institutionId, key)));
    }
  }

  #dropExpired(
    waiters: readonly Waiter<Order, Outcome>[],
    cause: unknown,
  ): readonly Waiter<Order, Outcome>[] {
    const now = performance.now();
    const [late, inTime] = partition(waiters, (waiter) => waiter.deadline <= now);
    for (const waiter of late) waiter.reject(this.#givenUp(waiter, cause));
    return inTime;
  }

  #failed(waiter: Waiter<Order, Outcome>, error: unknown): unknown {
    const state = sqlStateOf(causeOf(error));
    if (waiter.unknown) return outcomeUnknown(error, this.#options.membersWhenUnknown(waiter.order));
    if (error instanceof Problem) return error;
    if (state !== undefined && (rerunAtOnce.has(state) || state === sqlState.lockNotAvailable)) {
      return overloaded(error);
    }
    return new Problem('internal_error', 'The service failed on this order. Nothing was written.', {
      cause: error,
    });
  }
}

const fewestBeside = 16;

/** Two institutions may use the same id. */
function qualified(institutionId: InstitutionId, key: string): string {
  return `${institutionId} ${key}`;
}

/** The database reports a lock timeout as a Problem; here its SQLSTATE matters. */
function causeOf(error: unknown): unknown {
  return error instanceof Problem && error.code === 'overloaded' ? error.cause : error;
}

function overloaded(cause?: unknown): Problem {
  return new Problem('overloaded', 'The service has more to do than it can. Nothing was written.', {
    cause,
    retryAfterSeconds: 1,
  });
}

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  const yes: T[] = [];
  const no: T[] = [];
  for (const item of items) (test(item) ? yes : no).push(item);
  return [yes, no];
}

function pause(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}
