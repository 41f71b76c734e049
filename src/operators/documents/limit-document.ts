import { formatMinor, type ShownLimit } from '../../transfers/index.ts';

/** A limit with its use, as operators see it. Amounts are decimal text. */
export function limitDocument(row: ShownLimit) {
  const {
    limitKey,
    subject,
    subjectId,
    period,
    transferType,
    sourceType,
    currency,
    maxCount,
    transfers,
    resetsAt,
  } = row;
  return {
    ...{ limitKey, subject, subjectId, period, transferType, sourceType, currency },
    used: formatMinor(row.usedMinor, currency),
    maxAmount: amountOf(row, row.maxAmount),
    remaining: amountOf(row, row.remainingMinor),
    ...{ transfers, maxCount },
    maxPerTransfer: amountOf(row, row.maxPerTransfer),
    reviewAbove: amountOf(row, row.reviewAbove),
    resetsAt,
  };
}

function amountOf({ currency }: ShownLimit, minor: bigint | null): string | null {
  return minor === null ? null : formatMinor(minor, currency);
}
