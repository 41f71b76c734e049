import type { Family, Sample } from '../metrics/index.ts';
import type { WorkFigures } from '../operators/index.ts';

/** The figures of the work from the metrics of one process, or of all added up. */
export function workFiguresOf(families: readonly Family[]): WorkFigures {
  const byName = new Map(families.map((family) => [family.name, family]));
  const samples = (name: string): readonly Sample[] => byName.get(name)?.samples ?? [];
  const gauge = (name: string) => samples(name)[0]?.value ?? 0;
  const capacity = new Map(
    samples('sharedraft_queue_capacity').map(({ labels, value }) => [labels.queue, value]),
  );
  return {
    queues: samples('sharedraft_queue_waiting').map(({ labels: { queue = '' }, value: waiting }) => ({
      ...{ queue, waiting },
      capacity: capacity.get(queue) ?? 0,
    })),
    lanes: gauge('sharedraft_lanes'),
    lanesBusy: gauge('sharedraft_lanes_busy'),
    batchOrders: spreadOf(byName.get('sharedraft_batch_orders')),
    waitSeconds: spreadOf(byName.get('sharedraft_batch_wait_seconds')),
  };
}

function spreadOf(family: Family | undefined): WorkFigures['batchOrders'] {
  const counts = family?.samples[0]?.counts ?? [];
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (family === undefined || all === 0) return null;
  const boundOf = (share: number) => {
    let sum = 0;
    const bucket = counts.findIndex((count) => {
      sum += count;
      return sum >= share * all;
    });
    return family.bounds?.[bucket] ?? null;
  };
  return { half: boundOf(0.5), most: boundOf(0.99) };
}
