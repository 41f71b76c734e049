import { type Directory, sql } from './statement.ts';

/** A delay counts for this time after it was last seen, unless a commit succeeds. */
const memoryMillis = 60_000;

/** Tracks whether commits wait longer than in a working database. The pools of one service share it. */
export class CommitWatch {
  /** Called when commits begin to wait, and when one succeeds again. */
  onChange: (isDelayed: boolean) => void = () => {};
  #seenAt = Number.NEGATIVE_INFINITY;

  get isDelayed(): boolean {
    return performance.now() - this.#seenAt < memoryMillis;
  }

  /** Called for a commit without a response for more than a second. */
  waits(): void {
    const wasDelayed = this.isDelayed;
    this.#seenAt = performance.now();
    if (!wasDelayed) this.onChange(true);
  }

  succeeded(): void {
    if (this.#seenAt === Number.NEGATIVE_INFINITY) return;
    this.#seenAt = Number.NEGATIVE_INFINITY;
    this.onChange(false);
  }
}

const synchronousStandbys = sql(
  'synchronous_standbys',
  `select current_setting('synchronous_standby_names') <> '' as configured`,
);

/** Whether commits wait for a standby. */
export async function waitsForStandbys(db: Directory): Promise<boolean> {
  const { rows } = await db.query<{ configured: boolean }>(synchronousStandbys);
  return rows[0]?.configured === true;
}
