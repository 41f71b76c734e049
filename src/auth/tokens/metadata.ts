import { assertionAlgorithms } from '../clients/client-assertion.ts';
import { grants } from '../grants/index.ts';
import { scopes } from './scopes.ts';
import { tokenEndpointOf } from './token-endpoint.ts';

const authenticationMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

export interface AuthorizationServerMetadata {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
  readonly introspection_endpoint: string;
  readonly jwks_uri: string;
  readonly scopes_supported: readonly string[];
  readonly response_types_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly string[];
  readonly grant_types_supported: readonly string[];
  readonly token_endpoint_auth_methods_supported: readonly string[];
  readonly token_endpoint_auth_signing_alg_values_supported: readonly string[];
  readonly revocation_endpoint_auth_methods_supported: readonly string[];
  readonly revocation_endpoint_auth_signing_alg_values_supported: readonly string[];
  readonly introspection_endpoint_auth_methods_supported: readonly string[];
  readonly introspection_endpoint_auth_signing_alg_values_supported: readonly string[];
  readonly service_documentation: string;
}

/** RFC 8414 section 2. */
export function authorizationServerMetadata(issuer: string): AuthorizationServerMetadata {
  return {
    issuer,
    token_endpoint: tokenEndpointOf(issuer),
    revocation_endpoint: `${issuer}/auth/v2/revoke`,
    introspection_endpoint: `${issuer}/auth/v2/introspect`,
    jwks_uri: `${issuer}/auth/v2/jwks`,
    scopes_supported: scopes,
    // Required, and empty since there is no authorization endpoint.
    response_types_supported: [],
    // OpenID Connect Discovery section 3 requires both. A sub is the same for every client, and no ID token is issued.
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [],
    grant_types_supported: [...grants.keys()],
    token_endpoint_auth_methods_supported: authenticationMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: authenticationMethods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    introspection_endpoint_auth_methods_supported: authenticationMethods,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    service_documentation: `${issuer}/docs`,
  };
}
