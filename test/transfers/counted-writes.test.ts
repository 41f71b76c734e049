import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sqlStateOf } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { unchangedProgram } from '../support/mutant.ts';
import { dumpTables } from '../support/tables.ts';
import { limit, policy, Teller } from '../support/teller.ts';

/*
 * COMMIT is sent behind the writes of a batch, before their responses are read. If a table accepts a row without an
 * error and does not keep it, like a change hidden by a policy, the database itself rolls the batch back.
 */

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
  await db.superuser(
    'create function swallow() returns trigger language plpgsql as $$ begin return null; end $$',
  );
});
after(() => db.close());

const pay = (id: string) => (teller: Teller) =>
  teller.order('ada', { id, from: 'ada-checking', to: 'ada-savings', amount: '10.00' });
const payLoan = (teller: Teller) =>
  teller.order('ada', { id: 'loan', from: 'ada-savings', to: 'ada-loan', amount: '100.00' });
const cancel = (teller: Teller) => teller.cancel('ada', 'first');
const approve = (teller: Teller) => teller.review('approve', 'ann', 'first');

const counted = { limits: [limit({ maxAmount: 1_000_00n })] };
const review = { above: 0n, secondAbove: 0n, seconds: 3_600, onReviewTimeout: 'EXPIRE' as const };
const reviewed = { ...counted, policies: [policy({ type: 'STANDARD', review })] };

interface Case {
  readonly table: string;
  readonly write: 'insert' | 'update' | 'delete';
  readonly world?: typeof counted;
  readonly before?: (teller: Teller) => Promise<string>;
  readonly act: (teller: Teller) => Promise<string>;
  /** The outcome if the table keeps its rows. */
  readonly otherwise: string;
}

const first = pay('first');
const cases: readonly Case[] = [
  { table: 'balances', write: 'update', act: first, otherwise: 'COMPLETED' },
  { table: 'entries', write: 'insert', act: first, otherwise: 'COMPLETED' },
  { table: 'idempotency_keys', write: 'insert', act: first, otherwise: 'COMPLETED' },
  { table: 'transfers', write: 'insert', act: first, otherwise: 'COMPLETED' },
  { table: 'outbox', write: 'insert', act: first, otherwise: 'COMPLETED' },
  { table: 'limit_counters', write: 'insert', world: counted, act: first, otherwise: 'COMPLETED' },
  {
    table: 'limit_counters',
    write: 'update',
    world: counted,
    before: first,
    act: pay('second'),
    otherwise: 'COMPLETED',
  },
  { table: 'pending_transfers', write: 'insert', world: reviewed, act: first, otherwise: 'PENDING' },
  { table: 'limit_uses', write: 'insert', world: reviewed, act: first, otherwise: 'PENDING' },
  ...(
    [
      ['transfers', 'update'],
      ['pending_transfers', 'delete'],
      ['limit_uses', 'delete'],
    ] as const
  ).map(
    ([table, write]): Case => ({
      table,
      write,
      world: reviewed,
      before: first,
      act: cancel,
      otherwise: 'transfer_cancelled',
    }),
  ),
  ...(
    [
      ['transfer_approvals', 'insert'],
      ['pending_transfers', 'update'],
    ] as const
  ).map(
    ([table, write]): Case => ({
      table,
      write,
      world: reviewed,
      before: first,
      act: approve,
      otherwise: 'waits_for_approval',
    }),
  ),
  { table: 'loan_payments', write: 'insert', act: payLoan, otherwise: 'COMPLETED' },
  { table: 'loans', write: 'update', act: payLoan, otherwise: 'COMPLETED' },
];

for (const { table, write, world, before, act, otherwise } of cases) {
  test(`rolls back the batch with an internal error if ${table} drops one ${write}`, async () => {
    await using teller = await Teller.of(unchangedProgram, db, world);
    await before?.(teller);
    const untouched = await dumpTables(db);

    await db.superuser(
      `create trigger swallowing before ${write} on ${table} for each row execute function swallow()`,
    );
    try {
      assert.equal(await act(teller), 'problem internal_error');
    } finally {
      await db.superuser(`drop trigger swallowing on ${table}`);
    }
    assert.equal(sqlStateOf(teller.cause), 'SD016');
    assert.match(String(teller.cause), new RegExp(`\\d rows of ${table} were written, [12] were sent`));
    assert.deepEqual(await dumpTables(db), untouched);

    assert.equal(await act(teller), otherwise);
  });
}
