import { columnsOf, type Queryable, sql } from '../../storage/index.ts';
import type { ContributionLimit } from '../rules/contributions.ts';
import type { IdPrefix } from '../rules/facts.ts';
import type { Policy } from '../rules/policies.ts';

const policies = sql(
  'transfers_policies',
  `select transfer_type, currency, review_above as above_minor, second_approval_above as second_approval_above_minor,
          review_seconds as seconds, on_review_timeout, cut_off::text as cut_off, payment_options
   from transfer_policies where institution_id = $1 order by transfer_type, currency`,
);

export async function selectPolicies(db: Queryable): Promise<Policy[]> {
  const { rows } = await db.query<Omit<Policy, 'review'> & Nullable<NonNullable<Policy['review']>>>(
    policies,
    [db.institutionId],
  );
  return rows.map(({ aboveMinor, secondApprovalAboveMinor, seconds, onReviewTimeout, ...policy }) => ({
    ...policy,
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
  `insert into transfer_policies (institution_id, transfer_type, currency, review_above, second_approval_above,
                                  review_seconds, on_review_timeout, cut_off, payment_options)
   select $1, transfer_type, currency, review_above, second_approval_above, review_seconds, on_review_timeout, cut_off,
          string_to_array(payment_options, ' ')
   from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::integer[], $7::text[], $8::time[], $9::text[])
     as v (transfer_type, currency, review_above, second_approval_above, review_seconds, on_review_timeout, cut_off,
           payment_options)`,
);

/** Replaces all of the institution's. */
export async function replacePolicies(tx: Queryable, rows: readonly Policy[]): Promise<void> {
  await tx.query(removePolicies, [tx.institutionId]);
  await tx.query(addPolicies, [
    tx.institutionId,
    rows.map((row) => row.transferType),
    rows.map((row) => row.currency),
    rows.map((row) => row.review?.aboveMinor ?? null),
    rows.map((row) => row.review?.secondApprovalAboveMinor ?? null),
    rows.map((row) => row.review?.seconds ?? null),
    rows.map((row) => row.review?.onReviewTimeout ?? null),
    rows.map((row) => row.cutOff),
    rows.map((row) => row.paymentOptions.join(' ')),
  ]);
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
  `insert into contribution_limits (institution_id, tax_year, base, catch_up, filing_date)
   select $1, v.* from unnest($2::smallint[], $3::bigint[], $4::bigint[], $5::date[]) as v`,
);

/** Replaces all of the institution's. */
export async function replaceContributionLimits(
  tx: Queryable,
  rows: readonly ContributionLimit[],
): Promise<void> {
  await tx.query(removeContributionLimits, [tx.institutionId]);
  await tx.query(addContributionLimits, [
    tx.institutionId,
    ...columnsOf(rows, 'year', 'limitCents', 'catchUpCents', 'filingDate'),
  ]);
}

const idPrefixes = sql(
  'transfers_id_prefixes',
  'select prefix, client_id from transfer_id_prefixes where institution_id = $1 order by prefix',
);

export async function selectIdPrefixes(db: Queryable): Promise<IdPrefix[]> {
  return (await db.query<IdPrefix>(idPrefixes, [db.institutionId])).rows;
}
