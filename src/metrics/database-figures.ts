import { within } from '../shared/within.ts';
import type { Clock, Database } from '../storage/index.ts';
import { type BreakFigures, type OperationalFigures, selectOperationalFigures } from './figure-queries.ts';
import type { Registry } from './registry.ts';

/** A scrape within this time gets the figures of the one before. */
const freshMillis = 5_000;
/** A scrape waits no longer for the database. The question goes on, and a later scrape gets its result. */
const patienceMillis = 2_000;

/**
 * The figures that only the database has. They are read at a scrape, at most once at a time, and a silent database does not
 * hold up the scrape: `sharedraft_database_up` is then 0 and the other figures are left out.
 */
export class DatabaseFigures {
  readonly #database: Pick<Database, 'directory'>;
  readonly #clock: Clock;
  #figures: OperationalFigures | undefined;
  #clockOffsetSeconds: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;

  constructor(database: Pick<Database, 'directory'>, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** Resolves within the patience, with fresh figures if the database responds. */
  async refresh(): Promise<void> {
    if (performance.now() - this.#readAt < freshMillis) return;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    if (!(await within(patienceMillis, this.#reading))) this.#figures = undefined;
  }

  async #read(): Promise<void> {
    try {
      const asked = this.#clock();
      const figures = await this.#database.directory((db) => selectOperationalFigures(db, asked));
      this.#clockOffsetSeconds = clockOffsetSeconds({
        asked,
        told: figures.databaseTime,
        heard: this.#clock(),
      });
      this.#figures = figures;
      this.#readAt = performance.now();
    } catch {
      // The service logs the failures of its own requests; here the figure is the message.
      this.#figures = undefined;
    }
  }

  register(metrics: Registry): void {
    const gauge = (name: string, help: string, of: (figures: OperationalFigures) => number | null) =>
      metrics.gauge({ name, help }, () => (this.#figures && of(this.#figures)) ?? undefined);
    metrics.gauge(
      { name: 'sharedraft_database_up', help: '1 if the database responded to this scrape, else 0.' },
      () => (this.#figures === undefined ? 0 : 1),
    );
    metrics.gauge(
      {
        name: 'sharedraft_clock_offset_seconds',
        help: 'How far the clock of this process is ahead of the database, at least; negative if it is behind.',
      },
      () => this.#figures && this.#clockOffsetSeconds,
    );
    gauge('sharedraft_institutions', 'Institutions.', (of) => of.institutions);
    gauge('sharedraft_transfers_pending', 'Pending transfers.', (of) => of.pending);
    gauge('sharedraft_transfers_due', 'Transfers that the clock posts or expires now.', (of) => of.due);
    gauge(
      'sharedraft_transfers_overdue',
      'Transfers that have been due for more than a minute.',
      (of) => of.overdue,
    );
    gauge(
      'sharedraft_transfers_oldest_due_seconds',
      'Time since the oldest due transfer fell due; 0 if none is due.',
      (of) => of.oldestDueSeconds,
    );
    gauge(
      'sharedraft_transfers_stopped',
      'Due transfers of members who are locked: an operator has to decide.',
      (of) => of.stopped,
    );
    gauge('sharedraft_reviews_waiting', 'Transfers that wait for a review.', (of) => of.reviews);
    gauge(
      'sharedraft_reviews_oldest_seconds',
      'Age of the oldest transfer that waits for a review; 0 if none waits.',
      (of) => of.oldestReviewSeconds,
    );
    gauge(
      'sharedraft_feed_lag_seconds',
      'Age of the oldest event that readers cannot see yet, because an earlier transaction is running.',
      (of) => of.feedLagSeconds,
    );
    gauge(
      'sharedraft_signing_key_age_seconds',
      'Time since the present signing key took over.',
      (of) => of.signingKeyAgeSeconds,
    );
    gauge(
      'sharedraft_reconcile_findings',
      'Rows that the last run of reconcile found off, all institutions together.',
      (of) => of.reconcileFindings,
    );
    gauge(
      'sharedraft_reconcile_age_seconds',
      'Time since the last run of reconcile, of the institution that waits longest; absent before the first run.',
      (of) => of.reconcileAgeSeconds,
    );
    gauge(
      'sharedraft_audit_seal_lag_seconds',
      'Age of the oldest audit entry that is not sealed in its chain; 0 if all are.',
      (of) => of.auditSealLagSeconds,
    );
    gauge(
      'sharedraft_event_keys_ahead',
      'Events for which partitions are made ahead of the last one.',
      (of) => Number(of.eventKeysAhead),
    );
    gauge(
      'sharedraft_event_default_bytes',
      'Size of the partition that takes events beyond all others; 0 unless the partitions ahead were used up.',
      (of) => Number(of.eventDefaultBytes),
    );
    this.#registerWebhooks(metrics);
    this.#registerAlerts(metrics);
    gauge('sharedraft_cores', 'Institutions whose core keeps the books.', (of) => of.cores);
    gauge(
      'sharedraft_core_silence_seconds',
      'Time since the last request of a connector, of the core that has been silent longest; absent before the first one.',
      (of) => of.coreSilenceSeconds,
    );
    gauge(
      'sharedraft_core_instructions_open',
      'Instructions whose outcome no core has reported.',
      (of) => of.coreInstructionsOpen,
    );
    gauge(
      'sharedraft_core_instructions_oldest_seconds',
      'Age of the oldest open instruction; 0 if none is open.',
      (of) => of.coreOldestInstructionSeconds,
    );
    this.#registerBreaks(metrics);
  }

  #registerBreaks(metrics: Registry): void {
    const byClass = (name: string, help: string, of: (figures: BreakFigures) => number) =>
      metrics.gauge({ name, help }, () =>
        this.#figures?.breaks.map((figures) => [{ class: figures.class }, of(figures)]),
      );
    byClass(
      'sharedraft_core_breaks_open',
      'Open breaks with the books of the cores, by class; absent for a class without one.',
      ({ open }) => open,
    );
    byClass(
      'sharedraft_core_breaks_oldest_seconds',
      'Age of the oldest open break of the class.',
      ({ oldestSeconds }) => oldestSeconds,
    );
  }

  #registerAlerts(metrics: Registry): void {
    const gauge = (name: string, help: string, of: (figures: OperationalFigures) => number) =>
      metrics.gauge({ name, help }, () => this.#figures && of(this.#figures));
    gauge(
      'sharedraft_alert_lag_seconds',
      'Age of the oldest event from which no alert was derived yet; 0 if there is none.',
      (of) => of.alertLagSeconds,
    );
    gauge('sharedraft_alerts_due', 'Alerts whose time has come and that are not out.', (of) => of.alertsDue);
    gauge(
      'sharedraft_mail_lag_seconds',
      'Age of the oldest event that the mail to members has yet to deal with; 0 if there is none.',
      (of) => of.mailLagSeconds,
    );
    metrics.gauge(
      {
        name: 'sharedraft_mail_messages',
        help: 'Messages to members that the mail server did not take, by state.',
      },
      () =>
        this.#figures && [
          [{ state: 'waiting' }, this.#figures.mailWaiting],
          [{ state: 'parked' }, this.#figures.mailParked],
        ],
    );
    gauge('sharedraft_mail_suppressed', 'Addresses that get no mail.', (of) => of.mailSuppressed);
    gauge(
      'sharedraft_logouts_waiting',
      'Ends of sessions that an app has yet to accept.',
      (of) => of.logoutsWaiting,
    );
  }

  #registerWebhooks(metrics: Registry): void {
    const byLabel = (
      name: string,
      { help, label }: { readonly help: string; readonly label: string },
      of: (figures: OperationalFigures) => Readonly<Record<string, number>>,
    ) =>
      metrics.gauge(
        { name, help },
        () =>
          this.#figures &&
          Object.entries(of(this.#figures)).map(([value, count]) => [{ [label]: value }, count]),
      );
    byLabel(
      'sharedraft_webhook_endpoints',
      { help: 'Endpoints of webhooks by state; failing ones are active.', label: 'state' },
      (of) => ({
        active: of.webhooksActive,
        failing: of.webhooksFailing,
        paused: of.webhooksPaused,
        disabled: of.webhooksDisabled,
      }),
    );
    byLabel(
      'sharedraft_webhook_events',
      { help: 'Events that an endpoint has not accepted, by state.', label: 'state' },
      (of) => ({ waiting: of.webhookEventsWaiting, parked: of.webhookEventsParked }),
    );
    metrics.gauge(
      {
        name: 'sharedraft_webhook_lag_seconds',
        help: 'Age of the oldest event that an active endpoint has yet to accept; 0 if there is none.',
      },
      () => this.#figures?.webhookLagSeconds,
    );
  }
}

/** The difference beyond the time of the question: the database told its time between `asked` and `heard`. */
export function clockOffsetSeconds({
  asked,
  told,
  heard,
}: {
  readonly asked: Date;
  readonly told: Date;
  readonly heard: Date;
}): number {
  if (told < asked) return (asked.getTime() - told.getTime()) / 1_000;
  if (told > heard) return (heard.getTime() - told.getTime()) / 1_000;
  return 0;
}
