import * as Type from 'typebox/type';
import { oauthMediaTypes, refusal, TokenReference, tokenRequestOf, unknownClient } from '../../oauth.ts';
import { operation } from '../../operation.ts';
import { OAuthErrorDocument } from '../../schemas.ts';

export const revokeToken = operation({
  operationId: 'revokeToken',
  method: 'POST',
  path: '/auth/v2/revoke',
  tag: 'Token',
  summary: 'Revoke a token',
  description:
    'Ends a token of the client (RFC 7009), in every process at once. An access token ends alone; a refresh token ends with its login and the access tokens of that login. An unknown or inactive token gets the same response.',
  token: 'none',
  oauth: true,
  body: {
    schema: TokenReference,
    mediaTypes: oauthMediaTypes,
    examples: {
      revoke: {
        value: {
          token: 'invented-refresh-token',
          client_id: 'demo-app',
          client_secret: 'demo-app-secret',
        },
      },
    },
  },
  responses: {
    200: {
      description: 'The token is inactive.',
      schema: Type.Object({}),
      examples: { revoked: { value: {} } },
    },
    400: {
      description: 'Refused (RFC 7009, section 2.2.1).',
      schema: OAuthErrorDocument,
      examples: {
        invalid_request: refusal('invalid_request', 'token is missing.'),
        unauthorized_client: refusal('unauthorized_client', 'The token was issued to another client.'),
      },
    },
    401: unknownClient,
  },
  problems: ['outcome_unknown'],
  async handle(services, input) {
    await services.revokeToken(tokenRequestOf(input));
    return { status: 200, body: {} };
  },
});
