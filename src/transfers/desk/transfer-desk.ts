import type { Actor } from '../../institutions/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import type { ActOutcome, DeskOrder, Outcome } from '../rules/transfer.ts';
import { GroupCommit } from './group-commit.ts';
import { type SettleDeps, settle } from './settle.ts';

/** Where everything that moves money is brought: collected into batches, each one transaction. */
export interface TransferDesk {
  readonly deps: SettleDeps;
  readonly queue: GroupCommit<DeskOrder, Outcome | ActOutcome>;
}

/** `ledger` has connections for the lanes alone. */
export function openTransferDesk(ledger: Database, deps: SettleDeps): TransferDesk {
  const queue = new GroupCommit<DeskOrder, Outcome | ActOutcome>({
    database: ledger,
    lanes: transferLanes,
    maxBatch: 256,
    maxWaiting: 2_048,
    deadlineMillis: 8_000,
    callerOf: clientOf,
    // An id of a transfer that is also one of an account makes two orders wait for each other, and no more.
    keysOf: (order) => [
      order.fromAccountId,
      order.toAccountId,
      order.transferId,
      ...(order.kind === 'reverse' ? [order.originalId] : []),
    ],
    run: (tx, orders, patient) => settle(deps, tx, orders, patient),
    onceSent: withoutToken,
    membersWhenUnknown: (order) => ({ id: order.transferId }),
  });
  return { deps, queue };
}

/** A token that was active when the order was decided does not end what may be done already. */
function withoutToken(order: DeskOrder): DeskOrder {
  const without = (actor: Actor) => ({ ...actor, token: undefined });
  if (order.kind === 'initiate') return { ...order, actor: without(order.actor) };
  if (order.kind !== 'transition' || order.act.kind !== 'cancel') return order;
  return { ...order, act: { ...order.act, actor: without(order.act.actor) } };
}

/** Whose share of the queue an order takes. Transfers that come due, and operators' acts, share one of their own. */
export function clientOf(order: DeskOrder): string {
  if (order.kind === 'initiate') return order.actor.clientId;
  return order.kind === 'transition' && order.act.kind === 'cancel' ? order.act.actor.clientId : '';
}

/** Logs accounts ahead of the clock, once a minute for an institution at most. */
export function logAhead(log: (event: string, details: object) => void): NonNullable<SettleDeps['onAhead']> {
  const loggedAt = new Map<InstitutionId, number>();
  return (institutionId, accounts, now) => {
    const since = performance.now() - (loggedAt.get(institutionId) ?? Number.NEGATIVE_INFINITY);
    if (since < aheadPauseMillis) return;
    loggedAt.set(institutionId, performance.now());
    log('accounts_ahead_of_clock', {
      institutionId,
      accounts: accounts.slice(0, mostNamed).map(({ accountId }) => accountId),
      seconds: Math.round(
        (Math.max(...accounts.map(({ lastAt }) => lastAt.getTime())) - now.getTime()) / 1000,
      ),
    });
  };
}

const aheadPauseMillis = 60_000;
const mostNamed = 10;

/** Batches under way at once, each on a connection of its own (ADR 12). */
export const transferLanes = 3;

/** For the desk's connections: plans must not go back to scans on tables that were analysed while empty. */
export const deskSettings = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' } as const;
