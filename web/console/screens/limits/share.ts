import type { Limit } from '../../operations.ts';

type Used = Pick<Limit, 'used' | 'maxAmount' | 'transfers' | 'maxCount'>;

/** Whole percents of the fuller bound. Amounts are digits, which a double may not hold. */
export function shareUsed({ used, maxAmount, transfers, maxCount }: Used): number {
  const ofAmount = maxAmount === null ? 0n : percentOf(BigInt(digits(used)), BigInt(digits(maxAmount)));
  const ofCount = maxCount === null ? 0n : percentOf(BigInt(transfers), BigInt(maxCount));
  return Number(ofAmount > ofCount ? ofAmount : ofCount);
}

/** Both have the decimals of one currency. */
function digits(amount: string): string {
  return amount.replace('.', '');
}

function percentOf(part: bigint, whole: bigint): bigint {
  return whole === 0n ? 100n : (part * 100n) / whole;
}
