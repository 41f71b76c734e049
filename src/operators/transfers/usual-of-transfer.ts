import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { formatMinor } from '../../transfers/index.ts';
import { selectOrder, selectUsual, type UsualRow } from './usual-queries.ts';

/** Transfers that completed before an order, in its currency, without reversals. Amounts are decimal text. */
interface Usual {
  readonly transfers: number;
  /** There are more: only the newest of an account count. */
  readonly isCut: boolean;
  /** Half of them are at most this; null without any. */
  readonly median: string | null;
  readonly largest: string | null;
  readonly atLeastAsLarge: number;
  readonly toPayee: number;
  readonly lastToPayee: { readonly id: string; readonly amount: string; readonly at: Date } | null;
}

interface UsualOfTransfer {
  readonly since: Date;
  readonly until: Date;
  readonly currencyCode: string;
  readonly source: Usual;
  /** The other accounts of the membership. */
  readonly others: Usual;
}

const days = 90;
const dayMillis = 86_400_000;
const mostOfAccount = 5_000;
const mostAccounts = 50;

/**
 * The usual transfers out of the source of a transfer, and out of the other accounts of its membership, in the ninety days before it. Undefined if
 * there is no such transfer. The audit records the read of the source.
 */
export async function usualOfTransfer(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { transferId, origin }: { readonly transferId: string; readonly origin: CommandOrigin },
): Promise<UsualOfTransfer | undefined> {
  if (!isPublicId(transferId)) return undefined;
  const found = await database.snapshot(institutionId, async (tx) => {
    const order = await selectOrder(tx, transferId);
    if (order === undefined) return undefined;
    const since = new Date(order.createdAt.getTime() - days * dayMillis);
    const { fromKey } = order;
    const wanted = { since, mostOfAccount, mostAccounts };
    const rows = fromKey === null ? [] : await selectUsual(tx, { ...wanted, order: { ...order, fromKey } });
    return { order, since, rows };
  });
  if (found === undefined) return undefined;
  const { order, since, rows } = found;
  const { fromAccountId: subject, createdAt: until, currency: currencyCode } = order;
  const entry = { action: 'account.read', outcome: 'succeeded', reason: 'usual', subject, origin } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  const [source, others] = [true, false].map((isSource) =>
    toUsual(
      rows.find((row) => row.isSource === isSource),
      currencyCode,
    ),
  ) as [Usual, Usual];
  return { since, until, currencyCode, source, others };
}

function toUsual(row: UsualRow | undefined, currency: string): Usual {
  if (row === undefined)
    return {
      ...{ transfers: 0, isCut: false, median: null, largest: null },
      ...{ atLeastAsLarge: 0, toPayee: 0, lastToPayee: null },
    };
  const { transfers, isCut, median, largest, atLeastAsLarge, toPayee, lastId, lastAmount, lastAt } = row;
  const text = (minor: bigint) => formatMinor(minor, currency);
  const lastToPayee =
    lastId === null || lastAmount === null || lastAt === null
      ? null
      : { id: lastId, amount: text(lastAmount), at: lastAt };
  const figures = { transfers, isCut, median: text(median), largest: text(largest) };
  return { ...figures, atLeastAsLarge, toPayee, lastToPayee };
}
