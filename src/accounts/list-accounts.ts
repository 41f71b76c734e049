import type { Actor } from '../institutions/index.ts';
import { Basis } from '../memory/index.ts';
import { Problem } from '../shared/problem.ts';
import { isPublicId } from '../shared/public-id.ts';
import type { Database } from '../storage/index.ts';
import type { Account } from './account.ts';
import { askingOf } from './find-account.ts';
import {
  noteAccount,
  selectCustomerAccounts,
  selectHeldAccounts,
  selectHeldCustomerAccounts,
} from './queries.ts';

/**
 * Returns a member's accounts by id: all whose holder record names the member, in any membership. With a `customerId`,
 * returns the result of `listCustomerAccounts`.
 *
 * Throws Problem `invalid_request` if a client sends no `customerId`, and the problems of `listCustomerAccounts`.
 */
export async function listAccounts(
  database: Database,
  actor: Actor,
  customerId?: string,
  basis = Basis.none(actor.institutionId),
): Promise<Account[]> {
  if (customerId !== undefined) return listCustomerAccounts(database, actor, customerId, basis);
  if (actor.kind === 'client') {
    const detail = 'A client token must name the customer whose accounts it wants.';
    throw new Problem('invalid_request', detail, { errors: [{ pointer: 'customerId', detail }] });
  }
  const { institutionId, personKey } = actor;
  basis.add('person', personKey);
  const accounts = await database.read(institutionId, (db) => selectHeldAccounts(db, askingOf(actor)));
  return accounts.map((account) => noteAccount(basis, account));
}

/**
 * Returns the accounts of one membership by id: all of them to a client; to a member, those whose holder record names the
 * member. The list may be empty.
 *
 * Throws Problem `not_found` for a membership that does not exist and, with the same words, for one that the member does not
 * belong to.
 */
export async function listCustomerAccounts(
  database: Database,
  actor: Actor,
  customerId: string,
  basis = Basis.none(actor.institutionId),
): Promise<Account[]> {
  if (actor.kind === 'member') basis.add('person', actor.personKey);
  const found = isPublicId(customerId)
    ? await database.read(actor.institutionId, (db) =>
        actor.kind === 'member'
          ? selectHeldCustomerAccounts(db, askingOf(actor), customerId)
          : selectCustomerAccounts(db, customerId),
      )
    : undefined;
  if (found === undefined) throw new Problem('not_found', 'There is no such customer.');
  basis.add('customer', found.customerKey);
  return found.accounts.map((account) => noteAccount(basis, account));
}
