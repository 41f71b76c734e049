import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import {
  AuthenticationError,
  clientCredentials,
  jwtBearer,
  password,
  privateKeyJwt,
  refreshToken,
  Sharedraft,
} from '../../client/src/index.ts';
import { hangUp, json, problem, type Received, startScriptedServer } from './scripted-server.ts';

const client = { clientId: 'app', clientSecret: 'secret' };

/** A service whose tokens are `t-1`, `t-2` …; `isActive` decides which it accepts. */
function issuingServer(isActive: (token: string) => boolean = () => true, expiresIn = 1800) {
  let issued = 0;
  return startScriptedServer((response, request) => {
    if (request.url === '/auth/v2/token') {
      issued += 1;
      const { grant_type } = JSON.parse(request.body);
      const refresh = grant_type === 'client_credentials' ? {} : { refresh_token: `r-${issued}` };
      json(200, { access_token: `t-${issued}`, token_type: 'Bearer', expires_in: expiresIn, ...refresh })(
        response,
        request,
      );
    } else if (isActive((request.headers.authorization ?? '').replace('Bearer ', ''))) {
      json(200, { accountId: 'a-1' })(response, request);
    } else {
      problem(401, 'invalid_token')(response, request);
    }
  });
}

const requestsOfTokens = (received: readonly Received[]) =>
  received.filter(({ url }) => url === '/auth/v2/token').map(({ body }) => JSON.parse(body));

test('requests one token for many calls at once', async () => {
  await using server = await issuingServer();
  const { accounts } = new Sharedraft({ ...server, auth: clientCredentials(client) });
  await Promise.all(Array.from({ length: 20 }, () => accounts.get('a-1')));
  assert.equal(requestsOfTokens(server.received).length, 1);
});

test('requests another token before the old one expires', async () => {
  await using server = await issuingServer(undefined, 0.2);
  const { accounts } = new Sharedraft({ ...server, auth: clientCredentials(client) });
  await accounts.get('a-1');
  await new Promise((resolve) => setTimeout(resolve, 250));
  await accounts.get('a-1');
  assert.equal(requestsOfTokens(server.received).length, 2);
});

test('repeats a call once with a new token if the service refuses the old one', async () => {
  await using server = await issuingServer((token) => token === 't-2');
  const { accounts } = new Sharedraft({ ...server, auth: clientCredentials(client) });
  assert.equal((await accounts.get('a-1')).accountId, 'a-1');
});

test('throws if the service refuses the new token too', async () => {
  await using server = await issuingServer(() => false);
  const { accounts } = new Sharedraft({ ...server, auth: clientCredentials(client) });
  await assert.rejects(accounts.get('a-1'), AuthenticationError);
  assert.equal(requestsOfTokens(server.received).length, 2);
});

test('does not repeat a call with a token that the caller gave', async () => {
  await using server = await issuingServer(() => false);
  await assert.rejects(
    new Sharedraft({ ...server, auth: () => 'theirs' }).accounts.get('a-1'),
    AuthenticationError,
  );
  assert.equal(server.received.length, 1);
});

test('stores each refresh token before it is needed, and signs in by password only once', async () => {
  await using server = await issuingServer(undefined, 0.2);
  const stored: string[] = [];
  const auth = password(
    client,
    { username: 'u', password: 'p', scope: 'account:read offline_access' },
    { onRefreshToken: (token) => void stored.push(token) },
  );
  const { accounts } = new Sharedraft({ ...server, auth });
  await accounts.get('a-1');
  await new Promise((resolve) => setTimeout(resolve, 250));
  await accounts.get('a-1');
  assert.deepEqual(stored, ['r-1', 'r-2']);
  const grants = requestsOfTokens(server.received).map(({ grant_type, refresh_token }) => [
    grant_type,
    refresh_token,
  ]);
  assert.deepEqual(grants, [
    ['password', undefined],
    ['refresh_token', 'r-1'],
  ]);
});

test('goes on from a stored refresh token', async () => {
  await using server = await issuingServer();
  await new Sharedraft({ ...server, auth: refreshToken(client, 'r-0') }).accounts.get('a-1');
  assert.equal(requestsOfTokens(server.received)[0].refresh_token, 'r-0');
});

test('signs in again by password if the refresh token has ended', async () => {
  await using server = await startScriptedServer(
    json(400, { error: 'invalid_grant', error_description: 'Ended.' }),
    json(200, { access_token: 't', token_type: 'Bearer', expires_in: 60 }),
    json(200, { accountId: 'a-1' }),
  );
  const auth = password(client, { username: 'u', password: 'p' }, { refreshToken: 'r-0' });
  await new Sharedraft({ ...server, auth }).accounts.get('a-1');
  assert.deepEqual(
    requestsOfTokens(server.received).map(({ grant_type }) => grant_type),
    ['refresh_token', 'password'],
  );
});

test('never sends an assertion of a member twice', async () => {
  await using server = await startScriptedServer(hangUp);
  const auth = jwtBearer(client, { assertion: 'once' });
  await assert.rejects(new Sharedraft({ ...server, auth }).accounts.get('a-1'));
  assert.equal(server.received.length, 1);
});

test('signs a new assertion of the client for each attempt', async () => {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256' };
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, false, ['sign', 'verify']);
  await using server = await startScriptedServer(
    hangUp,
    json(200, { access_token: 't', token_type: 'Bearer', expires_in: 60 }),
    json(200, {}),
  );
  const proof = privateKeyJwt({
    clientId: 'app',
    issuer: 'https://bank.example',
    key: privateKey,
    kid: 'k-1',
  });
  await new Sharedraft({ ...server, auth: clientCredentials(proof) }).accounts.get('a-1');
  const assertions = requestsOfTokens(server.received).map(({ client_assertion }) => client_assertion);
  assert.equal(assertions.length, 2);
  assert.notEqual(decodeJwt(assertions[0]).jti, decodeJwt(assertions[1]).jti);
  assert.equal(decodeProtectedHeader(assertions[1]).kid, 'k-1');
  const { payload } = await jwtVerify(assertions[1], publicKey, { audience: 'https://bank.example' });
  assert.equal(payload.sub, 'app');
});

test('sends a DPoP proof with each attempt, and takes the nonce that the service asks for', async () => {
  await using server = await startScriptedServer(
    problem(401, 'use_dpop_nonce', {}, { 'dpop-nonce': 'n-1' }),
    json(200, { accountId: 'a-1' }),
  );
  const proofs: object[] = [];
  const dpop = async (about: object) => `proof-${proofs.push(about)}`;
  await new Sharedraft({ ...server, auth: () => 'bound', dpop }).accounts.get('a-1');
  assert.deepEqual(
    server.received.map(({ headers }) => [headers.authorization, headers.dpop]),
    [
      ['DPoP bound', 'proof-1'],
      ['DPoP bound', 'proof-2'],
    ],
  );
  const url = `${server.baseUrl}/digitalbanking/db-accounts/v1/accounts/a-1`;
  assert.deepEqual(proofs[1], { method: 'GET', url, accessToken: 'bound', nonce: 'n-1' });
});
