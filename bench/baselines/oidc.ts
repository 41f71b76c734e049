/*
 * node-oidc-provider as its documentation sets it up for client_credentials, with ES256 access tokens: the comparison for the
 * row `token`. It stores its data in memory; the service stores it in the database.
 */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const resource = 'https://bench.example';

const provider = new Provider('http://127.0.0.1', {
  jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256', kid: 'bench' }] },
  routes: { token: '/auth/v2/token' },
  clients: [
    {
      client_id: process.env.CLIENT_ID ?? '',
      client_secret: process.env.CLIENT_SECRET ?? '',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
      token_endpoint_auth_method: 'client_secret_post',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      getResourceServerInfo: () => ({
        scope: 'account:read transfer:write',
        accessTokenFormat: 'jwt',
        accessTokenTTL: 1800,
        jwt: { sign: { alg: 'ES256' } },
      }),
    },
  },
});
const handle = provider.callback();
createServer((request, response) => {
  if (request.url === '/ready') response.end('ready');
  else handle(request, response);
}).listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
