import type { Position } from '../../shared/page.ts';
import {
  columnsOf,
  type Directory,
  type InstitutionId,
  type Queryable,
  sql,
  type Transaction,
} from '../../storage/index.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type EndpointRow, toEndpoint } from '../endpoints/endpoint-queries.ts';

const work = sql(
  'webhooks_work',
  'select institution, endpoint::text as endpoint from webhooks_to_send($1, $2)',
);

/** Endpoints of any institution that have something to send and no sender. */
export async function selectEndpointsToSend(
  db: Directory,
  { now, most }: { readonly now: Date; readonly most: number },
): Promise<{ readonly institution: InstitutionId; readonly endpoint: string }[]> {
  return (await db.query<{ institution: InstitutionId; endpoint: string }>(work, [now, most])).rows;
}

const lease = sql(
  'webhooks_lease',
  `update webhook_endpoints
   set leased_by = $3, lease_until = $4
   where institution_id = $1 and endpoint_id = $2 and status = 'ACTIVE'
     and (lease_until is null or lease_until <= $5 or leased_by = $3)
     and (next_attempt_at is null or next_attempt_at <= $5)
   returning endpoint_id::text as endpoint_id, client_id, url, description, event_types, payload, ordering, status,
             status_reason, created_at, epoch, xid::text as xid, event_key, number, failures, failing_since, next_attempt_at`,
);

export interface Lease {
  readonly endpointId: string;
  readonly leasedBy: string;
  readonly until: Date;
  readonly now: Date;
}

/** Undefined if another process sends to it, or there is nothing to do. */
export async function leaseEndpoint(
  db: Queryable,
  { endpointId, leasedBy, until, now }: Lease,
): Promise<Endpoint | undefined> {
  const { rows } = await db.query<EndpointRow>(lease, [db.institutionId, endpointId, leasedBy, until, now]);
  return rows[0] && toEndpoint(rows[0]);
}

const release = sql(
  'webhooks_release',
  `update webhook_endpoints set leased_by = null, lease_until = null
   where institution_id = $1 and endpoint_id = $2 and leased_by = $3`,
);

export async function releaseEndpoint(
  db: Queryable,
  { endpointId, leasedBy }: Pick<Lease, 'endpointId' | 'leasedBy'>,
): Promise<void> {
  await db.query(release, [db.institutionId, endpointId, leasedBy]);
}

/** An event behind the position that its endpoint has not accepted. */
export interface Delivery {
  readonly number: bigint;
  readonly position: Position;
  readonly lanes: readonly string[];
  readonly state: 'WAITING' | 'PARKED';
  readonly attempts: number;
  /** Null: as soon as no earlier event is in the way. */
  readonly nextAttemptAt: Date | null;
}

const deliveries = sql(
  'webhooks_deliveries',
  `select number, epoch, xid::text as xid, event_key, lanes, state, attempts, next_attempt_at
   from webhook_deliveries
   where institution_id = $1 and endpoint_id = $2 and state = $3 and number > $4 order by number limit $5`,
);

export async function selectDeliveries(
  db: Queryable,
  wanted: {
    readonly endpointId: string;
    readonly state: Delivery['state'];
    readonly after?: bigint;
    readonly most: number;
  },
): Promise<Delivery[]> {
  const { endpointId, state, after = 0n, most } = wanted;
  const { rows } = await db.query<
    Omit<Delivery, 'position'> & { readonly epoch: bigint; readonly xid: string; readonly eventKey: bigint }
  >(deliveries, [db.institutionId, endpointId, state, after, most]);
  return rows.map(({ epoch, xid, eventKey, ...row }) => ({
    ...row,
    position: [epoch, BigInt(xid), eventKey],
  }));
}

const saveDeliveries = sql(
  'webhooks_save_deliveries',
  `insert into webhook_deliveries (institution_id, endpoint_id, number, epoch, xid, event_key, lanes, state, attempts,
                                   next_attempt_at, created_at)
   select $1, $2, d.number, d.epoch, d.xid::xid8, d.event_key, array(select jsonb_array_elements_text(d.lanes)), d.state,
          d.attempts, d.next_attempt_at, $4
   from unnest($3::bigint[], $5::bigint[], $6::text[], $7::bigint[], $8::jsonb[], $9::text[], $10::integer[],
               $11::timestamptz[])
        as d (number, epoch, xid, event_key, lanes, state, attempts, next_attempt_at)
   on conflict (institution_id, endpoint_id, number) do update
   set state = excluded.state, attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at`,
);

export async function upsertDeliveries(
  tx: Transaction,
  {
    endpointId,
    deliveries,
    at,
  }: { readonly endpointId: string; readonly deliveries: readonly Delivery[]; readonly at: Date },
): Promise<void> {
  if (deliveries.length === 0) return;
  const [numbers] = columnsOf(deliveries, 'number');
  await tx.query(saveDeliveries, [
    tx.institutionId,
    endpointId,
    numbers,
    at,
    deliveries.map(({ position: [epoch] }) => epoch),
    deliveries.map(({ position: [, xid] }) => String(xid)),
    deliveries.map(({ position: [, , key] }) => key),
    deliveries.map(({ lanes }) => JSON.stringify(lanes)),
    ...columnsOf(deliveries, 'state', 'attempts', 'nextAttemptAt'),
  ]);
}

const removeDeliveries = sql(
  'webhooks_delete_deliveries',
  `delete from webhook_deliveries where institution_id = $1 and endpoint_id = $2 and number = any ($3::bigint[])`,
);

export async function deleteDeliveries(
  tx: Transaction,
  endpointId: string,
  numbers: readonly bigint[],
): Promise<void> {
  if (numbers.length > 0) await tx.query(removeDeliveries, [tx.institutionId, endpointId, numbers]);
}

const removeAfter = sql(
  'webhooks_delete_deliveries_after',
  'delete from webhook_deliveries where institution_id = $1 and endpoint_id = $2 and number > $3',
);

/** Deletes the rows of all later events, whatever their state. */
export async function deleteDeliveriesAfter(
  tx: Transaction,
  endpointId: string,
  number: bigint,
): Promise<void> {
  await tx.query(removeAfter, [tx.institutionId, endpointId, number]);
}

const advance = sql(
  'webhooks_advance',
  `update webhook_endpoints
   set epoch = $4, xid = $5::xid8, event_key = $6, number = $7, failures = $8, failing_since = $9, next_attempt_at = $10,
       status = $11, status_reason = $12, lease_until = $13
   where institution_id = $1 and endpoint_id = $2 and leased_by = $3 and status = 'ACTIVE'`,
);

/** False if the lease was lost, for instance because the endpoint was changed meanwhile. */
export async function advanceEndpoint(
  tx: Transaction,
  endpoint: Endpoint,
  { leasedBy, until }: Pick<Lease, 'leasedBy' | 'until'>,
): Promise<boolean> {
  const { endpointId, position, number, failures, failingSince, nextAttemptAt, status, statusReason } =
    endpoint;
  const [epoch, xid, key] = position;
  const { rowCount } = await tx.query(advance, [
    tx.institutionId,
    endpointId,
    leasedBy,
    epoch,
    String(xid),
    key,
    number,
    failures,
    failingSince,
    nextAttemptAt,
    status,
    statusReason,
    until,
  ]);
  return rowCount === 1;
}
