import { columnsOf, type Database, type InstitutionId, type Queryable, sql } from '../storage/index.ts';
import type { Checkpoint } from './checkpoint-queries.ts';
import type { KeptFindings } from './finding.ts';

// One statement, so that a run, its findings and the checkpoint are kept together or not at all.
const record = sql(
  'reconciliation_record_run',
  `with result as (
     insert into reconcile_results (institution_id, started_at, finished_at, changed_since, findings, kept)
     values ($1, $2, $3, $5, $4, cardinality($10::text[]))
     returning institution_id, run_key
   ), kept as (
     insert into reconcile_findings (institution_id, run_key, place, kind, subject, detail, account_id, entry, transfer_id,
                                     expected, found, currency)
     select r.institution_id, r.run_key, f.place, f.kind, f.subject, f.detail, f.account_id, f.entry, f.transfer_id, f.expected,
            f.found, f.currency
     from result r
     cross join unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[], $16::numeric[],
                       $17::numeric[], $18::text[])
       with ordinality as f (kind, subject, detail, account_id, entry, transfer_id, expected, found, currency, place)
   )
   insert into reconcile_runs (institution_id, started_at, finished_at, findings, full_at, checkpoint_at, checkpoint_epoch,
                               checkpoint_xid, run_key)
   select r.institution_id, $2, $3, $4, $6, $7, $8, $9::xid8, r.run_key from result r
   on conflict (institution_id) do update
   set started_at = excluded.started_at, finished_at = excluded.finished_at, findings = excluded.findings,
       full_at = coalesce(excluded.full_at, reconcile_runs.full_at),
       checkpoint_at = coalesce(excluded.checkpoint_at, reconcile_runs.checkpoint_at),
       checkpoint_epoch = coalesce(excluded.checkpoint_epoch, reconcile_runs.checkpoint_epoch),
       checkpoint_xid = coalesce(excluded.checkpoint_xid, reconcile_runs.checkpoint_xid),
       run_key = excluded.run_key
   where excluded.started_at >= reconcile_runs.started_at`,
);

interface CompleteRun {
  readonly startedAt: Date;
  readonly finishedAt: Date;
  readonly findings: KeptFindings;
  /** The run checked what had changed behind it. Undefined: it checked every row. */
  readonly since?: Checkpoint | undefined;
  /** A run with findings moves no checkpoint: the next one checks the same changes again. */
  readonly checkpoint: Checkpoint;
}

/** Keeps a complete run with its findings, also for the metrics and for the next run of changes. */
export async function recordRun(
  database: Database,
  institutionId: InstitutionId,
  run: CompleteRun,
): Promise<void> {
  await database.write(institutionId, (db) => insertRun(db, run));
}

const longest = { subject: 200, detail: 1_000 };

/** The same over a connection that the caller has. */
export async function insertRun(
  db: Queryable,
  { startedAt, finishedAt, findings, since, checkpoint }: CompleteRun,
): Promise<void> {
  const reached = findings.total === 0 ? checkpoint : undefined;
  const fullAt = since === undefined ? finishedAt : null;
  const kept = findings.kept.map(({ check, row, detail, ...found }) => ({
    ...found,
    kind: check,
    subject: row.slice(0, longest.subject),
    detail: detail.slice(0, longest.detail),
  }));
  const columns = columnsOf(
    kept,
    ...(['kind', 'subject', 'detail', 'accountId', 'entry', 'transferId', 'expected', 'found'] as const),
    'currency',
  );
  await db.query(record, [
    ...[db.institutionId, startedAt, finishedAt, findings.total, since?.at ?? null, fullAt],
    ...[reached?.at, reached?.epoch, reached?.xid],
    ...columns,
  ]);
}
