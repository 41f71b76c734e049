import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, paths, send } from '../support/demo.ts';
import {
  addressOf,
  childrenOf,
  eventually,
  exitOf,
  isAlive,
  isRunning,
  type Launched,
  launch,
  postmasterOf,
} from '../support/processes.ts';
import { type ServedByWorkers, startWorkers } from '../support/workers.ts';
import { testTransfersAtOnce } from './transfers-at-once.ts';

/* The service's guarantees hold with several processes on its port. */

let served: ServedByWorkers;
after(async () => {
  const workers = await childrenOf(served.pid);
  assert.equal(workers.length, 2);
  assert.equal(await served.close(), 0);
  assert.deepEqual(workers.filter(isAlive), [], 'no worker is left');
});

testTransfersAtOnce(async () => {
  served = await startWorkers(2);
  return { addresses: [served.address, served.address], db: served.db };
});

async function login(address = served.address): Promise<Record<string, string>> {
  const body = { grant_type: 'client_credentials', client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const answer = await send(address, 'POST', paths.token, { body });
  assert.equal(answer.status, 200, answer.text);
  return { authorization: `Bearer ${answer.body.access_token}` };
}

const smallTransfer = (id: string) => ({
  id,
  fromAccountId: 'a-1001-checking',
  toAccountId: 'a-1001-savings',
  amount: 0.01,
});

/** Connections are handed to the workers in turns: of eight new ones each gets some. */
async function onEachWorker(headers: Record<string, string>): Promise<number[]> {
  const fresh = { ...headers, connection: 'close' };
  const path = `${paths.accounts}/a-1001-checking`;
  const ask = () => send(served.address, 'GET', path, { headers: fresh });
  return (await Promise.all(Array.from({ length: 8 }, ask))).map((answer) => answer.status);
}

test('every worker refuses a revoked token, even if it was just used', async () => {
  const headers = await login();
  assert.deepEqual(new Set(await onEachWorker(headers)), new Set([200]));
  const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const body = { ...app, token: headers.authorization?.slice('Bearer '.length) };
  assert.equal((await send(served.address, 'POST', paths.revoke, { body })).status, 200);
  assert.deepEqual(new Set(await onEachWorker(headers)), new Set([401]));
});

test('posts due transfers once while each worker looks for them', async () => {
  // Held for a second instead of half a minute; a worker that has not read the change holds them longer, which only
  // takes more time.
  await served.db.superuser('update transfer_policies set review_seconds = 1 where review_seconds = 30');
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  const headers = await login();
  const order = (index: number): Promise<Answer> =>
    send(served.address, 'POST', paths.transfers, {
      headers,
      body: {
        id: `due-${index}`,
        fromAccountId: 'a-1006-checking',
        toAccountId: 'a-1005-checking',
        amount: 1000.01,
      },
    });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => order(index)));
  assert.deepEqual(new Set(answers.map(({ body }) => body.status)), new Set(['PENDING']));
  await eventually('all are posted', async () => {
    const [row] = await served.db.superuser<{ posted: bigint }>(
      `select count(*) as posted from transfers where transfer_id like 'due-%' and status = 'COMPLETED'`,
    );
    return row?.posted === 20n;
  });
  const [row] = await served.db.superuser<{ moved: bigint; held: bigint }>(
    `select (select -sum(e.amount) from entries e join transfers t on t.transfer_key = e.posting_key
             where t.transfer_id like 'due-%' and e.account_key = t.from_key)::bigint as moved,
            (select sum(debits_pending) from balances)::bigint as held`,
  );
  assert.deepEqual(row, { moved: 20n * 100_001n, held: 0n });
});

test('replaces a killed worker, and settles each transfer ordered meanwhile once', async () => {
  const { address, pid } = served;
  const headers = await login();
  const [victim, other] = await childrenOf(pid);
  assert.ok(victim !== undefined && other !== undefined);
  const transfer = (index: number) =>
    // A broken connection leaves the outcome unknown, and so does one that got no response: the worker may have been killed while it was
    // handed over. The same id is sent again until the outcome is known.
    eventually(`transfer ${index}`, async () => {
      const body = smallTransfer(`killed-${index}`);
      const answered = send(address, 'POST', paths.transfers, { headers, body });
      const answer = await Promise.race([answered, sleep(5_000, undefined, { ref: false })]);
      return answer?.status === 201 || answer?.status === 200;
    });
  const early = Array.from({ length: 50 }, (_, index) => transfer(index));
  process.kill(victim, 'SIGKILL');
  const late = Array.from({ length: 50 }, (_, index) => transfer(50 + index));
  await Promise.all([...early, ...late]);

  const [row] = await served.db.superuser<{ completed: bigint; moved: bigint; sum: bigint }>(
    `select (select count(*) from transfers where transfer_id like 'killed-%' and status = 'COMPLETED') as completed,
            (select sum(e.amount) from entries e join transfers t on t.transfer_key = e.posting_key
             where t.transfer_id like 'killed-%' and e.amount > 0)::bigint as moved,
            (select sum(posted) from balances)::bigint as sum`,
  );
  assert.deepEqual(row, { completed: 100n, moved: 100n, sum: 0n });
  await eventually('a new worker', async () => {
    const now = await childrenOf(pid);
    return now.length === 2 && !now.includes(victim) && now.includes(other);
  });
});

test('workers exit after their primary is killed with -9, the next start takes the database, and two signals to the group stop everything', async () => {
  const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-workers-'));
  await chmod(parent, 0o755);
  const dataDir = path.join(parent, 'data');
  let running: Launched | undefined;
  let database = 0;
  try {
    const first = launchWorkers(dataDir);
    running = first;
    const headers = await login(await addressOf(first));
    database = await postmasterOf(dataDir);
    const orphans = (await childrenOf(first.child.pid as number)).filter((child) => child !== database);
    assert.equal(orphans.length, 2);
    first.child.kill('SIGKILL');
    await eventually('the workers have ended', async () => !orphans.some(isAlive));
    assert.equal(isAlive(database), true);

    const second = launchWorkers(dataDir);
    running = second;
    const address = await addressOf(second);
    assert.equal(await postmasterOf(dataDir), database);
    const workers = await childrenOf(second.child.pid as number);
    const inFlight = Array.from({ length: 20 }, (_, index) =>
      send(address, 'POST', paths.transfers, { headers, body: smallTransfer(`stop-${index}`) }).then(
        (answer) => answer.status,
        () => 'refused',
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (let sent = 0; sent < 2; sent += 1) process.kill(-(second.child.pid as number), 'SIGINT');
    // Either the request got a response, or the connection was never accepted.
    for (const status of await Promise.all(inFlight)) {
      assert.ok(status === 201 || status === 'refused', String(status));
    }
    assert.equal(await exitOf(second.child), 0);
    assert.deepEqual([...workers, database].filter(isAlive), [], 'nothing is left');
  } finally {
    if (running !== undefined && isRunning(running.child)) {
      process.kill(-(running.child.pid as number), 'SIGKILL');
    }
    if (database !== 0 && isAlive(database)) process.kill(database, 'SIGQUIT');
    await rm(parent, { recursive: true, force: true });
  }
});

test('Ctrl-C during the start of workers stops quietly and leaves nothing', async () => {
  const { child, output } = launch([process.execPath, 'src/main.ts', 'serve'], {
    WORKERS: '2',
    DATABASE_URL: served.db.url,
    SECRET_KEY: 'ab'.repeat(32),
    ALLOW_DEMO_ANYWHERE: 'true',
  });
  const group = child.pid as number;
  let workers: number[] = [];
  const deadline = performance.now() + 30_000;
  // At the first worker: it does not listen yet, and the signal ends it.
  while (workers.length === 0 && performance.now() < deadline) {
    workers = await childrenOf(group);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.notEqual(workers.length, 0, output());
  process.kill(-group, 'SIGINT');
  assert.equal(await exitOf(child), 0, output());
  assert.doesNotMatch(output(), /A worker ended/);
  assert.deepEqual(workers.filter(isAlive), []);
});

test('reports a used port once, and leaves nothing', async () => {
  const { child, output } = launch([process.execPath, 'src/main.ts', 'serve'], {
    WORKERS: '2',
    PORT: new URL(served.address).port,
    DATABASE_URL: served.db.url,
    SECRET_KEY: 'ab'.repeat(32),
    ALLOW_DEMO_ANYWHERE: 'true',
  });
  assert.equal(await exitOf(child), 1, output());
  assert.equal(output().match(/Another program listens on/g)?.length, 1, output());
  assert.doesNotMatch(output(), /\n\s+at /, 'no stack');
});

function launchWorkers(dataDir: string): Launched {
  return launch([process.execPath, 'src/main.ts', 'serve'], { WORKERS: '2', DATA_DIR: dataDir });
}
