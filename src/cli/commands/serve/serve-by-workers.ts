import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config, Secrets } from '../../../app/config.ts';
import { openAppContext } from '../../../app/context.ts';
import { listenForMetrics, type Service, type ServiceOptions, startService } from '../../../app/service.ts';
import { measureProcess, withDatabaseFigures } from '../../../app/service-metrics.ts';
import { refusePublicDemo } from '../../../app/start-checks.ts';
import { addUp, type MetricsListener } from '../../../metrics/index.ts';
import { CommandError } from '../../command.ts';
import { askTogether, reportCounts, WorkerCounts } from './worker-counts.ts';

class WorkerEndedError extends CommandError {}

/** A worker that ends sooner is replaced after a pause, which grows with each such worker. */
const shortLifeMillis = 5_000;
const shortestPauseMillis = 50;
const longestPauseMillis = 5_000;
/** Added to the time for requests in flight. */
const stopPatienceMillis = 10_000;

/**
 * Serves with `config.workers` processes on one port. This process serves no request: it owns the embedded database,
 * distributes connections, replaces ended workers, and stops all. Throws CommandError if a worker cannot start. Returns
 * undefined if it was asked to stop before all workers served: Ctrl-C reaches the workers too, and ends a starting one at
 * once.
 */
export async function serveByWorkers(
  config: Config,
  secrets: Secrets,
  { log, beforeListening }: ServiceOptions,
  stopAsked: Promise<void>,
): Promise<Service | undefined> {
  const context = await openAppContext(config, secrets, 'own', log);
  const workers = new Set<Worker>();
  let stopping = false;
  let asked = false;
  void stopAsked.then(() => {
    asked = true;
  });

  const metrics = config.metricsPort === undefined ? undefined : measureProcess();
  const counts = new WorkerCounts();
  let scrapes: MetricsListener | undefined;

  const start = async (): Promise<{ readonly worker: Worker; readonly address: string }> => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
    worker.on('error', (error) => {
      log('worker_failed', { error });
      // The process was never created, so no exit event follows.
      if (worker.process.pid === undefined) workers.delete(worker);
    });
    const serving = once(worker, 'message').then(([message]) => (message as Serving).address);
    const ended = exitOf(worker).then((how): never => {
      throw new WorkerEndedError(`A worker ended before it could serve (${how}).`);
    });
    const address = await Promise.race([serving, ended]);
    counts.follow(worker);
    return { worker, address };
  };
  const keepAlive = async (worker: Worker) => {
    let pauseMillis = shortestPauseMillis;
    for (let current: Worker | undefined = worker; ; ) {
      const startedAt = performance.now();
      if (current?.isDead() === false) await exitOf(current);
      if (stopping || asked) return;
      log('worker_ended');
      const shortLived = performance.now() - startedAt < shortLifeMillis;
      pauseMillis = shortLived ? Math.min(2 * pauseMillis, longestPauseMillis) : shortestPauseMillis;
      await sleep(pauseMillis);
      if (stopping || asked) return;
      current = await start().then(
        (started) => started.worker,
        () => undefined,
      );
    }
  };
  const stop = async () => {
    stopping = true;
    await scrapes?.close();
    metrics?.stop();
    await Promise.all(
      [...workers].map(async (worker) => {
        const ended = exitOf(worker);
        worker.process.kill('SIGTERM');
        const patience = setTimeout(
          () => worker.process.kill('SIGKILL'),
          (config.shutdownDelaySeconds + config.shutdownGraceSeconds) * 1000 + stopPatienceMillis,
        );
        await ended;
        clearTimeout(patience);
      }),
    );
    await context.close();
  };

  try {
    await beforeListening?.(context);
    await refusePublicDemo(config, context);
    // The first worker starts alone, so that a fault common to all is reported once.
    const first = await start();
    const others = await Promise.all(Array.from({ length: config.workers - 1 }, start));
    for (const { worker } of [first, ...others]) void keepAlive(worker);
    if (metrics !== undefined) {
      const own = withDatabaseFigures(context, metrics, config.signingKeyDays);
      const read = async () => addUp(await Promise.all([own(), counts.read()]));
      scrapes = await listenForMetrics(config, context, metrics, read);
    }
    let closing: Promise<void> | undefined;
    return {
      context,
      metricsAddress: scrapes?.address,
      address: first.address,
      close: () => {
        closing ??= stop();
        return closing;
      },
    };
  } catch (error) {
    await stop();
    // Ctrl-C reaches all processes at once, and this one may see a worker's end before the signal.
    await Promise.race([stopAsked, sleep(shortestPauseMillis)]);
    if (asked && error instanceof WorkerEndedError) return undefined;
    throw error;
  }
}

/** Resolves with the signal or the exit status of the worker. */
function exitOf(worker: Worker): Promise<string> {
  return new Promise((resolve) =>
    worker.once('exit', (status: number, signal: string | null) => resolve(signal ?? `status ${status}`)),
  );
}

/** The message of a worker once it serves. */
interface Serving {
  readonly address: string;
}

/** Runs a worker: sends its address, stops when asked to, and ends when the first process has ended. */
export async function serveAsWorker(
  config: Config,
  secrets: Secrets,
  options: ServiceOptions,
  stopAsked: Promise<void>,
): Promise<void> {
  try {
    let isServing = false;
    // The first message of a worker is its address.
    const readTogether = async () => (isServing ? askTogether() : undefined);
    const service = await startService(config, secrets, { ...options, embedded: 'borrow', readTogether });
    const serving: Serving = { address: service.address };
    process.send?.(serving);
    isServing = true;
    if (service.metrics !== undefined) reportCounts(service.metrics);
    await stopAsked;
    await service.close();
  } finally {
    // The channel to the first process would keep this one alive.
    cluster.worker?.disconnect();
  }
}
