import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import { createWebhook } from '../../src/webhooks/index.ts';
import { clientOf, paths } from '../support/demo.ts';
import { institutionOf } from '../support/identity.ts';
import { demoAddress, operatorOf, sendTo, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Acts that arrive several times at the same moment: a second click, two operators on one screen, a repeated request. */

const times = 8;
const reason = { reason: 'a test' };
const account = '/accounts/a-1002-checking';

interface Act {
  readonly name: string;
  readonly method?: 'PATCH';
  readonly path: string;
  readonly body?: (n: number) => object;
  /** The operators, in turns. */
  readonly by: readonly string[];
  /** The number of each status. */
  readonly leaves: Readonly<Record<number, number>>;
}

const teller = ['Demo teller'];
const administrator = ['Demo administrator'];
const approver = ['Demo approver'];
const approvers = ['Demo approver', 'Second demo approver'];
const once = { 200: 1, 409: times - 1 };
const all = { 200: times };

const acts: readonly Act[] = [
  { name: 'approvals of one transfer', path: '/transfers/at-once-1/approve', by: approvers, leaves: once },
  { name: 'declines of one transfer', path: '/transfers/at-once-2/decline', by: approvers, leaves: once },
  { name: 'proposals of a reversal', path: '/transfers/at-once-1/reverse', by: approver, leaves: all },
  {
    name: 'confirmations of a reversal',
    path: '/transfers/at-once-1/reverse',
    by: ['Second demo approver'],
    leaves: once,
  },
  {
    name: 'locks and unlocks of a member',
    path: '/users/USER/LOCK',
    by: teller,
    leaves: all,
  },
  { name: 'ends of all sessions of a member', path: '/users/USER/end-sessions', by: teller, leaves: all },
  {
    name: 'restrictions of an account',
    path: `${account}/restrict`,
    body: (n) => ({ ...reason, restriction: ['EXCLUDE_ALL', 'NONE', 'EXCLUDE_AS_TO'][n % 3] }),
    by: teller,
    leaves: all,
  },
  {
    name: 'ends of an account with money',
    path: `${account}/close`,
    by: administrator,
    leaves: { 409: times },
  },
  {
    name: 'changes of a setting',
    method: 'PATCH',
    path: '/institution',
    body: (n) => ({ ...reason, passwordMinLength: 10 + n }),
    by: administrator,
    leaves: all,
  },
  {
    name: 'proposals about one day of the calendar',
    path: '/calendar',
    body: (n) => ({ ...reason, day: '2027-03-02', open: n % 2 === 0 }),
    by: administrator,
    leaves: all,
  },
  {
    name: 'second secrets of a client',
    path: '/clients/harbor-app/rotate-secret',
    by: administrator,
    leaves: once,
  },
  {
    name: 'retirements of the older secret',
    path: '/clients/harbor-app/retire-secret',
    body: () => ({ ...reason, which: 'older' }),
    by: administrator,
    leaves: all,
  },
  {
    name: 'suspensions of an operator',
    method: 'PATCH',
    path: '/operators/VIEWER',
    body: (n) => ({ ...reason, status: n % 2 === 0 ? 'ACTIVE' : 'SUSPENDED' }),
    by: administrator,
    leaves: all,
  },
  {
    name: 'replays to an endpoint',
    path: '/webhooks/WEBHOOK/replay',
    body: () => ({ ...reason, from: 1 }),
    by: administrator,
    leaves: all,
  },
];

let service: TestService;
const operators = new Map<string, TestOperator>();
const ids: Record<string, string> = {};

before(async () => {
  service = await startTestService({ environment: demoAddress });
  for (const name of [...teller, ...approvers, ...administrator, 'Demo viewer'])
    operators.set(name, await operatorOf(service, name, 'harbor'));
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  for (const id of ['at-once-1', 'at-once-2']) {
    const order = { id, fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount: 510 };
    assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
  }
  ids.VIEWER = (await operators.get('Demo viewer')?.get('/session'))?.body.operatorId;
  ids.USER = (await operators.get('Demo teller')?.get('/members?text=demo.member'))?.body[0].userId;
  const { institutionId } = await institutionOf(service, 'harbor');
  const { endpoint } = await createWebhook(
    service.service.context.webhooks,
    { institutionId, clientId: 'harbor-app', origin: ownOrigin() },
    {
      ...{ url: 'https://hooks.example.com/harbor', description: null, eventTypes: null },
      ...{ payload: 'THIN', ordering: 'ACCOUNT' },
    },
  );
  ids.WEBHOOK = endpoint.endpointId;
});
after(() => service.close());

/** The number of each status of as many requests as `times`, sent together. */
async function statusesOf(send: (n: number) => Promise<{ readonly status: number }>) {
  const answers = await Promise.all(Array.from({ length: times }, (_, n) => send(n)));
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

describe('acts at the same moment', () => {
  for (const { name, method = 'POST', path, body = () => reason, by, leaves } of acts) {
    test(`returns a status to each of the ${name}, as one after the other would get`, async () => {
      const counts = await statusesOf(async (n) => {
        const found = path
          .replace(/VIEWER|USER|WEBHOOK/, (id) => ids[id] ?? '')
          .replace('LOCK', n % 2 === 0 ? 'lock' : 'unlock');
        const answer = await operators.get(by[n % by.length] ?? '')?.send(method, found, body(n));
        return { status: answer?.status ?? 0 };
      });
      assert.deepEqual(counts, leaves);
    });
  }

  test('first sign-ins of a demo operator make one operator', async () => {
    const body = { institution: 'lakeside', name: 'Demo auditor' };
    assert.deepEqual(await statusesOf(() => sendTo(service.address, 'POST', '/demo-session', {}, body)), all);
    const rows = await service.db.superuser<{ count: bigint }>(
      `select count(*) from operators o join institutions i using (institution_id)
       where i.code = 'lakeside' and o.name = 'Demo auditor'`,
    );
    assert.equal(rows[0]?.count, 1n);
  });

  test('an approval and a reversal that came several times have moved the money there and back once', async () => {
    const rows = await service.db.superuser<{ entries: bigint; sum: string }>(
      `select count(*) as entries, sum(e.amount)::text as sum from entries e
       join accounts a using (institution_id, account_key) join institutions i using (institution_id)
       where i.code = 'harbor' and a.account_id = 'a-1001-checking' and abs(e.amount) = 51000`,
    );
    assert.deepEqual(rows, [{ entries: 2n, sum: '0' }]);
  });
});
