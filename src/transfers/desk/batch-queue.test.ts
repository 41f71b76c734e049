import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { AccountsBusyError } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Database, InstitutionId, Transaction } from '../../storage/index.ts';
import { BatchQueue, OrdersRefusedError } from './batch-queue.ts';

interface Order {
  readonly id: string;
  readonly caller: string;
  /** Rejects if the order must not be done. */
  readonly check?: (() => Promise<unknown>) | undefined;
}

const onceSent = (order: Order): Order => ({ ...order, check: undefined });

const institutionId = 1 as InstitutionId;

/** A queue without a database: the orders of each batch, and a gate that holds the first batch. */
function aQueue(maxBatch: number, maxWaiting: number, lanes = 1) {
  const batches: string[][] = [];
  const gate = Promise.withResolvers<void>();
  const together: Database['together'] = (parts) =>
    Promise.all(parts.map(({ institutionId, work }) => work({ institutionId } as Transaction)));
  const queue = new BatchQueue<Order, string>({
    database: { together } as unknown as Database,
    lanes,
    maxBatch,
    maxWaiting,
    deadlineMillis: 60_000,
    keysOf: (order) => [order.id],
    callerOf: (order) => order.caller,
    run: async (_tx, orders) => {
      batches.push(orders.map(({ id }) => id));
      if (batches.length === 1) await gate.promise;
      return orders.map(({ id }) => id);
    },
    onceSent,
    membersWhenUnknown: () => ({}),
  });
  const submit = (caller: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      queue.submit(institutionId, { id: `${caller}${index}`, caller }),
    );
  const begun = async () => {
    while (batches.length === 0) await new Promise(setImmediate);
  };
  return { submit, batches, gate, begun };
}

test('takes callers of a batch in turns, and each caller’s orders in order', async () => {
  const { submit, batches, gate, begun } = aQueue(4, 100);
  const first = submit('first', 1);
  await begun();
  const later = [...submit('flood', 6), ...submit('quiet', 2)];
  gate.resolve();
  await Promise.all([...first, ...later]);
  assert.deepEqual(batches, [
    ['first0'],
    ['flood0', 'quiet0', 'flood1', 'quiet1'],
    ['flood2', 'flood3', 'flood4', 'flood5'],
  ]);
});

test('refuses orders beyond a caller’s share, and accepts them again once earlier ones are done', async () => {
  const { submit, gate, begun } = aQueue(4, 6);
  const answered = submit('flood', 5);
  const refused = submit('flood', 1);
  await assert.rejects(
    refused[0] as Promise<string>,
    (error) => error instanceof Problem && error.code === 'overloaded' && error.retryAfterSeconds === 1,
  );
  answered.push(...submit('quiet', 1));
  await begun();
  gate.resolve();
  assert.deepEqual(await Promise.all(answered), ['flood0', 'flood1', 'flood2', 'flood3', 'flood4', 'quiet0']);
  assert.deepEqual(await Promise.all(submit('flood', 5)), ['flood0', 'flood1', 'flood2', 'flood3', 'flood4']);
});

test('holds a single order back for the commit of many only until they are held up', async () => {
  const { submit, batches, gate, begun } = aQueue(8, 100, 2);
  const many = submit('many', 4);
  await begun();
  // The first batch ends after the second.
  assert.deepEqual(await Promise.all(submit('one', 1)), ['one0']);
  gate.resolve();
  await Promise.all(many);
  assert.deepEqual(batches, [['many0', 'many1', 'many2', 'many3'], ['one0']]);
});

/** A queue whose batches check their orders: the orders of each, checked and done; `gate` opens before they check. */
function aCheckingQueue({ commit = async () => {} } = {}) {
  const begun: string[][] = [];
  const checked: string[][] = [];
  const done: string[][] = [];
  const rolledBack: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const together: Database['together'] = async (parts) => {
    try {
      const outcomes = await Promise.all(
        parts.map(({ institutionId, work }) => work({ institutionId } as Transaction)),
      );
      done.push(outcomes.flat() as string[]);
      await commit();
      return outcomes;
    } catch (error) {
      rolledBack.push(error);
      throw error;
    }
  };
  const queue = new BatchQueue<Order, string>({
    database: { together } as unknown as Database,
    lanes: 1,
    maxBatch: 100,
    maxWaiting: 100,
    deadlineMillis: 60_000,
    // One account for all of them.
    keysOf: () => ['account'],
    callerOf: (order) => order.caller,
    run: async (_tx, orders) => {
      begun.push(orders.map(({ id }) => id));
      await gate.promise;
      checked.push(orders.flatMap(({ id, check }) => (check === undefined ? [] : [id])));
      if (checked.at(-1)?.includes('poison')) throw new Error('cannot be read');
      const refused = await refusedOf(orders);
      if (refused.size > 0) throw new OrdersRefusedError(refused, dead);
      return orders.map(({ id }) => id);
    },
    onceSent,
    membersWhenUnknown: () => ({}),
  });
  const submit = (id: string, check?: () => Promise<unknown>) =>
    queue.submit(institutionId, { id, caller: 'one', check });
  return { submit, begun, checked, done, rolledBack, gate };
}

async function refusedOf(orders: readonly Order[]): Promise<Set<Order>> {
  const refused = new Set<Order>();
  await Promise.all(orders.map((order) => order.check?.().catch(() => refused.add(order))));
  return refused;
}

const refuse = () => Promise.reject(dead);

const dead = new Problem('invalid_token', 'dead');

test('a batch starts before its orders are checked, and does an order whose check passes', async () => {
  const { submit, begun, checked, done, gate } = aCheckingQueue();
  const found: unknown[] = [];
  const order = submit('a', async () => found.push('a'));
  while (begun.length === 0) await new Promise(setImmediate);
  assert.deepEqual(checked, []);
  gate.resolve();
  assert.equal(await order, 'a');
  assert.deepEqual([begun, checked, found, done], [[['a']], [['a']], ['a'], [['a']]]);
});

test('a refused order is rejected with the reason, and the others run again in their order', async () => {
  const { submit, begun, checked, done, gate } = aCheckingQueue();
  const orders = [submit('a', refuse), submit('b'), submit('c', async () => {}), submit('d')];
  gate.resolve();
  await assert.rejects(orders[0] as Promise<string>, dead);
  assert.deepEqual(await Promise.all(orders.slice(1)), ['b', 'c', 'd']);
  assert.deepEqual(begun, [
    ['a', 'b', 'c', 'd'],
    ['b', 'c', 'd'],
  ]);
  assert.deepEqual([checked, done], [[['a', 'c'], ['c']], [['b', 'c', 'd']]]);
});

test('rejects the refused one of two orders under one id, and settles the other', async () => {
  const { submit, checked, done, gate } = aCheckingQueue();
  const orders = [submit('a', async () => {}), submit('a', refuse), submit('b', async () => {})];
  gate.resolve();
  const settled = await Promise.allSettled(orders);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual([checked.at(-1), done], [['a', 'b'], [['a', 'b']]]);
});

test('a refused order frees its place in the queue', async () => {
  const { submit, done, gate } = aCheckingQueue();
  gate.resolve();
  const refused = Array.from({ length: 60 }, (_, index) => submit(`dead${index}`, refuse));
  for (const order of refused) await assert.rejects(order, dead);
  await Promise.all(Array.from({ length: 60 }, (_, index) => submit(`${index}`)));
  assert.deepEqual(
    done.map((ids) => ids.length),
    [60],
  );
});

test('a batch whose orders are all refused is rolled back', async () => {
  const { submit, begun, done, rolledBack, gate } = aCheckingQueue();
  const refused = submit('a', refuse);
  gate.resolve();
  await assert.rejects(refused, dead);
  await submit('b');
  assert.deepEqual([begun, done], [[['a'], ['b']], [['b']]]);
  assert.equal(rolledBack.length, 1);
});

test('a check that cannot be read fails its own order and no other', async () => {
  const { submit, done, gate } = aCheckingQueue();
  const orders = [
    submit('a', async () => {}),
    submit('poison', async () => {}),
    submit('b'),
    submit('c', refuse),
  ];
  gate.resolve();
  const settled = await Promise.allSettled(orders);
  const codes = settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code));
  assert.deepEqual(codes, ['a', 'internal_error', 'b', 'invalid_token']);
  assert.deepEqual(done.flat(), ['a', 'b']);
});

test('an order that may have been committed is not checked when it runs again', async () => {
  let commits = 0;
  const { submit, done, gate } = aCheckingQueue({
    commit: async () => {
      if (commits++ === 0) throw new Problem('outcome_unknown', 'lost');
    },
  });
  let checks = 0;
  const order = submit('a', async () => {
    if (checks++ > 0) throw dead;
  });
  gate.resolve();
  assert.equal(await order, 'a');
  assert.deepEqual([checks, done], [1, [['a'], ['a']]]);
});

test('a lost response to a commit leaves no doubt about an order that was refused before it', async () => {
  let commits = 0;
  const { submit, done, gate } = aCheckingQueue({
    commit: async () => {
      if (commits++ === 0) throw new Problem('outcome_unknown', 'lost');
    },
  });
  const orders = [submit('a', refuse), submit('b')];
  gate.resolve();
  const [refused, settled] = await Promise.allSettled(orders);
  assert.deepEqual(refused, { status: 'rejected', reason: dead });
  assert.deepEqual(settled, { status: 'fulfilled', value: 'b' });
  assert.deepEqual(done, [['b'], ['b']]);
});

test('a check that fails after its run was given up does not refuse the order, which the next run does', async () => {
  const done: string[] = [];
  let runs = 0;
  const nextRun = Promise.withResolvers<void>();
  const together: Database['together'] = (parts) =>
    Promise.all(parts.map(({ institutionId, work }) => work({ institutionId } as Transaction)));
  const queue = new BatchQueue<Order, string>({
    database: { together } as unknown as Database,
    lanes: 1,
    maxBatch: 4,
    maxWaiting: 100,
    deadlineMillis: 60_000,
    keysOf: ({ id }) => [id],
    callerOf: ({ caller }) => caller,
    run: async (_tx, orders) => {
      runs += 1;
      const busy = runs === 1 ? Promise.reject(new AccountsBusyError(['one'])) : undefined;
      const [, refused] = await Promise.all([busy, refusedOf(orders)]);
      nextRun.resolve();
      // Between the check and COMMIT.
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      if (refused.size > 0) throw new OrdersRefusedError(refused, dead);
      done.push(...orders.map(({ id }) => id));
      return orders.map(({ id }) => id);
    },
    onceSent,
    membersWhenUnknown: () => ({}),
  });
  let checks = 0;
  const late = async () => {
    checks += 1;
    if (checks > 1) return;
    await nextRun.promise;
    throw new Problem('database_unavailable', 'The provider could not be read.');
  };
  assert.equal(await queue.submit(institutionId, { id: 'one', caller: 'c', check: late }), 'one');
  assert.deepEqual({ done, runs }, { done: ['one'], runs: 2 });
});

/** A queue of one lane; `failures` has the error of an institution's first run, and `runs` the orders of each run by institution. */
function aSpanningQueue(failures: Map<InstitutionId, unknown> = new Map()) {
  const runs: Record<number, string[]>[] = [];
  const together: Database['together'] = (parts) => {
    const run: Record<number, string[]> = {};
    runs.push(run);
    return Promise.all(
      parts.map(({ institutionId, work }) => work({ institutionId, run } as unknown as Transaction)),
    );
  };
  const queue = new BatchQueue<Order, string>({
    database: { together } as unknown as Database,
    lanes: 1,
    maxBatch: 100,
    maxWaiting: 100,
    deadlineMillis: 60_000,
    keysOf: ({ id }) => [id],
    callerOf: ({ caller }) => caller,
    run: async (tx, orders) => {
      const { run } = tx as unknown as { readonly run: Record<number, string[]> };
      run[tx.institutionId] = orders.map(({ id }) => id);
      const failure = failures.get(tx.institutionId);
      failures.delete(tx.institutionId);
      if (failure !== undefined) throw failure;
      return orders.map(({ id }) => `${tx.institutionId} ${id}`);
    },
    onceSent,
    membersWhenUnknown: () => ({}),
  });
  const submit = (institution: number, id: string) =>
    queue.submit(institution as InstitutionId, { id, caller: 'app' });
  return { submit, runs };
}

const failureOf = (institution: number, code: string) =>
  Object.assign(new pg.DatabaseError('no', 0, 'error'), {
    code,
    institution: String(institution),
    statement: 'one',
  });

test('a batch spans institutions, in the order of their numbers, and each caller gets the outcome of its own', async () => {
  const { submit, runs } = aSpanningQueue();
  const orders = [submit(7, 'same'), submit(2, 'same'), submit(7, 'other')];
  assert.deepEqual(await Promise.all(orders), ['7 same', '2 same', '7 other']);
  assert.deepEqual(runs, [{ 2: ['same'], 7: ['same', 'other'] }]);
});

test('the failing statement of one institution is run again apart, behind all others', async () => {
  const { submit, runs } = aSpanningQueue(new Map([[2 as InstitutionId, failureOf(2, '22000')]]));
  const orders = [submit(1, 'a'), submit(2, 'b'), submit(3, 'c')];
  assert.deepEqual(await Promise.all(orders), ['1 a', '2 b', '3 c']);
  assert.deepEqual(runs.slice(1), [{ 1: ['a'], 3: ['c'] }, { 2: ['b'] }]);
});

test('an account that is locked in one institution holds back no order on the account of that id in another', async () => {
  const { submit, runs } = aSpanningQueue(new Map([[2 as InstitutionId, new AccountsBusyError(['same'])]]));
  const orders = [submit(1, 'same'), submit(2, 'same')];
  assert.deepEqual(await Promise.all(orders), ['1 same', '2 same']);
  assert.deepEqual(runs.slice(1), [{ 1: ['same'] }, { 2: ['same'] }]);
});
