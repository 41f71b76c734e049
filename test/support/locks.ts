import type { TestDatabase } from './database.ts';

/** Waits until a session of this database waits for a lock on a row of the table. */
export async function waitUntilLocked(database: TestDatabase, table: string): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    const rows = await database.superuser(
      `select from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query ilike $1`,
      [`%${table}%`],
    );
    if (rows.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`Nothing waited for a lock of ${table} within 20 seconds.`);
}
