/**
 * The operators of an institution, with their roles and sessions, and their acts and views that join several modules. The command line and
 * /operations/v1 call the same. Owns operators with their invitations, passkeys, provider and sessions; an act writes everything else through the modules
 * that own it.
 *
 * Invariants: an act leaves an audit entry in its own transaction; an act that changes nothing leaves none; a view of members' data
 * is audited as a read; roles are read at each request; an operator who is not active has no session.
 */

export { demoOperators, listDemoInstitutions, signInToDemo } from './access/demo-sign-in.ts';
export {
  acceptInvitation,
  type EnrollmentPage,
  type Invitation,
  inviteAgain,
  inviteOperator,
  openInvitation,
} from './access/invitations.ts';
export { changeOperator, listOperators } from './access/manage-operators.ts';
export {
  freshSeconds,
  mayUse,
  type OperatorRole,
  operatorRoles,
  type Right,
  rights,
  rightsOf,
} from './access/rights.ts';
export { deleteExpiredSessions as deleteExpiredOperatorSessions } from './access/session-queries.ts';
export {
  findOperator,
  originOf,
  requireRight,
  type SignedInOperator,
  type SignInFrom,
  secondsLeft,
  signOut,
} from './access/sessions.ts';
export { balanceHistory } from './accounts/balance-history.ts';
export { balancesOfTransfer } from './accounts/balances-of-transfer.ts';
export { closeAccount, restrictAccount } from './accounts/change-standing.ts';
export { listEntries } from './accounts/list-entries.ts';
export { type ShownAccount, showAccount } from './accounts/show-account.ts';
export { showPosting } from './accounts/show-posting.ts';
export type { RuleCount } from './alerts/alert-queries.ts';
export { showAlertState } from './alerts/show-alerts.ts';
export {
  type ArchiveStep,
  archiveOldestEvents,
  EventsNeededError,
  leastEventDays,
  openArchiveDatabase,
} from './archive/archive-events.ts';
export type { Need } from './archive/need-queries.ts';
export { exportAuditPage, exportFoundAudit, searchAudit } from './audit/search-audit.ts';
export { openInstructions } from './core/open-instructions.ts';
export { readBreak, readBreaks } from './core/read-breaks.ts';
export type { OperatorDeps } from './deps.ts';
export {
  type AskingDevice,
  answerDevice,
  DeviceError,
  deviceClientId,
  findDevice,
  pollDevice,
  startDevice,
} from './device/device-flow.ts';
export { deleteExpiredDevices } from './device/device-queries.ts';
export {
  selectDatabaseFacts,
  selectInstitutionFacts,
  selectKeyFacts,
  selectReplicationFacts,
  selectSpaceFacts,
} from './doctor/facts.ts';
export { type Finding, ok, problem, warning } from './doctor/finding.ts';
export { judgeIndexBloat, selectLargestIndexes } from './doctor/index-bloat.ts';
export {
  judgeDatabase,
  judgeDisk,
  judgeInstitution,
  judgeKey,
  judgeOtherKey,
  judgeReplication,
  judgeUnseenDisk,
  judgeWork,
} from './doctor/judge.ts';
export { judgeMoves, selectMoveTraces } from './doctor/moves.ts';
export { auditDocument } from './documents/audit-document.ts';
export { breakDocument } from './documents/break-document.ts';
export { institutionDocument, settingsDocument } from './documents/institution-document.ts';
export { limitDocument } from './documents/limit-document.ts';
export {
  findingDocument,
  reconcileRunDocument,
  runWithKindsDocument,
} from './documents/reconcile-document.ts';
export { transferDocument } from './documents/transfer-document.ts';
export { type WaitingAct, waitingActs } from './documents/waiting-acts.ts';
export { proposalDocuments } from './documents/waiting-proposals.ts';
export { tailEvents } from './events/tail-events.ts';
export { searchAnything } from './figures/search-anything.ts';
export { todaysFigures } from './figures/todays-figures.ts';
export { ordersOfAge, waitingAges } from './figures/waiting-ages.ts';
export type { WorkFigures } from './figures/work-figures.ts';
export { calendarOf } from './institutions/calendar-of.ts';
export { changeInstitution } from './institutions/change-institution.ts';
export { createInstitution } from './institutions/create-institution.ts';
export { institutionOf } from './institutions/institution-of.ts';
export {
  changeScreeningRules,
  rotateScreening,
  showScreening,
  switchScreeningOff,
  tryScreening,
} from './institutions/screening.ts';
export { accountsOfClass, ledgerClasses } from './ledger/accounts-of-class.ts';
export { moneyFlows } from './ledger/money-flows.ts';
export { trialBalance } from './ledger/trial-balance.ts';
export { nearLimits } from './limits/near-limits.ts';
export { type LimitsOf, showLimits } from './limits/show-limits.ts';
export { LiveConsoles } from './live/live-consoles.ts';
export type { LiveStream } from './live/stream.ts';
export { eraseMember } from './members/erase-member.ts';
export { type FoundPerson, findMembers, type SearchWay, searchWays } from './members/find-members.ts';
export { type ShownMember, showMember } from './members/show-member.ts';
export {
  addOwnPasskey,
  listOwnPasskeys,
  openOwnPasskeys,
  type PasskeysPage,
  removeOwnPasskey,
} from './passkeys/own-passkeys.ts';
export type { OwnPasskey } from './passkeys/passkey-queries.ts';
export { signInWithPasskey, startPasskeySignIn } from './passkeys/sign-in.ts';
export {
  findOperatorProvider,
  type OperatorProvider,
  removeOperatorProvider,
  setOperatorProvider,
} from './provider/configure-provider.ts';
export type { GroupRoles } from './provider/provider-queries.ts';
export {
  callbackPath,
  finishProviderSignIn,
  redirectUriOf,
  startProviderSignIn,
} from './provider/sign-in.ts';
export { readFindings } from './reconcile/read-findings.ts';
export { countOtherSecrets, resealSecrets } from './secret-key/reseal-secrets.ts';
export { deliveryStates } from './transfers/deliveries.ts';
export { previewTransferRules } from './transfers/preview-rules.ts';
export { type ReadTransfer, readTransfer } from './transfers/read-transfer.ts';
export { searchTransfers, transferOrders } from './transfers/search-transfers.ts';
export { usualOfTransfer } from './transfers/usual-of-transfer.ts';
