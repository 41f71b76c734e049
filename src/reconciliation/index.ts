/**
 * Reconciliation: reads the tables of every module, writes none, and reports each row that breaks a rule.
 *
 * Invariants: every check reads from one snapshot; a check that finds nothing needs a bounded amount of memory at any size
 * of the tables.
 */
export { type Finding, reconcile } from './reconcile.ts';
