import { accountBalances, type Category, type Restriction } from '../../accounts/index.ts';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { selectTransferOfId } from '../transfers/search-queries.ts';
import { type AccountRow, selectAccountRow } from './account-queries.ts';

/** A side of a transfer with its balances of now. Amounts are decimal text, as the holder sees them: a debt is positive. */
interface SideOfTransfer {
  readonly accountId: string;
  readonly accountType: string;
  readonly description: string;
  readonly category: string;
  readonly memberNumber: string;
  readonly currency: string;
  readonly closed: boolean;
  readonly coreRestriction: Restriction | null;
  readonly operatorRestriction: Restriction | null;
  readonly current: string;
  /** Null for a loan, which pays nothing out. */
  readonly available: string | null;
  readonly holdsOut: string;
  readonly holdsIn: string;
}

/** The accounts of a transfer, at one moment. Null for an account that is no member's. */
interface SidesOfTransfer {
  readonly from: SideOfTransfer | null;
  readonly to: SideOfTransfer | null;
}

/** Both accounts of a transfer with their balances of now. Undefined if there is no such transfer. The audit records the read of each account. */
export async function balancesOfTransfer(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { transferId, origin }: { readonly transferId: string; readonly origin: CommandOrigin },
): Promise<SidesOfTransfer | undefined> {
  if (!isPublicId(transferId)) return undefined;
  const sides = await database.snapshot(institutionId, async (tx) => {
    const transfer = await selectTransferOfId(tx, transferId);
    if (transfer === undefined) return undefined;
    const [from, to] = await Promise.all([
      selectAccountRow(tx, transfer.fromAccountId),
      selectAccountRow(tx, transfer.toAccountId),
    ]);
    return { from: from === undefined ? null : sideOf(from), to: to === undefined ? null : sideOf(to) };
  });
  if (sides === undefined) return undefined;
  const read = { action: 'account.read', outcome: 'succeeded', reason: 'balances', origin } as const;
  await database.transaction(institutionId, async (tx) => {
    for (const side of [sides.from, sides.to])
      if (side !== null) await appendAudit(tx, { ...read, subject: side.accountId }, clock());
  });
  return sides;
}

function sideOf(row: AccountRow): SideOfTransfer {
  const { currency, diAccountType: accountType, transferRestriction: coreRestriction } = row;
  const { accountId, description, category, memberNumber, closed, operatorRestriction } = row;
  const text = (minor: bigint) => formatMinor(minor, currency);
  const { currentMinor, availableMinor } = accountBalances({
    ...row,
    category: category as Category,
    accruedInterest: row.accruedInterest ?? 0n,
    feesDue: row.feesDue ?? 0n,
  });
  return {
    ...{ accountId, accountType, description, category, memberNumber, currency },
    ...{ closed, coreRestriction, operatorRestriction },
    current: text(currentMinor),
    available: category === 'LOAN' ? null : text(availableMinor),
    holdsOut: text(row.debitsPending),
    holdsIn: text(row.creditsPending),
  };
}
