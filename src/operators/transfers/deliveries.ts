import type { Queryable } from '../../storage/index.ts';
import {
  type AttemptsRow,
  type EndpointRow,
  type EventOfTransfer,
  selectAttemptsOf,
  selectEndpoints,
  selectEventsOfTransfer,
  selectUnaccepted,
  type UnacceptedRow,
} from './event-queries.ts';

/**
 * The state of an event at an endpoint. An accepted event has no row of its own, so it follows from the log of attempts and from the position.
 *
 * | state          | source                                                                                            |
 * |----------------|---------------------------------------------------------------------------------------------------|
 * | DELIVERED      | the log has an attempt that the endpoint accepted                                                 |
 * | WAITING        | it was not accepted yet, and is sent again                                                        |
 * | PARKED         | it is not sent again, unless an operator or the client replays it                                 |
 * | BEHIND         | the endpoint has not come to the event; `behind` counts the events up to it                       |
 * | PASSED         | the endpoint is past it, and the log does not go back so far: accepted, or its type was not wanted then |
 * | NEWER          | the endpoint was made after the event, and begins behind it                                       |
 * | NOT_SUBSCRIBED | the endpoint does not want events of the type                                                     |
 */
export const deliveryStates = [
  'DELIVERED',
  'WAITING',
  'PARKED',
  'BEHIND',
  'PASSED',
  'NEWER',
  'NOT_SUBSCRIBED',
] as const;
type DeliveryState = (typeof deliveryStates)[number];

/** An event at one endpoint. */
interface ShownDelivery extends Pick<EndpointRow, 'endpointId' | 'clientId' | 'url'> {
  readonly endpointStatus: EndpointRow['status'];
  readonly state: DeliveryState;
  /** With BEHIND: the events that are sent before it, and itself. */
  readonly behind: bigint | null;
  /** As far as the log goes back. */
  readonly attempts: number;
  readonly lastAttempt: Pick<AttemptsRow, 'attemptedAt' | 'delivered' | 'status' | 'error'> | null;
  readonly nextAttemptAt: Date | null;
}

export interface ShownEvent extends EventOfTransfer {
  readonly deliveries: readonly ShownDelivery[];
}

/** The events of a transfer, and the state of each at every webhook of the institution. */
export async function selectDeliveriesOfTransfer(
  db: Queryable,
  of: { readonly transferKey: bigint; readonly moments: readonly Date[] },
): Promise<ShownEvent[]> {
  const [events, endpoints] = await Promise.all([selectEventsOfTransfer(db, of), selectEndpoints(db)]);
  if (events.length === 0 || endpoints.length === 0)
    return events.map((event) => ({ ...event, deliveries: [] }));
  const [unaccepted, attempts] = await Promise.all([
    selectUnaccepted(
      db,
      events.map(({ sequence }) => sequence),
    ),
    selectAttemptsOf(
      db,
      events.map(({ eventId }) => eventId),
    ),
  ]);
  return events.map((event) => ({
    ...event,
    deliveries: endpoints.map((endpoint) => {
      const isHere = (row: { readonly endpointId: string }) => row.endpointId === endpoint.endpointId;
      const waiting = unaccepted.find((row) => isHere(row) && row.number === event.sequence);
      const tried = attempts.find((row) => isHere(row) && row.eventId === event.eventId);
      return deliveryOf(event, endpoint, { waiting, tried });
    }),
  }));
}

interface Known {
  readonly waiting: UnacceptedRow | undefined;
  readonly tried: AttemptsRow | undefined;
}

function deliveryOf(event: EventOfTransfer, endpoint: EndpointRow, known: Known): ShownDelivery {
  const { endpointId, clientId, url, status: endpointStatus, number } = endpoint;
  const { waiting, tried } = known;
  const state = stateOf(event, endpoint, known);
  return {
    ...{ endpointId, clientId, url, endpointStatus, state },
    behind: state === 'BEHIND' ? event.sequence - number : null,
    attempts: tried?.attempts ?? 0,
    lastAttempt: tried
      ? {
          attemptedAt: tried.attemptedAt,
          delivered: tried.delivered,
          status: tried.status,
          error: tried.error,
        }
      : null,
    nextAttemptAt: waiting?.nextAttemptAt ?? null,
  };
}

/** Exported for its test. */
export function stateOf(
  { eventType, sequence, at }: Pick<EventOfTransfer, 'eventType' | 'sequence' | 'at'>,
  { eventTypes, number, createdAt }: Pick<EndpointRow, 'eventTypes' | 'number' | 'createdAt'>,
  {
    waiting,
    tried,
  }: {
    readonly waiting?: Pick<UnacceptedRow, 'state'> | undefined;
    readonly tried?: Pick<AttemptsRow, 'delivered'> | undefined;
  },
): DeliveryState {
  if (waiting !== undefined) return waiting.state;
  if (tried?.delivered === true) return 'DELIVERED';
  if (eventTypes?.includes(eventType) === false) return 'NOT_SUBSCRIBED';
  if (number < sequence) return 'BEHIND';
  return createdAt > at ? 'NEWER' : 'PASSED';
}
