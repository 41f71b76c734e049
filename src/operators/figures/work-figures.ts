/**
 * The bound under which half of the observations lie, and the one of 99 in 100. They are the bounds of a histogram's buckets; null: above the
 * last one.
 */
interface Spread {
  readonly half: number | null;
  readonly most: number | null;
}

/** The queues and the batches of all processes that serve on this port, added up. They belong to the service and to no institution. */
export interface WorkFigures {
  readonly queues: readonly {
    readonly queue: string;
    readonly waiting: number;
    readonly capacity: number;
  }[];
  /** Batches that may run at once, and those that run. */
  readonly lanes: number;
  readonly lanesBusy: number;
  /** Since the processes started; null: no batch yet. */
  readonly batchOrders: Spread | null;
  readonly waitSeconds: Spread | null;
}
