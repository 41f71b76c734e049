import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import {
  type Checkpoint,
  type Finding,
  insertRun,
  KeptFindings,
  reconcile,
  reconcileChanges,
} from '../../src/reconciliation/index.ts';
import type { InstitutionId, Queryable } from '../../src/storage/index.ts';
import { reverseTransfer } from '../../src/transfers/index.ts';
import { inCamelCase } from '../support/camel-case.ts';
import { runCli } from '../support/cli.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, manualClock } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

const checking = 'a-1001-checking';
const savings = 'a-1001-savings';
const loan = 'a-1001-carloan';
const ira = 'a-1001-ira';
const elsewhere = 'a-1003-savings';

const time = manualClock('2026-03-03T15:00:00Z');
const { clock } = time;

let service: TestService;
let superuser: pg.Client;
let names: Names;
/** Before any transfer, by institution code. */
const beforeHistory = new Map<string, Checkpoint>();
before(async () => {
  service = await startTestService({ clock });
  for (const code of ['lakeside', 'harbor']) beforeHistory.set(code, await checkpointNow(code));
  time.advance(600);
  await makeHistory();
  const types = new pg.TypeOverrides();
  types.setTypeParser(20, BigInt);
  types.setTypeParser(1082, (text: string) => text);
  superuser = new pg.Client({ ...service.db.owner, types });
  await superuser.connect();
  names = await readNames();
});
after(async () => {
  await superuser.end();
  await service.close();
});

/** One transfer of each kind, in each of its possible states, numbered on their accounts in order. */
async function makeHistory(): Promise<void> {
  const app = await clientOf(service);
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const harbor = await memberOf(service, 'demo.member', 'harbor-member-password', [
    'harbor-app',
    'harbor-app-secret',
  ]);
  const orders = [
    [member, 'standard', checking, savings, 100, 201],
    [member, 'taken-back', checking, savings, 7, 201],
    [member, 'to-loan', checking, loan, 300, 201],
    [member, 'to-ira', checking, ira, 250, 201],
    [member, 'poor', checking, savings, 9_000_000, 422],
    [member, 'pending', checking, elsewhere, 1_500, 201],
    [app, 'cancelled', checking, elsewhere, 2_000, 201],
    [harbor, 'counted', checking, savings, 20, 201],
    [harbor, 'counted-monthly', savings, checking, 10, 201],
    [harbor, 'counted-pending', checking, 'a-1002-checking', 600, 201],
  ] as const;
  for (const [caller, id, fromAccountId, toAccountId, amount, expected] of orders) {
    const { status, text } = await caller.post(paths.transfers, { id, fromAccountId, toAccountId, amount });
    assert.equal(status, expected, `${id}: ${text}`);
  }
  assert.equal((await cancel(app, 'cancelled')).status, 200);
  await using operator = await deskOf(service);
  const { desk, institutionId } = operator;
  const reversal = { originalId: 'taken-back', transferId: 'reversal', origin: commandOf('olive') };
  assert.equal((await reverseTransfer(desk, institutionId, reversal)).kind, 'new');
}

const cancel = (caller: DemoCaller, id: string) => caller.post(`${paths.transfers}/${id}/cancel`, {});

/** Keys of the rows that the corruptions name. */
interface Names {
  readonly lakeside: bigint;
  readonly harbor: bigint;
  account(accountId: string): bigint;
  /** The posting that opened the account. */
  opening(accountId: string): bigint;
  transfer(transferId: string): bigint;
  /** The event of the transfer. */
  event(transferId: string): bigint;
  /** demo.member at harbor. */
  readonly user: bigint;
  /** At harbor: the account under a monthly limit, and its membership. */
  readonly monthly: bigint;
  readonly membership: bigint;
  /** The IRA's owner. */
  readonly person: bigint;
}

async function readNames(): Promise<Names> {
  const read = async (text: string) => {
    const { rows } = await superuser.query<{ name: string; key: bigint }>(text);
    const keys = new Map(rows.map((row) => [row.name, BigInt(row.key)]));
    return (name: string): bigint => {
      const key = keys.get(name);
      assert.ok(key !== undefined, name);
      return key;
    };
  };
  const institution = await read('select code as name, institution_id as key from institutions');
  const lakeside = institution('lakeside');
  const harbor = institution('harbor');
  return {
    lakeside,
    harbor,
    account: await read(
      `select account_id as name, account_key as key from accounts where institution_id = ${lakeside}`,
    ),
    opening: await read(
      `select b.account_id as name, e.posting_key as key from balances b
       join entries e on e.institution_id = b.institution_id and e.account_key = b.account_key and e.seq = 1
       where b.institution_id = ${lakeside}`,
    ),
    transfer: await read('select transfer_id as name, transfer_key as key from transfers'),
    event: await read(
      `select t.transfer_id as name, max(o.event_key) as key from outbox o
       join transfers t on t.institution_id = o.institution_id and t.transfer_key = o.subject_key
       where o.kind like 'transfer.%' group by t.transfer_id`,
    ),
    user: (
      await read(`select username as name, user_key as key from users where institution_id = ${harbor}`)
    )('demo.member'),
    monthly: (
      await read(
        `select account_id as name, account_key as key from accounts where institution_id = ${harbor}`,
      )
    )(savings),
    membership: (
      await read(
        `select account_id as name, customer_key as key from accounts
         where institution_id = ${harbor} and customer_key is not null`,
      )
    )(savings),
    person: (
      await read(
        `select 'owner' as name, subject_key as key from limit_counters where limit_key = 0 and amount > 0`,
      )
    )('owner'),
  };
}

/** The checkpoint of a run that finds nothing. */
async function checkpointNow(code: string): Promise<Checkpoint> {
  await using desk = await deskOf(service, code);
  const found: Finding[] = [];
  const checkpoint = await reconcile(desk.database, desk.institutionId, {
    onFinding: (finding) => found.push(finding),
    at: clock(),
  });
  assert.deepEqual(found, []);
  return checkpoint;
}

async function findingsIn(
  db: Queryable,
  institutionId: bigint,
  atOnce: number,
  since?: Checkpoint,
): Promise<string[]> {
  const found: Finding[] = [];
  const database = { read: <T>(_: InstitutionId, work: (db: Queryable) => Promise<T>) => work(db) };
  const options = { onFinding: (finding: Finding) => found.push(finding), at: clock(), atOnce };
  const id = Number(institutionId) as InstitutionId;
  const checkpoint = await (since === undefined
    ? reconcile(database, id, options)
    : reconcileChanges(database, id, since, options));
  if (found.length > 0) await keeps(db, found, checkpoint);
  return [...new Set(found.map(({ check, row }) => `${check}: ${row}`))].sort();
}

/** The database takes each finding, in the transaction of its defect. */
async function keeps(db: Queryable, found: readonly Finding[], checkpoint: Checkpoint): Promise<void> {
  const findings = new KeptFindings();
  for (const finding of found) findings.add(finding);
  await insertRun(db, { startedAt: clock(), finishedAt: clock(), findings, checkpoint });
  const { rows } = await superuser.query(
    `select kind as check, subject as row, account_id, entry, transfer_id, expected, found, currency
     from reconcile_findings f where f.run_key = (select max(run_key) from reconcile_results) order by place`,
  );
  assert.deepEqual(
    rows.map(inCamelCase),
    findings.kept.map(({ detail: _, ...finding }) => finding),
  );
}

/** Without policies and triggers, in a transaction that is rolled back. */
async function foundAfter(corruption: string, institutionId: bigint, since?: Checkpoint): Promise<string[]> {
  await superuser.query('begin; set local session_replication_role = replica');
  try {
    const { rowCount } = await superuser.query(corruption);
    assert.ok(rowCount !== null && rowCount > 0, 'something was corrupted');
    return await findingsIn(
      {
        institutionId: Number(institutionId) as InstitutionId,
        query: async <Row extends object>({ text }: { text: string }, values: readonly unknown[] = []) => {
          const { rows, rowCount: count, command } = await superuser.query(text, [...values]);
          return { rows: rows.map(inCamelCase<Row>), rowCount: count ?? 0, command };
        },
      },
      institutionId,
      100,
      since,
    );
  } finally {
    await superuser.query('rollback');
  }
}

const onAccount = (accountId: string) =>
  `institution_id = ${names.lakeside} and account_key = ${names.account(accountId)}`;
const onEntry = (accountId: string, seq: number) => `${onAccount(accountId)} and seq = ${seq}`;
const onTransfer = (id: string) =>
  `institution_id = ${names.lakeside} and transfer_key = ${names.transfer(id)}`;
const onEvent = (id: string) => `institution_id = ${names.lakeside} and event_key = ${names.event(id)}`;
const counter = (limitKey: number, subjectKey: bigint, institutionId: bigint) =>
  `institution_id = ${institutionId} and limit_key = ${limitKey} and subject_key = ${subjectKey} and amount > 0`;

/** Makes the limit look as if it had also counted in an earlier period. */
const countedBefore = (limitKey: number) =>
  `before as (insert into limit_counters (institution_id, limit_key, subject_key, period_start, amount, transfers)
              values (${names.harbor}, ${limitKey}, ${names.user}, '2026-01-01', 0, 0))`;

interface Corruption {
  readonly what: string;
  readonly at?: 'harbor';
  readonly sql: () => string;
  readonly found: () => readonly string[];
  /** The findings that a run of the changes leaves to a run of every row. */
  readonly inFullRunsOnly?: () => readonly string[];
}

const corruptions: readonly Corruption[] = [
  {
    what: 'money added to a balance',
    sql: () => `update balances set posted = posted + 1 where ${onAccount(checking)}`,
    found: () => [`balance-posted: ${checking}`, 'trial-balance: USD'],
  },
  {
    what: 'money moved between balances without entries',
    sql: () => `update balances set posted = posted + case account_id when '${checking}' then -500 else 500 end
                where institution_id = ${names.lakeside} and account_id in ('${checking}', '${savings}')`,
    found: () => [`balance-posted: ${checking}`, `balance-posted: ${savings}`],
  },
  {
    what: 'money created by a balanced-looking entry',
    sql: () => `with made as (
                  insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after,
                                       debits_pending_after, credits_pending_after, recorded_at)
                  select institution_id, account_key, seq + 1, 5, 'ADJUSTMENT', 100, posted + 100, debits_pending, credits_pending, last_at
                  from balances where ${onAccount(savings)} returning 1)
                update balances set posted = posted + 100, seq = seq + 1 where ${onAccount(savings)}`,
    found: () => ['posting-sum: posting 5', 'trial-balance: USD'],
  },
  {
    what: 'a larger hold than is pending',
    sql: () => `update balances set debits_pending = debits_pending + 1 where ${onAccount(savings)}`,
    found: () => [`balance-newest-entry: ${savings}`, `hold-out: ${savings}`],
  },
  {
    what: 'a lost pending credit',
    sql: () => `update balances set credits_pending = 0 where ${onAccount(elsewhere)}`,
    found: () => [`balance-newest-entry: ${elsewhere}`, `hold-in: ${elsewhere}`],
  },
  {
    what: 'a balance ahead of its entries',
    sql: () => `update balances set seq = seq + 1 where ${onAccount(ira)}`,
    found: () => [`balance-newest-entry: ${ira}`],
  },
  {
    what: 'a balance of another time than its newest entry',
    sql: () => `update balances set last_at = last_at - interval '1 day' where ${onAccount(ira)}`,
    found: () => [`balance-newest-entry: ${ira}`],
  },
  {
    what: "a balance under another account's name",
    sql: () => `update balances set account_id = 'a-nobody' where ${onAccount(savings)}`,
    found: () => [`account-balance: ${savings}`],
  },
  {
    what: 'a missing balance',
    sql: () => `delete from balances where ${onAccount('a-1003-moneymarket')}`,
    found: () => [
      'account-balance: a-1003-moneymarket',
      `entry-of-no-account: account key ${names.account('a-1003-moneymarket')}`,
      'trial-balance: USD',
    ],
    inFullRunsOnly: () => [
      'account-balance: a-1003-moneymarket',
      `entry-of-no-account: account key ${names.account('a-1003-moneymarket')}`,
    ],
  },
  {
    what: 'an entry of a missing account',
    sql: () => `insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after,
                                     debits_pending_after, credits_pending_after, recorded_at)
                values (${names.lakeside}, 999999, 1, 5, 'ADJUSTMENT', 1, 1, 0, 0, now())`,
    found: () => ['entry-of-no-account: account key 999999'],
    inFullRunsOnly: () => ['entry-of-no-account: account key 999999'],
  },
  {
    what: 'a missing entry',
    sql: () => `delete from entries where ${onEntry(savings, 3)}`,
    found: () => [
      `balance-posted: ${savings}`,
      `entry-gap: ${savings}, entry 4`,
      `event-entry: event ${names.event('taken-back')}`,
      'transfer-entries: taken-back',
    ],
  },
  {
    what: 'an entry of another amount',
    sql: () => `update entries set amount = amount + 1 where ${onEntry(savings, 2)}`,
    found: () => [
      `balance-posted: ${savings}`,
      `entry-running-balance: ${savings}, entry 2`,
      `entry-transfer: ${savings}, entry 2`,
    ],
  },
  {
    what: 'an entry that leaves another balance',
    sql: () => `update entries set posted_after = posted_after + 1 where ${onEntry(savings, 2)}`,
    found: () => [`entry-running-balance: ${savings}, entry 2`, `entry-running-balance: ${savings}, entry 3`],
  },
  {
    what: 'an entry out of its time',
    sql: () =>
      `update entries set recorded_at = recorded_at - interval '30 days' where ${onEntry(savings, 3)}`,
    found: () => [`entry-time: ${savings}, entry 3`, `entry-transfer: ${savings}, entry 3`],
  },
  {
    what: 'a hold entry without an order',
    sql: () =>
      `update entries set debits_pending_after = debits_pending_after + 1 where ${onEntry(checking, 2)}`,
    found: () => [`entry-held: ${checking}, entry 2`, `entry-held: ${checking}, entry 3`],
  },
  {
    what: 'an entry of a missing transfer',
    sql: () => `update entries set posting_key = 5 where ${onEntry(savings, 2)}`,
    found: () => [
      `entry-transfer: ${savings}, entry 2`,
      `event-entry: event ${names.event('standard')}`,
      'transfer-entries: standard',
    ],
  },
  {
    what: 'a transfer of another amount than was posted',
    sql: () => `update transfers set amount = amount + 1 where ${onTransfer('standard')}`,
    found: () => [`entry-transfer: ${checking}, entry 2`, `entry-transfer: ${savings}, entry 2`],
  },
  {
    what: 'a posted transfer with the status FAILED',
    sql: () => `update transfers set status = 'FAILED', failure_code = 'account_closed', failure_detail = 'Closed.'
                where ${onTransfer('standard')}`,
    found: () => [
      `entry-transfer: ${checking}, entry 2`,
      `entry-transfer: ${savings}, entry 2`,
      `event-transfer: event ${names.event('standard')}`,
      'transfer-entries: standard',
    ],
  },
  {
    what: 'a completed transfer that moved nothing',
    sql: () => `with made as (
                  insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id,
                    to_account_id, from_key, to_key, amount, currency, status, client_id, created_at, settled_at)
                  select institution_id, 5, 'invented', transfer_type, from_account_id, to_account_id, from_key, to_key,
                         amount, currency, status, client_id, created_at, settled_at
                  from transfers where ${onTransfer('standard')} returning institution_id)
                insert into idempotency_keys select institution_id, 'invented', 5 from made`,
    found: () => ['transfer-entries: invented'],
  },
  {
    what: 'a posting that no transfer ordered',
    sql: () => `with side as (
                  select *, case account_id when '${savings}' then 100 else -100 end as change from balances
                  where institution_id = ${names.lakeside} and account_id in ('${savings}', '${ira}')),
                made as (
                  insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after,
                                       debits_pending_after, credits_pending_after, recorded_at)
                  select institution_id, account_key, seq + 1, 5, 'TRANSFER', change, posted + change, debits_pending, credits_pending,
                         last_at from side)
                update balances b set posted = b.posted + side.change, seq = b.seq + 1 from side
                where b.institution_id = side.institution_id and b.account_key = side.account_key`,
    found: () => [
      `entry-transfer: ${ira}, entry 3`,
      `entry-transfer: ${savings}, entry 5`,
      `event-gap: ${ira}, entry 3`,
      `event-gap: ${savings}, entry 5`,
    ],
  },
  {
    what: 'a transfer with another source',
    sql: () =>
      `update transfers set from_key = ${names.account('a-1003-checking')} where ${onTransfer('standard')}`,
    found: () => [
      `entry-transfer: ${checking}, entry 2`,
      'transfer-accounts: standard',
      'transfer-entries: standard',
    ],
  },
  {
    what: 'a used id that was freed',
    sql: () => `delete from idempotency_keys where ${onTransfer('standard')}`,
    found: () => ['transfer-id: standard'],
  },
  {
    what: 'a used id without a transfer',
    sql: () => `insert into idempotency_keys values (${names.lakeside}, 'ghost', 5)`,
    found: () => ['used-id: ghost'],
    inFullRunsOnly: () => ['used-id: ghost'],
  },
  {
    what: 'an id that leads to another transfer',
    sql: () =>
      `update idempotency_keys set transfer_key = ${names.transfer('to-loan')} where ${onTransfer('standard')}`,
    found: () => ['transfer-id: standard', 'used-id: standard'],
    inFullRunsOnly: () => ['used-id: standard'],
  },
  {
    what: 'a pending transfer without its terms',
    sql: () => `delete from pending_transfers where ${onTransfer('pending')}`,
    found: () => ['pending-terms: pending'],
  },
  {
    what: 'a posted transfer that still waits',
    sql: () => `insert into pending_transfers (institution_id, transfer_key, held_for, due_at, when_due, approvals_needed)
                values (${names.lakeside}, ${names.transfer('standard')}, 'REVIEW', now(), 'POST', 1)`,
    found: () => ['pending-terms: standard'],
  },
  {
    what: 'a pending transfer above its hold',
    sql: () => `update transfers set amount = amount + 1 where ${onTransfer('pending')}`,
    found: () => [
      `entry-held: ${checking}, entry 6`,
      `entry-held: ${elsewhere}, entry 2`,
      `hold-in: ${elsewhere}`,
      `hold-out: ${checking}`,
    ],
  },
  {
    what: 'a reversal of another transfer',
    sql: () =>
      `update transfers set reverses_key = ${names.transfer('standard')} where ${onTransfer('reversal')}`,
    found: () => ['reversal: reversal'],
  },
  {
    what: 'parts of a loan payment that do not add up',
    sql: () => `update loan_payments set to_principal = to_principal + 1 where ${onAccount(loan)}`,
    found: () => [`loan-payment: ${loan}, entry 2`],
  },
  {
    what: 'missing parts of a loan payment',
    sql: () => `delete from loan_payments where ${onAccount(loan)}`,
    found: () => [`loan-payment: ${loan}, entry 2`],
  },
  {
    what: 'more interest due than the debt',
    sql: () => `update loans set accrued_interest = 100000000 where ${onAccount(loan)}`,
    found: () => [`loan-dues: ${loan}`],
  },
  {
    what: 'a missing event',
    sql: () => `delete from outbox where ${onEvent('standard')}`,
    found: () => [`event-gap: ${checking}, entry 2`, `event-gap: ${savings}, entry 2`],
  },
  {
    what: 'a repeated event',
    sql: () => `insert into outbox (institution_id, kind, subject_key, from_key, from_seq, to_key, to_seq, recorded_at)
                select institution_id, kind, subject_key, from_key, from_seq, to_key, to_seq, recorded_at
                from outbox where ${onEvent('standard')}`,
    found: () => [`event-gap: ${checking}, entry 2`, `event-gap: ${savings}, entry 2`],
  },
  {
    what: 'an event under the number of another entry',
    sql: () => `update outbox set from_seq = 3 where ${onEvent('standard')}`,
    found: () => [
      `event-entry: event ${names.event('standard')}`,
      `event-gap: ${checking}, entry 2`,
      `event-gap: ${checking}, entry 3`,
    ],
  },
  {
    what: 'a failure event of a posted transfer',
    sql: () => `update outbox set kind = 'transfer.failed' where ${onEvent('standard')}`,
    found: () => [
      `event-entry: event ${names.event('standard')}`,
      `event-transfer: event ${names.event('standard')}`,
    ],
  },
  {
    what: 'a contribution that counted another amount',
    sql: () => `update limit_uses set amount = amount + 1 where ${onTransfer('to-ira')}`,
    found: () => [
      `limit-counter: limit 0 of person ${names.person} from 2026-01-01`,
      'limit-use: to-ira, limit 0',
    ],
  },
  {
    what: "a year's contributions counted too low",
    sql: () =>
      `update limit_counters set amount = amount - 1 where ${counter(0, names.person, names.lakeside)}`,
    found: () => [`limit-counter: limit 0 of person ${names.person} from 2026-01-01`],
  },
  {
    what: "a day's amount counted too low",
    at: 'harbor',
    sql: () => `update limit_counters set amount = amount - 1 where ${counter(1, names.user, names.harbor)}`,
    found: () => [`limit-counter: limit 1 of user ${names.user} from 2026-03-03`],
  },
  {
    what: "a day's transfers counted too many",
    at: 'harbor',
    sql: () =>
      `update limit_counters set transfers = transfers + 1 where ${counter(1, names.user, names.harbor)}`,
    found: () => [`limit-counter: limit 1 of user ${names.user} from 2026-03-03`],
  },
  {
    what: "a day's counter gone, as if nothing had been paid",
    at: 'harbor',
    sql: () =>
      `with ${countedBefore(1)}, unused as (delete from limit_uses where institution_id = ${names.harbor} and limit_key = 1)
       delete from limit_counters where ${counter(1, names.user, names.harbor)}`,
    found: () => [`limit-counter: limit 1 of user ${names.user} from 2026-03-03`],
  },
  {
    what: "a month's counter gone",
    at: 'harbor',
    sql: () =>
      `with ${countedBefore(3)} delete from limit_counters where ${counter(3, names.monthly, names.harbor)}`,
    found: () => [`limit-counter: limit 3 of account ${names.monthly} from 2026-03-01`],
  },
  {
    what: "a membership's counter gone",
    at: 'harbor',
    sql: () =>
      `with ${countedBefore(2)}, unused as (delete from limit_uses where institution_id = ${names.harbor} and limit_key = 2)
       delete from limit_counters where ${counter(2, names.membership, names.harbor)}`,
    found: () => [`limit-counter: limit 2 of customer ${names.membership} from 2026-03-03`],
  },
  {
    what: 'a pending transfer’s counted amount under another transfer',
    at: 'harbor',
    sql: () =>
      `update limit_uses set period_start = '2020-01-01' where institution_id = ${names.harbor} and limit_key = 1`,
    found: () => ['limit-use: counted-pending, limit 1'],
  },
  {
    what: 'a contribution that no longer counts, with its year lowered as well',
    sql: () => `with gone as (delete from limit_uses where ${onTransfer('to-ira')} returning amount)
                update limit_counters c set amount = c.amount - gone.amount, transfers = transfers - 1
                from gone where ${counter(0, names.person, names.lakeside).replaceAll(' amount >', ' c.amount >')}`,
    found: () => ['contribution-use: to-ira'],
  },
  {
    what: 'a transfer posted at another time than its entries',
    sql: () =>
      `update transfers set settled_at = settled_at - interval '1 day' where ${onTransfer('standard')}`,
    found: () => [`entry-transfer: ${checking}, entry 2`, `entry-transfer: ${savings}, entry 2`],
  },
  {
    what: 'a pending transfer ordered on another day, where it counts for another limit',
    sql: () =>
      `update transfers set created_at = created_at + interval '1 day' where ${onTransfer('pending')}`,
    found: () => [`entry-transfer: ${checking}, entry 6`, `entry-transfer: ${elsewhere}, entry 2`],
  },
  {
    what: 'a posting with the kind ADJUSTMENT',
    sql: () => `update entries set kind = 'ADJUSTMENT' where ${onEntry(savings, 2)}`,
    found: () => [
      `event-entry: event ${names.event('standard')}`,
      `posting-sum: posting ${names.transfer('standard')}`,
      'transfer-entries: standard',
    ],
  },
  {
    what: 'an adjustment with the kind TRANSFER',
    sql: () => `update entries set kind = 'TRANSFER' where ${onEntry(savings, 1)}`,
    found: () => [`entry-transfer: ${savings}, entry 1`, `posting-sum: posting ${names.opening(savings)}`],
    // The opening is older than the checkpoint.
    inFullRunsOnly: () => [`posting-sum: posting ${names.opening(savings)}`],
  },
  {
    what: 'an account in another currency',
    sql: () => `update accounts set currency = 'EUR' where ${onAccount(ira)}`,
    found: () => [`account-balance: ${ira}`, 'transfer-accounts: to-ira'],
  },
  {
    what: 'a balance in another currency',
    sql: () => `update balances set currency = 'JPY' where ${onAccount(ira)}`,
    found: () => [`account-balance: ${ira}`, 'trial-balance: JPY', 'trial-balance: USD'],
  },
  {
    what: 'an event of another transfer',
    sql: () => `update outbox set subject_key = ${names.transfer('to-loan')} where ${onEvent('standard')}`,
    found: () => [`event-entry: event ${names.event('standard')}`],
  },
  {
    what: 'an event of no transfer',
    sql: () => `update outbox set subject_key = 5 where ${onEvent('poor')}`,
    found: () => [`event-transfer: event ${names.event('poor')}`],
  },
  {
    what: 'a final status beside a remaining hold',
    sql: () => `with ended as (delete from pending_transfers where ${onTransfer('pending')})
                update transfers set status = 'FAILED', failure_code = 'transfer_cancelled',
                  failure_detail = 'Cancelled.', settled_at = created_at
                where ${onTransfer('pending')}`,
    found: () => [`hold-in: ${elsewhere}`, `hold-out: ${checking}`, 'transfer-entries: pending'],
  },
  {
    what: 'a cancelled transfer with pending terms',
    sql: () => `update transfers set status = 'PENDING', failure_code = null, failure_detail = null,
                  settled_at = null where ${onTransfer('cancelled')}`,
    found: () => [
      `entry-transfer: ${checking}, entry 8`,
      `entry-transfer: ${elsewhere}, entry 4`,
      `event-transfer: event ${names.event('cancelled')}`,
      `hold-in: ${elsewhere}`,
      `hold-out: ${checking}`,
      'pending-terms: cancelled',
      'transfer-entries: cancelled',
    ],
  },
  {
    what: 'a reversal without the link to its original',
    sql: () =>
      `update transfers set reverses_key = null, amount = amount + 1 where ${onTransfer('reversal')}`,
    found: () => [`entry-transfer: ${checking}, entry 9`, `entry-transfer: ${savings}, entry 4`],
  },
  {
    what: 'two one-sided adjustments',
    sql: () => `with side as (
                  select *, case account_id when '${savings}' then 100 else -100 end as change from balances
                  where institution_id = ${names.lakeside} and account_id in ('${savings}', '${ira}')),
                made as (
                  insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after,
                                       debits_pending_after, credits_pending_after, recorded_at)
                  select institution_id, account_key, seq + 1, account_key, 'ADJUSTMENT', change, posted + change,
                         debits_pending, credits_pending, last_at from side)
                update balances b set posted = b.posted + side.change, seq = b.seq + 1 from side
                where b.institution_id = side.institution_id and b.account_key = side.account_key`,
    found: () => [
      `posting-sum: posting ${names.account(savings)}`,
      `posting-sum: posting ${names.account(ira)}`,
    ],
  },
];

test('reconciliation finds nothing in the demo institutions and every kind of transfer, in chunks of any size', async () => {
  const { database } = service.service.context;
  for (const institutionId of [names.lakeside, names.harbor]) {
    for (const atOnce of [1, 10, 10_000]) {
      const found = await database.read(Number(institutionId) as InstitutionId, (db) =>
        findingsIn(db, institutionId, atOnce),
      );
      assert.deepEqual(found, [], `chunks of ${atOnce}`);
    }
  }
});

test('reconciliation reads no account entry by entry if nothing is wrong', async () => {
  const asked: string[] = [];
  await service.service.context.database.read(Number(names.lakeside) as InstitutionId, (db) => {
    const watched: Queryable = {
      institutionId: db.institutionId,
      query: (statement, values) => {
        asked.push(statement.name);
        return db.query(statement, values);
      },
    };
    return findingsIn(watched, names.lakeside, 10_000);
  });
  assert.ok(asked.includes('check_told_in_events'), 'events were counted off');
  assert.deepEqual(
    asked.filter((name) => name === 'check_untold_entries'),
    [],
  );
});

describe('single defects of the books', () => {
  for (const { what, at, sql, found, inFullRunsOnly } of corruptions) {
    test(`reconciliation finds ${what}, and nothing else with it`, async () => {
      assert.deepEqual(await foundAfter(sql(), names[at ?? 'lakeside']), [...found()].sort());
      const since = beforeHistory.get(at ?? 'lakeside');
      const left = new Set(inFullRunsOnly?.());
      assert.deepEqual(
        await foundAfter(sql(), names[at ?? 'lakeside'], since),
        found()
          .filter((line) => !left.has(line))
          .sort(),
      );
    });
  }
});

test('a run of the changes reads no account, transfer or event of before its checkpoint', async () => {
  const { at, ...position } = await checkpointNow('lakeside');
  const later = { at: new Date(at.getTime() + 86_400_000), ...position };
  const read = new Map<string, number>();
  const { database } = service.service.context;
  await database.read(Number(names.lakeside) as InstitutionId, (db) => {
    const watched: Queryable = {
      institutionId: db.institutionId,
      query: async (statement, values = []) => {
        const [, keys] = values;
        if (Array.isArray(keys)) read.set(statement.name, keys.length);
        return db.query(statement, values);
      },
    };
    return findingsIn(watched, names.lakeside, 10_000, later);
  });
  assert.deepEqual([...read], []);
});

test('a run of the changes finds what went wrong since an earlier one, in chunks of any size', async () => {
  const since = await checkpointNow('lakeside');
  time.advance(3_600);
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const order = { id: 'since', fromAccountId: checking, toAccountId: savings, amount: 1 };
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  const { database } = service.service.context;
  for (const atOnce of [1, 3, 10_000]) {
    const found = await database.read(Number(names.lakeside) as InstitutionId, (db) =>
      findingsIn(db, names.lakeside, atOnce, since),
    );
    assert.deepEqual(found, []);
  }
  const untold = `delete from outbox where institution_id = ${names.lakeside} and subject_key = (
    select transfer_key from transfers where transfer_id = 'since' and institution_id = ${names.lakeside})`;
  const lost = await foundAfter(untold, names.lakeside, since);
  assert.deepEqual(
    lost.map((line) => line.replace(/\d+$/, 'n')),
    [`event-gap: ${checking}, entry n`, `event-gap: ${savings}, entry n`],
  );
});

test('a limit set in the middle of a period has not counted earlier transfers, and reconciles', async () => {
  const harbor = await memberOf(service, 'demo.member', 'harbor-member-password', [
    'harbor-app',
    'harbor-app-secret',
  ]);
  await superuser.query(
    `insert into limit_keys
     values (${names.harbor}, 91, 'USER DAY   USD'), (${names.harbor}, 92, 'CUSTOMER MONTH   USD'),
            (${names.harbor}, 93, 'ACCOUNT MONTH   USD')`,
  );
  await superuser.query(
    `insert into transfer_limits (institution_id, limit_key, subject, period, currency, max_amount, max_count)
     select ${names.harbor}, key, subject, period, 'USD', 100000000, 100
     from (values (91, 'USER', 'DAY'), (92, 'CUSTOMER', 'MONTH'), (93, 'ACCOUNT', 'MONTH')) as v (key, subject, period)`,
  );
  for (const amount of [30, 31]) {
    const order = { fromAccountId: savings, toAccountId: checking, amount };
    const { status, text } = await harbor.post(paths.transfers, order);
    assert.equal(status, 201, text);
  }
  const { rows } = await superuser.query(
    `select distinct amount, transfers from limit_counters where limit_key > 90 and institution_id = ${names.harbor}`,
  );
  assert.deepEqual(rows, [{ amount: 6100n, transfers: 2 }], 'counted since then');

  const unchanged = `update transfer_limits set currency = currency where institution_id = ${names.harbor}`;
  assert.deepEqual(await foundAfter(unchanged, names.harbor), []);
  const written = (change: string) =>
    foundAfter(
      `update limit_counters set ${change} where limit_key = 93 and institution_id = ${names.harbor}`,
      names.harbor,
    );
  const named = [`limit-counter: limit 93 of account ${names.monthly} from 2026-03-01`];
  assert.deepEqual(await written('amount = amount - 1'), named);
  assert.deepEqual(await written('transfers = transfers + 5'), named);
  assert.deepEqual(await written('transfers = transfers - 1'), named);
  // Once it has counted in an earlier period, whole periods count.
  const before = `insert into limit_counters (institution_id, limit_key, subject_key, period_start, amount, transfers)
                  values (${names.harbor}, 93, 1, '2026-02-01', 0, 0)`;
  const whole = await foundAfter(before, names.harbor);
  assert.ok(
    named.every((line) => whole.includes(line)),
    whole.join(),
  );
});

test('reconciliation names the first hundred defects of a kind, and reports that there are more', async () => {
  for (const [kind, check, first, more] of [
    ['ADJUSTMENT', 'posting-sum', 'posting 501', 'postings'],
    ['TRANSFER', 'event-gap', `${savings}, entry 6`, savings],
  ] as const) {
    const many = `insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after,
                                       debits_pending_after, credits_pending_after, recorded_at)
                  select b.institution_id, b.account_key, b.seq + n, 500 + n, '${kind}', 1, b.posted + n, b.debits_pending, b.credits_pending,
                         b.last_at
                  from balances b, generate_series(1, 101) n
                  where b.institution_id = ${names.lakeside} and b.account_id = '${savings}'`;
    const ahead = `with entered as (${many}) update balances set seq = seq + 101 where ${onAccount(savings)}`;
    const found = (await foundAfter(ahead, names.lakeside)).filter((line) => line.startsWith(`${check}: `));
    assert.equal(found.length, 101);
    for (const row of [first, more]) assert.ok(found.includes(`${check}: ${row}`), row);
  }
});

test('reconciliation finds nothing while orders are under way', async () => {
  const app = await clientOf(service);
  let going = true;
  const pay = async (from: string, to: string) => {
    while (going) {
      const order = { fromAccountId: from, toAccountId: to, amount: 0.01 };
      assert.equal((await app.post(paths.transfers, order)).status, 201);
    }
  };
  const paying = [
    pay(checking, savings),
    pay(savings, checking),
    pay('a-1003-checking', elsewhere),
    pay(checking, loan),
  ];
  try {
    const { database } = service.service.context;
    for (let round = 0; round < 5; round++) {
      const found = await database.read(Number(names.lakeside) as InstitutionId, (db) =>
        findingsIn(db, names.lakeside, 20),
      );
      assert.deepEqual(found, []);
    }
  } finally {
    going = false;
    await Promise.all(paying);
  }
});

test('sharedraft reconcile names defects and exits with 3, and with 0 when everything agrees', async () => {
  const clean = await runCli(service.db, ['reconcile']);
  assert.equal(clean.code, 0, clean.stderr);
  assert.match(clean.stdout, /harbor: everything agrees\./);
  assert.match(clean.stdout, /lakeside: everything agrees\./);

  await superuser.query(`set session_replication_role = replica`);
  await superuser.query(`update balances set posted = posted + 1 where ${onAccount(ira)}`);
  const off = await runCli(service.db, ['reconcile']);
  assert.equal(off.code, 3, off.stderr);
  assert.match(
    off.stdout,
    /^lakeside {2}balance-posted {2}a-1001-ira: posted is \d+, its entries add up to \d+$/m,
  );
  assert.match(off.stdout, /^lakeside: 2 rows are off\.$/m);
  assert.match(off.stdout, /harbor: everything agrees\./);
  const other = await runCli(service.db, ['reconcile', '--institution', 'harbor']);
  assert.equal(other.code, 0, other.stderr);

  const changes = () => runCli(service.db, ['reconcile', '--changes', '--institution', 'lakeside']);
  const checkpoint = async () =>
    (
      await superuser.query(
        `select checkpoint_at, full_at from reconcile_runs where institution_id = ${names.lakeside}`,
      )
    ).rows[0];
  const standing = await checkpoint();
  assert.ok(standing.checkpoint_at !== null, 'the run that found nothing left a checkpoint');
  const found = await changes();
  assert.equal(found.code, 3, found.stderr);
  assert.match(found.stdout, /trial-balance/);
  assert.deepEqual(await checkpoint(), standing, 'a run with findings moves no checkpoint');
  await superuser.query(`update balances set posted = posted - 1 where ${onAccount(ira)}`);
  const mended = await changes();
  assert.match(mended.stdout, /lakeside: everything changed since .+ agrees\./);
  const moved = await checkpoint();
  assert.ok(moved.checkpoint_at > standing.checkpoint_at);
  assert.deepEqual(moved.full_at, standing.full_at, 'it was no full run');
  await runCli(service.db, ['restored']);
  assert.match(
    (await changes()).stdout,
    /lakeside: no checkpoint, so every row is checked\.\nlakeside: everything agrees/,
  );
});
