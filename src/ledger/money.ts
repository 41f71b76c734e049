import { currencyDecimals } from './currencies.ts';

/** A positive decimal number by its value: 105.25 is `{ digits: 10525n, decimals: 2 }`, 1.500 and 1.5 have 1 decimal. */
export interface DecimalAmount {
  readonly digits: bigint;
  readonly decimals: number;
}

/** Why an amount is invalid: a sentence for the caller. */
export interface InvalidAmount {
  readonly invalid: string;
}

/** 13 digits with the 4 decimals of the longest currency stay below 2^63, the bound of a bigint column. */
const maxIntegerDigits = 13;
const maxDecimals = 4;

/**
 * Reads an amount from the source text of a JSON number, so that no float ever stands between the wire and the
 * ledger. `1.05e2` is 105, and `1.500` is 1.5: the value counts, not its spelling.
 *
 * Refused, in this order: text that is not a number; zero and less; more than 13 digits before the point; more than 4
 * decimals, which no currency has.
 */
export function parseDecimalAmount(sourceText: string): DecimalAmount | InvalidAmount {
  const parts = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(sourceText);
  if (parts === null) return { invalid: 'The amount must be a number.' };
  const [, sign, integer = '', fraction = '', exponent = '0'] = parts;
  const written = `${integer}${fraction}`;
  const significant = withoutZeros(written);
  if (sign === '-' || significant === '') return { invalid: 'The amount must be greater than zero.' };

  // A bigint, since an exponent may itself have thousands of digits; nothing is multiplied before it is bounded.
  const zerosBehind = trailingZeros(written);
  const decimals = BigInt(fraction.length - zerosBehind) - BigInt(exponent);
  if (BigInt(significant.length) - decimals > maxIntegerDigits) {
    return { invalid: `The amount must have at most ${maxIntegerDigits} digits before the decimal point.` };
  }
  if (decimals > maxDecimals) return { invalid: 'The amount has more decimals than any currency.' };
  return decimals >= 0n
    ? { digits: BigInt(significant), decimals: Number(decimals) }
    : { digits: BigInt(significant) * 10n ** -decimals, decimals: 0 };
}

/** In one pass: `/0+$/` takes the square of the time over many zeros. */
function trailingZeros(digits: string): number {
  let end = digits.length;
  while (end > 0 && digits[end - 1] === '0') end -= 1;
  return digits.length - end;
}

function withoutZeros(digits: string): string {
  return digits.slice(0, digits.length - trailingZeros(digits)).replace(/^0+/, '');
}

/**
 * The amount in minor units of the currency: 105.25 USD is 10525n, 105 JPY is 105n.
 * Refused: a code that is not an active currency's, and more decimals than the currency has.
 */
export function toMinor(amount: DecimalAmount, currency: string): bigint | InvalidAmount {
  const decimals = currencyDecimals(currency);
  if (decimals === undefined) return { invalid: 'The currency is not an active one of ISO 4217.' };
  if (amount.decimals > decimals) return { invalid: 'The amount has more decimals than its currency.' };
  return amount.digits * 10n ** BigInt(decimals - amount.decimals);
}

/**
 * Minor units in major ones, with exactly the currency's decimals: 10525n USD is `105.25`, -5n is `-0.05`. The
 * text is a JSON number. Of any size and sign, as a core may report it.
 *
 * Throws RangeError for a code that is not an active currency's: stored money has been checked.
 */
export function formatMinor(minor: bigint, currency: string): string {
  const decimals = currencyDecimals(currency);
  if (decimals === undefined) throw new RangeError('money in a currency that is not in the table');
  const sign = minor < 0n ? '-' : '';
  const digits = String(minor < 0n ? -minor : minor).padStart(decimals + 1, '0');
  if (decimals === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
