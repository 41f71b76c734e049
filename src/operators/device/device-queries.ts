import { type Queryable, sql } from '../../storage/index.ts';
import type { SignInMethod } from '../access/session-queries.ts';

/** A command line that waits for its operator. */
export interface DeviceRequest {
  readonly deviceHash: Buffer;
  readonly machine: string;
  readonly address: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly intervalSeconds: number;
  readonly lastPolledAt: Date | null;
  readonly operatorId: string | null;
  /** Null: nobody has decided. */
  readonly isApproved: boolean | null;
  readonly method: SignInMethod | null;
  readonly authenticatedAt: Date | null;
  /** The session in which the operator decided. */
  readonly sessionId: string | null;
}

const insert = sql(
  'access_insert_device',
  `insert into operator_device_requests (institution_id, device_hash, user_code_hash, machine, address, created_at, expires_at, interval_seconds)
   select $1, $2, $3, $4, $5, $6, $7, $8
   where (select count(*) from operator_device_requests where institution_id = $1) < $9
     and (select count(*) from operator_device_requests where institution_id = $1 and address = $5) < $10
   on conflict do nothing`,
);

/** False if too many wait, of the institution or of the address: no one signs in before a request, so a stranger could fill the table. */
export async function insertDevice(
  tx: Queryable,
  row: Pick<
    DeviceRequest,
    'deviceHash' | 'machine' | 'address' | 'createdAt' | 'expiresAt' | 'intervalSeconds'
  > & {
    readonly userCodeHash: Buffer;
  },
  { most, mostOfAddress }: { readonly most: number; readonly mostOfAddress: number },
): Promise<boolean> {
  const { deviceHash, userCodeHash, machine, address, createdAt, expiresAt, intervalSeconds } = row;
  const inserted = await tx.query(insert, [
    ...[tx.institutionId, deviceHash, userCodeHash, machine, address, createdAt, expiresAt, intervalSeconds],
    ...[most, mostOfAddress],
  ]);
  return inserted.rowCount === 1;
}

const columns =
  'device_hash, machine, address, created_at, expires_at, interval_seconds, last_polled_at, operator_id, is_approved, method, authenticated_at, session_id';

const byCode = sql(
  'access_device_by_code',
  `select ${columns} from operator_device_requests
   where institution_id = $1 and user_code_hash = $2 and expires_at > $3 and is_approved is null`,
);

export async function selectByUserCode(
  db: Queryable,
  userCodeHash: Buffer,
  now: Date,
): Promise<DeviceRequest | undefined> {
  return (await db.query<DeviceRequest>(byCode, [db.institutionId, userCodeHash, now])).rows[0];
}

const byDevice = sql(
  'access_lock_device',
  `select ${columns} from operator_device_requests where institution_id = $1 and device_hash = $2 for update`,
);

export async function lockDevice(tx: Queryable, deviceHash: Buffer): Promise<DeviceRequest | undefined> {
  return (await tx.query<DeviceRequest>(byDevice, [tx.institutionId, deviceHash])).rows[0];
}

const decide = sql(
  'access_decide_device',
  `update operator_device_requests set operator_id = $3, is_approved = $4, method = $5, authenticated_at = $6, session_id = $7
   where institution_id = $1 and device_hash = $2 and is_approved is null and expires_at > $8`,
);

/** False if it was decided before, or has expired. */
export async function decideDevice(
  tx: Queryable,
  deviceHash: Buffer,
  decision: {
    readonly operatorId: string;
    readonly isApproved: boolean;
    readonly method: SignInMethod;
    readonly authenticatedAt: Date;
    readonly sessionId: string;
    readonly now: Date;
  },
): Promise<boolean> {
  const { operatorId, isApproved, method, authenticatedAt, sessionId, now } = decision;
  const decided = [operatorId, isApproved, method, authenticatedAt, sessionId];
  return (await tx.query(decide, [tx.institutionId, deviceHash, ...decided, now])).rowCount === 1;
}

const poll = sql(
  'access_poll_device',
  `update operator_device_requests set last_polled_at = $3, interval_seconds = $4
   where institution_id = $1 and device_hash = $2`,
);

export async function notePoll(
  tx: Queryable,
  {
    deviceHash,
    at,
    intervalSeconds,
  }: { readonly deviceHash: Buffer; readonly at: Date; readonly intervalSeconds: number },
): Promise<void> {
  await tx.query(poll, [tx.institutionId, deviceHash, at, intervalSeconds]);
}

const remove = sql(
  'access_delete_device',
  'delete from operator_device_requests where institution_id = $1 and device_hash = $2',
);

export async function deleteDevice(tx: Queryable, deviceHash: Buffer): Promise<void> {
  await tx.query(remove, [tx.institutionId, deviceHash]);
}

const expire = sql(
  'access_delete_expired_devices',
  'delete from operator_device_requests where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredDevices(db: Queryable, now: Date): Promise<void> {
  await db.query(expire, [db.institutionId, now]);
}
