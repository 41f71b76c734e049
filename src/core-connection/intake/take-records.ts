import { type RecordLine, type RecordOutcome, reclaimStage, takeRecords } from '../../core-system/index.ts';
import { appendAudit } from '../../events/index.ts';
import type { Line, Refusal } from './lines.ts';
import {
  type Answer,
  auditEntryOf,
  type Counts,
  changesSomething,
  checkToken,
  type Delivery,
  type DeliveryDeps,
  readable,
  takeDelivery,
  withRefusals,
} from './take-delivery.ts';

export type RecordResult = RecordOutcome['result'];
export type RecordCounts = Counts<RecordResult>;

const kind = {
  results: ['added', 'changed', 'removed', 'unchanged', 'stale', 'refused'],
  idleResults: ['unchanged', 'stale', 'refused'],
  // An import of the institution, and payments on the loans of a batch, wait for its commit.
  linesAtOnce: 500,
  taken: 'core.records_taken',
} as const;

/** Batches between two clearances of the stage. */
const reclaimEvery = 100;

/**
 * Takes the records of a delivery; `asOf` is the moment of the loan figures in it. Idempotent: a record that stands changes nothing.
 */
export function takeRecordLines(
  deps: DeliveryDeps,
  delivery: Delivery,
  {
    chunks,
    asOf,
  }: { readonly chunks: AsyncIterable<readonly Line<RecordLine>[]>; readonly asOf: Date | undefined },
): AsyncGenerator<readonly Answer<RecordResult>[], RecordCounts> {
  let batches = 0;
  const intake = {
    ...kind,
    partsOf: (lines: readonly Line<RecordLine>[]) => [lines],
    take: async (lines: readonly Line<RecordLine>[], isBegun: boolean) => {
      if (++batches % reclaimEvery === 0) await reclaimStage(deps.database);
      return takeBatch(deps, delivery, { lines, isBegun, asOf });
    },
  };
  return takeDelivery<RecordLine, RecordResult>(deps, delivery, { chunks, intake });
}

async function takeBatch(
  deps: DeliveryDeps,
  delivery: Delivery,
  batch: {
    readonly lines: readonly Line<RecordLine>[];
    readonly isBegun: boolean;
    readonly asOf: Date | undefined;
  },
): Promise<(RecordOutcome | ({ readonly result: 'refused' } & Refusal))[]> {
  const { lines, isBegun, asOf } = batch;
  const { institution } = delivery;
  const { institutionId } = institution;
  const read = readable(lines);
  if (read.length === 0) return withRefusals(lines, []);
  const outcomes = await deps.database.transaction(institutionId, async (tx) => {
    const at = deps.businessTime(institutionId, deps.clock());
    const [decided] = await Promise.all([
      takeRecords(tx, read, { institution, at, asOf }),
      checkToken(deps, tx, delivery),
    ]);
    if (!isBegun && changesSomething<RecordResult>(kind, decided)) {
      const entry = { ...auditEntryOf(delivery), action: 'core.records_begun' } as const;
      await appendAudit(tx, entry, deps.clock());
    }
    return decided;
  });
  return withRefusals(lines, outcomes);
}
