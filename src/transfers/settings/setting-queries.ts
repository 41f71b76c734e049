import { insertOf, jsonOf, type Queryable, sql } from '../../storage/index.ts';
import type { ContributionLimit } from '../rules/controls/contributions.ts';
import { type CorePolicy, defaultCorePolicy, type Policy } from '../rules/controls/policies.ts';
import type { ScreeningRule } from '../rules/controls/screening.ts';
import type { IdPrefix } from '../rules/facts.ts';

const policies = sql(
  'transfers_policies',
  `select transfer_type, currency, review_above as above_minor, second_approval_above as second_approval_above_minor,
          review_seconds as seconds, on_review_timeout, cut_off::text as cut_off, payment_options,
          core_policy as mode, memo_up_to as memo_up_to_minor, core_wait_seconds as wait_seconds, stand_in
   from transfer_policies where institution_id = $1 order by transfer_type, currency`,
);

export async function selectPolicies(db: Queryable): Promise<Policy[]> {
  const { rows } = await db.query<
    Omit<Policy, 'review' | 'core'> & Nullable<NonNullable<Policy['review']>> & CorePolicy
  >(policies, [db.institutionId]);
  return rows.map(({ aboveMinor, secondApprovalAboveMinor, seconds, onReviewTimeout, ...row }) => ({
    transferType: row.transferType,
    currency: row.currency,
    cutOff: row.cutOff,
    paymentOptions: row.paymentOptions,
    core: {
      mode: row.mode,
      memoUpToMinor: row.memoUpToMinor,
      waitSeconds: row.waitSeconds,
      standIn: row.standIn,
    },
    review:
      aboveMinor === null || seconds === null || onReviewTimeout === null
        ? null
        : { aboveMinor, secondApprovalAboveMinor, seconds, onReviewTimeout },
  }));
}

type Nullable<Row> = { readonly [Member in keyof Row]: Row[Member] | null };

const removePolicies = sql(
  'transfers_remove_policies',
  'delete from transfer_policies where institution_id = $1',
);
const addPolicies = sql(
  'transfers_add_policies',
  insertOf(
    'transfer_policies',
    `transfer_type, currency, review_above, second_approval_above, review_seconds, on_review_timeout, cut_off,
     payment_options, core_policy, memo_up_to, core_wait_seconds, stand_in`,
  ),
);

/** Replaces all of the institution's. */
export async function replacePolicies(tx: Queryable, rows: readonly Policy[]): Promise<void> {
  await tx.query(removePolicies, [tx.institutionId]);
  const given = rows.map(({ review, core = defaultCorePolicy, ...policy }) => ({
    ...policy,
    reviewAbove: review?.aboveMinor,
    secondApprovalAbove: review?.secondApprovalAboveMinor,
    reviewSeconds: review?.seconds,
    onReviewTimeout: review?.onReviewTimeout,
    corePolicy: core.mode,
    memoUpTo: core.memoUpToMinor,
    coreWaitSeconds: core.waitSeconds,
    standIn: core.standIn,
  }));
  await tx.query(addPolicies, [tx.institutionId, jsonOf(given)]);
}

const contributionLimits = sql(
  'transfers_contribution_limits',
  `select tax_year as year, base as limit_cents, catch_up as catch_up_cents, filing_date
   from contribution_limits where institution_id = $1 order by tax_year`,
);

export async function selectContributionLimits(db: Queryable): Promise<ContributionLimit[]> {
  return (await db.query<ContributionLimit>(contributionLimits, [db.institutionId])).rows;
}

const removeContributionLimits = sql(
  'transfers_remove_contribution_limits',
  'delete from contribution_limits where institution_id = $1',
);
const addContributionLimits = sql(
  'transfers_add_contribution_limits',
  insertOf('contribution_limits', 'tax_year, base, catch_up, filing_date'),
);

/** Replaces all of the institution's. */
export async function replaceContributionLimits(
  tx: Queryable,
  rows: readonly ContributionLimit[],
): Promise<void> {
  await tx.query(removeContributionLimits, [tx.institutionId]);
  const given = rows.map(({ year, limitCents, catchUpCents, filingDate }) => ({
    taxYear: year,
    base: limitCents,
    catchUp: catchUpCents,
    filingDate,
  }));
  await tx.query(addContributionLimits, [tx.institutionId, jsonOf(given)]);
}

const idPrefixes = sql(
  'transfers_id_prefixes',
  'select prefix, client_id from transfer_id_prefixes where institution_id = $1 order by prefix',
);

export async function selectIdPrefixes(db: Queryable): Promise<IdPrefix[]> {
  return (await db.query<IdPrefix>(idPrefixes, [db.institutionId])).rows;
}

const screening = sql(
  'transfers_screening',
  'select from_amount as from_minor, on_silence, hold_seconds from screening_hooks where institution_id = $1',
);

/** Null: the institution screens no orders. */
export async function selectScreening(db: Queryable): Promise<Omit<ScreeningRule, 'currency'> | null> {
  const { rows } = await db.query<Omit<ScreeningRule, 'currency'>>(screening, [db.institutionId]);
  return rows[0] ?? null;
}
