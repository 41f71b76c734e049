/**
 * Transfers: initiate, explain, review, types, limits, settle (the batch). Owns the tables transfers, idempotency_keys,
 * pending_transfers, transfer_approvals, transfer_screenings, transfer_sign_ins, proposals, transfer_policies, transfer_limits, limit_keys, limit_counters,
 * limit_uses, contribution_limits, loan_payments and core_instructions.
 *
 * Invariants: an id means one order, for ever; money moves in the same transaction that uses up the id, counts the
 * limits and appends the event; authority and limits are read after the locks; COMPLETED and FAILED are final; a PENDING
 * transfer is held on both accounts, and posts only when it is due or approved, or accepted by the core that keeps the books.
 */
export {
  type DecimalAmount,
  formatMinor,
  type LoanPaymentOption,
  loanPaymentOptions,
  parseDecimalAmount,
  toMinor,
} from '../ledger/index.ts';
export type { AskScreening, ScreenedOrder } from './admission/screen-order.ts';
export { cancelTransfer } from './cancel-transfer.ts';
export type { CoreChange } from './desk/batch-instructions.ts';
export { type PendingFilter, selectInstitutionsToSettle } from './desk/pending-queries.ts';
export { maxAheadMillis } from './desk/settle.ts';
export {
  deskSettings,
  logAhead,
  openTransferDesk,
  type TransferDesk,
  transferLanes,
} from './desk/transfer-desk.ts';
export { consentOfTwo, listProposals } from './dual-control/dual-control.ts';
export type { Proposal } from './dual-control/proposal-queries.ts';
export { type Decision, explainTransfer } from './explain-transfer.ts';
export { getTransfer } from './get-transfer.ts';
export { initiateTransfer } from './initiate-transfer.ts';
export { acceptByEcho } from './instructions/accept-by-echo.ts';
export {
  type CoreOutcome,
  decideInstruction,
  type OutcomeReport,
} from './instructions/decide-instruction.ts';
export { assignFiles, selectFile } from './instructions/file-queries.ts';
export { leaseMillis } from './instructions/lease.ts';
export type { DeliveredInstruction } from './instructions/lease-queries.ts';
export {
  type Exposure,
  endedAmong,
  hasUnleased,
  listOpenInstructions,
  oldestUndelivered,
  selectExposure,
} from './instructions/standing-queries.ts';
export { takeInstructions } from './instructions/take-instructions.ts';
export { expireLimitCounters } from './limits/expire-limit-counters.ts';
export { type LimitSubject, type ShownLimit, selectLimitUse } from './limits/show-limits.ts';
export { listPending } from './list-pending.ts';
export { listTransferOptions, type TransferOptions } from './list-transfer-options.ts';
export { listTransfers, type TransferFilter } from './list-transfers.ts';
export { mostRead, previewRules, type RulesPreview, selectDecidingRules } from './preview/preview-rules.ts';
export { type DecidingRules, ruleOutcomes } from './preview/replay.ts';
export { reverseTransfer } from './reverse-transfer.ts';
export { reviewTransfer } from './review-transfer.ts';
export { derivedIdPrefix } from './rules/accounts/authority.ts';
export { controlsOfColumn } from './rules/controls/controls.ts';
export { periodEndOf, periodStartOf } from './rules/controls/limits.ts';
export { defaultCorePolicy } from './rules/controls/policies.ts';
export { type Screening, type Verdict, verdicts } from './rules/controls/screening.ts';
export {
  type ActOutcome,
  type ExceededLimit,
  failureCodes,
  type Outcome,
  type RepeatedOutcome,
  type Transfer,
  type TransferOrder,
  type TransferStatus,
  type TransferType,
  transferTypes,
} from './rules/transfer.ts';
export { decisions, decisionsOn } from './rules/transition.ts';
export {
  changeBusinessDay,
  fingerprintOfDay,
  LimitKeyTakenError,
  saveTransferRules,
  type TransferRules,
} from './settings/save-transfer-rules.ts';
export { rememberSettings } from './settings/settings.ts';
export { settleDue } from './settle-due.ts';
export { type Check, checkFigures, checkNames, checkOutcomes, checkSources } from './show/checks.ts';
export { type ShownTransfer, showTransfer } from './show/show-transfer.ts';
export type { WaitingReason } from './show/waiting-reasons.ts';
