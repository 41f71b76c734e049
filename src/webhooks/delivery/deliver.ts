import { readEventsBehind } from '../../feed/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { type Endpoint, lanesOf, wants } from '../endpoints/endpoint.ts';
import type { WebhookDeps } from '../endpoints/endpoints.ts';
import type { SendOf } from '../https/https-transport.ts';
import type { DeliveryNotes } from './delivery-notes.ts';
import { type Delivery, selectDeliveries } from './delivery-queries.ts';
import type { LoopTurns } from './loop-turns.ts';
import type { Item, Pair, Result } from './outcome.ts';
import { failuresThatStop } from './schedule.ts';
import type { SharedFeed } from './shared-feed.ts';

export interface DeliverDeps extends Pick<WebhookDeps, 'database' | 'clock'> {
  readonly sendOf: SendOf;
  readonly notes: DeliveryNotes;
  readonly feed: SharedFeed;
  readonly turns: LoopTurns;
}

/** A batch starts no request after this, and a request ends in 15 s: it ends before its lease of 60 s. */
const sendMillis = 30_000;
/** So many events may wait behind the position; then no new ones are read until some are accepted or parked. */
const mostWaiting = 1_000;
const dueAtOnce = 20;
/** Requests to one endpoint at a time. After a failure it starts with one, and doubles with each batch. */
const mostAtOnce = 8;

/**
 * Sends to one endpoint until nothing is left, it has to wait, or its lease is lost. A batch is read, sent, and noted in one transaction: the
 * position moves past events that were accepted, are not wanted, or have a row of their own to wait in. A process that dies before
 * the note leaves them to the next one, so an event may be sent twice, and none is lost.
 */
export async function deliver(
  deps: DeliverDeps,
  institutionId: InstitutionId,
  { endpointId, isStopping }: { readonly endpointId: string; readonly isStopping: () => boolean },
): Promise<void> {
  const { clock, notes } = deps;
  let endpoint = await notes.lease(institutionId, endpointId);
  if (endpoint === undefined) return;
  let width = 1;
  while (!isStopping() && maySend(endpoint, clock())) {
    const now = clock();
    const items = await readItems(deps, institutionId, { endpoint, now });
    if (items.length === 0) break;
    const isTime = () => !isStopping() && clock().getTime() < now.getTime() + sendMillis;
    const pairs = await sendAll(deps, institutionId, { endpoint, items, width, isTime });
    endpoint = await notes.note(institutionId, { endpoint, pairs });
    if (endpoint === undefined) return;
    const hasFailed = pairs.some(({ result }) => result.kind === 'failed');
    width = hasFailed ? 1 : Math.min(mostAtOnce, width * 2);
  }
  await notes.release(institutionId, endpointId);
}

function maySend({ status, nextAttemptAt }: Endpoint, now: Date): boolean {
  return status === 'ACTIVE' && (nextAttemptAt === null || nextAttemptAt <= now);
}

/** The deliveries that are due, then new events. A stopped endpoint gets one. */
async function readItems(
  { database, feed }: DeliverDeps,
  institutionId: InstitutionId,
  { endpoint, now }: { readonly endpoint: Endpoint; readonly now: Date },
): Promise<Item[]> {
  const { endpointId } = endpoint;
  const isStopped = endpoint.failures >= failuresThatStop;
  const { found, waiting, due } = await database.read(institutionId, async (db) => {
    const waiting = await selectDeliveries(db, { endpointId, state: 'WAITING', most: mostWaiting });
    const due = isStopped ? waiting.slice(0, 1) : dueOf(waiting, now).slice(0, dueAtOnce);
    const items = await Promise.all(
      due.map(async (delivery): Promise<Item[]> => {
        const [epoch = 0n, xid = 0n, key = 0n] = delivery.position;
        const before = { position: [epoch, xid, key - 1n], number: delivery.number - 1n, limit: 1 };
        const [event] = await readEventsBehind(db, before);
        return event === undefined ? [] : [{ event, delivery, lanes: delivery.lanes, isBehind: false }];
      }),
    );
    return { found: items.flat(), waiting, due };
  });
  if ((isStopped && found.length > 0) || waiting.length >= mostWaiting) return found;
  const events = await feed.behind(institutionId, endpoint);
  const taken = new Set(waiting.filter((one) => !due.includes(one)).flatMap(({ lanes }) => lanes));
  const fresh = events.slice(0, isStopped ? 1 : undefined).map((event): Item => {
    const lanes = lanesOf(endpoint, event);
    return { event, delivery: undefined, lanes, isBehind: lanes.some((lane) => taken.has(lane)) };
  });
  return [...found, ...fresh];
}

/** Deliveries whose time has come and that no earlier waiting one is in the way of. */
export function dueOf(waiting: readonly Delivery[], now: Date): Delivery[] {
  const taken = new Set<string>();
  return waiting.filter(({ lanes, nextAttemptAt }) => {
    const isFree = !lanes.some((lane) => taken.has(lane));
    const isDue = isFree && (nextAttemptAt === null || nextAttemptAt <= now);
    if (!isDue) for (const lane of lanes) taken.add(lane);
    return isDue;
  });
}

/** Sends each event after the earlier ones of its lanes, `width` at a time, while it is time. */
async function sendAll(
  deps: DeliverDeps,
  institutionId: InstitutionId,
  batch: {
    readonly endpoint: Endpoint;
    readonly items: readonly Item[];
    readonly width: number;
    readonly isTime: () => boolean;
  },
): Promise<Pair[]> {
  const { endpoint, items, width, isTime } = batch;
  const sendEvent = await deps.sendOf(institutionId, endpoint);
  const lastOfLane = new Map<string, Promise<Result>>();
  const slots = new Slots(width);
  let failures = endpoint.failures;
  const send = async ({ event }: Item): Promise<Result> => {
    await slots.take();
    try {
      await deps.turns.next();
      // A stopped endpoint gets one attempt at a time, the probe.
      const isStopped = failures >= failuresThatStop && failures > endpoint.failures;
      if (isStopped || !isTime()) return { kind: 'unsent' };
      const at = deps.clock();
      const posted = await sendEvent(event, at);
      if (posted === undefined) return { kind: 'unwanted' };
      const kind = posted.error === undefined ? 'accepted' : posted.isFinal === true ? 'refused' : 'failed';
      failures = kind === 'failed' ? failures + 1 : 0;
      return { kind, posted, at };
    } finally {
      slots.give();
    }
  };
  const pairs = items.map(async (item): Promise<Pair> => {
    const earlier = item.lanes.flatMap((lane) => lastOfLane.get(lane) ?? []);
    const result = Promise.all(earlier).then((before): Result | Promise<Result> => {
      if (!wants(endpoint, item.event)) return { kind: 'unwanted' };
      if (item.isBehind || before.some(({ kind }) => kind === 'failed' || kind === 'blocked')) {
        return { kind: 'blocked' };
      }
      return before.some(({ kind }) => kind === 'unsent') ? { kind: 'unsent' } : send(item);
    });
    for (const lane of item.lanes) lastOfLane.set(lane, result);
    return { item, result: await result };
  });
  return Promise.all(pairs);
}

/** Lets `width` callers run at a time, in the order in which they asked. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(width: number) {
    this.#free = width;
  }

  async take(): Promise<void> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}
