import type { Break } from '../../core-connection/index.ts';
import { formatMinor } from '../../transfers/index.ts';

/** A break as operators see it. The difference is decimal text. */
export function breakDocument(one: Break): Readonly<Record<string, unknown>> {
  const { breakKey, accountId, coreId, transferId, currency, asOf, owner, openedAt, closedAt, closedBy } =
    one;
  return {
    id: String(breakKey),
    class: one.class,
    accountId,
    ...(coreId !== null && { transactionId: coreId }),
    ...(transferId !== null && { transferId }),
    difference: formatMinor(one.differenceMinor, currency),
    currencyCode: currency,
    ...(asOf !== null && { asOf }),
    ...(owner !== null && { owner }),
    openedAt,
    ...(closedAt !== null && { closedAt, closedBy }),
  };
}
