import type { Acr } from '../../institutions/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';

/** A login that can be renewed, with all access tokens that came from it. */
export interface RefreshFamilyRow {
  readonly familyId: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly userKey: bigint;
  readonly userId: string;
  /** The user's token epoch at the login. */
  readonly userEpoch: number;
  /** The number of the newest token, from 0. */
  readonly generation: number;
  readonly tokenHash: Buffer;
  readonly rotatedAt: Date;
  readonly idleUntil: Date;
  readonly isRevoked: boolean;
  readonly createdAt: Date;
  /** When the member proved who they are. */
  readonly authenticatedAt: Date;
  readonly acr: Acr | null;
  /** The claim `amr`; null for a login of before this column. */
  readonly methods: readonly string[] | null;
  /** The client is on, the user may sign in, and no token epoch has changed since the login. */
  readonly isPermitted: boolean;
  readonly customerIds: readonly string[];
  /** The key of the proof with which the login began; null for other tokens. */
  readonly keyThumbprint: string | null;
  /** The certificate with which the login began; null for other tokens. */
  readonly certificateThumbprint: string | null;
  /** The consent on which the login stands, with its scopes now; null for an app that needs none. */
  readonly consentId: string | null;
  readonly consentScopes: readonly string[] | null;
}

// A trigger adds the consent of the grant.
const newFamily = sql(
  'auth_insert_refresh_family',
  `insert into refresh_families (institution_id, family_id, client_id, user_key, scopes, client_epoch, user_epoch,
                                 generation, token_hash, rotated_at, idle_until, expires_at, created_at,
                                 authenticated_at, key_thumbprint, acr, methods, certificate_thumbprint)
   values ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10, $11, $9, $12, $13, $14, $15, $16)`,
);

export async function insertRefreshFamily(
  db: Queryable,
  row: Omit<
    RefreshFamilyRow,
    | 'userId'
    | 'generation'
    | 'rotatedAt'
    | 'isRevoked'
    | 'isPermitted'
    | 'customerIds'
    | 'consentId'
    | 'consentScopes'
  > & {
    readonly clientEpoch: number;
    readonly expiresAt: Date;
  },
): Promise<void> {
  await db.query(newFamily, [
    ...[
      db.institutionId,
      row.familyId,
      row.clientId,
      row.userKey,
      row.scopes,
      row.clientEpoch,
      row.userEpoch,
    ],
    ...[row.tokenHash, row.createdAt, row.idleUntil, row.expiresAt, row.authenticatedAt],
    row.keyThumbprint,
    row.acr,
    row.methods,
    row.certificateThumbprint,
  ]);
}

const family = sql(
  'auth_refresh_family',
  `select f.family_id, f.client_id, f.scopes, f.user_epoch, f.generation, f.token_hash, f.rotated_at, f.idle_until,
          f.revoked_at is not null as is_revoked, f.created_at,
          coalesce(f.authenticated_at, f.created_at) as authenticated_at, f.acr, f.methods, f.key_thumbprint,
          f.certificate_thumbprint,
          u.user_key, u.user_id, s.consent_id, s.scopes as consent_scopes,
          u.active and not u.locked_by_operator and u.token_epoch = f.user_epoch
            and o.active and o.token_epoch = f.client_epoch
            and (s.consent_id is null or s.ended_at is null) as is_permitted,
          array(select c.customer_id from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = u.institution_id and cp.person_key = u.person_key
                order by c.member_number) as customer_ids
   from refresh_families f
   join clients o on o.institution_id = f.institution_id and o.client_id = f.client_id
   join users u on u.institution_id = f.institution_id and u.user_key = f.user_key
   -- A family of before the column has the consent of its grant.
   left join authorization_grants g on g.institution_id = f.institution_id and g.grant_id = f.family_id
   left join consents s on s.institution_id = f.institution_id and s.consent_id = coalesce(f.consent_id, g.consent_id)
   where f.institution_id = $1 and f.family_id = $2`,
);

export async function selectRefreshFamily(
  db: Queryable,
  familyId: string,
): Promise<RefreshFamilyRow | undefined> {
  return (await db.query<RefreshFamilyRow>(family, [db.institutionId, familyId])).rows[0];
}

// Locks the row. Of several simultaneous refreshes one finds the expected generation.
const rotate = sql(
  'auth_rotate_refresh_family',
  `update refresh_families
   set generation = generation + 1, token_hash = $4, rotated_at = $5, used_at = $5, idle_until = least(expires_at, $6)
   where institution_id = $1 and family_id = $2 and generation = $3 and revoked_at is null`,
);

/** False if another request rotated or revoked the family first. */
export async function rotateRefreshFamily(
  db: Queryable,
  familyId: string,
  change: {
    readonly generation: number;
    readonly nextHash: Buffer;
    readonly now: Date;
    readonly idleUntil: Date;
  },
): Promise<boolean> {
  const { generation, nextHash, now, idleUntil } = change;
  const values = [db.institutionId, familyId, generation, nextHash, now, idleUntil];
  return (await db.query(rotate, values)).rowCount === 1;
}

const extend = sql(
  'auth_extend_refresh_family',
  `update refresh_families set idle_until = least(expires_at, $4), used_at = $5
   where institution_id = $1 and family_id = $2 and generation = $3 and revoked_at is null`,
);

/** False if another request rotated or revoked the family first. */
export async function extendRefreshFamily(
  db: Queryable,
  familyId: string,
  {
    generation,
    now,
    idleUntil,
  }: { readonly generation: number; readonly now: Date; readonly idleUntil: Date },
): Promise<boolean> {
  return (await db.query(extend, [db.institutionId, familyId, generation, idleUntil, now])).rowCount === 1;
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

/** Ends the family and its access tokens, which have all expired by `expiresAt`. False if it had ended before. */
export async function revokeRefreshFamily(
  db: Queryable,
  familyId: string,
  { at, expiresAt }: { readonly at: Date; readonly expiresAt: Date },
): Promise<boolean> {
  return (await db.query(revokeFamily, [db.institutionId, familyId, at, expiresAt])).rowCount === 1;
}

// Also those of a client that is switched off: it may come back.
const revokeAll = sql(
  'auth_revoke_refresh_families',
  `with ended as (
     update refresh_families set revoked_at = $3
     where institution_id = $1 and user_key = $2 and revoked_at is null and idle_until > $3
     returning institution_id, family_id, client_id
   ), revoked as (
     insert into revocations (institution_id, revoked_id, expires_at)
     select institution_id, family_id, $4 from ended
     on conflict do nothing
   )
   select family_id, client_id from ended order by family_id`,
);

/** Ends every family of the user with its access tokens, which have all expired by `expiresAt`. Returns those that it ended. */
export async function revokeRefreshFamilies(
  db: Queryable,
  userKey: bigint,
  { at, expiresAt }: { readonly at: Date; readonly expiresAt: Date },
): Promise<readonly Pick<RefreshFamilyRow, 'familyId' | 'clientId'>[]> {
  const values = [db.institutionId, userKey, at, expiresAt];
  return (await db.query<Pick<RefreshFamilyRow, 'familyId' | 'clientId'>>(revokeAll, values)).rows;
}

const revoke = sql(
  'auth_revoke_token',
  `insert into revocations (institution_id, revoked_id, expires_at) values ($1, $2, $3) on conflict do nothing`,
);

/** Ends the access token of this `jti`, which expires by `expiresAt`. False if it had ended before. */
export async function revokeAccessToken(db: Queryable, tokenId: string, expiresAt: Date): Promise<boolean> {
  return (await db.query(revoke, [db.institutionId, tokenId, expiresAt])).rowCount === 1;
}

const deleteFamilies = sql(
  'auth_delete_expired_refresh_families',
  'delete from refresh_families where institution_id = $1 and idle_until <= $2',
);
const deleteRevocations = sql(
  'auth_delete_expired_revocations',
  'delete from revocations where institution_id = $1 and expires_at <= $2',
);

/** Deletes expired families, and revocations of tokens that have expired by now. */
export async function deleteEndedTokens(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteFamilies, [db.institutionId, now]);
  await db.query(deleteRevocations, [db.institutionId, now]);
}
