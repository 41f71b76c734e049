import * as Type from 'typebox/type';
import { Problem } from '../../shared/problem.ts';
import { parseDecimalAmount, toMinor } from '../../transfers/index.ts';

/** Decimal text of an amount. */
export const decimalText = Type.String({ pattern: '^[0-9]{1,13}(\\.[0-9]{1,4})?$' });

/** The amount in minor units; undefined for undefined. Problem `invalid_request`. */
export function minorOf(decimal: string | undefined, currency: string, pointer: string): bigint | undefined {
  if (decimal === undefined) return undefined;
  if (/^0+(\.0+)?$/.test(decimal)) return 0n;
  const parsed = parseDecimalAmount(decimal.replace(/^0+(?=\d)/, ''));
  const minor = 'invalid' in parsed ? undefined : toMinor(parsed, currency);
  if (typeof minor === 'bigint') return minor;
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer, detail: `Must be an amount with the decimals of ${currency}.` }],
  });
}
