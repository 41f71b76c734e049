import { type Database, type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import type { Checkpoint } from './checkpoint-queries.ts';

const record = sql(
  'reconciliation_record_run',
  `insert into reconcile_runs (institution_id, started_at, finished_at, findings, full_at, checkpoint_at, checkpoint_epoch,
                               checkpoint_xid)
   values ($1, $2, $3, $4, $5, $6, $7, $8::xid8)
   on conflict (institution_id) do update
   set started_at = excluded.started_at, finished_at = excluded.finished_at, findings = excluded.findings,
       full_at = coalesce(excluded.full_at, reconcile_runs.full_at),
       checkpoint_at = coalesce(excluded.checkpoint_at, reconcile_runs.checkpoint_at),
       checkpoint_epoch = coalesce(excluded.checkpoint_epoch, reconcile_runs.checkpoint_epoch),
       checkpoint_xid = coalesce(excluded.checkpoint_xid, reconcile_runs.checkpoint_xid)
   where excluded.started_at >= reconcile_runs.started_at`,
);

interface CompleteRun {
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly findings: number;
  /** It checked every row, not the changes alone. */
  readonly isFull: boolean;
  /** A run with findings moves no checkpoint: the next one checks the same changes again. */
  readonly checkpoint: Checkpoint;
}

/** Keeps the last complete run, for the metrics and for the next run of changes. */
export async function recordRun(
  database: Database,
  institutionId: InstitutionId,
  run: CompleteRun,
): Promise<void> {
  await database.write(institutionId, (db) => insertRun(db, run));
}

/** The same over a connection that the caller has. */
export async function insertRun(
  db: Queryable,
  { startedAt, finishedAt, findings, isFull, checkpoint }: CompleteRun,
): Promise<void> {
  const reached = findings === 0 ? checkpoint : undefined;
  const values = [db.institutionId, startedAt, finishedAt, findings, isFull ? finishedAt : null];
  const point = [reached?.at, reached?.epoch, reached?.xid];
  await db.query(record, [...values, ...point]);
}

export interface LastRun {
  readonly startedAt: Date;
  readonly finishedAt: Date;
  /** Rows that break a rule. */
  readonly findings: number;
}

const last = sql(
  'reconciliation_last_run',
  'select started_at, finished_at, findings from reconcile_runs where institution_id = $1',
);

/** The last complete run; undefined if none ever was. */
export async function selectLastRun(db: Queryable): Promise<LastRun | undefined> {
  return (await db.query<LastRun>(last, [db.institutionId])).rows[0];
}
