import * as Type from 'typebox/type';
import { jwksMaxAgeSeconds } from '../../../auth/index.ts';
import { operation } from '../../operation.ts';

export const Jwk = Type.Object({
  kty: Type.String({ description: '`EC`.' }),
  crv: Type.String({ description: '`P-256`.' }),
  x: Type.String(),
  y: Type.String(),
  kid: Type.String({ description: 'In the header of each token that the key signed.' }),
  alg: Type.String({ description: '`ES256`.' }),
  use: Type.String({ description: '`sig`.' }),
});

export const JwkSet = Type.Object({ keys: Type.Array(Jwk) });

export const jwks = operation({
  operationId: 'jwks',
  method: 'GET',
  path: '/auth/v2/jwks',
  tag: 'Token',
  summary: 'Public keys',
  description:
    'Returns the keys that verify access tokens (RFC 7517): the signing key, the next one some time before it signs, and earlier ones while tokens of theirs may be active.',
  token: 'none',
  responses: {
    200: {
      description: 'The keys.',
      headers: { 'Cache-Control': 'Time for which the keys may be cached.' },
      schema: JwkSet,
      examples: {
        one: {
          value: {
            keys: [
              {
                kty: 'EC',
                crv: 'P-256',
                x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
                y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
                kid: '0d2b7a52-6a0e-4a0f-9d4f-1a7c5c1f9b11',
                alg: 'ES256',
                use: 'sig',
              },
            ],
          },
        },
      },
    },
  },
  problems: ['database_unavailable'],
  async handle(services) {
    const headers = { 'cache-control': `public, max-age=${jwksMaxAgeSeconds}` };
    return { status: 200, headers, body: { keys: await services.publishedKeys() } };
  },
});
