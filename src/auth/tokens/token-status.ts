import type { ServedState } from '../../institutions/index.ts';
import { type Queryable, sql } from '../../storage/index.ts';
import { coveredColumns } from '../consents/covered-accounts.ts';

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
  /** The consent that the token names, unless it has ended; its keys are null with all accounts. Null also without one. */
  readonly consentVersion: number | null;
  readonly consentScopes: readonly string[] | null;
  readonly consentUntil: Date | null;
  readonly accountKeys: readonly string[] | null;
  readonly payingKeys: readonly string[] | null;
  /** Null for an institution that does not exist. */
  readonly served: ServedState | null;
}

interface TokenLookup {
  readonly clientId: string;
  readonly userId?: string;
  readonly tokenId: string;
  readonly familyId?: string;
  readonly provider?: { readonly providerId: string };
  readonly consentId?: string;
}

const status = sql(
  'auth_token_status',
  `select coalesce(c.active, false) as client_active, coalesce(c.token_epoch, 0) as client_epoch, u.user_key, u.person_key,
          coalesce(u.active and not u.locked_by_operator, false) as user_active, u.token_epoch as user_epoch,
          exists (select from revocations r
                  where r.institution_id = $1 and r.revoked_id in (asked.token_id, asked.family_id)) as is_revoked,
          (select p.generation::float8 from identity_providers p
           where p.institution_id = $1 and p.provider_id = asked.provider_id and p.active) as provider_generation,
          (select i.served from institutions i where i.institution_id = $1) as served,
          s.version as consent_version, s.scopes as consent_scopes, s.expires_at as consent_until, s.account_keys, s.paying_keys
   from unnest($2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7::uuid[]) with ordinality
        as asked (client_id, user_id, token_id, family_id, provider_id, consent_id, place)
   left join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])
   left join lateral (
     select * from users u where u.institution_id = $1 and u.user_id = asked.user_id
     -- Planned by itself, and so by its key: joined, all users of an institution may look cheaper.
     offset 0) u on true
   left join lateral (
     select s.version, s.scopes, s.expires_at, ${coveredColumns('s', 'u.person_key')}
     from consents s
     where s.institution_id = $1 and s.consent_id = asked.consent_id and s.user_key = u.user_key
       and s.client_id = asked.client_id and s.ended_at is null
     offset 0) s on true
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
    tokens.map(({ consentId = null }) => consentId),
  ];
  return (await db.query<TokenStatus>(status, values)).rows;
}
