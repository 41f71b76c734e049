import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { createWebhook } from '../../src/webhooks/index.ts';
import { memberOf, paths } from '../support/demo.ts';
import { eventually } from '../support/desk.ts';
import { institutionOf } from '../support/identity.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let institutionId: InstitutionId;
let viewer: TestOperator;
let elsewhere: TestOperator;
before(async () => {
  service = await startTestService({ environment: demoAddress });
  ({ institutionId } = await institutionOf(service, 'lakeside'));
  viewer = await operatorOf(service, 'Demo viewer');
  elsewhere = await operatorOf(service, 'Demo viewer', 'harbor');
});
after(() => service.close());

const find = async (text: string, operator = viewer) => {
  const { status, body } = await operator.get(`/search?text=${encodeURIComponent(text)}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

test('a client is found by a part of its id or name, in the own institution alone', async () => {
  const expected = [{ clientId: 'demo-budget', name: 'Demo Budget', active: true }];
  for (const text of ['demo-budget', 'BUDGET', 'o Budg'])
    assert.deepEqual((await find(text)).clients, expected);
  assert.deepEqual((await find('budget', elsewhere)).clients, []);
});

test('a webhook is found by its id, its description or a part of its address', async () => {
  const { endpoint } = await createWebhook(
    service.service.context.webhooks,
    { institutionId, clientId: 'demo-app', origin: ownOrigin() },
    {
      ...{ url: 'https://hooks.quill.example/in', description: 'Ledger of Quill', eventTypes: null },
      ...{ payload: 'THIN', ordering: 'ACCOUNT' },
    },
  );
  const { endpointId } = endpoint;
  const [one, ...more] = (await find('quill.EXAMPLE')).webhooks;
  assert.deepEqual([one.endpointId, one.clientId, one.status, more], [endpointId, 'demo-app', 'ACTIVE', []]);
  for (const text of [endpointId, 'ledger of']) assert.deepEqual((await find(text)).webhooks, [one]);
  assert.deepEqual((await find(endpointId, elsewhere)).webhooks, []);
});

interface Shown {
  readonly eventId: string;
  readonly sequence: number;
  readonly timestamp: string;
  readonly transfer?: { readonly id: string };
}

test('an event is found by its id, with its transfer', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1.25 };
  assert.equal((await member.post(paths.transfers, { id: 'found-by-its-event', ...order })).status, 201);
  const lastEvents = async () => (await viewer.get('/events')).body as Shown[];
  const isWanted = ({ transfer }: Shown) => transfer?.id === 'found-by-its-event';
  const event = (await eventually(lastEvents, (shown) => shown.some(isWanted))).find(isWanted);
  assert.ok(event !== undefined);
  const { events } = await find(event.eventId);
  assert.deepEqual(events, [
    {
      ...{ eventId: event.eventId, sequence: event.sequence, eventType: 'transfer.completed' },
      ...{ at: event.timestamp, transferId: 'found-by-its-event' },
    },
  ]);
  assert.deepEqual((await find(event.eventId, elsewhere)).events, []);
});

test('signs of patterns stand for themselves', async () => {
  for (const text of ['%', '_', '.*', '\\', '0-0-0', '18446744073709551616-1-1']) {
    const { clients, webhooks, events, accounts } = await find(text);
    const others = text === '.*' || text === '_' ? [] : [webhooks];
    assert.deepEqual([clients, events, accounts, ...others].flat(), [], text);
  }
});
