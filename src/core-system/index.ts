/**
 * What the institution's core knows: people, memberships, accounts and who holds them, brought in by extracts, and
 * memberships opened on the spot where enrollment is open.
 *
 * Invariants: an extract is checked whole before any of it is written; importing twice changes nothing; an account
 * opens with one posting against the institution's own accounts, so that the ledger sums to zero from the first row.
 */
export { ExtractRejected, parseMoment } from './extract.ts';
export { expectUnique, type Row, readTable } from './extract-table.ts';
export { importExtract } from './import-extract.ts';
export { type ImportPlan, ImportRefused } from './import-plan.ts';
export type { Change } from './merge-queries.ts';
export { MembershipExists, openMembership } from './open-membership.ts';
export { openingsUsedUp, payDueOpening } from './openings.ts';
export { findMembership, type MembershipPerson } from './queries.ts';
