import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The dry run and the options agree with the real order, and store nothing. */

let service: TestService;
let bank: DemoCaller;
let demo: DemoCaller;
let harbor: DemoCaller;
before(async () => {
  service = await startTestService();
  bank = await clientOf(service);
  demo = await memberOf(service, 'demo.member', 'demo-member-password');
  harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
});
after(() => service.close());

const dryRun = (caller: DemoCaller, order: object) => caller.post(`${paths.transfers}/dry-run`, order);
const initiate = (caller: DemoCaller, order: object) => caller.post(paths.transfers, order);
const options = (caller: DemoCaller, fromAccountId: string) =>
  caller.get(`${paths.transfers}/options?fromAccountId=${fromAccountId}`);

/** Every row of every table that transfers touch. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const tables = [
    'balances',
    'entries',
    'transfers',
    'idempotency_keys',
    'pending_transfers',
    'limit_counters',
    'limit_uses',
    'loans',
    'loan_payments',
    'outbox',
  ];
  for (const table of tables) {
    const rows = await service.db.superuser<{ row: string }>(
      `select t::text as row from ${table} t order by t::text`,
    );
    for (const { row } of rows) hash.update(`${table} ${row}\n`);
  }
  return hash.digest('hex');
}

const checking = 'a-1001-checking';
const orders: readonly (readonly [name: string, caller: () => DemoCaller, order: object])[] = [
  [
    'a transfer that posts at once',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 10 },
  ],
  [
    'a held transfer',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1003-checking', amount: 1000.01 },
  ],
  ['a missing account', () => demo, { fromAccountId: checking, toAccountId: 'nowhere', amount: 10 }],
  [
    'another member’s account',
    () => demo,
    { fromAccountId: 'a-1002-checking', toAccountId: checking, amount: 10 },
  ],
  ['the same account', () => demo, { fromAccountId: checking, toAccountId: checking, amount: 10 }],
  ['a closed account', () => bank, { fromAccountId: checking, toAccountId: 'a-1009-savings', amount: 10 }],
  [
    'a restricted account',
    () => demo,
    { fromAccountId: 'a-1001-certificate', toAccountId: checking, amount: 10 },
  ],
  [
    'another currency',
    () => bank,
    { fromAccountId: checking, toAccountId: 'a-1015-savings-eur', amount: 10 },
  ],
  [
    'type',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 10, transferType: 'INTRA_FI' },
  ],
  [
    'more than the payoff',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1001-carloan', amount: 14_316.19 },
  ],
  [
    'interest only',
    () => demo,
    {
      fromAccountId: checking,
      toAccountId: 'a-1001-carloan',
      amount: 41.19,
      paymentOption: 'INTEREST_ONLY',
    },
  ],
  [
    'too little money',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 90_000 },
  ],
  [
    'too large a contribution',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1001-ira', amount: 10_000_000.01 },
  ],
  [
    'too much for a limit',
    () => harbor,
    { fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 10 },
  ],
  [
    'too many decimals',
    () => demo,
    { fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 0.001 },
  ],
];

for (const [index, [name, caller, order]] of orders.entries()) {
  test(`the dry run decides as the real run does and stores nothing: ${name}`, async () => {
    const before = await fingerprint();
    const id = `explain-${index}`;
    const dry = await dryRun(caller(), { id, ...order });
    assert.equal(await fingerprint(), before);
    const real = await initiate(caller(), { id, ...order });
    if (real.status === 400) {
      assert.equal(dry.status, 400);
      assert.deepEqual(dry.body.errors, real.body.errors);
      return;
    }
    assert.equal(dry.status, 200, dry.text);
    const transfer = real.status === 422 ? real.body.transfer : real.body;
    const { createdAt: _, ...would } = dry.body.transfer;
    const { createdAt: __, ...is } = transfer;
    // Members do not see reviews.
    const isUntold = caller() !== bank && is.status === 'PENDING';
    assert.deepEqual(would, isUntold ? { ...is, status: 'COMPLETED' } : is);
    if (real.status === 422) {
      assert.deepEqual(
        dry.body.reasons.map((reason: { code: string }) => reason.code),
        [real.body.code],
      );
      assert.deepEqual(dry.body.reasons[0].limit, real.body.limit);
    } else if (is.status === 'PENDING' && !isUntold) assert.equal(dry.body.reasons[0].code, 'review');
    else assert.deepEqual(dry.body.reasons, []);
  });
}

test('a dry run under a used id returns its transfer, with the reason of a failure', async () => {
  const order = { id: 'explained-again', fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 1 };
  const first = await initiate(demo, order);
  const same = await dryRun(demo, order);
  assert.equal(same.status, 200);
  assert.equal(same.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(same.body, { transfer: first.body, reasons: [] });
  const other = await dryRun(demo, { ...order, amount: 2 });
  assert.equal(other.status, 409);
  assert.equal(other.body.code, 'transfer_id_reused');

  const poor = { ...order, id: 'explained-poor', amount: 9_000_000 };
  const declined = await initiate(demo, poor);
  const again = await dryRun(demo, poor);
  assert.equal(again.status, 200, again.text);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.deepEqual(again.body, {
    transfer: declined.body.transfer,
    reasons: [{ code: 'insufficient_funds', detail: declined.body.detail }],
  });
});

test('the earlier spelling ?dryRun=true responds like a dry run, and stores nothing', async () => {
  const order = { id: 'spelled-before', fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 1 };
  const before = await fingerprint();
  const dry = await demo.post(`${paths.transfers}?dryRun=true`, order);
  assert.equal(await fingerprint(), before);
  assert.equal(dry.status, 200);
  assert.equal(dry.body.transfer.status, 'COMPLETED');
  assert.equal(
    (await demo.post(`${paths.transfers}?dryRun=%74rue`, order)).body.transfer.status,
    'COMPLETED',
  );
  assert.equal(await fingerprint(), before);
  assert.equal((await demo.post(`${paths.transfers}?dryRun=false`, order)).status, 201);
});

test('refuses a dryRun that is neither true nor false', async () => {
  const answer = await demo.post(`${paths.transfers}?dryRun=maybe`, {
    fromAccountId: checking,
    toAccountId: 'a-1001-savings',
    amount: 1,
  });
  assert.equal(answer.status, 400);
  assert.equal(answer.body.errors[0].pointer, 'dryRun');
});

test('answers a burst of dry runs and options on a cold start with two connections to the database', async () => {
  await using cold = await startTestService({ beside: service, environment: { DATABASE_CONNECTIONS: '2' } });
  const caller = await memberOf(cold, 'demo.member', 'demo-member-password');
  const order = { fromAccountId: checking, toAccountId: 'a-1001-savings', amount: 1 };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) =>
      index % 2 === 0 ? dryRun(caller, order) : options(caller, checking),
    ),
  );
  assert.deepEqual(
    answers.map(({ status }) => status),
    answers.map(() => 200),
  );
});

describe('transfer options', () => {
  interface Option {
    toAccountId?: string;
    transferType?: string;
    paymentOption?: string;
    previousYearContribution?: boolean;
    allowed: boolean;
    maximumAmount?: number;
    reason?: { code: string };
  }

  test('a dry run accepts each maximum of the options, and not a cent more', async () => {
    const cases: readonly (readonly [DemoCaller, string])[] = [
      [demo, checking],
      [demo, 'a-1001-savings'],
      [bank, 'a-1004-checking'],
      [bank, 'a-1007-checking'],
      [harbor, 'a-1001-checking'],
      [harbor, 'a-1002-savings'],
    ];
    let tried = 0;
    for (const [caller, fromAccountId] of cases) {
      const answer = await options(caller, fromAccountId);
      assert.equal(answer.status, 200, answer.text);
      for (const option of answer.body.options as Option[]) {
        if (option.toAccountId === undefined || option.maximumAmount === undefined) continue;
        const { toAccountId, paymentOption, previousYearContribution } = option;
        const order = {
          fromAccountId,
          toAccountId,
          ...(paymentOption !== undefined && { paymentOption }),
          ...(previousYearContribution !== undefined && { previousYearContribution }),
        };
        const status = async (amount: number) =>
          (await dryRun(caller, { ...order, amount })).body.transfer.status;
        const cent = Math.round(option.maximumAmount * 100 + 1) / 100;
        assert.equal(await status(cent), 'FAILED', `${fromAccountId}: ${JSON.stringify(option)}`);
        assert.equal(option.allowed, option.maximumAmount > 0);
        if (!option.allowed) {
          const refused = await dryRun(caller, { ...order, amount: 0.01 });
          assert.equal(refused.body.reasons[0].code, option.reason?.code);
          continue;
        }
        assert.notEqual(await status(option.maximumAmount), 'FAILED', JSON.stringify(option));
        tried += 1;
      }
    }
    assert.ok(tried > 15, `${tried} options were allowed`);
  });

  test('options list a loan once for each way of paying it, and an IRA once for each year', async () => {
    const { body } = await options(demo, checking);
    const to = (id: string) => (body.options as Option[]).filter((option) => option.toAccountId === id);
    assert.deepEqual(
      to('a-1001-carloan').map((option) => option.paymentOption),
      ['DEFAULT', 'PRINCIPAL_ONLY', 'INTEREST_ONLY', 'EXCESS_TO_PRINCIPAL'],
    );
    assert.deepEqual(
      to('a-1001-ira').map((option) => option.previousYearContribution),
      [false, true],
    );
    assert.equal(to(checking).length, 0);
    const last = body.options.at(-1);
    assert.equal(last.transferType, 'INTRA_FI');
    assert.equal(last.reviewAbove, undefined, 'a member is not told');
    assert.equal((await options(bank, checking)).body.options.at(-1).reviewAbove, 1000);
  });

  test('refuses options of an account that is missing or that the caller may not see or pay from', async () => {
    const strangers = await options(demo, 'a-1002-checking');
    const nowhere = await options(demo, 'nowhere');
    assert.equal(strangers.status, 404);
    assert.deepEqual({ ...strangers.body, instance: '' }, { ...nowhere.body, instance: '' });
    const signer = await memberOf(service, 'hazel.signer', 'hazel-gold-lantern-4');
    const seen = await options(signer, 'a-1003-checking');
    assert.equal(seen.status, 200);
    assert.ok(seen.body.options.every((option: Option) => !option.allowed));
    assert.equal(seen.body.options.at(-1).reason.code, 'account_restricted');
    assert.equal((await demo.get(`${paths.transfers}/options`)).status, 400);
  });
});
