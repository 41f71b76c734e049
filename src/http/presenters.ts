import type { Account, Balances } from '../accounts/index.ts';
import type { CoreConnection } from '../core-connection/index.ts';
import type { Counterparty, EffectiveBalances, FeedEvent, Transaction } from '../feed/index.ts';
import type { Profile } from '../members/index.ts';
import {
  type Decision,
  type DeliveredInstruction,
  type ExceededLimit,
  formatMinor,
  type Transfer,
  type TransferOptions,
} from '../transfers/index.ts';

declare global {
  interface JSON {
    /** ECMAScript 2026; not in TypeScript's library yet. */
    rawJSON(text: string): object;
  }
}

export function presentProfile(profile: Profile) {
  const { userId, firstName, lastName, emailAddress, userRole, userType, userStatus, customers } = profile;
  return {
    userId,
    firstName,
    lastName,
    emailAddress,
    userRole,
    userType,
    userStatus: { active: userStatus.active, locked: userStatus.locked },
    customers: customers.map(({ customerId, memberNumber }) => ({ customerId, memberNumber })),
    phoneNumbers: profile.phoneNumbers.map(({ phoneNumber, phoneType }) => ({ phoneNumber, phoneType })),
  };
}

/** `balancesAsOf`: the time that the balances are true for, if the core that keeps the books is away. */
export function presentAccount(account: Account, balancesAsOf: Date | null = null) {
  const { accountId, accountNumber, category, currency, open, closed, delinquent } = account;
  return {
    accountId,
    accountNumber,
    accountType: { DIAccountType: account.diAccountType, description: account.description },
    category,
    balance: {
      availableBalance: presentMoney(account.availableMinor, currency),
      currentBalance: presentMoney(account.currentMinor, currency),
    },
    accountStatus: { open, closed, delinquent },
    ...(balancesAsOf !== null && { balancesAsOf: balancesAsOf.toISOString() }),
  };
}

/** A transfer of the transfers module, or of an event, whose type and status are plain text. */
type ShownTransfer = Pick<
  Transfer,
  'id' | 'fromAccountId' | 'toAccountId' | 'amountMinor' | 'currencyCode' | 'createdAt' | 'memo'
> &
  Record<'transferType' | 'failureCode', string | null | undefined> &
  Pick<Transfer, 'reverses' | 'reversedBy'> & { readonly status: string };

export function presentTransaction(transaction: Transaction) {
  const { id, at, type, description, currency, balanceMinor, pending, credit, transferId, memo } =
    transaction;
  return {
    id,
    transactionDate: at.toISOString(),
    type,
    description,
    amount: presentMoney(transaction.amountMinor, currency),
    ...(balanceMinor !== null && { ledgerBalance: presentMoney(balanceMinor, currency) }),
    isPending: pending,
    isCreditTransaction: credit,
    ...(transferId !== null && { transferId }),
    ...(memo !== null && { memo }),
    ...(transaction.reverses !== null && { reverses: transaction.reverses }),
    ...(transaction.reversedBy !== null && { reversedBy: transaction.reversedBy }),
    ...(transaction.counterparty !== null && { counterparty: presentCounterparty(transaction.counterparty) }),
    ...(transaction.merchant !== null && { merchant: transaction.merchant }),
    ...(transaction.category !== null && { category: transaction.category }),
    ...(transaction.checkNumber !== null && { checkNumber: transaction.checkNumber }),
    ...(transaction.effectiveDate !== null && { effectiveDate: transaction.effectiveDate }),
  };
}

function presentCounterparty({ name, accountId }: Counterparty) {
  return { ...(name !== null && { name }), ...(accountId !== null && { accountId }) };
}

export function presentBalances(balances: Balances & Partial<Pick<EffectiveBalances, 'effectiveDate'>>) {
  const { accountId, asOf, effectiveDate, availableMinor, currentMinor, currency } = balances;
  return {
    accountId,
    asOf: asOf.toISOString(),
    ...(effectiveDate !== undefined && { effectiveDate }),
    balance: {
      availableBalance: presentMoney(availableMinor, currency),
      currentBalance: presentMoney(currentMinor, currency),
    },
  };
}

export function presentTransfer(transfer: ShownTransfer) {
  const { id, transferType, fromAccountId, toAccountId, currencyCode, status, failureCode, memo } = transfer;
  const { reverses, reversedBy } = transfer;
  return {
    id,
    ...(typeof transferType === 'string' && { transferType }),
    fromAccountId,
    toAccountId,
    amount: exactNumber(transfer.amountMinor, currencyCode),
    currencyCode,
    status,
    createdAt: transfer.createdAt.toISOString(),
    ...(typeof failureCode === 'string' && { failureCode }),
    ...(memo !== null && { memo }),
    ...(typeof reverses === 'string' && { reverses }),
    ...(typeof reversedBy === 'string' && { reversedBy }),
  };
}

export function presentLimit(
  { subject, period, remainingMinor, resetsAt }: ExceededLimit,
  currencyCode: string,
) {
  return {
    appliesTo: subject,
    period,
    ...(remainingMinor !== null && { remainingAmount: exactNumber(remainingMinor, currencyCode) }),
    currencyCode,
    ...(resetsAt !== null && { resetsAt: resetsAt.toISOString() }),
  };
}

export function presentDecision({ transfer, reasons }: Pick<Decision, 'transfer' | 'reasons'>) {
  return {
    transfer: presentTransfer(transfer),
    reasons: reasons.map(({ code, detail, limit }) => ({
      code,
      detail,
      ...(limit && { limit: presentLimit(limit, transfer.currencyCode) }),
    })),
  };
}

export function presentTransferOptions({ fromAccountId, currencyCode, options }: TransferOptions) {
  const amount = (minor: bigint) => exactNumber(minor, currencyCode);
  return {
    fromAccountId,
    currencyCode,
    options: options.map((option) => {
      const { toAccountId, transferType, paymentOption, previousYearContribution, refusal } = option;
      const { maximumMinor, reviewAboveMinor } = option;
      return {
        ...(toAccountId !== null && { toAccountId }),
        ...(transferType !== null && { transferType }),
        ...(paymentOption !== null && { paymentOption }),
        ...(previousYearContribution !== null && { previousYearContribution }),
        allowed: refusal === null,
        ...(maximumMinor !== null && { maximumAmount: amount(maximumMinor) }),
        ...(reviewAboveMinor !== null && { reviewAbove: amount(reviewAboveMinor) }),
        ...(refusal !== null && {
          reason: {
            code: refusal.code,
            detail: refusal.detail,
            ...(refusal.limit && { limit: presentLimit(refusal.limit, currencyCode) }),
          },
        }),
      };
    }),
  };
}

export function presentEvent({ eventId, sequence, kind, at, userId, transfer, accounts, data }: FeedEvent) {
  return {
    eventId,
    sequence: Number(sequence),
    eventType: kind,
    timestamp: at.toISOString(),
    ...(userId !== null && { userId }),
    ...(transfer !== null && { transfer: presentTransfer(transfer) }),
    accounts: accounts.map(({ accountId, sequence }) => ({ accountId, sequence: Number(sequence) })),
    ...(data !== null && { data }),
  };
}

export function presentInstruction(instruction: DeliveredInstruction) {
  const { id, sequence, transferType, fromAccountId, toAccountId, currencyCode, businessDate } = instruction;
  const { memo, reverses, leaseUntil } = instruction;
  return {
    id,
    sequence: Number(sequence),
    ...(transferType !== null && { type: transferType }),
    fromAccountId,
    toAccountId,
    amount: exactNumber(instruction.amountMinor, currencyCode),
    currencyCode,
    businessDate,
    ...(memo !== null && { memo }),
    orderedAt: instruction.orderedAt.toISOString(),
    ...(reverses !== null && { reverses }),
    ...(leaseUntil !== null && { leaseUntil: leaseUntil.toISOString() }),
  };
}

export function presentCoreConnection({ state, heardAt, oldestUndeliveredAt, exposure }: CoreConnection) {
  return {
    state,
    ...(heardAt !== null && { heardAt: heardAt.toISOString() }),
    ...(oldestUndeliveredAt !== null && { oldestUndeliveredAt: oldestUndeliveredAt.toISOString() }),
    openInstructions: exposure.map(({ mode, currencyCode, instructions, delivered, amountMinor }) => ({
      mode,
      currencyCode,
      instructions: Number(instructions),
      delivered: Number(delivered),
      amount: exactNumber(amountMinor, currencyCode),
    })),
  };
}

function presentMoney(minor: bigint, currencyCode: string) {
  return { amount: exactNumber(minor, currencyCode), currencyCode };
}

/** A JSON number with all its decimals (105.00), which never becomes a float. */
export function exactNumber(minor: bigint, currency: string) {
  return JSON.rawJSON(formatMinor(minor, currency));
}
