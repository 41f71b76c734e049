import { AccountsBusyError } from '../../ledger/index.ts';
import { FairShare, inTurns } from '../../shared/fair-queue.ts';
import { Problem } from '../../shared/problem.ts';
import { seams } from '../../shared/seams.ts';
import {
  type Database,
  type InstitutionId,
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
  /** A batch takes the callers' orders in turns, so that a flood of one caller does not hold up the others. */
  readonly callerOf: (order: Order) => string;
  /**
   * Runs a batch in one transaction and returns an outcome per order. With `patient` false it must throw
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
  readonly waiters: readonly Waiter<Order, Outcome>[];
  readonly keys: ReadonlySet<string>;
  readonly begunAt: number;
}

/** Arrays, not Sets: a long-lived Set keeps removed entries in its old tables (ADR 11). */
interface Queue<Order, Outcome> {
  waiting: Waiter<Order, Outcome>[];
  underWay: Batch<Order, Outcome>[];
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
 * hundred callers share one. Each institution has its queue, and the lanes serve the queues in turn.
 *
 * A failure stays with its orders:
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
  readonly #queues = new Map<InstitutionId, Queue<Order, Outcome>>();
  readonly #shares: FairShare;
  #waitingCount = 0;
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
        order,
        keys: this.#options.keysOf(order),
        caller,
        deadline: performance.now() + this.#options.deadlineMillis,
        resolve,
        reject,
        unknown: false,
        cautious: false,
        notBefore: 0,
      };
      this.#enqueue(institutionId, waiter);
    });
    return outcome.finally(() => this.#shares.free(caller));
  }

  #enqueue(institutionId: InstitutionId, waiter: Waiter<Order, Outcome>): void {
    let queue = this.#queues.get(institutionId);
    if (queue === undefined) {
      queue = { waiting: [], underWay: [] };
      this.#queues.set(institutionId, queue);
    }
    queue.waiting.push(waiter);
    this.#waitingCount += 1;
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
    while (this.#freeLanes > 0) {
      const next = this.#nextBatch();
      if (next === undefined) break;
      this.#freeLanes -= 1;
      void this.#settle(next.institutionId, next.queue, next.batch).finally(() => {
        this.#freeLanes += 1;
        this.#schedulePump();
      });
    }
    // For orders that pause, and for the deadlines of waiting orders.
    if (this.#waitingCount > 0) this.#ticker ??= setInterval(() => this.#schedulePump(), tickMillis);
    else if (this.#ticker !== undefined) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
  }

  #nextBatch() {
    for (const [institutionId, queue] of this.#queues) {
      if (!worthALane(queue)) continue;
      const batch = this.#takeBatch(queue);
      if (batch === undefined) continue;
      // To the end of the round: the next lane serves another institution first.
      this.#queues.delete(institutionId);
      this.#queues.set(institutionId, queue);
      return { institutionId, queue, batch };
    }
    return undefined;
  }

  #takeBatch(queue: Queue<Order, Outcome>): Batch<Order, Outcome> | undefined {
    const now = performance.now();
    const taken: Waiter<Order, Outcome>[] = [];
    // Keys of skipped orders: a later order must not overtake them on the same account.
    const reserved = new Set<string>();
    for (const waiter of inTurns(queue.waiting, ({ caller }) => caller)) {
      if (taken.length === this.#options.maxBatch) break;
      const first = taken[0];
      const blocked =
        waiter.notBefore > now ||
        (first !== undefined && first.cautious !== waiter.cautious) ||
        waiter.keys.some((key) => reserved.has(key) || queue.underWay.some(({ keys }) => keys.has(key)));
      if (blocked) for (const key of waiter.keys) reserved.add(key);
      else taken.push(waiter);
    }
    if (taken.length === 0) return undefined;
    const gone = new Set(taken);
    queue.waiting = queue.waiting.filter((waiter) => !gone.has(waiter));
    this.#waitingCount -= taken.length;
    const keys = new Set(taken.flatMap((waiter) => waiter.keys));
    const batch = { waiters: taken, keys, begunAt: now };
    queue.underWay.push(batch);
    return batch;
  }

  #expire(): void {
    const now = performance.now();
    for (const queue of this.#queues.values()) {
      const [late, left] = partition(queue.waiting, (waiter) => waiter.deadline <= now);
      queue.waiting = left;
      this.#waitingCount -= late.length;
      for (const waiter of late) waiter.reject(this.#givenUp(waiter));
    }
  }

  #givenUp(waiter: Waiter<Order, Outcome>, cause?: unknown): Problem {
    return waiter.unknown
      ? outcomeUnknown(cause, this.#options.membersWhenUnknown(waiter.order))
      : overloaded(cause);
  }

  async #settle(
    institutionId: InstitutionId,
    queue: Queue<Order, Outcome>,
    batch: Batch<Order, Outcome>,
  ): Promise<void> {
    const postponed: Waiter<Order, Outcome>[] = [];
    try {
      await this.#attempt(institutionId, batch.waiters, postponed);
    } catch (error) {
      // A defect of this queue; no caller may wait forever.
      for (const waiter of batch.waiters) waiter.reject(this.#failed(waiter, error));
    }
    queue.underWay.splice(queue.underWay.indexOf(batch), 1);
    for (const waiter of postponed) this.#enqueue(institutionId, waiter);
  }

  async #attempt(
    institutionId: InstitutionId,
    waiters: readonly Waiter<Order, Outcome>[],
    postponed: Waiter<Order, Outcome>[],
  ): Promise<void> {
    let patient = waiters[0]?.cautious !== true;
    let left = waiters;
    for (let reruns = 0; left.length > 0; ) {
      const orders = left.map((waiter) => waiter.order);
      try {
        const isPatient = patient;
        const outcomes = await this.#watched(institutionId, left, () =>
          this.#options.database.transaction(institutionId, (tx) => this.#options.run(tx, orders, isPatient)),
        );
        for (const [index, waiter] of left.entries()) waiter.resolve(outcomes[index] as Outcome);
        return;
      } catch (error) {
        const state = sqlStateOf(causeOf(error));
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
          await this.#attempt(institutionId, left.slice(0, middle), postponed);
          await this.#attempt(institutionId, left.slice(middle), postponed);
          return;
        } else {
          for (const waiter of left) waiter.reject(this.#failed(waiter, error));
          return;
        }
      }
    }
  }

  /** Publishes the run on its seam, from the wait for a connection to the commit. */
  #watched(
    institutionId: InstitutionId,
    waiters: readonly Waiter<Order, Outcome>[],
    run: () => Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    if (!seams.batch.hasSubscribers) return run();
    const startedAt = performance.now();
    return seams.batch.tracePromise(run, {
      institutionId,
      orders: waiters.map(({ order }) => order),
      waitedMillis: waiters.map(({ deadline }) => startedAt - deadline + this.#options.deadlineMillis),
      startedAt,
    });
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

/**
 * A batch costs as much as five to eight orders (ADR 12). So another one starts beside it only with enough orders. Fewer
 * orders wait for the commit that will come soon, unless it is held up.
 */
function worthALane<Order, Outcome>({ waiting, underWay }: Queue<Order, Outcome>): boolean {
  const newest = underWay.at(-1);
  if (newest === undefined || performance.now() - newest.begunAt > tickMillis) return true;
  const orders = underWay.reduce((sum, { waiters }) => sum + waiters.length, 0);
  return waiting.length >= Math.max(fewestBeside, orders / 2);
}

const fewestBeside = 16;

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
