import type { Actor } from '../institutions/index.ts';
import { Problem } from '../problem.ts';
import type { Database } from '../storage/index.ts';
import type { Account } from './account.ts';
import { membershipExists, selectAccount, selectCustomerAccounts, selectHeldAccounts } from './queries.ts';

/** Problem `not_found` for one that does not exist and, alike, for one the caller may not see. */
export async function getAccount(database: Database, actor: Actor, accountId: string): Promise<Account> {
  const account = await database.read(actor.institutionId, (db) =>
    selectAccount(db, actor.institutionId, accountId, personOf(actor)),
  );
  if (account === undefined) throw new Problem('not_found', 'There is no such account.');
  return account;
}

/**
 * A member's accounts: all whose holder record names them, in whichever membership. A client names whose by
 * `customerId` (else Problem `invalid_request`).
 */
export async function listAccounts(
  database: Database,
  actor: Actor,
  customerId: string | undefined,
): Promise<Account[]> {
  if (customerId !== undefined) return listCustomerAccounts(database, actor, customerId);
  if (actor.kind === 'client') {
    throw new Problem('invalid_request', 'A client token must name whose accounts it wants.', {
      errors: [{ pointer: 'customerId', detail: 'Required with a client token.' }],
    });
  }
  return database.read(actor.institutionId, (db) =>
    selectHeldAccounts(db, actor.institutionId, actor.personKey),
  );
}

/**
 * The accounts of one membership; of a member's own only those they hold. Problem `not_found` for a membership that
 * does not exist and, alike, for one the caller does not belong to.
 */
export async function listCustomerAccounts(
  database: Database,
  actor: Actor,
  customerId: string,
): Promise<Account[]> {
  return database.read(actor.institutionId, async (db) => {
    const [exists, accounts] = await Promise.all([
      membershipExists(db, actor.institutionId, customerId, personOf(actor)),
      selectCustomerAccounts(db, actor.institutionId, customerId, personOf(actor)),
    ]);
    if (!exists) throw new Problem('not_found', 'There is no such customer.');
    return accounts;
  });
}

function personOf(actor: Actor): bigint | undefined {
  return actor.kind === 'member' ? actor.personKey : undefined;
}
