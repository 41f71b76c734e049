import { appendEvents, type NewEvent } from '../events/index.ts';
import { businessDay, type Institution } from '../institutions/index.ts';
import { Book, type PostingKeys } from '../ledger/index.ts';
import type { Clock, InstitutionId, Transaction } from '../storage/index.ts';
import { type Decision, decide, differences, maySee } from './decide.ts';
import type { Facts } from './facts.ts';
import { DayCounters } from './limits.ts';
import {
  insertLoanPayments,
  insertTransfers,
  type LoanPayment,
  type SeenTransferRow,
  selectAccountFacts,
  selectCountersForUpdate,
  selectHoldings,
  selectLimits,
  selectTransfersById,
  selectUsersOfCustomers,
  type TransferRow,
  updateCounters,
} from './queries.ts';
import type { Outcome, SubmittedOrder } from './transfer.ts';

export interface SettleDeps {
  readonly clock: Clock;
  readonly postingKeys: PostingKeys;
  /** Settings that rarely change; may be a moment old. */
  readonly institution: (institutionId: InstitutionId) => Promise<Institution>;
}

/**
 * A batch of one institution's orders, in the caller's transaction. In this order, always: lock the accounts, lock
 * the counters, only then read (in new statements, which see what others committed while we waited), decide order
 * by order, write with a few set-based statements. The caller commits.
 *
 * Idempotent by transfer id, so it may be run again. With `patient` false it throws AccountsBusy rather than wait.
 */
export async function settle(
  deps: SettleDeps,
  tx: Transaction,
  orders: readonly SubmittedOrder[],
  patient: boolean,
): Promise<Outcome[]> {
  const institution = await deps.institution(tx.institutionId);
  const postingKeys = await deps.postingKeys.take(orders.length);
  const batch = await lockAndRead(deps, tx, orders, institution, patient);
  const { book, counters, facts, used } = batch;

  const outcomes: Outcome[] = [];
  const transfers: TransferRow[] = [];
  const loanPayments: LoanPayment[] = [];
  const events: NewEvent[] = [];
  for (const [index, order] of orders.entries()) {
    const first = used(order);
    if (first !== undefined) {
      outcomes.push(repeated(order, first));
      continue;
    }
    const postingKey = postingKeys[index] as bigint;
    const decision = decide(order, postingKey, facts, book, counters);
    if ('malformed' in decision) {
      outcomes.push({ kind: 'malformed', pointer: decision.pointer, detail: decision.detail });
      continue;
    }
    const transfer = toTransfer(order, postingKey, decision, batch.at);
    batch.remember(transfer);
    transfers.push(transfer);
    if (decision.loanPayment !== null) loanPayments.push(decision.loanPayment);
    events.push(toEvent(transfer, book));
    outcomes.push({ kind: 'new', transfer });
  }

  await Promise.all([
    book.write(batch.at),
    insertTransfers(tx, tx.institutionId, transfers, batch.at),
    insertLoanPayments(tx, tx.institutionId, loanPayments),
    updateCounters(tx, tx.institutionId, counters.changed()),
    appendEvents(tx, tx.institutionId, events, batch.at),
  ]);
  return outcomes;
}

async function lockAndRead(
  deps: SettleDeps,
  tx: Transaction,
  orders: readonly SubmittedOrder[],
  institution: Institution,
  patient: boolean,
) {
  const sources = [...new Set(orders.map((order) => order.fromAccountId))];
  const accountIds = [...new Set([...sources, ...orders.map((order) => order.toAccountId)])];
  const userKeys = new Set<bigint>();
  const personKeys = new Set<bigint>();
  for (const { actor } of orders) {
    if (actor.kind !== 'member') continue;
    userKeys.add(actor.userKey);
    personKeys.add(actor.personKey);
  }
  const asked = orders.map(({ transferId, actor }) => ({ transferId, personKey: personOf(actor) }));
  const lockCounters = (day: string) =>
    selectCountersForUpdate(tx, tx.institutionId, day, [...userKeys], sources);

  // Sent together, run in this order: each statement has a snapshot of its own, taken when the one before is done.
  let day = businessDay(deps.clock(), institution.timeZone);
  const [book, counterRows, accounts, holdings, users, limits, existing] = await Promise.all([
    patient ? Book.lock(tx, accountIds) : Book.lockWithoutWaiting(tx, accountIds),
    lockCounters(day),
    selectAccountFacts(tx, tx.institutionId, accountIds),
    selectHoldings(tx, tx.institutionId, accountIds, [...personKeys]),
    selectUsersOfCustomers(tx, tx.institutionId, accountIds),
    selectLimits(tx, tx.institutionId),
    selectTransfersById(tx, tx.institutionId, asked),
  ]);

  // The batch's time: after the locks, and never before what its accounts have seen.
  let at = batchTime(deps.clock, book);
  let counters = counterRows;
  while (businessDay(at, institution.timeZone) !== day) {
    day = businessDay(at, institution.timeZone);
    counters = await lockCounters(day);
    at = batchTime(deps.clock, book);
  }

  const usedIds = new Map(existing.map((row) => [usedName(row.id, row.personKey), row]));
  const fresh = new Map<string, TransferRow>();
  const facts = factsOf(institution.currency, accounts, holdings, users, limits);
  return {
    at,
    book,
    counters: new DayCounters(counters),
    facts,
    remember: (transfer: TransferRow) => fresh.set(transfer.id, transfer),
    /** The transfer that has the order's id already, from before or from earlier in this batch. */
    used: (order: SubmittedOrder): SeenTransferRow | undefined => {
      const personKey = personOf(order.actor);
      const before = usedIds.get(usedName(order.transferId, personKey));
      if (before !== undefined) return before;
      const now = fresh.get(order.transferId);
      if (now === undefined) return undefined;
      const held = now.fromKey !== null && personKey !== null && facts.holding(now.fromKey, personKey);
      return { ...now, sourceHeld: Boolean(held) };
    },
  };
}

function factsOf(
  defaultCurrency: string,
  accounts: Awaited<ReturnType<typeof selectAccountFacts>>,
  holdings: Awaited<ReturnType<typeof selectHoldings>>,
  users: Awaited<ReturnType<typeof selectUsersOfCustomers>>,
  limits: Facts['limits'],
): Facts {
  const accountsById = new Map(accounts.map((account) => [account.accountId, account]));
  const holdingsByName = new Map(holdings.map((row) => [`${row.accountKey}/${row.personKey}`, row]));
  const usersByCustomer = Map.groupBy(users, (row) => row.customerKey);
  return {
    defaultCurrency,
    limits,
    account: (accountId) => accountsById.get(accountId),
    holding: (accountKey, personKey) => holdingsByName.get(`${accountKey}/${personKey}`),
    usersOf: (customerKey) => new Set(usersByCustomer.get(customerKey)?.map((row) => row.personKey)),
  };
}

function repeated(order: SubmittedOrder, first: SeenTransferRow): Outcome {
  if (!maySee(order.actor, first)) return { kind: 'id_reused', differs: null };
  const differs = differences(order, first);
  return differs.length > 0 ? { kind: 'id_reused', differs } : { kind: 'replayed', transfer: first };
}

function toTransfer(order: SubmittedOrder, transferKey: bigint, decision: Decision, at: Date): TransferRow {
  const failed = decision.failure !== null;
  return {
    transferKey,
    id: order.transferId,
    transferType: decision.transferType,
    fromAccountId: order.fromAccountId,
    toAccountId: order.toAccountId,
    fromKey: decision.from?.accountKey ?? null,
    toKey: decision.to?.accountKey ?? null,
    amountMinor: decision.amountMinor,
    currencyCode: decision.currency,
    status: failed ? 'FAILED' : 'COMPLETED',
    failureCode: decision.failure?.code,
    failureDetail: decision.failure?.detail,
    clientId: order.actor.clientId,
    userKey: order.actor.kind === 'member' ? order.actor.userKey : null,
    createdAt: at,
    settledAt: at,
  };
}

/** Numbered by the entries it made, so that a reader of one account's events sees no gap. */
function toEvent(transfer: TransferRow, book: Book): NewEvent {
  if (transfer.status === 'FAILED') return { kind: 'transfer.failed', subjectKey: transfer.transferKey };
  const from = book.state(transfer.fromAccountId);
  const to = book.state(transfer.toAccountId);
  if (from === undefined || to === undefined) throw new Error('transfers: a transfer outside the book');
  return {
    kind: 'transfer.completed',
    subjectKey: transfer.transferKey,
    fromKey: from.accountKey,
    fromSeq: from.seq,
    toKey: to.accountKey,
    toSeq: to.seq,
  };
}

function batchTime(clock: Clock, book: Book): Date {
  const now = clock();
  const latest = book.latestAt();
  return latest !== undefined && latest > now ? latest : now;
}

function personOf(actor: SubmittedOrder['actor']): bigint | null {
  return actor.kind === 'member' ? actor.personKey : null;
}

function usedName(transferId: string, personKey: bigint | null): string {
  return `${transferId}/${personKey}`;
}
