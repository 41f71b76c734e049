import type { Database, InstitutionId, Queryable } from '../../storage/index.ts';
import {
  type CoreChange,
  endedAmong,
  hasUnleased,
  leaseMillis,
  type Transfer,
} from '../../transfers/index.ts';

interface Waiter<Value> {
  readonly resolve: (value: Value | undefined) => void;
}

interface Waiters {
  /** By transfer id. */
  readonly transfers: Map<string, Set<Waiter<Transfer>>>;
  readonly connectors: Set<Waiter<true>>;
}

const pollMillis = 100;

/**
 * Lets requests wait: a member's for the end of a transfer, a connector's for an instruction. A commit of this process wakes
 * them at once. For those of other processes one statement an institution asks the database ten times a second, for all
 * waiters together, so that a waiting request holds no connection.
 */
export class CoreWatch {
  readonly #database: Database;
  readonly #now: () => Date;
  readonly #waiters = new Map<InstitutionId, Waiters>();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(database: Database, now: () => Date) {
    this.#database = database;
    this.#now = now;
  }

  /** Undefined: it is still pending after this time, or the caller has left. */
  untilEnded(
    institutionId: InstitutionId,
    transferId: string,
    patience: { readonly millis: number; readonly left: AbortSignal },
  ): Promise<Transfer | undefined> {
    const { transfers } = this.#of(institutionId);
    const waiters = transfers.get(transferId) ?? new Set();
    transfers.set(transferId, waiters);
    return this.#wait(waiters, patience, () => {
      if (waiters.size === 0) transfers.delete(transferId);
    });
  }

  /** True: an instruction may be ready. Undefined after this time, or if the caller has left. */
  untilInstructed(
    institutionId: InstitutionId,
    patience: { readonly millis: number; readonly left: AbortSignal },
  ): Promise<true | undefined> {
    return this.#wait(this.#of(institutionId).connectors, patience, () => {});
  }

  /** A commit of this process. */
  readonly committed = (institutionId: InstitutionId, { hasIssued, ended }: CoreChange): void => {
    const waiters = this.#waiters.get(institutionId);
    if (waiters === undefined) return;
    if (hasIssued) for (const waiter of waiters.connectors) waiter.resolve(true);
    for (const transfer of ended) this.#wake(waiters, transfer);
  };

  /** Ends every wait. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const { transfers, connectors } of this.#waiters.values()) {
      for (const waiter of connectors) waiter.resolve(undefined);
      for (const waiters of transfers.values()) for (const waiter of waiters) waiter.resolve(undefined);
    }
    await this.#polling;
  }

  #of(institutionId: InstitutionId): Waiters {
    const known = this.#waiters.get(institutionId);
    if (known !== undefined) return known;
    const none: Waiters = { transfers: new Map(), connectors: new Set() };
    this.#waiters.set(institutionId, none);
    return none;
  }

  #wake({ transfers }: Waiters, transfer: Transfer): void {
    for (const waiter of transfers.get(transfer.id) ?? []) waiter.resolve(transfer);
  }

  #wait<Value>(
    waiters: Set<Waiter<Value>>,
    { millis, left }: { readonly millis: number; readonly left: AbortSignal },
    onEnd: () => void,
  ): Promise<Value | undefined> {
    return new Promise<Value | undefined>((resolve) => {
      const waiter: Waiter<Value> = {
        resolve: (value) => {
          clearTimeout(timer);
          left.removeEventListener('abort', leave);
          waiters.delete(waiter);
          onEnd();
          resolve(value);
        },
      };
      const leave = () => waiter.resolve(undefined);
      const timer = setTimeout(leave, millis);
      waiters.add(waiter);
      left.addEventListener('abort', leave);
      if (left.aborted || this.#stopped) return leave();
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#stopped || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#polling = this.#poll().finally(() => {
        this.#timer = undefined;
        if (this.#waiters.size > 0) this.#schedule();
      });
    }, pollMillis);
  }

  async #poll(): Promise<void> {
    for (const [institutionId, waiters] of this.#waiters) {
      if (waiters.transfers.size + waiters.connectors.size === 0) this.#waiters.delete(institutionId);
      // A database that is away for a moment delays the wait, and does not end it.
      else await this.#database.read(institutionId, (db) => this.#look(db, waiters)).catch(() => {});
    }
  }

  async #look(db: Queryable, waiters: Waiters): Promise<void> {
    const { transfers, connectors } = waiters;
    const now = this.#now();
    const [ended, isReady] = await Promise.all([
      endedAmong(db, [...transfers.keys()]),
      connectors.size > 0 && hasUnleased(db, now, new Date(now.getTime() + leaseMillis)),
    ]);
    for (const transfer of ended) this.#wake(waiters, transfer);
    if (isReady) for (const waiter of connectors) waiter.resolve(true);
  }
}
