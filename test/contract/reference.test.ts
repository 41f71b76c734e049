import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from '../support/client.ts';
import { openApiDocument } from '../support/contract.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The reference page's default request for each operation: its first example. */

// biome-ignore lint/suspicious/noExplicitAny: a document whose shape is tested elsewhere
const { paths } = openApiDocument as any;

let service: TestService;
before(async () => {
  service = await startTestService();
});
after(() => service[Symbol.asyncDispose]());

/**
 * Values that no example can have: a member's own password, a code that only the institution receives, a pending
 * transfer, an event, an alert, an endpoint of webhooks.
 */
const refused = new Map([
  ['activateMember', 422],
  ['changePassword', 422],
  ['cancelTransfer', 409],
  ['getActivationCode', 404],
  ['acknowledgeActivationCode', 404],
  ['confirmEmail', 422],
  ['getEmailCode', 404],
  ['acknowledgeEmailCode', 404],
  ['reportOutcome', 404],
  ['getBreak', 404],
  ['updateBreak', 404],
  ['markAlert', 404],
  // The token of the example lacks the scope openid.
  ['getUserInfo', 403],
  ['narrowConsent', 404],
  // It does not stand on a consent.
  ['getFdxCustomer', 403],
  ['listFdxAccounts', 403],
  ['getFdxAccount', 403],
  ['listFdxTransactions', 403],
  ['withdrawConsent', 404],
  ['getWebhook', 404],
  ['updateWebhook', 404],
  ['deleteWebhook', 404],
  ['rotateWebhookSecret', 404],
  ['pingWebhook', 404],
  ['replayWebhook', 404],
  ['listWebhookAttempts', 404],
  ['listWebhookDeliveries', 404],
]);

test('each call of the reference can be sent unchanged to the demo institution', async () => {
  const client = new Client(service.address);
  const { examples } = paths['/auth/v2/token'].post.requestBody.content['application/json'];
  const tokenOf = async (grant: string) =>
    (await client.post('/auth/v2/token', { json: { ...examples[grant].value, scope: '' } })).body
      .access_token;
  const ofMember = await tokenOf('password');
  await service.db.superuser(
    "update clients set scopes = scopes || '{core:read,core:write}' where client_id = 'demo-app'",
  );
  const ofClient = await tokenOf('client_credentials');

  let sent = 0;
  for (const [path, operations] of Object.entries<object>(paths)) {
    // An order comes before requests that read it.
    for (const [method, operation] of Object.entries(operations).sort(([a], [b]) => (a > b ? -1 : 1))) {
      const values = new URLSearchParams();
      let filled = path;
      for (const { name, in: place, required, example } of operation.parameters) {
        if (required !== true) continue;
        assert.ok(example, `${operation.operationId} ${name}`);
        filled = filled.replace(`{${name}}`, example);
        if (place === 'query') values.set(name, example);
      }
      const [body] = Object.values<{ value: object }>(
        operation.requestBody?.content['application/json'].examples ?? {},
      );
      const send = (token: string) =>
        client.request(method.toUpperCase(), `${filled}?${values}`, {
          ...(operation.security.length > 0 && { token }),
          ...(body && { json: body.value }),
        });
      const first = await send(ofMember);
      const answer = first.body?.code === 'client_token_required' ? await send(ofClient) : first;
      const expected = refused.get(operation.operationId);
      if (expected === undefined) assert.ok(answer.status < 300, `${operation.operationId}: ${answer.text}`);
      else assert.equal(answer.status, expected, operation.operationId);
      sent += 1;
    }
  }
  assert.ok(sent > 20);
});
