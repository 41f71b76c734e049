import { multiFactor } from '../../institutions/index.ts';
import { prompts } from '../authorization/authorization-request.ts';
import { assertionAlgorithms } from '../clients/client-assertion.ts';
import { proofAlgorithms } from '../dpop/proof.ts';
import { grants } from '../grants/index.ts';
import { scopes } from './scopes.ts';
import { tokenEndpointOf } from './token-endpoint.ts';

const authenticationMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];

export interface MutualTls {
  /** The certificates of some proxies are believed. */
  readonly isOffered: boolean;
  /** The base of the addresses at which certificates are asked for, if it is not the issuer. */
  readonly url?: string | undefined;
}

export interface AuthorizationServerMetadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly pushed_authorization_request_endpoint: string;
  readonly require_pushed_authorization_requests: boolean;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly end_session_endpoint: string;
  readonly backchannel_logout_supported: boolean;
  readonly backchannel_logout_session_supported: boolean;
  readonly revocation_endpoint: string;
  readonly introspection_endpoint: string;
  readonly jwks_uri: string;
  readonly scopes_supported: readonly string[];
  readonly response_types_supported: readonly string[];
  readonly response_modes_supported: readonly string[];
  readonly code_challenge_methods_supported: readonly string[];
  readonly prompt_values_supported: readonly string[];
  readonly authorization_response_iss_parameter_supported: boolean;
  readonly dpop_signing_alg_values_supported: readonly string[];
  readonly request_parameter_supported: boolean;
  readonly request_uri_parameter_supported: boolean;
  readonly claims_parameter_supported: boolean;
  readonly acr_values_supported: readonly string[];
  readonly claims_supported: readonly string[];
  readonly subject_types_supported: readonly string[];
  readonly id_token_signing_alg_values_supported: readonly string[];
  readonly grant_types_supported: readonly string[];
  readonly token_endpoint_auth_methods_supported: readonly string[];
  readonly token_endpoint_auth_signing_alg_values_supported: readonly string[];
  readonly revocation_endpoint_auth_methods_supported: readonly string[];
  readonly revocation_endpoint_auth_signing_alg_values_supported: readonly string[];
  readonly introspection_endpoint_auth_methods_supported: readonly string[];
  readonly introspection_endpoint_auth_signing_alg_values_supported: readonly string[];
  /** RFC 8705 section 3.3. */
  readonly tls_client_certificate_bound_access_tokens: boolean;
  /** RFC 8705 section 5. */
  readonly mtls_endpoint_aliases?: ReturnType<typeof endpointsWithAliases>;
  readonly service_documentation: string;
}

/** The operations at which a client authenticates or shows a token. */
function endpointsWithAliases(base: string) {
  return {
    token_endpoint: tokenEndpointOf(base),
    pushed_authorization_request_endpoint: `${base}/auth/v2/par`,
    revocation_endpoint: `${base}/auth/v2/revoke`,
    introspection_endpoint: `${base}/auth/v2/introspect`,
    userinfo_endpoint: `${base}/auth/v2/userinfo`,
  };
}

const claims = [
  ...['iss', 'sub', 'aud', 'iat', 'exp', 'auth_time', 'nonce', 'acr', 'amr', 'sid', 'at_hash'],
  ...['name', 'given_name', 'family_name', 'email'],
];

/** RFC 8414 section 2, OpenID Connect Discovery 1.0 section 3, OpenID Connect Back-Channel Logout 1.0 section 2.1. */
export function authorizationServerMetadata(
  issuer: string,
  { isOffered, url }: MutualTls,
): AuthorizationServerMetadata {
  const methods = isOffered
    ? [...authenticationMethods, 'self_signed_tls_client_auth']
    : authenticationMethods;
  // A public client names itself.
  const tokenMethods = [...methods, 'none'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/auth/v2/authorize`,
    ...endpointsWithAliases(issuer),
    // Of clients of the FAPI 2.0 profile only.
    require_pushed_authorization_requests: false,
    end_session_endpoint: `${issuer}/auth/v2/logout`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    jwks_uri: `${issuer}/auth/v2/jwks`,
    scopes_supported: scopes,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    prompt_values_supported: prompts,
    authorization_response_iss_parameter_supported: true,
    dpop_signing_alg_values_supported: proofAlgorithms,
    request_parameter_supported: false,
    // Those of pushed requests only.
    request_uri_parameter_supported: false,
    claims_parameter_supported: false,
    acr_values_supported: ['phr', multiFactor],
    claims_supported: claims,
    // A sub is the same for every client.
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
    grant_types_supported: [...grants.keys()],
    token_endpoint_auth_methods_supported: tokenMethods,
    token_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    revocation_endpoint_auth_methods_supported: tokenMethods,
    revocation_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: assertionAlgorithms,
    tls_client_certificate_bound_access_tokens: isOffered,
    ...(isOffered && url !== undefined && { mtls_endpoint_aliases: endpointsWithAliases(url) }),
    service_documentation: `${issuer}/docs`,
  };
}
