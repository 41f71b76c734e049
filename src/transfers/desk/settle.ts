import {
  type Actor,
  type BusinessTime,
  type CoveredAccounts,
  localDate,
  type PresentedToken,
} from '../../institutions/index.ts';
import { type AccountState, Book, type PostingKeys } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, InstitutionId, Transaction } from '../../storage/index.ts';
import type { AskScreening } from '../admission/screen-order.ts';
import { selectInstructionsForUpdate } from '../instructions/instruction-queries.ts';
import { selectCounters, selectCountersForUpdate } from '../limits/counter-queries.ts';
import { selectLimits } from '../limits/limit-queries.ts';
import { selectLimitUses } from '../limits/usage-queries.ts';
import type { AccountFacts } from '../rules/accounts/account.ts';
import {
  type CounterName,
  CounterNotLockedError,
  Counters,
  contributionKey,
  countersOf,
  distinct,
  isStandIn,
  type Limit,
} from '../rules/controls/limits.ts';
import { taxYearStart } from '../rules/decide.ts';
import type { Facts, TransferSettings } from '../rules/facts.ts';
import { type ActOutcome, type DeskOrder, type Outcome, personOf } from '../rules/transfer.ts';
import type { ReadSettings } from '../settings/settings.ts';
import { selectIdempotencyKeys, selectReversedKeys, selectTransfersById } from '../transfer-queries.ts';
import {
  selectAccountFacts,
  selectDetails,
  selectMembershipsOf,
  selectUsersOfCustomers,
} from './account-queries.ts';
import { Batch, type BatchGround } from './batch.ts';
import type { CoreChange } from './batch-instructions.ts';
import { OrdersRefusedError } from './batch-queue.ts';
import { selectLoanPayments } from './loan-payment-queries.ts';
import { selectPending } from './pending-queries.ts';

/**
 * Clocks of processes differ by less than this. A process whose clock had jumped wrote an account that is further ahead.
 */
export const maxAheadMillis = 60_000;

export interface SettleDeps {
  readonly clock: Clock;
  /** The institution's business time, which dates its orders; by default the clock's. The audit uses the clock. */
  readonly businessTime?: BusinessTime;
  readonly postingKeys: PostingKeys;
  /** At most a second old. */
  readonly settings: ReadSettings;
  /** Returns those of the tokens that are no longer active. */
  readonly inactiveTokens: (
    tx: Transaction,
    tokens: readonly PresentedToken[],
  ) => Promise<ReadonlySet<PresentedToken>>;
  /** Locks consents, and returns those under which their apps may still order. Without it, none may. */
  readonly lockConsents?: (
    tx: Transaction,
    consentIds: readonly string[],
  ) => Promise<ReadonlyMap<string, CoveredAccounts>>;
  /** Whether an institution's core is away, at most a second old. Without it, none is. */
  readonly isCoreAway?: (institutionId: InstitutionId) => Promise<boolean>;
  /** Called after a commit of an institution whose core keeps the books. */
  readonly onCommitted?: (institutionId: InstitutionId, change: CoreChange) => void;
  /** Asks an institution that screens orders. Without it, its orders get the verdict for those without an answer. */
  readonly askScreening?: AskScreening;
  /** Called with a batch's accounts that have seen a time more than `maxAheadMillis` after the clock's. */
  readonly onAhead?: (institutionId: InstitutionId, accounts: readonly AccountState[], now: Date) => void;
}

/**
 * Settles a batch of one institution's orders in the caller's transaction. Each step is one packet with one Sync; the
 * statements of a packet run in this order, and each has a snapshot of its own.
 *
 * | step    | statement                          | lock               | why                                             |
 * |---------|------------------------------------|--------------------|-------------------------------------------------|
 * | 1 lock  | Book.lock                          | balances, by key   | no other batch moves these accounts             |
 * | 1 read  | selectAccountFacts                 |                    | accounts and holders, as of the lock            |
 * |         | selectIdempotencyKeys              |                    | which ids are used                              |
 * |         | readChanging                       | instructions       | only for acts on earlier transfers              |
 * |         | inactiveTokens                     |                    | a token that ended while the order waited       |
 * |         | lockConsents                       | consents, shared   | the accounts of an app's consent; no change of  |
 * |         |                                    |                    | it commits before these transfers               |
 * | 1b read | selectDetails                      |                    | only if an account is an IRA: its owner         |
 * | 2 lock  | selectCountersForUpdate            | counters, by key   | the limits that may bind these accounts         |
 * | 2 read  | memberships, limits, details       |                    | behind the counters' locks                      |
 * |         | selectTransfersById                |                    | only the transfers of used ids                  |
 * | 3       | Batch.take, an order at a time     |                    | pure rules (rules/decide.ts, rules/apply.ts)    |
 * | 4 write | Batch.writes, then COMMIT          |                    | each statement checks its own row count         |
 *
 * Idempotent by transfer id, so it may run again. With `patient` false it throws AccountsBusyError instead of waiting in
 * step 1. OrdersRefusedError leaves step 1 if a caller's token or consent has ended.
 */
export async function settle(
  deps: SettleDeps,
  tx: Transaction,
  { orders, patient }: { readonly orders: readonly DeskOrder[]; readonly patient: boolean },
): Promise<(Outcome | ActOutcome)[]> {
  const settings = await deps.settings(tx.institutionId);
  const postingKeys = await deps.postingKeys.take(orders.length);
  const core = await coreStateOf(deps, settings);
  let limits = settings.recentLimits;
  for (let tries = 1; ; tries += 1) {
    const read = await lockAndRead(deps, tx, { orders, settings, core, recentLimits: limits, patient });
    const { ground, current } = read;
    const batch = new Batch(ground);
    let outcomes: (Outcome | ActOutcome)[];
    try {
      outcomes = current.map((order, index) => batch.take(order, postingKeys[index] as bigint));
    } catch (error) {
      // A limit or an IRA's owner changed between the locks and the reads. Nothing is written yet, so lock and read again.
      if (!(error instanceof CounterNotLockedError) || tries === triesOfABatch) throw error;
      limits = ground.facts.limits;
      continue;
    }
    await tx.commitWith(batch.writes(tx.institutionId));
    if (core !== null) deps.onCommitted?.(tx.institutionId, batch.coreChange);
    return outcomes;
  }
}

/** Null if the institution's own ledger is the record. */
export async function coreStateOf(
  { isCoreAway }: SettleDeps,
  { institution: { institutionId, record } }: TransferSettings,
): Promise<Facts['core']> {
  return record === 'core' ? { isAway: (await isCoreAway?.(institutionId)) ?? false } : null;
}

/** The institution's present time. */
export function businessNow({ clock, businessTime }: SettleDeps, institutionId: InstitutionId): Date {
  const now = clock();
  return businessTime?.(institutionId, now) ?? now;
}

const triesOfABatch = 4;

/** Reads everything that a judgement needs, for a dry run: without locks, and without a write. */
export async function look(
  deps: SettleDeps,
  tx: Transaction,
  asked: {
    readonly settings: TransferSettings;
    readonly core: Facts['core'];
    readonly actor: Actor;
    readonly transferId: string | null;
    readonly fromAccountId: string;
    readonly toAccountIds: readonly string[];
  },
) {
  const at = businessNow(deps, tx.institutionId);
  const { settings, core, actor, transferId, fromAccountId, toAccountIds } = asked;
  const accountIds = [...new Set([fromAccountId, ...toAccountIds])];
  const [book, read, existing, limits] = await Promise.all([
    Book.look(tx, accountIds),
    readAccounts(tx, accountIds),
    selectTransfersById(tx, transferId === null ? [] : [{ transferId, personKey: personOf(actor) }]),
    selectLimits(tx),
  ]);
  const account = byId([...read.accounts, ...(await detailsOf(tx, read.accounts))]);
  const day = localDate(at, settings.institution.timeZone);
  const needed = [undefined, ...toAccountIds].flatMap((toAccountId) =>
    [false, true].flatMap((previousYear) =>
      countersNeeded({ actor, fromAccountId, toAccountId, previousYear }, { account, limits, day, core }),
    ),
  );
  const names = distinct(needed);
  const [people, counters] = await Promise.all([
    readPeople(tx, [actor], read.accounts),
    selectCounters(tx, names),
  ]);
  const { holding } = read;
  const facts = { settings, at, day, limits, core, account, holding, ...people };
  return { book, counters: new Counters(counters, names), facts, existing: existing[0] };
}

/** The counters of an order: those of the payer's limits and, for an IRA, that of the owner's yearly limit. */
function countersNeeded(
  order: {
    readonly actor: Actor;
    readonly fromAccountId: string;
    readonly toAccountId: string | undefined;
    readonly previousYear: boolean;
  },
  { account, limits, day, core }: Pick<Facts, 'account' | 'limits' | 'day' | 'core'>,
): CounterName[] {
  const from = account(order.fromAccountId);
  const to = order.toAccountId === undefined ? undefined : account(order.toAccountId);
  // The counter of the whole institution is locked only while the core is away.
  const binding = core?.isAway === true ? limits : limits.filter((limit) => !isStandIn(limit));
  const names = from === undefined ? [] : countersOf(binding, { actor: order.actor, from, day });
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
  {
    orders,
    settings,
    core,
    recentLimits,
    patient,
  }: {
    readonly orders: readonly DeskOrder[];
    readonly settings: TransferSettings;
    readonly core: Facts['core'];
    readonly recentLimits: readonly Limit[];
    readonly patient: boolean;
  },
): Promise<{ readonly ground: BatchGround; readonly current: readonly DeskOrder[] }> {
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
  const tokens = [...new Set(orders.flatMap((order) => tokenOf(order) ?? []))];
  const consentIds = [...new Set(orders.flatMap((order) => consentOf(order)?.consentId ?? []))].toSorted();
  const [book, read, used, changing, inactive, consents] = await Promise.all([
    patient ? Book.lock(tx, accountIds) : Book.lockWithoutWaiting(tx, accountIds),
    readAccounts(tx, accountIds),
    selectIdempotencyKeys(
      tx,
      asked.map((one) => one.transferId),
    ),
    changingIds.length > 0 ? readChanging(tx, changingIds, core !== null) : nothingChanging,
    tokens.length > 0 ? deps.inactiveTokens(tx, tokens) : noTokens,
    consentIds.length > 0 ? (deps.lockConsents?.(tx, consentIds) ?? noConsents) : noConsents,
  ]);

  requireAuthority(orders, inactive, consents);
  const current = orders.map((order) => underConsentNow(order, consents));
  // Read after the locks. An account's later entries date its new entries, but never move an order to another day.
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
    return countersNeeded({ ...order, previousYear }, { account: owned, limits: recentLimits, day, core });
  });
  const names = distinct([...needed, ...changing.usages]);
  // Memberships matter only for orders between two of them; most orders stay within one.
  const between = orders.filter(
    ({ fromAccountId, toAccountId }) => owned(fromAccountId)?.customerKey !== owned(toAccountId)?.customerKey,
  );
  const actors = between.flatMap((order) => actorOf(order) ?? []);
  // An operator or the core may have changed the limits or the owners while this batch waited for the counters. If an order
  // then needs another counter, the batch starts again (CounterNotLockedError).
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
  const facts = { settings, at, day, account, holding: read.holding, limits, core, ...people };
  const auditedAt = deps.clock();
  const ground = { book, counters: new Counters(counters, names), facts, auditedAt, existing, ...changing };
  return { ground, current };
}

/** Throws OrdersRefusedError for the orders whose token or consent has ended; the queue runs the other orders again. */
function requireAuthority(
  orders: readonly DeskOrder[],
  inactive: ReadonlySet<PresentedToken>,
  consents: ReadonlyMap<string, CoveredAccounts>,
): void {
  const refused = orders.filter((order) => {
    const token = tokenOf(order);
    const consent = consentOf(order);
    const hasEnded = consent !== undefined && !consents.has(consent.consentId);
    return hasEnded || (token !== undefined && inactive.has(token));
  });
  if (refused.length === 0) return;
  const refusal = new Problem('invalid_token', 'The access token is not active any more.');
  throw new OrdersRefusedError(new Set(refused), refusal);
}

const noTokens: ReadonlySet<PresentedToken> = new Set();
const noConsents: ReadonlyMap<string, CoveredAccounts> = new Map();

/** The order with the accounts that the consent of its caller covers behind the lock. */
function underConsentNow(order: DeskOrder, consents: ReadonlyMap<string, CoveredAccounts>): DeskOrder {
  const consent = consents.get(consentOf(order)?.consentId ?? '');
  const now = (actor: Actor): Actor =>
    consent === undefined || actor.kind === 'client' ? actor : { ...actor, consent };
  if (order.kind === 'initiate') return { ...order, actor: now(order.actor) };
  if (order.kind !== 'transition' || order.act.kind !== 'cancel') return order;
  return { ...order, act: { ...order.act, actor: now(order.act.actor) } };
}

/** Read only for acts on earlier transfers. */
async function readChanging(tx: Transaction, changingIds: readonly string[], hasCore: boolean) {
  const [instructions, pending, usages, paymentsOf, reversedKeys] = await Promise.all([
    hasCore ? selectInstructionsForUpdate(tx, changingIds) : [],
    selectPending(tx, changingIds),
    selectLimitUses(tx, changingIds),
    selectLoanPayments(tx, changingIds),
    selectReversedKeys(tx, changingIds),
  ]);
  return { instructions, pending, usages, paymentsOf, reversedKeys };
}

const nothingChanging: Awaited<ReturnType<typeof readChanging>> = {
  instructions: [],
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

/** The details of loans and IRAs. Most batches have neither, and read nothing. */
function detailsOf(tx: Transaction, accounts: readonly AccountFacts[]): Promise<AccountFacts[]> {
  const detailed = accounts.filter((account) => account.category !== 'DEPOSIT' || isIra(account));
  return selectDetails(tx, detailed);
}

function byId(accounts: readonly AccountFacts[]): Facts['account'] {
  const known = new Map(accounts.map((account) => [account.accountId, account]));
  return (accountId) => known.get(accountId);
}

/** The memberships of the callers; for a client the users of the accounts' memberships. */
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
  return { usersOf: (customerKey) => usersByCustomer.get(customerKey) ?? noPersons };
}

const noPersons: ReadonlySet<bigint> = new Set();

function actorOf(order: DeskOrder): Actor | undefined {
  if (order.kind === 'initiate') return order.actor;
  return order.kind === 'transition' && order.act.kind === 'cancel' ? order.act.actor : undefined;
}

function consentOf(order: DeskOrder): CoveredAccounts | undefined {
  const actor = actorOf(order);
  return actor?.kind === 'member' ? actor.consent : undefined;
}

function tokenOf(order: DeskOrder): PresentedToken | undefined {
  const isCores = order.kind === 'transition' && 'token' in order.act;
  return isCores ? order.act.token : actorOf(order)?.token;
}
