import { type InstitutionId, type Queryable, sql } from '../../storage/index.ts';

export interface RefreshFamilyRow {
  readonly familyId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly clientEpoch: number;
  readonly userEpoch: number;
  readonly generation: number;
  readonly tokenHash: Buffer;
  readonly rotatedAt: Date;
  readonly idleUntil: Date;
  readonly revoked: boolean;
  readonly createdAt: Date;
  /** As it stands now. */
  readonly client: { readonly active: boolean; readonly tokenEpoch: number };
  readonly user: {
    readonly userKey: bigint;
    readonly userId: string;
    readonly active: boolean;
    readonly lockedByOperator: boolean;
    readonly tokenEpoch: number;
    readonly customerIds: readonly string[];
  };
}

const newFamily = sql(
  'auth_insert_refresh_family',
  `insert into refresh_families (institution_id, family_id, client_id, user_key, scopes, client_epoch, user_epoch,
                                 generation, token_hash, rotated_at, idle_until, expires_at, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $9)`,
);

export async function insertRefreshFamily(
  db: Queryable,
  institutionId: InstitutionId,
  row: Pick<
    RefreshFamilyRow,
    'familyId' | 'clientId' | 'scopes' | 'clientEpoch' | 'userEpoch' | 'tokenHash' | 'idleUntil' | 'createdAt'
  > & { readonly userKey: bigint; readonly expiresAt: Date },
): Promise<void> {
  await db.query(newFamily, [
    institutionId,
    row.familyId,
    row.clientId,
    row.userKey,
    row.scopes,
    row.clientEpoch,
    row.userEpoch,
    row.tokenHash,
    row.createdAt,
    row.idleUntil,
    row.expiresAt,
  ]);
}

const family = sql(
  'auth_refresh_family',
  `select f.client_id, f.scopes, f.client_epoch, f.user_epoch, f.generation, f.token_hash, f.rotated_at, f.idle_until,
          f.revoked_at is not null as revoked, f.created_at, u.user_key, u.user_id, u.active,
          u.locked_by_operator, u.token_epoch, o.active as client_active,
          o.token_epoch as client_epoch_now,
          array(select c.customer_id from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = u.institution_id and cp.person_key = u.person_key
                order by c.member_number) as customer_ids
   from refresh_families f
   join clients o on o.institution_id = f.institution_id and o.client_id = f.client_id
   join users u on u.institution_id = f.institution_id and u.user_key = f.user_key
   where f.institution_id = $1 and f.family_id = $2`,
);

export async function selectRefreshFamily(
  db: Queryable,
  institutionId: InstitutionId,
  familyId: string,
): Promise<RefreshFamilyRow | undefined> {
  const { rows } = await db.query<{
    client_id: string;
    scopes: string[];
    client_epoch: number;
    user_epoch: number;
    generation: number;
    token_hash: Buffer;
    rotated_at: Date;
    idle_until: Date;
    revoked: boolean;
    created_at: Date;
    user_key: bigint;
    user_id: string;
    active: boolean;
    locked_by_operator: boolean;
    token_epoch: number;
    client_active: boolean;
    client_epoch_now: number;
    customer_ids: string[];
  }>(family, [institutionId, familyId]);
  return rows.map((row) => ({
    familyId,
    clientId: row.client_id,
    scopes: row.scopes,
    clientEpoch: row.client_epoch,
    userEpoch: row.user_epoch,
    generation: row.generation,
    tokenHash: row.token_hash,
    rotatedAt: row.rotated_at,
    idleUntil: row.idle_until,
    revoked: row.revoked,
    createdAt: row.created_at,
    client: { active: row.client_active, tokenEpoch: row.client_epoch_now },
    user: {
      userKey: row.user_key,
      userId: row.user_id,
      active: row.active,
      lockedByOperator: row.locked_by_operator,
      tokenEpoch: row.token_epoch,
      customerIds: row.customer_ids,
    },
  }))[0];
}

// One statement, and the only one that locks the row: of many at once one finds the number it looks for.
const rotate = sql(
  'auth_rotate_refresh_family',
  `update refresh_families
   set generation = generation + 1, token_hash = $4, rotated_at = $5, idle_until = least(expires_at, $6)
   where institution_id = $1 and family_id = $2 and generation = $3 and revoked_at is null`,
);

/** False when another request was faster, or the family was revoked meanwhile. */
export async function rotateRefreshFamily(
  db: Queryable,
  institutionId: InstitutionId,
  familyId: string,
  change: {
    readonly generation: number;
    readonly nextHash: Buffer;
    readonly now: Date;
    readonly idleUntil: Date;
  },
): Promise<boolean> {
  const { generation, nextHash, now, idleUntil } = change;
  const values = [institutionId, familyId, generation, nextHash, now, idleUntil];
  return (await db.query(rotate, values)).rowCount === 1;
}

const revokeFamily = sql(
  'auth_revoke_refresh_family',
  `with ended as (
     update refresh_families set revoked_at = $3
     where institution_id = $1 and family_id = $2 and revoked_at is null
     returning institution_id, family_id)
   insert into revocations (institution_id, revoked_id, expires_at)
   select institution_id, family_id, $4 from ended
   on conflict do nothing`,
);

/** Ends the family, and with it the access tokens that came from it, which have all died by `until`. False: it had. */
export async function revokeRefreshFamily(
  db: Queryable,
  institutionId: InstitutionId,
  familyId: string,
  at: Date,
  until: Date,
): Promise<boolean> {
  return (await db.query(revokeFamily, [institutionId, familyId, at, until])).rowCount === 1;
}

const revoke = sql(
  'auth_revoke_token',
  `insert into revocations (institution_id, revoked_id, expires_at) values ($1, $2, $3) on conflict do nothing`,
);

/** Ends the one access token that has this `jti`, and would have lived until `until`. False: it had. */
export async function revokeAccessToken(
  db: Queryable,
  institutionId: InstitutionId,
  tokenId: string,
  until: Date,
): Promise<boolean> {
  return (await db.query(revoke, [institutionId, tokenId, until])).rowCount === 1;
}

const forgetFamilies = sql(
  'auth_forget_refresh_families',
  'delete from refresh_families where institution_id = $1 and idle_until <= $2',
);
const forgetRevocations = sql(
  'auth_forget_revocations',
  'delete from revocations where institution_id = $1 and expires_at <= $2',
);

/** What has ended, and what is revoked that would have died by now. */
export async function deleteEndedTokens(
  db: Queryable,
  institutionId: InstitutionId,
  now: Date,
): Promise<void> {
  await db.query(forgetFamilies, [institutionId, now]);
  await db.query(forgetRevocations, [institutionId, now]);
}
