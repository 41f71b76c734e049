import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Database } from '../storage/index.ts';
import { selectTransfersById } from './queries.ts';
import { maySee } from './rules/decide.ts';
import type { Transfer } from './rules/transfer.ts';

/** Problem `not_found` for one that does not exist and, alike, for one the caller may not see. */
export async function getTransfer(database: Database, actor: Actor, transferId: string): Promise<Transfer> {
  const personKey = actor.kind === 'member' ? actor.personKey : null;
  const [transfer] = await database.read(actor.institutionId, (db) =>
    selectTransfersById(db, actor.institutionId, [{ transferId, personKey }]),
  );
  if (transfer === undefined || !maySee(actor, transfer)) {
    throw new Problem('not_found', 'There is no such transfer.');
  }
  return transfer;
}
