import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { programVersion } from '../shared/process/program-version.ts';
import type { Registry } from './registry.ts';

const periodMillis = 10_000;
const resolutionMillis = 20;

/** CPU, memory and event loop of this process. Returns a function that stops the measurement. */
export function watchProcess(metrics: Registry): () => void {
  const startedAt = Date.now() / 1000 - process.uptime();
  metrics.gauge({ name: 'sharedraft_build_info', help: 'The version that runs.', together: 'max' }, () => [
    [{ version: programVersion }, 1],
  ]);
  metrics.readCounter({ name: 'process_cpu_seconds_total', help: 'CPU time of the processes.' }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.gauge({ name: 'process_resident_memory_bytes', help: 'Resident memory of the processes.' }, () =>
    process.memoryUsage.rss(),
  );
  metrics.gauge(
    { name: 'nodejs_heap_used_bytes', help: 'Memory of JavaScript objects.' },
    () => process.memoryUsage().heapUsed,
  );
  metrics.gauge(
    { name: 'process_start_time_seconds', help: 'Start of the newest process.', together: 'max' },
    () => startedAt,
  );
  metrics.readCounter(
    { name: 'nodejs_eventloop_active_seconds_total', help: 'Time in which the event loop did not idle.' },
    () => performance.eventLoopUtilization().active / 1000,
  );
  metrics.gauge({ name: 'sharedraft_processes', help: 'Processes of this service.' }, () => 1);
  return watchEventLoopDelay(metrics);
}

/** Shows the delays of the last full period. A reset at each scrape would split them between two scrapers. */
function watchEventLoopDelay(metrics: Registry): () => void {
  const delay = monitorEventLoopDelay({ resolution: resolutionMillis });
  delay.enable();
  let quantiles: [quantile: string, seconds: number][] = [];
  const read = () => {
    // The histogram has the whole interval of its timer.
    const late = (nanos: number) => Math.max(0, nanos / 1e9 - resolutionMillis / 1000);
    quantiles = [
      ['0.5', late(delay.percentile(50))],
      ['0.99', late(delay.percentile(99))],
      ['1', late(delay.max)],
    ];
    delay.reset();
  };
  const timer = setInterval(read, periodMillis).unref();
  metrics.gauge(
    {
      name: 'nodejs_eventloop_delay_seconds',
      help: 'Lateness of timers in the last ten seconds; of several processes the worst.',
      together: 'max',
    },
    () => quantiles.map(([quantile, seconds]) => [{ quantile }, seconds]),
  );
  return () => {
    clearInterval(timer);
    delay.disable();
  };
}
