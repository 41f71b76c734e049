import type { KeyRange } from '../../memberships/index.ts';
import type { InstitutionId, Session, Transaction } from '../../storage/index.ts';
import { lookUpByKeys, type StageKey, selectNextKey } from './stage-queries.ts';

/**
 * The moment at which an import commits (ADR 73). `once`: all its changes are one transaction, and an interrupted import changes
 * nothing. `by-range`: each range is a transaction of its own, and an interrupted import is completed by repeating it.
 */
export const commits = ['once', 'by-range'] as const;
export type Commit = (typeof commits)[number];

/** The persons and the memberships of a range. */
export interface RangeSizes {
  readonly persons: number;
  readonly members: number;
}

export const rangeSizes: Readonly<Record<Commit, RangeSizes>> = {
  // Each range moves the settlement account, and every later look-up of its balance passes over the versions of before, which stay
  // until the commit: 0.12 µs each (bench/NOTES.md). Statements of a range end well before their limit of ten seconds.
  once: { persons: 10_000, members: 5_000 },
  // Accounts that change are locked for the time of a range, and transfers wait.
  'by-range': { persons: 2_000, members: 500 },
};

/** So many ranges of `by-range` are written before a transfer gives up waiting for an account. */
const rangesUnnoticed = 2;

/**
 * Nobody waits for the locks of a first import, and nobody notices those of a small later one. A large later one has no default:
 * `once` holds up members, and `by-range` can leave half of the changes, so the operator decides.
 */
export function defaultCommit(changed: WrittenRanges | undefined): Commit | undefined {
  if (changed === undefined) return 'once';
  return changed.persons.length + changed.members.length <= rangesUnnoticed ? 'once' : undefined;
}

/** The ranges with changes. */
export interface WrittenRanges {
  readonly persons: readonly KeyRange[];
  readonly members: readonly KeyRange[];
}

/** The stage of one import: the institution's number, under which its rows are staged, and the connection of the import. */
export interface Staging {
  readonly session: Session;
  readonly institutionId: InstitutionId;
}

/** The size of ranges: so many rows by this key. */
export interface RangeSize {
  readonly key: StageKey;
  readonly rows: number;
}

export type OnRows = (done: number, of: number) => Promise<void> | void;

const lowestKey = '';
/** Sorts behind every key, because no character has higher bytes. */
const highestKey = '\u{10FFFF}';

/** All rows of a stage. */
export const wholeStage: KeyRange = { after: lowestKey, upTo: highestKey };

/** The range of so many rows after `last`; undefined after all rows. The last range is open at its end. */
export async function nextRangeOf(
  tx: Transaction,
  { key, rows }: RangeSize,
  last: KeyRange | undefined,
): Promise<KeyRange | undefined> {
  if (last?.upTo === highestKey) return undefined;
  const after = last?.upTo ?? lowestKey;
  return { after, upTo: (await selectNextKey(tx, key, { after, rows })) ?? highestKey };
}

/** Runs `work` on the ranges of a stage in order, each in a transaction of its own. */
export async function forEachRange(
  { session, institutionId }: Staging,
  size: RangeSize,
  work: (tx: Transaction, range: KeyRange) => Promise<void>,
): Promise<void> {
  let last: KeyRange | undefined;
  do {
    last = await session.transaction(institutionId, async (tx) => {
      await lookUpByKeys(tx);
      const range = await nextRangeOf(tx, size, last);
      if (range !== undefined) await work(tx, range);
      return range;
    });
  } while (last !== undefined);
}
