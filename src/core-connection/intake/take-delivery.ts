import { setTimeout as sleep } from 'node:timers/promises';
import { type AuditAction, appendAudit, type Origin } from '../../events/index.ts';
import type { BusinessTime, Institution, PresentedToken } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type Clock, type Database, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import { inBatches, isRefusal, type Line, type Refusal } from './lines.ts';

export interface DeliveryDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  /** Those of the tokens that are no longer active. */
  readonly inactiveTokens: (
    tx: Transaction,
    tokens: readonly PresentedToken[],
  ) => Promise<ReadonlySet<PresentedToken>>;
  /** The service is about to stop: no further batch is begun. */
  readonly isStopping?: () => boolean;
}

/** The delivery of a connector or of an operator. */
export interface Delivery {
  readonly institution: Institution;
  readonly clientId?: string | undefined;
  /** Checked in the transaction of each batch. */
  readonly token?: PresentedToken | undefined;
  readonly origin: Origin;
}

/** The outcome of a line; with `refused` and `conflict` it has the reason. */
export interface LineOutcome<Result extends string = string> extends Partial<Refusal> {
  readonly result: Result;
}

export interface Answer<Result extends string = string> extends LineOutcome<Result> {
  readonly line: number;
}

/** Lines by result. */
export type Counts<Result extends string = string> = Readonly<Record<Result, number>>;

/** One kind of delivery: what becomes of its lines. */
export interface Intake<Item extends object, Result extends string> {
  /** All results with which a line may end. */
  readonly results: readonly Result[];
  /** Those that leave no audit entry: the same file may come every minute. */
  readonly idleResults: readonly Result[];
  /** Lines committed together. */
  readonly linesAtOnce: number;
  /** Cuts a batch into parts that are committed one after another. */
  partsOf(lines: readonly Line<Item>[]): Iterable<readonly Line<Item>[]>;
  /** Commits the lines and returns their outcomes. If nothing `isBegun` and something changes, `begun` is a part of the commit. */
  take(lines: readonly Line<Item>[], isBegun: boolean): Promise<readonly LineOutcome<Result>[]>;
  /** The audited act at the end of a delivery that changed something. */
  readonly taken: AuditAction;
}

/** A batch is tried again so long while the database is away, or others hold its rows. */
const patienceMillis = 15_000;

/**
 * Takes the lines of a delivery, and yields the answers of each batch after its commit. The caller's pace is the pace of the
 * delivery: the next batch is begun when the answers of the last one were taken. Every intake is idempotent, so a delivery that
 * ended early is sent again from its beginning. Returns the numbers of lines.
 *
 * Problem `invalid_token` if the token ended meanwhile; `database_unavailable` and `overloaded` after some patience. Lines that
 * were answered stand.
 */
export async function* takeDelivery<Item extends object, Result extends string>(
  deps: DeliveryDeps,
  delivery: Delivery,
  {
    chunks,
    intake,
  }: { readonly chunks: AsyncIterable<readonly Line<Item>[]>; readonly intake: Intake<Item, Result> },
): AsyncGenerator<readonly Answer<Result>[], Counts<Result>> {
  const counts = Object.fromEntries(intake.results.map((result) => [result, 0])) as Record<Result, number>;
  let isBegun = false;
  try {
    for await (const lines of inBatches(chunks, intake.linesAtOnce)) {
      for (const together of intake.partsOf(lines)) {
        if (deps.isStopping?.()) throw new Problem('shutting_down', 'The service is about to stop.');
        const outcomes = await untilDone(() => intake.take(together, isBegun));
        for (const { result } of outcomes) counts[result] += 1;
        isBegun ||= changesSomething(intake, outcomes);
        yield outcomes.map((outcome, place) => ({ line: (together[place] as Line<Item>).line, ...outcome }));
      }
    }
    return counts;
  } finally {
    if (isBegun) {
      const { institutionId } = delivery.institution;
      const entry = { ...auditEntryOf(delivery), action: intake.taken, after: counts };
      await untilDone(() =>
        deps.database.transaction(institutionId, (tx) => appendAudit(tx, entry, deps.clock())),
      );
    }
  }
}

export function changesSomething<Result extends string>(
  { idleResults }: Pick<Intake<object, Result>, 'idleResults'>,
  outcomes: readonly LineOutcome<Result>[],
): boolean {
  return outcomes.some(({ result }) => !idleResults.includes(result));
}

export function auditEntryOf({ clientId, origin }: Delivery) {
  return { outcome: 'succeeded', origin, clientId } as const;
}

/** The lines that could be read. */
export function readable<Item extends object>(
  lines: readonly Line<Item>[],
): { readonly line: number; readonly item: Item }[] {
  return lines.flatMap(({ line, item }) => (isRefusal(item) ? [] : [{ line, item }]));
}

/** The outcomes of all lines in order, from those of the lines that could be read. */
export function withRefusals<Of>(
  lines: readonly Line<object>[],
  outcomes: readonly Of[],
): (Of | ({ readonly result: 'refused' } & Refusal))[] {
  let place = 0;
  return lines.map(({ item }) => {
    if (isRefusal(item)) return { result: 'refused', ...item };
    const outcome = outcomes[place++];
    if (outcome === undefined) throw new Error('core-connection: a line has no outcome');
    return outcome;
  });
}

/** Problem `invalid_token` if the delivery's token is no longer active. */
export async function checkToken(
  { inactiveTokens }: Pick<DeliveryDeps, 'inactiveTokens'>,
  tx: Transaction,
  { token }: Delivery,
): Promise<void> {
  if (token === undefined) return;
  if ((await inactiveTokens(tx, [token])).size > 0) {
    throw new Problem('invalid_token', 'The access token is not active any more.');
  }
}

/** Runs idempotent work again while the database is away, or others hold its rows, for some seconds. */
async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + patienceMillis;
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      const isPassing =
        isUniqueViolation(error) ||
        (error instanceof Problem &&
          ['overloaded', 'database_unavailable', 'outcome_unknown'].includes(error.code));
      if (!isPassing || performance.now() > giveUpAt) throw error;
      await sleep(Math.min(20 * 2 ** tries, 1_000) * (0.5 + Math.random() / 2));
    }
  }
}
