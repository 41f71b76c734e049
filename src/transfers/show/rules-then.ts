import { leastRetention, type RuleChange, selectRuleChanges } from '../../events/index.ts';
import { type BusinessDay, selectBusinessDays } from '../../institutions/index.ts';
import type { Queryable } from '../../storage/index.ts';
import { selectLimits } from '../limits/limit-queries.ts';
import { Counters, type Limit } from '../rules/controls/limits.ts';
import type { Policy } from '../rules/controls/policies.ts';
import { selectPolicies } from '../settings/setting-queries.ts';

/** The rules that bound an order. */
export interface RulesThen {
  readonly policies: readonly Policy[];
  readonly limits: readonly Limit[];
  readonly businessDays: readonly BusinessDay[];
  /** When the counter of a limit began, if that was in its period: a new limit counts from its beginning. Null: it counted all along. */
  countedFrom(limitKey: number): Date | null;
}

/** The moment of a decision. */
export interface DecidedAt {
  readonly at: Date;
  /** The first moment of the longest period of a limit. */
  readonly periodStart: Date;
  /** A demo's clock may be ahead of the audit's by this, and was ahead by no more. */
  readonly aheadMillis: number;
}

const mostChanges = 500;
const dayMillis = 86_400_000;
/** Processes know of a change within a second. */
const bindsWithinMillis = 2_000;

/** The rules of today, with the audited changes since the decision taken back. Undefined if they are not certain. */
export async function readRulesThen(
  db: Queryable,
  decided: DecidedAt,
  now: Date,
): Promise<RulesThen | undefined> {
  const history = await readRuleHistory(db, decided, now);
  return history && rulesThen(history.today, history.changes, decided);
}

interface RuleHistory {
  readonly today: Omit<RulesThen, 'countedFrom'>;
  /** The newest first. */
  readonly changes: readonly RuleChange[];
}

/** The rules of today, and their changes since the period of a decision began. Undefined if some are not known. */
export async function readRuleHistory(
  db: Queryable,
  decided: DecidedAt,
  now: Date,
): Promise<RuleHistory | undefined> {
  // An older audit may have been pruned.
  if (decided.at.getTime() < now.getTime() - leastRetention.changesDays * dayMillis) return undefined;
  const since = new Date(decided.periodStart.getTime() - decided.aheadMillis);
  const [policies, limits, businessDays, changes] = await Promise.all([
    selectPolicies(db),
    selectLimits(db),
    selectBusinessDays(db),
    selectRuleChanges(db, { since, most: mostChanges }),
  ]);
  if (changes.length === mostChanges) return undefined;
  return { today: { policies, limits, businessDays }, changes };
}

/** Pure. `changes` are those since the beginning of the period, the newest first. */
export function rulesThen(
  now: Omit<RulesThen, 'countedFrom'>,
  changes: readonly RuleChange[],
  { at, aheadMillis }: Pick<DecidedAt, 'at' | 'aheadMillis'>,
): RulesThen | undefined {
  const later = changes.filter((change) => change.at > at);
  const earlier = changes.filter((change) => change.at <= at);
  const certain = new Date(at.getTime() - aheadMillis - bindsWithinMillis);
  // The rules that an institution began with have bound each of its orders.
  if (earlier.some((change) => change.at > certain && !isFirst(change))) return undefined;
  const policies = new Map(now.policies.map((policy) => [keyOfPolicy(policy), policy]));
  const limits = new Map(now.limits.map((limit) => [limit.limitKey, limit]));
  const days = new Map(now.businessDays.map((day) => [day.day, day]));
  for (const { before, after } of later) {
    for (const policy of policiesOf(after)) policies.delete(keyOfPolicy(policy));
    for (const policy of policiesOf(before)) policies.set(keyOfPolicy(policy), policy);
    for (const { limitKey } of limitsOf(after)) limits.delete(limitKey);
    for (const limit of limitsOf(before)) limits.set(limit.limitKey, limit);
    for (const { day } of daysOf(after)) days.delete(day);
    for (const day of daysOf(before)) days.set(day.day, day);
  }
  const countedFrom = (limitKey: number) =>
    earlier.find((change) => !isFirst(change) && begins(change, limitKey))?.at ?? null;
  return {
    policies: [...policies.values()],
    limits: [...limits.values()],
    businessDays: [...days.values()],
    countedFrom,
  };
}

function isFirst({ before }: RuleChange): boolean {
  return Object.keys(before ?? {}).length === 0;
}

/** Whether a change began a limit, or gave a limit its first bound that counts. */
function begins({ before, after }: RuleChange, limitKey: number): boolean {
  const isThis = (limit: Limit) => limit.limitKey === limitKey && Counters.counts(limit);
  return limitsOf(after).some(isThis) && !limitsOf(before).some(isThis);
}

function keyOfPolicy({ transferType, currency }: Pick<Policy, 'transferType' | 'currency'>): string {
  return `${transferType} ${currency}`;
}

/** In the audit a bigint is text. */
type AsJson<Row> = {
  readonly [Member in keyof Row]: Row[Member] extends bigint
    ? string
    : Row[Member] extends bigint | null
      ? string | null
      : Row[Member];
};

const minor = (text: string | null | undefined): bigint | null => (text == null ? null : BigInt(text));

function limitsOf(rows: RuleChange['before']): Limit[] {
  return ((rows?.limits ?? []) as readonly AsJson<Limit>[]).map((row) => ({
    ...row,
    maxPerTransfer: minor(row.maxPerTransfer),
    maxAmount: minor(row.maxAmount),
    reviewAbove: minor(row.reviewAbove),
  }));
}

type PolicyAsJson = Omit<Policy, 'review' | 'core'> & {
  readonly review: AsJson<NonNullable<Policy['review']>> | null;
  readonly core?: AsJson<NonNullable<Policy['core']>>;
};

function policiesOf(rows: RuleChange['before']): Policy[] {
  return ((rows?.policies ?? []) as readonly PolicyAsJson[]).map(({ review, core, ...row }) => ({
    ...row,
    review: review && {
      ...review,
      aboveMinor: BigInt(review.aboveMinor),
      secondApprovalAboveMinor: minor(review.secondApprovalAboveMinor),
    },
    ...(core && { core: { ...core, memoUpToMinor: minor(core.memoUpToMinor) } }),
  }));
}

function daysOf(rows: RuleChange['before']): BusinessDay[] {
  return (rows?.businessDays ?? []) as BusinessDay[];
}
