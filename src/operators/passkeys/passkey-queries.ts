import type { EnrolledKey } from '../../auth/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

/** A passkey as its owner sees it. */
export interface OwnPasskey {
  readonly passkeyId: string;
  readonly name: string;
  readonly isSynced: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly credentialId: Buffer;
}

const ofOperator = sql(
  'access_passkeys',
  `select passkey_id, name, is_synced, created_at, last_used_at, credential_id from operator_passkeys
   where institution_id = $1 and operator_id = $2 order by created_at, passkey_id`,
);

export async function selectPasskeys(db: Queryable, operatorId: string): Promise<OwnPasskey[]> {
  return (await db.query<OwnPasskey>(ofOperator, [db.institutionId, operatorId])).rows;
}

/** A passkey with its owner, for a sign-in. */
export interface SignInPasskey {
  readonly passkeyId: string;
  readonly operatorId: string;
  readonly publicKey: Buffer;
  readonly signCount: bigint;
}

const byCredential = sql(
  'access_passkey_by_credential',
  `select passkey_id, operator_id, public_key, sign_count from operator_passkeys
   where institution_id = $1 and credential_id = $2`,
);

export async function selectPasskey(db: Queryable, credentialId: Buffer): Promise<SignInPasskey | undefined> {
  return (await db.query<SignInPasskey>(byCredential, [db.institutionId, credentialId])).rows[0];
}

interface NewPasskey extends EnrolledKey {
  readonly passkeyId: string;
  readonly operatorId: string;
  readonly name: string;
  readonly createdAt: Date;
}

const insert = sql(
  'access_insert_passkey',
  `insert into operator_passkeys (institution_id, passkey_id, credential_id, operator_id, place, public_key, sign_count, is_synced,
                                  name, created_at)
   select $1, $2, $3, $4, min(free.place), $5, $6, $7, $8, $9
   from generate_series(1, 10) as free (place)
   where not exists (select from operator_passkeys p
                     where p.institution_id = $1 and p.operator_id = $4 and p.place = free.place)
   having count(*) > 0
   on conflict do nothing`,
);

/** False if the credential is enrolled already, or the operator has ten. */
export async function insertPasskey(tx: Queryable, row: NewPasskey): Promise<boolean> {
  const { passkeyId, credentialId, operatorId, publicKey, signCount, isSynced, name, createdAt } = row;
  const inserted = await tx.query(insert, [
    ...[tx.institutionId, passkeyId, credentialId, operatorId],
    ...[publicKey, signCount, isSynced, name, createdAt],
  ]);
  return inserted.rowCount === 1;
}

const use = sql(
  'access_use_passkey',
  `update operator_passkeys set sign_count = $3, last_used_at = greatest($4::timestamptz, created_at)
   where institution_id = $1 and passkey_id = $2 and sign_count = $5`,
);

/** False if since the row was read the passkey was removed or used. */
export async function usePasskey(
  tx: Queryable,
  { passkeyId, signCount }: SignInPasskey,
  { newCount, at }: { readonly newCount: number; readonly at: Date },
): Promise<boolean> {
  return (await tx.query(use, [tx.institutionId, passkeyId, newCount, at, signCount])).rowCount === 1;
}

const remove = sql(
  'access_delete_passkey',
  'delete from operator_passkeys where institution_id = $1 and operator_id = $2 and passkey_id = $3::uuid',
);

/** False: the operator has no such passkey. */
export async function deletePasskey(tx: Queryable, operatorId: string, passkeyId: string): Promise<boolean> {
  return (await tx.query(remove, [tx.institutionId, operatorId, passkeyId])).rowCount === 1;
}

const removeAll = sql(
  'access_delete_passkeys',
  'delete from operator_passkeys where institution_id = $1 and operator_id = $2 returning passkey_id',
);

/** The ids of those that were there. */
export async function deletePasskeys(tx: Queryable, operatorId: string): Promise<string[]> {
  const { rows } = await tx.query<{ passkeyId: string }>(removeAll, [tx.institutionId, operatorId]);
  return rows.map(({ passkeyId }) => passkeyId);
}
