/**
 * Reconciliation: reads the tables of every module, writes none of them, and reports each row that breaks a rule. Owns the tables
 * reconcile_runs, reconcile_results and reconcile_findings.
 *
 * Invariants: every check reads from one snapshot; a check that finds nothing needs a bounded amount of memory at any size
 * of the tables; a run is kept with its findings and its checkpoint, or not at all, and never changes.
 */
export { type Checkpoint, findCheckpoint } from './checkpoint-queries.ts';
export { type Finding, KeptFindings } from './finding.ts';
export { type FindingKind, findingKinds, kindsOfFindings } from './finding-kinds.ts';
export { findRun, listFindings, listRuns, type RunWithKinds } from './read-runs.ts';
export { reconcile } from './reconcile.ts';
export { reconcileChanges } from './reconcile-changes.ts';
export { insertRun, recordRun } from './record-run.ts';
export { expireRuns, type KeptFinding, type ReconcileRun, selectLastRun } from './run-queries.ts';
