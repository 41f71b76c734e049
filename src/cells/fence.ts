import { setTimeout as sleep } from 'node:timers/promises';
import { type InstitutionId, type OwnConnection, sqlState, sqlStateOf } from '../storage/index.ts';
import { inTransaction, run } from './side.ts';
import { type MovedTable, thatMove } from './tables.ts';

/*
 * The fence refuses changes of institutions that have moved or are moving (check_fence()). It is two triggers on each table, whose
 * conditions list these institutions: all others pay for a comparison with a constant. It stays as long as the institution is at another
 * cell, so that a process that was late for hours changes nothing.
 */

const patienceMillis = 60_000;
const pauseMillis = 100;

/** Key of the advisory locks of check_fence(): a move waits for the transactions that hold it. */
const fenceLock = 7_305_108;

/** The institutions behind the fence of this database: those that are not served here, and those that are about to leave. */
async function fenced(db: OwnConnection, leaving: readonly InstitutionId[]): Promise<readonly number[]> {
  const rows = await run<{ institutionId: number }>(
    db,
    `select institution_id from institutions where served <> 'here' or institution_id = any ($1::integer[]) order by 1`,
    [leaving],
  );
  return rows.map(({ institutionId }) => institutionId);
}

/**
 * Builds the fence anew, one table a transaction: each waits for the writers of its table, and holds up the next ones for that time only.
 * A fence without institutions stays too, since dropping a trigger would hold up readers as well.
 * `leaving` is served here, and joins the fence ahead of its pause.
 */
export async function buildFence(
  db: OwnConnection,
  tables: readonly MovedTable[],
  leaving: readonly InstitutionId[] = [],
): Promise<void> {
  const institutions = await fenced(db, leaving);
  for (const { name } of thatMove(tables, 'replicated', 'at_the_end', 'row')) {
    const table = `public."${name}"`;
    const list = `any ('{${institutions.join()}}'::integer[])`;
    const build = [
      `create or replace trigger fence_written before insert or update on ${table} for each row
       when (new.institution_id = ${list}) execute function check_fence()`,
      `create or replace trigger fence_deleted before delete on ${table} for each row
       when (old.institution_id = ${list}) execute function check_fence()`,
    ];
    await patiently(() =>
      inTransaction(db, async () => {
        for (const statement of build) await run(db, statement);
      }),
    );
  }
}

/** Runs `close` when no transaction that passed the fence for this institution is under way; later ones see what it wrote. */
export async function closeFence(
  db: OwnConnection,
  institutionId: InstitutionId,
  close: () => Promise<void>,
): Promise<void> {
  await patiently(() =>
    inTransaction(db, async () => {
      await run(db, 'select pg_advisory_xact_lock($1, $2)', [fenceLock, institutionId]);
      await close();
    }),
  );
}

/** A lock that was not free in time is asked for again, after a time in which others get theirs. */
async function patiently(work: () => Promise<void>): Promise<void> {
  for (const deadline = performance.now() + patienceMillis; ; ) {
    try {
      return await work();
    } catch (error) {
      const state = sqlStateOf(error);
      const isLockedOut = state === sqlState.lockNotAvailable || state === sqlState.deadlockDetected;
      if (!isLockedOut || performance.now() > deadline) throw error;
      await sleep(pauseMillis);
    }
  }
}
