import { type Queryable, sql } from '../../storage/index.ts';

export interface TokenStatus {
  readonly clientActive: boolean;
  readonly clientEpoch: number;
  /** The token, or the refresh family that it came from, was revoked. */
  readonly isRevoked: boolean;
  /** Null for a client token. */
  readonly userKey: bigint | null;
  readonly personKey: bigint | null;
  readonly userActive: boolean;
  readonly userEpoch: number | null;
  /** The generation of the provider that asserted the user; null without a provider, or if it is switched off. */
  readonly providerGeneration: number | null;
}

interface TokenLookup {
  readonly clientId: string;
  readonly userId?: string;
  readonly tokenId: string;
  readonly familyId?: string;
  readonly provider?: { readonly providerId: string };
}

const status = sql(
  'auth_token_status',
  `select coalesce(c.active, false) as client_active, coalesce(c.token_epoch, 0) as client_epoch, u.user_key, u.person_key,
          coalesce(u.active and not u.locked_by_operator, false) as user_active, u.token_epoch as user_epoch,
          exists (select from revocations r
                  where r.institution_id = $1 and r.revoked_id in (asked.token_id, asked.family_id)) as is_revoked,
          (select p.generation::float8 from identity_providers p
           where p.institution_id = $1 and p.provider_id = asked.provider_id and p.active) as provider_generation
   from unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[]) with ordinality
        as asked (client_id, user_id, token_id, family_id, provider_id, place)
   left join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])
   left join lateral (
     select * from users u where u.institution_id = $1 and u.user_id = asked.user_id
     -- Planned by itself, and so by its key: joined, all users of an institution may look cheaper.
     offset 0) u on true
   order by asked.place`,
);

/** The present status of tokens with their clients, users and providers, in the order of the tokens. */
export async function selectTokenStatuses(
  db: Queryable,
  tokens: readonly TokenLookup[],
): Promise<TokenStatus[]> {
  const values = [
    db.institutionId,
    tokens.map(({ clientId }) => clientId),
    tokens.map(({ userId = null }) => userId),
    tokens.map(({ tokenId }) => tokenId),
    tokens.map(({ familyId = null }) => familyId),
    tokens.map(({ provider }) => provider?.providerId ?? null),
  ];
  return (await db.query<TokenStatus>(status, values)).rows;
}
