import { readAmount } from '../../design/format/money.ts';

/** Null for an empty text, undefined for one that is no amount in this currency. Zero is an amount. */
export function typedAmount(text: string, currency: string): string | null | undefined {
  if (text === '') return null;
  if (/^0+(\.0+)?$/.test(text)) return '0';
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return readAmount(text, maximumFractionDigits);
}
