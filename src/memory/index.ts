/**
 * Answers that were read once and are returned as long as the database says, at each request, that they are still true
 * (ADR 33).
 *
 * Invariants: an answer is used only after a statement that began after its request; it stands on every row that it was
 * made of; nothing is remembered of another connection's time.
 */

export { Basis } from './basis.ts';
export { deleteOldChanges, type LogPosition, selectLogPosition } from './change-queries.ts';
export { ChangeWatch } from './change-watch.ts';
export { type Remembered, ValidatedMemory } from './validated-memory.ts';
