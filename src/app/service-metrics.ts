import { DatabaseFigures, type Family, Registry, watchProcess, watchSeams } from '../metrics/index.ts';
import { transferLanes } from '../transfers/index.ts';
import type { AppContext, OpenDesk } from './context.ts';

/** The metrics of one process. */
export interface ServiceMetrics {
  readonly registry: Registry;
  /** Every family, as of now. */
  read(): readonly Family[];
  stop(): void;
}

/** Metrics of a process that serves. A part that comes later adds its figures here, with a line for each. */
export function measureService(context: AppContext, desk: OpenDesk): ServiceMetrics {
  const registry = new Registry();
  const stops = [watchSeams(registry), watchProcess(registry)];
  const { auth, commits } = context;
  const queues = { logins: auth.logins, hashing: auth.passwords.queue, orders: desk.desk.queue };
  const pools = { service: context.database, desk: desk.ledger };
  registry.gauge(
    { name: 'sharedraft_queue_waiting', help: 'Work that waits: sign-ins, passwords to hash, orders.' },
    () => Object.entries(queues).map(([queue, { waiting }]) => [{ queue }, waiting]),
  );
  registry.gauge(
    { name: 'sharedraft_queue_capacity', help: 'The most that may wait. Beyond it requests get 503.' },
    () => Object.entries(queues).map(([queue, { capacity }]) => [{ queue }, capacity]),
  );
  registry.gauge({ name: 'sharedraft_lanes', help: 'Batches that may run at once.' }, () => transferLanes);
  registry.gauge(
    { name: 'sharedraft_lanes_busy', help: 'Batches that run.' },
    () => desk.desk.queue.busyLanes,
  );
  registry.gauge(
    { name: 'sharedraft_pool_connections', help: 'Connections to the database, by state.' },
    () =>
      Object.entries(pools).flatMap(
        ([
          pool,
          {
            pool: { open, idle },
          },
        ]) => [[{ pool, state: 'idle' }, idle] as const, [{ pool, state: 'busy' }, open - idle] as const],
      ),
  );
  registry.gauge({ name: 'sharedraft_pool_capacity', help: 'The most connections of a pool.' }, () =>
    Object.entries(pools).map(
      ([
        pool,
        {
          pool: { most },
        },
      ]) => [{ pool }, most],
    ),
  );
  registry.gauge({ name: 'sharedraft_pool_waiting', help: 'Callers that wait for a connection.' }, () =>
    Object.entries(pools).map(
      ([
        pool,
        {
          pool: { waiting },
        },
      ]) => [{ pool }, waiting],
    ),
  );
  registry.gauge(
    {
      name: 'sharedraft_commits_delayed',
      help: '1 while commits wait, for a standby or for the disk.',
      together: 'max',
    },
    () => (commits.isDelayed ? 1 : 0),
  );
  if (context.directory !== undefined) {
    const { directoryState: state } = context;
    registry.gauge(
      {
        name: 'sharedraft_directory_conflicts',
        help: 'Names that this cell and the directory of the cells know in two ways.',
        together: 'max',
      },
      () => state.conflicts.length,
    );
    registry.gauge(
      {
        name: 'sharedraft_directory_unpublished',
        help: '1 while this cell cannot be compared with the directory of the cells.',
        together: 'max',
      },
      () => (state.isReached ? 0 : 1),
    );
  }
  return {
    registry,
    read: () => registry.read(),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

/** The metrics of a first process that serves no request itself: its own process, beside those of its workers. */
export function measureProcess(): ServiceMetrics {
  const registry = new Registry();
  const stop = watchProcess(registry);
  return { registry, read: () => registry.read(), stop };
}

/** The figures of the database, refreshed before each read. One process of a service has them. */
export function withDatabaseFigures(
  { database, clock }: Pick<AppContext, 'database' | 'clock'>,
  metrics: ServiceMetrics,
  signingKeyDays: number,
): () => Promise<readonly Family[]> {
  const figures = new DatabaseFigures(database, clock);
  figures.register(metrics.registry);
  metrics.registry.gauge(
    {
      name: 'sharedraft_signing_key_rotation_seconds',
      help: 'The age at which a signing key is replaced (SIGNING_KEY_DAYS).',
    },
    () => signingKeyDays * 24 * 60 * 60,
  );
  return async () => {
    await figures.refresh();
    return metrics.read();
  };
}
