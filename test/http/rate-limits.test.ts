import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, clientOf, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({
    clock: () => now,
    environment: {
      TOKENS_PER_MINUTE: '3',
      REGISTRATIONS_PER_MINUTE: '2',
      DRY_RUNS_PER_MINUTE: '2',
      TRANSFER_OPTIONS_PER_MINUTE: '2',
      LOOK_UPS_PER_MINUTE: '2',
      CONTACT_CHANGES_PER_MINUTE: '2',
      ID_CONFLICTS_PER_MINUTE: '2',
    },
  });
});
after(() => service.close());

function token(client_id: string, more: object = {}): Promise<Answer> {
  const body = { grant_type: 'client_credentials', client_id, client_secret: `${client_id}-secret`, ...more };
  return send(service.address, 'POST', paths.token, { body });
}

function assertRefused(answer: Answer, policy: string, seconds: number): void {
  assert.equal(answer.status, 429, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.equal(answer.body.code, 'too_many_requests');
  assert.equal(answer.headers.get('retry-after'), String(seconds));
  assert.equal(answer.headers.get('ratelimit-policy'), policy);
  assert.match(answer.headers.get('ratelimit') ?? '', new RegExp(`;r=0;t=${seconds}$`));
}

test('limits a client’s token requests a minute, refused ones included, and returns the rest', async () => {
  const policy = '"token";q=3;w=60';
  const first = await token('demo-app');
  assert.equal(first.status, 200);
  assert.equal(first.headers.get('ratelimit-policy'), policy);
  assert.equal(first.headers.get('ratelimit'), '"token";r=2;t=60');
  now = new Date(now.getTime() + 10_000);
  const refused = await token('demo-app', { scope: 'no:such' });
  assert.equal(refused.status, 400);
  assert.equal(refused.headers.get('ratelimit'), '"token";r=1;t=50');
  assert.equal((await token('demo-app')).status, 200);
  assertRefused(await token('demo-app'), policy, 50);

  // Neither other clients nor a caller who only names this client uses its share.
  assert.equal((await token('demo-reader')).status, 200);
  const impostor = await token('demo-reader', { client_secret: 'wrong' });
  assert.equal(impostor.status, 401);
  assert.equal(impostor.headers.get('ratelimit'), null);
  assert.equal((await token('demo-reader')).headers.get('ratelimit'), '"token";r=1;t=60');

  now = new Date(now.getTime() + 50_000);
  assert.equal((await token('demo-app')).status, 200);
});

test('limits a client’s registrations a minute, activations included', async () => {
  now = new Date(now.getTime() + 60_000);
  const app = await clientOf(service);
  const registered = await app.post(paths.register, { memberNumber: '100016', email: 'poppy@example.test' });
  assert.equal(registered.headers.get('ratelimit'), '"registration";r=1;t=60');
  const activation = {
    activationCode: 'wrong',
    username: 'somebody.new',
    password: 'seven lanterns by the lake',
  };
  assert.equal((await app.post(paths.activate, activation)).status, 422);
  assertRefused(await app.post(paths.activate, activation), '"registration";q=2;w=60', 60);
  assert.equal((await app.get(paths.accounts)).headers.get('ratelimit'), null);
});

/** The audit entries of one action, as reason, user and count. */
async function audited(action: string): Promise<string[]> {
  await service.service.context.auth.audit.settle();
  const rows = await service.db.superuser<{ line: string }>(
    `select concat_ws(' ', reason, user_id, sum(times)) as line from audit_entries
     where action = '${action}' and user_id is not null group by reason, user_id order by 1`,
  );
  return rows.map(({ line }) => line);
}

const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };

test('limits a user’s dry runs, options and look-ups a minute, in every spelling', async () => {
  now = new Date(now.getTime() + 60_000);
  const demo = await memberOf(service, 'demo.member', 'demo-member-password');
  const dryRun = `${paths.transfers}/dry-run`;
  const first = await demo.post(dryRun, order);
  assert.equal(first.status, 200);
  assert.equal(first.headers.get('ratelimit'), '"dry-run";r=1;t=60');
  assert.equal((await demo.post(`${paths.transfers}?dryRun=true`, order)).status, 200);
  assertRefused(await demo.post(dryRun, order), '"dry-run";q=2;w=60', 60);
  assertRefused(await demo.post(`${paths.transfers}?dryRun=true`, order), '"dry-run";q=2;w=60', 60);

  for (const [path, name] of [
    [`${paths.transfers}/options?fromAccountId=a-1001-checking`, 'options'],
    [`${paths.customer('nobody@example.test')}/contact-methods?userIdType=EMAIL`, 'look-up'],
  ] as const) {
    await demo.get(path);
    assert.equal((await demo.get(path)).headers.get('ratelimit'), `"${name}";r=0;t=60`);
    assertRefused(await demo.get(path), `"${name}";q=2;w=60`, 60);
  }
  // Another user and a client token have shares of their own.
  const other = await memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1');
  assert.equal((await other.post(dryRun, order)).headers.get('ratelimit'), '"dry-run";r=1;t=60');
  now = new Date(now.getTime() + 60_000);
  const bank = await clientOf(service);
  assert.equal((await bank.post(dryRun, order)).headers.get('ratelimit'), '"dry-run";r=599999;t=60');
  assert.deepEqual(await audited('rate_limit'), [
    'dry-run u-demo-member 2',
    'look-up u-demo-member 1',
    'options u-demo-member 1',
  ]);
});

test('limits the e-mail codes that a member has the institution send a minute', async () => {
  now = new Date(now.getTime() + 60_000);
  const demo = await memberOf(service, 'demo.member', 'demo-member-password');
  const path = `${paths.customer('c-1001')}/contact-info`;
  const somebody = { emailAddress: 'somebody@elsewhere.example' };
  for (const left of [1, 0]) {
    const changed = await demo.patch(path, somebody);
    assert.equal(changed.status, 200, changed.text);
    assert.equal(changed.headers.get('ratelimit'), `"contact-change";r=${left};t=60`);
  }
  assertRefused(await demo.patch(path, somebody), '"contact-change";q=2;w=60', 60);
  const kind = 'member.email_confirmation_requested';
  assert.equal((await service.db.superuser(`select from outbox where kind = '${kind}'`)).length, 2);
});

test('refuses a member who names ids of others for the rest of the minute, before any decision', async () => {
  now = new Date(now.getTime() + 60_000);
  const bank = await clientOf(service);
  const demo = await memberOf(service, 'demo.member', 'demo-member-password');
  const theirs = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-savings', amount: 1 };
  for (const id of ['payday-1', 'payday-2']) {
    assert.equal((await bank.post(paths.transfers, { id, ...theirs })).status, 201);
    const refused = await demo.post(paths.transfers, { id, ...order });
    assert.equal(refused.status, 409);
    assert.equal(refused.body.errors, undefined);
  }
  const limited = await demo.post(paths.transfers, { id: 'free', ...order });
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get('retry-after'), '60');
  // A client token sees every transfer of its institution: a conflict reveals nothing, and is counted all the same.
  assert.equal((await bank.post(paths.transfers, { id: 'payday-1', ...order })).status, 409);
  assert.equal(
    (await bank.post(paths.transfers, { id: 'free', ...theirs })).status,
    201,
    '429 uses up no id',
  );
  assert.deepEqual(await audited('transfer.id_conflict'), ['transfer_id_reused u-demo-member 2']);
  now = new Date(now.getTime() + 60_000);
  assert.equal((await demo.post(paths.transfers, { id: 'free-2', ...order })).status, 201);
});

test('counts a member’s declined order as a dry run, and a repeated one not', async () => {
  now = new Date(now.getTime() + 60_000);
  const demo = await memberOf(service, 'demo.member', 'demo-member-password');
  const unknown = { ...order, toAccountId: 'a-9999-checking' };
  for (const id of ['declined-1', 'declined-1', 'declined-2']) {
    assert.equal((await demo.post(paths.transfers, { id, ...unknown })).status, 422);
  }
  assertRefused(await demo.post(`${paths.transfers}/dry-run`, unknown), '"dry-run";q=2;w=60', 60);
  const limited = await demo.post(paths.transfers, { id: 'declined-3', ...unknown });
  assert.equal(limited.status, 429);
  assert.equal(limited.headers.get('retry-after'), '60');
  now = new Date(now.getTime() + 60_000);
  const many = Array.from({ length: 20 }, (_, n) =>
    demo.post(paths.transfers, { id: `at-once-${n}`, ...unknown }),
  );
  const statuses = (await Promise.all(many)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [422, 422, ...Array.from({ length: 18 }, () => 429)]);
  now = new Date(now.getTime() + 60_000);
  assert.equal((await demo.post(paths.transfers, { id: 'declined-3', ...order })).status, 201);
});

test('lets a member’s simultaneous orders meet no more ids of others than their share', async () => {
  now = new Date(now.getTime() + 60_000);
  const demo = await memberOf(service, 'demo.member', 'demo-member-password');
  const named = Array.from({ length: 20 }, () => demo.post(paths.transfers, { id: 'payday-1', ...order }));
  const statuses = (await Promise.all(named)).map(({ status }) => status).sort();
  assert.deepEqual(statuses, [409, 409, ...Array.from({ length: 18 }, () => 429)]);
});

test('does not reveal whether an id is used to a caller whose order leaves nothing', async () => {
  const demo = await memberOf(service, 'demo.member', 'demo-member-password');
  for (const id of ['payday-1', 'nobodys-id']) {
    now = new Date(now.getTime() + 60_000);
    const unseen = await demo.post(paths.transfers, { id, ...order, fromAccountId: 'a-1002-checking' });
    assert.deepEqual([unseen.status, unseen.body.code], [422, 'account_not_found'], id);
    const malformed = await demo.post(paths.transfers, { id, ...order, amount: 1.001 });
    assert.deepEqual([malformed.status, malformed.body.code], [400, 'invalid_request'], id);
  }
});
