// AppAuth for JS, unchanged, as a program on the member's computer and as an app on a phone (RFC 8252). Prints a line for each flow;
// scripts/sign-in-clients.ts reads them. It opens the browser by `xdg-open`, as on a desktop.
import { createServer } from 'node:net';
import {
  AuthorizationNotifier,
  AuthorizationRequest,
  AuthorizationRequestHandler,
  AuthorizationResponse,
  AuthorizationServiceConfiguration,
  BaseTokenRequestHandler,
  BasicQueryStringUtils,
  GRANT_TYPE_AUTHORIZATION_CODE,
  GRANT_TYPE_REFRESH_TOKEN,
  RevokeTokenRequest,
  TokenRequest,
} from '@openid/appauth';
import { NodeBasedHandler, NodeCrypto, NodeRequestor } from '@openid/appauth/built/node_support/index.js';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const { ISSUER: issuer, CLIENT_ID: clientId, BROWSER_URL: browser } = process.env;
const scope = 'openid profile account:read offline_access';
const scheme = 'com.example.bank:/callback';
const requestor = new NodeRequestor();
const tokens = new BaseTokenRequestHandler(requestor);
const wait = 20_000;
let server;
let metadata;
let port;

function report(outcome, flow, remark = '') {
  process.stdout.write(`${outcome}\t${flow}\t${remark}\n`);
}

async function flow(name, outcome, remark, work) {
  try {
    await work();
    report(outcome, name, remark);
  } catch (error) {
    console.error(error);
    report('FAIL', name, String(error.message ?? error).replaceAll(/\s+/g, ' '));
  }
}

function must(condition, sentence) {
  if (!condition) throw new Error(sentence);
}

async function visit(url) {
  const response = await fetch(`${browser}?${new URLSearchParams({ url })}`);
  const text = await response.text();
  must(response.ok, text);
  return text;
}

/** The private scheme of an app on a phone: the system hands the address to the app. */
class PrivateSchemeHandler extends AuthorizationRequestHandler {
  #result;

  constructor() {
    super(new BasicQueryStringUtils(), new NodeCrypto());
  }

  performAuthorizationRequest(configuration, request) {
    this.#result = request.setupCodeVerifier().then(async () => {
      const back = new URL(await visit(this.buildRequestUrl(configuration, request)));
      const { code, state } = Object.fromEntries(back.searchParams);
      return { request, response: new AuthorizationResponse({ code, state }), error: null };
    });
    this.#result.then(() => this.completeAuthorizationRequestIfPossible());
  }

  completeAuthorizationRequest() {
    return this.#result;
  }
}

function newRequest(redirectUri, extras = {}) {
  return new AuthorizationRequest(
    { client_id: clientId, redirect_uri: redirectUri, scope, response_type: 'code', extras },
    new NodeCrypto(),
  );
}

/** Without the state of the request a response is another's (RFC 8252 section 8.9). */
async function authorize(handler, request) {
  const notifier = new AuthorizationNotifier();
  handler.setAuthorizationNotifier(notifier);
  const { promise, resolve, reject } = Promise.withResolvers();
  notifier.setAuthorizationListener((_, response, error) => (response ? resolve(response) : reject(error)));
  handler.performAuthorizationRequest(server, request);
  const patience = setTimeout(() => reject(new Error('no response')), wait);
  const response = await promise.finally(() => clearTimeout(patience));
  must(response.state === request.state, 'the state is that of another request');
  return response;
}

function exchange(request, response, extras = {}) {
  return tokens.performTokenRequest(
    server,
    new TokenRequest({
      client_id: clientId,
      redirect_uri: request.redirectUri,
      grant_type: GRANT_TYPE_AUTHORIZATION_CODE,
      code: response.code,
      extras: { code_verifier: request.internal.code_verifier, ...extras },
    }),
  );
}

function refresh(refreshToken) {
  return tokens.performTokenRequest(
    server,
    new TokenRequest({
      client_id: clientId,
      redirect_uri: scheme,
      grant_type: GRANT_TYPE_REFRESH_TOKEN,
      refresh_token: refreshToken,
    }),
  );
}

async function isRefused(promise) {
  return promise.then(
    () => false,
    () => true,
  );
}

async function signIn(extras) {
  const request = newRequest(scheme, extras);
  return exchange(request, await authorize(new PrivateSchemeHandler(), request));
}

async function verify(idToken, nonce) {
  const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));
  const { payload } = await jwtVerify(idToken, keys, { issuer, audience: clientId, algorithms: ['ES256'] });
  must(payload.nonce === nonce, 'another nonce');
  must(payload.sub === 'u-demo-member', 'another member');
}

async function freePort() {
  const listener = createServer().listen(0);
  await new Promise((resolve) => listener.once('listening', resolve));
  const { port } = listener.address();
  await new Promise((resolve) => listener.close(resolve));
  return port;
}

const post = (url, form) => fetch(url, { method: 'POST', body: new URLSearchParams(form) });
let signedIn;

await flow('discovery', 'ok', '', async () => {
  server = await AuthorizationServiceConfiguration.fetchFromIssuer(issuer, requestor);
  metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
});
await flow('loopback redirect', 'ok', 'RFC 8252 section 7.3: any free port', async () => {
  port = await freePort();
  const request = newRequest(`http://127.0.0.1:${port}/callback`);
  const response = await authorize(new NodeBasedHandler(port), request);
  must((await exchange(request, response)).accessToken, 'no token');
});
await flow('private-use scheme', 'ok', 'section 7.1', async () => {
  signedIn = await signIn({ nonce: 'n-native' });
});
await flow(
  'code with PKCE',
  'ok',
  'section 8.1: S256 by AppAuth; a request without it is refused',
  async () => {
    must(signedIn.accessToken, 'no token');
    const bare = { client_id: clientId, response_type: 'code', redirect_uri: scheme, scope, state: 's' };
    const end = await visit(`${server.authorizationEndpoint}?${new URLSearchParams(bare)}`);
    must(new URL(end).searchParams.get('error') === 'invalid_request', end);
  },
);
await flow('state', 'ok', 'section 8.9: it comes back, and another one is refused by the app', async () => {
  const request = newRequest(scheme);
  const handler = new PrivateSchemeHandler();
  const changed = handler.buildRequestUrl.bind(handler);
  handler.buildRequestUrl = (...given) => changed(...given).replace(/state=[^&]*/, 'state=another');
  must(await isRefused(authorize(handler, request)), 'another state is accepted');
});
await flow(
  'no secret',
  'ok',
  'section 8.5: the client has none, and one that it sends is refused',
  async () => {
    const request = newRequest(scheme);
    const response = await authorize(new PrivateSchemeHandler(), request);
    must(await isRefused(exchange(request, response, { client_secret: 'embedded' })), 'a secret is accepted');
  },
);
await flow(
  'refused redirects',
  'ok',
  'sections 7.3 and 8.4: another path, localhost with a port, another scheme',
  async () => {
    for (const wrong of [
      `http://127.0.0.1:${port}/other`,
      `http://localhost:${port}/callback`,
      'com.example.other:/callback',
    ]) {
      const handler = new PrivateSchemeHandler();
      const request = newRequest(wrong);
      await request.setupCodeVerifier();
      const end = await visit(handler.buildRequestUrl(server, request));
      must(!URL.canParse(end), `${wrong} is accepted: ${end}`);
    }
  },
);
await flow('pushed request', 'by hand', 'AppAuth has no call', async () => {
  const request = newRequest(scheme);
  await request.setupCodeVerifier();
  const handler = new PrivateSchemeHandler();
  const parameters = new URL(handler.buildRequestUrl(server, request)).searchParams;
  const pushed = await (await post(metadata.pushed_authorization_request_endpoint, parameters)).json();
  const reference = new URLSearchParams({ client_id: clientId, request_uri: pushed.request_uri });
  const back = new URL(await visit(`${server.authorizationEndpoint}?${reference}`));
  must((await exchange(request, { code: back.searchParams.get('code') })).accessToken, 'no token');
});
await flow('ID token', 'by hand', 'AppAuth for JS verifies none; jose does', () =>
  verify(signedIn.idToken, 'n-native'),
);
await flow('userinfo', 'by hand', 'AppAuth has no call', async () => {
  signedIn = await signIn();
  const headers = { authorization: `Bearer ${signedIn.accessToken}` };
  const info = await (await fetch(server.userInfoEndpoint, { headers })).json();
  must(info.sub === 'u-demo-member', 'another member');
});
await flow('refresh', 'ok', 'rotates; reuse ends the login', async () => {
  const first = signedIn.refreshToken;
  const second = (await refresh(first)).refreshToken;
  const third = (await refresh(second)).refreshToken;
  must(first !== second && second !== third, 'the refresh token is the same');
  must(await isRefused(refresh(first)), 'an old refresh token is accepted');
  must(await isRefused(refresh(third)), 'the login goes on after the reuse');
});
await flow('revocation', 'ok', '', async () => {
  const { refreshToken, accessToken } = await signIn();
  const request = new RevokeTokenRequest({ token: refreshToken, client_id: clientId });
  await tokens.performRevokeTokenRequest(server, request);
  must(await isRefused(refresh(refreshToken)), 'the refresh token works');
  const headers = { authorization: `Bearer ${accessToken}` };
  must((await fetch(server.userInfoEndpoint, { headers })).status === 401, 'the access token works');
});
await flow('introspection', 'none', 'a public client may not ask', async () => {
  const { accessToken: token } = await signIn();
  must(
    (await post(metadata.introspection_endpoint, { token, client_id: clientId })).status === 401,
    'it may',
  );
});
await flow('client_credentials', 'none', 'a public client may not', async () => {
  const { status } = await post(server.tokenEndpoint, {
    grant_type: 'client_credentials',
    client_id: clientId,
  });
  must(status === 400, `status ${status}`);
});
report('none', 'private_key_jwt', 'a public client has no key');
report('none', 'DPoP', 'AppAuth has none');
report('none', 'FAPI 2.0', 'for confidential clients');
await flow('logout', 'by hand', 'AppAuth for JS has no call', async () => {
  const { idToken } = await signIn();
  const parameters = {
    id_token_hint: idToken,
    post_logout_redirect_uri: 'com.example.bank:/bye',
    state: 'out',
  };
  const end = await visit(`${server.endSessionEndpoint}?${new URLSearchParams(parameters)}`);
  must(end === 'com.example.bank:/bye?state=out', end);
});
