import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { readJwks, scopes } from '../../src/auth/index.ts';
import { openApiDocument } from '../support/contract.ts';
import { type Answer, clientOf, memberOf, paths, send } from '../support/demo.ts';
import { anAssertionClient, aProvider, exchangeAssertion, jwtBearer } from '../support/identity.ts';
import { signJwt, validClaims } from '../support/jwt.ts';
import { startTestService, type TestService } from '../support/service.ts';

/**
 * Permissions: every operation of openapi.json with every bearer, each cell by hand. The requested data is
 * juniper.two's, of the institution lakeside (the other one has no such ids). An operation without a row fails.
 */
const bearers = [
  'no token',
  'malformed',
  'expired',
  'wrong audience',
  'wrong issuer',
  'unsigned by us',
  'client of another institution',
  'member of another institution',
  'missing scope',
  'another member',
  'locked user',
  'inactive user',
  'switched-off client',
  'revoked',
  'client',
  'member',
  'asserted member',
  'provider’s token',
] as const;
type Bearer = (typeof bearers)[number];

/** No active token of ours: 401 for every request. */
const dead = '401 401 401 401 401 401';
/** Users, clients and tokens that were shut out while the tokens were valid. */
const ended = '401 401 401 401';
const clientItself = ['200', ...Array(bearers.length - 1).fill('400')].join(' ');
const open = Array(bearers.length).fill('200').join(' ');

/** In the order of `bearers`. */
const matrix: Readonly<Record<string, string>> = {
  //                                     elsewhere  scope  other         client  members: ours, asserted, by a provider’s token
  registerMember: /*           */ `${dead}  404 403    403    403  ${ended}  201 403 403 403`,
  activateMember: /*           */ `${dead}  422 403    403    403  ${ended}  422 403 403 403`,
  changePassword: /*           */ `${dead}  403 422    403    422  ${ended}  403 422 422 422`,
  // The providers of this test grant every scope; no client here has openid.
  getUserInfo: /*              */ `${dead}  403 403    403    403  ${ended}  403 403 200 200`,
  listConsents: /*             */ `${dead}  403 200    403    200  ${ended}  403 200 200 200`,
  narrowConsent: /*            */ `${dead}  403 404    403    404  ${ended}  403 404 404 404`,
  withdrawConsent: /*          */ `${dead}  403 404    403    404  ${ended}  403 404 404 404`,
  getMemberProfile: /*         */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  updateMemberContact: /*      */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  confirmEmail: /*             */ `${dead}  422 422    403    422  ${ended}  422 422 422 422`,
  getAccount: /*               */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  listAccounts: /*             */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  getMemberAccounts: /*        */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  listTransactions: /*         */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  getBalances: /*              */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  initiateTransfer: /*         */ `${dead}  422 422    403    422  ${ended}  201 201 201 201`,
  // A decline is the result of a dry run, not its failure.
  dryRunTransfer: /*           */ `${dead}  200 200    403    200  ${ended}  200 200 200 200`,
  // Lists contain visible items only: for others they are empty.
  listTransfers: /*            */ `${dead}  200 200    403    200  ${ended}  200 200 200 200`,
  getTransferOptions: /*       */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  getTransfer: /*              */ `${dead}  404 404    403    404  ${ended}  200 200 200 200`,
  // The transfer is completed: a caller who may see it learns that this is final.
  cancelTransfer: /*           */ `${dead}  404 404    403    404  ${ended}  409 409 409 409`,
  listInstructions: /*         */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  reportOutcome: /*            */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  coreHeartbeat: /*            */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  getCoreConnection: /*        */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  readEvents: /*               */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  getActivationCode: /*        */ `${dead}  404 403    403    403  ${ended}  200 403 403 403`,
  acknowledgeActivationCode: /**/ `${dead}  404 403    403    403  ${ended}  200 403 403 403`,
  getEmailCode: /*             */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  acknowledgeEmailCode: /*     */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  // A client has no alerts. Each member has preferences of their own.
  getAlertPreferences: /*       */ `${dead}  403 200    403    200  ${ended}  403 200 200 200`,
  updateAlertPreferences: /*    */ `${dead}  403 400    403    400  ${ended}  403 200 200 200`,
  listAlerts: /*                */ `${dead}  403 200    403    200  ${ended}  403 200 200 200`,
  markAlert: /*                 */ `${dead}  403 404    403    404  ${ended}  403 404 404 404`,
  // A client with the scope reports about any address.
  reportBounce: /*              */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  createWebhook: /*             */ `${dead}  201 403    403    403  ${ended}  201 403 403 403`,
  listWebhooks: /*              */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  getWebhook: /*                */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  updateWebhook: /*             */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  deleteWebhook: /*             */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  rotateWebhookSecret: /*       */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  pingWebhook: /*               */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  replayWebhook: /*             */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  listWebhookAttempts: /*       */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  listWebhookDeliveries: /*     */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,

  // A line is refused by itself; the delivery is not.
  deliverTransactions: /*      */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  deliverRecords: /*           */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,

  compareBalances: /*          */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  listBreaks: /*               */ `${dead}  200 403    403    403  ${ended}  200 403 403 403`,
  getBreak: /*                 */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,
  updateBreak: /*              */ `${dead}  404 403    403    403  ${ended}  404 403 403 403`,

  // No token here stands on a consent; test/http/fdx.test.ts has those that do.
  getFdxCustomer: /*           */ `${dead}  403 403    403    403  ${ended}  403 403 403 403`,
  listFdxAccounts: /*          */ `${dead}  403 403    403    403  ${ended}  403 403 403 403`,
  getFdxAccount: /*            */ `${dead}  403 403    403    403  ${ended}  403 403 403 403`,
  listFdxTransactions: /*      */ `${dead}  403 403    403    403  ${ended}  403 403 403 403`,

  // The client authenticates in the request itself; a token beside that is a second method, which is refused.
  issueToken: clientItself,
  revokeToken: clientItself,
  introspectToken: clientItself,
  pushAuthorizationRequest: Array(bearers.length).fill('400').join(' '),
  authorizationServer: open,
  openidConfiguration: open,
  jwks: open,
  livez: open,
  readyz: open,
  version: open,
};

interface Request {
  readonly query?: string;
  readonly body?: object;
}

const itself = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const transfer = { fromAccountId: 'a-1005-checking', toAccountId: 'a-1005-savings', amount: 1 };
const ids: Record<string, string> = {
  accountId: 'a-1005-checking',
  customerId: 'c-1005',
  id: 'matrix-transfer',
  alertId: '00000000-0000-8000-8000-000000000000',
  breakId: '1',
  endpointId: '00000000-0000-4000-8000-000000000000',
  consentId: '00000000-0000-4000-8000-000000000000',
};
/** Requests whose path is not sufficient. */
const requests: Readonly<Record<string, Request>> = {
  issueToken: { body: { grant_type: 'client_credentials', ...itself } },
  narrowConsent: { body: { removeScopes: ['transfer:read'] } },
  revokeToken: { body: { token: 'nobody’s', ...itself } },
  introspectToken: { body: { token: 'nobody’s', ...itself } },
  // The client is not registered for the grant.
  pushAuthorizationRequest: { body: { response_type: 'code', ...itself } },
  registerMember: { body: { memberNumber: '100020', email: 'zinnia.stubbington@example.test' } },
  activateMember: {
    body: { activationCode: 'wrong', username: 'somebody.new', password: 'seven lanterns by the lake' },
  },
  changePassword: { body: { currentPassword: 'wrong', newPassword: 'nine lanterns beside a quiet lake' } },
  updateMemberContact: { body: {} },
  confirmEmail: { body: { emailCode: 'wrong' } },
  listAccounts: { query: '?customerId=c-1005' },
  getTransferOptions: { query: '?fromAccountId=a-1005-checking' },
  initiateTransfer: { body: transfer },
  dryRunTransfer: { body: transfer },
  listTransfers: { query: '?accountId=a-1005-checking' },
  cancelTransfer: { body: {} },
  reportOutcome: { body: { outcome: 'ACCEPTED' } },
  coreHeartbeat: { body: {} },
  compareBalances: { query: '?asOf=2026-11-20T06:00:00Z' },
  updateBreak: { body: { note: 'Seen.' } },
  readEvents: { query: '?limit=200' },
  acknowledgeActivationCode: { body: {} },
  acknowledgeEmailCode: { body: {} },
  updateAlertPreferences: {
    body: {
      alerts: [{ alertType: 'PAYMENT', accountId: 'a-1005-checking', threshold: 1, channels: ['INBOX'] }],
    },
  },
  markAlert: { body: { read: true } },
  reportBounce: { body: { emailAddress: 'gone@example.test', kind: 'BOUNCE' } },
  createWebhook: { body: { url: 'https://hooks.example.com/sharedraft' } },
  updateWebhook: { body: { status: 'PAUSED' } },
  rotateWebhookSecret: { body: {} },
  pingWebhook: { body: {} },
  replayWebhook: { body: { parked: true } },
  deliverTransactions: { body: {} },
  deliverRecords: { body: {} },
};

const operations = Object.entries(openApiDocument.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

let service: TestService;
let authorization: Readonly<Record<Bearer, string | undefined>>;
before(async () => {
  service = await startTestService();
  const app = ['demo-app', 'demo-app-secret'] as const;
  const client = await clientOf(service, app);
  const member = await memberOf(service, 'juniper.two', 'juniper-two-lantern-5');
  await member.post(paths.transfers, { ...transfer, id: ids.id });
  const newcomer = { memberNumber: '100016', email: 'poppy.newcomer@example.test' };
  await client.post(paths.register, newcomer);
  const [registered] = await service.db.superuser<{ id: string }>(
    `select concat_ws('-', epoch, xid, event_key) as id from outbox where kind = 'member.registered'`,
  );
  ids.eventId = registered?.id ?? '';
  const harbor = ['harbor-app', 'harbor-app-secret'] as const;
  const leaving = await clientOf(service, ['demo-reader', 'demo-reader-secret']);
  const locked = await memberOf(service, 'cedar.owner', 'cedar-red-lantern-3');
  const inactive = await memberOf(service, 'fern.joint', 'fern-green-lantern-2');
  await service.db.superuser("update users set locked_by_operator = true where username = 'cedar.owner'");
  await service.db.superuser("update users set active = false where username = 'fern.joint'");
  await service.db.superuser("update clients set active = false where client_id = 'demo-reader'");

  const revoked = await clientOf(service, app);
  await send(service.address, 'POST', '/auth/v2/revoke', { body: { token: revoked.token, ...itself } });

  const now = Math.floor(Date.now() / 1000);
  const tokens: Record<Exclude<Bearer, 'no token'>, string> = {
    malformed: 'not.a.token',
    expired: await resigned(client.token, { iat: now - 7_200, exp: now - 3_600 }),
    'wrong audience': await resigned(client.token, { aud: 'https://other.example' }),
    'wrong issuer': await resigned(client.token, { iss: 'https://other.example' }),
    'unsigned by us': `${client.token.slice(0, -86)}${'A'.repeat(86)}`,
    'client of another institution': await connected((await clientOf(service, harbor)).token),
    'member of another institution': (
      await memberOf(service, 'demo.member', 'harbor-member-password', harbor)
    ).token,
    'missing scope': await resigned(client.token, { scope: '' }),
    'another member': (await memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1')).token,
    'locked user': locked.token,
    'inactive user': inactive.token,
    'switched-off client': leaving.token,
    revoked: revoked.token,
    client: await connected(client.token),
    member: member.token,
    ...(await assertedTokens()),
  };
  // Shows that each forgery below is refused for its change and nothing else.
  const accounts = `${paths.accounts}?customerId=c-1005`;
  const headers = { authorization: `Bearer ${await resigned(client.token, {})}` };
  assert.equal((await send(service.address, 'GET', accounts, { headers })).status, 200);
  authorization = {
    'no token': undefined,
    ...(Object.fromEntries(
      Object.entries(tokens).map(([name, token]) => [name, `Bearer ${token}`]),
    ) as Record<Exclude<Bearer, 'no token'>, string>),
  };
});
after(() => service.close());

/** For the same member through an identity provider: our token for its assertion, and the provider's own token. */
async function assertedTokens(): Promise<Record<'asserted member' | 'provider’s token', string>> {
  const issuer = 'https://login.lakeside.example';
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const all = scopes.filter((scope) => scope !== 'offline_access');
  await aProvider(service, 'lakeside', {
    providerId: 'web',
    kind: 'jwt',
    issuer,
    keys: readJwks(JSON.stringify(publicKey.export({ format: 'jwk' }))),
    userIdType: 'LOGIN_ID',
    scopes: all,
    resourceTokens: true,
  });
  const assertionClient = await anAssertionClient(service, 'lakeside', 'bridge', all);
  const claims = {
    ...validClaims(new Date(), issuer, 'juniper.two'),
    client_id: 'web',
    scope: all.join(' '),
  };
  const asserted = await exchangeAssertion(
    service,
    assertionClient,
    jwtBearer,
    signJwt({ alg: 'ES256' }, claims, privateKey),
  );
  return {
    'asserted member': asserted.body.access_token,
    'provider’s token': signJwt({ alg: 'ES256', typ: 'at+jwt' }, claims, privateKey),
  };
}

/** The token with the scopes of a connector to the core, which no demo app has. */
function connected(token: string): Promise<string> {
  return resigned(token, {
    scope: `${decodeJwt(token).scope} core:read core:write webhooks:manage alertMail:write`,
  });
}

/** A token's claims with some changed, signed with the service's own key. */
async function resigned(token: string, changes: object): Promise<string> {
  const { kid, privateKey } = await service.service.context.auth.keys.signer();
  const parts = [
    { ...decodeProtectedHeader(token), kid },
    { ...decodeJwt(token), ...changes },
  ];
  const input = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

function ask(operation: (typeof operations)[number], bearer: Bearer): Promise<Answer> {
  const { query = '', body } = requests[operation.operationId] ?? {};
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? 'x') + query;
  const given = authorization[bearer];
  return send(service.address, operation.method, path, {
    ...(body && { body }),
    headers: given === undefined ? {} : { authorization: given },
  });
}

test('every operation has a row in the authority matrix, and every row an operation', () => {
  assert.deepEqual(
    operations.map(({ operationId }) => operationId).toSorted(),
    Object.keys(matrix).toSorted(),
  );
});

describe('cells of the authority matrix', () => {
  for (const operation of operations) {
    test(operation.operationId, async () => {
      const found: string[] = [];
      for (const bearer of bearers) found.push(`${(await ask(operation, bearer)).status} ${bearer}`);
      const row = (matrix[operation.operationId] ?? '').split(/\s+/);
      assert.deepEqual(
        found,
        bearers.map((bearer, place) => `${row[place]} ${bearer}`),
      );
    });
  }
});

test('returns an empty list to a caller who may see nothing of it', async () => {
  const listTransfers = operations.find(({ operationId }) => operationId === 'listTransfers');
  assert.ok(listTransfers);
  for (const bearer of [
    'client of another institution',
    'member of another institution',
    'another member',
  ] as const) {
    assert.deepEqual((await ask(listTransfers, bearer)).body, [], bearer);
  }
  for (const bearer of ['client', 'member'] as const) {
    assert.ok((await ask(listTransfers, bearer)).body.length > 0, bearer);
  }
});

test('another institution’s events contain nothing of this one’s', async () => {
  const readEvents = operations.find(({ operationId }) => operationId === 'readEvents');
  assert.ok(readEvents);
  const ours = await ask(readEvents, 'client');
  const theirs = await ask(readEvents, 'client of another institution');
  assert.match(ours.text, /matrix-transfer/, ours.text);
  assert.doesNotMatch(theirs.text, /matrix-transfer/);
});
