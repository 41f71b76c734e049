/**
 * Something that happened, to be told to the institution. `kind` and what it is about (`subjectKey`):
 * `transfer.completed`, `transfer.pending`, `transfer.failed` a transfer's key; `member.registered`,
 * `member.activated`, `member.contact_changed`, `member.email_confirmation_requested`, `member.email_confirmed`,
 * `member.password_changed`, `member.password_ended` a user's key; `account.balance_opened`, `account.balance_adjusted`
 * an account's key.
 */
export interface NewEvent {
  readonly kind: string;
  readonly subjectKey: bigint;
  /** The account paid from, and the number of the entry that the change made there; likewise to. */
  readonly fromKey?: bigint;
  readonly fromSeq?: bigint;
  readonly toKey?: bigint;
  readonly toSeq?: bigint;
  /** Kept as JSON: no bigint in it. */
  readonly data?: object;
  /** Sealed by the vault; never comes without its expiry, or it would stay for ever. */
  readonly secret?: Uint8Array;
  readonly secretExpiresAt?: Date;
}

/** The events that a one-time code for a member goes with. */
export type CodeEventKind = 'member.registered' | 'member.email_confirmation_requested';

/** Such an event, and the sealed secret that still goes with it. */
export interface CodeEvent {
  readonly eventKey: bigint;
  readonly userKey: bigint;
  readonly secret: Uint8Array | null;
}
