import { ownOrigin } from '../../events/index.ts';
import { type FeedEvent, readEventsBehind } from '../../feed/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import { bodyOf, type Endpoint, lanesOf, type RenderEvent, wants } from '../endpoints/endpoint.ts';
import { selectKeys } from '../endpoints/endpoint-queries.ts';
import {
  privateKeyPurpose,
  record,
  rulesOf,
  secretPurpose,
  type WebhookDeps,
} from '../endpoints/endpoints.ts';
import { type Attempt, insertAttempts } from './attempt-queries.ts';
import {
  advanceEndpoint,
  type Delivery,
  deleteDeliveries,
  leaseEndpoint,
  releaseEndpoint,
  selectDeliveries,
  upsertDeliveries,
} from './delivery-queries.ts';
import type { Posted, Sender } from './post.ts';
import { failingHoursThatDisable, failuresThatStop, probeAt, retryAt } from './schedule.ts';
import { type OpenedKey, openedKey, signatureHeaders } from './signature.ts';

export interface DeliverDeps extends WebhookDeps {
  readonly render: RenderEvent;
  /** The connections to one endpoint. */
  readonly senderOf: (endpointId: string, institutionId: InstitutionId) => Promise<Sender>;
  /** This process. */
  readonly processId: string;
}

/** After this another process may send. A batch ends before: it starts no request after `sendMillis`, and a request ends in 15 s. */
const leaseMillis = 60_000;
const sendMillis = 30_000;
const eventsAtOnce = 100;
/** So many events may wait behind the position; then no new ones are read until some are accepted or parked. */
const mostWaiting = 1_000;
const dueAtOnce = 20;
/** Requests to one endpoint at a time. After a failure it starts with one, and doubles with each batch. */
const mostAtOnce = 8;

/** An event of a batch. */
interface Item {
  readonly event: FeedEvent;
  /** Undefined for an event that is ahead of the position. */
  readonly delivery: Delivery | undefined;
  readonly lanes: readonly string[];
  /** An earlier event of its lanes waits and is not in the batch. */
  readonly isBehind: boolean;
}

/** `blocked`: an earlier event of its lanes was not accepted. `unsent`: the endpoint was stopped before, or the time was up. */
type Result =
  | { readonly kind: 'accepted' | 'failed'; readonly posted: Posted; readonly at: Date }
  | { readonly kind: 'unwanted' | 'blocked' | 'unsent' };

type Pair = { readonly item: Item; readonly result: Result };

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
  const { database, clock, processId: leasedBy } = deps;
  let width = 1;
  while (!isStopping()) {
    const now = clock();
    const until = new Date(now.getTime() + leaseMillis);
    const endpoint = await database.write(institutionId, (db) =>
      leaseEndpoint(db, { endpointId, leasedBy, until, now }),
    );
    if (endpoint === undefined) break;
    const items = await readItems(deps, institutionId, { endpoint, now });
    if (items.length === 0) break;
    const isTime = () => !isStopping() && clock().getTime() < now.getTime() + sendMillis;
    const pairs = await sendAll(deps, institutionId, { endpoint, items, width, isTime });
    const isKept = await note(deps, institutionId, { endpoint, pairs });
    if (!isKept) return;
    const hasFailed = pairs.some(({ result }) => result.kind === 'failed');
    width = hasFailed ? 1 : Math.min(mostAtOnce, width * 2);
  }
  await database.write(institutionId, (db) => releaseEndpoint(db, { endpointId, leasedBy }));
}

/** The deliveries that are due, then new events. A stopped endpoint gets one. */
async function readItems(
  { database }: DeliverDeps,
  institutionId: InstitutionId,
  { endpoint, now }: { readonly endpoint: Endpoint; readonly now: Date },
): Promise<Item[]> {
  const { endpointId, position, number } = endpoint;
  const isStopped = endpoint.failures >= failuresThatStop;
  return database.read(institutionId, async (db) => {
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
    const found = items.flat();
    if ((isStopped && found.length > 0) || waiting.length >= mostWaiting) return found;
    const limit = isStopped ? 1 : eventsAtOnce;
    const events = await readEventsBehind(db, { position, number, limit });
    const taken = new Set(waiting.filter((one) => !due.includes(one)).flatMap(({ lanes }) => lanes));
    const fresh = events.map((event): Item => {
      const lanes = lanesOf(endpoint, event);
      return { event, delivery: undefined, lanes, isBehind: lanes.some((lane) => taken.has(lane)) };
    });
    return [...found, ...fresh];
  });
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
  const { endpointId, payload } = endpoint;
  const sender = await deps.senderOf(endpointId, institutionId);
  const rules = await rulesOf(deps, institutionId);
  const keys = await openKeys(deps, institutionId, endpointId);
  const lastOfLane = new Map<string, Promise<Result>>();
  const slots = new Slots(width);
  let failures = endpoint.failures;
  const send = async ({ event }: Item): Promise<Result> => {
    await slots.take();
    try {
      // A stopped endpoint gets one attempt at a time, the probe.
      const isStopped = failures >= failuresThatStop && failures > endpoint.failures;
      if (isStopped || !isTime()) return { kind: 'unsent' };
      const at = deps.clock();
      const body = bodyOf(payload, event, deps.render);
      const headers = signatureHeaders({ id: event.eventId, at, body }, keys);
      const posted = await sender.post({ url: endpoint.url, headers, body, rules });
      failures = posted.error === undefined ? 0 : failures + 1;
      return { kind: posted.error === undefined ? 'accepted' : 'failed', posted, at };
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

/** Writes the results and moves the position. False if the lease was lost: then nothing is written, and the events are sent again. */
async function note(
  deps: DeliverDeps,
  institutionId: InstitutionId,
  { endpoint, pairs }: { readonly endpoint: Endpoint; readonly pairs: readonly Pair[] },
): Promise<boolean> {
  const { endpointId } = endpoint;
  const at = deps.clock();
  const next = endpointAfter(endpoint, pairs, at);
  const isProbe = endpoint.failures >= failuresThatStop;
  const done = pairs.filter(({ item, result }) => item.delivery && isOver(result));
  const kept = waitingAfter(pairs).map(({ item, result }) =>
    deliveryAfter(item, result, { isProbe, isStopped: next.failures >= failuresThatStop }),
  );
  return deps.database.transaction(institutionId, async (tx) => {
    const until = new Date(at.getTime() + leaseMillis);
    if (!(await advanceEndpoint(tx, next, { leasedBy: deps.processId, until }))) return false;
    const numbers = done.map(({ item }) => item.event.sequence);
    await deleteDeliveries(tx, endpointId, numbers);
    await upsertDeliveries(tx, { endpointId, deliveries: kept, at });
    await insertAttempts(tx, endpointId, pairs.flatMap(attemptOf));
    const { status, statusReason: reason } = next;
    if (status !== endpoint.status && reason !== null) {
      await record(deps, tx, { action: 'webhook.disabled', endpoint, origin: ownOrigin(), reason });
    }
    return true;
  });
}

function isOver({ kind }: Result): boolean {
  return kind === 'accepted' || kind === 'unwanted';
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
  const lastAccepted = sent.findLastIndex(({ kind }) => kind === 'accepted');
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

export async function openKeys(
  { database, vault, clock }: WebhookDeps,
  institutionId: InstitutionId,
  endpointId: string,
): Promise<OpenedKey[]> {
  const keys = await database.read(institutionId, (db) => selectKeys(db, [endpointId], clock()));
  return keys.map(({ sealedSecret, sealedPrivateKey }) =>
    openedKey({
      secret: vault.open(secretPurpose, sealedSecret),
      privateKey: vault.open(privateKeyPurpose, sealedPrivateKey),
    }),
  );
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
