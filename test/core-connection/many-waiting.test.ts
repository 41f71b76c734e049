import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aConnector, startCoreService } from '../support/core-instructions.ts';
import { clientOf, paths } from '../support/demo.ts';

/* Requests that wait for the core: many of them, and a service with two connections. */

const waiting = 300;

test('hundreds of requests that wait for the core hold no connection and no place of other requests', async () => {
  await using service = await startCoreService({ environment: { DATABASE_CONNECTIONS: '2' } });
  const bank = await clientOf(service);
  const core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
  const placing: Promise<number>[] = [];
  for (let place = 0; place < waiting; place += 1) {
    const order = {
      id: `many-${place}`,
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1001-savings',
      amount: 0.01,
    };
    placing.push(
      bank.post(paths.transfers, order, { prefer: 'wait=30' }).then(({ status, body }) => {
        assert.equal(body.status, 'COMPLETED');
        return status;
      }),
    );
    // As callers arrive: not all in one moment.
    if (place % 100 === 99) await bank.get(`${paths.accounts}/a-1001-checking`);
  }
  const open = async () => {
    const [row] = await service.db.superuser<{ open: string }>(
      `select count(*) as open from core_instructions where state = 'OPEN'`,
    );
    return Number(row?.open);
  };
  while ((await open()) < waiting) await new Promise((resolve) => setTimeout(resolve, 50));
  const began = performance.now();
  assert.equal((await bank.get(`${paths.accounts}/a-1001-checking`)).status, 200);
  assert.ok(performance.now() - began < 2_000, 'another request is not held up');

  const taken = await core.take('?limit=1000');
  assert.equal(taken.length, waiting);
  for (let from = 0; from < waiting; from += 50)
    await Promise.all(taken.slice(from, from + 50).map(({ id }) => core.accept(id)));
  assert.deepEqual([...new Set(await Promise.all(placing))], [201]);
});

test('ends a wait when its caller leaves, and answers what it has when the service stops', async () => {
  const service = await startCoreService();
  const bank = await clientOf(service);
  const core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
  const order = (id: string) => ({
    id,
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: 1,
  });
  const leaving = new AbortController();
  const left = fetch(`${service.address}${paths.transfers}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bank.token}`, 'content-type': 'application/json', prefer: 'wait=30' },
    body: JSON.stringify(order('left')),
    signal: leaving.signal,
  });
  const [{ id }] = await core.take('?wait=10');
  leaving.abort();
  await assert.rejects(left);
  await core.accept(id);
  assert.equal((await bank.get(`${paths.transfers}/left`)).body.status, 'COMPLETED');

  const waits = bank.post(paths.transfers, order('stays'), { prefer: 'wait=30' });
  await core.take('?wait=10');
  const began = performance.now();
  await service.close();
  assert.equal((await waits).body.status, 'PENDING');
  assert.ok(performance.now() - began < 10_000);
});
