import type { InstitutionId } from '../../storage/index.ts';
import type { Origin } from '../origin.ts';

/** The audited acts: a noun, and the verb of the act. */
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
  'user.password_proven',
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
  'client.certificate_added',
  'client.certificate_removed',
  'key.created',
  'key.retired',
  'secret_key.resealed',
  'token.revoked',
  'authorization.granted',
  'consent.granted',
  'consent.narrowed',
  'consent.ended',
  'session.ended',
  'logout.not_accepted',
  'passkey.added',
  'passkey.removed',
  'authenticator.added',
  'authenticator.removed',
  'recovery_codes.created',
  'recovery_code.used',
  'user.second_factor_removed',
  'provider.added',
  'provider.changed',
  'provider.removed',
  'webhook.created',
  'webhook.changed',
  'webhook.rotated',
  'webhook.pinged',
  'webhook.replayed',
  'webhook.deleted',
  'webhook.disabled',
  'alert.preferences_changed',
  'alert.marked',
  'alert.mail_stopped',
  'mail.configured',
  'mail.stopped',
  'mail.suppressed',
  'mail.suppression_lifted',
  'rate_limit',
  'transfer.id_conflict',
  'transfer.approved',
  'transfer.declined',
  'transfer.cancelled',
  'transfer.reversal_proposed',
  'transfer.reversal_confirmed',
  'transfer.reversed',
  'transfer.core_rejected',
  'transfer.rules_proposed',
  'transfer.rules_confirmed',
  'transfer.rules_changed',
  'transfer.rules_previewed',
  'user.contact_changed',
  'core.exported',
  'core.acknowledged',
  'core.balances_compared',
  'core.break_changed',
  'core.adjustment_proposed',
  'core.adjustment_confirmed',
  'core.break_adjusted',
  'screening.changed',
  'screening.rotated',
  'screening.tested',
  'screening.removed',
  'institution.changed',
  'institution.clock_moved',
  'institution.left',
  'institution.arrived',
  'institution.move_undone',
  'institution.move_confirmed',
  'institution.move_reconciled',
  'cell.changed',
  'import.started',
  'import.finished',
  'core.transactions_begun',
  'core.transactions_taken',
  'core.records_begun',
  'core.records_taken',
  'events.archived',
  'events.closed',
  'events.epoch_begun',
  'schema.migrated',
  'database.backed_up',
  'database.restored',
  'institution.created',
  'person.searched',
  'person.read',
  'user.sessions_ended',
  'account.read',
  'account.restricted',
  'account.unrestricted',
  'account.closed',
  'audit.read',
  'audit.exported',
  'audit.anchored',
  'audit.pruned',
  'audit.retention_changed',
  'events.read',
  'person.erased',
  'transfer.read',
  'operator.added',
  'operator.invited',
  'operator.passkey_added',
  'operator.device_decided',
  'operator.provider_changed',
  'operator.provider_removed',
  'operator.passkey_removed',
  'operator.changed',
  'operator.signed_in',
  'operator.signed_out',
  'operator.refused',
] as const;
export type AuditAction = (typeof auditActions)[number];

/**
 * The acts of the chain `access`: sign-ins, refusals and reads. There are many of them, and they may be pruned after a
 * year or so. Every other act stands in the chain `changes`, which is kept for years (docs/audit.md).
 */
export const accessActions: ReadonlySet<string> = new Set<AuditAction>([
  'login',
  'client_token',
  'token_request',
  'user.password_proven',
  'user.activation_code_read',
  'user.email_code_read',
  'rate_limit',
  'transfer.id_conflict',
  'audit.read',
  'person.searched',
  'person.read',
  'account.read',
  'events.read',
  'transfer.read',
  'transfer.rules_previewed',
  'operator.signed_in',
  'operator.signed_out',
  'operator.refused',
]);

/** Contains no secret, no token and no text of a caller that matched nothing. */
export interface AuditEntry {
  readonly action: AuditAction;
  readonly outcome: 'succeeded' | 'refused';
  /** The reason of a refusal, or the manner of an act: a word of the service, never input. */
  readonly reason?: string | undefined;
  /** The words of the operator. They may name a person. */
  readonly statedReason?: string | undefined;
  readonly origin: Origin;
  readonly clientId?: string | undefined;
  readonly userId?: string | undefined;
  /** The object of the act if it is neither a client nor a user: the id of a key or a token. */
  readonly subject?: string | undefined;
  /** Keyed hash, 32 bytes, of a name that does not exist: it may be a mistyped password. */
  readonly nameHash?: Uint8Array | undefined;
  /**
   * The replaced and the new values of a deliberate change; only members that differ. JSON, so a bigint becomes text.
   * Personal data of members stays out: it stands in `personal`.
   */
  readonly before?: object | undefined;
  readonly after?: object | undefined;
  /** Values of members that the act replaced and wrote. They are erased with the member, and the chain still verifies. */
  readonly personal?: { readonly before?: object; readonly after?: object } | undefined;
}

export interface TimedAuditEntry extends AuditEntry {
  readonly at: Date;
  /** The number of equal entries that this one counts. */
  readonly times: number;
}

/**
 * The institution id of entries of the service as a whole: refusals before the institution was known, and acts that belong
 * to none. No institution has this id.
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
  /** The name or the id of an operator, the system user of a command, or its SUDO_USER. */
  readonly operator?: string | undefined;
  readonly subject?: string | undefined;
}
