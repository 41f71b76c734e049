import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, clientOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let now = new Date('2026-03-02T12:00:00Z');
before(async () => {
  service = await startTestService({
    clock: () => now,
    environment: { TOKENS_PER_MINUTE: '3', REGISTRATIONS_PER_MINUTE: '2' },
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

test('a client has so many token requests a minute, refused ones among them, and is told what is left', async () => {
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

  // Neither other clients nor who only names this one spend its share.
  assert.equal((await token('demo-reader')).status, 200);
  const impostor = await token('demo-reader', { client_secret: 'wrong' });
  assert.equal(impostor.status, 401);
  assert.equal(impostor.headers.get('ratelimit'), null);
  assert.equal((await token('demo-reader')).headers.get('ratelimit'), '"token";r=1;t=60');

  now = new Date(now.getTime() + 50_000);
  assert.equal((await token('demo-app')).status, 200);
});

test('a client has so many registrations a minute, activations among them', async () => {
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
