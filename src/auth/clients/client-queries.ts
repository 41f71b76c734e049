import { type InstitutionId, type Queryable, sql, sqlStateOf } from '../../storage/index.ts';
import type { ClientKey } from './client-keys.ts';

/** What an operator does to clients. What a request reads of one stands in queries.ts. */

/** DISTINCT tells why a registration was refused; UNIFORM gives every refusal one answer. */
export const registrationRefusals = ['UNIFORM', 'DISTINCT'] as const;
export type RegistrationRefusals = (typeof registrationRefusals)[number];

const registerClientId = sql(
  'auth_register_client_id',
  `insert into client_directory (client_id, institution_id) values ($1, $2) on conflict do nothing`,
);

/** False when the id is taken, in whichever institution. */
export async function insertClientId(
  db: Queryable,
  clientId: string,
  institutionId: InstitutionId,
): Promise<boolean> {
  return (await db.query(registerClientId, [clientId, institutionId])).rowCount === 1;
}

const newClient = sql(
  'auth_insert_client',
  `insert into clients (institution_id, client_id, name, scopes, grants, token_lifetime_seconds, networks, created_at,
                        introspects_all, registration_refusals, allows_token_endpoint_audience)
   values ($1, $2, $3, $4, $5, $6, (select array_agg(network(n::inet)) from unnest($7::text[]) n), $8, $9, $10, $11)`,
);

export async function insertClient(
  db: Queryable,
  institutionId: InstitutionId,
  row: {
    readonly clientId: string;
    readonly name: string;
    readonly scopes: readonly string[];
    readonly grants: readonly string[];
    readonly tokenLifetimeSeconds: number | null;
    readonly networks: readonly string[] | null;
    readonly createdAt: Date;
    readonly introspectsAll: boolean;
    readonly registrationRefusals: RegistrationRefusals;
    readonly allowsTokenEndpointAudience: boolean;
  },
): Promise<void> {
  await db.query(newClient, [
    institutionId,
    row.clientId,
    row.name,
    row.scopes,
    row.grants,
    row.tokenLifetimeSeconds,
    row.networks,
    row.createdAt,
    row.introspectsAll,
    row.registrationRefusals,
    row.allowsTokenEndpointAudience,
  ]);
}

const changed = sql(
  'auth_change_client',
  `update clients
   set name = coalesce($3, name), scopes = coalesce($4, scopes), grants = coalesce($5, grants),
       token_lifetime_seconds = case when $6 then $7 else token_lifetime_seconds end,
       networks = case when $8 then (select array_agg(network(n::inet)) from unnest($9::text[]) n) else networks end,
       active = coalesce($10, active), introspects_all = coalesce($11, introspects_all),
       registration_refusals = coalesce($12, registration_refusals),
       allows_token_endpoint_audience = coalesce($13, allows_token_endpoint_audience)
   where institution_id = $1 and client_id = $2`,
);

/** What is left out stays; null is the service's lifetime, any network. */
export interface ClientChange {
  readonly name?: string;
  readonly scopes?: readonly string[];
  readonly grants?: readonly string[];
  readonly tokenLifetimeSeconds?: number | null;
  readonly networks?: readonly string[] | null;
  readonly active?: boolean;
  readonly introspectsAll?: boolean;
  readonly registrationRefusals?: RegistrationRefusals;
  readonly idPrefixes?: readonly string[];
  readonly allowsTokenEndpointAudience?: boolean;
}

/** False: there is no such client. */
export async function updateClient(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  change: ClientChange,
): Promise<boolean> {
  const { rowCount } = await db.query(changed, [
    institutionId,
    clientId,
    change.name ?? null,
    change.scopes ?? null,
    change.grants ?? null,
    change.tokenLifetimeSeconds !== undefined,
    change.tokenLifetimeSeconds ?? null,
    change.networks !== undefined,
    change.networks ?? null,
    change.active ?? null,
    change.introspectsAll ?? null,
    change.registrationRefusals ?? null,
    change.allowsTokenEndpointAudience ?? null,
  ]);
  return rowCount === 1;
}

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

/** Exactly these. Throws IdPrefixTakenError if one overlaps with a prefix of another client. */
export async function replaceIdPrefixes(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  prefixes: readonly string[],
): Promise<void> {
  await db.query(dropIdPrefixes, [institutionId, clientId]);
  if (prefixes.length === 0) return;
  await db.query(addIdPrefixes, [institutionId, clientId, prefixes]).catch((error) => {
    throw sqlStateOf(error) === overlappingPrefix ? new IdPrefixTakenError(error) : error;
  });
}

const overlappingPrefix = 'SD023';

const refusalsOf = sql(
  'auth_registration_refusals',
  'select registration_refusals from clients where institution_id = $1 and client_id = $2',
);

/** Undefined: there is no such client. */
export async function selectRegistrationRefusals(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
): Promise<RegistrationRefusals | undefined> {
  const { rows } = await db.query<{ registration_refusals: RegistrationRefusals }>(refusalsOf, [
    institutionId,
    clientId,
  ]);
  return rows[0]?.registration_refusals;
}

const lock = sql(
  'auth_lock_client',
  'select client_id from clients where institution_id = $1 and client_id = $2 for update',
);

/** False: there is no such client. */
export async function lockClient(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
): Promise<boolean> {
  return (await db.query(lock, [institutionId, clientId])).rows.length === 1;
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

/** Oldest first, those run out included. */
export async function selectClientSecrets(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
): Promise<ClientSecretRow[]> {
  const { rows } = await db.query<{ slot: number; created_at: Date; expires_at: Date | null }>(secretsOf, [
    institutionId,
    clientId,
  ]);
  return rows.map((row) => ({ slot: row.slot, createdAt: row.created_at, expiresAt: row.expires_at }));
}

const newSecret = sql(
  'auth_insert_client_secret',
  `insert into client_secrets (institution_id, client_id, slot, secret_hash, created_at)
   values ($1, $2, $3, $4, $5)`,
);

export async function insertClientSecret(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  secret: { readonly slot: number; readonly secretHash: Buffer; readonly createdAt: Date },
): Promise<void> {
  const { slot, secretHash, createdAt } = secret;
  await db.query(newSecret, [institutionId, clientId, slot, secretHash, createdAt]);
}

const expire = sql(
  'auth_expire_client_secrets',
  `update client_secrets set expires_at = least(expires_at, $3)
   where institution_id = $1 and client_id = $2`,
);

/** Those that there are end at `at`, or sooner where they did already. */
export async function expireClientSecrets(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  at: Date,
): Promise<void> {
  await db.query(expire, [institutionId, clientId, at]);
}

const deleteSecrets = sql(
  'auth_delete_client_secrets',
  'delete from client_secrets where institution_id = $1 and client_id = $2 and slot = any($3)',
);

export async function deleteClientSecrets(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  slots: readonly number[],
): Promise<void> {
  await db.query(deleteSecrets, [institutionId, clientId, slots]);
}

const newKey = sql(
  'auth_insert_client_key',
  `insert into client_keys (institution_id, client_id, kid, algorithm, public_jwk, created_at)
   values ($1, $2, $3, $4, $5, $6) on conflict do nothing`,
);

/** False: the client has a key of this id. */
export async function insertClientKey(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  key: ClientKey,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await db.query(newKey, [
    institutionId,
    clientId,
    key.kid,
    key.algorithm,
    key.publicJwk,
    at,
  ]);
  return rowCount === 1;
}

const deleteKey = sql(
  'auth_delete_client_key',
  'delete from client_keys where institution_id = $1 and client_id = $2 and kid = $3',
);

/** False: there was none. */
export async function deleteClientKey(
  db: Queryable,
  institutionId: InstitutionId,
  clientId: string,
  kid: string,
): Promise<boolean> {
  return (await db.query(deleteKey, [institutionId, clientId, kid])).rowCount === 1;
}

const allClients = sql(
  'auth_clients',
  `select c.client_id, c.name, c.scopes, c.grants, c.token_lifetime_seconds, c.networks::text[] as networks, c.active,
          array(select p.prefix from transfer_id_prefixes p
                where p.institution_id = c.institution_id and p.client_id = c.client_id
                order by p.prefix) as id_prefixes,
          c.introspects_all, c.registration_refusals, c.allows_token_endpoint_audience,
          (select count(*)::integer from client_secrets s
           where s.institution_id = c.institution_id and s.client_id = c.client_id
             and (s.expires_at is null or s.expires_at > $2)) as secrets,
          array(select k.kid from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id order by k.kid) as kids
   from clients c where c.institution_id = $1 order by c.client_id`,
);

/** A client as the operator sees it. */
export interface ListedClient {
  readonly clientId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  /** Null: the service's. */
  readonly tokenLifetimeSeconds: number | null;
  /** In CIDR notation; null: any. */
  readonly networks: readonly string[] | null;
  readonly active: boolean;
  readonly introspectsAll: boolean;
  readonly registrationRefusals: RegistrationRefusals;
  /** How ids of transfers begin that are the client's alone. */
  readonly idPrefixes: readonly string[];
  readonly allowsTokenEndpointAudience: boolean;
  /** How many are valid. */
  readonly secrets: number;
  readonly kids: readonly string[];
}

export async function selectClients(
  db: Queryable,
  institutionId: InstitutionId,
  now: Date,
): Promise<ListedClient[]> {
  const { rows } = await db.query<{
    client_id: string;
    name: string;
    scopes: string[];
    grants: string[];
    token_lifetime_seconds: number | null;
    networks: string[] | null;
    active: boolean;
    introspects_all: boolean;
    registration_refusals: RegistrationRefusals;
    id_prefixes: string[];
    allows_token_endpoint_audience: boolean;
    secrets: number;
    kids: string[];
  }>(allClients, [institutionId, now]);
  return rows.map((row) => ({
    clientId: row.client_id,
    name: row.name,
    scopes: row.scopes,
    grants: row.grants,
    tokenLifetimeSeconds: row.token_lifetime_seconds,
    networks: row.networks,
    active: row.active,
    introspectsAll: row.introspects_all,
    registrationRefusals: row.registration_refusals,
    idPrefixes: row.id_prefixes,
    allowsTokenEndpointAudience: row.allows_token_endpoint_audience,
    secrets: row.secrets,
    kids: row.kids,
  }));
}
