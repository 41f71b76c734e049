import type { Transaction, Write } from '../storage/index.ts';
import { type NewBalance, zeroBalance } from './open-balances.ts';
import {
  type Entry,
  type EntryKind,
  insertEntriesAndMoveBalances,
  selectBalances,
  selectBalancesForUpdate,
  selectExistingAccountIds,
  selectFreeBalancesForUpdate,
} from './queries.ts';
import { type AccountState, type Bounds, type Change, move, unbounded } from './rules.ts';

/** Thrown instead of waiting: another transaction has locked these accounts. */
export class AccountsBusyError extends Error {
  readonly keys: readonly string[];
  constructor(keys: readonly string[]) {
    super(`${keys.length} of the batch's rows are locked by others`);
    this.keys = keys;
  }
}

/** One side of a posting: an account, its change, and its bounds. */
export interface Side {
  readonly accountId: string;
  readonly change: Change;
  readonly bounds: Bounds;
}

export type Refusal = 'below_floor' | 'above_ceiling';

/**
 * The locked accounts of one transaction, with its changes. Each order is decided against the accounts as the orders before
 * it left them; all changes are written at once.
 *
 * Lock → decide (`apply`, `record`) → `write`, inside one transaction.
 */
export class Book {
  readonly #tx: Transaction;
  readonly #states: Map<string, AccountState>;
  readonly #opened = new Set<string>();
  readonly #moved = new Set<string>();
  readonly #entries: Entry[] = [];

  private constructor(tx: Transaction, states: readonly AccountState[]) {
    this.#tx = tx;
    this.#states = new Map(states.map((state) => [state.accountId, state]));
  }

  /** Reads without locks, for a dry run. Such a book must not be written. */
  static async look(tx: Transaction, accountIds: readonly string[]): Promise<Book> {
    return new Book(tx, await selectBalances(tx, accountIds));
  }

  /** Locks in key order and waits for each account, up to the connection's lock_timeout. */
  static async lock(tx: Transaction, accountIds: readonly string[]): Promise<Book> {
    return new Book(tx, await selectBalancesForUpdate(tx, accountIds));
  }

  /** Locks without waiting. Throws AccountsBusyError with the accounts that another transaction has locked. */
  static async lockWithoutWaiting(tx: Transaction, accountIds: readonly string[]): Promise<Book> {
    const [free, existing] = await Promise.all([
      selectFreeBalancesForUpdate(tx, accountIds),
      selectExistingAccountIds(tx, accountIds),
    ]);
    const locked = new Set(free.map((state) => state.accountId));
    const busy = existing.filter((accountId) => !locked.has(accountId));
    if (busy.length > 0) throw new AccountsBusyError(busy);
    return new Book(tx, free);
  }

  /** Adds accounts that this transaction has inserted. They need no lock: no other transaction sees them before the commit. */
  open(accounts: readonly NewBalance[], at: Date): void {
    for (const account of accounts) {
      this.#states.set(account.accountId, zeroBalance(account, at));
      this.#opened.add(account.accountId);
    }
  }

  /** The account with the changes so far; undefined if it is not in the book. */
  find(accountId: string): AccountState | undefined {
    return this.#states.get(accountId);
  }

  /** The account with the changes so far. Throws if it is not in the book. */
  require(accountId: string): AccountState {
    const state = this.#states.get(accountId);
    if (state === undefined) throw new Error('ledger: an account was not locked before it was moved');
    return state;
  }

  /**
   * Applies both sides or neither. Returns the refusal that comes first in precedence (ceiling before floor), or null if
   * applied. The amounts of the two sides must cancel out; accounts that are not in the book are an error.
   */
  apply(postingKey: bigint, kind: EntryKind, from: Side, to: Side): Refusal | null {
    const incoming = move(this.require(to.accountId), to.change, to.bounds);
    if (incoming.refused !== null) return incoming.refused;
    const outgoing = move(this.require(from.accountId), from.change, from.bounds);
    if (outgoing.refused !== null) return outgoing.refused;
    if ((from.change.posted ?? 0n) + (to.change.posted ?? 0n) !== 0n || from.accountId === to.accountId) {
      throw new Error('ledger: the two sides of a posting must cancel out');
    }
    this.#enter(postingKey, kind, outgoing.state, from.change, outgoing.decidedBy);
    this.#enter(postingKey, kind, incoming.state, to.change, incoming.decidedBy);
    return null;
  }

  /** Posts an amount that the rules have accepted already, so a refusal is a defect and throws. */
  move(postingKey: bigint, kind: EntryKind, from: Side, to: Side): void {
    const refusal = this.apply(postingKey, kind, from, to);
    if (refusal !== null) throw new Error(`ledger: a posting that was judged sound is refused: ${refusal}`);
  }

  /** Records a fact, which has no bounds: an opening balance, a correction or a posting by the core. Moves from debit to credit. */
  record(fact: {
    readonly kind: 'OPENING' | 'ADJUSTMENT' | 'CORE';
    readonly postingKey: bigint;
    readonly debitAccountId: string;
    readonly creditAccountId: string;
    readonly amountMinor: bigint;
  }): void {
    if (fact.amountMinor <= 0n) throw new RangeError('ledger: an amount is positive, direction is by side');
    this.apply(
      fact.postingKey,
      fact.kind,
      { accountId: fact.debitAccountId, change: { posted: -fact.amountMinor }, bounds: unbounded },
      { accountId: fact.creditAccountId, change: { posted: fact.amountMinor }, bounds: unbounded },
    );
  }

  /**
   * Changes the amount that an authorization of the core holds on an account; the settlement account expects the same. It is a
   * fact and has no bounds.
   */
  changeHold(hold: {
    readonly postingKey: bigint;
    readonly accountId: string;
    readonly settlementId: string;
    /** Positive raises the hold, negative lowers it. */
    readonly changeMinor: bigint;
  }): void {
    const { postingKey, accountId, settlementId, changeMinor } = hold;
    this.apply(
      postingKey,
      changeMinor > 0n ? 'CORE_HOLD' : 'CORE_RELEASE',
      { accountId, change: { debitsPending: changeMinor }, bounds: unbounded },
      { accountId: settlementId, change: { creditsPending: changeMinor }, bounds: unbounded },
    );
  }

  /** Writes all changes at once. Returns the newest time at which one was recorded. */
  async write(at: Date): Promise<Date> {
    for (const { statement, values } of this.writes(at)) await this.#tx.query(statement, values);
    return [...this.recordedLater(at).values()].reduce((a, b) => (a > b ? a : b), at);
  }

  /**
   * One statement, which fails if it writes fewer rows than were sent; none if there is no change. A posting is recorded at
   * `at` or, if later, at the newest time of its two accounts: the entries of an account must have one order by number and by
   * time.
   */
  writes(at: Date): readonly Write[] {
    if (this.#entries.length + this.#opened.size === 0) return [];
    const recordedAt = this.#recordedAt(at);
    const newest = new Map<bigint, Date | null>();
    const entries = this.#entries.map((entry, index) => {
      const own = recordedAt?.[index >> 1] ?? null;
      newest.set(entry.accountKey, own);
      return { ...entry, recordedAt: own };
    });
    const dated = (accountId: string) => {
      const state = this.require(accountId);
      return { ...state, recordedAt: newest.get(state.accountKey) ?? null };
    };
    const moved = [...this.#moved].filter((accountId) => !this.#opened.has(accountId)).map(dated);
    const opened = [...this.#opened].map(dated);
    return [insertEntriesAndMoveBalances(this.#tx.institutionId, { opened, moved, entries }, at)];
  }

  /** The times of the postings that are recorded later than `at`, by posting key; the last one of a key counts. */
  recordedLater(at: Date): ReadonlyMap<bigint, Date> {
    const later = new Map<bigint, Date>();
    for (const [posting, own] of this.#recordedAt(at)?.entries() ?? []) {
      const { postingKey } = this.#entries[posting * 2] as Entry;
      if (own === null) later.delete(postingKey);
      else later.set(postingKey, own);
    }
    return later;
  }

  /** The accounts whose newest entry is later than this. */
  seenAfter(at: Date): AccountState[] {
    return [...this.#states.values()].filter(({ lastAt }) => lastAt > at);
  }

  /** The recording time of each posting, in order; null is `at`. Undefined: all are recorded at `at`. */
  #recordedAt(at: Date): (Date | null)[] | undefined {
    const ahead = this.seenAfter(at);
    if (ahead.length === 0) return undefined;
    const seen = new Map(ahead.map(({ accountKey, lastAt }) => [accountKey, lastAt]));
    const times: (Date | null)[] = [];
    for (let index = 0; index < this.#entries.length; index += 2) {
      // Both sides of a posting are entered together.
      const sides = this.#entries.slice(index, index + 2).map(({ accountKey }) => accountKey);
      const own = sides.reduce<Date | null>((latest, key) => {
        const one = seen.get(key);
        return one !== undefined && (latest === null || one > latest) ? one : latest;
      }, null);
      if (own !== null) for (const key of sides) seen.set(key, own);
      times.push(own);
    }
    return times;
  }

  #enter(postingKey: bigint, kind: EntryKind, state: AccountState, change: Change, decidedBy: Bounds): void {
    this.#states.set(state.accountId, state);
    this.#moved.add(state.accountId);
    this.#entries.push({
      accountKey: state.accountKey,
      seq: state.seq,
      postingKey,
      kind,
      amount: change.posted ?? 0n,
      postedAfter: state.posted,
      debitsPendingAfter: state.debitsPending,
      creditsPendingAfter: state.creditsPending,
      floor: decidedBy.floor,
      ceiling: decidedBy.ceiling,
    });
  }
}
