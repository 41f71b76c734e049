import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import { isPublicId } from '../shared/public-id.ts';
import type { Database } from '../storage/index.ts';
import type { Account } from './account.ts';
import { selectCustomerAccounts, selectHeldAccounts, selectHeldCustomerAccounts } from './queries.ts';

/**
 * A member's accounts, in the order of their ids: all whose holder record names them, in whichever membership. With
 * a `customerId` the answer is that of `listCustomerAccounts`.
 *
 * Errors: Problem `invalid_request` when a client does not say whose accounts it wants; else as there.
 */
export async function listAccounts(
  database: Database,
  actor: Actor,
  customerId?: string,
): Promise<Account[]> {
  if (customerId !== undefined) return listCustomerAccounts(database, actor, customerId);
  if (actor.kind === 'client') {
    const detail = 'A client token must name the customer whose accounts it wants.';
    throw new Problem('invalid_request', detail, { errors: [{ pointer: 'customerId', detail }] });
  }
  return database.read(actor.institutionId, (db) => selectHeldAccounts(db, actor.personKey));
}

/**
 * The accounts of one membership, in the order of their ids: to a client all of them, to a member of it those whose
 * holder record names them. There may be none.
 *
 * Errors: Problem `not_found` for a membership that is not there and, in the same words, for one that the member
 * does not belong to.
 */
export async function listCustomerAccounts(
  database: Database,
  actor: Actor,
  customerId: string,
): Promise<Account[]> {
  const accounts = isPublicId(customerId)
    ? await database.read(actor.institutionId, (db) =>
        actor.kind === 'member'
          ? selectHeldCustomerAccounts(db, actor.personKey, customerId)
          : selectCustomerAccounts(db, customerId),
      )
    : undefined;
  if (accounts === undefined) throw new Problem('not_found', 'There is no such customer.');
  return accounts;
}
