import { type Queryable, sql } from '../../storage/index.ts';

/** A passkey as its owner sees it. */
export interface ListedPasskey {
  readonly passkeyId: string;
  readonly name: string;
  readonly isSynced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly credentialId: Buffer;
}

const ofUser = sql(
  'auth_passkeys_of_user',
  `select passkey_id, name, is_synced, created_at, last_used_at, credential_id from passkeys
   where institution_id = $1 and user_key = $2 order by created_at, passkey_id`,
);

export async function selectPasskeys(db: Queryable, userKey: bigint): Promise<ListedPasskey[]> {
  return (await db.query<ListedPasskey>(ofUser, [db.institutionId, userKey])).rows;
}

const count = sql(
  'auth_count_passkeys',
  'select count(*)::integer as passkeys from passkeys where institution_id = $1',
);

/** The passkeys of all members. */
export async function countPasskeys(db: Queryable): Promise<number> {
  return (await db.query<{ passkeys: number }>(count, [db.institutionId])).rows[0]?.passkeys ?? 0;
}

/** A passkey with its owner, for a sign-in. */
export interface PasskeyRow {
  readonly passkeyId: string;
  readonly publicKey: Buffer;
  readonly signCount: bigint;
  readonly isSynced: boolean;
  readonly userKey: bigint;
  readonly userId: string;
  readonly active: boolean;
  readonly lockedByOperator: boolean;
  readonly userEpoch: number;
  readonly customerIds: readonly string[];
}

const byCredential = sql(
  'auth_passkey_by_credential',
  `select p.passkey_id, p.public_key, p.sign_count, p.is_synced, p.user_key, u.user_id, u.active, u.locked_by_operator,
          u.token_epoch as user_epoch,
          array(select c.customer_id from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = u.institution_id and cp.person_key = u.person_key
                order by c.member_number) as customer_ids
   from passkeys p
   join users u on u.institution_id = p.institution_id and u.user_key = p.user_key
   where p.institution_id = $1 and p.credential_id = $2`,
);

export async function selectPasskey(db: Queryable, credentialId: Buffer): Promise<PasskeyRow | undefined> {
  return (await db.query<PasskeyRow>(byCredential, [db.institutionId, credentialId])).rows[0];
}

export interface NewPasskey {
  readonly passkeyId: string;
  readonly credentialId: Buffer;
  readonly userKey: bigint;
  readonly publicKey: Buffer;
  readonly signCount: number;
  readonly isSynced: boolean;
  readonly name: string;
  readonly createdAt: Date;
}

const newPasskey = sql(
  'auth_insert_passkey',
  `insert into passkeys (institution_id, passkey_id, credential_id, user_key, place, public_key, sign_count, is_synced, name, created_at)
   select $1, $2, $3, $4, min(free.place), $5, $6, $7, $8, $9
   from generate_series(1, 10) as free (place)
   where not exists (select from passkeys p where p.institution_id = $1 and p.user_key = $4 and p.place = free.place)
   having count(*) > 0
   on conflict do nothing`,
);

/** False if the credential is enrolled already, the member has ten, or another enrollment of the member took the place at this moment. */
export async function insertPasskey(db: Queryable, row: NewPasskey): Promise<boolean> {
  const { passkeyId, credentialId, userKey, publicKey, signCount, isSynced, name, createdAt } = row;
  const inserted = await db.query(newPasskey, [
    ...[db.institutionId, passkeyId, credentialId, userKey],
    ...[publicKey, signCount, isSynced, name, createdAt],
  ]);
  return inserted.rowCount === 1;
}

const use = sql(
  'auth_use_passkey',
  `update passkeys p set sign_count = $3, last_used_at = greatest($4::timestamptz, p.created_at)
   from users u
   where p.institution_id = $1 and p.passkey_id = $2 and p.sign_count = $5
     and u.institution_id = p.institution_id and u.user_key = p.user_key and u.token_epoch = $6
     and u.active and not u.locked_by_operator`,
);

/** False if since the row was read the passkey was removed or used, or its owner was locked, deactivated or got another password. */
export async function usePasskey(
  db: Queryable,
  { passkeyId, signCount, userEpoch }: PasskeyRow,
  { newCount, at }: { readonly newCount: number; readonly at: Date },
): Promise<boolean> {
  const values = [db.institutionId, passkeyId, newCount, at, signCount, userEpoch];
  return (await db.query(use, values)).rowCount === 1;
}

const remove = sql(
  'auth_delete_passkey',
  'delete from passkeys where institution_id = $1 and user_key = $2 and passkey_id = $3',
);

/** False: the member has no such passkey. */
export async function deletePasskey(db: Queryable, userKey: bigint, passkeyId: string): Promise<boolean> {
  return (await db.query(remove, [db.institutionId, userKey, passkeyId])).rowCount === 1;
}

const spend = sql(
  'auth_spend_challenge',
  `insert into passkey_challenges (institution_id, challenge, expires_at) values ($1, $2, $3) on conflict do nothing`,
);

/** False: the challenge was answered before. Kept until `expiresAt`, when its page has expired too. */
export async function spendChallenge(db: Queryable, challenge: Buffer, expiresAt: Date): Promise<boolean> {
  return (await db.query(spend, [db.institutionId, challenge, expiresAt])).rowCount === 1;
}

const deleteExpired = sql(
  'auth_delete_expired_challenges',
  'delete from passkey_challenges where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredChallenges(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteExpired, [db.institutionId, now]);
}

const erase = sql('auth_erase_passkeys', 'delete from passkeys where institution_id = $1 and user_key = $2');

/** Deletes the passkeys of a user, whose names are the user's words. */
export async function erasePasskeys(db: Queryable, userKey: bigint): Promise<void> {
  await db.query(erase, [db.institutionId, userKey]);
}
