import { publicId } from '../../../shared/public-id.ts';
import type { Line, Refusal } from '../../intake/lines.ts';
import { signedMinor } from '../../intake/transaction-line.ts';
import type { StatedBalance, StatedPosting } from './stage-queries.ts';

/** A line of a delivery of balances. */
export type BalanceLine = StatedBalance | StatedPosting;

const names = {
  balance: ['accountId', 'balance', 'currencyCode'],
  posting: ['transactionId', 'accountId', 'amount', 'currencyCode'],
} as const;

/**
 * Reads a line: a balance, or a posting of the core's list if it has a `transactionId`. `amountText` is the source text of a number.
 * The refusal names each field that is wrong and never repeats a value.
 */
export function readBalanceLine(
  fields: Readonly<Record<string, unknown>>,
  amountText: (name: string) => string | undefined,
): BalanceLine | Refusal {
  const isPosting = (fields.transactionId ?? undefined) !== undefined;
  const known: readonly string[] = names[isPosting ? 'posting' : 'balance'];
  const wrong: string[] = [];
  const text = (name: string, form: RegExp, expected: string): string => {
    const value = fields[name] ?? undefined;
    if (typeof value === 'string' && form.test(value)) return value;
    wrong.push(value === undefined ? `${name} is missing.` : `${name} must be ${expected}.`);
    return '';
  };
  if (Object.keys(fields).some((name) => !known.includes(name))) wrong.push('A field is not known.');
  const anId = 'an id of 1 to 64 letters, digits and . _ : -';
  const coreId = isPosting ? text('transactionId', publicId, anId) : '';
  const accountId = text('accountId', publicId, anId);
  const currencyCode = text('currencyCode', /^[A-Z]{3}$/, 'an ISO 4217 code');
  const figure = isPosting ? 'amount' : 'balance';
  const minor = currencyCode === '' ? 0n : signedMinor(amountText(figure), currencyCode);
  if (typeof minor === 'string') wrong.push(`${figure}: ${minor}`);
  if (isPosting && minor === 0n && wrong.length === 0) wrong.push('amount must not be zero.');
  if (wrong.length > 0 || typeof minor === 'string') {
    return {
      ...(coreId !== '' && { id: coreId }),
      code: 'invalid_line',
      detail: [...new Set(wrong)].join(' '),
    };
  }
  if (accountId.startsWith('internal:')) {
    return {
      code: 'account_not_found',
      detail: 'The core has no balance of an account of the institution itself.',
    };
  }
  return isPosting
    ? { coreId, accountId, currencyCode, amountMinor: minor }
    : { accountId, currencyCode, balanceMinor: minor };
}

export function isPosting(item: BalanceLine): item is StatedPosting {
  return 'coreId' in item;
}

export type BalanceLines = AsyncIterable<readonly Line<BalanceLine>[]>;
