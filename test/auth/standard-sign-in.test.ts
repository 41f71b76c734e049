import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { startTestService, type TestService } from '../support/service.ts';
import { TestBrowser } from '../support/sign-in.ts';

/** Published client libraries, unchanged, with only the metadata: they sign a member in on our pages. */

const issuer = 'http://localhost';
const redirectUri = 'http://127.0.0.1:49152/';
const scope = 'openid profile account:read offline_access';
let service: TestService;
before(async () => {
  service = await startTestService({ environment: { PUBLIC_URL: issuer } });
});
after(() => service.close());

/** The port of PUBLIC_URL is not the test's: requests are sent to the test's address. */
function toService(url: string, init: object): Promise<Response> {
  return fetch(url.replace(issuer, service.address), init as RequestInit);
}

/** The member's part: signs in, allows, and ends at the app's address. */
async function signInAt(url: URL): Promise<URL> {
  const browser = new TestBrowser(service.address);
  let page = await browser.get(url.pathname + url.search);
  const member = { username: 'demo.member', password: 'demo-member-password' };
  page = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
  if (page.title.startsWith('Allow')) {
    page = await browser.post('/auth/v2/consent', {
      request: page.request,
      days: '90',
      answer: 'allow',
      accounts: 'all',
    });
  }
  return page.location;
}

test('openid-client signs a member in as a public client, reads claims and refreshes', async () => {
  const config = await openid.discovery(new URL(issuer), 'demo-budget', undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: toService,
  });
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    nonce,
    max_age: '300',
  });
  const tokens = await openid.authorizationCodeGrant(config, await signInAt(url), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
    maxAge: 300,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  assert.equal(claims?.sub, 'u-demo-member');
  const info = await openid.fetchUserInfo(config, tokens.access_token, 'u-demo-member');
  assert.equal(info.sub, 'u-demo-member');
  assert.ok(info.given_name);
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
  assert.equal(renewed.scope, tokens.scope);
  const out = openid.buildEndSessionUrl(config, { id_token_hint: tokens.id_token ?? '' });
  const left = await new TestBrowser(service.address).get(out.pathname + out.search);
  assert.equal(left.title, 'You are signed out');
});

test('openid-client refuses a response that another server could have sent', async () => {
  const config = await openid.discovery(new URL(issuer), 'demo-budget', undefined, openid.None(), {
    execute: [openid.allowInsecureRequests],
    [openid.customFetch]: toService,
  });
  const verifier = openid.randomPKCECodeVerifier();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const response = await signInAt(url);
  response.searchParams.set('iss', 'https://evil.example');
  await assert.rejects(openid.authorizationCodeGrant(config, response, { pkceCodeVerifier: verifier }));
});

test('oauth4webapi pushes a request, signs a member in and validates the ID token', async () => {
  const options = { [oauth.allowInsecureRequests]: true, [oauth.customFetch]: toService };
  const client: oauth.Client = { client_id: 'demo-budget' };
  const found = await oauth.discoveryRequest(new URL(issuer), options);
  const server = await oauth.processDiscoveryResponse(new URL(issuer), found);
  const verifier = oauth.generateRandomCodeVerifier();
  const nonce = oauth.generateRandomNonce();
  const parameters = new URLSearchParams({
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    nonce,
  });
  const push = await oauth.pushedAuthorizationRequest(server, client, oauth.None(), parameters, options);
  const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, push);
  const url = new URL(server.authorization_endpoint ?? '');
  url.search = new URLSearchParams({ client_id: 'demo-budget', request_uri }).toString();
  const response = oauth.validateAuthResponse(server, client, await signInAt(url), oauth.expectNoState);
  const exchanged = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    oauth.None(),
    response,
    redirectUri,
    verifier,
    options,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, exchanged, {
    expectedNonce: nonce,
    requireIdToken: true,
  });
  assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, 'u-demo-member');
  await oauth.validateApplicationLevelSignature(server, exchanged, options);
});
