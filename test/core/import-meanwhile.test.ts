import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { importExtract } from '../../src/core-system/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { systemClock } from '../../src/storage/index.ts';
import { reverseTransfer, reviewTransfer, saveTransferRules } from '../../src/transfers/index.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { deskOf, type TestDesk } from '../support/desk.ts';
import { type ExtractFiles, extractFolder } from '../support/extract.ts';
import { waitUntilLocked } from '../support/locks.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Different extracts of the core are imported again and again while transfers run through two processes. */

let service: TestService;
let beside: TestService;
let callers: DemoCaller[];
let desk: TestDesk;
before(async () => {
  service = await startTestService();
  beside = await startTestService({ beside: service });
  callers = await Promise.all([clientOf(service), clientOf(beside)]);
  desk = await deskOf(service);
});
after(async () => {
  await desk[Symbol.asyncDispose]();
  await beside.close();
  await service.close();
});

const examples = fileURLToPath(new URL('../../examples/lakeside', import.meta.url));
const names = ['institution', 'persons', 'members', 'member-persons', 'accounts', 'holders'];

/** The core's extract of another day: an account closed or not, a loan late or not, other names, other lines. */
function extractOfDay(day: number): ExtractFiles {
  const files: ExtractFiles = {};
  for (const name of names) {
    files[`${name}.csv`] = readFileSync(`${examples}/${name}.csv`, 'utf8').trimEnd().split('\n');
  }
  const odd = day % 2 === 1;
  files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line) => {
    if (line.startsWith('a-1007-checking')) return line.replace('500.00', odd ? '400.00' : '500.00');
    if (line.startsWith('a-1001-carloan')) return line.replace('open,no', odd ? 'open,yes' : 'open,no');
    if (line.startsWith('a-1003-savings')) return line.replace('open,', odd ? 'closed,' : 'open,');
    return line;
  });
  files['persons.csv'] = (files['persons.csv'] ?? []).map((line) =>
    line.replace(/,Example/, `,Example${day}`),
  );
  return files;
}

const moves = [
  ['a-1001-checking', 'a-1001-savings'],
  ['a-1001-savings', 'a-1001-checking'],
  ['a-1001-checking', 'a-1001-carloan'],
  ['a-1003-checking', 'a-1003-savings'],
  ['a-1001-checking', 'a-1001-ira'],
  ['a-1003-checking', 'a-1001-checking'],
] as const;

/** Each order and its outcome, until stopped. */
async function orders(prefix: string, going: () => boolean): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>();
  const pay = async (index: number) => {
    for (let turn = 0; going(); turn++) {
      const [fromAccountId, toAccountId] = moves[(index + turn) % moves.length] ?? moves[0];
      const id = `${prefix}-${index}-${turn}-${outcomes.size}`;
      const amount = (1 + ((index + turn) % 5)) / 100;
      const caller = callers[index % 2] as DemoCaller;
      const answer = await caller.post(paths.transfers, { id, fromAccountId, toAccountId, amount });
      const { status, body } = answer;
      assert.ok([201, 422, 503].includes(status), answer.text);
      // A 503 has written nothing and used up no id.
      if (status === 503) assert.equal((await caller.get(`${paths.transfers}/${id}`)).status, 404);
      outcomes.set(id, status === 201 ? body.status : body.code);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => pay(index)));
  return outcomes;
}

async function posted(): Promise<Map<string, bigint>> {
  const rows = await service.db.superuser<{ account_id: string; posted: bigint }>(
    'select account_id, posted from balances where institution_id = $1',
    [desk.institutionId],
  );
  return new Map(rows.map((row) => [row.account_id, row.posted]));
}

/** The sum of transfers completed since then. */
async function moved(prefix: string): Promise<Map<string, bigint>> {
  const rows = await service.db.superuser<{ account_id: string; moved: string }>(
    `select account_id, sum(amount)::text as moved from (
       select from_account_id as account_id, -amount as amount from transfers
       where institution_id = $1 and status = 'COMPLETED' and transfer_id like $2
       union all
       select to_account_id, amount from transfers
       where institution_id = $1 and status = 'COMPLETED' and transfer_id like $2) t
     group by account_id`,
    [desk.institutionId, `${prefix}%`],
  );
  return new Map(rows.map((row) => [row.account_id, BigInt(row.moved)]));
}

async function findings(): Promise<object[]> {
  const found: object[] = [];
  await reconcile(desk.database, desk.institutionId, { onFinding: (finding) => found.push(finding) });
  return found;
}

async function importDay(day: number, adjustBalances: boolean, asOf = new Date()) {
  await using folder = await extractFolder(extractOfDay(day));
  return await importExtract(service.service.context, folder.folder, { adjustBalances, asOf });
}

test('imports without balances move no cent and lose no order', async () => {
  const before = await posted();
  let going = true;
  const ordering = orders('meanwhile', () => going);
  try {
    for (let day = 1; day <= 6; day++) {
      const report = await importDay(day, false);
      assert.equal(report.openedAccounts + report.adjustedAccounts, 0);
    }
  } finally {
    going = false;
  }
  const outcomes = await ordering;
  assert.ok([...outcomes.values()].includes('COMPLETED'));
  const stored = await service.db.superuser<{ id: string; outcome: string }>(
    `select transfer_id as id, coalesce(failure_code, status) as outcome from transfers
     where institution_id = $1 and transfer_id like 'meanwhile-%'`,
    [desk.institutionId],
  );
  const answered = [...outcomes].filter(([, outcome]) => outcome !== 'overloaded');
  assert.deepEqual(new Map(stored.map((row) => [row.id, row.outcome])), new Map(answered));
  const by = await moved('meanwhile-');
  const expected = new Map([...before].map(([id, amount]) => [id, amount + (by.get(id) ?? 0n)]));
  assert.deepEqual(await posted(), expected);
  assert.deepEqual(await findings(), []);
});

test('an import with balances beside running transfers leaves each account at the core’s figure plus later movements', async () => {
  let going = true;
  const ordering = orders('adjusting', () => going);
  try {
    for (let day = 2; day <= 6; day += 2) await importDay(day, true);
  } finally {
    going = false;
  }
  await ordering;
  assert.deepEqual(await findings(), []);
  const report = await importDay(2, true);
  assert.equal(report.openedAccounts, 0);
  assert.deepEqual(await findings(), []);
  const [checking] = await service.db.superuser<{ posted: bigint }>(
    `select posted from balances where institution_id = $1 and account_id = 'a-1001-checking'`,
    [desk.institutionId],
  );
  assert.equal(checking?.posted, 48_250_75n);
});

test('transfers posted after the time of the figures stay on top of them', async () => {
  const bank = callers[0] as DemoCaller;
  await importDay(2, true);
  const asOf = new Date();
  await new Promise((resolve) => setTimeout(resolve, 2));
  const payment = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-carloan', amount: 100 };
  assert.equal((await bank.post(paths.transfers, { id: 'since-then', ...payment })).status, 201);
  const standing = async () => {
    const balances = await posted();
    const [loan] = await service.db.superuser<{ dues: string }>(
      `select format('%s %s %s', accrued_interest, fees_due, amount_due) as dues
       from loans join accounts using (institution_id, account_key)
       where institution_id = $1 and account_id = 'a-1001-carloan'`,
      [desk.institutionId],
    );
    return [balances.get('a-1001-checking'), balances.get('a-1001-carloan'), loan?.dues];
  };
  const after = await standing();
  assert.equal(after[0], 48_150_75n);
  // The same figures again, without the payment: they reverse nothing of it.
  const report = await importDay(2, true, asOf);
  assert.deepEqual([report.adjustedAccounts, await standing()], [0, after]);
  assert.deepEqual(await findings(), []);

  await using folder = await extractFolder(extractOfDay(2));
  await assert.rejects(importExtract(service.service.context, folder.folder, { adjustBalances: true }), {
    name: 'ImportRefusedError',
    message: /only to figures of a known moment/,
  });
  await assert.rejects(importDay(2, true, new Date(Date.now() + 60_000)), { name: 'ImportRefusedError' });

  // A figure of a later time includes the payment, but this one does not: it is reversed.
  assert.equal((await importDay(2, true)).adjustedAccounts, 2);
  const [finished] = await service.db.superuser<{ after: { adjustedAccounts: readonly string[] } }>(
    `select after_change as after from audit_entries where action = 'import.finished' order by audit_key desc limit 1`,
  );
  assert.deepEqual(finished?.after.adjustedAccounts.toSorted(), ['a-1001-carloan', 'a-1001-checking']);
});

test('a loan payment made before the core’s figure arrived can still be reversed, part by part', async () => {
  const bank = callers[0] as DemoCaller;
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-carloan', amount: 14_316.18 };
  const paid = await bank.post(paths.transfers, { id: 'paid-off', ...order });
  assert.equal(paid.status, 201, paid.text);
  await importDay(2, true);
  const reversal = { originalId: 'paid-off', transferId: 'paid-off-back', origin: commandOf('ann') };
  const back = await reverseTransfer(desk.desk, desk.institutionId, reversal);
  assert.equal(back.kind, 'new');
  assert.deepEqual(await findings(), []);
});

test('a held payment above the debt that the core now reports posts, reconciles, and can be reversed', async () => {
  const { desk: transfers, database, institutionId } = desk;
  await importDay(2, true);
  const review = {
    aboveMinor: 10_00n,
    secondApprovalAboveMinor: null,
    seconds: 3_600,
    onReviewTimeout: 'EXPIRE',
  } as const;
  await saveTransferRules({ database, clock: systemClock }, institutionId, {
    rules: {
      policies: [
        { transferType: 'LOAN_PAYMENT', currency: 'USD', review, cutOff: null, paymentOptions: ['DEFAULT'] },
      ],
      limits: [],
      businessDays: [],
      contributionLimits: [],
    },
    origin: ownOrigin(),
  });
  // Processes read it within a second of real time.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-carloan', amount: 14_000 };
  const held = await (callers[0] as DemoCaller).post(paths.transfers, { id: 'too-much', ...order });
  assert.equal(held.body.status, 'PENDING', held.text);
  const files = extractOfDay(2);
  files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line) =>
    line.startsWith('a-1001-carloan') ? line.replace('14250.00', '500.00') : line,
  );
  await using folder = await extractFolder(files);
  await importExtract(service.service.context, folder.folder, { adjustBalances: true, asOf: new Date() });
  assert.deepEqual(await findings(), []);

  const approval = { kind: 'approve', origin: commandOf('ann') } as const;
  const approved = await reviewTransfer(transfers, institutionId, { transferId: 'too-much', act: approval });
  assert.equal(approved.kind, 'changed');
  assert.deepEqual(await findings(), []);
  const reversal = { originalId: 'too-much', transferId: 'too-much-back', origin: commandOf('ann') };
  assert.equal((await reverseTransfer(transfers, institutionId, reversal)).kind, 'new');
  assert.deepEqual(await findings(), []);
  const [loan] = await service.db.superuser<{ posted: bigint; dues: string }>(
    `select b.posted, format('%s %s %s', l.accrued_interest, l.fees_due, l.amount_due) as dues
     from balances b join loans l using (institution_id, account_key)
     where b.institution_id = $1 and b.account_id = 'a-1001-carloan'`,
    [institutionId],
  );
  assert.deepEqual(loan, { posted: -566_18n, dues: '4118 2500 31000' });
});

test('a row that another transaction changes at this moment is imported all the same', async () => {
  await importDay(2, false);
  const [row] = await service.db.superuser<{ account: bigint; person: bigint }>(
    `select account_key as account, person_key as person from holders
     join accounts using (institution_id, account_key) join persons using (institution_id, person_key)
     where institution_id = $1 and account_id = 'a-1002-checking' and person_id = 'p-1003'`,
    [desk.institutionId],
  );
  const { account, person } = row ?? assert.fail('no joint holder');
  const files = extractOfDay(2);
  files['accounts.csv'] = (files['accounts.csv'] ?? []).map((line) =>
    line.startsWith('a-1002-checking') ? line.replace('Share Draft', 'Renamed') : line,
  );
  files['holders.csv'] = (files['holders.csv'] ?? []).filter(
    (line) => !line.startsWith('a-1002-checking,p-1003'),
  );
  await using folder = await extractFolder(files);
  const other = new pg.Client({ ...service.db.owner });
  await other.connect();
  // As a payment that meets the amount due, and a record of the core.
  const holder = new pg.Client({ ...service.db.owner });
  await holder.connect();
  await holder.query('begin');
  await holder.query('update holders set may_pay = may_pay where institution_id = $1 and account_key = $2', [
    desk.institutionId,
    account,
  ]);
  await other.query('begin');
  await other.query(
    'update accounts set delinquent = delinquent where institution_id = $1 and account_key = $2',
    [desk.institutionId, account],
  );
  const importing = importExtract(service.service.context, folder.folder, {});
  await waitUntilLocked(service.db, 'update accounts');
  await other.query('commit');
  await waitUntilLocked(service.db, 'delete from holders');
  await holder.query('commit');
  await Promise.all([other.end(), holder.end()]);
  await importing;
  const [after] = await service.db.superuser<{ description: string; held: boolean }>(
    `select a.description, exists (select from holders h where h.institution_id = $1 and h.account_key = $2 and h.person_key = $3) as held
     from accounts a where a.institution_id = $1 and a.account_key = $2`,
    [desk.institutionId, account, person],
  );
  assert.deepEqual(after, { description: 'Renamed', held: false });
});
