import { type Directory, type InstitutionId, type Queryable, sql, sqlStateOf } from '../../storage/index.ts';
import type { ClientKey } from './client-keys.ts';
import type { SecurityProfile } from './security-profile.ts';

/** DISTINCT names the reason of a refused registration; UNIFORM uses one code for every reason. */
export type RegistrationRefusals = 'UNIFORM' | 'DISTINCT';

/** A client as operators see it. */
export interface ListedClient {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  /** Null: the service's lifetime. */
  readonly tokenLifetimeSeconds: number | null;
  /** In CIDR notation; null: any. */
  readonly networks: readonly string[] | null;
  readonly active: boolean;
  readonly introspectsAll: boolean;
  readonly registrationRefusals: RegistrationRefusals;
  /** Prefixes of transfer ids that are reserved for the client. */
  readonly idPrefixes: readonly string[];
  readonly allowsTokenEndpointAudience: boolean;
  /** Addresses to which a member returns with a code. */
  readonly redirectUris: readonly string[];
  /** Addresses to which a member returns from a logout. */
  readonly logoutUris: readonly string[];
  /** Address that hears of the end of a member's session in the browser; null: none. */
  readonly backchannelLogoutUri: string | null;
  /** An app on a device, which can keep no secret. */
  readonly isPublic: boolean;
  /** An app of the institution itself, which needs no consent. */
  readonly isFirstParty: boolean;
  /** Its tokens are bound to a key (RFC 9449). */
  readonly requiresDpop: boolean;
  /** Its tokens are bound to the certificate of its connection (RFC 8705 section 3). */
  readonly bindsToCertificate: boolean;
  readonly securityProfile: SecurityProfile;
  /** Number of valid secrets. */
  readonly secrets: number;
  readonly kids: readonly string[];
  /** The algorithms of its keys. */
  readonly keyAlgorithms: readonly string[];
  /** SHA-256 of the certificates by which it authenticates: `x5t#S256`. */
  readonly certificateThumbprints: readonly string[];
}

const registerClientId = sql(
  'auth_register_client_id',
  `insert into client_directory (client_id, institution_id) values ($1, $2) on conflict do nothing`,
);

/** False if any institution has the id. */
export async function insertClientId(
  db: Directory,
  clientId: string,
  institutionId: InstitutionId,
): Promise<boolean> {
  return (await db.query(registerClientId, [clientId, institutionId])).rowCount === 1;
}

const newClient = sql(
  'auth_insert_client',
  `insert into clients (institution_id, client_id, name, scopes, grants, created_at) values ($1, $2, $3, $4, $5, $6)`,
);

/** The other rights have the defaults of the table. */
export async function insertClient(
  db: Queryable,
  { clientId, name, scopes, grants }: Pick<ListedClient, 'clientId' | 'name' | 'scopes' | 'grants'>,
  createdAt: Date,
): Promise<void> {
  await db.query(newClient, [db.institutionId, clientId, name, scopes, grants, createdAt]);
}

const changed = sql(
  'auth_change_client',
  `update clients
   set name = coalesce($3, name), scopes = coalesce($4, scopes), grants = coalesce($5, grants),
       token_lifetime_seconds = case when $6 then $7 else token_lifetime_seconds end,
       networks = case when $8 then (select array_agg(network(n::inet)) from unnest($9::text[]) n) else networks end,
       active = coalesce($10, active), introspects_all = coalesce($11, introspects_all),
       registration_refusals = coalesce($12, registration_refusals),
       allows_token_endpoint_audience = coalesce($13, allows_token_endpoint_audience),
       redirect_uris = coalesce($14, redirect_uris), logout_uris = coalesce($15, logout_uris),
       is_public = coalesce($16, is_public), is_first_party = coalesce($17, is_first_party),
       requires_dpop = coalesce($18, requires_dpop), security_profile = coalesce($19, security_profile),
       binds_to_certificate = coalesce($22, binds_to_certificate),
       backchannel_logout_uri = case when $20 then $21 else backchannel_logout_uri end
   where institution_id = $1 and client_id = $2`,
);

/** A member left out changes nothing. */
export type ClientChange = Partial<
  Omit<ListedClient, 'clientId' | 'secrets' | 'kids' | 'keyAlgorithms' | 'certificateThumbprints'>
>;

export async function updateClient(db: Queryable, clientId: string, change: ClientChange): Promise<void> {
  const { name, scopes, grants, tokenLifetimeSeconds, networks, active } = change;
  const { introspectsAll, registrationRefusals: refusals, allowsTokenEndpointAudience } = change;
  await db.query(changed, [
    ...[db.institutionId, clientId, name, scopes, grants],
    ...[tokenLifetimeSeconds !== undefined, tokenLifetimeSeconds, networks !== undefined, networks],
    ...[active, introspectsAll, refusals, allowsTokenEndpointAudience],
    ...[change.redirectUris, change.logoutUris, change.isPublic, change.isFirstParty, change.requiresDpop],
    ...[change.securityProfile, change.backchannelLogoutUri !== undefined, change.backchannelLogoutUri],
    change.bindsToCertificate,
  ]);
}

/** Raised by the trigger on transfer_id_prefixes. */
const overlappingPrefix = 'SD023';

const dropIdPrefixes = sql(
  'auth_drop_id_prefixes',
  'delete from transfer_id_prefixes where institution_id = $1 and client_id = $2',
);
const addIdPrefixes = sql(
  'auth_add_id_prefixes',
  `insert into transfer_id_prefixes (institution_id, client_id, prefix)
   select $1, $2, prefix from unnest($3::text[]) as prefix`,
);

export class IdPrefixTakenError extends Error {
  override readonly name = 'IdPrefixTakenError';
  constructor(cause: unknown) {
    super('A prefix overlaps with one of another client. Nothing was changed.', { cause });
  }
}

/** Throws IdPrefixTakenError if one overlaps with a prefix of another client. */
export async function replaceIdPrefixes(
  db: Queryable,
  clientId: string,
  prefixes: readonly string[],
): Promise<void> {
  await db.query(dropIdPrefixes, [db.institutionId, clientId]);
  if (prefixes.length === 0) return;
  await db.query(addIdPrefixes, [db.institutionId, clientId, prefixes]).catch((error) => {
    throw sqlStateOf(error) === overlappingPrefix ? new IdPrefixTakenError(error) : error;
  });
}

const refusalsOf = sql(
  'auth_registration_refusals',
  'select registration_refusals as refusals from clients where institution_id = $1 and client_id = $2',
);

/** Undefined: there is no such client. */
export async function selectRegistrationRefusals(
  db: Queryable,
  clientId: string,
): Promise<RegistrationRefusals | undefined> {
  const values = [db.institutionId, clientId];
  return (await db.query<{ refusals: RegistrationRefusals }>(refusalsOf, values)).rows[0]?.refusals;
}

const lock = sql(
  'auth_lock_client',
  'select client_id from clients where institution_id = $1 and client_id = $2 for update',
);

/** False: there is no such client. */
export async function lockClient(db: Queryable, clientId: string): Promise<boolean> {
  return (await db.query(lock, [db.institutionId, clientId])).rows.length === 1;
}

const secretsOf = sql(
  'auth_client_secrets',
  `select slot, created_at, expires_at from client_secrets
   where institution_id = $1 and client_id = $2 order by created_at, slot`,
);

export interface ClientSecretRow {
  readonly slot: number;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/** The oldest first, with expired ones. */
export async function selectClientSecrets(db: Queryable, clientId: string): Promise<ClientSecretRow[]> {
  return (await db.query<ClientSecretRow>(secretsOf, [db.institutionId, clientId])).rows;
}

const newSecret = sql(
  'auth_insert_client_secret',
  `insert into client_secrets (institution_id, client_id, slot, secret_hash, created_at)
   values ($1, $2, $3, $4, $5)`,
);

export async function insertClientSecret(
  db: Queryable,
  clientId: string,
  secret: { readonly slot: number; readonly secretHash: Buffer; readonly createdAt: Date },
): Promise<void> {
  const { slot, secretHash, createdAt } = secret;
  await db.query(newSecret, [db.institutionId, clientId, slot, secretHash, createdAt]);
}

const expire = sql(
  'auth_expire_client_secrets',
  `update client_secrets set expires_at = least(expires_at, $3)
   where institution_id = $1 and client_id = $2`,
);

/** Every secret of the client ends at `at`, or earlier if it was to end earlier. */
export async function expireClientSecrets(db: Queryable, clientId: string, at: Date): Promise<void> {
  await db.query(expire, [db.institutionId, clientId, at]);
}

const deleteSecrets = sql(
  'auth_delete_client_secrets',
  'delete from client_secrets where institution_id = $1 and client_id = $2 and slot = any($3)',
);

export async function deleteClientSecrets(
  db: Queryable,
  clientId: string,
  slots: readonly number[],
): Promise<void> {
  await db.query(deleteSecrets, [db.institutionId, clientId, slots]);
}

const newKey = sql(
  'auth_insert_client_key',
  `insert into client_keys (institution_id, client_id, kid, algorithm, public_jwk, created_at)
   values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
);

/** False: the client has a key of this id. */
export async function insertClientKey(
  db: Queryable,
  clientId: string,
  { kid, algorithm, publicJwk, createdAt }: ClientKey & { readonly createdAt: Date },
): Promise<boolean> {
  const values = [db.institutionId, clientId, kid, algorithm, publicJwk, createdAt];
  return (await db.query(newKey, values)).rowCount === 1;
}

const deleteKey = sql(
  'auth_delete_client_key',
  'delete from client_keys where institution_id = $1 and client_id = $2 and kid = $3',
);

/** False: the client has no such key. */
export async function deleteClientKey(db: Queryable, clientId: string, kid: string): Promise<boolean> {
  return (await db.query(deleteKey, [db.institutionId, clientId, kid])).rowCount === 1;
}

const allClients = sql(
  'auth_clients',
  `select c.client_id, c.name, c.scopes, c.grants, c.token_lifetime_seconds, c.networks::text[] as networks, c.active,
          array(select p.prefix from transfer_id_prefixes p
                where p.institution_id = c.institution_id and p.client_id = c.client_id
                order by p.prefix) as id_prefixes,
          c.introspects_all, c.registration_refusals, c.allows_token_endpoint_audience,
          c.redirect_uris, c.logout_uris, c.backchannel_logout_uri, c.is_public, c.is_first_party, c.requires_dpop, c.security_profile,
          c.binds_to_certificate,
          (select count(*)::integer from client_secrets s
           where s.institution_id = c.institution_id and s.client_id = c.client_id
             and (s.expires_at is null or s.expires_at > $2)) as secrets,
          array(select k.kid from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id order by k.kid) as kids,
          array(select distinct k.algorithm from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id) as key_algorithms,
          array(select t.thumbprint from client_certificates t
                where t.institution_id = c.institution_id and t.client_id = c.client_id
                order by t.thumbprint) as certificate_thumbprints
   from clients c where c.institution_id = $1 order by c.client_id`,
);

export async function selectClients(db: Queryable, now: Date): Promise<ListedClient[]> {
  return (await db.query<ListedClient>(allClients, [db.institutionId, now])).rows;
}

const allClientIds = sql(
  'auth_all_client_ids',
  'select institution_id, client_id from client_directory order by client_id',
);

/** The client ids of all institutions, for the directory of cells. */
export async function selectAllClientIds(
  db: Directory,
): Promise<{ readonly institutionId: InstitutionId; readonly clientId: string }[]> {
  return (await db.query<{ institutionId: InstitutionId; clientId: string }>(allClientIds)).rows;
}
