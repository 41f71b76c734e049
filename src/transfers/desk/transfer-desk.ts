import type { Actor } from '../../institutions/index.ts';
import type { Database, InstitutionId, Transaction } from '../../storage/index.ts';
import type { ActOutcome, DeskOrder, Outcome } from '../rules/transfer.ts';
import { BatchQueue } from './batch-queue.ts';
import { BatchExplainer, type BatchReport } from './explain-batch.ts';
import { type SettleDeps, settle } from './settle.ts';

/** Takes every order that moves money. The queue collects orders into batches; a batch is one transaction. */
export interface TransferDesk {
  /** For the reads before an order and beside it; the queue has connections of its own. */
  readonly database: Database;
  readonly deps: SettleDeps;
  readonly queue: BatchQueue<DeskOrder, Outcome | ActOutcome>;
}

/** `ledger` has one connection for each lane, and no other. `explain` receives a report of each run of a batch. */
export function openTransferDesk(
  ledger: Database,
  { database, ...deps }: SettleDeps & Pick<TransferDesk, 'database'>,
  explain?: (report: BatchReport) => void,
): TransferDesk {
  const explainer = explain && new BatchExplainer<DeskOrder>(explain);
  const run = (tx: Transaction, orders: readonly DeskOrder[], patient: boolean) =>
    settle(deps, tx, { orders, patient });
  const queue = new BatchQueue<DeskOrder, Outcome | ActOutcome>({
    database: ledger,
    lanes: transferLanes,
    maxBatch: 256,
    maxWaiting: 2_048,
    deadlineMillis: 8_000,
    callerOf: clientOf,
    // If a transfer and an account share an id, two orders wait for each other without need.
    keysOf: (order) => [
      order.fromAccountId,
      order.toAccountId,
      order.transferId,
      ...(order.kind === 'reverse' ? [order.originalId] : []),
    ],
    prepare: deps.settings,
    run: explainer?.around(run) ?? run,
    onSubmit: explainer && ((order) => explainer.submitted(order)),
    onceSent: withoutToken,
    membersWhenUnknown: (order) => ({ id: order.transferId }),
  });
  return { database, deps, queue };
}

/** The order may have been committed while its token was active, so the token is not read again. */
function withoutToken(order: DeskOrder): DeskOrder {
  const without = (actor: Actor) => ({ ...actor, token: undefined });
  if (order.kind === 'initiate') return { ...order, actor: without(order.actor) };
  if (order.kind !== 'transition') return order;
  if ('token' in order.act) return { ...order, act: { ...order.act, token: undefined } };
  if (order.act.kind !== 'cancel') return order;
  return { ...order, act: { ...order.act, actor: without(order.act.actor) } };
}

/** The caller whose share of the queue an order takes. Due transfers and operators' acts have one share together. */
export function clientOf(order: DeskOrder): string {
  if (order.kind === 'initiate') return order.actor.clientId;
  return order.kind === 'transition' && order.act.kind === 'cancel' ? order.act.actor.clientId : '';
}

/** Logs accounts ahead of the clock, at most once a minute for an institution. */
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

/** For the desk's connections: no plan may scan a table that was empty when it was analyzed. */
export const deskSettings = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off' } as const;
