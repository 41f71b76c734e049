import { type Directory, sql } from '../../storage/index.ts';

const hashingKey = sql('auth_hashing_key', 'select sealed_key from hashing_key');

/** Undefined while SECRET_KEY was never changed. */
export async function selectHashingKey(db: Directory): Promise<Uint8Array | undefined> {
  return (await db.query<{ sealedKey: Uint8Array }>(hashingKey)).rows[0]?.sealedKey;
}

const insert = sql(
  'auth_insert_hashing_key',
  'insert into hashing_key (sealed_key) values ($1) on conflict do nothing',
);

/** Changes nothing if another process has inserted it. */
export async function insertHashingKey(db: Directory, sealedKey: Uint8Array): Promise<void> {
  await db.query(insert, [Buffer.from(sealedKey)]);
}

const update = sql('auth_update_hashing_key', 'update hashing_key set sealed_key = $1');

export async function updateHashingKey(db: Directory, sealedKey: Uint8Array): Promise<void> {
  await db.query(update, [Buffer.from(sealedKey)]);
}
