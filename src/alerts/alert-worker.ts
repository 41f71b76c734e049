import { randomUUID } from 'node:crypto';
import { repeatedly } from '../shared/process/repeatedly.ts';
import type { InstitutionId } from '../storage/index.ts';
import { type EvaluateDeps, evaluate } from './derivation/evaluate.ts';
import { selectInstitutionsToDerive } from './derivation/evaluate-queries.ts';
import { releaseAlerts } from './release/release.ts';

const lookMillis = 500;

export interface AlertWorker {
  /** Waits until the batch under way is written. */
  stop(): Promise<void>;
}

export type AlertDeps = Omit<EvaluateDeps, 'processId'>;

/** Derives alerts and writes their events in the background. Any number of processes may run it. */
export function startAlertWorker(
  deps: AlertDeps & { readonly onError: (error: unknown, institutionId?: InstitutionId) => void },
): AlertWorker {
  const processId = randomUUID();
  let isStopped = false;
  const isStopping = () => isStopped;
  const serve = async (institutionId: InstitutionId) => {
    try {
      await evaluate({ ...deps, processId }, institutionId, isStopping);
      await releaseAlerts(deps, institutionId, isStopping);
    } catch (error) {
      deps.onError(error, institutionId);
    }
  };
  const look = async () => {
    const now = deps.clock();
    const found = await deps.database.directory((db) => selectInstitutionsToDerive(db, { now, processId }));
    await Promise.all(found.map(serve));
  };
  const looks = repeatedly(look, { everyMillis: lookMillis, onError: deps.onError });
  return {
    stop: async () => {
      isStopped = true;
      await looks.stop();
    },
  };
}
