import { type FeedEvent, findEvent, firstNumberOf, positionOfNumber } from '../../feed/index.ts';
import type { Position } from '../../shared/page.ts';
import { Problem } from '../../shared/problem.ts';
import { type Queryable, sql, type Transaction } from '../../storage/index.ts';
import { type Endpoint, lanesOf } from '../endpoints/endpoint.ts';
import { moveEndpoint } from '../endpoints/endpoint-queries.ts';
import { type EndpointCaller, record, requireEndpoint, type WebhookDeps } from '../endpoints/endpoints.ts';
import {
  type Delivery,
  deleteDeliveriesAfter,
  selectDeliveries,
  upsertDeliveries,
} from './delivery-queries.ts';

/** Which events to send again: all from a number or a time on, some by their ids, or those that are parked. */
export type Replay =
  | { readonly from: bigint }
  | { readonly since: Date }
  | { readonly eventIds: readonly string[] }
  | { readonly parked: true };

const mostParkedAtOnce = 1_000;

/** Returns how many events will be sent again, as far as it is known. Problems `not_found`, `invalid_request`. */
export async function replayWebhook(
  deps: WebhookDeps,
  { institutionId, clientId, origin }: EndpointCaller,
  { endpointId, replay }: { readonly endpointId: string; readonly replay: Replay },
): Promise<{ readonly events: number }> {
  return deps.database.transaction(institutionId, async (tx) => {
    const endpoint = await requireEndpoint(tx, { endpointId, clientId, lock: true });
    const events = await replayIn(tx, { endpoint, replay, at: deps.clock() });
    const after = { ...replay, events };
    await record(deps, tx, { action: 'webhook.replayed', endpoint, origin, changes: { after } });
    return { events };
  });
}

async function replayIn(
  tx: Transaction,
  { endpoint, replay, at }: { readonly endpoint: Endpoint; readonly replay: Replay; readonly at: Date },
): Promise<number> {
  const { endpointId } = endpoint;
  if ('parked' in replay) {
    const parked = await selectDeliveries(tx, { endpointId, state: 'PARKED', most: mostParkedAtOnce });
    await upsertDeliveries(
      tx,
      parked.map((delivery) => ({ endpointId, ...again(delivery) })),
      at,
    );
    return parked.length;
  }
  if ('eventIds' in replay) {
    const events = await Promise.all(replay.eventIds.map((eventId) => findEvent(tx, eventId)));
    const unknown = events.indexOf(undefined);
    if (unknown >= 0) refuse(`/eventIds/${unknown}`, 'Is no event of the feed, or is in the archive.');
    const known = events.filter((event) => event !== undefined);
    // An event ahead of the position is sent anyway.
    const behind = known.filter(({ sequence }) => sequence <= endpoint.number);
    const deliveries = behind.map((event) => ({ endpointId, ...again(deliveryOf(endpoint, event)) }));
    await upsertDeliveries(tx, deliveries, at);
    return behind.length;
  }
  // Asked behind the lock of the endpoint, for which an archive waits.
  const first = await firstNumberOf(tx);
  if ('from' in replay && replay.from < first) {
    refuse('/from', `Is in the archive. The feed begins at sequence ${first}.`);
  }
  const found = 'from' in replay ? replay.from - 1n : await selectNumberBefore(tx, replay.since);
  const number = found < first - 1n ? first - 1n : found;
  if (number >= endpoint.number) return 0;
  const position: Position | undefined = await positionOfNumber(tx, number);
  if (position === undefined) refuse('/from', 'Is ahead of the feed.');
  await deleteDeliveriesAfter(tx, endpointId, number);
  await moveEndpoint(tx, endpointId, { position, number });
  return Number(endpoint.number - number);
}

function deliveryOf(endpoint: Endpoint, event: FeedEvent): Delivery {
  const { sequence: number, position } = event;
  const lanes = lanesOf(endpoint, event);
  return { number, position, lanes, state: 'WAITING', attempts: 0, nextAttemptAt: null };
}

function again(delivery: Delivery): Delivery {
  return { ...delivery, state: 'WAITING', attempts: 0, nextAttemptAt: null };
}

function refuse(pointer: string, detail: string): never {
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer, detail }],
  });
}

// Searched from the newest mark before the time. Events follow the order of commits, which is that of time within a minute.
const numberBefore = sql(
  'webhooks_number_before',
  `select event_number($1, o.epoch, o.xid, o.event_key) - 1 as number
   from (select) one
   left join lateral (
     select m.epoch, m.xid, m.event_key
     from event_marks m
     cross join lateral (
       select o.recorded_at from outbox o where o.institution_id = $1 and o.event_key = m.event_key offset 0) o
     where m.institution_id = $1 and o.recorded_at < $2::timestamptz - interval '1 minute'
     order by m.number desc limit 1
   ) mark on true
   cross join lateral (
     select o.epoch, o.xid, o.event_key from outbox o
     where o.institution_id = $1 and o.recorded_at >= $2
       and not exists (select from event_horizons h
                       where h.institution_id = $1 and (h.epoch, h.xid, h.event_key) >= (o.epoch, o.xid, o.event_key))
       and (o.epoch, o.xid, o.event_key) >= (coalesce(mark.epoch, 0), coalesce(mark.xid, '0'), coalesce(mark.event_key, 0))
     order by o.epoch, o.xid, o.event_key limit 1
   ) o`,
);

/** The number before the first event of the time; beyond every number if there is none. */
async function selectNumberBefore(db: Queryable, since: Date): Promise<bigint> {
  const { rows } = await db.query<{ readonly number: bigint }>(numberBefore, [db.institutionId, since]);
  return rows[0]?.number ?? 2n ** 63n - 1n;
}
