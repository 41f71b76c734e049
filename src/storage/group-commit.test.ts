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
