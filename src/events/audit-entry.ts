import type { InstitutionId } from '../storage/index.ts';
import type { Origin } from './origin.ts';

/** What is audited: the noun, and what was done to it. */
export const auditActions = [
  'login',
  'client_token',
  'token_request',
  'user.registered',
  'user.activated',
  'user.locked',
  'user.unlocked',
  'user.deactivated',
  'user.reactivated',
  'user.password_set',
  'user.password_changed',
  'user.password_ended',
  'user.activation_code_issued',
  'user.activation_code_read',
  'user.activation_code_delivered',
  'user.email_code_issued',
  'user.email_code_read',
  'user.email_code_delivered',
  'user.email_confirmed',
  'client.created',
  'client.changed',
  'client.secret_added',
  'client.secret_removed',
  'client.key_added',
  'client.key_removed',
  'key.created',
  'key.retired',
  'token.revoked',
  'provider.added',
  'provider.changed',
  'provider.removed',
  'rate_limit',
  'transfer.id_conflict',
  'transfer.approved',
  'transfer.declined',
  'transfer.cancelled',
  'transfer.reversal_proposed',
  'transfer.reversal_confirmed',
  'transfer.reversed',
  'transfer.rules_proposed',
  'transfer.rules_confirmed',
  'transfer.rules_changed',
  'user.contact_changed',
  'institution.changed',
  'institution.clock_moved',
  'import.started',
  'import.finished',
  'events.epoch_begun',
  'schema.migrated',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** Never a secret, a token, or anything that a caller typed and that was not found. */
export interface AuditEntry {
  readonly action: AuditAction;
  readonly outcome: 'succeeded' | 'refused';
  /** Why it was refused, or how it was done: a word of our own, never input. */
  readonly reason?: string | undefined;
  readonly origin: Origin;
  readonly clientId?: string | undefined;
  readonly userId?: string | undefined;
  /** What it was done to, where that is neither client nor user: a key's or a token's id. */
  readonly subject?: string | undefined;
  /** Keyed hash, 32 bytes, of a name that nobody has: it may be a mistyped password. */
  readonly nameHash?: Uint8Array | undefined;
  /**
   * What a change on purpose replaced and what it put there: only members that differ. JSON, so a bigint is written as text.
   * A member's personal data stays out: there the names of the changed fields are enough.
   */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
}

export interface TimedAuditEntry extends AuditEntry {
  readonly at: Date;
  /** How many alike it stands for. */
  readonly times: number;
}

/**
 * Stands where an institution's id does, for entries of the service as a whole: what was refused before an institution
 * was known, and what belongs to none. No institution has it.
 */
export const wholeService = 0 as InstitutionId;

export interface RecordedAuditEntry extends TimedAuditEntry {
  readonly auditKey: bigint;
}

export interface AuditFilter {
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  readonly action?: AuditAction | undefined;
  readonly outcome?: 'succeeded' | 'refused' | undefined;
  readonly clientId?: string | undefined;
  readonly userId?: string | undefined;
  readonly nameHash?: Uint8Array | undefined;
  /** An address, or a network in CIDR notation. */
  readonly network?: string | undefined;
  readonly transactionId?: string | undefined;
}
