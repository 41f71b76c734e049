import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { aConnector, type Connector, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Answers of an institution whose core keeps the books: the core goes away by the clock, and comes back by a request. */

const awayMillis = 300_000;
const start = Date.parse('2026-03-02T12:00:00Z');
const options = {
  clock: () => new Date(now),
  environment: { ACCESS_TOKEN_LIFETIME_SECONDS: '86400', CORE_AWAY_SECONDS: String(awayMillis / 1_000) },
};
let now = start;
let one: Awaited<ReturnType<typeof startCoreService>>;
let two: TestService;
let member: DemoCaller;
let bank: DemoCaller;
let core: Connector;
before(async () => {
  one = await startCoreService(options);
  two = await startTestService({ ...options, beside: one });
  member = await memberOf(one, 'demo.member', 'demo-member-password');
  bank = await clientOf(one);
  core = await aConnector(one, 'lakeside-core');
});
after(async () => {
  await two.close();
  await one.close();
});

const heartbeat = () => core.post('/digitalbanking/core/v1/heartbeat', {});
const isoOf = (millis: number) => new Date(millis).toISOString();

/** The header and the description that both processes return. */
async function read(): Promise<{ readonly asOf: string | null; readonly description: string }> {
  const replies = await Promise.all(
    [one, two].map(({ address }) =>
      send(address, 'GET', `${paths.accounts}/a-1001-checking`, {
        headers: { authorization: `Bearer ${member.token}` },
      }),
    ),
  );
  const [first, second] = replies.map(({ status, headers, body }) => {
    assert.equal(status, 200);
    assert.equal(body.balancesAsOf ?? null, headers.get('balances-as-of'));
    return { asOf: headers.get('balances-as-of'), description: body.accountType.description };
  });
  assert.deepEqual(first, second);
  return first ?? assert.fail();
}

async function remember(): Promise<void> {
  for (let reads = 0; reads < 4; reads += 1) await read();
}

/** Changes the account without its trigger: an answer that is remembered stays, and one that is read shows it. */
async function renameUnseen(description: string): Promise<void> {
  await one.db.superuser('alter table accounts disable trigger note_updated');
  await one.db.superuser(`update accounts set description = $1 where account_id = 'a-1001-checking'`, [
    description,
  ]);
  await one.db.superuser('alter table accounts enable trigger note_updated');
}

test('an answer is remembered through signs of life, and no longer than the one that it was read with', async () => {
  await heartbeat();
  await remember();
  await renameUnseen('Read anew');
  now = start + 10_000;
  await heartbeat();
  now = start + awayMillis - 1;
  assert.deepEqual(await read(), { asOf: null, description: 'Share Draft' });
  now = start + awayMillis;
  assert.deepEqual(await read(), { asOf: null, description: 'Read anew' });
});

test('an answer has the time of the last sign of life from the millisecond on at which the core is away', async () => {
  const heardAt = start + 10_000;
  await remember();
  now = heardAt + awayMillis - 1;
  assert.equal((await read()).asOf, null);
  now = heardAt + awayMillis;
  assert.equal((await read()).asOf, isoOf(heardAt));
  await renameUnseen('While away');
  now += 60_000;
  assert.deepEqual(await read(), { asOf: isoOf(heardAt), description: 'Read anew' }, 'it is remembered');
});

test('an answer of an absent core ends with its next sign of life, in every process', async () => {
  await remember();
  await heartbeat();
  assert.deepEqual(await read(), { asOf: null, description: 'While away' });
});

test('an answer of a core that fetches no instruction ends within a second of the fetch', async () => {
  const order = {
    id: 'unfetched',
    fromAccountId: 'a-1005-checking',
    toAccountId: 'a-1005-savings',
    amount: 1,
  };
  assert.equal((await bank.post(paths.transfers, order, { prefer: 'wait=0' })).body.status, 'PENDING');
  const orderedAt = now;
  await remember();
  now = orderedAt + awayMillis - 1;
  await heartbeat();
  assert.equal((await read()).asOf, null);
  now = orderedAt + awayMillis;
  const { asOf } = await read();
  assert.equal(asOf, isoOf(now - 1), 'the core speaks, and does not fetch');
  assert.equal((await core.take()).length, 1);
  now += 1_000;
  assert.equal((await read()).asOf, null);
});
