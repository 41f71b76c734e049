import { type Directory, sql } from '../storage/index.ts';

/** Of all institutions together. */
export interface OperationalFigures {
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
}

const figures = sql(
  'metrics_figures',
  `select institutions, pending, due, overdue, oldest_due_seconds, stopped, reviews, oldest_review_seconds,
          feed_lag_seconds, signing_key_age_seconds, reconcile_findings, reconcile_age_seconds
   from operational_figures($1)`,
);

export async function selectOperationalFigures(db: Directory, now: Date): Promise<OperationalFigures> {
  const { rows } = await db.query<OperationalFigures>(figures, [now]);
  return rows[0] as OperationalFigures;
}
