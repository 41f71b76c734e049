import type { Decimal } from './schema.ts';

/** An amount in minor units: `toMinor('105.25')` is 10525n. `decimals` are those of the currency, for instance 0 for JPY. */
export function toMinor(amount: Decimal, decimals = 2): bigint {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  if (whole === '') throw new RangeError(`not a decimal: ${amount}`);
  const kept = fraction.slice(0, decimals).padEnd(decimals, '0');
  if (/[1-9]/.test(fraction.slice(decimals))) {
    throw new RangeError(`${amount} has more than ${decimals} decimals`);
  }
  return BigInt(`${sign}${whole}${kept}`);
}

/** The decimal of an amount in minor units: `fromMinor(10525n)` is '105.25'. */
export function fromMinor(minor: bigint, decimals = 2): Decimal {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const sign = minor < 0n ? '-' : '';
  if (decimals === 0) return `${sign}${digits}`;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
