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
}

const client = sql(
  'auth_client',
  `select asked.place::integer, c.client_id, c.scopes, c.grants, c.token_lifetime_seconds, c.active, c.token_epoch,
          c.introspects_all, c.allows_token_endpoint_audience, coalesce(c.networks is null or asked.address <<= any (c.networks), false) as from_its_networks,
          array(select s.secret_hash from client_secrets s
                where s.institution_id = c.institution_id and s.client_id = c.client_id
                  and (s.expires_at is null or s.expires_at > $4)) as secret_hashes,
          array(select jsonb_build_object('kid', k.kid, 'algorithm', k.algorithm, 'publicJwk', k.public_jwk)
                from client_keys k
                where k.institution_id = c.institution_id and k.client_id = c.client_id) as keys
   from unnest($2::text[], $3::inet[]) with ordinality as asked (client_id, address, place)
   join clients c on c.institution_id = $1 and c.client_id = asked.client_id and c.client_id = any ($2::text[])`,
);

interface ClientTableRow extends Placed {
  readonly client_id: string;
  readonly scopes: string[];
  readonly grants: string[];
  readonly token_lifetime_seconds: number | null;
  readonly active: boolean;
  readonly token_epoch: number;
  readonly introspects_all: boolean;
  readonly allows_token_endpoint_audience: boolean;
  readonly from_its_networks: boolean;
  readonly secret_hashes: Buffer[];
  readonly keys: ClientKey[];
}

interface ClientLookup {
  readonly clientId: string;
  readonly address: string | null;
  readonly now: Date;
}

/** Clients with their secrets and keys. Requests that arrive together share one statement, and one row for each client. */
export const clients: BatchRead<ClientLookup, ClientRow> = {
  nameOf: ({ clientId, address }) => `${clientId} ${address}`,
  run: async (db, asked) => {
    const latest = Math.max(...asked.map(({ now }) => now.getTime()));
    const values = [
      db.institutionId,
      asked.map(({ clientId }) => clientId),
      asked.map(({ address }) => address),
      new Date(latest),
    ];
    return byPlace((await db.query<ClientTableRow>(client, values)).rows, (row) => ({
      clientId: row.client_id,
      scopes: row.scopes,
      grants: row.grants,
      tokenLifetimeSeconds: row.token_lifetime_seconds,
      active: row.active,
      tokenEpoch: row.token_epoch,
      introspectsAll: row.introspects_all,
      isFromItsNetworks: row.from_its_networks,
      secretHashes: row.secret_hashes,
      keys: row.keys,
      allowsTokenEndpointAudience: row.allows_token_endpoint_audience,
    }));
  },
};
