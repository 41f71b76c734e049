import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { commandsOn } from '../support/commands.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let run: ReturnType<typeof commandsOn>;
let bank: DemoCaller;
before(async () => {
  service = await startTestService();
  run = commandsOn(service.db);
  bank = await clientOf(service);
});
after(() => service.close());

const lakeside = ['--institution', 'lakeside'];
const why = ['--reason', 'Court order 7', '--yes'];
const account = (verb: string, id: string, ...more: string[]) =>
  run('account', verb, id, ...lakeside, ...more);
const show = async (id: string) => JSON.parse((await account('show', id, '--json')).stdout);

async function pay(id: string, from: string, to: string, amount = 10) {
  const { status, body } = await bank.post(paths.transfers, {
    id,
    fromAccountId: from,
    toAccountId: to,
    amount,
  });
  return status === 201 ? body.status : body.code;
}

const entries = (action: string) =>
  service.db.superuser<object>(
    `select subject, stated_reason, before_change, after_change, operator is not null as by_operator
     from audit_entries where action = $1 order by audit_key`,
    [action],
  );

test('shows an account with its balance, holders and last entries, and audits the read', async () => {
  await pay('acc-show', 'a-1001-checking', 'a-1001-savings', 12.5);
  const shown = await show('a-1001-checking');
  assert.equal(shown.balance, '48238.25');
  assert.equal(shown.memberNumber, '100001');
  assert.deepEqual(shown.holders, [
    { personId: 'p-1001', firstName: 'Willow', lastName: 'Testerman', role: 'PRIMARY', mayPay: true },
  ]);
  const [newest] = shown.entries;
  assert.deepEqual(
    [newest.amount, newest.balanceAfter, newest.transferId],
    ['-12.50', '48238.25', 'acc-show'],
  );
  const table = (await account('show', 'a-1001-checking')).stdout;
  assert.match(table, /^balance +48238\.25 USD$/m);
  assert.match(table, /^ {2}p-1001 +Willow Testerman +PRIMARY +yes$/m);
  assert.equal((await entries('account.read')).length, 2);
});

test('shows the debt of a loan as a positive amount', async () => {
  const shown = await show('a-1001-carloan');
  assert.deepEqual([shown.balance, shown.interestDue, shown.feesDue], ['14316.18', '41.18', '25.00']);
});

test('a frozen account pays and receives nothing until it is unfrozen, and each act is audited once', async () => {
  const frozen = await account('freeze', 'a-1002-checking', ...why);
  assert.equal(frozen.code, 0, frozen.stderr);
  const again = await account('freeze', 'a-1002-checking', ...why);
  assert.match(again.stdout, /Nothing was changed/);
  assert.equal(await pay('acc-from', 'a-1002-checking', 'a-1002-savings'), 'account_restricted');
  assert.equal(await pay('acc-to', 'a-1002-savings', 'a-1002-checking'), 'account_restricted');
  assert.equal((await show('a-1002-checking')).operatorRestriction, 'EXCLUDE_ALL');
  const ended = await account('unfreeze', 'a-1002-checking', '--reason', 'Order lifted');
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal(await pay('acc-after', 'a-1002-checking', 'a-1002-savings'), 'COMPLETED');
  assert.deepEqual(await entries('account.restricted'), [
    {
      subject: 'a-1002-checking',
      stated_reason: 'Court order 7',
      before_change: { operatorRestriction: null },
      after_change: { operatorRestriction: 'EXCLUDE_ALL' },
      by_operator: true,
    },
  ]);
  assert.equal((await entries('account.unrestricted')).length, 1);
});

test('a restriction of one side leaves the other, and a pending transfer does not post against it', async () => {
  assert.equal(await pay('acc-held', 'a-1001-checking', 'a-1003-checking', 2_000), 'PENDING');
  await account('restrict', 'a-1001-checking', '--side', 'from', ...why);
  assert.equal(await pay('acc-in', 'a-1001-savings', 'a-1001-checking'), 'COMPLETED');
  assert.equal(await pay('acc-out', 'a-1001-checking', 'a-1001-savings'), 'account_restricted');
  assert.deepEqual(
    (await show('a-1001-checking')).pending.map((one: { transferId: string }) => one.transferId),
    ['acc-held'],
  );
  for (const operator of ['One', 'Two'])
    await run('transfer', 'approve', 'acc-held', '--as', operator, ...lakeside);
  const { body } = await bank.get(`${paths.transfers}/acc-held`);
  assert.deepEqual([body.status, body.failureCode], ['FAILED', 'account_restricted']);
  await account('unfreeze', 'a-1001-checking', '--reason', 'Order lifted');
});

test('refuses to close an account with money, and closes an empty one for good', async () => {
  const full = await account('close', 'a-1002-savings', ...why);
  assert.equal(full.code, 1);
  assert.match(full.stderr, /not empty: balance 8810\.00 USD, held 0\.00 USD/);
  assert.equal(await pay('acc-empty', 'a-1002-savings', 'a-1002-checking', 8_810), 'COMPLETED');
  const closed = await account('close', 'a-1002-savings', ...why);
  assert.equal(closed.code, 0, closed.stderr);
  assert.match((await account('close', 'a-1002-savings', ...why)).stdout, /closed already/);
  assert.equal(await pay('acc-into', 'a-1002-checking', 'a-1002-savings'), 'account_closed');
  assert.equal((await entries('account.closed')).length, 1);
  const shown = await show('a-1002-savings');
  assert.deepEqual([shown.closed, shown.closedByOperator], [true, true]);
});

test('an import neither opens an account that an operator closed nor gives it a balance', async () => {
  const imported = await run(
    'import',
    'examples/lakeside',
    '--adjust-balances',
    '--as-of',
    '2026-01-01T00:00:00Z',
  );
  assert.equal(imported.code, 0, imported.stderr);
  const shown = await show('a-1002-savings');
  assert.deepEqual([shown.closed, shown.balance], [true, '0.00']);
});

test('closes nothing at an institution whose core keeps the books', async () => {
  await service.db.superuser(`update institutions set record = 'core' where code = 'harbor'`);
  const { code, stderr } = await run(
    'account',
    'close',
    'a-1001-checking',
    '--institution',
    'harbor',
    ...why,
  );
  assert.equal(code, 1);
  assert.match(stderr, /The core keeps the books/);
  await service.db.superuser(`update institutions set record = 'ledger' where code = 'harbor'`);
});

for (const [words, code, message] of [
  [['freeze', 'a-1001-checking', '--yes'], 2, /--reason <text>' not specified/],
  [['freeze', 'a-1001-checking', '--reason', 'two\nlines', '--yes'], 2, /in one line/],
  [['freeze', 'a-1001-checking', '--reason', 'Fraud'], 1, /Confirm with --yes/],
  [['restrict', 'a-1001-checking', ...why], 2, /--side/],
  [['freeze', 'no-such-account', ...why], 1, /No account of a member/],
  [['close', 'internal:funding:USD', ...why], 1, /No account of a member/],
  [['show', 'a-9999'], 1, /No account of a member/],
  [['show', 'bad id\u0000'], 1, /No account of a member/],
] as const) {
  test(`sharedraft account ${JSON.stringify(words)} is refused`, async () => {
    const result = await run('account', ...words, ...lakeside);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, message);
  });
}

test('finds no account of another institution', async () => {
  const { code, stderr } = await run('account', 'show', 'a-1001-carloan', '--institution', 'harbor');
  assert.equal(code, 1);
  assert.match(stderr, /No account of a member/);
});
