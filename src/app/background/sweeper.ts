import { expireAuthorizations, followBreaks, selectCoresToTend } from '../../core-connection/index.ts';
import { type Institution, listAllInstitutions } from '../../institutions/index.ts';
import { repeatedly } from '../../shared/process/repeatedly.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { selectInstitutionsToSettle, settleDue, type TransferDesk } from '../../transfers/index.ts';
import type { AppContext } from '../context.ts';
import type { Log } from '../service-log.ts';

const sweepMillis = 500;
/** Between two looks for authorizations and breaks of the cores. */
const tendMillis = 2_000;
/** Institutions swept at the same time. One that waits for locks takes one of these for up to eight seconds. */
const mostSwept = 16;

/**
 * Settles the pending transfers that are due, twice a second; every two seconds it ends the core's authorizations whose time is over,
 * and follows the breaks between both books. One transaction with a question for all institutions finds those with something to do.
 * Every process sweeps; the first one that sees a due transfer settles it. Institutions are swept apart from each other, so that one that fails or
 * waits for locks delays no other.
 */
export function startSweeping(context: AppContext, desk: TransferDesk, log: Log): { stop(): Promise<void> } {
  const { database, clock } = context;
  const underWay = new Map<InstitutionId, Promise<void>>();
  let known = new Map<InstitutionId, Institution>();
  /** How far the open breaks of each institution were looked at. */
  const followedUpTo = new Map<InstitutionId, bigint>();
  let tendedAt = Number.NEGATIVE_INFINITY;
  const begin = (institutionId: InstitutionId, work: () => Promise<unknown>) => {
    const swept = work()
      .catch((error) => log('sweep_failed', { institution: known.get(institutionId)?.code, error }))
      .then(() => {
        underWay.delete(institutionId);
      });
    underWay.set(institutionId, swept);
  };
  let stopped = false;
  const look = async () => {
    const now = clock();
    const isTending = performance.now() - tendedAt >= tendMillis;
    const [institutions, toSettle, toTend] = await database.directoryAtOnce((db) =>
      Promise.all([
        listAllInstitutions(db),
        selectInstitutionsToSettle(db, now),
        isTending ? selectCoresToTend(db, now) : [],
      ]),
    );
    if (isTending) tendedAt = performance.now();
    known = new Map(institutions.map((one) => [one.institutionId, one]));
    context.sandboxClocks.learn(institutions);
    context.served.learn(institutions);
    const tended = new Set(toTend);
    const settled = new Set(toSettle);
    for (const institutionId of settled.union(tended)) {
      if (stopped) return;
      if (underWay.has(institutionId)) continue;
      if (underWay.size >= mostSwept) await Promise.race(underWay.values());
      begin(institutionId, async () => {
        if (settled.has(institutionId)) await settleDue(desk, institutionId);
        if (!tended.has(institutionId)) return;
        await expireAuthorizations(context, institutionId);
        if (known.get(institutionId)?.record !== 'core') return;
        const after = followedUpTo.get(institutionId) ?? 0n;
        followedUpTo.set(institutionId, await followBreaks(context, institutionId, after));
      });
    }
  };
  const onError = (error: unknown) => log('sweep_failed', { error });
  const looks = repeatedly(look, { everyMillis: sweepMillis, onError });
  return {
    stop: async () => {
      stopped = true;
      await looks.stop();
      await Promise.all(underWay.values());
    },
  };
}
