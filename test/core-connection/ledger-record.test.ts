import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seams } from '../../src/shared/seams.ts';
import { aConnector, startCoreService } from '../support/core-instructions.ts';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';

/** The statements while the work runs, by name. Reads of the sweeper and of idle watches are among them. */
async function statementsOf(work: () => Promise<void>): Promise<string[]> {
  const names: string[] = [];
  const start = ({ statement }: { readonly statement: string }) => void names.push(statement);
  const subscriber = { start } as unknown as Parameters<typeof seams.statement.subscribe>[0];
  seams.statement.subscribe(subscriber);
  try {
    await work();
  } finally {
    seams.statement.unsubscribe(subscriber);
  }
  return names;
}

test('an institution whose own ledger is the record settles an order without a statement about a core', async () => {
  const order = (bank: DemoCaller) => async () => {
    const body = { fromAccountId: 'a-1005-checking', toAccountId: 'a-1005-savings', amount: 1 };
    const answer = await bank.post(paths.transfers, body, { prefer: 'wait=0' });
    assert.equal(answer.status, 201, answer.text);
  };
  const aboutCore = (names: readonly string[]) => names.filter((name) => /core|instruction/.test(name));
  let own: string[] = [];
  await using service = await startCoreService({}, async (bank) => {
    await order(bank)();
    own = await statementsOf(order(bank));
  });
  assert.ok(own.length > 0);
  assert.deepEqual(aboutCore(own), []);

  const core = await aConnector(service, 'lakeside-core');
  await core.post('/digitalbanking/core/v1/heartbeat', {});
  const bank = await clientOf(service);
  await order(bank)();
  const there = await statementsOf(order(bank));
  assert.ok(aboutCore(there).length > 0, there.join());
});
