import { isDeepStrictEqual } from 'node:util';
import type { Database, InstitutionId, Queryable, Write } from '../storage/index.ts';
import { deleteOldAudit, insertAudit, selectAudit } from './audit-queries.ts';
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

/** Appends one entry for a change, in the change's own transaction: the one does not stand without the other. */
export function appendAudit(tx: Queryable, entry: AuditEntry, at: Date): Promise<void> {
  return appendAuditEntries(tx, [{ ...entry, at, times: 1 }]);
}

/** In one statement, which fails when not each of them was written. */
export async function appendAuditEntries(db: Queryable, entries: readonly TimedAuditEntry[]): Promise<void> {
  for (const { statement, values } of auditToAppend(db.institutionId, entries)) {
    await db.query(statement, values);
  }
}

/** The same as a write, for a transaction that sends its writes with COMMIT; none without entries. */
export function auditToAppend(
  institutionId: InstitutionId,
  entries: readonly TimedAuditEntry[],
): readonly Write[] {
  return entries.length > 0 ? [insertAudit(institutionId, entries)] : [];
}

/** What a change replaced and what it put there: the members in which the two differ. Undefined: there is none. */
export function whatChanged<Kept extends object>(
  before: Kept | undefined,
  after: Kept | undefined,
): Pick<AuditEntry, 'before' | 'after'> {
  const names = Object.keys({ ...before, ...after }) as (keyof Kept)[];
  const differing = names.filter((name) => !isDeepStrictEqual(before?.[name], after?.[name]));
  const only = (kept: Kept | undefined) =>
    kept && Object.fromEntries(differing.map((name) => [name, kept[name]]));
  return { before: only(before), after: only(after) };
}

const pageLength = 1_000;

/** What fits, oldest first, read a page at a time. */
export async function* readAudit(
  database: Database,
  institutionId: InstitutionId,
  filter: AuditFilter,
): AsyncGenerator<RecordedAuditEntry> {
  let after: RecordedAuditEntry | undefined;
  for (;;) {
    const page = await database.read(institutionId, (db) => selectAudit(db, filter, after, pageLength));
    yield* page;
    after = page.at(-1);
    if (page.length < pageLength) return;
  }
}

const forgottenAtATime = 5_000;

/** Forgets what is older than `before`, some thousands at a time, but nothing of the last 90 days. Answers how many. */
export function expireAudit(db: Queryable, before: Date): Promise<number> {
  return deleteOldAudit(db, before, forgottenAtATime);
}
