import * as Type from 'typebox/type';
import {
  oauthMediaTypes,
  parameter,
  refusal,
  TokenReference,
  tokenRequestOf,
  unknownClient,
} from '../../oauth.ts';
import { operation } from '../../operation.ts';
import { OAuthErrorDocument } from '../../schemas.ts';

const seconds = (description: string) => Type.Optional(Type.Integer({ description }));

export const TokenConfirmation = Type.Object(
  {
    jkt: Type.Optional(Type.String({ description: 'SHA-256 of the key (RFC 7638).' })),
    'x5t#S256': Type.Optional(
      Type.String({ description: 'SHA-256 of the certificate (RFC 8705, section 3.1).' }),
    ),
  },
  { description: 'The key or the certificate that the token is bound to: one of these members.' },
);

export const TokenIntrospection = Type.Object({
  active: Type.Boolean({ description: 'If false, the response has no other member.' }),
  scope: parameter('Separated by spaces.'),
  client_id: parameter('The client it was issued to.'),
  token_type: parameter(
    '`Bearer` or `DPoP`, of an access token. One that is bound to a certificate is `Bearer`.',
  ),
  cnf: Type.Optional(TokenConfirmation),
  exp: seconds('Expiry; of a refresh token, expiry if it stays unused. Seconds since 1970.'),
  iat: seconds('Time of issue; of a refresh token, start of its login. Seconds since 1970.'),
  sub: parameter('The user of a member token, else the client.'),
  aud: parameter('Our issuer.'),
  iss: parameter('Our issuer.'),
  jti: parameter('Of an access token.'),
  institution_id: Type.Optional(Type.Integer()),
  token_use: parameter('`client` or `member`.'),
  auth_time: seconds('Time of the member’s login, if known. Seconds since 1970.'),
  acr: parameter(
    '`phr`: the member signed in with a passkey; `http://schemas.openid.net/pape/policies/2007/06/multi-factor`: with a password and a code (RFC 9470).',
  ),
  amr: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'How the member signed in, if known (RFC 8176): `pwd` password, `otp` code, `hwk` or `swk` passkey, `user` presence verified by the device, `mfa` several.',
    }),
  ),
});

export const introspectToken = operation({
  operationId: 'introspectToken',
  method: 'POST',
  path: '/auth/v2/introspect',
  tag: 'Token',
  summary: 'Introspect a token',
  description:
    'Returns whether a token is active at this moment (RFC 7662). A client sees the tokens issued to it and, if an operator gave it the right, every token of its institution. Any other token is reported as inactive.',
  token: 'none',
  oauth: true,
  body: {
    schema: TokenReference,
    mediaTypes: oauthMediaTypes,
    examples: {
      introspect: {
        value: {
          token: 'eyJhbGciOiJFUzI1NiJ9.e30.invented',
          client_id: 'demo-app',
          client_secret: 'demo-app-secret',
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The state of the token.',
      schema: TokenIntrospection,
      examples: {
        active: {
          value: {
            active: true,
            scope: 'account:read',
            client_id: 'demo-app',
            token_type: 'Bearer',
            exp: 1_764_003_600,
            iat: 1_764_001_800,
            sub: 'u-demo-member',
            aud: 'https://bank.example',
            iss: 'https://bank.example',
            jti: '5f0c3f0e-6b0a-4c34-9d2c-7b6f1a2d3e4f',
            institution_id: 1,
            token_use: 'member',
          },
        },
        inactive: { value: { active: false } },
      },
    },
    400: {
      description: 'Refused (RFC 7662, section 2.3).',
      schema: OAuthErrorDocument,
      examples: { invalid_request: refusal('invalid_request', 'token is missing.') },
    },
    401: unknownClient,
  },
  async handle(services, input) {
    return { status: 200, body: await services.introspectToken(tokenRequestOf(input)) };
  },
});
