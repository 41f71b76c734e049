import { type Actor, localDate } from '../institutions/index.ts';
import { Book, type PostingKeys } from '../ledger/index.ts';
import type { Clock, Transaction } from '../storage/index.ts';
import { Batch, type Ground, personOf } from './batch.ts';
import { taxYearStart } from './decide.ts';
import type { Facts } from './facts.ts';
import {
  type CounterScope,
  selectCounters,
  selectCountersForUpdate,
  selectLimits,
  selectLimitUses,
} from './limit-queries.ts';
import { CounterNotLocked, Counters } from './limits.ts';
import { selectLoanPayments } from './loan-queries.ts';
import { selectPending } from './pending-queries.ts';
import {
  selectAccountFacts,
  selectHoldings,
  selectReversedKeys,
  selectTransfersById,
  selectUsersOfCustomers,
} from './queries.ts';
import type { ReadSettings, TransferSettings } from './settings.ts';
import type { ActOutcome, DeskOrder, Outcome } from './transfer.ts';

export interface SettleDeps {
  readonly clock: Clock;
  readonly postingKeys: PostingKeys;
  /** May be a moment old. */
  readonly settings: ReadSettings;
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
  orders: readonly DeskOrder[],
  patient: boolean,
): Promise<(Outcome | ActOutcome)[]> {
  const settings = await deps.settings(tx.institutionId);
  const postingKeys = await deps.postingKeys.take(orders.length);
  for (let tries = 1; ; tries += 1) {
    const batch = new Batch(await lockAndRead(deps, tx, orders, settings, patient));
    try {
      const outcomes = orders.map((order, index) => batch.take(order, postingKeys[index] as bigint));
      await batch.write(tx);
      return outcomes;
    } catch (error) {
      // What the counters are locked by was changed before it was read. Nothing is written yet: once more.
      if (!(error instanceof CounterNotLocked) || tries === triesOfABatch) throw error;
    }
  }
}

const triesOfABatch = 3;

/**
 * Everything that a judgement needs, as it stands now: for who only wants to know what would be. Nothing is locked and
 * nothing is written.
 */
export async function look(
  deps: SettleDeps,
  tx: Transaction,
  asked: {
    readonly actor: Actor;
    readonly transferId: string | null;
    readonly fromAccountId: string;
    readonly toAccountIds: readonly string[];
  },
) {
  const settings = await deps.settings(tx.institutionId);
  const { timeZone } = settings.institution;
  const { actor, transferId, fromAccountId, toAccountIds } = asked;
  const accountIds = [...new Set([fromAccountId, ...toAccountIds])];
  const countersOf = (day: string) => {
    const years = [false, true].flatMap((previousYear) =>
      toAccountIds.map((accountId) => ({ accountId, start: taxYearStart(day, previousYear) })),
    );
    return selectCounters(tx, tx.institutionId, {
      day,
      userKeys: actor.kind === 'member' ? [actor.userKey] : [],
      sourceIds: [fromAccountId],
      destinationIds: years.map(({ accountId }) => accountId),
      taxYearStarts: years.map(({ start }) => start),
      changingIds: [],
    });
  };
  const now = deps.clock();
  const today = localDate(now, timeZone);
  const [book, todays, read] = await Promise.all([
    Book.look(tx, accountIds),
    countersOf(today),
    readFacts(
      tx,
      accountIds,
      [actor],
      transferId === null ? [] : [{ transferId, personKey: personOf(actor) }],
    ),
  ]);
  // An account may have seen a later day than our clock says: then an order would count for that one.
  const at = batchTime(now, book);
  const day = localDate(at, timeZone);
  const counters = day === today ? todays : await countersOf(day);
  return {
    book,
    counters: new Counters(counters),
    facts: factsOf(settings, at, read),
    existing: read.existing[0],
  };
}

async function lockAndRead(
  deps: SettleDeps,
  tx: Transaction,
  orders: readonly DeskOrder[],
  settings: TransferSettings,
  patient: boolean,
): Promise<Ground> {
  const accountIds = [...new Set(orders.flatMap((order) => [order.fromAccountId, order.toAccountId]))];
  const initiations = orders.filter((order) => order.kind === 'initiate');
  const actors = orders.flatMap((order) => actorOf(order) ?? []);
  const changingIds = orders.flatMap((order) => {
    if (order.kind === 'initiate') return [];
    return order.kind === 'transition' ? [order.transferId] : [order.originalId];
  });
  const asked = orders.flatMap((order) => {
    const personKey = personOf(actorOf(order));
    const ids = order.kind === 'reverse' ? [order.transferId, order.originalId] : [order.transferId];
    return ids.map((transferId) => ({ transferId, personKey }));
  });
  const scopeOf = (day: string): CounterScope => ({
    day,
    userKeys: [...new Set(actors.flatMap((actor) => (actor.kind === 'member' ? [actor.userKey] : [])))],
    sourceIds: [...new Set(initiations.map((order) => order.fromAccountId))],
    destinationIds: initiations.map((order) => order.toAccountId),
    taxYearStarts: initiations.map((order) => taxYearStart(day, order.previousYearContribution === true)),
    changingIds,
  });
  const { timeZone } = settings.institution;
  const lockCounters = (day: string) => selectCountersForUpdate(tx, tx.institutionId, scopeOf(day));

  // Sent together, run in this order: each statement has a snapshot of its own, taken when the one before is done.
  let day = localDate(deps.clock(), timeZone);
  const [book, counterRows, read, changing] = await Promise.all([
    patient ? Book.lock(tx, accountIds) : Book.lockWithoutWaiting(tx, accountIds),
    lockCounters(day),
    readFacts(tx, accountIds, actors, asked),
    changingIds.length > 0 ? readChanging(tx, changingIds) : nothingChanging,
  ]);

  // The batch's time: after the locks, and never before what its accounts have seen.
  let at = batchTime(deps.clock(), book);
  let counters = counterRows;
  while (localDate(at, timeZone) !== day) {
    day = localDate(at, timeZone);
    counters = await lockCounters(day);
    at = batchTime(deps.clock(), book);
  }
  return {
    book,
    counters: new Counters(counters),
    facts: factsOf(settings, at, read),
    existing: read.existing,
    ...changing,
  };
}

/** What only acts on earlier transfers need. */
async function readChanging(tx: Transaction, changingIds: readonly string[]) {
  const [pending, uses, paymentsOf, reversedKeys] = await Promise.all([
    selectPending(tx, tx.institutionId, changingIds),
    selectLimitUses(tx, tx.institutionId, changingIds),
    selectLoanPayments(tx, tx.institutionId, changingIds),
    selectReversedKeys(tx, tx.institutionId, changingIds),
  ]);
  return { pending, uses, paymentsOf, reversedKeys };
}

const nothingChanging: Awaited<ReturnType<typeof readChanging>> = {
  pending: [],
  uses: [],
  paymentsOf: new Map(),
  reversedKeys: new Set(),
};

async function readFacts(
  tx: Transaction,
  accountIds: readonly string[],
  actors: readonly Actor[],
  asked: readonly { readonly transferId: string; readonly personKey: bigint | null }[],
) {
  const personKeys = [...new Set(actors.flatMap((actor) => personOf(actor) ?? []))];
  const [accounts, holdings, users, limits, existing] = await Promise.all([
    selectAccountFacts(tx, tx.institutionId, accountIds),
    selectHoldings(tx, tx.institutionId, accountIds, personKeys),
    selectUsersOfCustomers(tx, tx.institutionId, accountIds),
    selectLimits(tx, tx.institutionId),
    selectTransfersById(tx, tx.institutionId, asked),
  ]);
  return { accounts, holdings, users, limits, existing };
}

function factsOf(
  settings: TransferSettings,
  at: Date,
  { accounts, holdings, users, limits }: Awaited<ReturnType<typeof readFacts>>,
): Facts {
  const accountsById = new Map(accounts.map((account) => [account.accountId, account]));
  const holdingsByName = new Map(holdings.map((row) => [`${row.accountKey}/${row.personKey}`, row]));
  const usersByCustomer = Map.groupBy(users, (row) => row.customerKey);
  return {
    settings,
    at,
    day: localDate(at, settings.institution.timeZone),
    limits,
    account: (accountId) => accountsById.get(accountId),
    holding: (accountKey, personKey) => holdingsByName.get(`${accountKey}/${personKey}`),
    usersOf: (customerKey) => new Set(usersByCustomer.get(customerKey)?.map((row) => row.personKey)),
  };
}

function batchTime(now: Date, book: Book): Date {
  const latest = book.latestAt();
  return latest !== undefined && latest > now ? latest : now;
}

function actorOf(order: DeskOrder): Actor | undefined {
  if (order.kind === 'initiate') return order.actor;
  return order.kind === 'transition' && order.act.kind === 'cancel' ? order.act.actor : undefined;
}
