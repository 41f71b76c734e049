import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { testDatabase } from '../support/database.ts';
import { clientOf, memberOf, paths } from '../support/demo.ts';
import {
  addressOf,
  childrenOf,
  eventually,
  exitOf,
  isAlive,
  isRunning,
  type Launched,
  launch,
} from '../support/processes.ts';

/* The demo with its simulated core, as `npm start` runs them. */

let parent: string;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-demo-core-'));
  await chmod(parent, 0o755);
});
after(() => rm(parent, { recursive: true, force: true }));

const started: Launched[] = [];
afterEach(async () => {
  for (const { child } of started.splice(0)) {
    if (isRunning(child)) child.kill('SIGTERM');
    await exitOf(child);
  }
});

async function serve(environment: Readonly<Record<string, string>>) {
  const command = [process.execPath, 'src/main.ts', 'serve'] as const;
  const launched = launch(command, { DEMO_CORE: 'true', ...environment });
  started.push(launched);
  return { ...launched, address: await addressOf(launched) };
}

const dataDir = () => path.join(parent, 'data');

/** Asks the running core on its control port. The file with the address may still be the previous process's. */
async function core(request = '/', init: RequestInit = {}): Promise<Record<string, number>> {
  const address = (await readFile(path.join(dataDir(), 'demo-core', 'control'), 'utf8')).trim();
  const response = await fetch(`${address}${request}`, init);
  assert.equal(response.status, 200);
  return (await response.json()) as Record<string, number>;
}

async function demoCoresOf(service: Launched): Promise<number[]> {
  const children = await childrenOf(service.child.pid as number);
  const commands = await Promise.all(
    children.map(
      async (pid) => [pid, await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')] as const,
    ),
  );
  return commands.flatMap(([pid, command]) => (command.includes('demo-core/main.ts') ? [pid] : []));
}

const meadow = ['meadow-app', 'meadow-app-secret'] as const;
const skip = process.platform !== 'linux' && 'children are read from /proc';

test('the demo shows an account with a year of history, and its core accepts a transfer', {
  skip,
}, async () => {
  const service = await serve({ DATA_DIR: dataDir() });
  await eventually('the history is here', async () => {
    const { lines = 0, undelivered } = await core();
    return lines > 1_000 && undelivered === 0;
  });
  const member = await memberOf(service, 'meadow.member', 'meadow-member-password', meadow);
  const accounts = (await member.get(paths.accounts)).body as { accountId: string }[];
  const [, , , , ...opened] = ['a-1001-card', 'a-1001-carloan', 'a-1001-checking', 'a-1001-savings'].concat(
    accounts.flatMap(({ accountId }) => (accountId.endsWith('-club') ? [accountId] : [])),
  );
  assert.deepEqual(
    accounts.map(({ accountId }) => accountId),
    ['a-1001-card', 'a-1001-carloan', 'a-1001-checking', ...opened, 'a-1001-savings'],
  );
  const { records = 0, unannounced, refusedRecords } = await core();
  assert.ok(records > 0);
  assert.deepEqual([unannounced, refusedRecords], [0, {}]);
  const history = await member.get(`${paths.accounts}/a-1001-checking/transactions?limit=100`);
  const types = new Set((history.body as { type: string }[]).map(({ type }) => type));
  assert.ok(types.size >= 5, [...types].join());

  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1002-savings', amount: 12.5 };
  const answer = await member.post(paths.transfers, order, { prefer: 'wait=20' });
  assert.equal(answer.body.status, 'COMPLETED', answer.text);

  // Both books agree, account by account.
  const bank = await clientOf(service, meadow);
  const { time: _, ...books } = await core('/accounts');
  for (const { accountId, balance } of Object.values(books) as unknown as {
    accountId: string;
    balance: number;
  }[]) {
    const shown = (await bank.get(`${paths.accounts}/${accountId}`)).body.balance.currentBalance.amount;
    assert.equal(shown, accountId.match(/card|loan|mortgage/) ? -balance || 0 : balance, accountId);
  }
});

test('the core ends with the service, also after kill -9, and goes on with the next one', {
  skip,
}, async () => {
  for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
    const service = await serve({ DATA_DIR: dataDir() });
    await eventually('the core runs', async () => (await demoCoresOf(service)).length === 1);
    const [pid = 0] = await demoCoresOf(service);
    await eventually('the core is served', async () => ((await core()).undelivered ?? 1) === 0);
    service.child.kill(signal);
    await exitOf(service.child);
    await eventually(`the core has ended after ${signal}`, async () => !isAlive(pid));
  }
});

test('a core that dies in the middle of a delivery comes back, and the service takes the delivery once', {
  skip,
}, async () => {
  const service = await serve({ DATA_DIR: dataDir() });
  await eventually('the core is served', async () => (await core()).undelivered === 0);
  const [pid = 0] = await demoCoresOf(service);
  await core('/faults/dies', { method: 'PUT', body: 'on' });
  const bank = await clientOf(service, meadow);
  const order = { fromAccountId: 'a-1004-savings', toAccountId: 'a-1004-checking', amount: 3 };
  // The core delivers the echo of this transfer, and dies.
  assert.equal((await bank.post(paths.transfers, order)).status, 201);
  await eventually('the core has died', async () => !isAlive(pid));
  await eventually('another one runs', async () => (await demoCoresOf(service)).length === 1);
  await eventually('all is delivered', async () => {
    const { undelivered, unreported } = await core();
    return undelivered === 0 && unreported === 0;
  });
  assert.deepEqual((await core()).refused, {});
});

test('no core runs with an external database, nor with DEMO_CORE=false', { skip }, async () => {
  await using db = await testDatabase();
  const external = await serve({
    DATABASE_URL: db.url,
    SECRET_KEY: 'ab'.repeat(32),
    ALLOW_DEMO_ANYWHERE: 'true',
  });
  const declined = await serve({ DATA_DIR: path.join(parent, 'declined'), DEMO_CORE: 'false' });
  for (const service of [external, declined]) {
    assert.deepEqual(await demoCoresOf(service), []);
    assert.doesNotMatch(service.output(), /demo_core_started/);
    await assert.rejects(memberOf(service, 'meadow.member', 'meadow-member-password', meadow));
  }
  const codes = await db.superuser('select code from institutions order by code');
  assert.deepEqual(codes, [{ code: 'harbor' }, { code: 'lakeside' }]);
  external.child.kill('SIGTERM');
  await exitOf(external.child);
});
