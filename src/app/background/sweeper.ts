import { expireAuthorizations, followBreaks } from '../../core-connection/index.ts';
import { type Institution, listInstitutions } from '../../institutions/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { settleDue, type TransferDesk } from '../../transfers/index.ts';
import type { AppContext } from '../context.ts';
import type { Log } from '../service-log.ts';

const sweepMillis = 500;
/** Between two looks for breaks of an institution. */
const followMillis = 2_000;
/** Institutions swept at the same time. One that waits for locks takes one of these for up to eight seconds. */
const mostSwept = 16;

/**
 * Settles the pending transfers that are due and ends the core's authorizations whose time is over, twice a second, and follows
 * the breaks between both books. Every process sweeps; the first one that sees a due transfer
 * settles it. Institutions are swept apart from each other, so that one that fails or waits for locks delays no other.
 */
export function startSweeping(context: AppContext, desk: TransferDesk, log: Log): { stop(): Promise<void> } {
  const { database } = context;
  const underWay = new Map<InstitutionId, Promise<void>>();
  const followedAt = new Map<InstitutionId, number>();
  const follow = async ({ institutionId, record }: Institution) => {
    const now = performance.now();
    if (record !== 'core' || now - (followedAt.get(institutionId) ?? 0) < followMillis) return;
    followedAt.set(institutionId, now);
    await followBreaks(context, institutionId);
  };
  const begin = (institution: Institution) => {
    const { institutionId, code } = institution;
    const swept = settleDue(desk, institutionId)
      .then(() => expireAuthorizations(context, institutionId))
      .then(() => follow(institution))
      .catch((error) => log('sweep_failed', { institution: code, error }))
      .then(() => {
        underWay.delete(institutionId);
      });
    underWay.set(institutionId, swept);
  };
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();
  const look = async () => {
    try {
      const institutions = await database.directory(listInstitutions);
      context.sandboxClocks.learn(institutions);
      for (const institution of institutions) {
        if (stopped) return;
        if (underWay.has(institution.institutionId)) continue;
        if (underWay.size >= mostSwept) await Promise.race(underWay.values());
        begin(institution);
      }
    } catch (error) {
      log('sweep_failed', { error });
    }
    if (!stopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => {
      looking = look();
    }, sweepMillis);
  };
  schedule();
  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await looking;
      await Promise.all(underWay.values());
    },
  };
}
