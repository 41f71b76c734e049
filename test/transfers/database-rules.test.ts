import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Statement } from '../../src/storage/index.ts';
import { settle } from '../../src/transfers/desk/settle.ts';
import { clientOf, memberOf, paths } from '../support/demo.ts';
import { deskOf, type TestDesk } from '../support/desk.ts';
import { agreeToReverse, commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Writes that a defect in the service could send, tried as the service's own role: the database refuses them. */

let service: TestService;
let desk: TestDesk;
before(async () => {
  service = await startTestService();
  desk = await deskOf(service);
  const bank = await clientOf(service);
  const orders = [
    ['posted', 'a-1001-savings', 100],
    ['to-ira', 'a-1001-ira', 100],
    ['pending', 'a-1003-checking', 2_000],
    ['pending-too', 'a-1003-checking', 3_000],
    ['cancelled', 'a-1003-checking', 2_500],
  ] as const;
  for (const [id, toAccountId, amount] of orders) {
    const order = { id, fromAccountId: 'a-1001-checking', toAccountId, amount };
    const answer = await bank.post(paths.transfers, order);
    assert.equal(answer.status, 201, answer.text);
  }
  const cancelled = await bank.post(`${paths.transfers}/cancelled/cancel`, {});
  assert.equal(cancelled.status, 200, cancelled.text);
  // In the other institution a limit has counted, for posted and pending transfers.
  const harbor = ['harbor-app', 'harbor-app-secret'] as const;
  const member = await memberOf(service, 'demo.member', 'harbor-member-password', harbor);
  for (const amount of [20, 600]) {
    const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1002-checking', amount };
    const answer = await member.post(paths.transfers, order);
    assert.equal(answer.status, 201, answer.text);
  }
  const [harborBank] = await service.db.superuser<{ id: typeof desk.institutionId }>(
    `select institution_id as id from institutions where code = 'harbor'`,
  );
  assert.ok(harborBank);
  await agreeToReverse(service.db, harborBank.id, ['a-transfer'], new Date('2026-01-01'));
  await service.db.superuser(
    `insert into transfer_id_prefixes (institution_id, client_id, prefix)
     select institution_id, client_id, 'payroll-' from clients where client_id = 'demo-backend'`,
  );
});
after(async () => {
  await desk[Symbol.asyncDispose]();
  await service.close();
});

const key = (id: string) => `(select transfer_key from idempotency_keys where transfer_id = '${id}')`;
const account = (id: string) => `(select account_key from accounts where account_id = '${id}')`;

/** A time after all events of these tests. */
const future = '2999-01-01';

/** An entry on each of two accounts, with their balances: the triggers accept it except for the given change. */
function entries(change: {
  readonly kind: string;
  readonly posting: string;
  readonly posted: number;
  readonly debitsPending: readonly [from: number, to: number];
  readonly creditsPending: readonly [from: number, to: number];
  readonly at?: string;
  readonly floor?: string;
}): string {
  const { kind, posting, posted, debitsPending, creditsPending, at = future, floor = '-1000000' } = change;
  const moved = (name: string, id: string, sign: 1 | -1, side: 0 | 1) => `
    ${name} as (
      update balances set posted = posted + ${sign * posted}, debits_pending = debits_pending + ${debitsPending[side]},
        credits_pending = credits_pending + ${creditsPending[side]}, seq = seq + 1, last_at = '${at}'
      where account_key = ${account(id)} returning *, ${sign * posted} as amount)`;
  return `
    with ${moved('payer', 'a-1001-checking', -1, 0)}, ${moved('payee', 'a-1003-checking', 1, 1)},
    sides as (select * from payer union all select * from payee)
    insert into entries (institution_id, account_key, seq, posting_key, kind, amount, posted_after, debits_pending_after,
                         credits_pending_after, floor, recorded_at)
    select institution_id, account_key, seq, ${posting}, '${kind}', amount, posted, debits_pending, credits_pending, ${floor}::bigint, last_at
    from sides`;
}

/** The balance of an account that is inserted with it. */
function newBalance({ posted = 0, seq = 0, currency = 'USD' }): string {
  return `
    with opened as (
      insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category,
                            description, currency)
      select institution_id, 'a-new', customer_key, 'new', di_account_type, category, description, currency
      from accounts where account_id = 'a-1001-checking'
      returning *)
    insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
    select institution_id, account_key, account_id, '${currency}', ${posted}, 0, 0, ${seq}, '${future}' from opened`;
}

const copyOfPosted = (columns: string) => `
  insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                         from_key, to_key, amount, currency, status, client_id, created_at, settled_at, reverses_key)
  select ${columns} from transfers where transfer_key = ${key('posted')}`;

const steady = [0, 0] as const;
const refused: readonly (readonly [what: string, code: string, sql: string, at?: 'harbor'])[] = [
  ['an entry changed', '42501', 'update entries set amount = 1'],
  ['an entry deleted', '42501', 'delete from entries'],
  ['a transfer changed', '42501', 'update transfers set amount = 1'],
  ['a transfer deleted', '42501', 'delete from transfers'],
  ['a used id freed', '42501', 'delete from idempotency_keys'],
  ['a used id moved to another transfer', '42501', 'update idempotency_keys set transfer_key = 5'],
  ['an approval deleted', '42501', 'delete from transfer_approvals'],
  ['parts of a payment changed', '42501', 'update loan_payments set to_fees = 0'],
  ['an event deleted', '42501', 'delete from outbox'],
  ['an event changed', '42501', `update outbox set kind = 'transfer.failed'`],
  [
    'an event put into the past of the feed',
    '42501',
    `insert into outbox (institution_id, kind, subject_key, recorded_at, xid)
     select institution_id, kind, subject_key, recorded_at, '3' from outbox limit 1`,
  ],
  ['a secret slipped into an event', 'SD014', `update outbox set secret = '\\x01'`],
  ['an audit entry changed', '42501', `update audit_entries set outcome = 'refused'`],
  [
    'a row of another institution',
    '42501',
    `insert into idempotency_keys select institution_id + 1, 'ghost', 5 from idempotency_keys limit 1`,
  ],
  [
    'an account closed with money on it',
    '23514',
    `update balances set closed = true where account_id = 'a-1001-checking'`,
  ],
  [
    'an account closed without its balance',
    'SD025',
    `update accounts set closed = true, closed_by_operator = true where account_id = 'a-1001-checking'`,
  ],
  [
    'a transfer from an account that an operator restricted',
    'SD026',
    `do $$ begin
       update accounts set operator_restriction = 'EXCLUDE_AS_FROM' where account_id = 'a-1001-checking';
       ${copyOfPosted(`institution_id, 9, 'restricted', transfer_type, from_account_id, to_account_id, from_key, to_key,
         amount, currency, status, client_id, created_at, settled_at, null`)};
     end $$`,
  ],
  [
    'a transfer to an account that an operator restricted',
    'SD026',
    `do $$ begin
       update accounts set operator_restriction = 'EXCLUDE_AS_TO' where account_id = 'a-1001-savings';
       ${copyOfPosted(`institution_id, 9, 'restricted', transfer_type, from_account_id, to_account_id, from_key, to_key,
         amount, currency, status, client_id, created_at, settled_at, null`)};
     end $$`,
  ],
  ['a balance without an entry', 'SD003', 'update balances set posted = posted + 1'],
  ['a hold without an entry', 'SD003', 'update balances set debits_pending = 0 where debits_pending > 0'],
  ['a new balance with money and no entry', 'SD004', newBalance({ posted: 5, seq: 1 })],
  ['a new balance of zero that counts an entry', 'SD004', newBalance({ posted: 0, seq: 1 })],
  ['a new balance in another currency than its account', 'SD004', newBalance({ currency: 'EUR' })],
  [
    'an entry older than the one before',
    'SD002',
    entries({
      kind: 'ADJUSTMENT',
      posting: '5',
      posted: 1,
      debitsPending: steady,
      creditsPending: steady,
      at: '2020-01-01',
    }),
  ],
  [
    'an adjustment between two members',
    'SD019',
    entries({ kind: 'ADJUSTMENT', posting: '5', posted: 1, debitsPending: steady, creditsPending: steady }),
  ],
  [
    'an opening of one member out of another',
    'SD019',
    entries({ kind: 'OPENING', posting: '5', posted: 1, debitsPending: steady, creditsPending: steady }),
  ],
  [
    'a hold that ends beside an adjustment',
    'SD002',
    entries({ kind: 'ADJUSTMENT', posting: '5', posted: 1, debitsPending: [-1, 0], creditsPending: [0, -1] }),
  ],
  [
    'a hold on one account alone',
    'SD001',
    entries({ kind: 'HOLD', posting: '5', posted: 0, debitsPending: [1, 0], creditsPending: steady }),
  ],
  [
    'a hold that releases',
    'SD002',
    entries({ kind: 'HOLD', posting: '5', posted: 0, debitsPending: [-1, 0], creditsPending: [0, -1] }),
  ],
  [
    'a posting that releases more than it moves',
    'SD002',
    entries({ kind: 'TRANSFER', posting: '5', posted: 1, debitsPending: [-2, 0], creditsPending: [0, -2] }),
  ],
  [
    'a posting that holds',
    'SD002',
    entries({ kind: 'TRANSFER', posting: '5', posted: 1, debitsPending: [1, 0], creditsPending: [0, 1] }),
  ],
  [
    'a hold released while its transfer is pending',
    'SD015',
    entries({
      kind: 'RELEASE',
      posting: key('pending'),
      posted: 0,
      debitsPending: [-200_000, 0],
      creditsPending: [0, -200_000],
    }),
  ],
  [
    'a hold released for another transfer',
    'SD015',
    entries({
      kind: 'RELEASE',
      posting: key('posted'),
      posted: 0,
      debitsPending: [-200_000, 0],
      creditsPending: [0, -200_000],
    }),
  ],
  [
    'a hold released a second time',
    'SD017',
    entries({
      kind: 'RELEASE',
      posting: key('cancelled'),
      posted: 0,
      debitsPending: [-250_000, 0],
      creditsPending: [0, -250_000],
    }),
  ],
  [
    'a debit of a deposit without a floor',
    'SD018',
    entries({
      kind: 'TRANSFER',
      posting: '5',
      posted: 1,
      debitsPending: steady,
      creditsPending: steady,
      floor: 'null',
    }),
  ],
  [
    'a hold on a deposit without a floor',
    'SD018',
    entries({
      kind: 'HOLD',
      posting: '5',
      posted: 0,
      debitsPending: [1, 0],
      creditsPending: [0, 1],
      floor: 'null',
    }),
  ],
  [
    'a posting without a transfer',
    'SD017',
    entries({ kind: 'TRANSFER', posting: '5', posted: 1, debitsPending: steady, creditsPending: steady }),
  ],
  [
    'a second posting of a transfer',
    'SD017',
    entries({
      kind: 'TRANSFER',
      posting: key('posted'),
      posted: 1,
      debitsPending: steady,
      creditsPending: steady,
    }),
  ],
  [
    'a hold without a transfer',
    'SD017',
    entries({ kind: 'HOLD', posting: '5', posted: 0, debitsPending: [1, 0], creditsPending: [0, 1] }),
  ],
  [
    'a completed transfer that moved nothing',
    'SD017',
    copyOfPosted(`institution_id, 5, 'invented', transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
      currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'a final transfer reopened',
    'SD005',
    `update transfers set status = 'PENDING', settled_at = null where transfer_key = ${key('posted')}`,
  ],
  [
    'a pending transfer marked COMPLETED at any time',
    'SD009',
    `update transfers set status = 'COMPLETED', settled_at = '2999-01-01' where transfer_key = ${key('pending')}`,
  ],
  [
    'a pending transfer marked FAILED with its hold kept',
    'SD009',
    `update transfers set status = 'FAILED', failure_code = 'transfer_cancelled', failure_detail = 'Cancelled.',
       settled_at = '2999-01-01' where transfer_key = ${key('pending')}`,
  ],
  ['a pending transfer brought forward', 'SD010', `update pending_transfers set due_at = '2020-01-01'`],
  [
    'a pending transfer that will expire instead',
    'SD010',
    `update pending_transfers set when_due = 'EXPIRE'`,
  ],
  ['a pending transfer’s terms deleted', 'SD010', 'delete from pending_transfers'],
  [
    'a pending transfer that waits for nothing',
    'SD010',
    copyOfPosted(`institution_id, 5, 'invented', transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
      currency, 'PENDING', client_id, created_at, null, null`),
  ],
  [
    'a reversal of more than was paid',
    'SD011',
    copyOfPosted(`institution_id, 5, 'invented', transfer_type, to_account_id, from_account_id, to_key, from_key,
      amount + 1, currency, status, client_id, created_at, settled_at, transfer_key`),
  ],
  [
    'a reversal in the original direction',
    'SD011',
    copyOfPosted(`institution_id, 5, 'invented', transfer_type, from_account_id, to_account_id, from_key, to_key,
      amount, currency, status, client_id, created_at, settled_at, transfer_key`),
  ],
  [
    'a reversal that a client ordered',
    'SD022',
    copyOfPosted(`institution_id, 5, 'invented', transfer_type, to_account_id, from_account_id, to_key, from_key,
      amount, currency, status, client_id, created_at, settled_at, transfer_key`),
  ],
  [
    'a reversal under dual control that no second person confirmed',
    'SD051',
    `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id,
                            from_key, to_key, amount, currency, status, operator, created_at, settled_at, reverses_key)
     select institution_id, 5, 'invented', transfer_type, to_account_id, from_account_id, to_key, from_key,
            amount, currency, status, 'ann', created_at, settled_at, transfer_key
     from transfers where status = 'COMPLETED' limit 1`,
    'harbor',
  ],
  [
    'rules under dual control changed by one person',
    'SD052',
    `update transfer_policies set cut_off = '18:00' where cut_off is not null`,
    'harbor',
  ],
  [
    'a proposal confirmed a second time',
    'SD050',
    `update proposals set confirmed_by = 'carl', confirmed_at = confirmed_at + interval '1 minute'`,
    'harbor',
  ],
  [
    'overlapping prefixes of two clients',
    'SD023',
    `insert into transfer_id_prefixes (institution_id, client_id, prefix)
     select c.institution_id, c.client_id, given.prefix
     from clients c join (values ('demo-app', 'wages-'), ('demo-backend', 'wages-2026-')) given (client_id, prefix)
       on given.client_id = c.client_id`,
  ],
  [
    'an id under the prefix of another client',
    'SD024',
    copyOfPosted(`institution_id, 5, 'payroll-forged', transfer_type, from_account_id, to_account_id, from_key, to_key,
      amount, currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'two reversals of one transfer',
    '23505',
    copyOfPosted(`institution_id, 5 + n, 'invented-' || n, transfer_type, to_account_id, from_account_id, to_key,
      from_key, amount, currency, status, client_id, created_at, settled_at, transfer_key`).replace(
      ' from transfers where',
      ' from transfers, generate_series(1, 2) n where',
    ),
  ],
  [
    'a transfer of a negative amount',
    '23514',
    copyOfPosted(`institution_id, 5, 'invented', transfer_type, from_account_id, to_account_id, from_key, to_key, -1,
      currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'an id of 65 characters',
    '23514',
    copyOfPosted(`institution_id, 5, repeat('x', 65), transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
      currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'an id with a space',
    '23514',
    copyOfPosted(`institution_id, 5, 'in vented', transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
      currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'an id that begins with a dot',
    '23514',
    copyOfPosted(`institution_id, 5, '.invented', transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
      currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'an empty id',
    '23514',
    copyOfPosted(`institution_id, 5, '', transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
      currency, status, client_id, created_at, settled_at, null`),
  ],
  [
    'a limit counted down',
    'SD012',
    'update limit_counters set amount = amount - 1 where amount > 0',
    'harbor',
  ],
  [
    'a limit counted down by a transfer',
    'SD012',
    'update limit_counters set transfers = transfers - 1 where transfers > 0',
    'harbor',
  ],
  ["a year's contributions counted down", 'SD012', 'update limit_counters set amount = 0 where amount > 0'],
  ['a pending transfer’s counted amount deleted', 'SD013', 'delete from limit_uses', 'harbor'],
  ['a contribution’s counted amount deleted', 'SD013', 'delete from limit_uses'],
  [
    'more to give back than was counted',
    'SD013',
    `insert into limit_uses select institution_id, transfer_key, 7, 1, '2026-01-01', 1 from idempotency_keys
     where transfer_id = 'pending'`,
  ],
  [
    'something to give back of what has posted',
    'SD013',
    `insert into limit_uses select institution_id, transfer_key, 7, 1, '2026-01-01', 10000 from idempotency_keys
     where transfer_id = 'posted'`,
  ],
];

const checkedNow: Statement = { name: '', text: 'set constraints all immediate' };

for (const [what, code, text, at] of refused) {
  test(`the database refuses: ${what}`, async () => {
    const [institution] = await service.db.superuser<{ id: typeof desk.institutionId }>(
      'select institution_id as id from institutions where code = $1',
      [at ?? 'lakeside'],
    );
    assert.ok(institution);
    await assert.rejects(
      desk.database.transaction(institution.id, async (tx) => {
        const { rowCount } = await tx.query({ name: '', text });
        assert.ok(rowCount > 0, 'there was something to change');
        await tx.query(checkedNow);
        throw new Error('it was not refused');
      }),
      { code },
    );
  });
}

for (const [attempt, code] of [
  [`select set_config('sharedraft.control_total', '0', true)`, 'SD017'],
  ['delete from control_totals', '42501'],
  ['update control_totals set total = 0', '42501'],
  ['insert into control_totals values (pg_current_xact_id(), 0) on conflict do nothing', '42501'],
  ['select add_to_control_total(0)', '42501'],
  ['create temporary table control_totals (transaction xid8, total numeric)', '42501'],
  ['alter table control_totals disable trigger all', '42501'],
  ['set session_replication_role = replica', '42501'],
] as const) {
  test(`the database refuses a posting without a transfer, also behind "${attempt}"`, async () => {
    await assert.rejects(
      desk.database.transaction(desk.institutionId, async (tx) => {
        const text = entries({
          kind: 'TRANSFER',
          posting: '5',
          posted: 1,
          debitsPending: steady,
          creditsPending: steady,
        });
        await tx.query({ name: '', text });
        await tx.query({ name: '', text: attempt });
        await tx.query(checkedNow);
        throw new Error('it was not refused');
      }),
      { code },
    );
  });
}

test('the database refuses to post an approved transfer whose review was over', async () => {
  const [pending] = await service.db.superuser<{ id: typeof desk.institutionId; key: bigint; end: Date }>(
    `select institution_id as id, transfer_key as key, due_at as end from pending_transfers where when_due = 'EXPIRE'`,
  );
  assert.ok(pending);
  const { id, key: transferKey, end } = pending;
  // In time the next rule refuses: there are no entries.
  for (const [late, code] of [
    [-1, 'SD009'],
    [0, 'SD007'],
  ] as const) {
    await assert.rejects(
      desk.database.transaction(id, async (tx) => {
        await tx.query(
          { name: '', text: `insert into transfer_approvals values ($1, $2, 'ann', '2026-01-01')` },
          [id, transferKey],
        );
        await tx.query(
          {
            name: '',
            text: `update transfers set status = 'COMPLETED', settled_at = $3 where institution_id = $1 and transfer_key = $2`,
          },
          [id, transferKey, new Date(end.getTime() + late)],
        );
      }),
      { code },
    );
  }
});

const amount = 200_000;
for (const [what, ends, posted, released] of [
  ['a pending transfer called failed, and all but a cent of its hold kept', 'FAILED', 0, 1],
  ['a pending transfer posted, and its hold kept', 'COMPLETED', amount, 0],
] as const) {
  test(`the database refuses: ${what}`, async () => {
    const statements = [
      entries({
        kind: ends === 'FAILED' ? 'RELEASE' : 'TRANSFER',
        posting: key('pending'),
        posted,
        debitsPending: [-released, 0],
        creditsPending: [0, -released],
      }),
      `insert into transfer_approvals
       select institution_id, transfer_key, 'ann', '2026-01-01' from idempotency_keys where transfer_id = 'pending'`,
      `update transfers set status = '${ends}', settled_at = '${future}',
         failure_code = case '${ends}' when 'FAILED' then 'transfer_cancelled' end,
         failure_detail = case '${ends}' when 'FAILED' then 'Cancelled.' end
       where transfer_key = ${key('pending')}`,
      `delete from pending_transfers where transfer_key = ${key('pending')}`,
    ];
    await assert.rejects(
      desk.database.transaction(desk.institutionId, async (tx) => {
        for (const text of statements) await tx.query({ name: '', text });
        await tx.query(checkedNow);
        throw new Error('it was not refused');
      }),
      { code: 'SD017' },
    );
  });
}

test('the database accepts a transfer approved and reversed in one batch', async () => {
  const way = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1003-checking' };
  // Inside the transaction the same pool would read them.
  const settings = await desk.desk.deps.settings(desk.institutionId);
  const outcomes = await desk.database.transaction(desk.institutionId, (tx) =>
    settle({ ...desk.desk.deps, settings: async () => settings }, tx, {
      orders: [
        {
          kind: 'transition',
          transferId: 'pending-too',
          ...way,
          act: { kind: 'approve', origin: commandOf('ann') },
        },
        { kind: 'reverse', transferId: 'back', originalId: 'pending-too', ...way, origin: commandOf('ann') },
      ],
      patient: true,
    }),
  );
  assert.deepEqual(
    outcomes.map((outcome) => [outcome?.kind, outcome && 'transfer' in outcome && outcome.transfer.status]),
    [
      ['changed', 'COMPLETED'],
      ['new', 'COMPLETED'],
    ],
  );
});
