import { existsSync } from 'node:fs';
import path from 'node:path';
import { ExtractRejectedError, expectUnique, type Row, readTable } from '../core-system/index.ts';
import { isLocalDate } from '../institutions/index.ts';
import {
  defaultCorePolicy,
  type LoanPaymentOption,
  loanPaymentOptions,
  type TransferRules,
  type TransferType,
  transferTypes,
} from '../transfers/index.ts';

const files = {
  'transfer-policies.csv': [
    'transfer_type',
    'currency',
    'review_above',
    'second_approval_above',
    'review_seconds',
    'on_review_timeout',
    'cut_off',
    'payment_options',
  ],
  'transfer-limits.csv': [
    'limit_key',
    'subject',
    'period',
    'transfer_type',
    'source_type',
    'currency',
    'max_per_transfer',
    'max_amount',
    'max_count',
  ],
  'business-days.csv': ['day', 'open'],
  'contribution-limits.csv': ['tax_year', 'limit', 'catch_up'],
} as const;

const optionalColumns: Partial<Record<keyof typeof files, readonly string[]>> = {
  'transfer-policies.csv': ['core_policy', 'memo_up_to', 'core_wait_seconds', 'stand_in'],
  'contribution-limits.csv': ['filing_date'],
  'transfer-limits.csv': ['review_above'],
};

/** Whether a folder has a file with transfer rules. */
export function hasTransferRules(folder: string): boolean {
  return Object.keys(files).some((file) => existsSync(path.join(folder, file)));
}

/** Reads the rules of a folder; a file that is not there says nothing. Throws ExtractRejectedError with every error. */
export async function readTransferRules(folder: string): Promise<TransferRules> {
  const errors: string[] = [];
  const table = async (file: keyof typeof files) =>
    existsSync(path.join(folder, file))
      ? readTable(folder, { file, columns: files[file], optional: optionalColumns[file] ?? [] }, errors)
      : [];
  const policyRows = await table('transfer-policies.csv');
  const limitRows = await table('transfer-limits.csv');
  const dayRows = await table('business-days.csv');
  const yearRows = await table('contribution-limits.csv');
  if (errors.length > 0) throw new ExtractRejectedError(errors);

  expectUnique(policyRows, 'transfer_type', 'currency');
  expectUnique(limitRows, 'limit_key');
  expectUnique(dayRows, 'day');
  expectUnique(yearRows, 'tax_year');
  const rules = {
    policies: policyRows.map(readPolicy),
    limits: limitRows.map(readLimit),
    businessDays: dayRows.map((row) => ({
      day: readDay(row),
      open: row.yes('open'),
    })),
    contributionLimits: yearRows.map(readContributionLimit),
  };
  if (errors.length > 0) throw new ExtractRejectedError(errors);
  return rules;
}

function readDay(row: Row): string {
  const day = row.text('day');
  if (!isLocalDate(day)) row.fail('day', 'a date like 2026-12-24');
  return day;
}

function readContributionLimit(row: Row): TransferRules['contributionLimits'][number] {
  const year = integer(row, 'tax_year', 1975, 2999) ?? 0;
  return {
    year,
    limitCents: row.amountFromZero('limit', 'USD'),
    catchUpCents: row.amountFromZero('catch_up', 'USD'),
    filingDate: row.optional(
      'filing_date',
      (text) => isLocalDate(text) && Number(text.slice(0, 4)) === year + 1,
      'a date of the year after',
    ),
  };
}

function readPolicy(row: Row): TransferRules['policies'][number] {
  const transferType = row.oneOf('transfer_type', transferTypes) as TransferType;
  const currency = row.currency('currency');
  const aboveMinor = amountOrNull(row, 'review_above', currency);
  const secondApprovalAboveMinor = amountOrNull(row, 'second_approval_above', currency);
  const seconds = integerOrNull(row, 'review_seconds', 1, 2_592_000);
  const onReviewTimeout = row.optional(
    'on_review_timeout',
    (text) => ['POST', 'EXPIRE'].includes(text),
    'POST or EXPIRE',
  );
  const together = [aboveMinor, seconds, onReviewTimeout].filter((value) => value !== null).length;
  if (together !== 0 && together !== 3) {
    row.fail(
      'review_above',
      'review_above, review_seconds and on_review_timeout all together or none of them',
    );
  }
  if (secondApprovalAboveMinor !== null && (aboveMinor === null || secondApprovalAboveMinor < aboveMinor)) {
    row.fail('second_approval_above', 'no less than review_above');
  }
  const options = row.text('payment_options').split(' ').filter(Boolean);
  const paymentOptions = options.length === 0 ? ['DEFAULT'] : options;
  const known: readonly string[] = loanPaymentOptions;
  if (!paymentOptions.every((option) => known.includes(option)) || !paymentOptions.includes('DEFAULT')) {
    row.fail(
      'payment_options',
      `DEFAULT and others of ${loanPaymentOptions.join(', ')}, with spaces between`,
    );
  }
  return {
    transferType,
    currency,
    review:
      aboveMinor === null || seconds === null || onReviewTimeout === null
        ? null
        : {
            aboveMinor,
            secondApprovalAboveMinor,
            seconds,
            onReviewTimeout: onReviewTimeout as 'POST' | 'EXPIRE',
          },
    cutOff: row.optional(
      'cut_off',
      (text) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text),
      'a time of the day like 16:30',
    ),
    paymentOptions: paymentOptions as LoanPaymentOption[],
    core: readCorePolicy(row, currency),
  };
}

function readCorePolicy(row: Row, currency: string): typeof defaultCorePolicy {
  const isMemo =
    row.optional('core_policy', (text) => ['WAIT', 'MEMO'].includes(text), 'WAIT or MEMO') === 'MEMO';
  const memoUpToMinor = amountOrNull(row, 'memo_up_to', currency);
  if (memoUpToMinor !== null && !isMemo) row.fail('memo_up_to', 'no amount unless core_policy is MEMO');
  const declines = row.optional('stand_in', (text) => ['WAIT', 'DECLINE'].includes(text), 'WAIT or DECLINE');
  return {
    mode: isMemo ? 'MEMO' : 'WAIT',
    memoUpToMinor,
    waitSeconds: integerOrNull(row, 'core_wait_seconds', 1, 2_592_000) ?? defaultCorePolicy.waitSeconds,
    standIn: declines === 'DECLINE' ? 'DECLINE' : 'WAIT',
  };
}

const limitSubjects = ['USER', 'CUSTOMER', 'ACCOUNT', 'STAND_IN', 'STAND_IN_ACCOUNT'] as const;

function readLimit(row: Row): TransferRules['limits'][number] {
  const currency = row.currency('currency');
  const limit = {
    limitKey: integer(row, 'limit_key', 1, 2_147_483_647) ?? 0,
    subject: row.oneOf('subject', limitSubjects) as (typeof limitSubjects)[number],
    period: row.oneOf('period', ['DAY', 'MONTH']) as 'DAY' | 'MONTH',
    transferType: row.optional(
      'transfer_type',
      (text) => (transferTypes as readonly string[]).includes(text),
      transferTypes.join(' or '),
    ) as TransferType | null,
    sourceType: row.optional('source_type', (text) => /^[A-Z_]+$/.test(text), 'a DIAccountType'),
    currency,
    maxPerTransfer: amountOrNull(row, 'max_per_transfer', currency),
    maxAmount: amountOrNull(row, 'max_amount', currency),
    maxCount: integerOrNull(row, 'max_count', 0, 2_147_483_647),
    reviewAbove: amountOrNull(row, 'review_above', currency),
  };
  const { maxPerTransfer, maxAmount, maxCount, reviewAbove } = limit;
  if ([maxPerTransfer, maxAmount, maxCount, reviewAbove].every((bound) => bound === null)) {
    row.fail('max_amount', 'at least one of max_per_transfer, max_amount, max_count and review_above');
  }
  if (limit.subject.startsWith('STAND_IN') && (limit.period !== 'DAY' || reviewAbove !== null)) {
    row.fail('subject', 'a stand-in limit of the period DAY without review_above');
  }
  if (reviewAbove !== null && maxAmount !== null && reviewAbove >= maxAmount) {
    row.fail('review_above', 'less than max_amount');
  }
  return limit;
}

/** Empty is null here: no bound, where in an extract it is zero. */
function amountOrNull(row: Row, column: string, currency: string): bigint | null {
  return row.text(column) === '' ? null : row.amountFromZero(column, currency);
}

function integerOrNull(row: Row, column: string, least: number, most: number): number | null {
  return row.text(column) === '' ? null : integer(row, column, least, most);
}

/** Null also where it is none, which the row has been told. */
function integer(row: Row, column: string, least: number, most: number): number | null {
  const text = row.text(column);
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  row.fail(column, `a whole number from ${least} to ${most}`);
  return null;
}
