import type { Actor } from '../../institutions/index.ts';
import { supposedApproved } from '../rules/controls/screening.ts';
import { judge } from '../rules/decide.ts';
import type { SubmittedOrder, TransferOrder } from '../rules/transfer.ts';
import { coreStateOf, look } from './settle.ts';
import type { TransferDesk } from './transfer-desk.ts';

/**
 * Judges an order now by the reads and rules of the real one, as if screening approved it. It moves, stores and uses up
 * nothing. `existing` is the transfer that has the order's id.
 */
export async function suppose({ database, deps }: TransferDesk, actor: Actor, order: TransferOrder) {
  const submitted: SubmittedOrder = { ...order, actor, screening: supposedApproved };
  // Before the snapshot: inside it the settings would take a second connection of the pool.
  const settings = await deps.settings(actor.institutionId);
  const core = await coreStateOf(deps, settings);
  return database.snapshot(actor.institutionId, async (tx) => {
    const { existing, ...ground } = await look(deps, tx, {
      settings,
      core,
      actor,
      transferId: order.transferId,
      fromAccountId: order.fromAccountId,
      toAccountIds: [order.toAccountId],
    });
    return { submitted, settings, existing, judgement: judge(submitted, ground), at: ground.facts.at };
  });
}
