import { type Queryable, sql } from '../../storage/index.ts';

/** The authenticator app of a member. */
export interface AuthenticatorRow {
  readonly authenticatorId: string;
  readonly name: string;
  readonly sealedSecret: Buffer;
  /** The step of the last code that counted. */
  readonly lastStep: bigint;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly recoveryCodes: number;
}

const ofUser = sql(
  'auth_authenticator',
  `select a.authenticator_id, a.name, a.sealed_secret, a.last_step, a.created_at, a.last_used_at,
          (select count(*)::integer from recovery_codes r
           where r.institution_id = $1 and r.user_key = $2) as recovery_codes
   from authenticators a
   where a.institution_id = $1 and a.user_key = $2`,
);

export async function selectAuthenticator(
  db: Queryable,
  userKey: bigint,
): Promise<AuthenticatorRow | undefined> {
  return (await db.query<AuthenticatorRow>(ofUser, [db.institutionId, userKey])).rows[0];
}

const has = sql(
  'auth_has_authenticator',
  'select exists (select from authenticators where institution_id = $1 and user_key = $2) as has_one',
);

/** Whether a sign-in of the member by password needs a code. */
export async function hasAuthenticator(db: Queryable, userKey: bigint): Promise<boolean> {
  const { rows } = await db.query<{ hasOne: boolean }>(has, [db.institutionId, userKey]);
  return rows[0]?.hasOne === true;
}

export interface NewAuthenticator
  extends Pick<AuthenticatorRow, 'authenticatorId' | 'name' | 'lastStep' | 'createdAt'> {
  readonly userKey: bigint;
  readonly sealedSecret: Uint8Array;
}

const insert = sql(
  'auth_insert_authenticator',
  `insert into authenticators (institution_id, user_key, authenticator_id, name, sealed_secret, last_step, created_at)
   values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
);

/** False: the member has one. */
export async function insertAuthenticator(db: Queryable, row: NewAuthenticator): Promise<boolean> {
  const { userKey, authenticatorId, name, sealedSecret, lastStep, createdAt } = row;
  const values = [db.institutionId, userKey, authenticatorId, name, sealedSecret, lastStep, createdAt];
  return (await db.query(insert, values)).rowCount === 1;
}

const use = sql(
  'auth_use_authenticator',
  `update authenticators set last_step = $4, last_used_at = greatest($5, created_at)
   where institution_id = $1 and user_key = $2 and authenticator_id = $3 and last_step < $4`,
);

/** Of several simultaneous uses of a code one counts. False for the others, and if the authenticator was removed. */
export async function spendStep(
  db: Queryable,
  userKey: bigint,
  use_: { readonly authenticatorId: string; readonly step: number; readonly at: Date },
): Promise<boolean> {
  const { authenticatorId, step, at } = use_;
  const values = [db.institutionId, userKey, authenticatorId, step, at];
  return (await db.query(use, values)).rowCount === 1;
}

const removeCodes = sql(
  'auth_delete_recovery_codes',
  'delete from recovery_codes where institution_id = $1 and user_key = $2',
);
const remove = sql(
  'auth_delete_authenticator',
  'delete from authenticators where institution_id = $1 and user_key = $2 returning authenticator_id',
);

/** Deletes the authenticator and the recovery codes. The id; undefined: the member has none. */
export async function deleteAuthenticator(db: Queryable, userKey: bigint): Promise<string | undefined> {
  await db.query(lock, [db.institutionId, userKey]);
  await db.query(removeCodes, [db.institutionId, userKey]);
  const { rows } = await db.query<{ authenticatorId: string }>(remove, [db.institutionId, userKey]);
  return rows[0]?.authenticatorId;
}

const lock = sql(
  'auth_lock_authenticator',
  'select authenticator_id from authenticators where institution_id = $1 and user_key = $2 for update',
);
const insertCodes = sql(
  'auth_insert_recovery_codes',
  `insert into recovery_codes (institution_id, user_key, place, code_hash, created_at)
   select $1, $2, code.place, code.code_hash, $4
   from unnest($3::bytea[]) with ordinality as code (code_hash, place)`,
);

/** Replaces the recovery codes of a member. The id of the authenticator beside them; undefined, and no codes, without one. */
export async function replaceRecoveryCodes(
  db: Queryable,
  userKey: bigint,
  { hashes, at }: { readonly hashes: readonly Buffer[]; readonly at: Date },
): Promise<string | undefined> {
  // Two replacements at once follow each other.
  const { rows } = await db.query<{ authenticatorId: string }>(lock, [db.institutionId, userKey]);
  if (rows[0] === undefined) return undefined;
  await db.query(removeCodes, [db.institutionId, userKey]);
  await db.query(insertCodes, [db.institutionId, userKey, hashes, at]);
  return rows[0].authenticatorId;
}

const hasCode = sql(
  'auth_has_recovery_code',
  `select exists (select from recovery_codes
                  where institution_id = $1 and user_key = $2 and code_hash = $3) as has_one`,
);

export async function hasRecoveryCode(db: Queryable, userKey: bigint, codeHash: Buffer): Promise<boolean> {
  const { rows } = await db.query<{ hasOne: boolean }>(hasCode, [db.institutionId, userKey, codeHash]);
  return rows[0]?.hasOne === true;
}

const spendCode = sql(
  'auth_spend_recovery_code',
  'delete from recovery_codes where institution_id = $1 and user_key = $2 and code_hash = $3',
);

/** False: the member has no such code, or another use of it was first. */
export async function spendRecoveryCode(db: Queryable, userKey: bigint, codeHash: Buffer): Promise<boolean> {
  return (await db.query(spendCode, [db.institutionId, userKey, codeHash])).rowCount === 1;
}

/** A sealed secret with its place in the walk. */
export interface PlacedSecret {
  readonly userKey: bigint;
  readonly authenticatorId: string;
  readonly sealedSecret: Buffer;
}

const secretsAfter = sql(
  'auth_sealed_authenticators',
  `select user_key, authenticator_id, sealed_secret from authenticators
   where institution_id = $1 and user_key > $2 order by user_key limit $3`,
);

export async function selectSecretsAfter(
  db: Queryable,
  userKey: bigint,
  limit: number,
): Promise<PlacedSecret[]> {
  return (await db.query<PlacedSecret>(secretsAfter, [db.institutionId, userKey, limit])).rows;
}

const reseal = sql(
  'auth_reseal_authenticator',
  `update authenticators set sealed_secret = $4
   where institution_id = $1 and user_key = $2 and authenticator_id = $3`,
);

export async function updateSealedSecret(
  db: Queryable,
  {
    userKey,
    authenticatorId,
    sealedSecret,
  }: Omit<PlacedSecret, 'sealedSecret'> & { sealedSecret: Uint8Array },
): Promise<void> {
  await db.query(reseal, [db.institutionId, userKey, authenticatorId, sealedSecret]);
}
