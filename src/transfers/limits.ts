import type { Actor } from '../institutions/index.ts';
import type { CounterRow, LimitRow } from './queries.ts';
import type { TransferType } from './transfer.ts';

/** Limits of an order: those of its user, and those of the membership it pays from. */
export function limitsFor(
  limits: readonly LimitRow[],
  order: {
    readonly actor: Actor;
    readonly sourceCustomerKey: bigint;
    readonly transferType: TransferType;
    readonly currency: string;
  },
): { readonly limit: LimitRow; readonly subjectKey: bigint }[] {
  return limits.flatMap((limit) => {
    const applies =
      limit.currency === order.currency &&
      (limit.transferType === null || limit.transferType === order.transferType);
    if (!applies) return [];
    if (limit.subject === 'CUSTOMER') return [{ limit, subjectKey: order.sourceCustomerKey }];
    return order.actor.kind === 'member' ? [{ limit, subjectKey: order.actor.userKey }] : [];
  });
}

/** The day's counters of a batch, locked, and what its orders add to them. */
export class DayCounters {
  readonly #counters: Map<string, CounterRow>;
  readonly #changed = new Set<string>();

  constructor(rows: readonly CounterRow[]) {
    this.#counters = new Map(rows.map((row) => [nameOf(row), row]));
  }

  /** Whether one more order of this amount stays within the limit; changes nothing. */
  allows(limit: LimitRow, subjectKey: bigint, amountMinor: bigint): boolean {
    if (limit.maxPerTransfer !== null && amountMinor > limit.maxPerTransfer) return false;
    if (!countsByDay(limit)) return true;
    const counter = this.#require(limit, subjectKey);
    if (limit.maxAmountPerDay !== null && counter.amount + amountMinor > limit.maxAmountPerDay) return false;
    return limit.maxCountPerDay === null || counter.transfers < limit.maxCountPerDay;
  }

  count(limit: LimitRow, subjectKey: bigint, amountMinor: bigint): void {
    if (!countsByDay(limit)) return;
    const counter = this.#require(limit, subjectKey);
    this.#counters.set(nameOf(counter), {
      ...counter,
      amount: counter.amount + amountMinor,
      transfers: counter.transfers + 1,
      maxAmount: limit.maxAmountPerDay,
      maxTransfers: limit.maxCountPerDay,
    });
    this.#changed.add(nameOf(counter));
  }

  changed(): CounterRow[] {
    return [...this.#changed].map((name) => this.#counters.get(name) as CounterRow);
  }

  #require(limit: LimitRow, subjectKey: bigint): CounterRow {
    const counter = this.#counters.get(nameOf({ limitKey: limit.limitKey, subjectKey }));
    if (counter === undefined) throw new Error('transfers: a limit counter was not locked');
    return counter;
  }
}

function countsByDay(limit: LimitRow): boolean {
  return limit.maxAmountPerDay !== null || limit.maxCountPerDay !== null;
}

function nameOf(row: { readonly limitKey: number; readonly subjectKey: bigint }): string {
  return `${row.limitKey}/${row.subjectKey}`;
}
