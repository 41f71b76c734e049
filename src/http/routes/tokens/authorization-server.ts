import * as Type from 'typebox/type';
import { operation } from '../../operation.ts';

const url = (description: string) => Type.String({ format: 'uri', description });
const names = (description: string) => Type.Array(Type.String(), { description });

export const AuthorizationServerMetadata = Type.Object({
  issuer: url('Issuer and audience of every token.'),
  authorization_endpoint: url('The page on which a member signs in and consents.'),
  pushed_authorization_request_endpoint: url('Takes a request from the client itself (RFC 9126).'),
  require_pushed_authorization_requests: Type.Boolean({
    description: 'False: needed of clients of the FAPI 2.0 profile only.',
  }),
  token_endpoint: url('The token operation.'),
  userinfo_endpoint: url('The claims of the member.'),
  end_session_endpoint: url('The page on which a member signs out.'),
  backchannel_logout_supported: Type.Boolean({
    description: 'Clients with an address for that hear of the end of a session.',
  }),
  backchannel_logout_session_supported: Type.Boolean({
    description: 'ID tokens and logout tokens carry `sid`.',
  }),
  revocation_endpoint: url('Ends a token before its time.'),
  introspection_endpoint: url('Returns whether a token is active.'),
  jwks_uri: url('The public keys that verify tokens.'),
  scopes_supported: names('Every scope; each client is registered for some of them.'),
  response_types_supported: names('`code`.'),
  response_modes_supported: names('`query`.'),
  code_challenge_methods_supported: names('`S256`; every request needs a challenge.'),
  prompt_values_supported: names('Values of `prompt`.'),
  authorization_response_iss_parameter_supported: Type.Boolean({
    description: 'Responses carry `iss` (RFC 9207).',
  }),
  dpop_signing_alg_values_supported: names('Algorithms of proofs (RFC 9449).'),
  request_parameter_supported: Type.Boolean({ description: 'False: no request objects.' }),
  request_uri_parameter_supported: Type.Boolean({
    description: 'False: only a `request_uri` of a pushed request.',
  }),
  claims_parameter_supported: Type.Boolean({ description: 'False.' }),
  acr_values_supported: names(
    'Values of `acr_values`: `phr` is a passkey; the other is a password with a code.',
  ),
  claims_supported: names('Claims of ID tokens and of the member.'),
  subject_types_supported: names('`public`: `sub` is the same to every client.'),
  id_token_signing_alg_values_supported: names('For ID tokens.'),
  grant_types_supported: names('Every grant; each client is registered for some of them.'),
  token_endpoint_auth_methods_supported: names('Methods of client authentication.'),
  token_endpoint_auth_signing_alg_values_supported: names('For `private_key_jwt`.'),
  revocation_endpoint_auth_methods_supported: names('As for tokens.'),
  revocation_endpoint_auth_signing_alg_values_supported: names('As for tokens.'),
  introspection_endpoint_auth_methods_supported: names('As for tokens.'),
  introspection_endpoint_auth_signing_alg_values_supported: names('As for tokens.'),
  tls_client_certificate_bound_access_tokens: Type.Boolean({
    description: 'Tokens may be bound to the certificate of the client (RFC 8705).',
  }),
  mtls_endpoint_aliases: Type.Optional(
    Type.Record(Type.String(), Type.String(), {
      description: 'Addresses of some endpoints for clients with a certificate (RFC 8705, section 5).',
    }),
  ),
  service_documentation: url('For people.'),
});

export const authorizationServer = operation({
  operationId: 'authorizationServer',
  method: 'GET',
  path: '/.well-known/oauth-authorization-server',
  tag: 'Token',
  summary: 'Authorization server metadata',
  description: 'Endpoints and capabilities for standard OAuth clients (RFC 8414).',
  token: 'none',
  responses: {
    200: {
      description: 'The metadata.',
      headers: { 'Cache-Control': 'How long it may be kept.' },
      schema: AuthorizationServerMetadata,
      examples: {
        metadata: {
          value: {
            issuer: 'https://bank.example',
            authorization_endpoint: 'https://bank.example/auth/v2/authorize',
            pushed_authorization_request_endpoint: 'https://bank.example/auth/v2/par',
            require_pushed_authorization_requests: false,
            token_endpoint: 'https://bank.example/auth/v2/token',
            userinfo_endpoint: 'https://bank.example/auth/v2/userinfo',
            end_session_endpoint: 'https://bank.example/auth/v2/logout',
            backchannel_logout_supported: true,
            backchannel_logout_session_supported: true,
            revocation_endpoint: 'https://bank.example/auth/v2/revoke',
            introspection_endpoint: 'https://bank.example/auth/v2/introspect',
            jwks_uri: 'https://bank.example/auth/v2/jwks',
            scopes_supported: ['account:read', 'transfer:write'],
            response_types_supported: ['code'],
            response_modes_supported: ['query'],
            code_challenge_methods_supported: ['S256'],
            prompt_values_supported: ['none', 'login'],
            authorization_response_iss_parameter_supported: true,
            dpop_signing_alg_values_supported: ['ES256'],
            request_parameter_supported: false,
            request_uri_parameter_supported: false,
            claims_parameter_supported: false,
            acr_values_supported: ['phr', 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'],
            claims_supported: ['sub', 'name'],
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['ES256'],
            grant_types_supported: ['client_credentials', 'password'],
            token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
            token_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256'],
            revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
            revocation_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256'],
            introspection_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt'],
            introspection_endpoint_auth_signing_alg_values_supported: ['ES256', 'PS256'],
            tls_client_certificate_bound_access_tokens: true,
            mtls_endpoint_aliases: { token_endpoint: 'https://bank.example:8443/auth/v2/token' },
            service_documentation: 'https://bank.example/docs',
          },
        },
      },
    },
  },
  async handle(services) {
    const headers = { 'cache-control': 'public, max-age=300' };
    return { status: 200, headers, body: services.authorizationServer };
  },
});
