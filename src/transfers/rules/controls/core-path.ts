import type { AccountFacts } from '../accounts/account.ts';
import type { Facts, Ground } from '../facts.ts';
import type { Failure } from '../failure.ts';
import type { TransferType } from '../transfer.ts';
import { type Counters, type LimitUsage, least, standInUsagesOf } from './limits.ts';
import { type CorePolicy, corePolicyOf, type PendingTerms, policyFor } from './policies.ts';

/**
 * How a transfer becomes true where the core keeps the books. WAIT: it is held until the core accepts it. MEMO and STAND_IN:
 * it completes at once, and is reversed if the core rejects it.
 */
export type CoreMode = 'WAIT' | 'MEMO' | 'STAND_IN';

/** A path to the core. */
export interface CorePath {
  readonly mode: CoreMode;
  /** The terms of the hold, with WAIT. */
  readonly terms: PendingTerms | null;
  /** The limits that a stand-in counts against. */
  readonly usages: readonly LimitUsage[];
}

/** The facts that choose between the paths. */
interface Choice {
  readonly policy: CorePolicy;
  readonly amountMinor: bigint;
  /** Both accounts belong to one membership. */
  readonly isOneMembership: boolean;
  /** The most that may move in stand-in; null: no bound. Undefined: the core is not away. */
  readonly standInHeadroom: bigint | null | undefined;
}

/** The one rule that chooses the path of a transfer. While the core is away, the stand-in limits replace the policy. */
export function chooseCoreMode({ policy, amountMinor, isOneMembership, standInHeadroom }: Choice): CoreMode {
  if (standInHeadroom !== undefined) {
    return standInHeadroom === null || amountMinor <= standInHeadroom ? 'STAND_IN' : 'WAIT';
  }
  const isWithin = policy.memoUpToMinor === null || amountMinor <= policy.memoUpToMinor;
  return policy.mode === 'MEMO' && isOneMembership && isWithin ? 'MEMO' : 'WAIT';
}

export const coreUnavailable = {
  code: 'core_unavailable',
  detail: "The institution's core system cannot be reached now.",
} as const satisfies Failure;

/** The accounts of an order, its type and its amount. */
interface Asked {
  readonly from: AccountFacts;
  readonly to: AccountFacts;
  readonly transferType: TransferType;
  readonly amountMinor: bigint;
}

/** The path of an order that nothing else holds; null if the institution's own ledger is the record. */
export function corePathOf(asked: Asked, { facts, counters }: Ground): CorePath | null {
  if (facts.core === null) return null;
  if (!facts.core.isAway) return pathOf(asked, facts, undefined);
  const usages = standInUsages(asked, facts);
  const path = pathOf(asked, facts, standInHeadroom(usages, counters));
  return path.mode === 'STAND_IN' ? { ...path, usages } : path;
}

/**
 * The path of a transfer whose review or cut-off has ended. It takes no part in stand-in, so that one opening of business after
 * a cut-off does not use up a day's limits.
 */
export function corePathAfterHold(asked: Asked, facts: Facts): CorePath | null {
  if (facts.core === null) return null;
  return pathOf(asked, facts, facts.core.isAway ? 0n : undefined);
}

function pathOf(
  { from, to, transferType, amountMinor }: Asked,
  { settings, at }: Facts,
  standInHeadroom: Choice['standInHeadroom'],
): CorePath {
  const policy = corePolicyOf(policyFor(settings.policies, transferType, from.currency));
  const isOneMembership = from.customerKey === to.customerKey;
  const mode = chooseCoreMode({ policy, amountMinor, isOneMembership, standInHeadroom });
  const dueAt = new Date(at.getTime() + policy.waitSeconds * 1000);
  const terms = { heldFor: 'CORE', dueAt, whenDue: 'EXPIRE', approvalsNeeded: 0, notBefore: null } as const;
  return { mode, terms: mode === 'WAIT' ? terms : null, usages: [] };
}

/** The most that an order may be while the core is away and the policy declines more; null: no such cap. */
export function standInCap(
  asked: Pick<Asked, 'from' | 'transferType'>,
  { facts, counters }: Ground,
): bigint | null {
  if (facts.core?.isAway !== true) return null;
  const { standIn } = corePolicyOf(
    policyFor(facts.settings.policies, asked.transferType, asked.from.currency),
  );
  return standIn === 'DECLINE' ? standInHeadroom(standInUsages(asked, facts), counters) : null;
}

function standInUsages({ from, transferType }: Pick<Asked, 'from' | 'transferType'>, facts: Facts) {
  return standInUsagesOf(facts.limits, { from, transferType, currency: from.currency, day: facts.day });
}

/** Nothing moves in stand-in unless the institution has laid down a limit for it. */
function standInHeadroom(usages: readonly LimitUsage[], counters: Counters): bigint | null {
  return usages.length === 0 ? 0n : usages.map((usage) => counters.headroom(usage)).reduce(least, null);
}
