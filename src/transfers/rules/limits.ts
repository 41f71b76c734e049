import { type Actor, addDays, instantOf } from '../../institutions/index.ts';
import type { AccountFacts } from './account.ts';
import type { ExceededLimit, TransferType } from './transfer.ts';

export interface Limit {
  readonly limitKey: number;
  /** Whose transfers count together: a user's, those out of a membership's accounts, those out of one account. */
  readonly subject: 'USER' | 'CUSTOMER' | 'ACCOUNT';
  readonly period: 'DAY' | 'MONTH';
  /** Null: of any type. */
  readonly transferType: TransferType | null;
  /** The DIAccountType of the source; null: any. */
  readonly sourceType: string | null;
  readonly currency: string;
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
  /** More than this in the period, counted together, is held for review; null: not by this limit. */
  readonly reviewAbove: bigint | null;
}

/** What was counted under one limit for one subject in one period. */
export interface Counter {
  readonly limitKey: number;
  readonly subjectKey: bigint;
  /** The period's first day. */
  readonly periodStart: string;
  readonly amount: bigint;
  readonly transfers: number;
  readonly maxAmount: bigint | null;
  readonly maxTransfers: number | null;
  /** How much of the amount was held for review. */
  readonly reviewed: bigint;
  /** What the rest of the amount may come to. */
  readonly reviewAbove: bigint | null;
}

/** Which counter: of a limit, for a subject, in the period that begins on a day. */
export type CounterName = Pick<Counter, 'limitKey' | 'subjectKey' | 'periodStart'>;

/** What a transfer counted, kept where it may have to be given back. */
export interface RecordedUsage {
  readonly transferKey: bigint;
  readonly limitKey: number;
  readonly subjectKey: bigint;
  readonly periodStart: string;
  readonly amount: bigint;
}

/** One limit as it binds one order: what counts for whom, from when, and up to where; null is no bound. */
export interface LimitUsage extends CounterName {
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
  /** More than this in the period is held for review. */
  readonly reviewAbove: bigint | null;
  /** Null for the yearly limit on contributions. */
  readonly limit: Pick<Limit, 'subject' | 'period'> | null;
}

/** The key under which the yearly limit on IRA contributions is counted; its subject is the owner. */
export const contributionKey = 0;

/**
 * The limits that bind an order: those of its user, those of the membership and of the account it pays from. A client
 * token has no user: it counts against the source's membership.
 */
export function usagesOf(
  limits: readonly Limit[],
  order: {
    readonly actor: Actor;
    readonly from: AccountFacts;
    readonly transferType: TransferType;
    readonly currency: string;
    /** The institution's day, YYYY-MM-DD. */
    readonly day: string;
  },
): LimitUsage[] {
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
  usages: readonly LimitUsage[],
  counters: Counters,
  actor: Actor,
  timeZone: string,
): ExceededLimit | null {
  let tightest: { readonly headroom: bigint; readonly usage: LimitUsage } | undefined;
  for (const usage of usages) {
    const headroom = counters.headroom(usage);
    if (headroom !== null && (tightest === undefined || headroom < tightest.headroom))
      tightest = { headroom, usage };
  }
  if (tightest === undefined || tightest.usage.limit === null) return null;
  const { headroom, usage } = tightest;
  const { subject, period } = tightest.usage.limit;
  if (headroom === usage.maxPerTransfer)
    return { subject, period: 'TRANSFER', remainingMinor: headroom, resetsAt: null };
  const isSharedUnseen = subject === 'CUSTOMER' && actor.kind === 'member';
  return {
    subject,
    period,
    remainingMinor: isSharedUnseen ? null : headroom,
    resetsAt: instantOf(periodEndOf(period, usage.periodStart), '00:00', timeZone),
  };
}

/** The first day of the next period. */
function periodEndOf(period: Limit['period'], periodStart: string): string {
  if (period === 'DAY') return addDays(periodStart, 1);
  // 31 days after the first of a month is a day of the next one.
  return `${addDays(periodStart, 31).slice(0, 7)}-01`;
}

/** The counters that an order paying from this account may need, whatever its type turns out to be. */
export function countersOf(
  limits: readonly Limit[],
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

function subjectOf({ subject }: Limit, actor: Actor, from: AccountFacts): bigint | null {
  if (subject === 'CUSTOMER') return from.customerKey;
  if (subject === 'ACCOUNT') return from.accountKey;
  return actor.kind === 'member' ? actor.userKey : null;
}

/** Each once. */
export function distinct(names: readonly CounterName[]): CounterName[] {
  return [...new Map(names.map((name) => [nameOf(name), name])).values()];
}

function periodStartOf(period: Limit['period'], day: string): string {
  return period === 'DAY' ? day : `${day.slice(0, 7)}-01`;
}

/**
 * Thrown where an order counts under a limit whose counter is not among the locked ones: the limit was laid down, or an
 * IRA given to another owner, between the locks and the reading. To be locked and read again.
 */
export class CounterNotLockedError extends Error {
  override readonly name = 'CounterNotLockedError';
  constructor(counter: string) {
    super(`transfers: the limit counter ${counter} was not locked`);
  }
}

/** The counters of a batch, locked, and what its orders add to them and give back. */
export class Counters {
  readonly #counters: Map<string, Counter>;
  readonly #changed = new Set<string>();
  /** Asked for and not found: they begin with nothing. */
  readonly #missing: ReadonlySet<string>;

  /** `asked` are the names that were looked for, and locked by who means to write; `rows` those that were found. */
  constructor(rows: readonly Counter[], asked: readonly CounterName[]) {
    this.#counters = new Map(rows.map((row) => [nameOf(row), row]));
    this.#missing = new Set(asked.map(nameOf).filter((name) => !this.#counters.has(name)));
  }

  /** The most that one more order may move within the limit; null: no bound. Changes nothing. */
  headroom(usage: LimitUsage): bigint | null {
    if (!Counters.counts(usage)) return usage.maxPerTransfer;
    const { amount, transfers } = this.#locked(usage);
    if (usage.maxCount !== null && transfers >= usage.maxCount) return 0n;
    const left = usage.maxAmount === null ? null : usage.maxAmount > amount ? usage.maxAmount - amount : 0n;
    return least(usage.maxPerTransfer, left);
  }

  /** Whether it has to be remembered what an order counted here. */
  static counts(usage: Pick<LimitUsage, 'maxAmount' | 'maxCount' | 'reviewAbove'>): boolean {
    return usage.maxAmount !== null || usage.maxCount !== null || usage.reviewAbove !== null;
  }

  /** The most that one more order may move without a review; null: no bound. */
  unreviewedHeadroom(usage: LimitUsage): bigint | null {
    if (usage.reviewAbove === null) return null;
    const { amount } = this.#locked(usage);
    return usage.reviewAbove > amount ? usage.reviewAbove - amount : 0n;
  }

  count(usage: LimitUsage, amountMinor: bigint, isReviewed: boolean): void {
    if (!Counters.counts(usage)) return;
    const counter = this.#locked(usage);
    this.#change({
      ...counter,
      amount: counter.amount + amountMinor,
      transfers: counter.transfers + 1,
      maxAmount: usage.maxAmount,
      maxTransfers: usage.maxCount,
      reviewed: isReviewed ? counter.reviewed + amountMinor : counter.reviewed,
      // Held amounts come after a bound that was lowered, too: the one that the others were counted under stays.
      reviewAbove: isReviewed ? counter.reviewAbove : usage.reviewAbove,
    });
  }

  giveBack(usage: RecordedUsage, wasReviewed: boolean): void {
    const counter = this.#locked(usage);
    // Held before reviews were counted, it is not among them.
    const left = wasReviewed ? counter.reviewed - usage.amount : counter.reviewed;
    this.#change({
      ...counter,
      amount: counter.amount - usage.amount,
      transfers: counter.transfers - 1,
      reviewed: left > 0n ? left : 0n,
    });
  }

  /** Those that nothing had counted before. */
  added(): Counter[] {
    return this.#written((name) => this.#missing.has(name));
  }

  changed(): Counter[] {
    return this.#written((name) => !this.#missing.has(name));
  }

  #written(which: (name: string) => boolean): Counter[] {
    return [...this.#changed].filter(which).map((name) => this.#counters.get(name) as Counter);
  }

  #change(counter: Counter): void {
    this.#counters.set(nameOf(counter), counter);
    this.#changed.add(nameOf(counter));
  }

  #locked(name: CounterName): Counter {
    const counter = this.#counters.get(nameOf(name));
    if (counter !== undefined) return counter;
    if (!this.#missing.has(nameOf(name))) throw new CounterNotLockedError(nameOf(name));
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
