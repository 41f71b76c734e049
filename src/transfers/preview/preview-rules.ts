import { addDays, instantOf, type LocalDate, localDate } from '../../institutions/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { selectLimits } from '../limits/limit-queries.ts';
import { Counters, isStandIn, type Limit, periodStartOf } from '../rules/controls/limits.ts';
import type { FailureCode, TransferType } from '../rules/transfer.ts';
import { selectPolicies } from '../settings/setting-queries.ts';
import { type HistoryRow, selectFirstKey, selectHistory, selectKeyOfNewest } from './history-queries.ts';
import { type DecidingRules, type PastOrder, Replay, type RuleOutcome } from './replay.ts';

/** The most transfers that one preview reads, and the most that it names. */
export const mostRead = 250_000;
const mostNamed = 100;
const pageLength = 1_000;

/** Orders that have the same two outcomes: by the rules in force, and by the proposed ones. */
interface PreviewFigure {
  readonly currency: string;
  readonly present: RuleOutcome;
  readonly proposed: RuleOutcome;
  readonly transfers: number;
  readonly amountMinor: bigint;
}

/** An order on which the proposed rules decide otherwise. */
interface DifferingOrder {
  readonly transferId: string;
  readonly transferType: TransferType;
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly createdAt: Date;
  readonly present: RuleOutcome;
  readonly proposed: RuleOutcome;
}

export interface RulesPreview {
  /** The first of the days, or the first order that was read if there are more than a preview reads. */
  readonly since: Date;
  readonly until: Date;
  /** Older orders of these days were not read, and count against no limit. */
  readonly isCut: boolean;
  readonly figures: readonly PreviewFigure[];
  /** Orders that the thresholds and limits did not decide: refused for another reason, or an operator's. */
  readonly leftOut: number;
  readonly differing: number;
  /** The newest of them. */
  readonly newest: readonly DifferingOrder[];
}

/** The thresholds and limits in force. Limits while the core is away are not among them: they decide on no order of the past. */
export async function selectDecidingRules(
  database: Database,
  institutionId: InstitutionId,
): Promise<DecidingRules> {
  const [policies, limits] = await database.read(institutionId, (db) =>
    Promise.all([selectPolicies(db), selectLimits(db)]),
  );
  return {
    thresholds: policies.map(({ transferType, currency, review }) => ({
      transferType,
      currency,
      reviewAboveMinor: review?.aboveMinor ?? null,
      secondApprovalAboveMinor: review?.secondApprovalAboveMinor ?? null,
    })),
    limits: limits.filter((limit) => !isStandIn(limit)),
  };
}

/**
 * A dry run of the orders of the last days, once by the rules in force and once by the proposed ones. It changes nothing. Both runs count the
 * limits over the same orders: those that completed or are pending, and those that only a limit refused, if the rules let them pass. The
 * newest orders are read if there are too many.
 */
export async function previewRules(
  database: Database,
  institutionId: InstitutionId,
  {
    proposed,
    days,
    most = mostRead,
    now,
    timeZone,
  }: {
    readonly proposed: DecidingRules;
    readonly days: number;
    readonly most?: number;
    readonly now: Date;
    readonly timeZone: string;
  },
): Promise<RulesPreview> {
  const present = await selectDecidingRules(database, institutionId);
  const firstDay = addDays(localDate(now, timeZone), 1 - days);
  const firstMoment = instantOf(firstDay, '00:00', timeZone);
  const countFrom = countingStart([...present.limits, ...proposed.limits], firstDay);
  const runs = { present: new Replay(present), proposed: new Replay(proposed) };
  const tally = new Tally();
  const first = await database.read(institutionId, (db) =>
    selectFirstKey(db, instantOf(countFrom, '00:00', timeZone)),
  );
  const newestOnes =
    first === null
      ? null
      : await database.read(institutionId, (db) => selectKeyOfNewest(db, { from: first, most }));
  let from = newestOnes ?? first;
  let since = firstMoment;
  for (let isFirst = true; from !== null; isFirst = false) {
    const place = { from, limit: pageLength + 1 };
    const rows = await database.read(institutionId, (db) => selectHistory(db, place));
    const [oldest] = rows;
    if (isFirst && newestOnes !== null && oldest !== undefined && oldest.createdAt > since)
      since = oldest.createdAt;
    for (const row of rows.slice(0, pageLength)) {
      const order = pastOrderOf(row, timeZone);
      const outcomes = order && {
        present: runs.present.decide(order),
        proposed: runs.proposed.decide(order),
      };
      if (row.createdAt >= firstMoment) tally.add(row, order, outcomes);
    }
    from = rows[pageLength]?.transferKey ?? null;
  }
  return { since, until: now, isCut: newestOnes !== null, ...tally.result() };
}

/** The first day of the earliest period that has orders of the first day. */
function countingStart(limits: readonly Limit[], firstDay: LocalDate): LocalDate {
  const starts = limits
    .filter((limit) => Counters.counts(limit))
    .map(({ period }) => periodStartOf(period, firstDay));
  return starts.reduce((first, start) => (start < first ? start : first), firstDay);
}

/** These end an order that was accepted. */
const endings: ReadonlySet<FailureCode> = new Set([
  'transfer_declined',
  'transfer_cancelled',
  'transfer_expired',
  'core_rejected',
]);

/** Undefined for an order that neither a threshold nor a limit could decide. */
function pastOrderOf(row: HistoryRow, timeZone: string): PastOrder | undefined {
  const { transferType, customerKey, failureCode, clientId, reversesKey, verdict } = row;
  const isOrder = clientId !== null && reversesKey === null && transferType !== null && customerKey !== null;
  const hasEnded = failureCode !== null && endings.has(failureCode);
  const isDecided = failureCode === null || failureCode === 'limit_exceeded' || hasEnded;
  if (!isOrder || !isDecided || verdict === 'DECLINE') return undefined;
  return {
    ...{ transferType, amountMinor: row.amountMinor, currency: row.currency, createdAt: row.createdAt },
    day: localDate(row.createdAt, timeZone),
    userKey: row.userKey,
    from: { accountKey: row.accountKey, customerKey, diAccountType: row.diAccountType },
    isHeldByScreening: verdict === 'HOLD',
    hasEnded,
  };
}

class Tally {
  readonly #figures = new Map<string, PreviewFigure>();
  #leftOut = 0;
  #differing = 0;
  #newest: DifferingOrder[] = [];

  add(
    { transferId }: HistoryRow,
    order: PastOrder | undefined,
    outcomes: Pick<PreviewFigure, 'present' | 'proposed'> | undefined,
  ): void {
    if (order === undefined || outcomes === undefined) {
      this.#leftOut += 1;
      return;
    }
    const { transferType, amountMinor, currency, createdAt } = order;
    const key = `${currency} ${outcomes.present} ${outcomes.proposed}`;
    const before = this.#figures.get(key) ?? { currency, ...outcomes, transfers: 0, amountMinor: 0n };
    this.#figures.set(key, {
      ...before,
      transfers: before.transfers + 1,
      amountMinor: before.amountMinor + amountMinor,
    });
    if (outcomes.present === outcomes.proposed) return;
    this.#differing += 1;
    this.#newest.push({ transferId, transferType, amountMinor, currency, createdAt, ...outcomes });
    if (this.#newest.length > mostNamed) this.#newest.shift();
  }

  result() {
    return {
      figures: [...this.#figures.values()],
      leftOut: this.#leftOut,
      differing: this.#differing,
      newest: this.#newest.toReversed(),
    };
  }
}
