import { type Actor, addDays, instantOf } from '../../institutions/index.ts';
import type { CounterName, CounterRow, LimitRow, LimitUse } from '../limit-queries.ts';
import type { AccountFacts } from '../queries.ts';
import type { ExceededLimit, TransferType } from './transfer.ts';

/** One limit as it binds one order: what counts for whom, from when, and up to where; null is no bound. */
export interface Use extends CounterName {
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
  /** More than this in the period is held for review. */
  readonly reviewAbove: bigint | null;
  /** Null for the yearly limit on contributions. */
  readonly limit: Pick<LimitRow, 'subject' | 'period'> | null;
}

/** The key under which the yearly limit on IRA contributions is counted; its subject is the owner. */
export const contributionKey = 0;

/**
 * The limits that bind an order: those of its user, those of the membership and of the account it pays from. A client
 * token has no user: it counts against the source's membership.
 */
export function usesOf(
  limits: readonly LimitRow[],
  order: {
    readonly actor: Actor;
    readonly from: AccountFacts;
    readonly transferType: TransferType;
    readonly currency: string;
    /** The institution's day, YYYY-MM-DD. */
    readonly day: string;
  },
): Use[] {
  const { actor, from, transferType, currency, day } = order;
  return limits.flatMap((limit) => {
    const subjectKey = subjectOf(limit, actor, from);
    const binds =
      subjectKey !== null &&
      limit.currency === currency &&
      (limit.transferType === null || limit.transferType === transferType) &&
      (limit.sourceType === null || limit.sourceType === from.diAccountType);
    return binds ? [{ ...limit, subjectKey, periodStart: periodStartOf(limit.period, day), limit }] : [];
  });
}

/**
 * The limit that leaves the least, for a caller whose order passes it. The rest of a membership's limit is told to
 * clients alone: transfers out of accounts that a member may not see count there. Null without limits.
 */
export function exceededLimit(
  uses: readonly Use[],
  counters: Counters,
  actor: Actor,
  timeZone: string,
): ExceededLimit | null {
  let tightest: { readonly room: bigint; readonly use: Use } | undefined;
  for (const use of uses) {
    const room = counters.room(use);
    if (room !== null && (tightest === undefined || room < tightest.room)) tightest = { room, use };
  }
  if (tightest === undefined || tightest.use.limit === null) return null;
  const { room, use } = tightest;
  const { subject, period } = tightest.use.limit;
  if (room === use.maxPerTransfer)
    return { subject, period: 'TRANSFER', remainingMinor: room, resetsAt: null };
  const isSharedUnseen = subject === 'CUSTOMER' && actor.kind === 'member';
  return {
    subject,
    period,
    remainingMinor: isSharedUnseen ? null : room,
    resetsAt: instantOf(periodEndOf(period, use.periodStart), '00:00', timeZone),
  };
}

/** The first day of the next period. */
function periodEndOf(period: LimitRow['period'], periodStart: string): string {
  if (period === 'DAY') return addDays(periodStart, 1);
  // 31 days after the first of a month is a day of the next one.
  return `${addDays(periodStart, 31).slice(0, 7)}-01`;
}

/** The counters that an order paying from this account may need, whatever its type turns out to be. */
export function countersOf(
  limits: readonly LimitRow[],
  actor: Actor,
  from: AccountFacts,
  day: string,
): CounterName[] {
  return limits.flatMap((limit) => {
    const subjectKey = subjectOf(limit, actor, from);
    if (subjectKey === null || limit.currency !== from.currency || !Counters.counts(limit)) return [];
    return [{ limitKey: limit.limitKey, subjectKey, periodStart: periodStartOf(limit.period, day) }];
  });
}

function subjectOf({ subject }: LimitRow, actor: Actor, from: AccountFacts): bigint | null {
  if (subject === 'CUSTOMER') return from.customerKey;
  if (subject === 'ACCOUNT') return from.accountKey;
  return actor.kind === 'member' ? actor.userKey : null;
}

/** Each once. */
export function distinct(names: readonly CounterName[]): CounterName[] {
  return [...new Map(names.map((name) => [nameOf(name), name])).values()];
}

function periodStartOf(period: LimitRow['period'], day: string): string {
  return period === 'DAY' ? day : `${day.slice(0, 7)}-01`;
}

/**
 * Thrown where an order counts under a limit whose counter is not among the locked ones: the limit was laid down, or an
 * IRA given to another owner, between the locks and the reading. To be locked and read again.
 */
export class CounterNotLocked extends Error {
  override readonly name = 'CounterNotLocked';
  constructor(counter: string) {
    super(`transfers: the limit counter ${counter} was not locked`);
  }
}

/** The counters of a batch, locked, and what its orders add to them and give back. */
export class Counters {
  readonly #counters: Map<string, CounterRow>;
  readonly #changed = new Set<string>();
  /** Asked for and not found: they begin with nothing. */
  readonly #missing: ReadonlySet<string>;

  /** `asked` are the names that were looked for, and locked by who means to write; `rows` those that were found. */
  constructor(rows: readonly CounterRow[], asked: readonly CounterName[]) {
    this.#counters = new Map(rows.map((row) => [nameOf(row), row]));
    this.#missing = new Set(asked.map(nameOf).filter((name) => !this.#counters.has(name)));
  }

  /** The most that one more order may move within the limit; null: no bound. Changes nothing. */
  room(use: Use): bigint | null {
    if (!Counters.counts(use)) return use.maxPerTransfer;
    const { amount, transfers } = this.#locked(use);
    if (use.maxCount !== null && transfers >= use.maxCount) return 0n;
    const left = use.maxAmount === null ? null : use.maxAmount > amount ? use.maxAmount - amount : 0n;
    return least(use.maxPerTransfer, left);
  }

  /** Whether it has to be remembered what an order counted here. */
  static counts(use: Pick<Use, 'maxAmount' | 'maxCount' | 'reviewAbove'>): boolean {
    return use.maxAmount !== null || use.maxCount !== null || use.reviewAbove !== null;
  }

  /** The most that one more order may move without a review; null: no bound. */
  unreviewedHeadroom(use: Use): bigint | null {
    if (use.reviewAbove === null) return null;
    const { amount } = this.#locked(use);
    return use.reviewAbove > amount ? use.reviewAbove - amount : 0n;
  }

  count(use: Use, amountMinor: bigint, isReviewed: boolean): void {
    if (!Counters.counts(use)) return;
    const counter = this.#locked(use);
    this.#change({
      ...counter,
      amount: counter.amount + amountMinor,
      transfers: counter.transfers + 1,
      maxAmount: use.maxAmount,
      maxTransfers: use.maxCount,
      reviewed: isReviewed ? counter.reviewed + amountMinor : counter.reviewed,
      // Held amounts come after a bound that was lowered, too: the one that the others were counted under stays.
      reviewAbove: isReviewed ? counter.reviewAbove : use.reviewAbove,
    });
  }

  giveBack(use: LimitUse, wasReviewed: boolean): void {
    const counter = this.#locked(use);
    // Held before reviews were counted, it is not among them.
    const left = wasReviewed ? counter.reviewed - use.amount : counter.reviewed;
    this.#change({
      ...counter,
      amount: counter.amount - use.amount,
      transfers: counter.transfers - 1,
      reviewed: left > 0n ? left : 0n,
    });
  }

  /** Those that nothing had counted before. */
  added(): CounterRow[] {
    return this.#written((name) => this.#missing.has(name));
  }

  changed(): CounterRow[] {
    return this.#written((name) => !this.#missing.has(name));
  }

  #written(which: (name: string) => boolean): CounterRow[] {
    return [...this.#changed].filter(which).map((name) => this.#counters.get(name) as CounterRow);
  }

  #change(counter: CounterRow): void {
    this.#counters.set(nameOf(counter), counter);
    this.#changed.add(nameOf(counter));
  }

  #locked(name: CounterName): CounterRow {
    const counter = this.#counters.get(nameOf(name));
    if (counter !== undefined) return counter;
    if (!this.#missing.has(nameOf(name))) throw new CounterNotLocked(nameOf(name));
    const { limitKey, subjectKey, periodStart } = name;
    return {
      limitKey,
      subjectKey,
      periodStart,
      amount: 0n,
      transfers: 0,
      maxAmount: null,
      maxTransfers: null,
      reviewed: 0n,
      reviewAbove: null,
    };
  }
}

function nameOf({ limitKey, subjectKey, periodStart: start }: CounterName): string {
  return `${limitKey}/${subjectKey}/${start}`;
}

/** The smaller bound, where null is none. */
export function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
