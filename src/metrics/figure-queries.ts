import { type Directory, sql } from '../storage/index.ts';

/** Figures of all institutions together. */
export interface OperationalFigures {
  /** The database's own time. */
  readonly databaseTime: Date;
  readonly institutions: number;
  readonly pending: number;
  readonly due: number;
  readonly overdue: number;
  readonly oldestDueSeconds: number;
  readonly stopped: number;
  readonly reviews: number;
  readonly oldestReviewSeconds: number;
  readonly feedLagSeconds: number;
  /** Null: no key signs yet. */
  readonly signingKeyAgeSeconds: number | null;
  readonly reconcileFindings: number;
  /** Null: reconcile never ran. */
  readonly reconcileAgeSeconds: number | null;
  readonly webhooksActive: number;
  readonly webhooksFailing: number;
  readonly webhooksPaused: number;
  readonly webhooksDisabled: number;
  readonly webhookEventsWaiting: number;
  readonly webhookEventsParked: number;
  readonly webhookLagSeconds: number;
  readonly alertLagSeconds: number;
  readonly alertsDue: number;
  readonly mailLagSeconds: number;
  readonly mailWaiting: number;
  readonly mailParked: number;
  readonly mailSuppressed: number;
  readonly logoutsWaiting: number;
  /** Institutions whose core keeps the books. */
  readonly cores: number;
  /** Null: no core has called yet. */
  readonly coreSilenceSeconds: number | null;
  readonly coreInstructionsOpen: number;
  readonly coreOldestInstructionSeconds: number;
  readonly auditSealLagSeconds: number;
  /** Events for which partitions are made, behind the last one. */
  readonly eventKeysAhead: bigint;
  /** Size of the partition that takes the events beyond all others. */
  readonly eventDefaultBytes: bigint;
  /** The classes that have open breaks. */
  readonly breaks: readonly BreakFigures[];
}

export interface BreakFigures {
  readonly class: string;
  readonly open: number;
  readonly oldestSeconds: number;
}

const figures = sql(
  'metrics_figures',
  `select clock_timestamp() as database_time, institutions, pending, due, overdue, oldest_due_seconds, stopped, reviews, oldest_review_seconds,
          feed_lag_seconds, signing_key_age_seconds, reconcile_findings, reconcile_age_seconds,
          w.active as webhooks_active, w.failing as webhooks_failing, w.paused as webhooks_paused,
          w.disabled as webhooks_disabled, w.waiting as webhook_events_waiting, w.parked as webhook_events_parked,
          w.lag_seconds as webhook_lag_seconds, c.cores, c.silence_seconds as core_silence_seconds,
          c.open_instructions as core_instructions_open, c.oldest_instruction_seconds as core_oldest_instruction_seconds,
          a.seal_lag_seconds as audit_seal_lag_seconds, m.lag_seconds as alert_lag_seconds, m.alerts_due,
          p.keys_ahead as event_keys_ahead, p.default_bytes as event_default_bytes, m.mail_lag_seconds, m.mail_waiting, m.mail_parked, m.mail_suppressed,
          l.waiting as logouts_waiting,
          (select coalesce(jsonb_agg(jsonb_build_object('class', class, 'open', open, 'oldestSeconds', oldest_seconds)), '[]')
           from (select class, sum(open) as open, max(oldest_seconds) as oldest_seconds
                 from break_figures($1) group by class order by class) as by_class) as breaks
   from operational_figures($1), webhook_figures($1) w, core_figures($1) c, audit_figures($1) a,
        alert_figures($1) m, event_partition_figures() p, logout_figures() l`,
);

export async function selectOperationalFigures(db: Directory, now: Date): Promise<OperationalFigures> {
  const { rows } = await db.query<OperationalFigures>(figures, [now]);
  return rows[0] as OperationalFigures;
}
