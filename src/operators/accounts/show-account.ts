import { asShown, type Category, type Restriction } from '../../accounts/index.ts';
import type { CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import {
  type EntryRow,
  type HolderRow,
  type LedgerAccountRow,
  type PendingOfAccountRow,
  selectHolders,
  selectLastEntries,
  selectLedgerAccount,
  selectPendingOfAccount,
} from './account-queries.ts';
import { recordRead } from './record-read.ts';

/**
 * An account as operators see it. Amounts are decimal text, from the holder's side: a debt is positive. An account of the institution itself has
 * a purpose and no membership; its amounts are those of the ledger, where credit is positive.
 */
export interface ShownAccount
  extends Pick<
    LedgerAccountRow,
    | 'accountId'
    | 'purpose'
    | 'accountNumber'
    | 'description'
    | 'category'
    | 'currency'
    | 'customerId'
    | 'memberNumber'
    | 'closed'
    | 'delinquent'
  > {
  readonly accountType: string;
  readonly closedByOperator: boolean;
  readonly coreRestriction: Restriction | null;
  readonly operatorRestriction: Restriction | null;
  readonly balance: string;
  readonly holdsOut: string;
  readonly holdsIn: string;
  readonly overdraftLimit: string;
  readonly creditLimit: string;
  readonly interestDue: string | null;
  readonly feesDue: string | null;
  readonly amountDue: string | null;
  /** YYYY-MM-DD. */
  readonly nextDueOn: string | null;
  readonly holders: readonly HolderRow[];
  readonly pending: readonly (Omit<PendingOfAccountRow, 'amountMinor'> & { readonly amount: string })[];
  readonly entries: readonly {
    readonly entry: bigint;
    readonly at: Date;
    readonly kind: string;
    readonly amount: string;
    readonly balanceAfter: string;
    readonly transferId: string | null;
  }[];
}

/** Undefined if no account has this id. The audit records the read of a member's account. */
export async function showAccount(
  deps: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { accountId, origin }: { readonly accountId: string; readonly origin: CommandOrigin },
): Promise<ShownAccount | undefined> {
  if (!isPublicId(accountId)) return undefined;
  const shown = await deps.database.snapshot(institutionId, async (tx) => {
    const account = await selectLedgerAccount(tx, accountId);
    if (account === undefined) return undefined;
    const { accountKey } = account;
    const [holders, pending, entries] = await Promise.all([
      selectHolders(tx, accountKey),
      selectPendingOfAccount(tx, accountKey),
      selectLastEntries(tx, accountKey),
    ]);
    return toShown(account, { holders, pending, entries });
  });
  if (shown === undefined) return undefined;
  await recordRead(deps, institutionId, { account: shown, origin });
  return shown;
}

interface Around {
  readonly holders: readonly HolderRow[];
  readonly pending: readonly PendingOfAccountRow[];
  readonly entries: readonly EntryRow[];
}

function toShown(row: LedgerAccountRow, { holders, pending, entries }: Around): ShownAccount {
  const { currency } = row;
  const text = (minor: bigint) => formatMinor(minor, currency);
  const own = (minor: bigint) => text(asShown(row.category as Category, minor));
  const due = (minor: bigint | null) => (minor === null ? null : text(minor));
  return {
    accountId: row.accountId,
    purpose: row.purpose,
    accountNumber: row.accountNumber,
    accountType: row.diAccountType,
    description: row.description,
    category: row.category,
    currency,
    customerId: row.customerId,
    memberNumber: row.memberNumber,
    closed: row.closed,
    closedByOperator: row.closedByOperator,
    delinquent: row.delinquent,
    coreRestriction: row.transferRestriction,
    operatorRestriction: row.operatorRestriction,
    balance: own(row.posted),
    holdsOut: text(row.debitsPending),
    holdsIn: text(row.creditsPending),
    overdraftLimit: text(row.overdraftLimit),
    creditLimit: text(row.creditLimit),
    interestDue: due(row.accruedInterest),
    feesDue: due(row.feesDue),
    amountDue: due(row.amountDue),
    nextDueOn: row.nextDueOn,
    holders,
    pending: pending.map(({ amountMinor, ...one }) => ({ ...one, amount: text(amountMinor) })),
    entries: entries.map(({ seq, recordedAt, kind, amount, postedAfter, transferId }) => ({
      entry: seq,
      at: recordedAt,
      kind,
      amount: own(amount),
      balanceAfter: own(postedAfter),
      transferId,
    })),
  };
}
