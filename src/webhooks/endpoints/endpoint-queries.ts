import type { Position } from '../../shared/page.ts';
import { counted, type Queryable, sql, type Transaction } from '../../storage/index.ts';
import type { Endpoint, EndpointSettings } from './endpoint.ts';

const columns = `endpoint_id::text as endpoint_id, transport, client_id, url, description, event_types, payload, ordering, status, status_reason,
  created_at, epoch, xid::text as xid, event_key, number, failures, failing_since, next_attempt_at`;

export interface EndpointRow extends Omit<Endpoint, 'position'> {
  readonly epoch: bigint;
  readonly xid: string;
  readonly eventKey: bigint;
}

export function toEndpoint({ epoch, xid, eventKey, ...row }: EndpointRow): Endpoint {
  return { ...row, position: [epoch, BigInt(xid), eventKey] };
}

const insert = counted(
  'webhooks_insert_endpoint',
  'webhook_endpoints',
  '1',
  `insert into webhook_endpoints (institution_id, endpoint_id, client_id, url, description, event_types, payload, ordering,
                                  status, created_at, epoch, xid, event_key, number, transport)
   values ($1, $2, $3, $4, $5, $6, $7, $8, 'ACTIVE', $9, $10, $11::xid8, $12, $13, $14)`,
);

export async function insertEndpoint(
  tx: Transaction,
  endpoint: EndpointSettings &
    Pick<Endpoint, 'endpointId' | 'transport' | 'clientId' | 'createdAt' | 'position' | 'number'>,
): Promise<void> {
  const { endpointId, clientId, url, description, eventTypes, payload, ordering, createdAt } = endpoint;
  const [epoch, xid, key] = endpoint.position;
  const settings = [url, description, eventTypes, payload, ordering];
  await tx.query(insert, [
    tx.institutionId,
    endpointId,
    clientId,
    ...settings,
    createdAt,
    epoch,
    String(xid),
    key,
    endpoint.number,
    endpoint.transport,
  ]);
}

const list = sql(
  'webhooks_list',
  `select ${columns} from webhook_endpoints
   where institution_id = $1 and ($2::text is null or client_id = $2) order by created_at, endpoint_id`,
);

/** Null as the client: those of all clients. */
export async function selectEndpoints(db: Queryable, clientId: string | null): Promise<Endpoint[]> {
  const { rows } = await db.query<EndpointRow>(list, [db.institutionId, clientId]);
  return rows.map(toEndpoint);
}

const find = sql(
  'webhooks_find',
  `select ${columns} from webhook_endpoints
   where institution_id = $1 and endpoint_id = $2::uuid and ($3::text is null or client_id = $3)`,
);
const findForUpdate = sql('webhooks_find_for_update', `${find.text} for update`);

export async function selectEndpoint(
  db: Queryable,
  { endpointId, clientId, lock = false }: EndpointKey & { readonly lock?: boolean },
): Promise<Endpoint | undefined> {
  const { rows } = await db.query<EndpointRow>(lock ? findForUpdate : find, [
    db.institutionId,
    endpointId,
    clientId,
  ]);
  return rows[0] && toEndpoint(rows[0]);
}

/** Null as the client: an operator, who may act on every endpoint of the institution. */
export interface EndpointKey {
  readonly endpointId: string;
  readonly clientId: string | null;
}

// The process that sends to it loses its lease, so that it writes nothing over the change.
const update = counted(
  'webhooks_update',
  'webhook_endpoints',
  '1',
  `update webhook_endpoints
   set url = $3, description = $4, event_types = $5, payload = $6, ordering = $7, status = $8, status_reason = $9,
       failures = 0, failing_since = null, next_attempt_at = null, leased_by = null, lease_until = null
   where institution_id = $1 and endpoint_id = $2`,
);

export async function updateEndpoint(
  tx: Transaction,
  endpoint: EndpointSettings & Pick<Endpoint, 'endpointId' | 'status' | 'statusReason'>,
): Promise<void> {
  const { endpointId, url, description, eventTypes, payload, ordering, status, statusReason } = endpoint;
  const settings = [url, description, eventTypes, payload, ordering];
  await tx.query(update, [tx.institutionId, endpointId, ...settings, status, statusReason]);
}

const move = counted(
  'webhooks_move',
  'webhook_endpoints',
  '1',
  `update webhook_endpoints
   set epoch = $3, xid = $4::xid8, event_key = $5, number = $6, leased_by = null, lease_until = null
   where institution_id = $1 and endpoint_id = $2`,
);

/** Sets the position back; the process that sends loses its lease. */
export async function moveEndpoint(
  tx: Transaction,
  endpointId: string,
  { position: [epoch, xid, key], number }: { readonly position: Position; readonly number: bigint },
): Promise<void> {
  await tx.query(move, [tx.institutionId, endpointId, epoch, String(xid), key, number]);
}

const remove = counted(
  'webhooks_delete',
  'webhook_endpoints',
  '1',
  'delete from webhook_endpoints where institution_id = $1 and endpoint_id = $2',
);

export async function deleteEndpoint(tx: Transaction, endpointId: string): Promise<void> {
  await tx.query(remove, [tx.institutionId, endpointId]);
}

export interface SealedKey {
  readonly slot: number;
  readonly sealedSecret: Uint8Array;
  readonly sealedPrivateKey: Uint8Array;
  readonly publicKey: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

const keys = sql(
  'webhooks_keys',
  `select endpoint_id::text as endpoint_id, slot, sealed_secret, sealed_private_key, public_key, created_at, expires_at
   from webhook_keys
   where institution_id = $1 and endpoint_id = any ($2::uuid[]) and (expires_at is null or expires_at > $3)
   order by created_at desc`,
);

/** The valid keys, the newest first. */
export async function selectKeys(
  db: Queryable,
  endpointIds: readonly string[],
  now: Date,
): Promise<(SealedKey & { readonly endpointId: string })[]> {
  const { rows } = await db.query<SealedKey & { readonly endpointId: string }>(keys, [
    db.institutionId,
    endpointIds,
    now,
  ]);
  return rows;
}

const keysAfter = sql(
  'webhooks_keys_after',
  `select endpoint_id::text as endpoint_id, slot, sealed_secret, sealed_private_key from webhook_keys
   where institution_id = $1 and (endpoint_id, slot) > ($2::uuid, $3::integer) order by endpoint_id, slot limit $4`,
);

export type KeyPlace = Pick<SealedKey, 'slot'> & { readonly endpointId: string };
export type PlacedKey = KeyPlace & Pick<SealedKey, 'sealedSecret' | 'sealedPrivateKey'>;

/** Keys of all endpoints behind a place, expired ones too. */
export async function selectKeysAfter(db: Queryable, after: KeyPlace, most: number): Promise<PlacedKey[]> {
  const values = [db.institutionId, after.endpointId, after.slot, most];
  return (await db.query<PlacedKey>(keysAfter, values)).rows;
}

const resealKeyStatement = sql(
  'webhooks_reseal_key',
  `update webhook_keys set sealed_secret = $4, sealed_private_key = $5
   where institution_id = $1 and endpoint_id = $2 and slot = $3 and sealed_secret = $6`,
);

/** Changes nothing if the key was replaced meanwhile. */
export async function updateSealedKey(tx: Queryable, key: PlacedKey, before: Uint8Array): Promise<void> {
  const { endpointId, slot, sealedSecret, sealedPrivateKey } = key;
  const sealed = [sealedSecret, sealedPrivateKey, before].map((bytes) => Buffer.from(bytes));
  await tx.query(resealKeyStatement, [tx.institutionId, endpointId, slot, ...sealed]);
}

const insertKeyStatement = counted(
  'webhooks_insert_key',
  'webhook_keys',
  '1',
  `insert into webhook_keys (institution_id, endpoint_id, slot, sealed_secret, sealed_private_key, public_key, created_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertKey(
  tx: Transaction,
  endpointId: string,
  { slot, sealedSecret, sealedPrivateKey, publicKey, createdAt }: Omit<SealedKey, 'expiresAt'>,
): Promise<void> {
  const sealed = [slot, sealedSecret, sealedPrivateKey, publicKey];
  await tx.query(insertKeyStatement, [tx.institutionId, endpointId, ...sealed, createdAt]);
}

const expireKeys = sql(
  'webhooks_expire_keys',
  `update webhook_keys set expires_at = $3 where institution_id = $1 and endpoint_id = $2 and expires_at is null`,
);
const deleteExpired = sql(
  'webhooks_delete_expired_keys',
  `delete from webhook_keys where institution_id = $1 and endpoint_id = $2 and expires_at <= $3`,
);

/** The current key ends at the moment; keys that have ended by now are deleted. */
export async function endKeys(
  tx: Transaction,
  endpointId: string,
  { now, endsAt }: { readonly now: Date; readonly endsAt: Date },
): Promise<void> {
  await tx.query(deleteExpired, [tx.institutionId, endpointId, now]);
  await tx.query(expireKeys, [tx.institutionId, endpointId, endsAt]);
}

const end = sql(
  'webhooks_end_of_feed',
  `select now.epoch, (now.first_running::text::numeric - 1)::text as xid,
          event_number($1, now.epoch, (now.first_running::text::numeric - 1)::text::xid8, 9223372036854775807) as number
   from (
     select coalesce(max(e.epoch), 0)::bigint as epoch, first_running($1) as first_running
     from event_epochs e where e.institution_id = $1
   ) now`,
);

/** Behind the last event that the feed shows now. */
export async function selectEndOfFeed(
  db: Queryable,
): Promise<{ readonly position: Position; readonly number: bigint }> {
  const { rows } = await db.query<{ epoch: bigint; xid: string; number: bigint }>(end, [db.institutionId]);
  const [row] = rows;
  if (row === undefined) throw new Error('webhooks: the feed has no end');
  return { position: [row.epoch, BigInt(row.xid), 2n ** 63n - 1n], number: row.number };
}
