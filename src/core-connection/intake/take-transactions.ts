import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit, auditToAppend, type Origin } from '../../events/index.ts';
import type { BusinessTime, Institution, PresentedToken } from '../../institutions/index.ts';
import { Book, type PostingKeys } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type Clock, type Database, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import { acceptByEcho, type TransferDesk } from '../../transfers/index.ts';
import { selectAuthorizations } from './authorization-queries.ts';
import { Batch, type Outcome } from './batch.ts';
import { inBatches, type Line } from './lines.ts';
import { openSettlementAccounts, settlementAccountId } from './settlement-accounts.ts';
import type { Refusal, TransactionLine } from './transaction-line.ts';
import { selectEchoedTransfers, selectKnownTransactions } from './transaction-queries.ts';

export interface IntakeDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  readonly postingKeys: PostingKeys;
  /** Those of the tokens that are no longer active. */
  readonly inactiveTokens: (
    tx: Transaction,
    tokens: readonly PresentedToken[],
  ) => Promise<ReadonlySet<PresentedToken>>;
  /** Accepts transfers that wait for the core, by their echoes. Without it they stay as they are. */
  readonly desk?: TransferDesk;
  /** The service is about to stop: no further batch is begun. */
  readonly isStopping?: () => boolean;
}

/** The delivery of a connector or of an operator. */
export interface Delivery {
  readonly institution: Institution;
  readonly clientId?: string | undefined;
  /** Checked in the transaction of each batch. */
  readonly token?: PresentedToken | undefined;
  readonly origin: Origin;
}

export type Answer = { readonly line: number } & Outcome;

/** Lines by result. */
export type Counts = Readonly<Record<Outcome['result'], number>>;

/** Lines committed together. */
const linesAtOnce = 500;
/** A batch is tried again so long while the database is away, or others hold its accounts. */
const patienceMillis = 15_000;

/**
 * Takes the lines of a delivery, and yields the answers of each batch after its commit. The caller's pace is the pace of the
 * delivery: the next batch is begun when the answers of the last one were taken. Idempotent by the core's ids, so a delivery that
 * ended early is sent again from its beginning. Returns the numbers of lines.
 *
 * Problem `invalid_token` if the token ended meanwhile; `database_unavailable` and `overloaded` after some patience. Lines that
 * were answered stand.
 */
export async function* takeTransactions(
  deps: IntakeDeps,
  delivery: Delivery,
  chunks: AsyncIterable<readonly Line<TransactionLine>[]>,
): AsyncGenerator<readonly Answer[], Counts> {
  const counts = {
    posted: 0,
    already: 0,
    held: 0,
    changed: 0,
    released: 0,
    echo: 0,
    conflict: 0,
    refused: 0,
  };
  let isBegun = false;
  try {
    for await (const lines of inBatches(chunks, linesAtOnce)) {
      for (const together of withoutRepeats(lines)) {
        if (deps.isStopping?.()) throw new Problem('shutting_down', 'The service is about to stop.');
        const answers = await untilDone(() => takeBatch(deps, delivery, { lines: together, isBegun }));
        for (const { result } of answers) counts[result] += 1;
        isBegun ||= answers.some(changesSomething);
        yield answers;
      }
    }
    return counts;
  } finally {
    if (isBegun) {
      const { institutionId } = delivery.institution;
      const entry = { ...auditEntryOf(delivery), action: 'core.transactions_taken', after: counts } as const;
      await untilDone(() =>
        deps.database.transaction(institutionId, (tx) => appendAudit(tx, entry, deps.clock())),
      );
    }
  }
}

/** A delivery that changes nothing leaves no entry: the same file may come every minute. */
function changesSomething({ result }: Outcome): boolean {
  return result !== 'already' && result !== 'refused' && result !== 'conflict';
}

function auditEntryOf({ clientId, origin }: Delivery) {
  return { outcome: 'succeeded', origin, clientId } as const;
}

type Taken = Line<TransactionLine>;

/** Cuts the lines so that no two of a part have the same id, authorization or transfer: each is decided on committed rows. */
function* withoutRepeats(lines: readonly Taken[]): Generator<readonly Taken[]> {
  let part: Taken[] = [];
  let seen = new Set<string>();
  for (const taken of lines) {
    const names = namesOf(taken.item);
    if (names.some((name) => seen.has(name))) {
      yield part;
      part = [];
      seen = new Set();
    }
    for (const name of names) seen.add(name);
    part.push(taken);
  }
  if (part.length > 0) yield part;
}

function namesOf(item: TransactionLine | Refusal): string[] {
  if ('code' in item) return [];
  if (item.status !== 'POSTED') return [`authorization ${item.id}`];
  const { id, transferId, authorizationId, accountId } = item;
  const names = [`posting ${id}`];
  if (authorizationId !== null) names.push(`authorization ${authorizationId}`);
  if (transferId !== null) names.push(`transfer ${transferId} ${accountId}`);
  return names;
}

/** Runs idempotent work again while the database is away, or others hold its rows, for some seconds. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + patienceMillis;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isPassing =
        isUniqueViolation(error) ||
        (error instanceof Problem &&
          ['overloaded', 'database_unavailable', 'outcome_unknown'].includes(error.code));
      if (!isPassing || performance.now() > giveUpAt) throw error;
      await sleep(Math.min(20 * 2 ** tries, 1_000) * (0.5 + Math.random() / 2));
    }
  }
}

async function takeBatch(
  deps: IntakeDeps,
  delivery: Delivery,
  { lines, isBegun }: { readonly lines: readonly Taken[]; readonly isBegun: boolean },
): Promise<Answer[]> {
  const { institutionId } = delivery.institution;
  const read = lines.flatMap(({ item }) => ('code' in item ? [] : [item]));
  if (deps.desk !== undefined) {
    // Before the batch, which takes echoes of completed transfers only.
    const { clientId = null, origin } = delivery;
    const echoes = read.flatMap(({ id, transferId, accountId, amountMinor }) =>
      transferId === null ? [] : [{ transferId, accountId, amountMinor, coreReference: id }],
    );
    await acceptByEcho(deps.desk, institutionId, { echoes, clientId, origin });
  }
  const outcomes = read.length === 0 ? [] : await settleBatch(deps, delivery, { lines: read, isBegun });
  let place = 0;
  return lines.map(({ line, item }) => {
    if ('code' in item) return { line, result: 'refused', ...item };
    const outcome = outcomes[place++];
    if (outcome === undefined) throw new Error(`core-connection: a line of ${institutionId} has no outcome`);
    return { line, ...outcome };
  });
}

async function settleBatch(
  deps: IntakeDeps,
  delivery: Delivery,
  { lines, isBegun }: { readonly lines: readonly TransactionLine[]; readonly isBegun: boolean },
): Promise<Outcome[]> {
  const { token, institution } = delivery;
  const { institutionId } = institution;
  const postingKeys = await deps.postingKeys.take(lines.length * 2);
  return deps.database.transaction(institutionId, async (tx) => {
    const at = deps.businessTime(institutionId, deps.clock());
    const authorizationIds = lines.flatMap(({ status, id, authorizationId }) =>
      status === 'POSTED' ? (authorizationId ?? []) : id,
    );
    const own = lines.filter(({ transferId }) => transferId === null);
    const [, before] = await Promise.all([
      openSettlementAccounts(tx, own, at),
      selectAuthorizations(tx, authorizationIds),
    ]);
    const accountIds = [
      ...lines.map(({ accountId }) => accountId),
      ...own.map(({ kind, currencyCode }) => settlementAccountId(kind, currencyCode)),
      ...before.map(({ settlementId }) => settlementId),
    ];
    const [book, known, authorizations, echoed, inactive] = await Promise.all([
      Book.lock(tx, [...new Set(accountIds)]),
      selectKnownTransactions(
        tx,
        lines.filter(({ status }) => status === 'POSTED').map(({ id }) => id),
      ),
      selectAuthorizations(tx, authorizationIds),
      selectEchoedTransfers(
        tx,
        lines.flatMap(({ transferId, accountId }) =>
          transferId === null ? [] : [{ transferId, accountId }],
        ),
      ),
      token === undefined ? noTokens : deps.inactiveTokens(tx, [token]),
    ]);
    if (inactive.size > 0) throw new Problem('invalid_token', 'The access token is not active any more.');
    // Another process has begun an authorization meanwhile, on a settlement account that was not locked.
    if (authorizations.some(({ settlementId }) => book.find(settlementId) === undefined)) throw lockedOut();
    const batch = new Batch({ book, known, authorizations, echoed, postingKeys, at });
    const outcomes = lines.map((line) => batch.take(line));
    const begins = !isBegun && outcomes.some(changesSomething);
    const entry = { ...auditEntryOf(delivery), action: 'core.transactions_begun' } as const;
    await tx.commitWith([
      ...batch.writes(institutionId),
      ...auditToAppend(institutionId, begins ? [{ ...entry, at: deps.clock(), times: 1 }] : []),
    ]);
    return outcomes;
  });
}

function lockedOut(): Problem {
  return new Problem('overloaded', 'Another delivery changes the same authorization.', {
    retryAfterSeconds: 1,
  });
}

const noTokens: ReadonlySet<PresentedToken> = new Set();
