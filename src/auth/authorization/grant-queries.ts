import { type Queryable, sql } from '../../storage/index.ts';

/** The grant of a member to an app, found by its code. */
export interface GrantRow {
  readonly grantId: string;
  readonly clientId: string;
  readonly userKey: bigint;
  readonly userId: string;
  readonly userEpoch: number;
  readonly customerIds: readonly string[];
  readonly sessionId: string;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly nonce: string | null;
  readonly codeChallenge: string;
  /** The key that the tokens must be bound to; null: the app named none. */
  readonly keyThumbprint: string | null;
  readonly authenticatedAt: Date;
  readonly methods: readonly string[];
  readonly expiresAt: Date;
  readonly isExchanged: boolean;
  /** The client is on, the user may sign in, no token epoch has changed since, and the consent has not ended. */
  readonly isPermitted: boolean;
  /** The consent as it is now; null for an app that needs none. */
  readonly consentId: string | null;
  readonly consentUntil: Date | null;
  readonly consentScopes: readonly string[] | null;
}

export interface NewGrant
  extends Pick<
    GrantRow,
    | 'grantId'
    | 'clientId'
    | 'userKey'
    | 'userEpoch'
    | 'sessionId'
    | 'redirectUri'
    | 'scopes'
    | 'nonce'
    | 'codeChallenge'
    | 'keyThumbprint'
    | 'authenticatedAt'
    | 'methods'
    | 'expiresAt'
  > {
  readonly requestId: string;
  readonly codeHash: Buffer;
  readonly consentId: string | null;
  readonly createdAt: Date;
  readonly keptUntil: Date;
}

const newGrant = sql(
  'auth_insert_authorization_grant',
  `insert into authorization_grants (institution_id, grant_id, request_id, code_hash, client_id, client_epoch, user_key, user_epoch,
                                     session_id, consent_id, redirect_uri, scopes, nonce, code_challenge, authenticated_at,
                                     created_at, expires_at, kept_until, key_thumbprint, methods)
   select $1, $2, $3, $4, c.client_id, c.token_epoch, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19
   from clients c where c.institution_id = $1 and c.client_id = $5
   on conflict on constraint authorization_grants_by_request do nothing`,
);

/** False: a code came of this request before. */
export async function insertGrant(db: Queryable, row: NewGrant): Promise<boolean> {
  const inserted = await db.query(newGrant, [
    ...[db.institutionId, row.grantId, row.requestId, row.codeHash, row.clientId],
    ...[row.userKey, row.userEpoch, row.sessionId, row.consentId, row.redirectUri, row.scopes, row.nonce],
    ...[row.codeChallenge, row.authenticatedAt, row.createdAt, row.expiresAt, row.keptUntil],
    row.keyThumbprint,
    row.methods,
  ]);
  return inserted.rowCount === 1;
}

const locked = sql(
  'auth_lock_authorization_grants',
  `select grant_id from authorization_grants
   where institution_id = $1 and (code_hash = $2 or grant_id = any ($3::uuid[]))
   order by grant_id for update`,
);

const byCode = sql(
  'auth_authorization_grant',
  `select g.grant_id, g.client_id, g.user_key, u.user_id, g.user_epoch, g.session_id, g.redirect_uri, g.scopes, g.nonce,
          g.code_challenge, g.key_thumbprint, g.authenticated_at, g.methods, g.expires_at,
          g.exchanged_at is not null as is_exchanged,
          u.active and not u.locked_by_operator and u.token_epoch = g.user_epoch
            and o.active and o.token_epoch = g.client_epoch
            and (g.consent_id is null or coalesce(s.ended_at is null, false)) as is_permitted,
          s.consent_id, s.expires_at as consent_until, s.scopes as consent_scopes,
          array(select c.customer_id from customer_persons cp
                join customers c on c.institution_id = cp.institution_id and c.customer_key = cp.customer_key
                where cp.institution_id = u.institution_id and cp.person_key = u.person_key
                order by c.member_number) as customer_ids
   from authorization_grants g
   join clients o on o.institution_id = g.institution_id and o.client_id = g.client_id
   join users u on u.institution_id = g.institution_id and u.user_key = g.user_key
   left join consents s on s.institution_id = g.institution_id and s.consent_id = g.consent_id
   where g.institution_id = $1 and g.code_hash = $2`,
);

/**
 * Locks the grant: of several simultaneous exchanges one is the first, and the end of a consent waits for it. Read after the lock, so that a
 * consent that ended meanwhile shows.
 */
export async function lockGrant(db: Queryable, codeHash: Buffer): Promise<GrantRow | undefined> {
  await db.query(locked, [db.institutionId, codeHash, []]);
  return (await db.query<GrantRow>(byCode, [db.institutionId, codeHash])).rows[0];
}

const exchanged = sql(
  'auth_note_exchange',
  'update authorization_grants set exchanged_at = $3 where institution_id = $1 and grant_id = $2',
);

export async function noteExchange(db: Queryable, grantId: string, at: Date): Promise<void> {
  await db.query(exchanged, [db.institutionId, grantId, at]);
}

const endFamilies = sql(
  'auth_end_families_of_grants',
  `update refresh_families set revoked_at = $3
   where institution_id = $1 and family_id = any ($2::uuid[]) and revoked_at is null`,
);
const revokeGrants = sql(
  'auth_revoke_grants',
  `insert into revocations (institution_id, revoked_id, expires_at)
   select $1, grant_id, $3 from unnest($2::uuid[]) as grant_id on conflict do nothing`,
);

/**
 * Ends all tokens that came of the grants, and those that would still come, which have expired by `expiresAt`. Locks the grants first, so that
 * an exchange under way has written its refresh family.
 */
export async function endGrants(
  db: Queryable,
  grantIds: readonly string[],
  { at, expiresAt }: { readonly at: Date; readonly expiresAt: Date },
): Promise<void> {
  await db.query(locked, [db.institutionId, null, grantIds]);
  await db.query(endFamilies, [db.institutionId, grantIds, at]);
  await db.query(revokeGrants, [db.institutionId, grantIds, expiresAt]);
}

const ofConsent = sql(
  'auth_grants_of_consent',
  'select grant_id from authorization_grants where institution_id = $1 and consent_id = $2',
);

export async function selectGrantsOfConsent(db: Queryable, consentId: string): Promise<string[]> {
  const { rows } = await db.query<{ grantId: string }>(ofConsent, [db.institutionId, consentId]);
  return rows.map(({ grantId }) => grantId);
}

const deleteKept = sql(
  'auth_delete_old_grants',
  'delete from authorization_grants where institution_id = $1 and kept_until <= $2',
);

export async function deleteOldGrants(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteKept, [db.institutionId, now]);
}
