import { type BusinessDay, replaceBusinessDays } from '../institutions/index.ts';
import type { Database, InstitutionId } from '../storage/index.ts';
import type { ContributionLimit } from './contributions.ts';
import { type LimitRow, replaceLimits } from './limit-queries.ts';
import { type Policy, replaceContributionLimits, replacePolicies } from './setting-queries.ts';

/** All that an institution lays down about transfers. Amounts are minor units. */
export interface TransferRules {
  readonly policies: readonly Policy[];
  readonly limits: readonly LimitRow[];
  readonly businessDays: readonly BusinessDay[];
  readonly contributionLimits: readonly ContributionLimit[];
}

/**
 * Puts these rules in the place of those before. They hold for orders from then on, within a second in every process;
 * what is pending keeps the terms that it was held under. A limit keeps what it has counted while it keeps its key; so
 * under a key that was ever used nothing else may be counted: LimitKeyTaken, and nothing is saved.
 */
export async function saveTransferRules(
  database: Database,
  institutionId: InstitutionId,
  rules: TransferRules,
): Promise<void> {
  await database.transaction(institutionId, async (tx) => {
    await replacePolicies(tx, institutionId, rules.policies);
    const [taken] = await replaceLimits(tx, institutionId, rules.limits);
    if (taken !== undefined) throw new LimitKeyTaken(taken);
    await replaceBusinessDays(tx, institutionId, rules.businessDays);
    await replaceContributionLimits(tx, institutionId, rules.contributionLimits);
  });
}

/** What was counted for a user must not stand for a membership that happens to have the same key, nor a day's for a month. */
export class LimitKeyTaken extends Error {
  override readonly name = 'LimitKeyTaken';
  constructor(limitKey: number) {
    super(
      `limit_key ${limitKey} has counted something else until now: give the limit a number that was never used. Nothing was saved.`,
    );
  }
}
