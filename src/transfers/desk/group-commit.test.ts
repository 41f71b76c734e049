import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountsBusy } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Database, InstitutionId, Transaction } from '../../storage/index.ts';
import { condition, type JoinedRead } from '../../storage/index.ts';
import { GroupCommit } from './group-commit.ts';

interface Order {
  readonly id: string;
  readonly caller: string;
}

const institutionId = 1 as InstitutionId;

/** A queue without a database: what each batch held, and a gate that the first one waits at. */
function aQueue(maxBatch: number, maxWaiting: number, lanes = 1) {
  const batches: string[][] = [];
  const gate = Promise.withResolvers<void>();
  const transaction: Database['transaction'] = (institution, work) =>
    work({ institutionId: institution } as Transaction);
  const queue = new GroupCommit<Order, string>({
    database: { transaction } as unknown as Database,
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
  // The first batch ends only after the second has come to its end.
  assert.deepEqual(await Promise.all(submit('one', 1)), ['one0']);
  gate.resolve();
  await Promise.all(many);
  assert.deepEqual(batches, [['many0', 'many1', 'many2', 'many3'], ['one0']]);
});

/** A queue whose batches ask who may be done: what each brought so far, and what it did; `gate` opens before they ask. */
function aConfirmingQueue({ commit = async () => {} } = {}) {
  const begun: string[][] = [];
  const done: string[][] = [];
  const rolledBack: unknown[] = [];
  const gate = Promise.withResolvers<void>();
  const transaction = async (institution: InstitutionId, work: (tx: Transaction) => Promise<string[]>) => {
    try {
      const outcomes = await work({ institutionId: institution } as Transaction);
      done.push(outcomes.filter((outcome) => outcome !== undefined));
      await commit();
      return outcomes;
    } catch (error) {
      rolledBack.push(error);
      throw error;
    }
  };
  const queue = new GroupCommit<Order, string>({
    database: { transaction } as unknown as Database,
    lanes: 1,
    maxBatch: 100,
    maxWaiting: 100,
    deadlineMillis: 60_000,
    // One account for all of them.
    keysOf: () => ['account'],
    callerOf: (order) => order.caller,
    run: async (_tx, orders, _patient, confirmed) => {
      begun.push(orders.map(({ id }) => id));
      await gate.promise;
      const going = await confirmed();
      return orders.map(({ id }, index) => (going[index] ? id : undefined));
    },
    membersWhenUnknown: () => ({}),
  });
  const asked: string[][] = [];
  const read: JoinedRead<string, string> = {
    nameOf: (id) => id,
    run: async (_tx, _institution, ids) => {
      asked.push([...ids]);
      if (ids.includes('poison')) throw new Error('cannot be read');
      return ids;
    },
  };
  const submit = (id: string, accept?: (found: string | undefined) => Promise<unknown>) =>
    queue.submit(institutionId, { id, caller: 'one' }, accept && condition(read, id, accept));
  return { submit, begun, asked, done, rolledBack, gate };
}

const refuse = () => Promise.reject(dead);

const dead = new Problem('invalid_token', 'dead');

test('starts an order before its condition is known, and settles it only if the condition holds', async () => {
  const { submit, begun, asked, done, gate } = aConfirmingQueue();
  const found: unknown[] = [];
  const order = submit('a', async (id) => found.push(id));
  while (begun.length === 0) await new Promise(setImmediate);
  assert.deepEqual(asked, []);
  gate.resolve();
  assert.equal(await order, 'a');
  assert.deepEqual([begun, asked, found, done], [[['a']], [['a']], ['a'], [['a']]]);
});

test('leaves a rejected order out of its batch with the reason, and keeps the order of the others', async () => {
  const { submit, begun, asked, done, gate } = aConfirmingQueue();
  const orders = [submit('a', refuse), submit('b'), submit('c', async () => {}), submit('d')];
  gate.resolve();
  await assert.rejects(orders[0] as Promise<string>, dead);
  assert.deepEqual(await Promise.all(orders.slice(1)), ['b', 'c', 'd']);
  assert.deepEqual([begun, asked, done], [[['a', 'b', 'c', 'd']], [['a', 'c']], [['b', 'c', 'd']]]);
});

test('reads conditions with the same key once, and judges each of them', async () => {
  const { submit, asked, done, gate } = aConfirmingQueue();
  const orders = [submit('a', async () => {}), submit('a', refuse), submit('b', async () => {})];
  gate.resolve();
  const settled = await Promise.allSettled(orders);
  assert.deepEqual(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual([asked, done], [[['a', 'b']], [['a', 'b']]]);
});

test('frees the slot of a rejected order', async () => {
  const { submit, done, gate } = aConfirmingQueue();
  gate.resolve();
  const refused = Array.from({ length: 60 }, (_, index) => submit(`dead${index}`, refuse));
  for (const order of refused) await assert.rejects(order, dead);
  await Promise.all(Array.from({ length: 60 }, (_, index) => submit(`${index}`)));
  assert.deepEqual(
    done.map((ids) => ids.length),
    [60],
  );
});

test('rolls back a batch whose orders are all rejected', async () => {
  const { submit, begun, done, rolledBack, gate } = aConfirmingQueue();
  const refused = submit('a', refuse);
  gate.resolve();
  await assert.rejects(refused, dead);
  await submit('b');
  assert.deepEqual([begun, done], [[['a'], ['b']], [['b']]]);
  assert.equal(rolledBack.length, 1);
});

test('fails only the order whose condition cannot be read', async () => {
  const { submit, done, gate } = aConfirmingQueue();
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

test('does not reject an order that may have committed when it is run again', async () => {
  let commits = 0;
  const { submit, done, gate } = aConfirmingQueue({
    commit: async () => {
      if (commits++ === 0) throw new Problem('outcome_unknown', 'lost');
    },
  });
  let asked = 0;
  const order = submit('a', async () => {
    if (asked++ > 0) throw dead;
  });
  gate.resolve();
  assert.equal(await order, 'a');
  assert.deepEqual([asked, done], [1, [['a'], ['a']]]);
});

test('a lost commit response is no answer to an order that was not in the batch', async () => {
  let commits = 0;
  const { submit, done, gate } = aConfirmingQueue({
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

test('ignores the condition of an abandoned run, and answers the order in the next run', async () => {
  const done: string[] = [];
  let runs = 0;
  const nextRun = Promise.withResolvers<void>();
  // As a database's: over once its work has ended.
  const transaction: Database['transaction'] = async (institution, work) => {
    const tx = { institutionId: institution, over: false };
    return work(tx as Transaction).finally(() => {
      tx.over = true;
    });
  };
  const queue = new GroupCommit<Order, string>({
    database: { transaction } as unknown as Database,
    lanes: 1,
    maxBatch: 4,
    maxWaiting: 100,
    deadlineMillis: 60_000,
    keysOf: ({ id }) => [id],
    callerOf: ({ caller }) => caller,
    run: async (_tx, orders, _patient, confirmed) => {
      runs += 1;
      const busy = runs === 1 ? Promise.reject(new AccountsBusy(['one'])) : undefined;
      const [, going] = await Promise.all([busy, confirmed()]);
      nextRun.resolve();
      // Between the question and COMMIT.
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
      return orders.map(({ id }, index) => {
        if (going[index]) done.push(id);
        return id;
      });
    },
    membersWhenUnknown: () => ({}),
  });
  const read: JoinedRead<string, string> = { nameOf: (key) => key, run: async (_db, _id, keys) => keys };
  let judged = 0;
  const late = condition(read, 'token', async () => {
    judged += 1;
    if (judged > 1) return;
    await nextRun.promise;
    throw new Problem('database_unavailable', 'The provider could not be read.');
  });
  assert.equal(await queue.submit(institutionId, { id: 'one', caller: 'c' }, late), 'one');
  assert.deepEqual({ done, runs }, { done: ['one'], runs: 2 });
});
