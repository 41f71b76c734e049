import type { InstitutionId } from '../storage/index.ts';
import { firstPosition, type PendingPosition, selectDue } from './desk/pending-queries.ts';
import { businessNow } from './desk/settle.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';

const dueAtOnce = 256;

/**
 * Posts or expires the pending transfers of an institution that are due. Any process may, at any time: each is an order like
 * others, and the second of two processes changes nothing. The sweep goes on behind an order that fails; the next sweep tries
 * that one again. Returns the number of changed transfers; throws if a fault left none changed.
 */
export async function settleDue(
  desk: TransferDesk,
  institutionId: InstitutionId,
  atOnce = dueAtOnce,
): Promise<number> {
  const act = { kind: 'due' } as const;
  let changed = 0;
  let failed: PromiseRejectedResult | undefined;
  for (let after: PendingPosition | undefined = firstPosition; after !== undefined; ) {
    const position: PendingPosition = after;
    const due = await desk.database.read(institutionId, (db) =>
      selectDue(db, { now: businessNow(desk.deps, institutionId), after: position, most: atOnce }),
    );
    const results = await Promise.allSettled(
      due.map(({ transferId, fromAccountId, toAccountId }) =>
        desk.queue.submit(institutionId, { kind: 'transition', transferId, fromAccountId, toAccountId, act }),
      ),
    );
    for (const result of results) {
      if (result.status === 'rejected') failed ??= result;
      else if (result.value.kind === 'changed') changed += 1;
    }
    after = due.length < atOnce ? undefined : due.at(-1);
  }
  if (failed !== undefined && changed === 0) throw failed.reason;
  return changed;
}
