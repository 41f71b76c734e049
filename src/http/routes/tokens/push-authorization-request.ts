import * as Type from 'typebox/type';
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

/** For the documentation only: auth validates the request. */
export const PushedAuthorizationRequest = Type.Object({
  ...clientParameters,
  response_type: Type.String({ description: '`code`.' }),
  redirect_uri: Type.String({ description: 'One that is registered for the client.' }),
  scope: parameter('Requested scopes, separated by spaces.'),
  state: parameter('Returned as it is.'),
  nonce: parameter('Returned in the ID token.'),
  code_challenge: Type.String({ description: 'SHA-256 of the verifier in base64url (RFC 7636).' }),
  code_challenge_method: Type.String({ description: '`S256`.' }),
  dpop_jkt: parameter('The thumbprint of the key that the tokens are to be bound to (RFC 9449 section 10).'),
  prompt: parameter('`none`, `login`, `consent`, `select_account`.'),
  max_age: parameter('The longest age of the sign-in, in seconds.'),
  login_hint: parameter('A username for the page.'),
});

export const PushedAuthorizationResponse = Type.Object({
  request_uri: Type.String({ description: 'The name of the request, for `GET /auth/v2/authorize`.' }),
  expires_in: Type.Integer({ description: 'Seconds for which the name can be opened.' }),
});

export const pushAuthorizationRequest = operation({
  operationId: 'pushAuthorizationRequest',
  method: 'POST',
  path: '/auth/v2/par',
  tag: 'Token',
  summary: 'Push an authorization request',
  description:
    'Takes the parameters of an authorization request from the client itself (RFC 9126), so that the browser carries only their name: `GET /auth/v2/authorize?client_id=…&request_uri=…`. One code comes of a pushed request.',
  token: 'none',
  oauth: true,
  rate: 'token',
  body: {
    schema: PushedAuthorizationRequest,
    mediaTypes: oauthMediaTypes,
    examples: {
      request: {
        value: {
          client_id: 'demo-budget',
          response_type: 'code',
          redirect_uri: 'http://127.0.0.1/',
          scope: 'openid account:read',
          state: 'invented-state',
          code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_challenge_method: 'S256',
        },
      },
    },
  },
  responses: {
    201: {
      description: 'Request taken.',
      schema: PushedAuthorizationResponse,
      examples: {
        taken: {
          value: { request_uri: 'urn:ietf:params:oauth:request_uri:invented', expires_in: 90 },
        },
      },
    },
    400: {
      description: 'Refused (RFC 6749, section 5.2).',
      schema: OAuthErrorDocument,
      examples: {
        invalid_request: refusal('invalid_request', 'code_challenge is missing (RFC 7636).'),
        unauthorized_client: refusal('unauthorized_client', 'The client may not use authorization_code.'),
        invalid_scope: refusal('invalid_scope', 'The scope is malformed.'),
      },
    },
    401: unknownClient,
  },
  async handle(services, input) {
    const { countFor } = input;
    return { status: 201, body: await services.pushRequest({ ...tokenRequestOf(input), countFor }) };
  },
});
