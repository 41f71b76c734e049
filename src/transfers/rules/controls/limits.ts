import {
  type Actor,
  addDays,
  type ClientActor,
  instantOf,
  type MemberActor,
} from '../../../institutions/index.ts';
import type { AccountFacts } from '../accounts/account.ts';
import type { ExceededLimit, TransferType } from '../transfer.ts';
import { controlsOf } from './controls.ts';

export interface Limit {
  readonly limitKey: number;
  /**
   * Transfers that count together: those of a user, from the accounts of a membership, or from one account. STAND_IN: those of
   * the institution that complete while its core is away; STAND_IN_ACCOUNT: of these, those from one account.
   */
  readonly subject: ExceededLimit['subject'] | 'STAND_IN' | 'STAND_IN_ACCOUNT';
  readonly period: 'DAY' | 'MONTH';
  /** Null: any type. */
  readonly transferType: TransferType | null;
  /** The DIAccountType of the source; null: any. */
  readonly sourceType: string | null;
  readonly currency: string;
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
  /** A total above this in the period is held for review; null: this limit holds nothing. */
  readonly reviewAbove: bigint | null;
}

/** The transfers counted under one limit for one subject in one period. */
export interface Counter {
  readonly limitKey: number;
  readonly subjectKey: bigint;
  /** First day of the period. */
  readonly periodStart: string;
  readonly amount: bigint;
  readonly transfers: number;
  readonly maxAmount: bigint | null;
  readonly maxTransfers: number | null;
  /** The part of the amount that was held for review. */
  readonly reviewed: bigint;
  /** The most that the rest of the amount may be. */
  readonly reviewAbove: bigint | null;
}

/** The key of a counter. */
export type CounterName = Pick<Counter, 'limitKey' | 'subjectKey' | 'periodStart'>;

/** The amount that a transfer counted, stored while it may have to be given back. */
export interface RecordedUsage {
  readonly transferKey: bigint;
  readonly limitKey: number;
  readonly subjectKey: bigint;
  readonly periodStart: string;
  readonly amount: bigint;
}

/** A limit as it binds one order: the counter, and the bounds; null is no bound. */
export interface LimitUsage extends CounterName {
  readonly maxPerTransfer: bigint | null;
  readonly maxAmount: bigint | null;
  readonly maxCount: number | null;
  /** A total above this in the period is held for review. */
  readonly reviewAbove: bigint | null;
  /** Null for the yearly limit on contributions. */
  readonly limit: Pick<Limit, 'subject' | 'period'> | null;
}

/** Whether a limit binds only transfers that complete while the core is away. */
export function isStandIn({ subject }: Pick<Limit, 'subject'>): boolean {
  return subject === 'STAND_IN' || subject === 'STAND_IN_ACCOUNT';
}

/** The limit key of the yearly limit on IRA contributions; its subject is the owner. */
export const contributionKey = 0;

/**
 * The limits that bind an order: those of its user, and those of the membership and the account that it pays from. A client
 * token has no user, so only the latter bind it.
 */
export function usagesOf(
  limits: readonly Limit[],
  order: CountedOrder & { readonly actor: OrderedBy },
): LimitUsage[] {
  return bindingOf(
    limits.filter((limit) => !isStandIn(limit)),
    order,
  );
}

/** The limits that bind an order which completes while the core is away, beside the others. */
export function standInUsagesOf(limits: readonly Limit[], order: CountedOrder): LimitUsage[] {
  return bindingOf(limits.filter(isStandIn), { ...order, actor: null });
}

/** The part of an actor that the limits know. */
type OrderedBy = Pick<ClientActor, 'kind'> | Pick<MemberActor, 'kind' | 'userKey'>;

/** The part of a source account that the limits know. */
type Source = Pick<AccountFacts, 'accountKey' | 'customerKey' | 'diAccountType'>;

interface CountedOrder {
  readonly from: Source;
  readonly transferType: TransferType;
  readonly currency: string;
  /** The institution's day, YYYY-MM-DD. */
  readonly day: string;
}

function bindingOf(
  limits: readonly Limit[],
  { actor, from, transferType, currency, day }: CountedOrder & { readonly actor: OrderedBy | null },
): LimitUsage[] {
  return limits.flatMap((limit) => {
    const subjectKey = subjectOf(limit, actor, from);
    const binds =
      subjectKey !== null &&
      limit.currency === currency &&
      (limit.transferType === null || limit.transferType === controlsOf[transferType]) &&
      (limit.sourceType === null || limit.sourceType === from.diAccountType);
    return binds ? [{ ...limit, subjectKey, periodStart: periodStartOf(limit.period, day), limit }] : [];
  });
}

/**
 * The limit with the least headroom, for a caller whose order exceeds it. Only a client sees the headroom of a membership's
 * limit: transfers from accounts that a member may not see count there. Null if no limit applies.
 */
export function exceededLimit(
  usages: readonly LimitUsage[],
  counters: Counters,
  { actor, timeZone }: { readonly actor: Actor; readonly timeZone: string },
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
  if (subject === 'STAND_IN' || subject === 'STAND_IN_ACCOUNT') return null;
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
export function periodEndOf(period: Limit['period'], periodStart: string): string {
  if (period === 'DAY') return addDays(periodStart, 1);
  // 31 days after the first of a month is a day of the next one.
  return `${addDays(periodStart, 31).slice(0, 7)}-01`;
}

/** The counters that an order from this account may need, of any transfer type. */
export function countersOf(
  limits: readonly Limit[],
  { actor, from, day }: { readonly actor: Actor; readonly from: AccountFacts; readonly day: string },
): CounterName[] {
  return limits.flatMap((limit) => {
    const subjectKey = subjectOf(limit, actor, from);
    if (subjectKey === null || limit.currency !== from.currency || !Counters.counts(limit)) return [];
    return [{ limitKey: limit.limitKey, subjectKey, periodStart: periodStartOf(limit.period, day) }];
  });
}

function subjectOf({ subject }: Limit, actor: OrderedBy | null, from: Source): bigint | null {
  switch (subject) {
    case 'CUSTOMER':
      return from.customerKey;
    case 'ACCOUNT':
    case 'STAND_IN_ACCOUNT':
      return from.accountKey;
    case 'STAND_IN':
      return wholeInstitution;
    case 'USER':
      return actor?.kind === 'member' ? actor.userKey : null;
  }
}

/** The subject of a limit on all transfers of an institution. */
const wholeInstitution = 0n;

/** Without duplicates. */
export function distinct(names: readonly CounterName[]): CounterName[] {
  return [...new Map(names.map((name) => [nameOf(name), name])).values()];
}

/** The first day of the period of a day. */
export function periodStartOf(period: Limit['period'], day: string): string {
  return period === 'DAY' ? day : `${day.slice(0, 7)}-01`;
}

/**
 * Thrown if an order counts under a counter that is not locked: a limit was added, or an IRA got another owner, between the
 * locks and the reads. The batch then locks and reads again.
 */
export class CounterNotLockedError extends Error {
  override readonly name = 'CounterNotLockedError';
  constructor(counter: string) {
    super(`transfers: the limit counter ${counter} was not locked`);
  }
}

/** The locked counters of a batch, with the amounts that its orders add and give back. */
export class Counters {
  readonly #counters: Map<string, Counter>;
  readonly #changed = new Set<string>();
  /** Names without a row: these counters start at zero. */
  readonly #missing: ReadonlySet<string>;

  /** `asked` are all names that were looked up, and locked unless this is a dry run; `rows` are the counters that exist. */
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

  /** Whether the limit needs a counter. */
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
      // A reviewed transfer counts even above a threshold that was lowered since. So it leaves the stored threshold as it is.
      reviewAbove: isReviewed ? counter.reviewAbove : usage.reviewAbove,
    });
  }

  giveBack(usage: RecordedUsage, wasReviewed: boolean): void {
    const counter = this.#locked(usage);
    // A transfer that was held before reviews were counted is not in `reviewed`.
    const left = wasReviewed ? counter.reviewed - usage.amount : counter.reviewed;
    this.#change({
      ...counter,
      amount: counter.amount - usage.amount,
      transfers: counter.transfers - 1,
      reviewed: left > 0n ? left : 0n,
    });
  }

  /** Changed counters without a row. */
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

/** The key of a counter as text. */
export function nameOf({ limitKey, subjectKey, periodStart: start }: CounterName): string {
  return `${limitKey}/${subjectKey}/${start}`;
}

/** The smaller bound; null is no bound. */
export function least(a: bigint | null, b: bigint | null): bigint | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
