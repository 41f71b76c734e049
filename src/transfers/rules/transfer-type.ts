import type { Actor } from '../../institutions/index.ts';
import type { AccountFacts } from './accounts/account.ts';
import type { Facts } from './facts.ts';
import type { TransferType } from './transfer.ts';

/** The type of a transfer between two accounts. The destination decides first. */
export function deriveTransferType(
  { actor, from, to }: { readonly actor: Actor; readonly from: AccountFacts; readonly to: AccountFacts },
  facts: Facts,
): TransferType {
  if (to.diAccountType === 'RETIREMENT_IRA') return 'IRA_CONTRIBUTION';
  if (to.category === 'LOAN' || to.category === 'CREDIT') return 'LOAN_PAYMENT';
  if (from.customerKey === to.customerKey) return 'STANDARD';
  const [fromUsers, toUsers] = [facts.usersOf(from.customerKey), facts.usersOf(to.customerKey)];
  // One user belongs to both memberships. For a member that must be the member: others' memberships stay hidden.
  const isCrossMember =
    actor.kind === 'member'
      ? fromUsers.has(actor.personKey) && toUsers.has(actor.personKey)
      : !fromUsers.isDisjointFrom(toUsers);
  return isCrossMember ? 'CROSS_MEMBER' : 'INTRA_FI';
}
