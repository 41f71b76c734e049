import { type Directory, sql } from '../storage/index.ts';

/** Balances, with the institution, the key and the number of each side by side. */
export interface Known {
  readonly institutions: readonly number[];
  readonly accountKeys: readonly bigint[];
  readonly seqs: readonly bigint[];
}

export interface Changes {
  /** The moment of the statement, as a snapshot. */
  readonly at: string;
  /** False: changes since the earlier moment may be lost, or there was none. */
  readonly isKept: boolean;
  /** institution * 65536 + subject, in digits; null if none is kept. */
  readonly changed: readonly string[] | null;
  /** The places, from 1, of the balances that have moved; null if the question named no balances. */
  readonly moved: readonly number[] | null;
}

const changesSince = sql('memory_changes_since', 'select * from changes_since($1, $2, $3, $4, $5)');

export async function selectChanges(db: Directory, since: string | null, known: Known): Promise<Changes> {
  // Those of an institution together: each run of them is one look of the database.
  const order = [...known.institutions.keys()].sort(
    (one, other) => (known.institutions[one] as number) - (known.institutions[other] as number),
  );
  const sorted = <Value>(values: readonly Value[]) => order.map((place) => values[place]);
  const institutions = sorted(known.institutions);
  const values = [
    since,
    [...new Set(institutions)],
    institutions,
    sorted(known.accountKeys),
    sorted(known.seqs),
  ];
  const [changes] = (await db.query<Changes>(changesSince, values)).rows;
  if (changes === undefined) throw new Error('memory: the question has no answer');
  return { ...changes, moved: changes.moved?.map((place) => (order[place - 1] as number) + 1) ?? null };
}

const deleteOld = sql('memory_delete_old_changes', `select delete_old_changes($1, interval '10 minutes')`);

/** Changes are kept for ten to twenty minutes. */
export async function deleteOldChanges(db: Directory, now: Date): Promise<void> {
  await db.query(deleteOld, [now]);
}
