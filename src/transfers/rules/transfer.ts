import type { CommandOrigin, Origin } from '../../events/index.ts';
import type { Actor, PresentedToken } from '../../institutions/index.ts';
import type { DecimalAmount, LoanPaymentOption, TransferStatus, TransferType } from '../../ledger/index.ts';
import type { FailureCode } from '../../shared/failure-codes.ts';
import type { Screening } from './controls/screening.ts';
import type { OrderSignIn } from './controls/step-up.ts';

export { type TransferStatus, type TransferType, transferTypes } from '../../ledger/index.ts';
export { type FailureCode, failureCodes } from '../../shared/failure-codes.ts';

/** A caller's order. The id is the idempotency key, chosen by the caller or made at the edge. */
export interface TransferOrder {
  readonly transferId: string;
  /** The id was derived from an `Idempotency-Key` of this caller. */
  readonly isIdDerived?: true;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amount: DecimalAmount;
  /** Null: the currency of the source account. */
  readonly currencyCode: string | null;
  /** Null: derived from the accounts. */
  readonly transferType: TransferType | null;
  /** For a LOAN_PAYMENT; null: DEFAULT. */
  readonly paymentOption: LoanPaymentOption | null;
  /** For an IRA_CONTRIBUTION; null: it counts for the current year. */
  readonly previousYearContribution: boolean | null;
  /** A line of text that both sides see; null without one. */
  readonly memo: string | null;
}

/** An order with its caller. */
export interface SubmittedOrder extends TransferOrder {
  readonly actor: Actor;
  /** The verdict of the institution's screening, if it was asked. */
  readonly screening?: Screening | undefined;
  /** The sign-in behind it, where the institution wants recent ones. */
  readonly signIn?: OrderSignIn | undefined;
}

/** An act on a pending transfer. */
export type Act =
  | { readonly kind: 'cancel'; readonly actor: Actor; readonly origin: Origin }
  | {
      readonly kind: 'approve' | 'decline';
      readonly origin: CommandOrigin;
      readonly statedReason?: string | undefined;
    }
  /** The transfer is due: it posts or expires by the terms of its hold. */
  | { readonly kind: 'due' }
  | CoreAct;

/** The outcome of an instruction, as the core reports it. */
export type CoreAct = {
  /** A connector reports as a client, an operator by a file. */
  readonly clientId: string | null;
  /** Checked behind the locks; undefined if an operator reports. */
  readonly token?: PresentedToken | undefined;
  readonly origin: Origin;
} & (
  | { readonly kind: 'core_accepted'; readonly coreReference: string | null }
  | {
      readonly kind: 'core_rejected';
      readonly code: string;
      readonly reason: string | null;
      /** The id of the transfer that takes the money back, if it has moved. */
      readonly reversalId: string;
    }
);

/** An order in the queue of batches. Its accounts never change, so they can be locked before it is read. */
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
      /** The id of the new transfer. */
      readonly transferId: string;
      readonly originalId: string;
      readonly fromAccountId: string;
      readonly toAccountId: string;
      readonly statedReason?: string | undefined;
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
  /** With `limit_exceeded`, if it was read with the transfer. */
  readonly exceededLimit?: ExceededLimit | null;
  /** The transfer that this one takes back, if the caller may see it; and the one that takes this one back. */
  readonly reverses?: string | null;
  readonly reversedBy?: string | null;
}

/** The limit that an order would exceed, as far as the caller may know it. */
export interface ExceededLimit {
  /** Transfers of one subject count together. */
  readonly subject: 'USER' | 'CUSTOMER' | 'ACCOUNT';
  /** TRANSFER bounds each transfer alone. */
  readonly period: 'TRANSFER' | 'DAY' | 'MONTH';
  /** The most that a transfer may move until `resetsAt`. Null: transfers that the caller may not see count as well. */
  readonly remainingMinor: bigint | null;
  /** The end of the period; null: never. */
  readonly resetsAt: Date | null;
}

/** The result of an order. All of these are ordinary results; a failure of the service throws instead. */
export type Outcome =
  /** Stored under its id. If the caller may not see the source, it is FAILED and nothing is stored. */
  | {
      readonly kind: 'new';
      readonly transfer: Transfer;
      /** PENDING only until the core reports an outcome. */
      readonly awaitsCore?: boolean;
    }
  /** The id repeats with the same order: the transfer in its present state. */
  | { readonly kind: 'replayed'; readonly transfer: Transfer }
  /** The id belongs to another order. `differs` is null if the caller may not see that order. */
  | { readonly kind: 'id_reused'; readonly differs: readonly string[] | null }
  /** The amount, the currency or the id is invalid. The id stays free. */
  | { readonly kind: 'malformed'; readonly pointer: string; readonly detail: string };

/** The result of a dry run is never a new transfer. */
export type RepeatedOutcome = Exclude<Outcome, { readonly kind: 'new' }>;

/** The result of an act on a pending transfer, or of a reversal. */
export type ActOutcome =
  | { readonly kind: 'changed'; readonly transfer: Transfer }
  /** Nothing changed: the reason, and the transfer in its present state. */
  | { readonly kind: 'unchanged'; readonly why: Unchanged; readonly transfer: Transfer }
  /** No such transfer, or the caller may not see it. */
  | { readonly kind: 'unknown' };

export type Unchanged =
  /** COMPLETED or FAILED already. */
  | 'final'
  /** The transfer is not due yet. */
  | 'not_due'
  /** This person has approved it already; another person must. */
  | 'approved_before'
  /** Still pending: another person must approve it too. */
  | 'waits_for_approval'
  /** Still pending: enough persons have approved it, and it posts at its processing time. */
  | 'waits_for_time'
  /** Still pending: the core has to carry it out. */
  | 'waits_for_core'
  /** Still pending, and no approval is needed: for its processing time, or for the core. */
  | 'not_in_review'
  /** An operator has locked or deactivated the user who ordered it: it does not post by the clock. */
  | 'orderer_shut_out'
  /** The caller sees the transfer, but may not pay from its source. */
  | 'not_allowed'
  /** Only a completed transfer that is not a reversal, and was not reversed, can be reversed. */
  | 'not_reversible'
  /** The core may be carrying it out: only its outcome ends the transfer. */
  | 'with_core'
  /** The core has reported this outcome before. */
  | 'decided_so'
  /** The core has reported the other outcome before, or the instruction was withdrawn. */
  | 'decided_otherwise';

/** The person behind a member's token; null for a client. */
export function personOf(actor: Actor | undefined): bigint | null {
  return actor?.kind === 'member' ? actor.personKey : null;
}
