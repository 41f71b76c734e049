import type { UserIdType } from '../../members/index.ts';
import { type Directory, type InstitutionId, type Queryable, sql } from '../../storage/index.ts';
import { parseScope } from '../tokens/scopes.ts';
import type { ProviderKey } from './keys.ts';
import type { NewProvider, Provider, ProviderKind, ProviderSettings } from './provider.ts';

// ----- the directory -----

const registerIssuer = sql(
  'providers_register_issuer',
  `insert into provider_directory (issuer, audience, institution_id, provider_id) values ($1, $2, $3, $4)
   on conflict (issuer, audience) do nothing`,
);

/** False when the pair of issuer and audience is taken, in whichever institution. A unique violation: the id is. */
export async function insertIssuer(
  tx: Queryable,
  institutionId: InstitutionId,
  provider: Pick<NewProvider, 'providerId' | 'issuer' | 'audience'>,
): Promise<boolean> {
  const { issuer, audience, providerId } = provider;
  return (await tx.query(registerIssuer, [issuer, audience, institutionId, providerId])).rowCount === 1;
}

const byIssuer = sql(
  'providers_by_issuer',
  `select institution_id, provider_id from provider_directory where issuer = $1 and audience = any($2)`,
);

/** Who registered this issuer, under any of these audiences. */
export async function selectByIssuer(
  db: Directory,
  issuer: string,
  audiences: readonly string[],
): Promise<{ readonly institutionId: InstitutionId; readonly providerId: string }[]> {
  const { rows } = await db.query<{ institution_id: InstitutionId; provider_id: string }>(byIssuer, [
    issuer,
    audiences,
  ]);
  return rows.map((row) => ({ institutionId: row.institution_id, providerId: row.provider_id }));
}

const forgetIssuer = sql(
  'providers_forget_issuer',
  'delete from provider_directory where institution_id = $1 and provider_id = $2',
);

// ----- providers -----

interface Row {
  provider_id: string;
  kind: ProviderKind;
  issuer: string;
  audience: string;
  keys: ProviderKey[];
  subject_from: string;
  user_id_type: UserIdType;
  scopes: string[];
  resource_tokens: boolean;
  token_type: string;
  active: boolean;
  generation: bigint;
  tokens_ended_at: Date;
}

const selection = `
  select p.provider_id, p.kind, d.issuer, d.audience, p.keys, p.subject_from, p.user_id_type, p.scopes,
         p.resource_tokens, p.token_type, p.active, p.generation,
         -- A token issued in the second of the registration is accepted: iat has whole seconds.
         greatest(p.tokens_ended_at, date_trunc('second', p.created_at) - interval '1 millisecond') as tokens_ended_at
  from identity_providers p
  join provider_directory d on d.institution_id = p.institution_id and d.provider_id = p.provider_id
  where p.institution_id = $1`;

const one = sql('providers_one', `${selection} and p.provider_id = $2`);
const all = sql('providers_all', `${selection} order by p.provider_id`);

export async function selectProvider(
  db: Queryable,
  institutionId: InstitutionId,
  providerId: string,
): Promise<Provider | undefined> {
  const { rows } = await db.query<Row>(one, [institutionId, providerId]);
  return rows.map((row) => toProvider(institutionId, row))[0];
}

export async function selectProviders(db: Queryable, institutionId: InstitutionId): Promise<Provider[]> {
  return (await db.query<Row>(all, [institutionId])).rows.map((row) => toProvider(institutionId, row));
}

const newProvider = sql(
  'providers_insert',
  `insert into identity_providers (institution_id, provider_id, kind, keys, subject_from, user_id_type, scopes,
                                   resource_tokens, token_type, active, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

export async function insertProvider(
  tx: Queryable,
  institutionId: InstitutionId,
  provider: NewProvider,
  at: Date,
): Promise<void> {
  await tx.query(newProvider, [
    institutionId,
    provider.providerId,
    provider.kind,
    JSON.stringify(provider.keys),
    provider.subjectFrom,
    provider.userIdType,
    provider.scopes,
    provider.resourceTokens,
    provider.tokenType,
    provider.active,
    at,
  ]);
}

const change = sql(
  'providers_change',
  `update identity_providers
   set keys = coalesce($3, keys), subject_from = coalesce($4, subject_from),
       user_id_type = coalesce($5, user_id_type), scopes = coalesce($6, scopes),
       resource_tokens = coalesce($7, resource_tokens), token_type = coalesce($8, token_type),
       active = coalesce($9, active), generation = nextval('provider_generations'),
       tokens_ended_at = case when coalesce($9, active) <> active or coalesce($7, resource_tokens) <> resource_tokens
                              then $10 else tokens_ended_at end
   where institution_id = $1 and provider_id = $2`,
);

/** What is left out stays. False: there is no such provider. */
export async function updateProvider(
  tx: Queryable,
  institutionId: InstitutionId,
  providerId: string,
  settings: Partial<ProviderSettings>,
  at: Date,
): Promise<boolean> {
  const { rowCount } = await tx.query(change, [
    institutionId,
    providerId,
    settings.keys ? JSON.stringify(settings.keys) : null,
    settings.subjectFrom ?? null,
    settings.userIdType ?? null,
    settings.scopes ?? null,
    settings.resourceTokens ?? null,
    settings.tokenType ?? null,
    settings.active ?? null,
    at,
  ]);
  return rowCount === 1;
}

const removeOne = sql(
  'providers_delete',
  'delete from identity_providers where institution_id = $1 and provider_id = $2',
);

/** False: there is no such provider. */
export async function deleteProvider(
  tx: Queryable,
  institutionId: InstitutionId,
  providerId: string,
): Promise<boolean> {
  const { rowCount } = await tx.query(removeOne, [institutionId, providerId]);
  await tx.query(forgetIssuer, [institutionId, providerId]);
  return rowCount === 1;
}

function toProvider(institutionId: InstitutionId, row: Row): Provider {
  return {
    institutionId,
    providerId: row.provider_id,
    kind: row.kind,
    issuer: row.issuer,
    audience: row.audience,
    keys: row.keys,
    subjectFrom: row.subject_from,
    userIdType: row.user_id_type,
    scopes: row.scopes.flatMap((name) => parseScope(name) ?? []),
    resourceTokens: row.resource_tokens,
    tokenType: row.token_type,
    active: row.active,
    generation: Number(row.generation),
    tokensEndedAt: row.tokens_ended_at,
  };
}

// ----- assertions that were used -----

const spend = sql(
  'providers_spend_assertion',
  `insert into provider_assertion_replays (institution_id, provider_id, id_hash, expires_at) values ($1, $2, $3, $4)
   on conflict do nothing`,
);

/** False: it was used before, or is being used at the same time and that one comes first. */
export async function recordAssertion(
  db: Queryable,
  institutionId: InstitutionId,
  assertion: { readonly providerId: string; readonly idHash: Buffer; readonly expiresAt: Date },
): Promise<boolean> {
  const { providerId, idHash, expiresAt } = assertion;
  return (await db.query(spend, [institutionId, providerId, idHash, expiresAt])).rowCount === 1;
}

const sweep = sql(
  'providers_sweep_assertions',
  'delete from provider_assertion_replays where institution_id = $1 and expires_at <= $2',
);

/** Forgets the assertions that would be refused as expired anyway. */
export async function deleteExpiredAssertions(
  db: Queryable,
  institutionId: InstitutionId,
  now: Date,
): Promise<void> {
  await db.query(sweep, [institutionId, now]);
}
