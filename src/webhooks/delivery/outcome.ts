import type { FeedEvent } from '../../feed/index.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Posted } from '../https/post.ts';
import type { Attempt } from './attempt-queries.ts';
import type { Delivery } from './delivery-queries.ts';
import { failingHoursThatDisable, failuresThatStop, probeAt, retryAt } from './schedule.ts';

/** An event of a batch. */
export interface Item {
  readonly event: FeedEvent;
  /** Undefined for an event that is ahead of the position. */
  readonly delivery: Delivery | undefined;
  readonly lanes: readonly string[];
  /** An earlier event of its lanes waits and is not in the batch. */
  readonly isBehind: boolean;
}

/**
 * `refused`: the receiver works, and will never accept this event. `blocked`: an earlier event of its lanes was not accepted.
 * `unsent`: the endpoint was stopped before, or the time was up.
 */
export type Result =
  | { readonly kind: 'accepted' | 'failed' | 'refused'; readonly posted: Posted; readonly at: Date }
  | { readonly kind: 'unwanted' | 'blocked' | 'unsent' };

export type Pair = { readonly item: Item; readonly result: Result };

/** The changes that a batch leads to. */
export interface BatchOutcome {
  /** The endpoint with its new position and health. */
  readonly next: Endpoint;
  /** Numbers of waiting events that were accepted or are no longer wanted. */
  readonly done: readonly bigint[];
  readonly kept: readonly Delivery[];
  readonly attempts: readonly Attempt[];
}

export function outcomeOf(endpoint: Endpoint, pairs: readonly Pair[], at: Date): BatchOutcome {
  const next = endpointAfter(endpoint, pairs, at);
  const isProbe = endpoint.failures >= failuresThatStop;
  const isStopped = next.failures >= failuresThatStop;
  return {
    next,
    done: pairs
      .filter(({ item, result }) => item.delivery && isOver(result))
      .map(({ item }) => item.event.sequence),
    kept: waitingAfter(pairs).map(({ item, result }) => deliveryAfter(item, result, { isProbe, isStopped })),
    attempts: pairs.flatMap(attemptOf),
  };
}

function isOver({ kind }: Result): boolean {
  return kind === 'accepted' || kind === 'refused' || kind === 'unwanted';
}

/** The new events that the position moves past: those before the first unsent one, and all up to the last one that was sent. */
function passed(pairs: readonly Pair[]): readonly Pair[] {
  const fresh = pairs.filter(({ item }) => item.delivery === undefined);
  const unsent = fresh.findIndex(({ result }) => result.kind === 'unsent');
  const lastSent = fresh.findLastIndex(({ result }) => 'posted' in result);
  return unsent < 0 ? fresh : fresh.slice(0, Math.max(unsent, lastSent + 1));
}

/**
 * The events whose rows are written: those that failed, and new ones behind the position that were not sent. A new event that is
 * still ahead of the position gets no row, since it is read again. The row of a waiting event that was not sent stays as it is.
 */
export function waitingAfter(pairs: readonly Pair[]): readonly Pair[] {
  const failed = pairs.filter(({ item, result }) => item.delivery !== undefined && result.kind === 'failed');
  return [...failed, ...passed(pairs).filter(({ result }) => !isOver(result))];
}

/** The endpoint with its new position and health. */
export function endpointAfter(endpoint: Endpoint, pairs: readonly Pair[], at: Date): Endpoint {
  const last = passed(pairs).at(-1)?.item.event;
  const moved =
    last === undefined ? endpoint : { ...endpoint, position: last.position, number: last.sequence };
  const sent = pairs
    .map(({ result }) => result)
    .filter((result) => 'posted' in result)
    .sort((one, other) => one.at.getTime() - other.at.getTime());
  if (sent.length === 0) return moved;
  const lastAccepted = sent.findLastIndex(({ kind }) => kind !== 'failed');
  const failed = sent.slice(lastAccepted + 1);
  const failures = (lastAccepted < 0 ? endpoint.failures : 0) + failed.length;
  if (failures === 0) return { ...moved, failures, failingSince: null, nextAttemptAt: null };
  const failingSince = (lastAccepted < 0 ? endpoint.failingSince : null) ?? failed[0]?.at ?? at;
  const retryAfterSeconds = Math.max(...failed.map(({ posted }) => posted.retryAfterSeconds ?? 0));
  const nextAttemptAt = probeAt(failures, { at, retryAfterSeconds });
  const failing = { ...moved, failures, failingSince, nextAttemptAt };
  if (failed.some(({ posted }) => posted.status === 410)) {
    return { ...failing, status: 'DISABLED', statusReason: 'gone' };
  }
  const failingMillis = at.getTime() - failingSince.getTime();
  return failingMillis < failingHoursThatDisable * 3_600_000
    ? failing
    : { ...failing, status: 'DISABLED', statusReason: 'failing' };
}

/** While the whole endpoint is stopped, no event loses its attempts. */
function deliveryAfter(
  { event, delivery, lanes }: Item,
  result: Result,
  { isProbe, isStopped }: { readonly isProbe: boolean; readonly isStopped: boolean },
): Delivery {
  const { sequence: number, position } = event;
  const before = delivery?.attempts ?? 0;
  const waiting = {
    number,
    position,
    lanes,
    state: 'WAITING',
    attempts: before,
    nextAttemptAt: null,
  } as const;
  if (!('posted' in result) || isProbe || isStopped) return waiting;
  const attempts = before + 1;
  const { at, posted } = result;
  const nextAttemptAt = retryAt(attempts, { at, retryAfterSeconds: posted.retryAfterSeconds });
  if (nextAttemptAt === undefined) return { ...waiting, state: 'PARKED', attempts };
  return { ...waiting, attempts, nextAttemptAt };
}

function attemptOf({ item, result }: Pair): Attempt[] {
  if (!('posted' in result)) return [];
  const { event } = item;
  return [loggedAttempt({ number: event.sequence, eventId: event.eventId, eventType: event.kind }, result)];
}

export function loggedAttempt(
  event: Pick<Attempt, 'number' | 'eventId' | 'eventType'>,
  { posted, at }: { readonly posted: Posted; readonly at: Date },
): Attempt {
  return {
    ...event,
    attemptedAt: at,
    durationMs: posted.durationMillis,
    delivered: posted.error === undefined,
    status: posted.status ?? null,
    error: posted.error ?? null,
    response: posted.response === '' ? null : posted.response,
  };
}
