/*
 * The ledger's core alone: batches that share a commit, against a transaction per transfer that does the same work by
 * hand: id, locks, account, limit, counter, balances, transfer, entries, event; prepared, one statement at a time, as
 * the same role under the same policies and triggers. Both on the embedded database, fsync on, rounds in turn.
 *
 *   node bench/ledger-core.ts [orders a round] [rounds]
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { PostingKeys } from '../src/ledger/index.ts';
import { Database } from '../src/storage/index.ts';
import {
  deskSettings,
  initiateTransfer,
  openTransferDesk,
  rememberSettings,
  transferLanes,
} from '../src/transfers/index.ts';
import { startTestService } from '../test/support/service.ts';

const orders = Number(process.argv[2] ?? 6_000);
const rounds = Number(process.argv[3] ?? 3);
const accounts = 10_000;

await using service = await startTestService();
const { connection, superuser } = service.db;
const { database } = service.service.stores;
const institution = await database.directory((db) => findInstitutionByCode(db, 'harbor'));
if (institution === undefined) throw new Error('no institution');
const { institutionId } = institution;
await plant();

const ledger = new Database({
  connection,
  maxConnections: transferLanes,
  settings: deskSettings,
});
const desk = openTransferDesk(ledger, {
  clock: () => new Date(),
  postingKeys: new PostingKeys(database),
  settings: rememberSettings(database),
});

let nextId = 0;
const results: Record<string, number[]> = {};
for (let round = 0; round < rounds; round++) {
  for (const clients of [8, 16, 32]) await measure(`equal work, ${clients} clients`, () => byHand(clients));
  for (const callers of [64, 256]) await measure(`ours, ${callers} callers`, () => ours(callers));
}
const medians = Object.fromEntries(Object.entries(results).map(([name, rates]) => [name, median(rates)]));
const baseline = Math.max(
  ...Object.entries(medians).flatMap(([name, rate]) => (name.startsWith('equal') ? [rate] : [])),
);
for (const [name, rate] of Object.entries(medians)) {
  console.log(
    `${name.padEnd(26)} ${Math.round(rate).toString().padStart(7)} a second   ${(rate / baseline).toFixed(2)}×`,
  );
}
await ledger.close();

async function measure(name: string, work: () => Promise<void>): Promise<void> {
  await sleep(200);
  const started = performance.now();
  await work();
  results[name] ??= [];
  results[name].push(orders / ((performance.now() - started) / 1000));
}

function median(rates: readonly number[]): number {
  return rates.toSorted((a, b) => a - b)[rates.length >> 1] as number;
}

function randomPair(): readonly [number, number] {
  const from = Math.floor(Math.random() * accounts);
  const to = (from + 1 + Math.floor(Math.random() * (accounts - 1))) % accounts;
  return [from, to];
}

async function ours(callers: number): Promise<void> {
  const actor = { kind: 'client', institutionId, clientId: 'harbor-app' } as const;
  let left = orders;
  const call = async () => {
    while (left-- > 0) {
      const [from, to] = randomPair();
      const outcome = await initiateTransfer(desk, actor, {
        transferId: `ours-${nextId++}`,
        fromAccountId: `bench-${from}`,
        toAccountId: `bench-${to}`,
        amount: { digits: 1n, decimals: 2 },
        currencyCode: null,
        transferType: null,
        paymentOption: null,
        previousYearContribution: null,
      });
      if (outcome.kind !== 'new' || outcome.transfer.status !== 'COMPLETED')
        throw new Error(JSON.stringify(outcome.kind));
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}

async function byHand(clients: number): Promise<void> {
  let left = orders;
  const client = async () => {
    const db = new pg.Client({
      ...connection,
      options: '-c role=sharedraft_service -c synchronous_commit=on -c jit=off',
    });
    await db.connect();
    await db.query(`select set_config('sharedraft.institution', '${institutionId}', false)`);
    const run = (name: string, text: string, values: unknown[]) => db.query({ name, text, values });
    while (left-- > 0) {
      const [from, to] = randomPair();
      const id = `hand-${nextId++}`;
      const pair = [`bench-${from}`, `bench-${to}`];
      await db.query('begin');
      const { rows } = await run(
        'lock',
        `select account_key, account_id, posted, seq from balances where institution_id = $1
         and account_id = any ($2) order by account_key for no key update`,
        [institutionId, pair],
      );
      await run('id', 'select from used_ids where institution_id = $1 and transfer_id = $2', [
        institutionId,
        id,
      ]);
      const facts = await run(
        'facts',
        `select a.account_key, a.customer_key, a.closed, a.overdraft_limit from accounts a
         where institution_id = $1 and account_id = any ($2)`,
        [institutionId, pair],
      );
      const source = rows.find((row) => row.account_id === pair[0]);
      const target = rows.find((row) => row.account_id === pair[1]);
      const { customer_key: customer } = facts.rows.find((row) => row.account_key === source.account_key);
      const key = await run('key', `select nextval('posting_keys') as key`, []);
      const posting = key.rows[0].key;
      const now = new Date();
      await run(
        'count',
        `insert into limit_counters values ($1, 1, $2, $3, 1, 1, null, null)
         on conflict (institution_id, limit_key, subject_key, period_start)
         do update set amount = limit_counters.amount + 1, transfers = limit_counters.transfers + 1`,
        [institutionId, customer, now],
      );
      await run(
        'post',
        `with moved as (
           update balances b set posted = b.posted + v.amount, seq = b.seq + 1, last_at = $2
           from (values ($3::bigint, -1), ($4::bigint, 1)) v (account_key, amount)
           where b.institution_id = $1 and b.account_key = v.account_key
           returning b.account_key, v.amount, b.posted, b.seq)
         insert into entries
         select $1, account_key, seq, $5::bigint, 'TRANSFER', amount, posted, 0, 0, null::bigint, null::bigint, $2 from moved`,
        [institutionId, now, source.account_key, target.account_key, posting],
      );
      await run('use', 'insert into used_ids values ($1, $2, $3)', [institutionId, id, posting]);
      await run(
        'transfer',
        `insert into transfers values ($1, $2, $3, 'INTRA_FI', $4, $5, $6, $7, 1, 'USD', 'COMPLETED', null, null,
                                       'harbor-app', null, $8, $8)`,
        [institutionId, posting, id, ...pair, source.account_key, target.account_key, now],
      );
      await run(
        'event',
        `insert into outbox (institution_id, kind, subject_key, from_key, from_seq, to_key, to_seq, recorded_at)
         values ($1, 'transfer.completed', $2, $3, $4, $5, $6, $7)`,
        [
          institutionId,
          posting,
          source.account_key,
          Number(source.seq) + 1,
          target.account_key,
          Number(target.seq) + 1,
          now,
        ],
      );
      await db.query('commit');
    }
    await db.end();
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Members, accounts with money, and a daily limit that is counted and never reached. */
async function plant(): Promise<void> {
  await superuser(`select set_config('sharedraft.institution', '${institutionId}', false)`);
  await superuser(
    `insert into customers (institution_id, customer_id, member_number, member_type)
     select $1, 'bench-' || i, 'B' || i, 'RETAIL' from generate_series(0, ${accounts - 1}) i`,
    [institutionId],
  );
  await superuser(
    `insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category,
                           description, currency)
     select $1, customer_id, customer_key, member_number, 'CHECKING', 'DEPOSIT', 'Bench', 'USD'
     from customers where institution_id = $1 and customer_id like 'bench-%'`,
    [institutionId],
  );
  await superuser(
    `insert into balances (institution_id, account_key, account_id, currency, posted, held_out, held_in, seq, last_at)
     select institution_id, account_key, account_id, currency, 0, 0, 0, 0, now()
     from accounts where institution_id = $1 and account_id like 'bench-%'`,
    [institutionId],
  );
  await superuser(
    'update accounts set overdraft_limit = 1000000 where institution_id = $1 and account_id like $2',
    [institutionId, 'bench-%'],
  );
  for (const table of ['transfer_limits', 'transfer_policies']) {
    await superuser(`delete from ${table} where institution_id = $1`, [institutionId]);
  }
  await superuser(
    `insert into transfer_limits (institution_id, limit_key, subject, period, currency, max_amount)
     values ($1, 1, 'CUSTOMER', 'DAY', 'USD', 1000000000)`,
    [institutionId],
  );
}
