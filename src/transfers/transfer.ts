import type { Actor } from '../institutions/index.ts';
import type { DecimalAmount } from '../ledger/index.ts';

export const transferTypes = [
  'STANDARD',
  'CROSS_MEMBER',
  'IRA_CONTRIBUTION',
  'LOAN_PAYMENT',
  'INTRA_FI',
] as const;
export type TransferType = (typeof transferTypes)[number];

export type TransferStatus = 'PENDING' | 'COMPLETED' | 'FAILED';

/** Why a transfer was declined, in order of precedence: of two reasons the first is told. */
export const failureCodes = [
  'account_not_found',
  'same_account',
  'account_closed',
  'account_restricted',
  'currency_mismatch',
  'transfer_type_mismatch',
  'limit_exceeded',
  'exceeds_payoff',
  'exceeds_contribution_limit',
  'insufficient_funds',
] as const;
export type FailureCode = (typeof failureCodes)[number];

/** What a caller asks for; the id is the idempotency key, chosen by the caller or made at the edge. */
export interface TransferOrder {
  readonly transferId: string;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: DecimalAmount;
  /** Null: the source account's. */
  readonly currencyCode: string | null;
  /** Null: derived from the accounts. */
  readonly transferType: TransferType | null;
}

/** An order and who gave it, as it waits for its batch. */
export interface SubmittedOrder extends TransferOrder {
  readonly actor: Actor;
}

export interface Transfer {
  readonly id: string;
  /** Undefined only where an order was refused before its type could be told. */
  readonly transferType: TransferType | undefined;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly status: TransferStatus;
  readonly createdAt: Date;
  readonly failureCode: FailureCode | undefined;
  /** A public sentence beside the failure code. */
  readonly failureDetail: string | undefined;
}

/** What became of an order. All of these are ordinary answers; only a broken service throws. */
export type Outcome =
  | { readonly kind: 'new'; readonly transfer: Transfer }
  /** The same order under the same id: the transfer as it stands. */
  | { readonly kind: 'replayed'; readonly transfer: Transfer }
  /** The id belongs to another order. The fields that differ are told only to who may see that one. */
  | { readonly kind: 'id_reused'; readonly differs: readonly string[] | null }
  /** The amount or currency cannot be; the id is not used up. */
  | { readonly kind: 'malformed'; readonly pointer: string; readonly detail: string };
