import { type Directory, type InstitutionId, type Queryable, sql } from '../../storage/index.ts';
import type { NewProvider, Provider, ProviderSettings } from './provider.ts';

const registerIssuer = sql(
  'providers_register_issuer',
  `insert into provider_directory (issuer, audience, institution_id, provider_id) values ($1, $2, $3, $4)
   on conflict (issuer, audience) do nothing`,
);

/** False if any institution has registered the issuer with this audience. A unique violation if the id is taken. */
export async function insertIssuer(
  tx: Queryable,
  { issuer, audience, providerId }: Pick<NewProvider, 'providerId' | 'issuer' | 'audience'>,
): Promise<boolean> {
  return (await tx.query(registerIssuer, [issuer, audience, tx.institutionId, providerId])).rowCount === 1;
}

const isIssuer = sql(
  'providers_is_issuer',
  'select exists (select from provider_directory where issuer = $1) as is_issuer',
);

/** Whether a provider of any institution is registered with this issuer. */
export async function isIssuerOfProvider(db: Directory, issuer: string): Promise<boolean> {
  return (await db.query<{ isIssuer: boolean }>(isIssuer, [issuer])).rows[0]?.isIssuer === true;
}

const byIssuer = sql(
  'providers_by_issuer',
  `select institution_id, provider_id from provider_directory where issuer = $1 and audience = any($2)`,
);

/** The providers registered with this issuer and any of these audiences, in all institutions. */
export async function selectByIssuer(
  db: Directory,
  issuer: string,
  audiences: readonly string[],
): Promise<{ readonly institutionId: InstitutionId; readonly providerId: string }[]> {
  const values = [issuer, audiences];
  return (await db.query<{ institutionId: InstitutionId; providerId: string }>(byIssuer, values)).rows;
}

const selection = `
  select p.institution_id, p.provider_id, p.kind, d.issuer, d.audience, p.keys, p.subject_from, p.user_id_type, p.scopes,
         p.resource_tokens, p.token_type, p.active, p.generation::float8 as generation,
         -- A token issued in the second of the registration is accepted: iat has whole seconds.
         greatest(p.tokens_ended_at, date_trunc('second', p.created_at) - interval '1 millisecond') as tokens_ended_at
  from identity_providers p
  join provider_directory d on d.institution_id = p.institution_id and d.provider_id = p.provider_id
  where p.institution_id = $1`;

const one = sql('providers_one', `${selection} and p.provider_id = $2`);
const all = sql('providers_all', `${selection} order by p.provider_id`);

export async function selectProvider(db: Queryable, providerId: string): Promise<Provider | undefined> {
  return (await db.query<Provider>(one, [db.institutionId, providerId])).rows[0];
}

export async function selectProviders(db: Queryable): Promise<Provider[]> {
  return (await db.query<Provider>(all, [db.institutionId])).rows;
}

const newProvider = sql(
  'providers_insert',
  `insert into identity_providers (institution_id, provider_id, kind, keys, subject_from, user_id_type, scopes,
                                   resource_tokens, token_type, active, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);

export async function insertProvider(tx: Queryable, provider: NewProvider, at: Date): Promise<void> {
  const { providerId, kind, keys, subjectFrom, userIdType, scopes } = provider;
  const { resourceTokens, tokenType, active } = provider;
  await tx.query(newProvider, [
    ...[tx.institutionId, providerId, kind, JSON.stringify(keys), subjectFrom, userIdType],
    ...[scopes, resourceTokens, tokenType, active, at],
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

/** A setting left out does not change. False: there is no such provider. */
export async function updateProvider(
  tx: Queryable,
  providerId: string,
  { keys, at, ...settings }: Partial<ProviderSettings> & { readonly at: Date },
): Promise<boolean> {
  const { subjectFrom, userIdType, scopes, resourceTokens, tokenType, active } = settings;
  const { rowCount } = await tx.query(change, [
    ...[tx.institutionId, providerId, keys && JSON.stringify(keys), subjectFrom, userIdType],
    ...[scopes, resourceTokens, tokenType, active, at],
  ]);
  return rowCount === 1;
}

const removeOne = sql(
  'providers_delete',
  'delete from identity_providers where institution_id = $1 and provider_id = $2',
);
const removeIssuer = sql(
  'providers_forget_issuer',
  'delete from provider_directory where institution_id = $1 and provider_id = $2',
);

/** False: there is no such provider. */
export async function deleteProvider(tx: Queryable, providerId: string): Promise<boolean> {
  const { rowCount } = await tx.query(removeOne, [tx.institutionId, providerId]);
  await tx.query(removeIssuer, [tx.institutionId, providerId]);
  return rowCount === 1;
}

const allIssuers = sql(
  'providers_all_issuers',
  'select institution_id, issuer, audience from provider_directory order by issuer, audience',
);

/** The issuers of all institutions with their audiences, for the directory of cells. */
export async function selectAllIssuers(
  db: Directory,
): Promise<{ readonly institutionId: InstitutionId; readonly issuer: string; readonly audience: string }[]> {
  return (await db.query<{ institutionId: InstitutionId; issuer: string; audience: string }>(allIssuers))
    .rows;
}
