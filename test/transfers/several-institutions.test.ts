import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { ownOrigin } from '../../src/events/index.ts';
import { type DecimalAmount, parseDecimalAmount } from '../../src/ledger/index.ts';
import { type Finding, reconcile } from '../../src/reconciliation/index.ts';
import { seams } from '../../src/shared/seams.ts';
import { initiateTransfer, type TransferDesk } from '../../src/transfers/index.ts';
import { deskOf, type TestDesk } from '../support/desk.ts';
import { serviceRole } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Orders of lakeside and harbor in one batch. Both institutions have accounts of the same ids. */

let service: TestService;
let lakeside: TestDesk;
let harbor: TestDesk;
/** The institutions of each batch, in order. */
const batches: (readonly number[])[] = [];
const note = {
  start: ({ institutionIds }: { readonly institutionIds: readonly number[] }) => batches.push(institutionIds),
};
const subscriber = note as unknown as Parameters<typeof seams.batch.subscribe>[0];
before(async () => {
  service = await startTestService();
  lakeside = await deskOf(service, 'lakeside');
  harbor = await deskOf(service, 'harbor');
  seams.batch.subscribe(subscriber);
});
after(async () => {
  seams.batch.unsubscribe(subscriber);
  await lakeside[Symbol.asyncDispose]();
  await harbor[Symbol.asyncDispose]();
  await service.close();
});

interface Leg {
  readonly of: TestDesk;
  readonly id: string;
  readonly from?: string;
  readonly to?: string;
}

const cent = parseDecimalAmount('0.01') as DecimalAmount;

/** Through one desk, whose queue takes all orders of a turn into one batch. */
function order(desk: TransferDesk, { of, id, from = 'a-1001-checking', to = 'a-1001-savings' }: Leg) {
  const actor = { kind: 'client', institutionId: of.institutionId, clientId: 'test' } as const;
  const asked = {
    transferId: id,
    fromAccountId: from,
    toAccountId: to,
    amount: cent,
    currencyCode: null,
    transferType: null,
    paymentOption: null,
    previousYearContribution: null,
    memo: null,
  };
  return initiateTransfer(desk, actor, { order: asked, origin: ownOrigin() });
}
const statusOf = async (outcome: ReturnType<typeof order>) => {
  const found = await outcome;
  return found.kind === 'new' ? found.transfer.status : found.kind;
};
const balanceOf = async ({ institutionId }: TestDesk, accountId: string) => {
  const [row] = await service.db.superuser<{ posted: bigint }>(
    'select posted from balances where institution_id = $1 and account_id = $2',
    [institutionId, accountId],
  );
  return row?.posted as bigint;
};
async function assertReconciled(): Promise<void> {
  for (const { institutionId, database } of [lakeside, harbor]) {
    const findings: Finding[] = [];
    await reconcile(database, institutionId, { onFinding: (finding) => findings.push(finding) });
    assert.deepEqual(findings, []);
  }
}
const both = () => batches.filter((institutions) => institutions.length === 2).length;

test('orders of two institutions on accounts of the same ids share a commit, and each moves its own money', async () => {
  const before = await Promise.all([lakeside, harbor].map((one) => balanceOf(one, 'a-1001-checking')));
  const legs = [
    { of: lakeside, id: 'same' },
    { of: harbor, id: 'same' },
    { of: harbor, id: 'second' },
  ];
  const statuses = await Promise.all(legs.map((leg) => statusOf(order(lakeside.desk, leg))));
  assert.deepEqual(statuses, ['COMPLETED', 'COMPLETED', 'COMPLETED']);
  assert.equal(both(), 1);
  assert.deepEqual(
    batches.at(-1),
    [lakeside.institutionId, harbor.institutionId].toSorted((a, b) => a - b),
  );
  const after = await Promise.all([lakeside, harbor].map((one) => balanceOf(one, 'a-1001-checking')));
  assert.deepEqual(after, [(before[0] ?? 0n) - 1n, (before[1] ?? 0n) - 2n]);
  await assertReconciled();
});

test('an order that breaks the database’s rules in one institution fails alone, and stores nothing', async () => {
  await service.db.superuser(
    `create function poison() returns trigger language plpgsql as $$
     begin
       if new.transfer_id = 'poison' then raise exception 'poison'; end if;
       return new;
     end $$;
     create trigger poison before insert on transfers for each row execute function poison()`,
  );
  const [bad, ...good] = await Promise.allSettled([
    statusOf(order(lakeside.desk, { of: harbor, id: 'poison' })),
    statusOf(order(lakeside.desk, { of: harbor, id: 'neighbor' })),
    statusOf(order(lakeside.desk, { of: lakeside, id: 'poison-free' })),
  ]);
  await service.db.superuser('drop trigger poison on transfers');
  assert.equal(bad?.status, 'rejected');
  assert.deepEqual(good, [
    { status: 'fulfilled', value: 'COMPLETED' },
    { status: 'fulfilled', value: 'COMPLETED' },
  ]);
  assert.deepEqual(
    await service.db.superuser(`select from idempotency_keys where transfer_id = 'poison'`),
    [],
  );
  assert.equal(await statusOf(order(lakeside.desk, { of: harbor, id: 'poison' })), 'COMPLETED');
  await assertReconciled();
});

test('a locked account of one institution delays no order of another, and its order settles after the release', async () => {
  const stranger = new pg.Client({ ...service.db.owner });
  await stranger.connect();
  await stranger.query('begin');
  await stranger.query(
    `select from balances where institution_id = $1 and account_id = 'a-1001-savings' for update`,
    [harbor.institutionId],
  );
  const spanning = both();
  let isStuck = true;
  const stuck = statusOf(
    order(lakeside.desk, { of: harbor, id: 'stuck', from: 'a-1001-savings', to: 'a-1001-checking' }),
  ).finally(() => {
    isStuck = false;
  });
  const free = await Promise.all(
    ['a', 'b'].map((id) =>
      statusOf(
        order(lakeside.desk, {
          of: lakeside,
          id: `free-${id}`,
          from: 'a-1001-savings',
          to: 'a-1001-checking',
        }),
      ),
    ),
  );
  // They are committed while the lock is still held.
  assert.deepEqual(free, ['COMPLETED', 'COMPLETED']);
  assert.ok(isStuck);
  assert.equal(both(), spanning + 1);
  await stranger.query('rollback');
  await stranger.end();
  assert.equal(await stuck, 'COMPLETED');
  await assertReconciled();
});

test('connections that are lost at any moment leave every order of both institutions done once', async () => {
  for (const turns of [0, 2, 4, 8]) {
    const ids = [1, 2, 3].map((index) => `lost-${turns}-${index}`);
    const submit = () =>
      ids.flatMap((id) => [lakeside, harbor].map((of) => statusOf(order(lakeside.desk, { of, id }))));
    const first = Promise.allSettled(submit());
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    await service.db.superuser(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = $1`,
      [serviceRole],
    );
    await first;
    for (const status of await Promise.all(submit())) assert.match(status, /COMPLETED|replayed/);
    const [row] = await service.db.superuser<{ count: bigint }>(
      'select count(*) from transfers where transfer_id = any ($1)',
      [ids],
    );
    assert.equal(row?.count, 6n);
  }
  await assertReconciled();
});
