import type { Registry } from '../metrics/index.ts';
import { type StandbyState, Standbys, standbyStates } from '../standbys/index.ts';
import type { Config } from './config.ts';
import type { AppContext } from './context.ts';
import type { Log } from './service-log.ts';

/** Reads of history from standbys; undefined without STANDBY_DATABASE_URL. */
export function openStandbys(
  { standbyDatabaseUrl: url, databaseConnections, allowServingAsDatabaseOwner }: Config,
  { database, auth: { memory }, sessionSettings, served }: AppContext,
  log: Log,
): Standbys | undefined {
  if (url === undefined) return undefined;
  return new Standbys({
    url,
    primary: database,
    position: () =>
      new Promise((resolve) =>
        memory.check([], (error) => resolve(error === null ? memory.logPosition : null)),
      ),
    maxConnections: databaseConnections,
    sessionSettings,
    mayOwnerServe: allowServingAsDatabaseOwner,
    requireServed: served.require,
    log,
  });
}

/** The figures of a process that reads from standbys. */
export function measureStandbys(registry: Registry, standbys: Standbys): void {
  registry.gauge(
    {
      name: 'sharedraft_standbys',
      help: 'Standbys by state; only current ones take reads.',
      together: 'max',
    },
    () =>
      standbyStates.map((state) => [
        { state },
        standbys.states.filter((one: StandbyState) => one === state).length,
      ]),
  );
  registry.gauge(
    {
      name: 'sharedraft_standby_lag_seconds',
      help: 'Time since a standby had last replayed everything; 0 while one has.',
      together: 'max',
    },
    () => standbys.lagSeconds,
  );
  registry.readCounter(
    {
      name: 'sharedraft_history_reads_total',
      help: 'Reads of history, by outcome: current are those that a standby answered, the others are reasons for the primary.',
    },
    () => [...standbys.counts].map(([outcome, count]) => [{ outcome }, count]),
  );
}
