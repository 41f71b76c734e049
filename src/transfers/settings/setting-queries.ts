import type { LoanPaymentOption } from '../../ledger/index.ts';
import { type InstitutionId, type Queryable, sql } from '../../storage/index.ts';
import type { ContributionLimit } from '../rules/contributions.ts';
import type { TransferType } from '../rules/transfer.ts';

/** How transfers of one type and currency are treated before they post. */
export interface Policy {
  readonly transferType: TransferType;
  readonly currency: string;
  /** Null: never reviewed. */
  readonly review: {
    readonly aboveMinor: bigint;
    readonly secondApprovalAboveMinor: bigint | null;
    readonly seconds: number;
    readonly onReviewTimeout: 'POST' | 'EXPIRE';
  } | null;
  /** A wall time of the institution's as HH:MM:SS; null: no cut-off. */
  readonly cutOff: string | null;
  readonly paymentOptions: readonly LoanPaymentOption[];
}

interface PolicyRow {
  transfer_type: TransferType;
  currency: string;
  review_above: bigint | null;
  second_approval_above: bigint | null;
  review_seconds: number | null;
  on_review_timeout: 'POST' | 'EXPIRE' | null;
  cut_off: string | null;
  payment_options: LoanPaymentOption[];
}

const policies = sql(
  'transfers_policies',
  `select transfer_type, currency, review_above, second_approval_above, review_seconds, on_review_timeout,
          cut_off::text as cut_off, payment_options
   from transfer_policies where institution_id = $1 order by transfer_type, currency`,
);

export async function selectPolicies(db: Queryable, institutionId: InstitutionId): Promise<Policy[]> {
  const { rows } = await db.query<PolicyRow>(policies, [institutionId]);
  return rows.map((row) => ({
    transferType: row.transfer_type,
    currency: row.currency,
    review:
      row.review_above === null || row.review_seconds === null || row.on_review_timeout === null
        ? null
        : {
            aboveMinor: row.review_above,
            secondApprovalAboveMinor: row.second_approval_above,
            seconds: row.review_seconds,
            onReviewTimeout: row.on_review_timeout,
          },
    cutOff: row.cut_off,
    paymentOptions: row.payment_options,
  }));
}

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

/** Exactly these. */
export async function replacePolicies(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly Policy[],
): Promise<void> {
  await tx.query(removePolicies, [institutionId]);
  await tx.query(addPolicies, [
    institutionId,
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
  `select tax_year, base, catch_up, filing_date from contribution_limits where institution_id = $1 order by tax_year`,
);

export async function selectContributionLimits(
  db: Queryable,
  institutionId: InstitutionId,
): Promise<ContributionLimit[]> {
  const { rows } = await db.query<{
    tax_year: number;
    base: bigint;
    catch_up: bigint;
    filing_date: string | null;
  }>(contributionLimits, [institutionId]);
  return rows.map((row) => ({
    year: row.tax_year,
    limitCents: row.base,
    catchUpCents: row.catch_up,
    filingDate: row.filing_date,
  }));
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

/** Exactly these. */
export async function replaceContributionLimits(
  tx: Queryable,
  institutionId: InstitutionId,
  rows: readonly ContributionLimit[],
): Promise<void> {
  await tx.query(removeContributionLimits, [institutionId]);
  await tx.query(addContributionLimits, [
    institutionId,
    rows.map((row) => row.year),
    rows.map((row) => row.limitCents),
    rows.map((row) => row.catchUpCents),
    rows.map((row) => row.filingDate ?? null),
  ]);
}

/** Ids of transfers that begin so are this client's. */
export interface IdPrefix {
  readonly prefix: string;
  readonly clientId: string;
}

const idPrefixes = sql(
  'transfers_id_prefixes',
  'select prefix, client_id from transfer_id_prefixes where institution_id = $1 order by prefix',
);

export async function selectIdPrefixes(db: Queryable, institutionId: InstitutionId): Promise<IdPrefix[]> {
  const { rows } = await db.query<{ prefix: string; client_id: string }>(idPrefixes, [institutionId]);
  return rows.map((row) => ({ prefix: row.prefix, clientId: row.client_id }));
}
