/** From where something was asked for. */
export interface Origin {
  /** Under which the caller, the log and the audit know it. */
  readonly transactionId: string;
  /** The caller's; null for the command line and for what the service does by itself. */
  readonly address: string | null;
}
