import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { importExtract } from '../../src/core-system/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { type Connector, connectorOf, type LineAnswer } from '../support/core.ts';
import { clientOf, memberOf, paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Records of the core while imports, payments, readers and other deliveries are at work. */

let service: TestService;
let core: Connector;
before(async () => {
  service = await startTestService();
  core = await connectorOf(service);
});
after(() => service.close());

const lakeside = fileURLToPath(new URL('../../examples/lakeside', import.meta.url));
const results = (answers: readonly LineAnswer[]) =>
  answers.flatMap(({ result, code }) => (result === undefined ? [] : [code ?? result]));
const person = (personId: string, lastName: string) => ({ record: 'person', personId, lastName });

async function findings(): Promise<string[]> {
  const { database } = service.service.context;
  const institutions = await service.db.superuser<{ id: never }>(
    'select institution_id as id from institutions',
  );
  const found: string[] = [];
  for (const { id } of institutions) {
    await reconcile(database, id, {
      at: new Date(),
      onFinding: ({ check, row, detail }) => found.push(`${check} ${row} ${detail}`),
    });
  }
  return found;
}

test('a delivery waits for an import of its institution, and an import for a delivery', async () => {
  const importing = new pg.Client(service.db.owner);
  await importing.connect();
  await importing.query(`select pg_advisory_lock(1935893348, hashtext('lakeside'))`);
  let isAnswered = false;
  const delivering = core.deliverRecords([person('w-1', 'Waiting')]).finally(() => {
    isAnswered = true;
  });
  await sleep(1_200);
  assert.equal(isAnswered, false);
  await importing.end();
  assert.deepEqual(results(await delivering), ['added']);

  // Records come without a pause, and imports of the same institution end nevertheless.
  let isImporting = true;
  const deliveries = Array.from({ length: 2 }, async (_, which) => {
    for (let turn = 0; isImporting; turn += 1) {
      const lines = Array.from({ length: 40 }, (_, n) => person(`w-${which}-${n}`, `Turn ${turn}`));
      const answers = await core.deliverRecords(lines);
      assert.deepEqual([...new Set(results(answers))], [turn === 0 ? 'added' : 'changed']);
    }
  });
  for (let times = 0; times < 3; times += 1) await importExtract(service.service.context, lakeside);
  isImporting = false;
  await Promise.all(deliveries);
  assert.deepEqual(await findings(), []);
});

test('the stage that a killed import left does not reach the tables', async () => {
  await service.db.superuser(
    `insert into staged_persons (institution_id, line, person_id, first_name, last_name)
     select institution_id, 7, 'left-behind', '', 'Staged' from institutions where code = 'lakeside'`,
  );
  assert.deepEqual(results(await core.deliverRecords([person('l-1', 'Leaf')])), ['added']);
  const [left] = await service.db.superuser<{ staged: bigint; merged: bigint }>(
    `select (select count(*) from staged_persons) as staged,
            (select count(*) from persons where person_id = 'left-behind') as merged`,
  );
  assert.deepEqual(left, { staged: 0n, merged: 0n });
});

test("a loan's figures are lowered by the payments since their moment", async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const asOf = new Date(Date.now() - 1).toISOString();
  const paid = await member.post(paths.transfers, {
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-carloan',
    amount: 50,
  });
  assert.equal(paid.body.status, 'COMPLETED', paid.text);
  const [payment] = await service.db.superuser<{ interest: bigint; fees: bigint }>(
    `select sum(to_interest)::bigint as interest, sum(to_fees)::bigint as fees from loan_payments`,
  );
  const { interest = 0n, fees = 0n } = payment ?? {};
  assert.equal(interest + fees, 5_000n);
  // The core's figures of before the payment, as its nightly file has them.
  const figures = { record: 'account', accountId: 'a-1001-carloan', accruedInterest: 60, feesDue: 25 };
  assert.deepEqual(results(await core.deliverRecords([figures], {}, `?asOf=${asOf}`)), ['changed']);
  const [stands] = await service.db.superuser<{ interest: bigint; fees: bigint }>(
    `select accrued_interest as interest, fees_due as fees from loans join accounts using (institution_id, account_key)
     where account_id = 'a-1001-carloan' and institution_id = (select institution_id from institutions where code = 'lakeside')`,
  );
  assert.deepEqual(stands, { interest: 6_000n - interest, fees: 2_500n - fees });
  assert.deepEqual(await findings(), []);
});

test('members see a record at their next request, also where the answer was remembered', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const read = async (path: string, etag?: string) => {
    const headers = { authorization: `Bearer ${member.token}`, ...(etag && { 'if-none-match': etag }) };
    const answer = await send(service.address, 'GET', path, { headers });
    return { status: answer.status, text: answer.text, etag: answer.headers.get('etag') ?? '' };
  };
  const changes: readonly [path: string, record: object, shown: RegExp][] = [
    [
      `${paths.accounts}/a-1001-checking`,
      { record: 'account', accountId: 'a-1001-checking', description: 'Renamed by a record' },
      /Renamed by a record/,
    ],
    [
      `${paths.accounts}/a-1001-carloan`,
      { record: 'account', accountId: 'a-1001-carloan', accruedInterest: 77.77 },
      // The principal is what is owed less interest and fees.
      /"currentBalance"/,
    ],
    [
      `${paths.customer('c-1001')}/contact-methods`,
      { record: 'person', personId: 'p-1001', firstName: 'Renamedby' },
      /Renamedby/,
    ],
    [
      paths.accounts,
      {
        record: 'account',
        accountId: 'a-1001-records',
        memberNumber: '100001',
        accountNumber: '100001-77',
        type: 'SAVINGS',
        currency: 'USD',
        holders: [{ personId: 'p-1001', role: 'PRIMARY', mayPay: true }],
      },
      /a-1001-records/,
    ],
  ];
  for (const [path, record, shown] of changes) {
    const first = await read(path);
    assert.equal((await read(path, first.etag)).status, 304, path);
    await core.deliverRecords([record]);
    const second = await read(path, first.etag);
    assert.equal(second.status, 200, path);
    assert.match(second.text, shown);
    assert.notEqual(second.text, first.text);
  }
  const holder = { record: 'holder', accountId: 'a-1001-records', personId: 'p-1001', removed: true };
  const before = await read(paths.accounts);
  assert.deepEqual(results(await core.deliverRecords([holder])), ['removed']);
  const after = await read(paths.accounts, before.etag);
  assert.equal(after.status, 200);
  assert.doesNotMatch(after.text, /a-1001-records/);
  assert.equal((await read(`${paths.accounts}/a-1001-records`)).status, 404);
});

test('a restriction that a record gives binds the next transfer, and its end frees it', async () => {
  const member = await memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1');
  const order = { fromAccountId: 'a-1002-savings', toAccountId: 'a-1002-checking', amount: 1 };
  const restrict = (transferRestriction: string | null) =>
    core.deliverRecords([{ record: 'account', accountId: 'a-1002-savings', transferRestriction }]);
  assert.equal((await member.post(paths.transfers, order)).body.status, 'COMPLETED');
  await restrict('EXCLUDE_AS_FROM');
  const refused = await member.post(paths.transfers, order);
  assert.equal(refused.body.failureReason?.code ?? refused.body.code, 'account_restricted', refused.text);
  await restrict(null);
  assert.equal((await member.post(paths.transfers, order)).body.status, 'COMPLETED');
});

test('a membership that a newcomer opened meanwhile is not overwritten', async () => {
  const client = await clientOf(service);
  const registered = await client.post(paths.register, {
    memberNumber: '900001',
    email: 'newcomer@example.test',
  });
  assert.equal(registered.status, 201, registered.text);
  const answers = await core.deliverRecords([
    person('p-900001', 'Newcomer'),
    {
      record: 'member',
      memberNumber: '900001',
      customerId: 'c-900001',
      memberType: 'RETAIL',
      persons: [{ personId: 'p-900001', role: 'PRIMARY' }],
    },
  ]);
  assert.deepEqual(results(answers), ['added', 'id_reused']);
});

test('a delivery whose token is revoked meanwhile changes nothing more', async () => {
  const revoked = await connectorOf(service, 'harbor');
  const client = ['core-of-harbor', 'the-secret-of-a-core-in-a-test'] as const;
  await revoked.deliverRecords([person('t-1', 'Token')]);
  const form = new URLSearchParams({ token: revoked.token, client_id: client[0], client_secret: client[1] });
  const answer = await send(service.address, 'POST', paths.revoke, {
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  assert.equal(answer.status, 200, answer.text);
  await assert.rejects(revoked.deliverRecords([person('t-2', 'Token')]), /401/);
  assert.deepEqual(await service.db.superuser(`select from persons where person_id = 't-2'`), []);
});
