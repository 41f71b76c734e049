import { asShown, type FoundAccount, findAccount } from '../accounts/index.ts';
import {
  type Actor,
  coveredKeys,
  type Institution,
  instantsOf,
  type LocalDate,
  type Period,
} from '../institutions/index.ts';
import { currencyDecimals, type DecimalAmount } from '../ledger/index.ts';
import type { Basis } from '../memory/index.ts';
import { type Page, type PageRequest, type Position, pageOf } from '../shared/page.ts';
import { Problem } from '../shared/problem.ts';
import type { InstitutionId, Reads } from '../storage/index.ts';
import { type HistoryFilter, kindCode } from './history-filter.ts';
import { type HistoryRow, selectHistory } from './history-queries.ts';

export const transactionTypes = [
  'OPENING_BALANCE',
  'CREDIT_ADJUSTMENT',
  'DEBIT_ADJUSTMENT',
  'TRANSFER_CREDIT',
  'TRANSFER_DEBIT',
  'PAYMENT',
  'POS_PURCHASE',
  'REFUND',
  'DIRECT_DEPOSIT',
  'ELECTRONIC_TRANSFER_CREDIT',
  'ELECTRONIC_TRANSFER_DEBIT',
  'CHECK',
  'DEPOSIT',
  'WITHDRAWAL',
  'SERVICE_CHARGE',
  'INTEREST_POSTING',
  'DIVIDEND',
  'ATM_WITHDRAWAL',
  'ATM_DEPOSIT',
  'WIRE_CREDIT',
  'WIRE_DEBIT',
] as const;
type TransactionType = (typeof transactionTypes)[number];

/** A transaction of an account as its holder sees it. Amounts are minor units of `currency`; a debt is positive. */
export interface Transaction {
  /** Unique on the account; the same while pending and once posted. */
  readonly id: string;
  /** Of the core's transactions the time at the core, which may be earlier than those of the transactions below it. */
  readonly at: Date;
  readonly type: TransactionType;
  readonly description: string;
  readonly currency: string;
  /** The change of the balance. */
  readonly amountMinor: bigint;
  /** The balance after it; null while pending. */
  readonly balanceMinor: bigint | null;
  readonly pending: boolean;
  readonly credit: boolean;
  /** Null if there is none, or the caller may not see it. */
  readonly transferId: string | null;
  /** The memo of the order. */
  readonly memo: string | null;
  /** The transfer that this one reverses; null if there is none, or the caller may not see it. */
  readonly reverses: string | null;
  /** The transfer by which the institution reversed this one; null if there is none, or the caller may not see it. */
  readonly reversedBy: string | null;
  /** The other end of a transfer; null for other transactions. */
  readonly counterparty: Counterparty | null;
  /** Facts of the core; null where it stated none. */
  readonly merchant: string | null;
  readonly category: string | null;
  readonly checkNumber: string | null;
  /** The core's business date, YYYY-MM-DD. */
  readonly effectiveDate: string | null;
}

export interface Counterparty {
  /** The PRIMARY holder: in full if the caller may see the account, else the first name and an initial. */
  readonly name: string | null;
  /** Null for a payee who may not see the source account. */
  readonly accountId: string | null;
}

export interface TransactionFilter {
  /** Null: both. */
  readonly status: 'POSTED' | 'PENDING' | null;
  readonly period: Period;
  /** Undefined: no search. */
  readonly search?: TransactionSearch | undefined;
}

/** An omitted part does not count. */
export interface TransactionSearch {
  readonly text?: string | undefined;
  readonly type?: TransactionType | undefined;
  /** In major units, without the sign. */
  readonly minAmount?: DecimalAmount | undefined;
  readonly maxAmount?: DecimalAmount | undefined;
  readonly category?: string | undefined;
  readonly startDate?: LocalDate | undefined;
  readonly endDate?: LocalDate | undefined;
}

export interface HistoryDeps {
  readonly database: Reads;
  /** The first page without a period stands on rows that are noted. */
  readonly basis?: Basis;
  readonly institution: (institutionId: InstitutionId) => Promise<Institution>;
}

/**
 * Returns the transactions of an account: first the holds of pending transfers from it, then the posted ones, each newest
 * first. A transfer appears once, pending or posted, and not at all if it failed. A position is 0, time in milliseconds
 * and key of a pending one; or 1, number of a posted one and 0.
 *
 * Throws Problem `not_found` for an account that does not exist or that the caller may not see, and `invalid_request` for a
 * period that ends before it starts.
 */
export async function listTransactions(
  { database, institution, basis }: HistoryDeps,
  actor: Actor,
  accountId: string,
  { status, period, search }: TransactionFilter,
  { limit, after }: PageRequest,
): Promise<Page<Transaction>> {
  const { institutionId } = actor;
  const { timeZone } = await institution(institutionId);
  const { start, end } = instantsOf(period, timeZone);
  const [phase, first = 0n, second = 0n] = after ?? [];
  return database.read(institutionId, async (db) => {
    const account = await findAccount(db, actor, accountId);
    if (account === undefined) throw new Problem('not_found', 'There is no such account.');
    const { rows, lookedUpTo } = await selectHistory(db, {
      accountKey: account.accountKey,
      asking: actor.kind === 'member' ? actor : null,
      start,
      end,
      pending:
        status === 'POSTED' || phase === 1n
          ? null
          : phase === 0n
            ? { at: new Date(Number(first)), key: second }
            : { at: 'infinity', key: 0n },
      postedBelow: status === 'PENDING' ? null : phase === 1n ? first : 2n ** 62n,
      // One row more than the page shows whether a next page exists.
      limit: limit + 1,
      filter: search && filterOf(search, account, timeZone),
    });
    // The basis lacks the settings and the neighboring entries on which a search, a period and a later page depend.
    const isWhole = after === null && start === null && end === null && search === undefined;
    if (!isWhole) basis?.doNotKeep();
    else if (basis !== undefined) noteHistory(basis, actor, account, rows);
    const covered = coveredKeys(actor);
    const seen = (row: HistoryRow) => (covered === null ? row : withinConsent(row, covered));
    const { items, next } = pageOf(rows, limit, (row) => toTransaction(seen(row), account), positionOf);
    return { items, next: next ?? (lookedUpTo && positionOf(lookedUpTo)) };
  });
}

/**
 * The row as a payee or a payer without the other account sees it, if the consent does not cover that account. The statement looks at the
 * accounts that the person holds.
 */
function withinConsent(row: HistoryRow, covered: readonly bigint[]): HistoryRow {
  if (row.otherKey === null || covered.includes(row.otherKey)) return row;
  const isIncoming = row.amount > 0n;
  // A reversal that pays back to this account is seen with it; the statement names its original then.
  const isSeen = !isIncoming || row.reverses !== null;
  return {
    ...row,
    otherIsSeen: false,
    transferId: isSeen ? row.transferId : null,
    reverses: isIncoming ? row.reverses : null,
  };
}

/** Each entry, hold, release and reversal of the account raises its number. */
function noteHistory(
  basis: Basis,
  actor: Actor,
  { accountKey, seq }: FoundAccount,
  rows: readonly HistoryRow[],
): void {
  basis.addBalance(accountKey, seq);
  basis.add('account', accountKey);
  if (actor.kind === 'member') basis.add('person', actor.personKey);
  for (const { otherKey, otherPersonKey } of rows) {
    if (otherKey !== null) basis.add('account', otherKey);
    if (otherPersonKey !== null) basis.add('person', otherPersonKey);
  }
}

function positionOf(row: HistoryRow): Position {
  return row.pending ? [0n, BigInt(row.at.getTime()), row.postingKey] : [1n, row.seq, 0n];
}

function toTransaction(row: HistoryRow, { category, currency }: FoundAccount): Transaction {
  const type = typeOf(row, category);
  return {
    id: row.authorizationId === null ? String(row.postingKey) : `authorization:${row.authorizationId}`,
    // A transfer has the time of its order here, also where the core has posted its echo.
    at: (row.kind === 'TRANSFER' ? null : row.postedAt) ?? row.at,
    type,
    description: row.description ?? descriptions[type],
    currency,
    amountMinor: asShown(category, row.amount),
    balanceMinor: row.postedAfter === null ? null : asShown(category, row.postedAfter),
    pending: row.pending,
    credit: row.amount > 0n,
    transferId: row.transferId,
    memo: row.memo,
    reverses: row.reverses,
    // A caller who may not see this transfer may not see the one that took it back.
    reversedBy: row.transferId === null ? null : row.reversedBy,
    counterparty: counterpartyOf(row),
    merchant: row.merchant,
    category: row.category,
    checkNumber: row.checkNumber,
    effectiveDate: row.effectiveDate,
  };
}

function filterOf(search: TransactionSearch, account: FoundAccount, timeZone: string): HistoryFilter {
  const { text, type, minAmount, maxAmount, category, startDate, endDate } = search;
  return {
    text,
    category,
    startDate,
    endDate,
    timeZone,
    minMinor: minAmount && wholeMinor(minAmount, account.currency, 'up'),
    maxMinor: maxAmount && wholeMinor(maxAmount, account.currency, 'down'),
    kindCodes: type && codesOf(type, account.category),
  };
}

/** A bound may have more decimals than the currency. */
function wholeMinor({ digits, decimals }: DecimalAmount, currency: string, round: 'up' | 'down'): bigint {
  const more = decimals - (currencyDecimals(currency) ?? 0);
  if (more <= 0) return digits * 10n ** BigInt(-more);
  const scale = 10n ** BigInt(more);
  return (round === 'up' ? digits + scale - 1n : digits) / scale;
}

/** Every kind of entry whose transactions have the type on an account of the category. */
function codesOf(type: TransactionType, category: FoundAccount['category']): string[] {
  const kinds = [
    ...(['OPENING', 'ADJUSTMENT', 'TRANSFER', 'HOLD', 'CORE_HOLD'] as const).map((kind) => ({
      kind,
      coreKind: null,
    })),
    ...Object.keys(coreTypes).map((coreKind) => ({ kind: 'CORE' as const, coreKind })),
  ];
  return kinds.flatMap(({ kind, coreKind }) =>
    [1n, -1n].flatMap((amount) =>
      typeOf({ kind, coreKind, amount }, category) === type ? kindCode(kind, coreKind, amount > 0n) : [],
    ),
  );
}

/**
 * A statement names the third party (12 CFR 1005.9(b)(1)(v)), so each side gets a name. A caller who sees the
 * transfer sees both of its accounts; a payee does not see the payer's account.
 */
function counterpartyOf(row: HistoryRow): Counterparty | null {
  const { otherAccountId, otherIsSeen, otherFirstName, otherLastName, transferId } = row;
  if (otherAccountId === null) return null;
  const isKnown = otherIsSeen === true || transferId !== null;
  return {
    name:
      otherFirstName === null || otherLastName === null
        ? null
        : `${otherFirstName} ${otherIsSeen === true ? otherLastName : initialOf(otherLastName)}`.trim(),
    accountId: isKnown ? otherAccountId : null,
  };
}

/** The first letter of a name, which may be made of several code points. */
function initialOf(name: string): string {
  const [first] = signs.segment(name);
  return first === undefined ? '' : `${first.segment}.`;
}

const signs = new Intl.Segmenter('en', { granularity: 'grapheme' });

function typeOf(
  { kind, coreKind, amount }: Pick<HistoryRow, 'kind' | 'coreKind' | 'amount'>,
  category: FoundAccount['category'],
): TransactionType {
  if (kind === 'OPENING') return 'OPENING_BALANCE';
  if (kind === 'ADJUSTMENT') return amount > 0n ? 'CREDIT_ADJUSTMENT' : 'DEBIT_ADJUSTMENT';
  if (kind === 'CORE_HOLD') return 'POS_PURCHASE';
  if (kind === 'CORE') {
    const [credit, debit] = coreTypes[coreKind ?? 'ADJUSTMENT'] ?? coreTypes.ADJUSTMENT;
    return amount > 0n ? credit : debit;
  }
  if (amount < 0n) return 'TRANSFER_DEBIT';
  return category === 'LOAN' || category === 'CREDIT' ? 'PAYMENT' : 'TRANSFER_CREDIT';
}

/** The types of a credit and of a debit, by the core's kind. */
const coreTypes: Readonly<Record<string, readonly [TransactionType, TransactionType]>> & {
  readonly ADJUSTMENT: readonly [TransactionType, TransactionType];
} = {
  CARD: ['REFUND', 'POS_PURCHASE'],
  ACH_CREDIT: ['DIRECT_DEPOSIT', 'ELECTRONIC_TRANSFER_DEBIT'],
  ACH_DEBIT: ['ELECTRONIC_TRANSFER_CREDIT', 'ELECTRONIC_TRANSFER_DEBIT'],
  CHECK: ['DEPOSIT', 'CHECK'],
  FEE: ['REFUND', 'SERVICE_CHARGE'],
  INTEREST: ['INTEREST_POSTING', 'INTEREST_POSTING'],
  DIVIDEND: ['DIVIDEND', 'DIVIDEND'],
  ATM: ['ATM_DEPOSIT', 'ATM_WITHDRAWAL'],
  TELLER: ['DEPOSIT', 'WITHDRAWAL'],
  WIRE: ['WIRE_CREDIT', 'WIRE_DEBIT'],
  LOAN_PAYMENT: ['PAYMENT', 'PAYMENT'],
  TRANSFER: ['TRANSFER_CREDIT', 'TRANSFER_DEBIT'],
  ADJUSTMENT: ['CREDIT_ADJUSTMENT', 'DEBIT_ADJUSTMENT'],
};

const descriptions: Readonly<Record<TransactionType, string>> = {
  OPENING_BALANCE: 'Opening balance',
  CREDIT_ADJUSTMENT: 'Adjustment',
  DEBIT_ADJUSTMENT: 'Adjustment',
  TRANSFER_CREDIT: 'Transfer in',
  TRANSFER_DEBIT: 'Transfer out',
  PAYMENT: 'Payment',
  POS_PURCHASE: 'Card purchase',
  REFUND: 'Refund',
  DIRECT_DEPOSIT: 'Direct deposit',
  ELECTRONIC_TRANSFER_CREDIT: 'Electronic credit',
  ELECTRONIC_TRANSFER_DEBIT: 'Electronic debit',
  CHECK: 'Check',
  DEPOSIT: 'Deposit',
  WITHDRAWAL: 'Withdrawal',
  SERVICE_CHARGE: 'Service charge',
  INTEREST_POSTING: 'Interest',
  DIVIDEND: 'Dividend',
  ATM_WITHDRAWAL: 'Cash withdrawal',
  ATM_DEPOSIT: 'Cash deposit',
  WIRE_CREDIT: 'Incoming wire',
  WIRE_DEBIT: 'Outgoing wire',
};
