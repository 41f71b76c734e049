import { findAccount } from '../accounts/index.ts';
import { type Actor, coveredKeys, type Institution, instantsOf, type Period } from '../institutions/index.ts';
import { type Page, type PageRequest, type Position, pageOf } from '../shared/page.ts';
import type { InstitutionId, Queryable, Reads } from '../storage/index.ts';
import {
  classesOf,
  type ListedTransfer,
  type ListWanted,
  selectTransfersOfAccount,
  selectTransfersOfInstitution,
  selectTransfersOfMember,
  selectTransfersOfMemberAndAccount,
  selectTransfersWithinConsent,
} from './list-queries.ts';
import { asSeen } from './rules/accounts/authority.ts';
import type { Transfer, TransferStatus, TransferType } from './rules/transfer.ts';

/** The filters of a list. A null one lets every transfer through. */
export interface TransferFilter {
  /** Transfers from this account or to it. */
  readonly accountId: string | null;
  readonly transferType: TransferType | null;
  readonly status: TransferStatus | null;
  /** The period of the orders. */
  readonly created: Period;
}

export interface ListDeps {
  readonly database: Reads;
  readonly institution: (institutionId: InstitutionId) => Promise<Institution>;
}

/**
 * Lists the transfers that the caller may see, newest first: for a client those of its institution, for a member their own
 * orders and, unless they failed, the transfers from accounts that they hold. The list of a missing or hidden account is
 * empty. A page may be short if the member may not see many of an account's transfers.
 *
 * A position is the time of an order in milliseconds and its transfer key. Problem `invalid_request`: a period that ends
 * before it starts.
 */
export async function listTransfers(
  deps: ListDeps,
  actor: Actor,
  { filter, page }: { readonly filter: TransferFilter; readonly page: PageRequest },
): Promise<Page<Transfer>> {
  const { institutionId } = actor;
  const { start, end } = instantsOf(filter.created, (await deps.institution(institutionId)).timeZone);
  const [millis, key] = page.after ?? [];
  const wanted: ListWanted = {
    classes: classesOf(filter.status, filter.transferType),
    start,
    before:
      millis !== undefined && key !== undefined
        ? { at: new Date(Number(millis)), key }
        : end && { at: end, key: 0n },
    // One row more than the page shows whether a next page exists.
    limit: page.limit + 1,
  };
  return deps.database.read(institutionId, async (db) => {
    const { rows, lookedUpTo } = await selectRows(db, actor, { ...wanted, accountId: filter.accountId });
    const { items, next } = pageOf(rows, page.limit, (row) => asSeen(actor, row), positionOf);
    return { items, next: next ?? (lookedUpTo && positionOf(lookedUpTo)) };
  });
}

/** The rows, and the last candidate if more may follow than were looked at. */
async function selectRows(
  db: Queryable,
  actor: Actor,
  { accountId, ...wanted }: ListWanted & Pick<TransferFilter, 'accountId'>,
): Promise<{ readonly rows: readonly ListedTransfer[]; readonly lookedUpTo: ListedTransfer | null }> {
  const all = (rows: readonly ListedTransfer[]) => ({ rows, lookedUpTo: null });
  const covered = coveredKeys(actor);
  if (accountId === null) {
    if (actor.kind === 'client') return all(await selectTransfersOfInstitution(db, wanted));
    return all(
      await (covered === null
        ? selectTransfersOfMember(db, actor, wanted)
        : selectTransfersWithinConsent(db, { ...actor, covered }, wanted)),
    );
  }
  const account = await findAccount(db, actor, accountId);
  if (account === undefined) return all([]);
  const { accountKey } = account;
  return actor.kind === 'client'
    ? all(await selectTransfersOfAccount(db, accountKey, wanted))
    : selectTransfersOfMemberAndAccount(db, { ...actor, accountKey, covered }, wanted);
}

function positionOf({ createdAt, transferKey }: ListedTransfer): Position {
  return [BigInt(createdAt.getTime()), transferKey];
}
