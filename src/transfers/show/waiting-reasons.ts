import { instantOf, localDate } from '../../institutions/index.ts';
import type { Queryable } from '../../storage/index.ts';
import type { ReviewRow } from '../desk/pending-queries.ts';
import { Counters, type LimitUsage, periodStartOf } from '../rules/controls/limits.ts';
import { policyFor } from '../rules/controls/policies.ts';
import type { Screening } from '../rules/controls/screening.ts';
import type { TransferType } from '../rules/transfer.ts';
import { usagesThen } from './checks.ts';
import { selectCountedBefore } from './decision-queries.ts';
import { selectWaitingFacts, type WaitingFacts } from './reason-queries.ts';
import { type RulesThen, readRuleHistory, rulesThen } from './rules-then.ts';

/*
 * The reasons why a transfer waits, with their figures. The verdict of screening is stored; thresholds are those of the decision, as the checks of
 * a transfer have them (`checks.ts`). A total of a limit is looked up only if nothing else explains a review: it takes the orders of the period.
 */

/** A reason why a transfer waits. Amounts are in its currency. */
export type WaitingReason =
  | ({ readonly kind: 'SCREENING' } & Pick<Screening, 'answer' | 'reference'>)
  /** Above the threshold of its type. */
  | { readonly kind: 'AMOUNT'; readonly thresholdMinor: bigint }
  /** With the earlier orders of the period above a total. */
  | {
      readonly kind: 'TOTAL';
      readonly thresholdMinor: bigint;
      readonly usedMinor: bigint;
      readonly limit: { readonly subject: string; readonly period: string };
    }
  /** Local time of the institution as HH:MM:SS; null: not known. */
  | { readonly kind: 'CUT_OFF'; readonly cutOff: string | null }
  | { readonly kind: 'CORE' }
  /** A review whose rules of then are not certain. */
  | { readonly kind: 'NOT_KNOWN' };

export interface AsOf {
  readonly timeZone: string;
  readonly aheadMillis: number;
  readonly now: Date;
}

/** So many totals are looked up in one reading. */
const mostTotals = 50;

/** In the order of the rows. */
export async function selectWaitingReasons(
  db: Queryable,
  rows: readonly ReviewRow[],
  { timeZone, aheadMillis, now }: AsOf,
): Promise<WaitingReason[][]> {
  if (rows.length === 0) return [];
  const startOf = (day: string) => instantOf(day, '00:00', timeZone);
  const oldest = rows.reduce((first, { createdAt }) => (createdAt < first ? createdAt : first), now);
  const periodStart = startOf(periodStartOf('MONTH', localDate(oldest, timeZone)));
  const keys = rows.map(({ transferKey }) => transferKey);
  const [facts, history] = await Promise.all([
    selectWaitingFacts(db, keys),
    readRuleHistory(db, { at: oldest, periodStart, aheadMillis }, now),
  ]);
  let totals = 0;
  return Promise.all(
    rows.map(async (row) => {
      const known = facts.get(row.transferKey);
      const rules = history && rulesThen(history.today, history.changes, { at: row.createdAt, aheadMillis });
      const reasons = reasonsOf(row, known, rules);
      if (reasons.length > 0) return reasons;
      const usages = known && rules ? totalsOf(row, known, { rules, timeZone }) : [];
      if (usages.length === 0 || rules === undefined || totals === mostTotals) return [{ kind: 'NOT_KNOWN' }];
      totals += 1;
      const above = await selectTotalAbove(db, row, { usages, rules, startOf });
      return [above ?? { kind: 'NOT_KNOWN' }];
    }),
  );
}

/** None for a review that only a total can explain. */
function reasonsOf(
  { heldFor, transferType, currencyCode, amountMinor }: ReviewRow,
  facts: WaitingFacts | undefined,
  rules: RulesThen | undefined,
): WaitingReason[] {
  if (heldFor === 'CORE') return [{ kind: 'CORE' }];
  const policy = rules && policyFor(rules.policies, transferType as TransferType, currencyCode);
  if (heldFor === 'CUT_OFF') return [{ kind: 'CUT_OFF', cutOff: policy?.cutOff ?? null }];
  const { verdict = null, answer = null, reference = null } = facts ?? {};
  const threshold = policy?.review?.aboveMinor;
  return [
    ...(verdict === 'HOLD' && answer !== null ? [{ kind: 'SCREENING', answer, reference } as const] : []),
    ...(threshold !== undefined && amountMinor > threshold
      ? [{ kind: 'AMOUNT', thresholdMinor: threshold } as const]
      : []),
  ];
}

/** The limits that hold a total for review. */
function totalsOf(
  { transferType, currencyCode, createdAt }: ReviewRow,
  { userKey, reversesKey, accountKey, customerKey, diAccountType }: WaitingFacts,
  then: { readonly rules: RulesThen; readonly timeZone: string },
): LimitUsage[] {
  if (accountKey === null || customerKey === null || diAccountType === null) return [];
  const order = { userKey, reversesKey, transferType: transferType as TransferType, currencyCode, createdAt };
  return usagesThen(order, { accountKey, customerKey, diAccountType }, then).filter(
    ({ reviewAbove }) => reviewAbove !== null,
  );
}

async function selectTotalAbove(
  db: Queryable,
  { createdAt, transferKey, currencyCode: currency, amountMinor }: ReviewRow,
  {
    usages,
    rules,
    startOf,
  }: {
    readonly usages: readonly LimitUsage[];
    readonly rules: RulesThen;
    readonly startOf: (day: string) => Date;
  },
): Promise<WaitingReason | undefined> {
  const asked = usages.filter(Counters.counts).flatMap((usage) => {
    const limit = rules.limits.find(({ limitKey }) => limitKey === usage.limitKey);
    const begun = startOf(usage.periodStart);
    const counted = rules.countedFrom(usage.limitKey) ?? begun;
    return limit ? [{ usage, limit, since: counted > begun ? counted : begun }] : [];
  });
  const counted = await selectCountedBefore(db, asked, { at: createdAt, transferKey, currency });
  for (const { limitKey, reviewAbove, limit } of usages) {
    const usedMinor = counted.find((row) => row.limitKey === limitKey)?.amount ?? 0n;
    if (reviewAbove === null || limit === null || usedMinor + amountMinor <= reviewAbove) continue;
    const { subject, period } = limit;
    return { kind: 'TOTAL', thresholdMinor: reviewAbove, usedMinor, limit: { subject, period } };
  }
  return undefined;
}
