import type { Origin } from '../../events/index.ts';
import type { Actor } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { suppose } from '../desk/suppose.ts';
import type { TransferDesk } from '../desk/transfer-desk.ts';
import { mayUseId } from '../rules/accounts/authority.ts';
import { isScreened, type Screening } from '../rules/controls/screening.ts';
import type { TransferOrder, TransferType } from '../rules/transfer.ts';

/** An order as the institution's screening sees it. */
export interface ScreenedOrder {
  readonly transferId: string;
  readonly transferType: TransferType;
  readonly fromAccountId: string;
  readonly toAccountId: string;
  readonly amountMinor: bigint;
  readonly currencyCode: string;
  readonly memo: string | null;
  /** Source and destination belong to different memberships. */
  readonly isBetweenMembers: boolean;
  readonly clientId: string;
  /** The member who orders it; null for a client of the institution. */
  readonly userId: string | null;
  readonly origin: Pick<Origin, 'transactionId' | 'address'>;
}

/** Asks the institution for its verdict. Never rejects: an order without an answer gets the verdict of the policy. */
export type AskScreening = (institutionId: InstitutionId, order: ScreenedOrder) => Promise<Screening>;

/**
 * The verdict of the institution's screening on an order; undefined for one that it does not screen. Only an order that would
 * pass is asked about, so nobody learns of accounts that its caller may not use. Locks nothing while it waits.
 */
export async function screenOrder(
  desk: TransferDesk,
  actor: Actor,
  { order, origin }: { readonly order: TransferOrder; readonly origin: Origin },
): Promise<Screening | undefined> {
  const { settings, askScreening } = desk.deps;
  if (askScreening === undefined) return undefined;
  const { screening } = await settings(actor.institutionId);
  if (screening === null) return undefined;
  const { existing, submitted, judgement, ...supposed } = await suppose(desk, actor, order);
  if (existing !== undefined || !mayUseId(submitted, supposed.settings.idPrefixes)) return undefined;
  if ('malformed' in judgement || judgement.failure !== null || !isScreened(screening, judgement))
    return undefined;
  const { transferType, from, to, amountMinor, currency } = judgement;
  if (transferType === undefined) return undefined;
  const { transferId, fromAccountId, toAccountId, memo } = order;
  return askScreening(actor.institutionId, {
    ...{ transferId, transferType, fromAccountId, toAccountId, amountMinor, memo, origin },
    currencyCode: currency,
    isBetweenMembers: from?.customerKey !== to?.customerKey,
    clientId: actor.clientId,
    userId: actor.kind === 'member' ? actor.userId : null,
  });
}
