import { eventIdOf } from '../../events/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

/** An event of a transfer, as the feed numbers it. */
export interface EventOfTransfer {
  readonly eventId: string;
  readonly sequence: bigint;
  readonly eventType: string;
  readonly at: Date;
}

// No index leads from a transfer to its events, which would cost each order a write. They are recorded at the moments of the transfer, and the
// marks lead there. "offset 0" keeps coalesce out of the comparison: with it, row-level security would have each event read and filtered.
const events = sql(
  'operators_events_of_transfer',
  `select distinct o.epoch, o.xid::text as xid, o.event_key, o.kind as event_type, o.recorded_at as at,
          event_number($1, o.epoch, o.xid, o.event_key) as sequence
   from (
     select coalesce(below.epoch, 0) as from_epoch, coalesce(below.xid, '0') as from_xid, coalesce(below.event_key, 0) as from_key,
            coalesce(above.epoch, 2147483647) as to_epoch, coalesce(above.xid, '18446744073709551615') as to_xid,
            coalesce(above.event_key, 9223372036854775807) as to_key
     from (
       select distinct event_mark_before($1, m.moment - interval '1 minute') as low,
              event_mark_before($1, m.moment + interval '1 minute') as high
       from unnest($3::timestamptz[]) as m (moment)
     ) span
     left join event_marks below on below.institution_id = $1 and below.number = span.low
     left join lateral (
       select m.epoch, m.xid, m.event_key from event_marks m
       where m.institution_id = $1 and m.number > span.high order by m.number limit 1
     ) above on true
     offset 0
   ) span
   join outbox o on o.institution_id = $1 and (o.epoch, o.xid, o.event_key) > (span.from_epoch, span.from_xid, span.from_key)
     and (o.epoch, o.xid, o.event_key) <= (span.to_epoch, span.to_xid, span.to_key)
     and o.subject_key = $2 and o.kind like 'transfer.%'
   order by sequence`,
);

/** The events that were recorded within a minute of these moments, without those that are in the archive only. */
export async function selectEventsOfTransfer(
  db: Queryable,
  { transferKey, moments }: { readonly transferKey: bigint; readonly moments: readonly Date[] },
): Promise<EventOfTransfer[]> {
  const { rows } = await db.query<
    Omit<EventOfTransfer, 'eventId'> & {
      readonly epoch: number;
      readonly xid: string;
      readonly eventKey: bigint;
    }
  >(events, [db.institutionId, transferKey, moments]);
  return rows.map(({ epoch, xid, eventKey, ...event }) => ({
    ...event,
    eventId: eventIdOf({ epoch, xid: BigInt(xid), eventKey }),
  }));
}

export interface EndpointRow {
  readonly endpointId: string;
  readonly clientId: string | null;
  readonly url: string;
  /** Null: all. */
  readonly eventTypes: readonly string[] | null;
  readonly status: 'ACTIVE' | 'PAUSED' | 'DISABLED';
  readonly createdAt: Date;
  /** Number of the last event at or before the position. */
  readonly number: bigint;
}

const endpoints = sql(
  'operators_endpoints',
  `select endpoint_id::text as endpoint_id, client_id, url, event_types, status, created_at, number
   from webhook_endpoints where institution_id = $1 and transport = 'HTTPS' order by created_at, endpoint_id`,
);

/** Without the mail of members, which sends alerts. */
export async function selectEndpoints(db: Queryable): Promise<EndpointRow[]> {
  return (await db.query<EndpointRow>(endpoints, [db.institutionId])).rows;
}

/** An event that its endpoint has not accepted. */
export interface UnacceptedRow {
  readonly endpointId: string;
  readonly number: bigint;
  readonly state: 'WAITING' | 'PARKED';
  readonly nextAttemptAt: Date | null;
}

const unaccepted = sql(
  'operators_unaccepted',
  `select d.endpoint_id::text as endpoint_id, d.number, d.state, d.next_attempt_at
   from webhook_endpoints e
   join webhook_deliveries d on d.institution_id = $1 and d.endpoint_id = e.endpoint_id and d.number = any ($2::bigint[])
   where e.institution_id = $1`,
);

export async function selectUnaccepted(db: Queryable, numbers: readonly bigint[]): Promise<UnacceptedRow[]> {
  return (await db.query<UnacceptedRow>(unaccepted, [db.institutionId, numbers])).rows;
}

/** The attempts of one endpoint to deliver one event, as far as its log goes back, and the last of them. */
export interface AttemptsRow {
  readonly endpointId: string;
  readonly eventId: string;
  readonly attempts: number;
  readonly attemptedAt: Date;
  readonly delivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
}

// The log holds the failures of thirty days and a hundred successes of each endpoint.
const attempts = sql(
  'operators_attempts_of_events',
  `select distinct on (a.endpoint_id, a.event_id) a.endpoint_id::text as endpoint_id, a.event_id,
          (count(*) over (partition by a.endpoint_id, a.event_id))::integer as attempts,
          a.attempted_at, a.delivered, a.status, a.error
   from webhook_attempts a
   where a.institution_id = $1 and a.event_id = any ($2::text[])
   order by a.endpoint_id, a.event_id, a.attempt_key desc`,
);

export async function selectAttemptsOf(db: Queryable, eventIds: readonly string[]): Promise<AttemptsRow[]> {
  return (await db.query<AttemptsRow>(attempts, [db.institutionId, eventIds])).rows;
}
