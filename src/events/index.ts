/**
 * Owns the outbox and the audit. The outbox has an event for each change of a transfer or a member, written in the same
 * transaction, so that an event exists exactly if its change does. The audit has sign-ins, refusals and changes of users,
 * clients and keys, with their origin.
 *
 * Invariants: events are append-only, except that a secret is deleted once delivered or expired. Keys follow the order of
 * insertion, not of commits: the feed continues from a position and stays below the oldest running transaction that may write to it. Each
 * change of a member's account has one event, with the number of the change. Audit entries are append-only, chained by hash
 * once they are committed (`chain/`), and hold no secret, no token, and no name that does not exist.
 */
export {
  closePartition,
  dropPartition,
  type EventPartition,
  recordFile,
  selectLines,
  selectOldestPartition,
} from './archive-queries.ts';
export {
  type AuditReading,
  appendAudit,
  auditToAppend,
  eraseAuditPersonal,
  readAudit,
  whatChanged,
} from './audit/audit.ts';
export {
  type AuditAction,
  type AuditEntry,
  type AuditFilter,
  auditActions,
  type RecordedAuditEntry,
  wholeService,
} from './audit/audit-entry.ts';
export { type RuleChange, selectRuleChanges } from './audit/audit-queries.ts';
export { AuditTrail } from './audit/audit-trail.ts';
export { type RecentSignIn, selectRecentSignIns } from './audit/sign-in-queries.ts';
export {
  type AnchorDeps,
  anchorChain,
  openAnchor,
  readAuditPublicKeys,
  resealAuditKeys,
} from './chain/anchors.ts';
export { type Chain, chains } from './chain/canonical.ts';
export { type ExportedEntry, exportAudit } from './chain/export-audit.ts';
export { maintainAudit } from './chain/maintain-audit.ts';
export { changeAuditRetention, leastRetention, pruneAudit, readAuditRetention } from './chain/retention.ts';
export type { AuditRetention } from './chain/retention-queries.ts';
export { sealAudit } from './chain/seal-audit.ts';
export { type ChainVerdict, type OutsideAnchor, verifyChain } from './chain/verify-chain.ts';
export { insertEpochOfMove, selectTimeline } from './epoch-queries.ts';
export { beginEpoch, beginEpochAfterRestore, beginEpochsOfTimeline } from './epochs.ts';
export type { CodeEventKind, NewEvent } from './event.ts';
export { eventIdOf, placeOf } from './event-id.ts';
export { markEventNumbers } from './event-numbers.ts';
export { nameOf, namesOf, type Operator, shareAPerson } from './operator.ts';
export { type CommandOrigin, type Origin, ownOrigin } from './origin.ts';
export {
  appendEvents,
  eraseMemberEvents,
  eventsToAppend,
  findCodeEvent,
  wipeExpiredSecrets,
  wipeSecret,
} from './outbox.ts';
export { writeEventsOf } from './queries.ts';
export { makeEventPartitions, selectInstitutionsToMaintain } from './work-queries.ts';
