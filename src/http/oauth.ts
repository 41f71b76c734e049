import * as Type from 'typebox/type';
import type { RawTokenRequest } from '../auth/index.ts';
import type { Input, MediaType, ResponseDescription } from './operation.ts';
import { OAuthErrorDocument } from './schemas.ts';

/** Shared by the OAuth operations: their bodies, client authentication and refusals. */

export const oauthMediaTypes: readonly MediaType[] = [
  'application/json',
  'application/x-www-form-urlencoded',
];

export const parameter = (description: string) => Type.Optional(Type.String({ description }));

export const clientParameters = {
  client_id: parameter(
    'In the body or in HTTP Basic; with an assertion it may be left out. Alone for a public client, and for one that authenticates by the certificate of its connection (RFC 8705).',
  ),
  client_secret: parameter('In the body or in HTTP Basic, never in both.'),
  client_assertion_type: parameter(
    'Instead of a secret: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`.',
  ),
  client_assertion: parameter(
    'A JWT signed with a key that the client is registered with (RFC 7523). `iss` and `sub` are the client id, `aud` our issuer as a single string, `exp` at most five minutes ahead, `jti` never used before.',
  ),
};

/** Fields of a request about one token. */
export const TokenReference = Type.Object({
  token: Type.String({ description: 'An access token or a refresh token.' }),
  token_type_hint: parameter('`access_token` or `refresh_token`; not needed.'),
  ...clientParameters,
});

export const refusal = (error: string, error_description: string) => ({
  value: { error, error_description },
});

export const unknownClient: ResponseDescription = {
  description: 'The client is unknown, or its authentication failed.',
  headers: { 'WWW-Authenticate': 'How a client may authenticate.' },
  schema: OAuthErrorDocument,
  examples: { invalid_client: refusal('invalid_client', 'The client or its secret is wrong.') },
};

/** The schema of such a body is not enforced: any body except an object counts as a request without parameters. */
export function tokenRequestOf({
  body,
  repeated,
  origin,
  header,
  certificate,
  url,
  recognize,
}: Pick<
  Input<unknown, unknown, unknown, 'none'>,
  'body' | 'repeated' | 'origin' | 'header' | 'certificate' | 'url' | 'recognize'
>): RawTokenRequest {
  const parameters: Record<string, unknown> = Object(body);
  const text = header('dpop');
  const proof = text === undefined ? {} : { proof: { text, method: 'POST', url } };
  const authorization = header('authorization');
  return { parameters, repeated, authorization, ...proof, certificate, origin, recognize };
}
