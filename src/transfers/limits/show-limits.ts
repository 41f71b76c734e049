import { instantOf, type LocalDate } from '../../institutions/index.ts';
import type { Queryable } from '../../storage/index.ts';
import { Counters, type Limit, periodEndOf, periodStartOf } from '../rules/controls/limits.ts';
import { selectCounters } from './counter-queries.ts';
import { selectLimits } from './limit-queries.ts';

/** A subject whose use of its limits an operator looks up. */
export interface LimitSubject {
  readonly subject: Limit['subject'];
  readonly subjectKey: bigint;
  /** The id of the account, the membership or the user; null for the whole institution. */
  readonly subjectId: string | null;
  /** The DIAccountType and the currency of an account, which choose among its limits; null: every limit. */
  readonly sourceType: string | null;
  readonly currency: string | null;
}

/** A limit with its use in the present period. Amounts are minor units. */
export interface ShownLimit extends Limit {
  readonly subjectId: string | null;
  readonly usedMinor: bigint;
  readonly transfers: number;
  /** Null: no bound on the amount. */
  readonly remainingMinor: bigint | null;
  readonly resetsAt: Date;
}

/** The limits that bind the subjects, by their key, and what of them is used on the institution's day. */
export async function selectLimitUse(
  db: Queryable,
  subjects: readonly LimitSubject[],
  { day, timeZone }: { readonly day: LocalDate; readonly timeZone: string },
): Promise<ShownLimit[]> {
  const limits = await selectLimits(db);
  const binding = limits.flatMap((limit) =>
    subjects
      .filter((one) => binds(limit, one))
      .map((one) => ({ ...one, limit, name: nameOf(limit, one, day) })),
  );
  const counted = binding.filter(({ limit }) => Counters.counts(limit)).map(({ name }) => name);
  const counters = await selectCounters(db, counted);
  return binding.map(({ limit, name, subjectId }) => {
    const counter = counters.find(
      ({ limitKey, subjectKey, periodStart }) =>
        limitKey === name.limitKey && subjectKey === name.subjectKey && periodStart === name.periodStart,
    );
    const usedMinor = counter?.amount ?? 0n;
    const left = limit.maxAmount === null ? null : limit.maxAmount - usedMinor;
    return {
      ...limit,
      subjectId,
      usedMinor,
      transfers: counter?.transfers ?? 0,
      remainingMinor: left !== null && left < 0n ? 0n : left,
      resetsAt: instantOf(periodEndOf(limit.period, name.periodStart), '00:00', timeZone),
    };
  });
}

function binds(limit: Limit, { subject, sourceType, currency }: LimitSubject): boolean {
  return (
    limit.subject === subject &&
    (sourceType === null || limit.sourceType === null || limit.sourceType === sourceType) &&
    (currency === null || limit.currency === currency)
  );
}

function nameOf({ limitKey, period }: Limit, { subjectKey }: LimitSubject, day: LocalDate) {
  return { limitKey, subjectKey, periodStart: periodStartOf(period, day) };
}
