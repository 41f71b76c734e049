import { deleteAlertsBefore } from '../../alerts/index.ts';
import { runAuthMaintenance } from '../../auth/index.ts';
import {
  maintainAudit,
  makeEventPartitions,
  markEventNumbers,
  selectInstitutionsToMaintain,
  wholeService,
  wipeExpiredSecrets,
} from '../../events/index.ts';
import { type Institution, listInstitutions } from '../../institutions/index.ts';
import { forgetRegistrationTries } from '../../members/index.ts';
import { deleteOldChanges } from '../../memory/index.ts';
import { deleteExpiredDevices, deleteExpiredOperatorSessions } from '../../operators/index.ts';
import { expireRuns } from '../../reconciliation/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { expireLimitCounters } from '../../transfers/index.ts';
import { expireAttempts } from '../../webhooks/index.ts';
import type { AppContext } from '../context.ts';
import type { Log } from '../service-log.ts';

const intervalMillis = 60_000;
/** Alerts stay in the inbox for a little more than a year. */
const alertDays = 400;

/** So many turns, one a minute, reach each institution. */
const turnsPerTour = 60;

/**
 * Runs the maintenance once a minute: of the institutions with entries to seal, expired secrets or many new events, and in turn of
 * a sixtieth of all others, since old rows may wait for an hour. Returns a function that stops it.
 */
export function startMaintenance(context: AppContext, log: Log): () => void {
  const { database, clock } = context;
  let last: InstitutionId | undefined;
  const round = async () => {
    const [institutions, withWork] = await database.directory((db) =>
      Promise.all([listInstitutions(db), selectInstitutionsToMaintain(db, clock())]),
    );
    const turn = nextTurn(institutions, last);
    last = turn.at(-1)?.institutionId;
    const others = institutions.filter((one) => withWork.includes(one.institutionId) && !turn.includes(one));
    await runMaintenance(context, log, [...turn, ...others]);
  };
  const timer = setInterval(() => {
    round().catch((error) => log('housekeeping_failed', { error }));
  }, intervalMillis);
  return () => clearInterval(timer);
}

/** The institutions behind the last one of the turn before, around the list. */
export function nextTurn<One extends Pick<Institution, 'institutionId'>>(
  institutions: readonly One[],
  last: InstitutionId | undefined,
): readonly One[] {
  const place = institutions.findIndex(({ institutionId }) => institutionId === last) + 1;
  const inOrder = [...institutions.slice(place), ...institutions.slice(0, place)];
  return inOrder.slice(0, Math.ceil(institutions.length / turnsPerTour));
}

/** Runs every task of these institutions, or of all. A task that fails is logged, and tried again the next time. */
export async function runMaintenance(
  context: AppContext,
  log: Log,
  institutions?: readonly Institution[],
): Promise<void> {
  const { auth, clock, businessTime, database, auditRetention } = context;
  const attempt = async (institution: string | undefined, task: string, work: () => Promise<unknown>) => {
    await work().catch((error) => log('housekeeping_failed', { institution, task, error }));
  };
  const { vault } = auth;
  const maintain = async (institutionId: InstitutionId, institution: string | undefined) => {
    // The log is another place than the database: an anchor in it dates a later rewrite of the chain.
    for (const { chain, number, jws } of await maintainAudit(
      { database, vault, clock },
      institutionId,
      auditRetention,
    )) {
      log('audit_anchored', { institution, chain, number, anchor: jws });
    }
  };
  await attempt(undefined, 'signing_keys', () => auth.keys.maintain());
  await attempt(undefined, 'audit', () => maintain(wholeService, undefined));
  await attempt(undefined, 'event_partitions', async () => {
    const made = await database.directory(makeEventPartitions);
    if (made > 0) log('event_partitions_made', { made });
  });
  await attempt(undefined, 'changes', () => database.directory((db) => deleteOldChanges(db, clock())));
  for (const { institutionId, code } of institutions ?? (await database.directory(listInstitutions))) {
    await attempt(code, 'tokens', () => runAuthMaintenance(auth, institutionId));
    await attempt(code, 'secrets', () =>
      database.write(institutionId, (db) => wipeExpiredSecrets(db, businessTime(institutionId, clock()))),
    );
    await attempt(code, 'operator_sessions', () =>
      database.write(institutionId, (db) => deleteExpiredOperatorSessions(db, clock())),
    );
    await attempt(code, 'operator_devices', () =>
      database.write(institutionId, (db) => deleteExpiredDevices(db, clock())),
    );
    await attempt(code, 'event_numbers', () => database.write(institutionId, markEventNumbers));
    await attempt(code, 'webhook_attempts', () =>
      database.write(institutionId, (db) => expireAttempts(db, clock())),
    );
    await attempt(code, 'alerts', () =>
      database.write(institutionId, (db) =>
        deleteAlertsBefore(db, new Date(clock().getTime() - alertDays * 86_400_000)),
      ),
    );
    await attempt(code, 'reconcile_runs', () =>
      database.write(institutionId, (db) => expireRuns(db, clock())),
    );
    await attempt(code, 'registration_tries', () =>
      forgetRegistrationTries(database, institutionId, clock()),
    );
    await attempt(code, 'audit', () => maintain(institutionId, code));
    await attempt(code, 'limit_counters', () =>
      database.write(institutionId, (db) => expireLimitCounters(db, clock())),
    );
  }
}
