import { type Queryable, sql } from '../storage/index.ts';
import type { FindingKind } from './finding-kinds.ts';

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

/** A complete run that is kept with its findings. */
export interface ReconcileRun extends LastRun {
  readonly runKey: bigint;
  /** The checkpoint behind which it looked for changes. Null: it checked every row. */
  readonly changedSince: Date | null;
  /** The findings that are kept, at most a hundred of each kind. */
  readonly kept: number;
}

const columns = 'r.run_key, r.started_at, r.finished_at, r.changed_since, r.findings, r.kept';

const runs = sql(
  'reconciliation_runs',
  `select ${columns} from reconcile_results r
   where r.institution_id = $1 and r.run_key < $2 and (r.findings > 0 or not $3::boolean) order by r.run_key desc limit $4`,
);

/** The newest first. */
export async function selectRuns(
  db: Queryable,
  {
    below,
    withFindings,
    limit,
  }: { readonly below: bigint; readonly withFindings: boolean; readonly limit: number },
): Promise<ReconcileRun[]> {
  return (await db.query<ReconcileRun>(runs, [db.institutionId, below, withFindings, limit])).rows;
}

const one = sql(
  'reconciliation_run',
  `select ${columns} from reconcile_results r where r.institution_id = $1 and r.run_key = $2`,
);

export async function selectRun(db: Queryable, runKey: bigint): Promise<ReconcileRun | undefined> {
  return (await db.query<ReconcileRun>(one, [db.institutionId, runKey])).rows[0];
}

const newest = sql(
  'reconciliation_newest_run',
  `select ${columns} from reconcile_results r where r.institution_id = $1 order by r.run_key desc limit 1`,
);

export async function selectNewestRun(db: Queryable): Promise<ReconcileRun | undefined> {
  return (await db.query<ReconcileRun>(newest, [db.institutionId])).rows[0];
}

/** A finding as a run keeps it. */
export interface KeptFinding {
  /** From 1, in the order in which the run found them. */
  readonly place: number;
  readonly kind: FindingKind;
  readonly subject: string;
  readonly detail: string;
  readonly accountId: string | null;
  readonly entry: bigint | null;
  readonly transferId: string | null;
  readonly expected: string | null;
  readonly found: string | null;
  readonly currency: string | null;
}

const findings = sql(
  'reconciliation_findings',
  `select f.place, f.kind, f.subject, f.detail, f.account_id, f.entry, f.transfer_id, f.expected, f.found, f.currency
   from reconcile_findings f
   where f.institution_id = $1 and f.run_key = $2 and f.place > $3 and ($4::text is null or f.kind = $4)
   order by f.place limit $5`,
);

export async function selectFindings(
  db: Queryable,
  wanted: {
    readonly runKey: bigint;
    readonly after: number;
    readonly kind: FindingKind | undefined;
    readonly limit: number;
  },
): Promise<KeptFinding[]> {
  const { runKey, after, kind = null, limit } = wanted;
  return (await db.query<KeptFinding>(findings, [db.institutionId, runKey, after, kind, limit])).rows;
}

export interface CountOfKind {
  readonly kind: FindingKind;
  readonly findings: number;
}

const kinds = sql(
  'reconciliation_kinds_of_run',
  `select f.kind, count(*)::integer as findings from reconcile_findings f
   where f.institution_id = $1 and f.run_key = $2 group by f.kind order by min(f.place)`,
);

/** The kept findings of a run by kind, in the order in which the run came to them. */
export async function selectKindsOfRun(db: Queryable, runKey: bigint): Promise<CountOfKind[]> {
  return (await db.query<CountOfKind>(kinds, [db.institutionId, runKey])).rows;
}

// The last run stays, however old it is: Today counts its findings.
const expire = sql(
  'reconciliation_expire_runs',
  `delete from reconcile_results r
   where r.institution_id = $1 and r.finished_at < $2
     and r.run_key is distinct from (select l.run_key from reconcile_runs l where l.institution_id = $1)`,
);

const keptDays = 400;

/** Deletes runs that are older than 400 days, with their findings. The database keeps those of the last ninety in any case. */
export async function expireRuns(db: Queryable, now: Date): Promise<void> {
  await db.query(expire, [db.institutionId, new Date(now.getTime() - keptDays * 86_400_000)]);
}
