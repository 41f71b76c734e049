import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type AuthDeps, type Caller, identify, setStanding } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { initiateTransfer, type TransferOrder } from '../../src/transfers/index.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { deskOf } from '../support/desk.ts';
import { waitUntilLocked } from '../support/locks.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { balancesOf, dumpTables, ledgerSums } from '../support/tables.ts';

/* A transfer starts while its token's status is read. It is never settled for an ended token. */

let one: TestService;
let two: TestService;
before(async () => {
  one = await startTestService();
  two = await startTestService({ beside: one });
});
after(async () => {
  await two.close();
  await one.close();
});

const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
const way = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };
const body = (id: string, amount = 1) => ({ id, ...way, amount });
const order = (transferId: string, cents: bigint): TransferOrder => ({
  transferId,
  ...way,
  amount: { digits: cents, decimals: 2 },
  currencyCode: null,
  transferType: null,
  paymentOption: null,
  previousYearContribution: null,
  memo: null,
});
const posted = async (accountId: string) =>
  (await balancesOf(one.db, 'lakeside'))[accountId]?.posted as bigint;

async function revoke({ token }: DemoCaller, at = two): Promise<void> {
  const { status } = await send(at.address, 'POST', paths.revoke, { body: { ...app, token } });
  assert.equal(status, 200);
}

/** A caller whose token is in both processes' caches. */
async function known(
  kind: 'client' | 'member' = 'client',
): Promise<DemoCaller & { beside: DemoCaller['post'] }> {
  const caller =
    kind === 'client' ? await clientOf(one) : await memberOf(one, 'demo.member', 'demo-member-password');
  const headers = { authorization: `Bearer ${caller.token}` };
  const beside: DemoCaller['post'] = (path, json, more) =>
    send(two.address, 'POST', path, { body: json, headers: { ...headers, ...more } });
  const account = `${paths.accounts}/${way.fromAccountId}`;
  // Twice: the first read of a token may not know of changes just before it.
  for (let reads = 0; reads < 2; reads += 1) {
    assert.equal((await caller.get(account)).status, 200);
    assert.equal((await send(two.address, 'GET', account, { headers })).status, 200);
  }
  return { ...caller, beside };
}

/** For a known token. While the signing keys have not been read for a moment, no token counts as known. */
async function cachedCallerOf(auth: AuthDeps, token: string): Promise<Caller> {
  for (;;) {
    const { remembered } = identify(auth, token);
    if (remembered !== undefined) return remembered.value;
    await auth.keys.published();
  }
}

test('rejects an order whose token was revoked at another process as invalid, and leaves nothing', async () => {
  const living = await clientOf(one);
  assert.equal((await living.post(paths.transfers, body('before'))).status, 201);
  const orders: readonly [string, string | object, Record<string, string>?][] = [
    [paths.transfers, body('new')],
    [paths.transfers, body('before')],
    [paths.transfers, body('before', 2)],
    [paths.transfers, { ...way, amount: 1 }, { 'idempotency-key': 'key' }],
    [paths.transfers, body('too-much', 9_999_999_999)],
    [paths.transfers, body('too-fine', 0.001)],
    [paths.transfers, { ...body('nowhere'), toAccountId: 'a-none' }],
    [paths.transfers, { ...body('unknown field'), more: 1 }],
    [`${paths.transfers}?dryRun=true`, body('dry')],
    [`${paths.transfers}/dry-run`, body('dry')],
    [`${paths.transfers}?unknown=1`, body('unknown-parameter')],
    [`${paths.transfers}/before/cancel`, {}],
  ];
  // An ended token starts work only once: one token each.
  const callers = await Promise.all(orders.map(() => known()));
  callers.push(await known('member'));
  for (const caller of callers) await revoke(caller);
  const before = await dumpTables(one.db);
  for (const [index, caller] of callers.entries()) {
    const [path, json, headers] = orders[index] ?? [paths.transfers, body('member')];
    for (const post of [caller.post, caller.beside, caller.post]) {
      const reply = await post(path, json as object, headers);
      assert.equal(reply.status, 401, `${path} ${JSON.stringify(json)}: ${reply.text}`);
      assert.equal(reply.body.code, 'invalid_token');
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer realm="sharedraft", error="invalid_token"');
    }
  }
  assert.deepEqual(await dumpTables(one.db), before);
  assert.equal((await living.post(paths.transfers, body('new'))).status, 201, 'no id was used up');
});

test('stops all transfers of a user whom an operator shuts out, and of no one else', async () => {
  const [member, other] = [await known('member'), await known()];
  await using desk = await deskOf(one);
  const set = (active: boolean) =>
    setStanding(one.service.context.auth, desk.institutionId, {
      name: 'demo.member',
      active,
      origin: ownOrigin(),
    });
  await set(false);
  const before = await posted(way.fromAccountId);
  const replies = await Promise.all([
    member.post(paths.transfers, body('shut-out-1')),
    other.post(paths.transfers, body('beside-1')),
    member.beside(paths.transfers, body('shut-out-2')),
    other.beside(paths.transfers, body('beside-2')),
  ]);
  await set(true);
  assert.deepEqual(
    replies.map(({ status }) => status),
    [401, 201, 401, 201],
  );
  assert.equal(await posted(way.fromAccountId), before - 200n);
});

test('a batch rejects an order whose known token ended before it arrived', async () => {
  const { auth } = one.service.context;
  await using desk = await deskOf(one);
  const caller = await known();
  await revoke(caller);
  const before = await dumpTables(one.db);
  const { actor } = await cachedCallerOf(auth, caller.token);
  const refused = initiateTransfer(desk.desk, actor, { order: order('presumed', 100n), origin: ownOrigin() });
  await assert.rejects(refused, (error) => error instanceof Problem && error.code === 'invalid_token');
  assert.deepEqual(await dumpTables(one.db), before);
  const again = identify(auth, caller.token);
  assert.equal(again.remembered, undefined, 'a refused token must be verified before anything starts');
  await assert.rejects(again.verify());
});

test('rejects an order whose known token ends while it waits for an account', async () => {
  const { auth } = one.service.context;
  const [caller, other] = [await known(), await known('member')];
  await using desk = await deskOf(one);
  const before = await posted(way.fromAccountId);
  const initiate = async ({ token }: DemoCaller, id: string) => {
    const { actor } = await cachedCallerOf(auth, token);
    return initiateTransfer(desk.desk, actor, { order: order(id, 100n), origin: ownOrigin() }).then(
      ({ kind }) => kind,
      (error) => error.code,
    );
  };
  let answers: Promise<string>[] = [];
  await one.db.database.transaction(desk.institutionId, async (tx) => {
    const lock = 'select from balances where account_id = $1 and institution_id = $2 for no key update';
    await tx.query({ name: '', text: lock }, [way.fromAccountId, desk.institutionId]);
    answers = [initiate(caller, 'waits'), initiate(other, 'waits-too')];
    await waitUntilLocked(one.db, 'balances');
    await revoke(caller);
  });
  assert.deepEqual(await Promise.all(answers), ['invalid_token', 'new']);
  assert.equal(await posted(way.fromAccountId), before - 100n);
});

test('settles no order after the revocation of its token was answered, and each one before it once', async () => {
  const before = await posted(way.fromAccountId);
  let done = 0;
  for (let round = 0; round < 12; round++) {
    const caller = await known(round % 4 === 0 ? 'member' : 'client');
    const send = (name: string) =>
      Array.from({ length: 8 }, (_, index) =>
        (index % 2 === 0 ? caller.post : caller.beside)(paths.transfers, body(`${round}-${name}-${index}`)),
      );
    assert.equal((await caller.post(paths.transfers, body(`${round}-first`))).status, 201);
    const racing = send('racing');
    if (round % 2 === 0) await racing[0];
    const revoking = revoke(caller, round % 3 === 0 ? one : two);
    racing.push(...send('beside'));
    await revoking;
    const after = await Promise.all(send('after'));
    assert.deepEqual(new Set(after.map(({ status }) => status)), new Set([401]));
    const statuses = (await Promise.all(racing)).map(({ status }) => status);
    assert.ok(
      statuses.every((status) => status === 201 || status === 401),
      String(statuses),
    );
    done += 1 + statuses.filter((status) => status === 201).length;
  }
  assert.equal(await posted(way.fromAccountId), before - BigInt(done) * 100n);
  const [ids] = await one.db.superuser<{ count: bigint }>(
    `select count(*) from transfers where transfer_id ~ '^[0-9]+-(first|racing|beside|after)'`,
  );
  assert.equal(ids?.count, BigInt(done));
  assert.deepEqual(new Set(await ledgerSums(one.db)), new Set(['0']));
});
