import { type Directory, sql } from './statement.ts';

/** How long a delay counts after it was last seen, if no commit has succeeded since. */
const memoryMillis = 60_000;

/** Knows whether commits wait longer than a working database needs: shared by the pools of one service. */
export class CommitWatch {
  /** Called when commits begin to wait, and when one succeeds again. */
  onChange: (isDelayed: boolean) => void = () => {};
  #seenAt = Number.NEGATIVE_INFINITY;

  get isDelayed(): boolean {
    return performance.now() - this.#seenAt < memoryMillis;
  }

  /** A commit has gone unanswered for more than a second. */
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

/** Whether a commit waits until a standby has it too. */
export async function waitsForStandbys(db: Directory): Promise<boolean> {
  const { rows } = await db.query<{ configured: boolean }>(synchronousStandbys);
  return rows[0]?.configured === true;
}
