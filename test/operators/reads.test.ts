import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, beforeEach, test } from 'node:test';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/*
 * An operator reads nothing about a member without an audit entry. The position of a page is public text that a program can make, so each page
 * is a read.
 */

const account = 'a-1002-checking';
let service: TestService;
let teller: TestOperator;
let approver: TestOperator;

before(async () => {
  service = await startTestService({ environment: demoAddress });
  teller = await operatorOf(service, 'Demo teller', 'harbor');
  approver = await operatorOf(service, 'Demo approver', 'harbor');
});
after(() => service.close());
beforeEach(() => service.service.context.auth.audit.settle());

/** A position before all rows, as the service would write it. */
function forge(path: string, filters: readonly (readonly [string, string])[] = []): string {
  const bound = [Number(teller.token.split('.')[0]), `/operations/v1${path}`, filters];
  const digest = createHash('sha256').update(JSON.stringify(bound)).digest().subarray(0, 9);
  const word = Buffer.alloc(8);
  word.writeBigUInt64BE(8_640_000_000_000_000n);
  return Buffer.concat([digest, word]).toString('base64url');
}

/** The entries that the work leaves, as `operator action reason subject times`, and the number of rows. A minute may end meanwhile. */
async function entriesOf(work: () => Promise<unknown>): Promise<{ left: string[]; rows: number }> {
  const [last] = await service.db.superuser<{ key: bigint }>(
    'select coalesce(max(audit_key), 0) as key from audit_entries',
  );
  await work();
  await service.service.context.auth.audit.settle();
  const rows = await service.db.superuser<{ entry: string; rows: bigint }>(
    `select concat_ws(' ', operator, action, reason, subject, sum(times)) as entry, count(*) as rows from audit_entries
     where audit_key > $1 and operator_id is not null and outcome = 'succeeded'
     group by operator, action, reason, subject order by min(audit_key)`,
    [last?.key ?? 0n],
  );
  return { left: rows.map(({ entry }) => entry), rows: rows.reduce((sum, one) => sum + Number(one.rows), 0) };
}

async function read(operator: TestOperator, path: string): Promise<void> {
  const { status, body } = await operator.get(path);
  assert.equal(status, 200, JSON.stringify(body));
}

for (const [path, filters, entry] of [
  [`/accounts/${account}/entries`, [], `account.read entries ${account} 1`],
  ['/transfers', [['accountId', account]], `account.read transfers ${account} 1`],
  ['/transfers', [], 'transfer.read transfers 1'],
] as const) {
  test(`a later page of ${path} with ${filters.length} filters leaves an entry, also at a position that the caller made`, async () => {
    const query = new URLSearchParams([...filters, ['after', forge(path, filters)]].map(([...one]) => one));
    const { left } = await entriesOf(() => read(teller, `${path}?${query}`));
    assert.deepEqual(left, [`Demo teller ${entry}`]);
  });
}

test('lists without a filter leave an entry each', async () => {
  const lists = ['/transfers', '/pending', '/core/instructions', '/breaks'];
  const { left } = await entriesOf(async () => {
    for (const path of lists) await read(teller, path);
  });
  assert.deepEqual(left, [
    'Demo teller transfer.read transfers 1',
    'Demo teller transfer.read pending 1',
    'Demo teller transfer.read instructions 1',
    'Demo teller account.read breaks 1',
  ]);
});

test('a console that reads its list again and again leaves few rows, and another person at the same address has their own', async () => {
  const { left, rows } = await entriesOf(async () => {
    for (let n = 0; n < 10; n += 1) await read(teller, '/pending');
    await read(approver, '/pending');
  });
  assert.deepEqual(left, ['Demo teller transfer.read pending 10', 'Demo approver transfer.read pending 1']);
  assert.ok(rows <= 5, `${rows} rows`);
});

test('the story of a break, which names a balance, is an audited read of its account, and not for an administrator', async () => {
  const [made] = await service.db.superuser<{ id: string }>(
    `insert into core_breaks (institution_id, class, subject, account_id, currency, difference, opened_at)
     select institution_id, 'AMOUNT', 'account:a-1002-checking', 'a-1002-checking', 'USD', 5, now() from institutions where code = 'harbor'
     returning break_key::text as id`,
  );
  const administrator = await operatorOf(service, 'Demo administrator', 'harbor');
  const ofTeller = await entriesOf(() => read(teller, `/breaks/${made?.id}`));
  assert.deepEqual(ofTeller.left, [`Demo teller account.read break ${account} 1`]);
  assert.equal((await administrator.get(`/breaks/${made?.id}`)).status, 403);
  const search = await entriesOf(() => read(administrator, `/search?text=${account}`));
  assert.deepEqual(search.left, ['Demo administrator account.read breaks 1']);
});
