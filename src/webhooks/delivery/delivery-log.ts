import { eventIdOf } from '../../events/index.ts';
import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import { selectEndpoint } from '../endpoints/endpoint-queries.ts';
import { type EndpointCaller, refuseUnknown, type WebhookDeps } from '../endpoints/endpoints.ts';
import { type LoggedAttempt, selectAttempts } from './attempt-queries.ts';
import { type Delivery, selectDeliveries } from './delivery-queries.ts';

type Caller = Omit<EndpointCaller, 'origin'>;

/** An event that its endpoint has not accepted. */
export interface WaitingEvent extends Pick<Delivery, 'number' | 'attempts' | 'nextAttemptAt'> {
  readonly eventId: string;
}

/** The attempts to deliver, the newest first. A position is the key of an attempt. Problem `not_found`. */
export function listAttempts(
  { database }: WebhookDeps,
  { institutionId, clientId }: Caller,
  { endpointId, page: { limit, after } }: { readonly endpointId: string; readonly page: PageRequest },
): Promise<Page<LoggedAttempt>> {
  return database.read(institutionId, async (db) => {
    if ((await selectEndpoint(db, { endpointId, clientId })) === undefined) refuseUnknown();
    const below = after?.[0] ?? 2n ** 62n;
    const rows = await selectAttempts(db, { endpointId, below, most: limit + 1 });
    return pageOf(
      rows,
      limit,
      (row) => row,
      ({ attemptKey }) => [attemptKey],
    );
  });
}

/** The events that wait for another attempt, or that are parked, by their number. Problem `not_found`. */
export function listDeliveries(
  { database }: WebhookDeps,
  { institutionId, clientId }: Caller,
  wanted: { readonly endpointId: string; readonly state: Delivery['state']; readonly page: PageRequest },
): Promise<Page<WaitingEvent>> {
  const { endpointId, state, page } = wanted;
  return database.read(institutionId, async (db) => {
    if ((await selectEndpoint(db, { endpointId, clientId })) === undefined) refuseUnknown();
    const [after = 0n] = page.after ?? [];
    const rows = await selectDeliveries(db, { endpointId, state, after, most: page.limit + 1 });
    return pageOf(rows, page.limit, toWaitingEvent, ({ number }) => [number]);
  });
}

function toWaitingEvent({ number, attempts, nextAttemptAt, position }: Delivery): WaitingEvent {
  const [epoch = 0n, xid = 0n, eventKey = 0n] = position;
  return { eventId: eventIdOf({ epoch: Number(epoch), xid, eventKey }), number, attempts, nextAttemptAt };
}
