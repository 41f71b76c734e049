import {
  changeLoanRange,
  type Figures,
  type ImportedAccount,
  mergeAccountRange,
  selectAccountsToMove,
  selectFigures,
  selectLoansToChange,
} from '../../accounts/index.ts';
import { appendEvents, type NewEvent, writeEventsOf } from '../../events/index.ts';
import { Book, takePostingKeys } from '../../ledger/index.ts';
import { type KeyRange, mergeMembershipRange, mergePersonRange } from '../../memberships/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Transaction } from '../../storage/index.ts';
import { internalAccountId } from '../internal-accounts.ts';
import type { ImportPlan } from './import-plan.ts';
import { nextRangeOf, type OnRows, type RangeSize, type RangeSizes, type Staging } from './ranges.ts';
import type { StageContents } from './stage-extract.ts';
import {
  allowHashJoins,
  analyzeNewTables,
  analyzeWritten,
  lookUpByKeys,
  waitForLocks,
} from './stage-queries.ts';

export interface Moved {
  readonly opened: number;
  readonly adjusted: number;
  /** The first hundred of the adjusted accounts. */
  readonly adjustedIds: readonly string[];
}

const nothingMoved: Moved = { opened: 0, adjusted: 0, adjustedIds: [] };
const adjustedListed = 100;

/** The first range of tables that may be empty. */
const firstRows = 200;
const maxTries = 3;

/** The transactions of an import's writes. */
export interface Writing {
  /** Runs the work of one range. */
  range<T>(write: (tx: Transaction) => Promise<T>): Promise<T>;
  /** Updates the statistics of the tables. */
  analyze(): Promise<void>;
}

/** Each range is a transaction of its own. */
export function writeByRange(staging: Staging): Writing {
  return {
    range: (write) => writeRange(staging, write),
    analyze: () => staging.session.directory(analyzeWritten),
  };
}

/**
 * All ranges that `write` writes are one transaction: they are committed together, or none is. The events of other institutions do not
 * wait for it.
 */
export async function writeAtOnce<T>(
  { session, institutionId }: Staging,
  write: (writing: Writing) => Promise<T>,
): Promise<T> {
  const written = await session.transaction(institutionId, async (tx) => {
    await writeEventsOf(tx);
    await waitForLocks(tx);
    return write({
      range: async (writeOne) => {
        await lookUpByKeys(tx);
        return writeOne(tx);
      },
      analyze: () => analyzeNewTables(tx),
    });
  });
  // The import is committed, and autovacuum would do this a minute later.
  await session.directory(analyzeWritten).catch(() => {});
  return written;
}

/** Writes the ranges that the plan names. */
export async function writeStage(
  writing: Writing,
  { ranges }: ImportPlan,
  stage: {
    readonly contents: StageContents;
    readonly sizes: RangeSizes;
    readonly figures: Figures;
    readonly now: () => Date;
    readonly onRows: OnRows;
  },
): Promise<Moved> {
  const { contents, sizes, figures, now, onRows } = stage;
  const of =
    ranges === undefined
      ? contents.persons + contents.members
      : ranges.persons.length * sizes.persons + ranges.members.length * sizes.members;
  let done = 0;
  let moved = nothingMoved;
  const writeEach = async (
    kind: 'persons' | 'members',
    write: (tx: Transaction, range: KeyRange) => Promise<Moved>,
  ) => {
    const rows = sizes[kind];
    let isFirst = ranges === undefined;
    for await (const range of ranges?.[kind] ?? allRanges(writing, { key: kind, rows })) {
      done += isFirst ? firstRows : rows;
      const { opened, adjusted, adjustedIds } = await writing.range((tx) => write(tx, range));
      // The plans of the first statements are those of empty tables.
      if (isFirst) await writing.analyze();
      isFirst = false;
      moved = {
        opened: moved.opened + opened,
        adjusted: moved.adjusted + adjusted,
        adjustedIds: [...moved.adjustedIds, ...adjustedIds].slice(0, adjustedListed),
      };
      await onRows(done, of);
    }
  };
  await writeEach('persons', async (tx, range) => {
    await mergePersonRange(tx, range);
    return nothingMoved;
  });
  await writeEach('members', async (tx, range) => {
    await mergeMembershipRange(tx, range);
    const newAccounts = await mergeAccountRange(tx, range);
    return moveBalances(tx, { range, figures, newAccounts }, now());
  });
  return moved;
}

async function* allRanges(writing: Writing, size: RangeSize): AsyncGenerator<KeyRange> {
  const next = (last: KeyRange | undefined) =>
    writing.range((tx) => nextRangeOf(tx, last === undefined ? { ...size, rows: firstRows } : size, last));
  for (let range = await next(undefined); range !== undefined; range = await next(range)) yield range;
}

/** Writes again if an account stayed locked: a range is complete in itself. */
async function writeRange<T>(
  { session, institutionId }: Staging,
  write: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await session.transaction(institutionId, async (tx) => {
        await lookUpByKeys(tx);
        return write(tx);
      });
    } catch (error) {
      const isLockedOut = error instanceof Problem && error.code === 'overloaded';
      if (!isLockedOut || tries === maxTries) throw error;
    }
  }
}

/** Opens new accounts and adjusts the others if asked to. Existing accounts are locked before their figures are read. */
export async function moveBalances(
  tx: Transaction,
  stage: {
    readonly range: KeyRange;
    readonly figures: Figures;
    readonly newAccounts: readonly ImportedAccount[];
  },
  at: Date,
): Promise<Moved> {
  const { range, figures, newAccounts } = stage;
  const toAdjust = figures.adjust ? await selectAccountsToMove(tx, range, figures) : [];
  const loans = await selectLoansToChange(tx, range, figures);
  if (newAccounts.length + toAdjust.length + loans.length === 0) return nothingMoved;
  const withMoney = newAccounts.filter(({ figure }) => figure !== 0n);
  const toMove = [...withMoney, ...toAdjust];
  const own = new Set(toMove.map(({ currency }) => internalAccountId('CORE_SETTLEMENT', currency)));
  const accountIds = toAdjust.map(({ accountId }) => accountId);
  const book = await Book.lock(tx, [...own, ...accountIds, ...loans]);
  book.open(newAccounts, at);

  const postingKeys = await takePostingKeys(tx, toMove.length);
  const events: NewEvent[] = [];
  const adjustedIds: string[] = [];
  const existing = accountIds.length === 0 ? [] : await selectFigures(tx, accountIds, figures);
  for (const { accountId, currency, figure } of [...withMoney, ...existing]) {
    const { accountKey, posted, seq } = book.require(accountId);
    const difference = figure - posted;
    if (difference === 0n) continue;
    const isOpening = seq === 0n;
    const other = internalAccountId('CORE_SETTLEMENT', currency);
    book.record({
      kind: isOpening ? 'OPENING' : 'ADJUSTMENT',
      postingKey: postingKeys[events.length] as bigint,
      debitAccountId: difference > 0n ? other : accountId,
      creditAccountId: difference > 0n ? accountId : other,
      amountMinor: difference > 0n ? difference : -difference,
    });
    events.push({
      kind: isOpening ? 'account.balance_opened' : 'account.balance_adjusted',
      subjectKey: accountKey,
      toKey: accountKey,
      toSeq: seq + 1n,
    });
    if (!isOpening) adjustedIds.push(accountId);
  }
  await allowHashJoins(tx);
  const when = await book.write(at);
  await appendEvents(tx, events, when);
  if (loans.length > 0) await changeLoanRange(tx, range, figures);
  const adjusted = adjustedIds.length;
  return { opened: events.length - adjusted, adjusted, adjustedIds };
}
