import { type Queryable, sql } from '../../storage/index.ts';
import type { ClientKey } from './client-keys.ts';
import type { SecurityProfile } from './security-profile.ts';

export interface ClientRow {
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly tokenLifetimeSeconds: number | null;
  readonly active: boolean;
  /** May introspect the tokens of every client of its institution. */
  readonly introspectsAll: boolean;
  readonly tokenEpoch: number;
  /** The caller's address is in the client's networks. */
  readonly isFromItsNetworks: boolean;
  readonly secretHashes: readonly Buffer[];
  readonly keys: readonly ClientKey[];
  /** The token endpoint is accepted as the audience of the client's assertions. */
  readonly allowsTokenEndpointAudience: boolean;
  /** An app on a device, which has no secret. */
  readonly isPublic: boolean;
  /** Its tokens are bound to a key (RFC 9449). */
  readonly requiresDpop: boolean;
  /** Its tokens are bound to the certificate of its connection (RFC 8705 section 3). */
  readonly bindsToCertificate: boolean;
  /** SHA-256 of the certificates by which it may authenticate. */
  readonly certificateThumbprints: readonly string[];
  readonly securityProfile: SecurityProfile;
}

const client = sql(
  'auth_client',
  `select c.client_id, c.scopes, c.grants, c.token_lifetime_seconds, c.active, c.token_epoch,
          c.introspects_all, c.allows_token_endpoint_audience, c.is_public, c.requires_dpop, c.security_profile,
          c.binds_to_certificate,
          coalesce(c.networks is null or $3::inet <<= any (c.networks), false) as is_from_its_networks,
          array(select s.secret_hash from client_secrets s
                where s.institution_id = c.institution_id and s.client_id = c.client_id
                  and (s.expires_at is null or s.expires_at > $4)) as secret_hashes,
          array(select jsonb_build_object('kid', k.kid, 'algorithm', k.algorithm, 'publicJwk', k.public_jwk)
                from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id) as keys,
          array(select t.thumbprint from client_certificates t
                where t.institution_id = c.institution_id and t.client_id = c.client_id) as certificate_thumbprints
   from clients c
   where c.institution_id = $1 and c.client_id = $2`,
);

/** A client with the secrets, keys and certificates that work now. The address is the caller's. */
export async function selectClient(
  db: Queryable,
  {
    clientId,
    address,
    now,
  }: { readonly clientId: string; readonly address: string | null; readonly now: Date },
): Promise<ClientRow | undefined> {
  return (await db.query<ClientRow>(client, [db.institutionId, clientId, address, now])).rows[0];
}
