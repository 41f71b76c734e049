import * as Type from 'typebox/type';
import { grantTypes } from '../../../auth/index.ts';
import {
  clientParameters,
  oauthMediaTypes,
  parameter,
  refusal,
  tokenRequestOf,
  unknownClient,
} from '../../oauth.ts';
import { operation } from '../../operation.ts';
import { OAuthErrorDocument } from '../../schemas.ts';

/** For the documentation only: auth validates token requests, with the errors of RFC 6749. */
export const TokenRequest = Type.Object({
  grant_type: Type.String({ description: `One of ${grantTypes.map((name) => `\`${name}\``).join(', ')}.` }),
  ...clientParameters,
  scope: parameter(
    'Requested scopes, separated by spaces. Default: all scopes of the client except `offline_access`. With `refresh_token`: a subset of the scopes of the login; default: all of them.',
  ),
  username: parameter('Needed with `password`.'),
  password: parameter('Needed with `password`.'),
  device_id: parameter(
    'With `password`: the id that the app gave the device, at most 256 characters. The member gets an alert about a new one. With a DPoP proof, its key names the device instead. Without both, all devices of the app are one.',
  ),
  assertion: parameter(
    'Required by the two assertion grants: the JWT (RFC 7523), or the SAML 2.0 assertion in base64url (RFC 7522), with which a registered identity provider identifies the member.',
  ),
  refresh_token: parameter('Required by `refresh_token`.'),
  code: parameter('Required by `authorization_code`.'),
  code_verifier: parameter('Required by `authorization_code` (RFC 7636).'),
  redirect_uri: parameter('With `authorization_code`: if sent, that of the authorization request.'),
});

export const TokenResponse = Type.Object({
  access_token: Type.String({ description: 'Bearer token to send with every later request.' }),
  token_type: Type.String({ description: '`Bearer`; `DPoP` for a request with a proof (RFC 9449).' }),
  expires_in: Type.Integer({ description: 'Lifetime in seconds.' }),
  scope: Type.String({ description: 'Granted scopes, separated by spaces.' }),
  id_token: Type.Optional(
    Type.String({ description: 'With a code and the scope `openid`: tells the client who signed in.' }),
  ),
  refresh_token: Type.Optional(
    Type.String({
      description:
        'Valid for one refresh. Issued for a member only, if `offline_access` was requested and the client may have it.',
    }),
  ),
});

export const issueToken = operation({
  operationId: 'issueToken',
  method: 'POST',
  path: '/auth/v2/token',
  tag: 'Token',
  summary: 'Member token',
  description:
    'Issues an access token (RFC 6749): for the client itself with `client_credentials`; for one member with `authorization_code` after a sign-in on our pages, with `password`, or with an assertion of a registered identity provider; and again for the same member with `refresh_token`. Accepts JSON, and the form encoding of OAuth libraries. Unknown parameters are ignored, empty ones count as left out, and a repeated one is refused.',
  token: 'none',
  oauth: true,
  rate: 'token',
  body: {
    schema: TokenRequest,
    mediaTypes: oauthMediaTypes,
    examples: {
      client_credentials: {
        summary: 'A token for the client',
        value: {
          grant_type: 'client_credentials',
          client_id: 'demo-app',
          client_secret: 'demo-app-secret',
          scope: 'institution-users:write transfer:write',
        },
      },
      password: {
        summary: 'A token for a member',
        value: {
          grant_type: 'password',
          client_id: 'demo-app',
          client_secret: 'demo-app-secret',
          username: 'demo.member',
          password: 'demo-member-password',
        },
      },
      authorization_code: {
        summary: 'A token for a member who signed in on the page',
        value: {
          grant_type: 'authorization_code',
          client_id: 'demo-budget',
          code: 'invented-code',
          code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
          redirect_uri: 'http://127.0.0.1/',
        },
      },
      assertion: {
        summary: 'A token for a member whom an identity provider has logged in (RFC 7523)',
        value: {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          client_id: 'demo-app',
          client_secret: 'demo-app-secret',
          assertion: 'eyJhbGciOiJFUzI1NiJ9.e30.invented',
        },
      },
      refresh_token: {
        summary: 'A refreshed login',
        value: {
          grant_type: 'refresh_token',
          client_id: 'demo-app',
          client_secret: 'demo-app-secret',
          refresh_token: 'invented-refresh-token',
        },
      },
    },
  },
  responses: {
    200: {
      description: 'Token issued.',
      schema: TokenResponse,
      examples: {
        issued: {
          value: {
            access_token: 'eyJhbGciOiJFUzI1NiJ9.e30.invented',
            token_type: 'Bearer',
            expires_in: 1800,
            scope: 'account:read transfer:write',
          },
        },
      },
    },
    400: {
      description: 'Refused (RFC 6749, section 5.2).',
      schema: OAuthErrorDocument,
      examples: {
        invalid_request: refusal('invalid_request', 'grant_type is missing.'),
        invalid_grant: refusal('invalid_grant', 'The username or the password is wrong.'),
        unauthorized_client: refusal('unauthorized_client', 'The client may not use this grant.'),
        unsupported_grant_type: refusal('unsupported_grant_type', 'There is no such grant.'),
        invalid_scope: refusal('invalid_scope', 'The scope is malformed.'),
        use_dpop_nonce: refusal('use_dpop_nonce', 'Use the nonce of the header DPoP-Nonce, in a new proof.'),
      },
    },
    401: unknownClient,
  },
  problems: ['outcome_unknown'],
  async handle(services, input) {
    const { countFor } = input;
    const token = await services.issueToken({ ...tokenRequestOf(input), countFor });
    return { status: 200, headers: { pragma: 'no-cache' }, body: token };
  },
});
