import type { Actor } from '../../institutions/index.ts';
import type { AccountFacts } from './account.ts';
import type { Facts } from './facts.ts';
import type { TransferType } from './transfer.ts';

/** The type of a transfer between two accounts. The destination decides first. */
export function deriveTransferType(
  actor: Actor,
  from: AccountFacts,
  to: AccountFacts,
  facts: Facts,
): TransferType {
  if (to.diAccountType === 'RETIREMENT_IRA') return 'IRA_CONTRIBUTION';
  if (to.category === 'LOAN' || to.category === 'CREDIT') return 'LOAN_PAYMENT';
  if (from.customerKey === to.customerKey) return 'STANDARD';
  return isCrossMember(actor, from.customerKey, to.customerKey, facts) ? 'CROSS_MEMBER' : 'INTRA_FI';
}

/**
 * Whether one user belongs to both memberships. For a member that must be the member: the memberships of other people stay
 * hidden.
 */
function isCrossMember(actor: Actor, fromCustomer: bigint, toCustomer: bigint, facts: Facts): boolean {
  const fromUsers = facts.usersOf(fromCustomer);
  const toUsers = facts.usersOf(toCustomer);
  if (actor.kind === 'member') return fromUsers.has(actor.personKey) && toUsers.has(actor.personKey);
  return !fromUsers.isDisjointFrom(toUsers);
}
