import { type Actor, type BusinessTime, localDate, type PresentedToken } from '../../institutions/index.ts';
import { type AccountState, Book, type PostingKeys } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, InstitutionId, Transaction } from '../../storage/index.ts';
import { selectCounters, selectCountersForUpdate } from '../limits/counter-queries.ts';
import { selectLimits } from '../limits/limit-queries.ts';
import { selectLimitUses } from '../limits/usage-queries.ts';
import type { AccountFacts } from '../rules/account.ts';
import { taxYearStart } from '../rules/decide.ts';
import type { Facts, TransferSettings } from '../rules/facts.ts';
import {
  type CounterName,
  CounterNotLockedError,
  Counters,
  contributionKey,
  countersOf,
  distinct,
  type Limit,
} from '../rules/limits.ts';
import { type ActOutcome, type DeskOrder, type Outcome, personOf } from '../rules/transfer.ts';
import type { ReadSettings } from '../settings/settings.ts';
import { selectIdempotencyKeys, selectReversedKeys, selectTransfersById } from '../transfer-queries.ts';
import {
  selectAccountFacts,
  selectDetails,
  selectMembershipsOf,
  selectUsersOfCustomers,
} from './account-queries.ts';
import { Batch, type Ground } from './batch.ts';
import { OrdersRefusedError } from './group-commit.ts';
import { selectLoanPayments } from './loan-payment-queries.ts';
import { selectPending } from './pending-queries.ts';

/**
 * Clocks of processes differ by less than this. A process whose clock had jumped wrote an account that is further ahead.
 */
export const maxAheadMillis = 60_000;

export interface SettleDeps {
  readonly clock: Clock;
  /** By which the institution does business; left out, that is the clock. The audit goes by the clock. */
  readonly businessTime?: BusinessTime;
  readonly postingKeys: PostingKeys;
  /** May be a moment old. */
  readonly settings: ReadSettings;
  /** Those of the tokens that are no longer active. */
  readonly inactiveTokens: (
    tx: Transaction,
    tokens: readonly PresentedToken[],
  ) => Promise<ReadonlySet<PresentedToken>>;
  /** Called with a batch's accounts that have seen a time more than `maxAheadMillis` after the clock's. */
  readonly onAhead?: (institutionId: InstitutionId, accounts: readonly AccountState[], now: Date) => void;
}

/**
 * A batch of one institution's orders, in the caller's transaction. In this order, always: lock the accounts; only
 * then read about them and their people (in new statements, which see what others committed while we waited), and
 * which orders are `confirmed`; so learn which counters to lock; decide those that are confirmed, order by order; write
 * with a few set-based statements, COMMIT right behind them.
 *
 * Idempotent by transfer id, so it may be run again. With `patient` false it throws AccountsBusyError rather than wait.
 */
export async function settle(
  deps: SettleDeps,
  tx: Transaction,
  orders: readonly DeskOrder[],
  patient: boolean,
): Promise<(Outcome | ActOutcome)[]> {
  const settings = await deps.settings(tx.institutionId);
  const postingKeys = await deps.postingKeys.take(orders.length);
  let limits = settings.recentLimits;
  for (let tries = 1; ; tries += 1) {
    const ground = await lockAndRead(deps, tx, orders, settings, limits, patient);
    const batch = new Batch(ground);
    let outcomes: (Outcome | ActOutcome)[];
    try {
      outcomes = orders.map((order, index) => batch.take(order, postingKeys[index] as bigint));
    } catch (error) {
      // What the counters are locked by was changed before it was read. Nothing is written yet: once more.
      if (!(error instanceof CounterNotLockedError) || tries === triesOfABatch) throw error;
      limits = ground.facts.limits;
      continue;
    }
    await tx.commitWith(batch.writes(tx.institutionId));
    return outcomes;
  }
}

/** The present of an institution. */
export function businessNow({ clock, businessTime }: SettleDeps, institutionId: InstitutionId): Date {
  const now = clock();
  return businessTime?.(institutionId, now) ?? now;
}

const triesOfABatch = 4;

/**
 * Everything that a judgement needs, as it stands now: for who only wants to know what would be. Nothing is locked and
 * nothing is written.
 */
export async function look(
  deps: SettleDeps,
  tx: Transaction,
  settings: TransferSettings,
  asked: {
    readonly actor: Actor;
    readonly transferId: string | null;
    readonly fromAccountId: string;
    readonly toAccountIds: readonly string[];
  },
) {
  const now = businessNow(deps, tx.institutionId);
  const { actor, transferId, fromAccountId, toAccountIds } = asked;
  const accountIds = [...new Set([fromAccountId, ...toAccountIds])];
  const [book, read, existing, limits] = await Promise.all([
    Book.look(tx, accountIds),
    readAccounts(tx, accountIds),
    selectTransfersById(tx, transferId === null ? [] : [{ transferId, personKey: personOf(actor) }]),
    selectLimits(tx),
  ]);
  const account = byId([...read.accounts, ...(await detailsOf(tx, read.accounts))]);
  const at = now;
  const day = localDate(at, settings.institution.timeZone);
  const needed = [undefined, ...toAccountIds].flatMap((toAccountId) =>
    [false, true].flatMap((previousYear) =>
      countersNeeded({ actor, fromAccountId, toAccountId, previousYear }, account, limits, day),
    ),
  );
  const names = distinct(needed);
  const [people, counters] = await Promise.all([
    readPeople(tx, [actor], read.accounts),
    selectCounters(tx, names),
  ]);
  const { holding } = read;
  const facts = { settings, at, day, limits, account, holding, ...people };
  return { book, counters: new Counters(counters, names), facts, existing: existing[0] };
}

/** What an order may count against: the limits of who pays and, paid into an IRA, the yearly one of its owner. */
function countersNeeded(
  order: {
    readonly actor: Actor;
    readonly fromAccountId: string;
    readonly toAccountId: string | undefined;
    readonly previousYear: boolean;
  },
  account: Facts['account'],
  limits: readonly Limit[],
  day: string,
): CounterName[] {
  const from = account(order.fromAccountId);
  const to = order.toAccountId === undefined ? undefined : account(order.toAccountId);
  const names = from === undefined ? [] : countersOf(limits, order.actor, from, day);
  if (to === undefined || !isIra(to) || to.owner === null) return names;
  const periodStart = taxYearStart(day, order.previousYear);
  return [...names, { limitKey: contributionKey, subjectKey: to.owner.personKey, periodStart }];
}

function isIra({ diAccountType }: AccountFacts): boolean {
  return diAccountType === 'RETIREMENT_IRA';
}

async function lockAndRead(
  deps: SettleDeps,
  tx: Transaction,
  orders: readonly DeskOrder[],
  settings: TransferSettings,
  recentLimits: readonly Limit[],
  patient: boolean,
): Promise<Ground> {
  const accountIds = [...new Set(orders.flatMap((order) => [order.fromAccountId, order.toAccountId]))];
  const changingIds = orders.flatMap((order) => {
    if (order.kind === 'initiate') return [];
    return order.kind === 'transition' ? [order.transferId] : [order.originalId];
  });
  const asked = orders.flatMap((order) => {
    const personKey = personOf(actorOf(order));
    const ids = order.kind === 'reverse' ? [order.transferId, order.originalId] : [order.transferId];
    return ids.map((transferId) => ({ transferId, personKey }));
  });
  // Sent together, run in this order: each statement has a snapshot of its own, taken when the one before is done.
  const tokens = [...new Set(orders.flatMap((order) => actorOf(order)?.token ?? []))];
  const [book, read, used, changing, inactive] = await Promise.all([
    patient ? Book.lock(tx, accountIds) : Book.lockWithoutWaiting(tx, accountIds),
    readAccounts(tx, accountIds),
    selectIdempotencyKeys(
      tx,
      asked.map((one) => one.transferId),
    ),
    changingIds.length > 0 ? readChanging(tx, changingIds) : nothingChanging,
    tokens.length > 0 ? deps.inactiveTokens(tx, tokens) : noTokens,
  ]);

  requireActiveTokens(orders, inactive);
  // After the locks. What an account has seen later moves no order to another day: only its entries are dated by it.
  const at = businessNow(deps, tx.institutionId);
  if (deps.onAhead !== undefined) {
    const ahead = book.seenAfter(new Date(at.getTime() + maxAheadMillis));
    if (ahead.length > 0) deps.onAhead(tx.institutionId, ahead, at);
  }
  const day = localDate(at, settings.institution.timeZone);
  const owned = byId([...read.accounts, ...(await detailsOf(tx, read.accounts.filter(isIra)))]);
  const needed = orders.flatMap((order) => {
    if (order.kind !== 'initiate') return [];
    const previousYear = order.previousYearContribution === true;
    return countersNeeded({ ...order, previousYear }, owned, recentLimits, day);
  });
  const names = distinct([...needed, ...changing.usages]);
  // Who belongs to which memberships matters between two of them; most pay within their own.
  const between = orders.filter(
    ({ fromAccountId, toAccountId }) => owned(fromAccountId)?.customerKey !== owned(toAccountId)?.customerKey,
  );
  const actors = between.flatMap((order) => actorOf(order) ?? []);
  // Behind the counters' locks what they were found by: an operator, or the core, may have changed it before or while we
  // waited. What counts elsewhere now is not locked, and the batch reads anew.
  const [counters, people, limits, details, existing] = await Promise.all([
    selectCountersForUpdate(tx, names),
    readPeople(tx, actors, read.accounts),
    selectLimits(tx),
    detailsOf(tx, read.accounts),
    selectTransfersById(
      tx,
      asked.filter((one) => used.has(one.transferId)),
    ),
  ]);
  const account = byId([...read.accounts, ...details]);
  const facts = { settings, at, day, account, holding: read.holding, limits, ...people };
  const auditedAt = deps.clock();
  return { book, counters: new Counters(counters, names), facts, auditedAt, existing, ...changing };
}

/** OrdersRefusedError for those whose callers' tokens are inactive; the queue runs the others again. */
function requireActiveTokens(orders: readonly DeskOrder[], inactive: ReadonlySet<PresentedToken>): void {
  if (inactive.size === 0) return;
  const refused = orders.filter((order) => {
    const token = actorOf(order)?.token;
    return token !== undefined && inactive.has(token);
  });
  const refusal = new Problem('invalid_token', 'The access token is not active any more.');
  throw new OrdersRefusedError(new Set(refused), refusal);
}

const noTokens: ReadonlySet<PresentedToken> = new Set();

/** What only acts on earlier transfers need. */
async function readChanging(tx: Transaction, changingIds: readonly string[]) {
  const [pending, usages, paymentsOf, reversedKeys] = await Promise.all([
    selectPending(tx, changingIds),
    selectLimitUses(tx, changingIds),
    selectLoanPayments(tx, changingIds),
    selectReversedKeys(tx, changingIds),
  ]);
  return { pending, usages, paymentsOf, reversedKeys };
}

const nothingChanging: Awaited<ReturnType<typeof readChanging>> = {
  pending: [],
  usages: [],
  paymentsOf: new Map(),
  reversedKeys: new Set(),
};

async function readAccounts(tx: Transaction, accountIds: readonly string[]) {
  const { accounts, holdings } = await selectAccountFacts(tx, accountIds);
  const holders = Map.groupBy(holdings, (row) => row.accountKey);
  const holding: Facts['holding'] = (accountKey, personKey) =>
    holders.get(accountKey)?.find((row) => row.personKey === personKey);
  return { accounts, holding };
}

/** What only loans and IRAs have. Most batches are of neither, and ask nothing. */
function detailsOf(tx: Transaction, accounts: readonly AccountFacts[]): Promise<AccountFacts[]> {
  const detailed = accounts.filter((account) => account.category !== 'DEPOSIT' || isIra(account));
  return selectDetails(tx, detailed);
}

function byId(accounts: readonly AccountFacts[]): Facts['account'] {
  const known = new Map(accounts.map((account) => [account.accountId, account]));
  return (accountId) => known.get(accountId);
}

/** Who of those who order belongs to which memberships. To a client the users of the accounts' memberships matter. */
async function readPeople(
  tx: Transaction,
  actors: readonly Actor[],
  accounts: readonly AccountFacts[],
): Promise<Pick<Facts, 'usersOf'>> {
  const personKeys = [...new Set(actors.flatMap((actor) => personOf(actor) ?? []))];
  const ordersByClient = actors.some((actor) => actor.kind === 'client');
  const customerKeys = ordersByClient ? [...new Set(accounts.map((account) => account.customerKey))] : [];
  const [memberships, users] = await Promise.all([
    selectMembershipsOf(tx, personKeys),
    selectUsersOfCustomers(tx, customerKeys),
  ]);
  const usersByCustomer = new Map<bigint, Set<bigint>>();
  for (const { customerKey, personKey } of [...memberships, ...users]) {
    const known = usersByCustomer.get(customerKey);
    if (known === undefined) usersByCustomer.set(customerKey, new Set([personKey]));
    else known.add(personKey);
  }
  return { usersOf: (customerKey) => usersByCustomer.get(customerKey) ?? nobody };
}

const nobody: ReadonlySet<bigint> = new Set();

function actorOf(order: DeskOrder): Actor | undefined {
  if (order.kind === 'initiate') return order.actor;
  return order.kind === 'transition' && order.act.kind === 'cancel' ? order.act.actor : undefined;
}
