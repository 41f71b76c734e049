/**
 * The institution's core system: the import of its extracts, its records one by one, and memberships opened at registration if enrollment is open.
 *
 * Invariants: a whole extract is checked before any of it is written; importing it again changes nothing; an account opens with
 * one posting against an internal account of the institution, so that the ledger sums to zero from the first row.
 */
export {
  ExtractRejectedError,
  institutionShape,
  parseFineMoment,
  parseMoment,
  readInstitution,
} from './extract/extract.ts';
export { expectUnique, type Row, readTable } from './extract/extract-table.ts';
export {
  type DateForm,
  dayIn,
  type FileForm,
  formParts,
  MappingError,
  objectOf,
  plainNumber,
  readForm,
  splitDate,
  textsOf,
} from './extract/file-form.ts';
export { type ImportReport, importExtract } from './import/import-extract.ts';
export { type ImportPlan, ImportRefusedError } from './import/import-plan.ts';
export { type Commit, commits } from './import/ranges.ts';
export type { RejectedRow } from './import/reject-queries.ts';
export { internalAccountId, openInternalAccounts, openMissingAccounts } from './internal-accounts.ts';
export { MembershipExistsError, openMembership } from './open-membership.ts';
export { openingsUsedUp, payDueOpening } from './openings.ts';
export type { RecordOutcome } from './records/record-book.ts';
export {
  type RecordLine,
  readRecordLine,
  recordKinds,
} from './records/record-line.ts';
export { reclaimStage, takeRecords } from './records/take-records.ts';
