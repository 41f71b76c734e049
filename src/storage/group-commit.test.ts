import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Problem } from '../problem.ts';
import type { Database, InstitutionId, Transaction } from './database.ts';
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

test('a batch takes callers in turns, and each caller in order', async () => {
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

test('a caller is sent away beyond their share, and can come again when their orders are answered', async () => {
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

test('one order beside many waits for their commit no longer than they are held up', async () => {
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
function aConfirmingQueue({ deadlineMillis = 60_000, commit = async () => {} } = {}) {
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
    deadlineMillis,
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
  const submit = (id: string, confirmed?: Promise<unknown>) =>
    queue.submit(institutionId, { id, caller: 'one' }, confirmed);
  return { submit, begun, done, rolledBack, gate };
}

const dead = new Problem('invalid_token', 'dead');

test('an order is begun before it is known whether it may be done, and done when it is', async () => {
  const { submit, begun, done, gate } = aConfirmingQueue();
  const known = Promise.withResolvers<void>();
  const order = submit('a', known.promise);
  while (begun.length === 0) await new Promise(setImmediate);
  known.resolve();
  gate.resolve();
  assert.equal(await order, 'a');
  assert.deepEqual([begun, done], [[['a']], [['a']]]);
});

test('who is refused is left out of the batch and told why; the others keep their order', async () => {
  const { submit, begun, done, gate } = aConfirmingQueue();
  const [ofA, ofC] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const orders = [submit('a', ofA.promise), submit('b'), submit('c', ofC.promise), submit('d')];
  while (begun.length === 0) await new Promise(setImmediate);
  ofC.resolve();
  ofA.reject(dead);
  // Not kept waiting by the batch.
  await assert.rejects(orders[0] as Promise<string>, dead);
  gate.resolve();
  assert.deepEqual(await Promise.all(orders.slice(1)), ['b', 'c', 'd']);
  assert.deepEqual([begun, done], [[['a', 'b', 'c', 'd']], [['b', 'c', 'd']]]);
});

test('who is refused while they wait for a batch is in none, and frees their place', async () => {
  const { submit, begun, done, gate } = aConfirmingQueue();
  const first = submit('first');
  while (begun.length === 0) await new Promise(setImmediate);
  const refused = Array.from({ length: 60 }, (_, index) => submit(`dead${index}`, Promise.reject(dead)));
  for (const order of refused) await assert.rejects(order, dead);
  const living = Array.from({ length: 60 }, (_, index) => submit(`${index}`));
  gate.resolve();
  await Promise.all([first, ...living]);
  assert.deepEqual(
    done.map((ids) => ids.length),
    [1, 60],
  );
  assert.deepEqual(begun, done);
});

test('a batch none of whose orders may be done is rolled back', async () => {
  const { submit, begun, done, rolledBack, gate } = aConfirmingQueue();
  const known = Promise.withResolvers<void>();
  const refused = submit('a', known.promise);
  while (begun.length === 0) await new Promise(setImmediate);
  known.reject(dead);
  await assert.rejects(refused, dead);
  gate.resolve();
  await submit('b');
  assert.deepEqual([begun, done], [[['a'], ['b']], [['b']]]);
  assert.equal(rolledBack.length, 1);
});

test('a batch goes without an order of which nobody knows, later ones overtake it, and it is done when it is known', async () => {
  const { submit, begun, done, gate } = aConfirmingQueue();
  gate.resolve();
  const known = Promise.withResolvers<void>();
  const late = submit('late', known.promise);
  assert.deepEqual(await Promise.all([submit('b'), submit('c')]), ['b', 'c']);
  assert.equal(await submit('d'), 'd');
  known.resolve();
  assert.equal(await late, 'late');
  assert.deepEqual(begun, [['late', 'b', 'c'], ['d'], ['late']]);
  assert.deepEqual(done, [['b', 'c'], ['d'], ['late']]);
});

test('an order of which nobody ever knows is given up at its deadline, and never done', async () => {
  const { submit, begun, done, gate } = aConfirmingQueue({ deadlineMillis: 2_000 });
  gate.resolve();
  const known = Promise.withResolvers<void>();
  const isOverloaded = (error: unknown) => error instanceof Problem && error.code === 'overloaded';
  await assert.rejects(submit('never', known.promise), isOverloaded);
  known.resolve();
  assert.equal(await submit('b'), 'b');
  assert.deepEqual([begun, done], [[['never'], ['b']], [['b']]]);
});

test('a lost answer to a commit is none to an order that was not in it', async () => {
  let commits = 0;
  const { submit, begun, done, gate } = aConfirmingQueue({
    commit: async () => {
      if (commits++ === 0) throw new Problem('outcome_unknown', 'lost');
    },
  });
  const ofA = Promise.withResolvers<void>();
  const orders = [submit('a', ofA.promise), submit('b')];
  while (begun.length === 0) await new Promise(setImmediate);
  ofA.reject(dead);
  gate.resolve();
  const [refused, settled] = await Promise.allSettled(orders);
  assert.deepEqual(refused, { status: 'rejected', reason: dead });
  assert.deepEqual(settled, { status: 'fulfilled', value: 'b' });
  assert.deepEqual(done, [['b'], ['b']]);
});
