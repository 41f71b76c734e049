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

/** Puts breaks down as a comparison does, and returns their ids. */
async function openBreaks(breaks: readonly string[]): Promise<string[]> {
  const rows = await service.db.superuser<{ id: string }>(
    `insert into core_breaks (institution_id, class, subject, account_id, core_id, transfer_key, currency, difference, owner, opened_at,
                              closed_at, closed_by)
     values ${breaks.map((values) => `(${institutionId}, ${values})`).join(', ')} returning break_key::text as id`,
  );
  return rows.map(({ id }) => id);
}

test('a break is found by its id, its amount in either direction, its owner, and the account, posting or transfer that differs', async () => {
  const transferKey = `(select transfer_key from transfers
                        where institution_id = ${institutionId} and transfer_id = 'found-by-its-event')`;
  const [ofAccount, ofPosting, ofTransfer, closed] = await openBreaks([
    `'AMOUNT', 'account:a-77', 'a-77', null, null, 'USD', -7123, 'Ines Varga', now(), null, null`,
    `'MISSING_HERE', 'posting:core-88', 'a-78', 'core-88', null, 'USD', 9, null, now(), null, null`,
    `'AMOUNT_MISMATCH', 'echo:found-by-its-event:a-79', 'a-79', null, ${transferKey}, 'USD', 8, null, now(), null, null`,
    `'AMOUNT', 'account:a-77', 'a-77', null, null, 'USD', 7123, 'Ines Varga', now() - interval '1 day', now(), 'AGREED'`,
  ]);
  const idsOf = async (text: string, operator = viewer) =>
    ((await find(text, operator)).breaks as { id: string }[]).map(({ id }) => id);
  assert.deepEqual(await idsOf('71.23'), [ofAccount]);
  assert.deepEqual(await idsOf('varga'), [ofAccount]);
  assert.deepEqual(await idsOf('core-88'), [ofPosting]);
  assert.deepEqual(await idsOf('a-78'), [ofPosting]);
  assert.deepEqual(await idsOf('found-by-its-event'), [ofTransfer]);
  assert.deepEqual(await idsOf('found-by-its'), []);
  assert.deepEqual(await idsOf('a-77'), [ofAccount, closed], 'a closed one behind the open one');
  assert.equal((await idsOf(closed as string))[0], closed);
  const [one] = (await find('71.23')).breaks;
  assert.deepEqual([one.class, one.accountId, one.difference], ['AMOUNT', 'a-77', '-71.23']);
  for (const text of ['71.23', 'a-77', closed as string])
    assert.deepEqual(await idsOf(text, elsewhere), [], text);
});

test('a search lists ten breaks of an amount, and says that there are more', async () => {
  await openBreaks(
    Array.from(
      { length: 11 },
      (_, n) =>
        `'AMOUNT', 'account:many-${n}', 'many-${n}', null, null, 'USD', 4242, null, now(), null, null`,
    ),
  );
  const { breaks, hasMore } = await find('42.42');
  assert.deepEqual([breaks.length, hasMore.breaks], [10, true]);
});

test('an operator is found by a part of the name, in the own institution alone', async () => {
  await operatorOf(service, 'Second demo approver');
  const { operators } = await find('second DEMO');
  assert.equal(operators.length, 1);
  assert.deepEqual(
    [operators[0].name, operators[0].roles, operators[0].status],
    ['Second demo approver', ['approver'], 'ACTIVE'],
  );
  const { operatorId } = operators[0];
  assert.deepEqual((await find(operatorId)).operators, operators);
  assert.deepEqual((await find(operatorId, elsewhere)).operators, []);
});

test('an administrator finds operators, clients and breaks, and nothing about members', async () => {
  const administrator = await operatorOf(service, 'Demo administrator');
  assert.equal((await find('a-77', administrator)).breaks.length, 2);
  assert.equal((await find('budget', administrator)).clients.length, 1);
  assert.equal((await find('Demo administrator', administrator)).operators.length, 1);
  for (const text of ['100001', 'demo.member', 'a-1001-checking', 'found-by-its-event', '1.25']) {
    const { members, accounts, transfers, events, hasMore } = await find(text, administrator);
    assert.deepEqual([members, accounts, transfers, events].flat(), [], text);
    assert.deepEqual([hasMore.members, hasMore.transfers], [false, false]);
  }
  const [read] = await service.db.superuser<{ searches: number }>(
    `select count(*)::integer as searches from audit_entries
     where action = 'person.searched' and operator = 'Demo administrator'`,
  );
  assert.equal(read?.searches, 0);
});
