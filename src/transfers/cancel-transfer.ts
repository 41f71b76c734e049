import type { Origin } from '../events/index.ts';
import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import { maySee } from './rules/accounts/authority.ts';
import { personOf, type Transfer } from './rules/transfer.ts';
import { selectTransferById } from './transfer-queries.ts';

/**
 * Cancels a pending transfer: its hold is released, and its amount no longer counts against limits. A second cancellation
 * has the same result.
 *
 * Problems: `not_found` (no such transfer, or the caller may not see it), `transfer_final` (it was posted, or failed for
 * another reason), `transfer_with_core` (the core may have carried it out), `account_restricted` (the caller sees it, but may not pay from its source), and those of
 * `initiateTransfer`.
 */
export async function cancelTransfer(
  desk: TransferDesk,
  actor: Actor,
  { transferId, origin }: { readonly transferId: string; readonly origin: Origin },
): Promise<Transfer> {
  const { institutionId } = actor;
  const known = await desk.database.read(institutionId, (db) =>
    selectTransferById(db, transferId, personOf(actor)),
  );
  // Before the accounts are locked, so that the response time does not tell a hidden transfer from none.
  if (known === undefined || !maySee(actor, known)) throw noSuchTransfer();
  const { fromAccountId, toAccountId } = known;
  const act = { kind: 'cancel', actor, origin } as const;
  const order = { kind: 'transition', transferId, fromAccountId, toAccountId, act } as const;
  const outcome = await desk.queue.submit(institutionId, order);
  if (outcome.kind === 'changed') return outcome.transfer;
  if (outcome.kind !== 'unchanged') throw noSuchTransfer();
  if (outcome.why === 'not_allowed') {
    throw new Problem('account_restricted', 'The source account does not allow this caller to pay from it.');
  }
  if (outcome.why === 'with_core') {
    throw new Problem(
      'transfer_with_core',
      "The institution's core system has the transfer, and may have carried it out. Wait for its outcome.",
    );
  }
  if (outcome.transfer.failureCode === 'transfer_cancelled') return outcome.transfer;
  throw new Problem('transfer_final', 'The transfer is no longer pending.');
}

function noSuchTransfer(): Problem {
  return new Problem('not_found', 'There is no such transfer.');
}
