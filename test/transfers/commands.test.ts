import assert from 'node:assert/strict';
import { once } from 'node:events';
import os from 'node:os';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { runCli, startCli } from '../support/cli.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { extractFolder } from '../support/extract.ts';
import { asSuperuser } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The operator's commands, as processes beside the service. */

let service: TestService;
let harbor: DemoCaller;
const harborApp = ['harbor-app', 'harbor-app-secret'] as const;
before(async () => {
  service = await startTestService();
  harbor = await clientOf(service, harborApp);
});
after(() => service.close());

const run = (...parameters: string[]) => runCli(service.db, ['transfer', ...parameters]);
const signed = (verb: string, id: string, operator: string, ...more: string[]) =>
  run(
    verb,
    id,
    '--as',
    operator,
    '--institution',
    'harbor',
    ...(verb === 'approve' ? [] : ['--yes']),
    ...more,
  );
const statusOf = async (id: string) => (await harbor.get(`${paths.transfers}/${id}`)).body.status;
const hold = async (id: string, amount: number) => {
  const order = { id, fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount };
  assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
};

test('a pending transfer is listed, approved by two, and then final', async () => {
  await hold('cli-two', 1600);
  const listed = await run('pending', '--institution', 'harbor');
  assert.match(listed.stdout, /^cli-two +INTRA_FI .* 1600\.00 USD .*REVIEW, expires .* approved by 0 of 2$/m);
  const first = await signed('approve', 'cli-two', 'Ops One');
  assert.equal(first.code, 0);
  assert.match(first.stdout, /still waits/);
  const same = await signed('approve', 'cli-two', 'Ops One');
  assert.equal(same.code, 1);
  assert.match(same.stderr, /Ops One has approved it already\. Another person must/);
  assert.match((await run('pending', '--institution', 'harbor')).stdout, /approved by 1 of 2 \(Ops One\)/);
  const second = await signed('approve', 'cli-two', 'Ops Two');
  assert.equal(second.code, 0, second.stderr);
  assert.equal(await statusOf('cli-two'), 'COMPLETED');
  const late = await signed('decline', 'cli-two', 'Ops One');
  assert.equal(late.code, 1);
  assert.match(late.stderr, /not pending: COMPLETED/);
});

test('lists any number of pending transfers, the first due first, until the reader stops', async () => {
  // All except the first become due at one time, as at the start of a business day.
  const many = 2_500;
  await asSuperuser(service.db.connection, async (client) => {
    await client.query('set session_replication_role = replica');
    const { rows } = await client.query(
      `select institution_id as i from institutions where code = 'lakeside'`,
    );
    const [{ i }] = rows;
    await client.query(
      `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                              from_key, to_key, amount, currency, status, client_id, created_at)
       select ${i}, 9e15 + n, 'many-' || n, 'INTRA_FI', 'a-1', 'a-2', 1, 2, 1, 'USD', 'PENDING', 'demo-app', now()
       from generate_series(1, ${many}) n`,
    );
    await client.query(
      `insert into pending_transfers (institution_id, transfer_key, held_for, due_at, when_due, approvals_needed)
       select ${i}, 9e15 + n, 'CUT_OFF', timestamptz '2999-01-02' - case n when ${many} then interval '1 day' else '0' end,
              'POST', 0
       from generate_series(1, ${many}) n`,
    );
  });
  const listed = await run('pending', '--institution', 'lakeside');
  assert.equal(listed.code, 0, listed.stderr);
  const ids = [...listed.stdout.matchAll(/^(many-\d+) /gm)].map(([, id]) => id);
  const inOrder = Array.from({ length: many - 1 }, (_, place) => `many-${place + 1}`);
  assert.deepEqual(ids, [`many-${many}`, ...inOrder]);

  const child = startCli(service.db, ['transfer', 'pending', '--institution', 'lakeside']);
  const complaint = text(child.stderr);
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'exit');
  assert.equal(code, 141);
  assert.equal(await complaint, '');
});

test('reverses a completed transfer once, and repeats the outcome for the same id', async () => {
  const order = {
    id: 'cli-back',
    fromAccountId: 'a-1002-checking',
    toAccountId: 'a-1001-checking',
    amount: 5,
  };
  assert.equal((await harbor.post(paths.transfers, order)).status, 201);
  const proposed = await signed('reverse', 'cli-back', 'Ops Two', '--id', 'cli-back-again');
  assert.match(proposed.stdout, /proposed by Ops Two\. Nothing has changed yet/);
  assert.equal((await signed('reverse', 'cli-back', 'OPS two')).stdout, proposed.stdout);
  assert.match(
    (await run('pending', '--institution', 'harbor')).stdout,
    /^cli-back +REVERSAL +\S+ -> \S+ +5\.00 USD +another system user until .* proposed by Ops Two at /m,
  );
  assert.equal(await statusOf('cli-back'), 'COMPLETED');
  for (let round = 0; round < 2; round++) {
    const reversed = await signed('reverse', 'cli-back', 'Ops One', '--id', 'cli-back-again');
    assert.equal(reversed.code, 0, reversed.stderr);
    assert.match(reversed.stdout, /cli-back-again is COMPLETED/);
  }
  const links = async (caller: DemoCaller, accountId: string) => {
    const { body } = await caller.get(`${paths.accounts}/${accountId}/transactions?limit=2`);
    return body.map(({ transferId, reverses, reversedBy }: Record<string, string>) =>
      [transferId, reverses, reversedBy].map(String).join(' '),
    );
  };
  const both = ['cli-back-again cli-back undefined', 'cli-back undefined cli-back-again'];
  for (const accountId of ['a-1002-checking', 'a-1001-checking']) {
    assert.deepEqual(await links(harbor, accountId), both, accountId);
  }
  const payer = await memberOf(service, 'pebble.primary', 'marina-quay-lantern-1', harborApp);
  const payee = await memberOf(service, 'demo.member', 'harbor-member-password', harborApp);
  assert.deepEqual(await links(payer, 'a-1002-checking'), both);
  assert.deepEqual(await links(payee, 'a-1001-checking'), [
    'cli-back-again undefined undefined',
    'undefined undefined undefined',
  ]);
  assert.equal((await signed('reverse', 'cli-back', 'Ops One', '--id', 'options')).code, 2);
  const other = await signed('reverse', 'cli-back', 'Ops One');
  assert.equal(other.code, 1);
  assert.match(other.stderr, /can be reversed: COMPLETED/);
});

test('refuses a missing transfer and a missing institution', async () => {
  assert.equal((await signed('approve', 'no-such', 'Ops One')).code, 1);
  assert.equal((await run('pending', '--institution', 'nowhere')).code, 1);
});

test('an act without a typed name is the system user’s, and a real institution accepts no typed name', async () => {
  const { username } = os.userInfo();
  await hold('cli-own', 600);
  const approved = await run('approve', 'cli-own', '--institution', 'harbor');
  assert.equal(approved.code, 0, approved.stderr);
  const [entry] = await service.db.superuser(
    `select operator, operator_host, operator_as, before_change ->> 'status' as before, after_change ->> 'status' as after
     from audit_entries where action = 'transfer.approved' and subject = 'cli-own'`,
  );
  assert.deepEqual(entry, {
    operator: username,
    operator_host: os.hostname(),
    operator_as: null,
    before: 'PENDING',
    after: 'COMPLETED',
  });
  await service.db.superuser(`update institutions set demo = false where code = 'harbor'`);
  try {
    const typed = await signed('approve', 'cli-own', 'Ops Two');
    assert.equal(typed.code, 1);
    assert.match(typed.stderr, /--as is for demo institutions/);
  } finally {
    await service.db.superuser(`update institutions set demo = true where code = 'harbor'`);
  }
});

test('a limit under a used number may change its maximums, and not its meaning', async () => {
  const header =
    'limit_key,subject,period,transfer_type,source_type,currency,max_per_transfer,max_amount,max_count';
  await using folder = await extractFolder({
    'transfer-limits.csv': [header, '1,USER,DAY,,,USD,,9000.00,'],
  });
  const first = await run('rules', folder.folder, '--institution', 'harbor', '--as', 'Ops One');
  assert.match(first.stdout, /the change of its rules is proposed by Ops One\. Nothing has changed yet/);
  const again = await run('rules', folder.folder, '--institution', 'harbor', '--as', 'OPS one');
  assert.equal(again.stdout, first.stdout, 'the same person, under the name of the proposal');
  const entries = await service.db.superuser<{ operator: string; after: object }>(
    `select operator_as as operator, after_change as after from audit_entries join institutions using (institution_id)
     where code = 'harbor' and action = 'transfer.rules_proposed' order by audit_key`,
  );
  assert.deepEqual(
    entries.map(({ operator, after }) => [operator, Object.keys(after).sort()]),
    [
      ['Ops One', ['change', 'expiresAt']],
      ['OPS one', ['change', 'expiresAt', 'proposedBy']],
    ],
  );
  const raised = await run('rules', folder.folder, '--institution', 'harbor', '--as', 'Ops Two');
  assert.equal(raised.code, 0, raised.stderr);
  assert.match(raised.stdout, /1 limits/);
  for (const other of [
    '1,CUSTOMER,DAY,,,USD,,9000.00,',
    '1,USER,MONTH,,,USD,,9000.00,',
    '1,USER,DAY,INTRA_FI,,USD,,9000.00,',
  ]) {
    await folder.write({ 'transfer-limits.csv': [header, other] });
    const refused = await run('rules', folder.folder, '--institution', 'harbor');
    assert.equal(refused.code, 1, other);
    assert.match(refused.stderr, /limit_key 1 has counted something else/);
  }
  // A number keeps its meaning even while no limit has it.
  await folder.write({ 'transfer-limits.csv': [header] });
  assert.equal((await run('rules', folder.folder, '--institution', 'harbor')).code, 0);
  await folder.write({ 'transfer-limits.csv': [header, '1,CUSTOMER,DAY,,,USD,,9000.00,'] });
  const later = await run('rules', folder.folder, '--institution', 'harbor');
  assert.equal(later.code, 1);
  assert.match(later.stderr, /limit_key 1 has counted something else/);
  await assert.rejects(
    service.db.superuser(
      `insert into transfer_limits (institution_id, limit_key, subject, period, currency, max_count)
       select institution_id, 1, 'CUSTOMER', 'DAY', 'USD', 1 from institutions where code = 'harbor'`,
    ),
    { code: '23503' },
  );
  await folder.write({
    'transfer-limits.csv': [`${header},review_above`, '1,USER,DAY,,,USD,,9000.00,,500.00'],
  });
  assert.equal((await run('rules', folder.folder, '--institution', 'harbor')).code, 0);
  const [limit] = await service.db.superuser<{ subject: string; period: string; above: bigint }>(
    `select subject, period, review_above as above from transfer_limits
     where limit_key = 1 and institution_id = (select institution_id from institutions where code = 'harbor')`,
  );
  assert.deepEqual(limit, { subject: 'USER', period: 'DAY', above: 500_00n });
});

test('checks rules as a whole before saving any, and reports each error with its place', async () => {
  const policies =
    'transfer_type,currency,review_above,second_approval_above,review_seconds,on_review_timeout,cut_off,payment_options';
  const limits =
    'limit_key,subject,period,transfer_type,source_type,currency,max_per_transfer,max_amount,max_count';
  await using folder = await extractFolder({
    'transfer-policies.csv': [
      policies,
      'INTRA_FI,USD,10.00,5.00,60,POST,25:00,',
      'STANDARD,USD,10.00,,,,,PRINCIPAL_ONLY',
    ],
    'transfer-limits.csv': [limits, '1,USER,DAY,,,USD,,,', '1,NOBODY,DAY,,,USD,1.00,,'],
    'business-days.csv': ['day,open', '2026-02-30,no'],
    'contribution-limits.csv': [
      'tax_year,limit,catch_up,filing_date',
      'MMXXVI,7000.00,-1,',
      '2029,7500.00,0,2029-04-17',
      '2028,7500.00,0,2029-02-30',
    ],
  });
  const before = await service.db.superuser('select * from transfer_policies order by 1, 2');
  const wrong = await run('rules', folder.folder, '--institution', 'harbor');
  assert.equal(wrong.code, 1);
  for (const place of [
    'transfer-policies.csv:2: second_approval_above',
    'transfer-policies.csv:2: cut_off',
    'transfer-policies.csv:3: review_above',
    'transfer-policies.csv:3: payment_options',
    'transfer-limits.csv:2: max_amount',
    'transfer-limits.csv:3: limit_key',
    'transfer-limits.csv:3: subject',
    'business-days.csv:2: day',
    'contribution-limits.csv:2: tax_year',
    'contribution-limits.csv:2: catch_up',
    'contribution-limits.csv:3: filing_date',
    'contribution-limits.csv:4: filing_date',
  ]) {
    assert.ok(wrong.stderr.includes(place), `${place} in ${wrong.stderr}`);
  }
  assert.deepEqual(await service.db.superuser('select * from transfer_policies order by 1, 2'), before);

  await folder.write({
    'transfer-policies.csv': [policies, 'INTRA_FI,USD,10.00,50.00,60,POST,16:30,DEFAULT PRINCIPAL_ONLY'],
    'transfer-limits.csv': [limits, '7,ACCOUNT,MONTH,,SAVINGS,USD,,,6'],
    'business-days.csv': ['day,open', '2026-12-24,no'],
    'contribution-limits.csv': ['tax_year,limit,catch_up,filing_date', '2026,7500.00,1100.00,2027-04-20'],
  });
  const saved = await run('rules', folder.folder, '--institution', 'harbor');
  assert.equal(saved.code, 0, saved.stderr);
  assert.match(saved.stdout, /1 policies, 1 limits, 1 business days, 1 contribution limits/);
  const nothing = await run('rules', '/', '--institution', 'harbor');
  assert.equal(nothing.code, 1);
});
