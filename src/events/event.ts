/**
 * An event for the institution. `subjectKey` by `kind`:
 * `transfer.completed`, `transfer.pending`, `transfer.failed` a transfer's key; `member.registered`,
 * `member.activated`, `member.activation_requested`, `member.contact_changed`, `member.email_confirmation_requested`, `member.email_confirmed`,
 * `member.password_changed`, `member.password_ended`, `member.new_device`, `member.second_factor_added`,
 * `member.second_factor_removed`, `member.recovery_code_used`, `member.alert_raised`, `consent.granted`, `consent.narrowed`,
 * `consent.ended` a user's key; `account.balance_opened`, `account.balance_adjusted`,
 * `account.posted`, `account.held`, `account.released` an account's key;
 * `core.break_opened`, `core.break_closed` a break's key.
 */
export interface NewEvent {
  readonly kind: string;
  readonly subjectKey: bigint;
  /** The source account, and the number of its entry; `to` is the destination. */
  readonly fromKey?: bigint;
  readonly fromSeq?: bigint;
  readonly toKey?: bigint;
  readonly toSeq?: bigint;
  /** Stored as JSON, so without bigint. */
  readonly data?: object;
  /** Sealed by the vault. Always has an expiry, so that it does not stay forever. */
  readonly secret?: Uint8Array;
  readonly secretExpiresAt?: Date;
}

/** The events that carry a one-time code for a member. */
export type CodeEventKind =
  | 'member.registered'
  | 'member.activation_requested'
  | 'member.email_confirmation_requested';

/** An event that hands over a code, with its sealed secret unless that is deleted. */
export interface CodeEvent {
  readonly eventKey: bigint;
  readonly userKey: bigint;
  readonly secret: Uint8Array | null;
}
