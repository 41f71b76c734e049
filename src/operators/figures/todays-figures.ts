import { type BusinessTime, type Institution, instantOf, localDate } from '../../institutions/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { selectInstitutionFacts } from '../doctor/facts.ts';
import {
  type ReviewsRow,
  selectDeclines,
  selectMinutes,
  selectMoved,
  selectReviews,
  selectSignIns,
  selectWebhookLag,
} from './figure-queries.ts';
import { edgesOfAges, type WaitingAge, waitingAges } from './waiting-ages.ts';

/** The transfers that wait for one reason, with their number in each band of age. */
interface WaitingFigures extends Pick<ReviewsRow, 'heldFor' | 'transfers' | 'oldestAt' | 'nextDueAt'> {
  readonly ages: readonly { readonly age: WaitingAge; readonly transfers: number }[];
}

const dayMillis = 24 * 60 * 60_000;

/** The figures of the institution's day until now, at one moment. Amounts are decimal text. */
export function todaysFigures(
  {
    database,
    clock,
    businessTime,
  }: { readonly database: Database; readonly clock: Clock; readonly businessTime: BusinessTime },
  { institutionId, timeZone }: Institution,
) {
  // Transfers have the time of business, the audit that of the clock.
  const [now, at] = [businessTime(institutionId, clock()), clock()];
  const since = instantOf(localDate(now, timeZone), '00:00', timeZone);
  return database.snapshot(institutionId, async (tx) => {
    const [moved, declines, lastHour, hourYesterday, waiting, signIns, lag, facts] = await Promise.all([
      selectMoved(tx, since),
      selectDeclines(tx, since),
      selectMinutes(tx, now),
      selectMinutes(tx, new Date(now.getTime() - dayMillis)),
      selectReviews(tx, edgesOfAges(now)),
      selectSignIns(tx, instantOf(localDate(at, timeZone), '00:00', timeZone)),
      selectWebhookLag(tx),
      selectInstitutionFacts(tx),
    ]);
    return {
      at: now,
      since,
      moved: moved.map(({ amount, ...row }) => ({
        ...row,
        amount: formatMinor(BigInt(amount), row.currency),
      })),
      declines,
      perMinute: { lastHour, hourYesterday },
      waiting: waiting.map(
        ({ under15Minutes, underAnHour, underADay, older, ...row }): WaitingFigures => ({
          ...row,
          ages: [under15Minutes, underAnHour, underADay, older].map((transfers, place) => ({
            age: waitingAges[place] as WaitingAge,
            transfers,
          })),
        }),
      ),
      signIns,
      webhooks: {
        endpoints: facts.webhooks,
        disabled: facts.webhooksDisabled,
        failingSince: facts.webhooksFailingSince,
        eventsBehind: Number(lag.eventsBehind),
        lagSeconds: lag.oldestAt && Math.max(0, (now.getTime() - lag.oldestAt.getTime()) / 1000),
      },
      core: { heardAt: facts.coreHeardAt, oldestUndeliveredAt: facts.oldestUndeliveredAt },
      reconcile: {
        finishedAt: facts.reconciledAt,
        findings: facts.findings,
        runId: facts.reconcileRun && String(facts.reconcileRun),
      },
    };
  });
}
