import type { Actor } from '../institutions/index.ts';
import { type Database, GroupCommit } from '../storage/index.ts';
import { type SettleDeps, settle } from './settle.ts';
import type { Outcome, SubmittedOrder, TransferOrder } from './transfer.ts';

export type TransferDesk = GroupCommit<SubmittedOrder, Outcome>;

/** Where orders are collected into batches. `ledger` has connections for the lanes alone. */
export function openTransferDesk(ledger: Database, deps: SettleDeps): TransferDesk {
  return new GroupCommit({
    database: ledger,
    lanes: transferLanes,
    maxBatch: 256,
    maxWaiting: 2_048,
    deadlineMillis: 8_000,
    keysOf: (order) => [order.fromAccountId, order.toAccountId, `id ${order.transferId}`],
    run: (tx, orders, patient) => settle(deps, tx, orders, patient),
    membersWhenUnknown: (order) => ({ id: order.transferId }),
  });
}

/** One batch collects while the other commits. */
export const transferLanes = 2;

/** For the desk's connections: plans must not go back to scans on tables that were analysed while empty. */
export const deskSettings = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' } as const;

/**
 * Initiates a transfer: once per id, for ever. Amounts are exact; who may order it is read from holder records.
 *
 * Outcomes are values (see Outcome). Problems: `overloaded` and `database_unavailable` (nothing was or will be
 * written), `outcome_unknown` (repeating the same id is safe), `internal_error` (nothing was written).
 */
export function initiateTransfer(desk: TransferDesk, actor: Actor, order: TransferOrder): Promise<Outcome> {
  return desk.submit(actor.institutionId, { ...order, actor });
}
