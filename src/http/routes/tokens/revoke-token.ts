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
    'Ends a token of the client before its time (RFC 7009), for every process at once: an access token alone, a refresh token with its whole login and the access tokens of that. A token that is unknown or dead already is answered the same.',
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
  answers: {
    200: {
      description: 'It is dead now.',
      schema: Type.Object({}),
      examples: { revoked: { value: {} } },
    },
    400: {
      description: 'Refused, as RFC 7009 section 2.2.1 says.',
      schema: OAuthErrorDocument,
      examples: {
        invalid_request: refusal('invalid_request', 'token is missing.'),
        unauthorized_client: refusal('unauthorized_client', 'The token was issued to another client.'),
      },
    },
    401: unknownClient,
  },
  problems: ['database_unavailable'],
  async handle(services, input) {
    await services.revokeToken(tokenRequestOf(input));
    return { status: 200, body: {} };
  },
});
