import type { Worker } from 'node:cluster';
import type { ServiceMetrics } from '../../../app/service-metrics.ts';
import { addUp, countsOf, type Family } from '../../../metrics/index.ts';
import { within } from '../../../shared/within.ts';

/** A worker that does not respond in time counts with its last report. */
const patienceMillis = 1_000;
const ask = 'metrics';

/** A worker asks for the metrics of all, and gets them. */
interface Question {
  readonly asksTogether: true;
}

interface Together {
  readonly together: readonly Family[];
}

interface Report {
  readonly metrics: readonly Family[];
}

/** In a worker: sends its metrics whenever the first process asks. */
export function reportCounts(metrics: ServiceMetrics): void {
  process.on('message', (message) => {
    if (message === ask) process.send?.({ metrics: metrics.read() } satisfies Report);
  });
}

/** In a worker: the metrics of all workers, from the first process; undefined if it does not respond in time. */
export async function askTogether(): Promise<readonly Family[] | undefined> {
  const { promise, resolve } = Promise.withResolvers<readonly Family[]>();
  const take = ({ together }: Partial<Together>) => {
    if (together !== undefined) resolve(together);
  };
  process.on('message', take);
  process.send?.({ asksTogether: true } satisfies Question);
  // The first process itself waits for a worker that does not respond.
  const isThere = await within(2 * patienceMillis, promise);
  process.off('message', take);
  return isThere ? promise : undefined;
}

/** In the first process: the metrics of all workers. An ended worker's counts stay, so that no counter goes back. */
export class WorkerCounts {
  readonly #last = new Map<Worker, readonly Family[]>();
  readonly #waiting = new Map<Worker, () => void>();
  #ended: readonly Family[] = [];

  /** Counts the worker from the time that it serves. */
  follow(worker: Worker): void {
    this.#last.set(worker, []);
    worker.on('message', ({ metrics, asksTogether }: Partial<Report & Question>) => {
      if (asksTogether) void this.#tellTogether(worker);
      if (metrics === undefined) return;
      this.#last.set(worker, metrics);
      this.#waiting.get(worker)?.();
    });
    worker.once('exit', () => {
      this.#ended = addUp([this.#ended, countsOf(this.#last.get(worker) ?? [])]);
      this.#last.delete(worker);
      this.#waiting.get(worker)?.();
    });
  }

  async read(): Promise<Family[]> {
    await Promise.all([...this.#last.keys()].map((worker) => this.#ask(worker)));
    return addUp([this.#ended, ...this.#last.values()]);
  }

  async #tellTogether(worker: Worker): Promise<void> {
    const together = await this.read();
    if (worker.isConnected()) worker.send({ together } satisfies Together);
  }

  async #ask(worker: Worker): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const before = this.#waiting.get(worker);
    this.#waiting.set(worker, () => {
      before?.();
      resolve();
    });
    if (worker.isConnected()) worker.send(ask);
    await within(patienceMillis, promise);
    this.#waiting.delete(worker);
  }
}
