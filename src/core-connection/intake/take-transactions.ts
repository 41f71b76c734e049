import { auditToAppend } from '../../events/index.ts';
import { Book, type PostingKeys } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import { acceptByEcho, type TransferDesk } from '../../transfers/index.ts';
import { mismatchedEchoes } from '../breaks/mismatched-echoes.ts';
import { writeBreaks } from '../breaks/write-breaks.ts';
import { selectAuthorizations } from './authorization-queries.ts';
import { Batch, type Outcome } from './batch.ts';
import { isRefusal, type Line, type Refusal } from './lines.ts';
import { openSettlementAccounts, settlementAccountId } from './settlement-accounts.ts';
import {
  type Answer,
  auditEntryOf,
  type Counts,
  changesSomething,
  checkToken,
  type Delivery,
  type DeliveryDeps,
  readable,
  takeDelivery,
  withRefusals,
} from './take-delivery.ts';
import type { TransactionLine } from './transaction-line.ts';
import { selectEchoedTransfers, selectKnownTransactions } from './transaction-queries.ts';

export interface IntakeDeps extends DeliveryDeps {
  readonly postingKeys: PostingKeys;
  /** Accepts transfers that wait for the core, by their echoes. Without it they stay as they are. */
  readonly desk?: TransferDesk;
}

export type TransactionResult = Outcome['result'];
export type TransactionCounts = Counts<TransactionResult>;

const kind = {
  results: ['posted', 'already', 'held', 'changed', 'released', 'echo', 'conflict', 'refused'],
  idleResults: ['already', 'refused', 'conflict'],
  linesAtOnce: 500,
  taken: 'core.transactions_taken',
} as const;

/** Takes the transactions of a delivery. Idempotent by the core's ids. */
export function takeTransactions(
  deps: IntakeDeps,
  delivery: Delivery,
  chunks: AsyncIterable<readonly Line<TransactionLine>[]>,
): AsyncGenerator<readonly Answer<TransactionResult>[], TransactionCounts> {
  const intake = {
    ...kind,
    partsOf: withoutRepeats,
    take: (lines: readonly Taken[], isBegun: boolean) => takeBatch(deps, delivery, { lines, isBegun }),
  };
  return takeDelivery<TransactionLine, TransactionResult>(deps, delivery, { chunks, intake });
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
  if (isRefusal(item)) return [];
  if (item.status !== 'POSTED') return [`authorization ${item.id}`];
  const { id, transferId, authorizationId, accountId } = item;
  const names = [`posting ${id}`];
  if (authorizationId !== null) names.push(`authorization ${authorizationId}`);
  if (transferId !== null) names.push(`transfer ${transferId} ${accountId}`);
  return names;
}

async function takeBatch(
  deps: IntakeDeps,
  delivery: Delivery,
  { lines, isBegun }: { readonly lines: readonly Taken[]; readonly isBegun: boolean },
): Promise<(Outcome | ({ readonly result: 'refused' } & Refusal))[]> {
  const { institutionId } = delivery.institution;
  const read = readable(lines).map(({ item }) => item);
  if (deps.desk !== undefined) {
    // Before the batch, which takes echoes of completed transfers only.
    const { clientId = null, token, origin } = delivery;
    const echoes = read.flatMap(({ id, transferId, accountId, amountMinor }) =>
      transferId === null ? [] : [{ transferId, accountId, amountMinor, coreReference: id }],
    );
    await acceptByEcho(deps.desk, institutionId, { echoes, clientId, token, origin });
  }
  const outcomes = read.length === 0 ? [] : await settleBatch(deps, delivery, { lines: read, isBegun });
  return withRefusals(lines, outcomes);
}

async function settleBatch(
  deps: IntakeDeps,
  delivery: Delivery,
  { lines, isBegun }: { readonly lines: readonly TransactionLine[]; readonly isBegun: boolean },
): Promise<Outcome[]> {
  const { institutionId } = delivery.institution;
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
    const [book, known, authorizations, echoed] = await Promise.all([
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
      checkToken(deps, tx, delivery),
    ]);
    // Another process has begun an authorization meanwhile, on a settlement account that was not locked.
    if (authorizations.some(({ settlementId }) => book.find(settlementId) === undefined)) throw lockedOut();
    const batch = new Batch({ book, known, authorizations, echoed, postingKeys, at });
    const outcomes = lines.map((line) => batch.take(line));
    const found = mismatchedEchoes(lines, outcomes, { book, echoed });
    if (found.length > 0) await writeBreaks(tx, { found }, { at });
    const begins = !isBegun && changesSomething<TransactionResult>(kind, outcomes);
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
