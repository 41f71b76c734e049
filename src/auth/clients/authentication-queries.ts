import { type BatchRead, byPlace, type Placed, sql } from '../../storage/index.ts';
import type { ClientKey } from './client-keys.ts';

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
}

const client = sql(
  'auth_client',
  `select asked.place::integer, c.client_id, c.scopes, c.grants, c.token_lifetime_seconds, c.active, c.token_epoch,
          c.introspects_all, c.allows_token_endpoint_audience, c.is_public,
          coalesce(c.networks is null or asked.address <<= any (c.networks), false) as is_from_its_networks,
          array(select s.secret_hash from client_secrets s
                where s.institution_id = c.institution_id and s.client_id = c.client_id
                  and (s.expires_at is null or s.expires_at > $4)) as secret_hashes,
          array(select jsonb_build_object('kid', k.kid, 'algorithm', k.algorithm, 'publicJwk', k.public_jwk)
                from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id) as keys
   from unnest($2::text[], $3::inet[]) with ordinality as asked (client_id, address, place)
   join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])`,
);

interface ClientLookup {
  readonly clientId: string;
  /** The caller's address. */
  readonly address: string | null;
  readonly now: Date;
}

/** Clients with their secrets and keys. Requests that arrive together share one statement, and one row for each client. */
export const clients: BatchRead<ClientLookup, ClientRow> = {
  nameOf: ({ clientId, address }) => `${clientId} ${address}`,
  run: async (db, lookups) => {
    const values = [
      db.institutionId,
      lookups.map(({ clientId }) => clientId),
      lookups.map(({ address }) => address),
      new Date(Math.max(...lookups.map(({ now }) => now.getTime()))),
    ];
    return byPlace((await db.query<ClientRow & Placed>(client, values)).rows, (row) => row);
  },
};
