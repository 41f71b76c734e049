import { type Directory, sql } from '../../storage/index.ts';
import { type KeyTimes, keyStates } from './key-states.ts';

/** Signing keys belong to the global directory, not to an institution. */
export interface SigningKeyRow extends KeyTimes {
  readonly kid: string;
  readonly publicJwk: object;
  /** Null: wiped. */
  readonly sealedPrivateKey: Uint8Array | null;
  readonly createdAt: Date;
}

const all = sql(
  'auth_signing_keys',
  `select kid, public_jwk, sealed_private_key, generation, signs_from, created_at from signing_keys
   order by generation`,
);

/** The oldest first. */
export async function selectSigningKeys(db: Directory): Promise<SigningKeyRow[]> {
  return (await db.query<SigningKeyRow>(all)).rows;
}

/** The public parts of this cell's keys that have not expired: others verify its tokens with them. */
export async function selectPublicKeys(
  db: Directory,
  now: Date,
): Promise<Pick<SigningKeyRow, 'kid' | 'publicJwk'>[]> {
  const states = [...keyStates(await selectSigningKeys(db), now)];
  return states.flatMap(([{ kid, publicJwk }, state]) => (state === 'expired' ? [] : [{ kid, publicJwk }]));
}

const newKey = sql(
  'auth_insert_signing_key',
  `insert into signing_keys (kid, algorithm, public_jwk, sealed_private_key, generation, signs_from, created_at)
   values ($1, 'ES256', $2, $3, $4, $5, $6)
   on conflict (generation) do nothing`,
);

/** False if another process inserted the generation first. */
export async function insertSigningKey(
  db: Directory,
  key: SigningKeyRow & { readonly sealedPrivateKey: Uint8Array },
): Promise<boolean> {
  const { kid, publicJwk, sealedPrivateKey, generation, signsFrom, createdAt } = key;
  const values = [kid, publicJwk, Buffer.from(sealedPrivateKey), generation, signsFrom, createdAt];
  return (await db.query(newKey, values)).rowCount === 1;
}

const wipe = sql(
  'auth_wipe_signing_keys',
  'update signing_keys set sealed_private_key = null where kid = any($1) and sealed_private_key is not null',
);

export async function wipePrivateKeys(db: Directory, kids: readonly string[]): Promise<void> {
  await db.query(wipe, [kids]);
}

const reseal = sql(
  'auth_reseal_signing_key',
  'update signing_keys set sealed_private_key = $2 where kid = $1 and sealed_private_key is not null',
);

export async function updateSealedKey(db: Directory, kid: string, sealed: Uint8Array): Promise<void> {
  await db.query(reseal, [kid, Buffer.from(sealed)]);
}

const remove = sql('auth_delete_signing_keys', 'delete from signing_keys where kid = any($1)');

export async function deleteSigningKeys(db: Directory, kids: readonly string[]): Promise<void> {
  await db.query(remove, [kids]);
}
