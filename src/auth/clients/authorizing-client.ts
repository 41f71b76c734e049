import { type Queryable, sql } from '../../storage/index.ts';
import type { SecurityProfile } from './security-profile.ts';

/** A client that sends members to our pages. */
export interface AuthorizingClient {
  readonly clientId: string;
  readonly name: string;
  readonly active: boolean;
  readonly scopes: readonly string[];
  readonly grants: readonly string[];
  readonly redirectUris: readonly string[];
  readonly logoutUris: readonly string[];
  /** An app of the institution itself, which needs no consent. */
  readonly isFirstParty: boolean;
  /** An app on a device, which can keep no secret. */
  readonly isPublic: boolean;
  readonly securityProfile: SecurityProfile;
}

const client = sql(
  'auth_authorizing_client',
  `select client_id, name, active, scopes, grants, redirect_uris, logout_uris, is_first_party, is_public, security_profile
   from clients where institution_id = $1 and client_id = $2`,
);

export async function selectAuthorizingClient(
  db: Queryable,
  clientId: string,
): Promise<AuthorizingClient | undefined> {
  return (await db.query<AuthorizingClient>(client, [db.institutionId, clientId])).rows[0];
}
