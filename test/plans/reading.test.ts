import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type pg from 'pg';
import { operations } from '../../src/http/operations.ts';
import { selectPostingSides } from '../../src/operators/accounts/posting-queries.ts';
import { selectReviews } from '../../src/operators/figures/figure-queries.ts';
import { edgesOfAges, ordersOfAge } from '../../src/operators/figures/waiting-ages.ts';
import { selectAccountsOfType, selectLastRead } from '../../src/operators/ledger/class-queries.ts';
import { selectOwnWindow } from '../../src/operators/transfers/own-transfer-queries.ts';
import {
  selectTransferWindow,
  type TransferSearchFilter,
} from '../../src/operators/transfers/search-queries.ts';
import { selectUsual } from '../../src/operators/transfers/usual-queries.ts';
import { type Queryable, sql } from '../../src/storage/index.ts';
import { firstPosition, selectPendingPage } from '../../src/transfers/desk/pending-queries.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';
import { type Filled, fill, withoutIndexes } from '../support/reading-fill.ts';
import { breaches, measureReads, type Read, readsOf } from '../support/reading-plans.ts';

// The bounds of a page are independent of the size of the tables: `node bench/reading-plans.ts` checks the same pages
// against the same numbers at a million transfers.
const transfers = 60_000;

let db: TestDatabase;
let filled: Filled;

before(async () => {
  db = await testDatabase();
  filled = await fill(db, transfers);
});
after(() => db.close());

describe('bounded reads of pages and lists', () => {
  test('each page needs few rows as planned before the tables were ever analyzed', async () => {
    assert.deepEqual(breaches(await measureReads(db, filled)), []);
  });

  test('each page needs few rows if indexes that look equal to the planner were made in another order', async () => {
    await asSuperuser(db.connection, async (client) => (await withoutIndexes(client))('reversed'));
    assert.deepEqual(breaches(await measureReads(db, filled)), []);
  });

  test('each page needs few rows as planned from statistics', async () => {
    await db.superuser('analyze');
    const measured = await measureReads(db, filled);
    assert.deepEqual(breaches(measured), []);
    const full = measured.filter((one) => one.returned >= 50);
    assert.ok(full.length > measured.length / 2, 'most of the pages measured are full ones');
  });

  test('the transfers that wait are counted by age, and listed, by their keys', async () => {
    const { institution } = filled;
    const { institutionId } = institution;
    await asSuperuser(db.connection, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query(
        `insert into pending_transfers (institution_id, transfer_key, held_for, due_at, when_due, approvals_needed)
         select institution_id, transfer_key, 'REVIEW', created_at + interval '3 days', 'EXPIRE', 1
         from transfers where institution_id = $1 and status = 'PENDING'`,
        [institutionId],
      );
      await client.query(`set session_replication_role = default`);
    });
    const now = new Date(filled.start.getTime() + transfers * 1_000);
    const read = (name: string, run: (q: Queryable) => Promise<unknown>): Read => ({
      ...{ name, deep: null },
      run: (database) => database.read(institutionId, run),
    });
    const ordered = ordersOfAge('UNDER_A_DAY', now);
    const measured = await measureReads(db, filled, [
      read('counted', (q) => selectReviews(q, edgesOfAges(now))),
      read('listed', (q) =>
        selectPendingPage(q, firstPosition, { filter: { heldFor: 'REVIEW', ordered }, limit: 1_000 }),
      ),
    ]);
    const waiting = (transfers / 1_000) * 2;
    for (const { read: name, plan, rowsRead, sequentialScans } of measured) {
      assert.deepEqual(sequentialScans, [], `${name}, ${plan} plan`);
      assert.ok(rowsRead <= waiting, `${name}, ${plan} plan: ${rowsRead} rows read`);
    }
  });

  test('a search of operators reads the rows of its period, newest first, and few of others', async () => {
    const { institutionId } = filled.institution;
    const at = (share: number) => new Date(filled.start.getTime() + Math.floor(transfers * share) * 1_000);
    const middle = { since: at(0.4), until: at(0.6) };
    const read = (name: string, filter: TransferSearchFilter, share?: number): Read[] =>
      [true, false].map((isDescending) => ({
        ...{ name: `${name}, ${isDescending ? 'newest' : 'oldest'} first`, deep: null },
        run: (database) =>
          database.read(institutionId, (q) => {
            const place = share === undefined ? undefined : { at: at(share), amount: 1n, key: 1n };
            return selectTransferWindow(q, { filter, isDescending, place, limit: 51 });
          }),
      }));
    const measured = await measureReads(db, filled, [
      ...read('all', {}),
      ...read('a period', middle),
      ...read('a period, deep', middle, 0.5),
      ...read('failed in a period', { ...middle, status: 'FAILED' }),
      ...read('of a rare type in a period', { ...middle, transferType: 'IRA_CONTRIBUTION' }),
      ...read('a period without transfers', { since: at(2), until: at(3) }),
    ]);
    assert.deepEqual(breaches(measured), []);
    const own = (name: string, filter: TransferSearchFilter): Read[] =>
      [true, false].map((isDescending) => ({
        ...{ name: `${name}, ${isDescending ? 'newest' : 'oldest'} first`, deep: null },
        run: (database) =>
          database.read(institutionId, (q) => selectOwnWindow(q, { filter, isDescending, limit: 51 })),
      }));
    const [{ user_id: userId } = { user_id: '' }] = await db.superuser<{ user_id: string }>(
      'select user_id from users where institution_id = $1 and user_key = $2',
      [institutionId, filled.member.userKey],
    );
    const ofOne = await measureReads(db, filled, [
      ...own('of an account', { accountId: filled.shop.accountId }),
      ...own('of an account, failed, in a period', {
        accountId: filled.own.accountId,
        status: 'FAILED',
        ...middle,
      }),
      ...own('of a member', { userId }),
    ]);
    assert.deepEqual(breaches(ofOne), []);
    assert.ok(
      ofOne.every(({ returned }) => returned === 51),
      JSON.stringify(ofOne),
    );
    const full = measured.filter(({ returned }) => returned === 51);
    assert.equal(full.length, 16, JSON.stringify(measured));
  });

  test('the usual transfers of an account are its newest ones, whatever else there is', async () => {
    const { institutionId } = filled.institution;
    const at = (share: number) => new Date(filled.start.getTime() + Math.floor(transfers * share) * 1_000);
    const most = 50;
    const order = {
      ...{
        fromAccountId: filled.own.accountId,
        fromKey: filled.own.accountKey,
        toKey: filled.shop.accountKey,
      },
      ...{ amount: 100n, currency: 'USD', createdAt: at(0.9) },
    };
    const wanted = { order, since: at(0.1), mostOfAccount: most, mostAccounts: 10 };
    const measured = await measureReads(db, filled, [
      {
        name: 'usual',
        deep: null,
        run: (database) => database.read(institutionId, (q) => selectUsual(q, wanted)),
      },
    ]);
    assert.ok(measured.length > 0);
    for (const { plan, rowsRead, sequentialScans } of measured) {
      assert.deepEqual(sequentialScans, [], `${plan} plan`);
      // Three types of transfers out of two accounts.
      assert.ok(rowsRead <= 3 * 2 * most, `${plan} plan: ${rowsRead} rows read`);
    }
    const [own, others] = await db.database.read(institutionId, (q) => selectUsual(q, wanted));
    for (const row of [own, others]) {
      assert.deepEqual([row?.transfers, row?.isCut, row?.median, row?.largest], [most, true, 100n, 100n]);
    }
  });

  test('both sides of a posting are found by the numbers of its moment', async () => {
    const { institutionId } = filled.institution;
    const { accountKey } = filled.joint;
    const [entry] = await db.superuser<{ recorded_at: Date; posting_key: string }>(
      `select recorded_at, posting_key::text from entries
       where institution_id = ${institutionId} and account_key = ${accountKey} order by seq desc offset 100 limit 1`,
    );
    assert.ok(entry !== undefined);
    const of = {
      accountKeys: [accountKey, filled.own.accountKey],
      ...{ recordedAt: entry.recorded_at, postingKey: BigInt(entry.posting_key) },
    };
    const read: Read = {
      ...{ name: 'sides', deep: null },
      run: (database) => database.read(institutionId, (q) => selectPostingSides(q, of)),
    };
    const measured = await measureReads(db, filled, [read]);
    assert.ok(measured.every(({ returned }) => returned > 0));
    assert.deepEqual(breaches(measured), []);
  });

  test('a page of the accounts of a class reads those accounts and no others, also of a rare class and of a moment in the past', async () => {
    const { institutionId } = filled.institution;
    await asSuperuser(db.connection, (client) => manyAccounts(client, institutionId));
    const moved = new Date('2026-01-02T00:00:00Z');
    const read = (
      name: string,
      of: Parameters<typeof selectAccountsOfType>[2],
      before: Date | null,
    ): Read => ({
      ...{ name, deep: null },
      run: (database) => database.read(institutionId, (q) => selectAccountsOfType(q, before, of)),
    });
    const page = { class: 'MONEY_MARKET', currency: 'USD', limit: 51 };
    const measured = await measureReads(db, filled, [
      read('first', { ...page, after: 0n }, null),
      read('deep', { ...page, after: 7_025_000n }, null),
      read('of the past', { ...page, after: 7_025_000n }, moved),
      read('rare', { ...page, class: 'KEOGH', after: 0n }, null),
      {
        ...{ name: 'last', deep: null },
        run: (database) =>
          database.read(institutionId, (q) => selectLastRead(q, { ...page, after: 7_000_000n })),
      },
    ]);
    for (const { read: name, plan, returned, buffers } of measured) {
      const expected = name === 'rare' ? 3 : name === 'last' ? 1 : 51;
      assert.equal(returned, expected, `${name}, ${plan} plan`);
      // An account, its balance, its membership and an entry are some five blocks each; the accounts alone fill 600.
      assert.ok(buffers <= 20 * returned + 40, `${name}, ${plan} plan: ${buffers} buffers`);
    }
  });

  test('the measure of pages notices a longer read', async () => {
    const { institutionId } = filled.institution;
    const naive = (name: string, text: string): Read => ({
      name,
      deep: null,
      run: (database) =>
        database.read(institutionId, (q) => q.query(sql(`naive_${name}`, text), [institutionId])),
    });
    const found = breaches(
      await measureReads(db, filled, [
        naive(
          'offset',
          `select * from transfers where institution_id = $1 and list_class = 15
           order by created_at desc, transfer_key desc offset 5000 limit 50`,
        ),
        naive('filter', `select * from transfers where institution_id = $1 and amount = 7 limit 50`),
      ]),
    );
    assert.match(found.join('\n'), /offset.* rows read for 50/);
    assert.match(found.join('\n'), /filter.* a sequential scan/);
  });
});

/** 30,000 accounts of a type, three of another, each with an entry on the first of January and one on the second. */
async function manyAccounts(client: pg.ClientBase, institutionId: number): Promise<void> {
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into accounts (institution_id, account_key, account_id, customer_key, account_number, di_account_type, category, description, currency)
     overriding system value
     select $1, 7000000 + n, 'a-many-' || n, (select min(customer_key) from customers where institution_id = $1), n::text,
            case when n % 10000 = 0 then 'KEOGH' else 'MONEY_MARKET' end, case when n % 10000 = 0 then 'INVESTMENT' else 'DEPOSIT' end, '', 'USD'
     from generate_series(1, 30000) n`,
    [institutionId],
  );
  await client.query(
    `insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
     select institution_id, account_key, account_id, 'USD', 200, 0, 0, 2, '2026-01-02T12:00:00Z'
     from accounts where institution_id = $1 and account_key > 7000000`,
    [institutionId],
  );
  await client.query(
    `insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after, debits_pending_after, credits_pending_after, recorded_at)
     select institution_id, account_key, n, 8000000 + account_key * 2 + n, 'OPENING', 100, n * 100, 0, 0,
            timestamptz '2025-12-31T12:00:00Z' + n * interval '1 day'
     from accounts, generate_series(1, 2) n where institution_id = $1 and account_key > 7000000`,
    [institutionId],
  );
  await client.query('set session_replication_role = default');
}

/** The names of the measured reads of each list. */
const measuredAs: Readonly<Record<string, string>> = {
  listTransfers: 'transfers',
  listTransactions: 'transactions',
  getBalances: 'balances as of a moment',
  readEvents: 'events',
};
/** These find one row, or the few rows of one person, by a key. */
const byKey = [
  'getMemberProfile',
  'getUserInfo',
  'listConsents',
  'getAccount',
  'listAccounts',
  'getMemberAccounts',
  'getTransferOptions',
  'getTransfer',
  'getActivationCode',
  'getEmailCode',
  'getAlertPreferences',
  'listWebhooks',
  'getWebhook',
  'getCoreConnection',
  'getBreak',
  'getFdxCustomer',
  'listFdxAccounts',
  'getFdxAccount',
];
/**
 * Pages in the order of a key that begins with the endpoint or the member, the instructions that no one has decided, breaks, and FDX's
 * form of listTransactions.
 */
const pagedByKey = [
  'listAlerts',
  'listWebhookAttempts',
  'listWebhookDeliveries',
  'listInstructions',
  'listBreaks',
  'listFdxTransactions',
];

test('each operation that reads is measured, or finds its rows by a key', () => {
  const names = readsOf(filled).map(({ name }) => name.split(',')[0]);
  assert.deepEqual([...new Set(names)], Object.values(measuredAs));
  const reading = operations.filter(({ method, token }) => method === 'GET' && token !== 'none');
  assert.deepEqual(
    reading.map(({ operationId }) => operationId).toSorted(),
    [...Object.keys(measuredAs), ...byKey, ...pagedByKey].toSorted(),
  );
  const lists = operations.filter(({ query }) => query !== undefined && 'after' in query.properties);
  for (const { operationId } of lists) {
    assert.ok(operationId in measuredAs || pagedByKey.includes(operationId), operationId);
  }
});
