/**
 * Owns the outbox: what happened to transfers and members, written in the same transaction as the change itself,
 * so that an event exists exactly when its change does. And the audit: who came in or was refused, and who changed what
 * of users, clients and keys, from where.
 *
 * Invariants: events are only ever added; nothing of one changes but its secret, which is wiped when it was delivered or has
 * expired. Keys are given out in order of insertion, which is not the order of commits: the feed reads on from a position
 * and stays below the oldest transaction still running. Each change of a member's account is told by one event with the number of
 * the change. Audit entries are only ever added, and hold no secret, no token, and no name that nobody has.
 */
export { appendAudit, auditToAppend, expireAudit, readAudit, whatChanged } from './audit.ts';
export {
  type AuditAction,
  type AuditEntry,
  type AuditFilter,
  auditActions,
  type RecordedAuditEntry,
  wholeService,
} from './audit-entry.ts';
export { AuditTrail } from './audit-trail.ts';
export { beginEpoch, beginEpochAfterRestore, beginEpochsOfTimeline } from './epochs.ts';
export type { CodeEventKind, NewEvent } from './event.ts';
export { eventIdOf } from './event-id.ts';
export { nameOf, namesOf, type Operator, shareAPerson } from './operator.ts';
export { type CommandOrigin, type Origin, ownOrigin } from './origin.ts';
export {
  appendEvents,
  eventsToAppend,
  findCodeEvent,
  wipeExpiredSecrets,
  wipeSecret,
} from './outbox.ts';
