import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { changeClient, createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { transferIdFromKey } from '../../src/http/request/idempotency-key.ts';
import { reconcile } from '../../src/reconciliation/index.ts';
import { sql, systemClock } from '../../src/storage/index.ts';
import { reverseTransfer, saveTransferRules } from '../../src/transfers/index.ts';
import { runCli } from '../support/cli.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { deskOf, eventually, type TestDesk } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Acts that may happen once happen once, through any process and after any change. */

let service: TestService;
let beside: TestService;
let bank: DemoCaller;
let other: DemoCaller;
let desks: TestDesk[];
before(async () => {
  service = await startTestService();
  beside = await startTestService({ beside: service });
  bank = await clientOf(service);
  other = await clientOf(beside, ['demo-backend', 'demo-backend-secret']);
  desks = await Promise.all([deskOf(service), deskOf(beside)]);
});
after(async () => {
  for (const desk of desks) await desk[Symbol.asyncDispose]();
  await beside.close();
  await service.close();
});

const way = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };
const posted = async (accountId: string) => {
  const [row] = await service.db.superuser<{ posted: bigint }>(
    `select posted from balances where account_id = $1
     and institution_id = (select institution_id from institutions where code = 'lakeside')`,
    [accountId],
  );
  return row?.posted;
};

test('one of sixteen simultaneous reversals of one transfer through two processes takes it back', async () => {
  const before = await posted('a-1001-savings');
  assert.equal((await bank.post(paths.transfers, { id: 'paid', ...way, amount: 50 })).status, 201);
  const outcomes = await Promise.all(
    Array.from({ length: 16 }, (_, index) => {
      const { desk, institutionId } = desks[index % 2] as TestDesk;
      const reversal = { originalId: 'paid', transferId: `paid-back-${index}`, origin: commandOf('ann') };
      return reverseTransfer(desk, institutionId, reversal);
    }),
  );
  const kinds = outcomes.map((outcome) => (outcome.kind === 'unchanged' ? outcome.why : outcome.kind));
  assert.deepEqual(kinds.toSorted(), ['new', ...Array.from({ length: 15 }, () => 'not_reversible')]);
  assert.equal(await posted('a-1001-savings'), before);
});

test('a reversal cannot be reversed, and no one else can take its id', async () => {
  const { desk, institutionId } = desks[1] as TestDesk;
  assert.equal((await bank.post(paths.transfers, { id: 'again', ...way, amount: 5 })).status, 201);
  const reversal = { originalId: 'again', transferId: 'again-back', origin: commandOf('ann') };
  assert.equal((await reverseTransfer(desk, institutionId, reversal)).kind, 'new');
  assert.equal((await reverseTransfer(desk, institutionId, reversal)).kind, 'replayed');
  const back = { originalId: 'again-back', transferId: 'forth', origin: commandOf('ann') };
  const twice = await reverseTransfer(desk, institutionId, back);
  assert.ok(twice.kind === 'unchanged' && twice.why === 'not_reversible');
  const itself = { originalId: 'again', transferId: 'again', origin: commandOf('ann') };
  assert.equal((await reverseTransfer(desk, institutionId, itself)).kind, 'id_reused');
  const taken = await bank.post(paths.transfers, { id: 'again-back', ...way, amount: 5 });
  assert.equal(taken.status, 409);
});

test('others can compute an id derived from an Idempotency-Key, and none of them can take it', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const { institutionId } = desks[0] as TestDesk;
  const app = { kind: 'client', institutionId, clientId: 'demo-backend' } as const;
  const derived = transferIdFromKey('payroll-2026-12', app);
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
  const squatted = await member.post(paths.transfers, { id: derived, ...order });
  assert.equal(squatted.status, 400, squatted.text);
  assert.equal(squatted.body.errors[0].pointer, '/id');
  assert.equal((await member.post(`${paths.transfers}/dry-run`, { id: derived, ...order })).status, 400);
  const keyed = await other.post(paths.transfers, order, { 'idempotency-key': 'payroll-2026-12' });
  assert.equal(keyed.status, 201, keyed.text);
  assert.equal(keyed.body.id, derived);
  const byId = await other.post(paths.transfers, { id: derived, ...order });
  assert.equal(byId.status, 200, 'its own caller may repeat it by its id');
});

test('a client’s prefix of ids is refused to other clients, to members and by the database', async () => {
  const { institutionId } = desks[0] as TestDesk;
  const { auth, database } = service.service.context;
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const before = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
  assert.equal((await member.post(paths.transfers, { id: 'payroll-early', ...before })).status, 201);
  const client = { institutionId, clientId: 'payroll', name: 'Payroll', grants: ['client_credentials'] };
  const scopes = ['transfer:write', 'transfer:read'] as const;
  const created = await createClient(auth, { ...client, scopes, idPrefixes: ['payroll-'] }, ownOrigin());
  const payroll = await clientOf(service, ['payroll', created?.secret ?? '']);
  // Settings are at most a second old.
  await eventually(
    () => member.post(`${paths.transfers}/dry-run`, { id: 'payroll-2026-12-01', ...before }),
    ({ status }) => status === 400,
  );
  for (const caller of [member, bank]) {
    const refused = await caller.post(paths.transfers, { id: 'payroll-2026-12-01', ...before });
    assert.equal(refused.status, 400, refused.text);
    assert.equal(refused.body.errors[0].pointer, '/id');
  }
  assert.equal((await payroll.post(paths.transfers, { id: 'payroll-2026-12-01', ...before })).status, 201);
  // The refusal does not reveal the used ids of the prefix.
  const stranger = await memberOf(service, 'pebble.primary', 'pebble-blue-lantern-1');
  const own = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-savings', amount: 1 };
  for (const id of ['payroll-2026-12-01', 'payroll-2026-12-31']) {
    const refused = await stranger.post(paths.transfers, { id, ...own });
    assert.equal(refused.status, 400, refused.text);
  }
  // Transfers older than the prefix can be repeated.
  const again = await member.post(paths.transfers, { id: 'payroll-early', ...before });
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  for (const prefix of ['payroll-', 'pay', 'payroll-2026-']) {
    await assert.rejects(
      changeClient(auth, institutionId, {
        clientId: 'demo-backend',
        change: { idPrefixes: [prefix] },
        origin: ownOrigin(),
      }),
      { name: 'IdPrefixTakenError' },
      prefix,
    );
  }
  const write = sql(
    'test_write_reserved',
    `insert into transfers (institution_id, transfer_key, transfer_id, transfer_type, from_account_id, to_account_id, from_key,
                            to_key, amount, currency, status, failure_code, failure_detail, client_id, created_at, settled_at)
     select institution_id, 9000000, 'payroll-forged', transfer_type, from_account_id, to_account_id, from_key, to_key, amount,
            currency, 'FAILED', 'limit_exceeded', 'x', 'demo-app', created_at, settled_at
     from transfers where institution_id = $1 limit 1`,
  );
  await assert.rejects(
    database.write(institutionId, (db) => db.query(write, [institutionId])),
    { code: 'SD024', message: /reserved for another client/ },
  );
  for (const bad of ['key:', 'ke', '0f-', 'x', 'a b']) {
    await assert.rejects(
      changeClient(auth, institutionId, {
        clientId: 'demo-backend',
        change: { idPrefixes: [bad] },
        origin: ownOrigin(),
      }),
      { code: '23514' },
      bad,
    );
  }
  const command = (...words: string[]) =>
    runCli(service.db, ['client', 'set', ...words, '--institution', 'lakeside']);
  const overlapping = await command('demo-backend', '--id-prefix', 'wages- payroll-2027-');
  assert.equal(overlapping.code, 1);
  assert.match(overlapping.stderr, /overlaps with one of another client/);
  const given = await command('payroll', '--id-prefix', 'none');
  assert.equal(given.code, 0, given.stderr);
  const left = 'select prefix from transfer_id_prefixes';
  assert.deepEqual(await service.db.superuser(left), [], 'all were given up, and none was taken');
});

test('an order repeated after the rules have changed, and by another client of the institution, returns the first result', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const order = { id: 'before', ...way, amount: 7 };
  const first = await member.post(paths.transfers, order);
  assert.equal(first.status, 201);
  const declined = await member.post(paths.transfers, { ...order, id: 'poor', amount: 9_000_000 });
  assert.equal(declined.status, 422);
  const { database, institutionId } = desks[0] as TestDesk;
  const limit = {
    limitKey: 1,
    subject: 'CUSTOMER',
    period: 'DAY',
    transferType: null,
    sourceType: null,
    currency: 'USD',
    maxPerTransfer: 0n,
    maxAmount: 0n,
    maxCount: 0,
    reviewAbove: null,
  } as const;
  await saveTransferRules({ database, clock: systemClock }, institutionId, {
    rules: {
      policies: [],
      limits: [limit],
      businessDays: [],
      contributionLimits: [],
    },
    origin: ownOrigin(),
  });
  const balance = await posted('a-1001-checking');
  for (const caller of [member, bank, other]) {
    const again = await caller.post(paths.transfers, order);
    const dry = await caller.post(`${paths.transfers}/dry-run`, order);
    for (const { status, headers, text } of [again, dry]) {
      assert.equal(status, 200, text);
      assert.equal(headers.get('idempotent-replayed'), 'true');
    }
    assert.deepEqual(again.body, first.body);
    assert.deepEqual(dry.body.transfer, first.body);
    const still = await caller.post(paths.transfers, { ...order, id: 'poor', amount: 9_000_000 });
    assert.equal(still.body.code, 'insufficient_funds');
  }
  assert.equal((await bank.post(paths.transfers, { ...order, id: 'after' })).body.code, 'limit_exceeded');
  assert.equal(await posted('a-1001-checking'), balance);
});

test('the id of the body precedes an Idempotency-Key, which then stays unused', async () => {
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
  const key = { 'idempotency-key': 'one-key' };
  const named = await harbor.post(paths.transfers, { id: 'named', ...order }, key);
  assert.equal(named.body.id, 'named');
  const keyed = await harbor.post(paths.transfers, order, key);
  assert.equal(keyed.status, 201);
  assert.notEqual(keyed.body.id, 'named');
  const again = await harbor.post(paths.transfers, order, key);
  assert.equal(again.status, 200);
  assert.equal(again.body.id, keyed.body.id);
  // By its id as well, like any transfer.
  const byId = await harbor.post(paths.transfers, { id: keyed.body.id, ...order });
  assert.equal(byId.status, 200);
  assert.equal((await harbor.post(paths.transfers, { ...order, amount: 2 }, key)).status, 409);
});

test('reconciliation finds nothing after all of these orders', async () => {
  const { database, institutionId } = desks[0] as TestDesk;
  const findings: { check: string }[] = [];
  await reconcile(database, institutionId, { onFinding: (finding) => findings.push(finding) });
  assert.deepEqual(findings, []);
});
