import type { CommandOrigin, Origin } from '../../events/index.ts';
import type { Actor } from '../../institutions/index.ts';
import type { DecimalAmount, LoanPaymentOption, TransferStatus, TransferType } from '../../ledger/index.ts';
import type { FailureCode } from '../../shared/failure-codes.ts';

export { type TransferStatus, type TransferType, transferTypes } from '../../ledger/index.ts';
export { type FailureCode, failureCodes } from '../../shared/failure-codes.ts';

/** What a caller asks for; the id is the idempotency key, chosen by the caller or made at the edge. */
export interface TransferOrder {
  readonly transferId: string;
  /** The id was derived from an `Idempotency-Key` of this caller's. */
  readonly isIdDerived?: true;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: DecimalAmount;
  /** Null: the source account's. */
  readonly currencyCode: string | null;
  /** Null: derived from the accounts. */
  readonly transferType: TransferType | null;
  /** For a LOAN_PAYMENT; null: DEFAULT. */
  readonly paymentOption: LoanPaymentOption | null;
  /** For an IRA_CONTRIBUTION; null: it counts for the current year. */
  readonly previousYearContribution: boolean | null;
  /** A line for people on both sides; null: none. */
  readonly memo: string | null;
}

/** An order and who gave it. */
export interface SubmittedOrder extends TransferOrder {
  readonly actor: Actor;
}

/** What may happen to a transfer that is pending. */
export type Act =
  | { readonly kind: 'cancel'; readonly actor: Actor; readonly origin: Origin }
  | { readonly kind: 'approve'; readonly origin: CommandOrigin }
  | { readonly kind: 'decline'; readonly origin: CommandOrigin }
  /** Its time has come: it is posted or expires, as was laid down when it was held. */
  | { readonly kind: 'due' };

/** What waits for a batch. The accounts, which never change, say what must be locked. */
export type DeskOrder =
  | ({ readonly kind: 'initiate'; readonly origin: Origin } & SubmittedOrder)
  | {
      readonly kind: 'transition';
      readonly transferId: string;
      readonly fromAccountId: string;
      readonly toAccountId: string;
      readonly act: Act;
    }
  | {
      readonly kind: 'reverse';
      /** The new transfer's. */
      readonly transferId: string;
      readonly originalId: string;
      readonly fromAccountId: string;
      readonly toAccountId: string;
      readonly origin: CommandOrigin;
    };

export interface Transfer {
  readonly id: string;
  /** Null only if the order was refused before its type was known. */
  readonly transferType: TransferType | null;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly status: TransferStatus;
  readonly createdAt: Date;
  readonly failureCode: FailureCode | null;
  /** A public sentence beside the failure code. */
  readonly failureDetail: string | null;
  readonly memo: string | null;
  /** With `limit_exceeded`, where it was read with the transfer. */
  readonly exceededLimit?: ExceededLimit | null;
  /** The transfer that this one takes back, where the caller may see that; and the one that takes this one back. */
  readonly reverses?: string | null;
  readonly reversedBy?: string | null;
}

/** The limit that an order would exceed, as far as its caller may know. */
export interface ExceededLimit {
  /** Whose transfers count together. */
  readonly subject: 'USER' | 'CUSTOMER' | 'ACCOUNT';
  /** TRANSFER bounds each transfer alone. */
  readonly period: 'TRANSFER' | 'DAY' | 'MONTH';
  /** The most that a transfer may move until `resetsAt`. Null: others whom the caller may not see count as well. */
  readonly remainingMinor: bigint | null;
  /** When the period ends; null: never. */
  readonly resetsAt: Date | null;
}

/** What became of an order. All of these are ordinary answers; only a broken service throws. */
export type Outcome =
  /** Kept under its id, unless its source is not the caller's to see: then it is FAILED and nothing is kept. */
  | { readonly kind: 'new'; readonly transfer: Transfer }
  /** The same order under the same id: the transfer as it stands. */
  | { readonly kind: 'replayed'; readonly transfer: Transfer }
  /** The id belongs to another order. The fields that differ are told only to who may see that one. */
  | { readonly kind: 'id_reused'; readonly differs: readonly string[] | null }
  /** The amount, the currency or the id cannot be; the id is not used up. */
  | { readonly kind: 'malformed'; readonly pointer: string; readonly detail: string };

/** The result of a dry run never is a new transfer. */
export type RepeatedOutcome = Exclude<Outcome, { readonly kind: 'new' }>;

/** What became of an act on a pending transfer, or of a reversal. */
export type ActOutcome =
  | { readonly kind: 'changed'; readonly transfer: Transfer }
  /** Nothing happened: why, and the transfer as it stands. */
  | { readonly kind: 'unchanged'; readonly why: Unchanged; readonly transfer: Transfer }
  /** There is none, or it is not this caller's to see. */
  | { readonly kind: 'unknown' };

export type Unchanged =
  /** COMPLETED or FAILED already. */
  | 'final'
  /** Its time has not come. */
  | 'not_due'
  /** This person has approved it already; another one must. */
  | 'approved_before'
  /** Approved by one of two, or until its processing time: it waits on. */
  | 'waits'
  /** An operator has locked or switched off the user who ordered it: the clock does not post it. */
  | 'orderer_shut_out'
  /** Who may see it, but may not pay from its source. */
  | 'not_allowed'
  /** Only a completed transfer that is no reversal, and has none, can be reversed. */
  | 'not_reversible';

/** The person behind a member's token; null for a client. */
export function personOf(actor: Actor | undefined): bigint | null {
  return actor?.kind === 'member' ? actor.personKey : null;
}
