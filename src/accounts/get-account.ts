import type { Actor } from '../institutions/index.ts';
import { Basis } from '../memory/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Database } from '../storage/index.ts';
import type { Account } from './account.ts';
import { findAccount } from './find-account.ts';
import { noteAccount } from './queries.ts';

/**
 * Returns one account: to a member if its holder record names them, to a client if it belongs to the client's institution.
 *
 * Throws Problem `not_found` for an account that does not exist and, with the same words, for one that the caller may not
 * see.
 */
export async function getAccount(
  database: Database,
  actor: Actor,
  accountId: string,
  basis = Basis.none(actor.institutionId),
): Promise<Account> {
  const found = await database.read(actor.institutionId, (db) => findAccount(db, actor, accountId));
  if (found === undefined) throw new Problem('not_found', 'There is no such account.');
  return noteAccount(basis, found);
}
