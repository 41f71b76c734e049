/**
 * Reads of history from standbys of the primary (ADR 70). Owns no table.
 *
 * Invariants: a standby answers only after it said, over the same connection, that it is a standby of the primary's timeline and has
 * replayed the position that the primary named after the request arrived; nothing is written to a standby; a standby
 * that does not answer costs its callers no more than the time until its connections end.
 */
export { isUnfit, Standby, type StandbyState, standbyStates } from './standby.ts';
export { Standbys } from './standbys.ts';
