import { type Queryable, sql, type Transaction } from '../../storage/index.ts';

export interface SeenDevice {
  readonly userKey: bigint;
  readonly deviceHash: Buffer;
  readonly at: Date;
  readonly kind: KindOfDevice;
  readonly clientId: string;
  /** Of a browser. */
  readonly name: string | null;
}

export type KindOfDevice = 'BROWSER' | 'KEY' | 'APP' | 'APP_WITHOUT_ID';

// A device that was seen within the day is left as it is, so that most sign-ins write nothing here. Of two first sign-ins at once, one
// inserts and the other updates (a row just inserted has no xmax).
const note = sql(
  'auth_note_device',
  `with known as materialized (
     select d.device_hash, d.last_seen_at from user_devices d where d.institution_id = $1 and d.user_key = $2
   ), noted as (
     insert into user_devices (institution_id, user_key, device_hash, first_seen_at, last_seen_at, kind, client_id, name)
     select $1, $2, $3, $4, $4, $5, $6, $7
     where not exists (select from known k where k.device_hash = $3 and k.last_seen_at > $4::timestamptz - interval '1 day')
     on conflict (institution_id, user_key, device_hash)
     do update set last_seen_at = greatest(user_devices.last_seen_at, excluded.last_seen_at),
                   kind = excluded.kind, client_id = excluded.client_id, name = excluded.name
     returning xmax = 0 as is_first_use
   )
   select exists (select from noted n where n.is_first_use) and exists (select from known) as is_new`,
);

/** Notes that the member used the device. True if it is new, and not the member's first. */
export async function noteDevice(tx: Transaction, seen: SeenDevice): Promise<boolean> {
  const { userKey, deviceHash, at, kind, clientId, name } = seen;
  const { rows } = await tx.query<{ isNew: boolean }>(note, [
    ...[tx.institutionId, userKey, deviceHash, at],
    ...[kind, clientId, name],
  ]);
  return rows[0]?.isNew === true;
}

/** A device from which the member signed in with a password or a passkey. */
export interface KnownDevice {
  /** Null for one that was last noted by a version without kinds. */
  readonly kind: KindOfDevice | null;
  /** The app of its last noted sign-in. */
  readonly clientName: string | null;
  /** Of a browser: what it claims to be, and on which system. */
  readonly name: string | null;
  readonly firstSeenAt: Date;
  /** To the day. */
  readonly lastSeenAt: Date;
}

const known = sql(
  'auth_known_devices',
  `select d.kind, c.name as client_name, d.name, d.first_seen_at, d.last_seen_at
   from user_devices d
   left join clients c on c.institution_id = $1 and c.client_id = d.client_id
   where d.institution_id = $1 and d.user_key = $2
   order by d.last_seen_at desc, d.device_hash
   limit 100`,
);

/** The hundred last used, without the marks by which they are known. */
export async function selectDevices(db: Queryable, userKey: bigint): Promise<KnownDevice[]> {
  return (await db.query<KnownDevice>(known, [db.institutionId, userKey])).rows;
}

const expire = sql(
  'auth_expire_devices',
  'delete from user_devices where institution_id = $1 and last_seen_at < $2',
);

export async function deleteDevicesBefore(db: Queryable, before: Date): Promise<void> {
  await db.query(expire, [db.institutionId, before]);
}

const erase = sql(
  'auth_erase_devices',
  'delete from user_devices where institution_id = $1 and user_key = $2',
);

export async function eraseDevices(tx: Transaction, userKey: bigint): Promise<void> {
  await tx.query(erase, [tx.institutionId, userKey]);
}
