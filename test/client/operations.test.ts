import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import { operations } from '../../client/src/tables.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * The client against the service. Each call of an operation is recorded by its method and path, so that an operation without a
 * method of the client, and a method that no test calls, fail the last test.
 */

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const called = new Set<string>();
let service: TestService;
let member: Sharedraft;
let institution: Sharedraft;

before(async () => {
  service = await startTestService();
  const options = { baseUrl: service.address, fetch: recordingFetch };
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({ ...options, auth: password(app, demo) });
  institution = new Sharedraft({ ...options, auth: clientCredentials(app) });
});
after(() => service.close());

const recordingFetch: typeof fetch = (input, init) => {
  const { pathname } = new URL(String(input));
  const found = Object.entries(operations).find(([, [method, template]]) => {
    const pattern = template.split('/').map((part) => (part.startsWith('{') ? '[^/]+' : part));
    // A path without a parameter wins over one with it.
    const isExact =
      Object.values(operations).some(([, path]) => path === pathname) === !template.includes('{');
    return method === init?.method && isExact && new RegExp(`^${pattern.join('/')}$`).test(pathname);
  });
  called.add(found?.[0] ?? pathname);
  return fetch(input, init);
};

test('reads accounts, balances and every page of the transactions', async () => {
  const accounts = await member.accounts.list();
  assert.ok(accounts.length > 1);
  const account = await member.accounts.get('a-1001-checking');
  assert.equal(account.balance.currentBalance.amount, '48250.75');
  const { asOf } = await member.accounts.balances('a-1001-checking', {
    asOf: new Date().toISOString(),
  });
  assert.ok(asOf.length > 0);
  assert.deepEqual(
    (await institution.members.accounts('c-1001')).map(({ accountId }) => accountId).sort(),
    accounts.map(({ accountId }) => accountId).sort(),
  );
});

test('moves 1,234.56 exactly, and lists the transfer on pages of one', async () => {
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: '1234.56' };
  const decision = await member.transfers.dryRun(order);
  assert.equal(decision.transfer.status, 'COMPLETED');
  const { options } = await member.transfers.options({ fromAccountId: 'a-1001-checking' });
  assert.ok(options.some(({ toAccountId }) => toAccountId === 'a-1001-savings'));
  const first = await member.transfers.create({ ...order, id: 'first' });
  assert.deepEqual(await member.transfers.create({ ...order, id: 'first' }), first);
  assert.equal(first.amount, '1234.56');
  await member.transfers.create({ ...order, amount: '0.01' });
  assert.deepEqual(await member.transfers.get('first'), first);
  const listed: string[] = [];
  for await (const { amount } of member.transfers.list({ limit: 1 })) listed.push(amount);
  assert.deepEqual(listed.sort(), ['0.01', '1234.56']);
  const amounts: string[] = [];
  for await (const { amount } of member.accounts.transactions('a-1001-savings', { limit: 1 })) {
    amounts.push(amount.amount);
  }
  assert.deepEqual(amounts, ['0.01', '1234.56', '12600.00']);
});

test('cancels a transfer that is held for review', async () => {
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1002-checking', amount: '1000.01' };
  const { id, status } = await member.transfers.create(order);
  assert.equal(status, 'PENDING');
  assert.equal((await member.transfers.cancel(id)).status, 'FAILED');
});

test('registers and activates a member by the events of the feed', async () => {
  const memberNumber = '900001';
  const profile = await institution.members.register({ memberNumber, email: 'newcomer@example.test' });
  const events = [];
  for await (const batch of institution.events.follow({ limit: 50 })) {
    events.push(...batch.events);
    if (events.some(({ userId }) => userId === profile.userId)) break;
  }
  const { eventId } = events.find(({ eventType, userId }) => {
    return eventType === 'member.registered' && userId === profile.userId;
  }) ?? { eventId: '' };
  const { activationCode } = await institution.events.activationCode(eventId);
  const credentials = { username: 'newcomer.one', password: 'nine lanterns beside a lake' };
  await institution.members.activate({ activationCode, ...credentials });
  await institution.events.acknowledgeActivationCode(eventId);

  const options = { baseUrl: service.address, fetch: recordingFetch };
  const newcomer = new Sharedraft({ ...options, auth: password(app, credentials) });
  const { customerId } = profile.customers[0] ?? { customerId: '' };
  await newcomer.members.updateContact(customerId, { phoneNumber: '+12025550199', phoneType: 'MOBILE' });
  await newcomer.members.updateContact(customerId, { emailAddress: 'newcomer.moved@example.test' });
  const newest = Math.max(...events.map(({ sequence }) => sequence));
  // An event of a commit appears once no earlier transaction runs.
  let request: { readonly eventId: string } | undefined;
  while (request === undefined) {
    const { events: later } = await institution.events.read({ from: newest + 1, limit: 200 });
    request = later.findLast(({ eventType, userId }) => {
      return eventType === 'member.email_confirmation_requested' && userId === profile.userId;
    });
  }
  const { emailCode } = await institution.events.emailCode(request.eventId);
  await newcomer.members.confirmEmail({ emailCode });
  await institution.events.acknowledgeEmailCode(request.eventId);
  const changed = { currentPassword: credentials.password, newPassword: 'ten lanterns beside a river' };
  await newcomer.members.changePassword(changed);
  const { emailAddress } = await institution.members.profile(customerId);
  assert.equal(emailAddress, 'newcomer.moved@example.test');
});

test('replaces alert preferences, and reads and marks the alert of a transfer', async () => {
  const rule = { alertType: 'PAYMENT', accountId: 'a-1001-checking', channels: ['INBOX'] } as const;
  await member.alerts.replacePreferences({ alerts: [{ ...rule, threshold: '7.00', channels: ['INBOX'] }] });
  assert.equal((await member.alerts.preferences()).alerts[0]?.threshold, '7.00');
  await member.transfers.create({
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: '7.01',
  });
  let [alert] = (await member.alerts.list({ limit: 1 })).items;
  for (let tries = 0; alert === undefined && tries < 200; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    [alert] = (await member.alerts.list({ limit: 1 })).items;
  }
  assert.ok(alert !== undefined);
  assert.equal(alert.amount, '7.01');
  assert.equal((await member.alerts.mark(alert.alertId, { read: true })).read, true);
  await member.alerts.replacePreferences({ alerts: [] });
  assert.deepEqual(
    await institution.alerts.reportBounce({ emailAddress: 'gone@example.test', kind: 'BOUNCE' }),
    {
      suppressed: true,
    },
  );
});

test('creates, changes, rotates, pings, replays and deletes a webhook', async () => {
  const created = await institution.webhooks.create({ url: 'http://127.0.0.1:1/hook', payload: 'FULL' });
  const { endpointId } = created;
  assert.match(created.keys?.secret ?? '', /^whsec_/);
  assert.equal((await institution.webhooks.update(endpointId, { status: 'PAUSED' })).status, 'PAUSED');
  assert.match((await institution.webhooks.rotate(endpointId)).publicKey, /^whpk_/);
  assert.equal((await institution.webhooks.ping(endpointId)).error, 'connection');
  assert.equal((await institution.webhooks.replay(endpointId, { from: 1 })).events, created.sequence);
  assert.equal((await institution.webhooks.attempts(endpointId)).items.length, 1);
  assert.deepEqual((await institution.webhooks.deliveries(endpointId)).items, []);
  assert.equal((await institution.webhooks.get(endpointId)).sequence, 0);
  assert.equal((await institution.webhooks.list()).length, 1);
  await institution.webhooks.delete(endpointId);
});

test('issues, introspects and revokes tokens, and reads the public documents', async () => {
  const { access_token: token } = await institution.tokens.issue({
    grant_type: 'client_credentials',
    client_id: app.clientId,
    client_secret: app.clientSecret,
  });
  const reference = { token, client_id: app.clientId, client_secret: app.clientSecret };
  assert.equal((await institution.tokens.introspect(reference)).active, true);
  await institution.tokens.revoke(reference);
  assert.equal((await institution.tokens.introspect(reference)).active, false);
  const pushed = institution.tokens.push({
    response_type: 'code',
    redirect_uri: 'https://app.example/',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    client_id: app.clientId,
    client_secret: app.clientSecret,
  });
  await assert.rejects(pushed, { code: 'invalid_request' });
  await assert.rejects(member.tokens.userInfo(), { code: 'insufficient_scope' });
  assert.deepEqual(await member.tokens.consents(), []);
  const consentId = '7a0e2d6c-4b1f-4f0e-9c55-0a6d3f5b8e21';
  const change = { removeAccountIds: ['a-1001-savings'] };
  await assert.rejects(member.tokens.narrowConsent(consentId, change), { code: 'not_found' });
  await assert.rejects(member.tokens.withdrawConsent(consentId), { code: 'not_found' });
  assert.ok((await institution.tokens.keys()).keys.length > 0);
  assert.ok((await institution.tokens.metadata()).issuer.length > 0);
  assert.equal((await institution.service.live()).status, 'live');
  assert.equal((await institution.service.ready()).status, 'ready');
  assert.match((await institution.service.version()).version, /^\d/);
});

test('refuses the operations of aggregators without a consent, by the code of the service', async () => {
  const refusal = { status: 403, code: 'consent_required' };
  const { aggregators } = member;
  await assert.rejects(aggregators.customer(), refusal);
  await assert.rejects(aggregators.accounts({ resultType: 'details' }), refusal);
  await assert.rejects(aggregators.account('a-1001-checking'), refusal);
  await assert.rejects(aggregators.transactions('a-1001-checking').pages().next(), refusal);
});

test('speaks for a core: its instructions, their outcomes and the connection', async () => {
  await service.db.superuser(
    "update clients set scopes = scopes || '{core:read,core:write}' where client_id = 'demo-app'",
  );
  const core = new Sharedraft({
    baseUrl: service.address,
    fetch: recordingFetch,
    auth: clientCredentials(app),
  }).core;
  assert.equal((await core.heartbeat()).noted, true);
  assert.equal((await core.connection()).state, 'connected');
  assert.deepEqual(await core.instructions({ limit: 10 }), []);
  assert.deepEqual(await core.breaks({ state: 'ALL' }), []);
  await assert.rejects(core.break('1'), { code: 'not_found' });
  await assert.rejects(core.updateBreak('1', { note: 'Seen.' }), { code: 'not_found' });
  await assert.rejects(core.reportOutcome('none', { outcome: 'ACCEPTED' }), { code: 'not_found' });
});

/** A second path of the same document, and streams of lines, which only a connector of a core sends. */
const withoutMethod = new Set([
  'openidConfiguration',
  'deliverTransactions',
  'deliverRecords',
  'compareBalances',
]);

test('has a method for each operation of the service, and its tests call all of them', () => {
  const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const documented = Object.values(paths as object).flatMap((path) =>
    Object.values(path as object).map(({ operationId }: { operationId: string }) => operationId),
  );
  assert.deepEqual([...called].sort(), documented.filter((name) => !withoutMethod.has(name)).sort());
});
