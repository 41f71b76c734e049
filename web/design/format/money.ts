/** An amount in major units as its digits: `'105.25'`. It is never a number, which would round it. */
type Decimal = string;

/** By all that decides one. To make a format takes longer than to use it a hundred times, and a ledger shows thousands of amounts. */
const formats = new Map<string, Intl.NumberFormat>();

/** `$1,234.50`, with exactly the digits of the amount. `sign` writes a plus before a credit and a minus before a debit. */
export function formatMoney(
  amount: Decimal,
  currencyCode: string,
  { locale, sign = 'auto' }: { readonly locale?: string | undefined; readonly sign?: 'auto' | 'always' } = {},
): string {
  const decimals = amount.split('.')[1]?.length ?? 0;
  const key = [locale, currencyCode, decimals, sign].join();
  const format =
    formats.get(key) ??
    new Intl.NumberFormat(locale, {
      style: 'currency',
      currency: currencyCode,
      minimumFractionDigits: decimals,
      maximumFractionDigits: decimals,
      signDisplay: sign === 'always' ? 'exceptZero' : 'negative',
    });
  formats.set(key, format);
  // A text is formatted digit by digit; a number would pass through a double (ECMA-402, Intl.NumberFormat v3).
  return format.format(amount as Intl.StringNumericLiteral);
}

/**
 * The amount that a person typed, or undefined. Commas may group thousands, and only there: `1,50` is neither 150 nor 1.50 for certain, and so
 * is refused.
 */
export function readAmount(text: string, decimals = 2): Decimal | undefined {
  const trimmed = text.trim().replace(/^\$\s*/, '');
  if (!/^(?:\d{1,13}|\d{1,3}(?:,\d{3}){1,4})(?:\.\d*)?$/.test(trimmed)) return undefined;
  const [whole = '', fraction = ''] = trimmed.replaceAll(',', '').split('.');
  if (fraction.length > decimals) return undefined;
  const digits = whole.replace(/^0+(?=\d)/, '');
  const amount = decimals === 0 ? digits : `${digits}.${fraction.padEnd(decimals, '0')}`;
  return /[1-9]/.test(amount) ? amount : undefined;
}

/** Hundredths of a percent of `whole`, for pictures. */
export function shareOf(part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((part * 10_000n) / whole) / 100;
}

/** Below zero if `left` is less. Digit by digit: amounts may be longer than a double. */
export function compareAmounts(left: string, right: string): number {
  const [one, other] = [left, right].map((text) => {
    const [whole = '', fraction = ''] = text.replace('-', '').split('.');
    return BigInt(`${text.startsWith('-') ? '-' : ''}${whole || 0}${fraction.padEnd(6, '0')}`);
  }) as [bigint, bigint];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The sum of amounts of one currency, which have the same decimals. */
export function sumOf(amounts: readonly string[]): string {
  const [first = '0'] = amounts;
  const decimals = first.split('.')[1]?.length ?? 0;
  const minor = amounts.reduce((sum, amount) => sum + BigInt(amount.replace('.', '')), 0n);
  const digits = String(minor < 0n ? -minor : minor).padStart(decimals + 1, '0');
  const whole = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return minor < 0n ? `-${whole}` : whole;
}
