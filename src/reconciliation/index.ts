/**
 * Reconciliation: reads the tables of every module, writes none of them, and reports each row that breaks a rule. Owns the table
 * reconcile_runs.
 *
 * Invariants: every check reads from one snapshot; a check that finds nothing needs a bounded amount of memory at any size
 * of the tables.
 */
export type { Finding } from './ask-checks.ts';
export { type Checkpoint, findCheckpoint } from './checkpoint-queries.ts';
export { reconcile } from './reconcile.ts';
export { reconcileChanges } from './reconcile-changes.ts';
export { insertRun, recordRun, selectLastRun } from './record-run.ts';
