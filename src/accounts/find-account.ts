import { type Actor, coveredKeys, type MemberActor } from '../institutions/index.ts';
import { isPublicId } from '../shared/public-id.ts';
import type { Queryable } from '../storage/index.ts';
import { type AskingPerson, type FoundAccount, selectAccount } from './queries.ts';

export function askingOf(actor: MemberActor): AskingPerson {
  return { personKey: actor.personKey, coveredKeys: coveredKeys(actor) };
}

/** Undefined for an account that does not exist, and for one that the caller may not see. */
export async function findAccount(
  db: Queryable,
  actor: Actor,
  accountId: string,
): Promise<FoundAccount | undefined> {
  if (!isPublicId(accountId)) return undefined;
  return selectAccount(db, actor.kind === 'member' ? askingOf(actor) : null, accountId);
}
