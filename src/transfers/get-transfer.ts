import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Database } from '../storage/index.ts';
import { asSeen, maySee } from './rules/accounts/authority.ts';
import { personOf, type Transfer } from './rules/transfer.ts';
import { selectTransferById } from './transfer-queries.ts';

/** Problem `not_found` if there is no such transfer or, alike, if the caller may not see it. */
export async function getTransfer(database: Database, actor: Actor, transferId: string): Promise<Transfer> {
  const transfer = await database.read(actor.institutionId, (db) =>
    selectTransferById(db, transferId, personOf(actor)),
  );
  if (transfer === undefined || !maySee(actor, transfer)) {
    throw new Problem('not_found', 'There is no such transfer.');
  }
  return asSeen(actor, transfer);
}
