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
   where institution_id = $1 and endpoint_id = any ($2::uuid[]) and status = 'ACTIVE'
     and (lease_until is null or lease_until <= $5 or leased_by = $3)
     and (next_attempt_at is null or next_attempt_at <= $5)
   returning endpoint_id::text as endpoint_id, transport, client_id, url, description, event_types, payload, ordering, status,
             status_reason, created_at, epoch, xid::text as xid, event_key, number, failures, failing_since, next_attempt_at`,
);

export interface Lease {
  readonly leasedBy: string;
  readonly until: Date;
  readonly now: Date;
}

/** Without those that another process sends to, or that have nothing to do. */
export async function leaseEndpoints(
  db: Queryable,
  endpointIds: readonly string[],
  { leasedBy, until, now }: Lease,
): Promise<Endpoint[]> {
  const { rows } = await db.query<EndpointRow>(lease, [db.institutionId, endpointIds, leasedBy, until, now]);
  return rows.map(toEndpoint);
}

const release = sql(
  'webhooks_release',
  `update webhook_endpoints set leased_by = null, lease_until = null
   where institution_id = $1 and endpoint_id = any ($2::uuid[]) and leased_by = $3`,
);

export async function releaseEndpoints(
  db: Queryable,
  endpointIds: readonly string[],
  leasedBy: string,
): Promise<void> {
  await db.query(release, [db.institutionId, endpointIds, leasedBy]);
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
   select $1, d.endpoint_id, d.number, d.epoch, d.xid::xid8, d.event_key, array(select jsonb_array_elements_text(d.lanes)),
          d.state, d.attempts, d.next_attempt_at, $2
   from unnest($3::uuid[], $4::bigint[], $5::text[], $6::integer[], $7::timestamptz[], $8::bigint[], $9::text[], $10::bigint[],
               $11::jsonb[])
        as d (endpoint_id, number, state, attempts, next_attempt_at, epoch, xid, event_key, lanes)
   on conflict (institution_id, endpoint_id, number) do update
   set state = excluded.state, attempts = excluded.attempts, next_attempt_at = excluded.next_attempt_at`,
);

export async function upsertDeliveries(
  tx: Transaction,
  deliveries: readonly (Delivery & { readonly endpointId: string })[],
  at: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  await tx.query(saveDeliveries, [
    tx.institutionId,
    at,
    ...columnsOf(deliveries, 'endpointId', 'number', 'state', 'attempts', 'nextAttemptAt'),
    deliveries.map(({ position: [epoch] }) => epoch),
    deliveries.map(({ position: [, xid] }) => String(xid)),
    deliveries.map(({ position: [, , key] }) => key),
    deliveries.map(({ lanes }) => JSON.stringify(lanes)),
  ]);
}

const removeDeliveries = sql(
  'webhooks_delete_deliveries',
  `delete from webhook_deliveries d
   using unnest($2::uuid[], $3::bigint[]) as done (endpoint_id, number)
   where d.institution_id = $1 and d.endpoint_id = done.endpoint_id and d.number = done.number`,
);

export async function deleteDeliveries(
  tx: Transaction,
  done: readonly { readonly endpointId: string; readonly number: bigint }[],
): Promise<void> {
  if (done.length === 0) return;
  await tx.query(removeDeliveries, [tx.institutionId, ...columnsOf(done, 'endpointId', 'number')]);
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
  `update webhook_endpoints e
   set epoch = v.epoch, xid = v.xid::xid8, event_key = v.event_key, number = v.number, failures = v.failures,
       failing_since = v.failing_since, next_attempt_at = v.next_attempt_at, status = v.status, status_reason = v.status_reason,
       lease_until = $3
   from unnest($4::uuid[], $5::integer[], $6::timestamptz[], $7::timestamptz[], $8::text[], $9::text[], $10::bigint[],
               $11::bigint[], $12::text[], $13::bigint[], $14::bigint[])
        as v (endpoint_id, failures, failing_since, next_attempt_at, status, status_reason, number, epoch, xid, event_key,
              from_number)
   where e.institution_id = $1 and e.endpoint_id = v.endpoint_id and e.leased_by = $2 and e.status = 'ACTIVE'
     and e.number = v.from_number
   returning e.endpoint_id::text as endpoint_id`,
);

/** The endpoints that moved. Not one whose lease was lost, for instance because it was changed or the database put back. */
export async function advanceEndpoints(
  tx: Transaction,
  moves: readonly { readonly from: bigint; readonly to: Endpoint }[],
  { leasedBy, until }: Pick<Lease, 'leasedBy' | 'until'>,
): Promise<ReadonlySet<string>> {
  const endpoints = moves.map(({ to }) => to);
  const { rows } = await tx.query<{ endpointId: string }>(advance, [
    tx.institutionId,
    leasedBy,
    until,
    ...columnsOf(
      endpoints,
      'endpointId',
      'failures',
      'failingSince',
      'nextAttemptAt',
      'status',
      'statusReason',
      'number',
    ),
    endpoints.map(({ position: [epoch] }) => epoch),
    endpoints.map(({ position: [, xid] }) => String(xid)),
    endpoints.map(({ position: [, , key] }) => key),
    moves.map(({ from }) => from),
  ]);
  return new Set(rows.map(({ endpointId }) => endpointId));
}
