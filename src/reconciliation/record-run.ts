import { type Database, type InstitutionId, sql } from '../storage/index.ts';

const record = sql(
  'reconciliation_record_run',
  `insert into reconcile_runs (institution_id, started_at, finished_at, findings) values ($1, $2, $3, $4)
   on conflict (institution_id) do update
   set started_at = excluded.started_at, finished_at = excluded.finished_at, findings = excluded.findings
   where excluded.started_at >= reconcile_runs.started_at`,
);

/** Keeps the last complete run, for the metrics. */
export async function recordRun(
  database: Database,
  institutionId: InstitutionId,
  run: { readonly startedAt: Date; readonly finishedAt: Date; readonly findings: number },
): Promise<void> {
  const values = [institutionId, run.startedAt, run.finishedAt, run.findings];
  await database.write(institutionId, (db) => db.query(record, values));
}
