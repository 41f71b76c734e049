import type { KeyRange } from '../../memberships/index.ts';
import type { InstitutionId, Session, Transaction } from '../../storage/index.ts';
import { lookUpByKeys, type StageKey, selectNextKey } from './stage-queries.ts';

export const personsAtOnce = 2_000;
/** Accounts that change are locked for the time of a range, and transfers wait. */
export const membersAtOnce = 500;

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
