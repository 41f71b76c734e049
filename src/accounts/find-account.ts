import type { Actor } from '../institutions/index.ts';
import { isPublicId } from '../shared/public-id.ts';
import type { Queryable } from '../storage/index.ts';
import type { Category } from './account-types.ts';
import { selectAccountKey } from './queries.ts';

/** What must be known of an account to read its history. */
export interface FoundAccount {
  readonly accountKey: bigint;
  readonly category: Category;
  readonly currency: string;
  readonly creditLimit: bigint;
}

/** Undefined for an account that is not there, and for one that the caller may not see. */
export async function findAccount(
  db: Queryable,
  actor: Actor,
  accountId: string,
): Promise<FoundAccount | undefined> {
  if (!isPublicId(accountId)) return undefined;
  return selectAccountKey(db, actor.kind === 'member' ? actor.personKey : null, accountId);
}
