import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, afterEach, before, test } from 'node:test';
import { paths, send } from '../support/demo.ts';
import {
  addressOf,
  eventually,
  exitOf,
  isAlive,
  isRunning,
  type Launched,
  launch,
  postmasterOf,
} from '../support/processes.ts';
import { prioritiesOf } from '../support/threads.ts';

/* The service as a process of its own, from the command line, with the embedded database. */

let parent: string;
let dataDir: string;
before(async () => {
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-lives-'));
  await chmod(parent, 0o755);
  dataDir = path.join(parent, 'data');
});
after(() => rm(parent, { recursive: true, force: true }));

const started: ChildProcess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) if (isRunning(child)) await stop(child, 'SIGTERM');
});

function serve(environment: Record<string, string> = {}): Launched {
  const command = [process.execPath, 'src/main.ts', 'serve'] as const;
  const launched = launch(command, { DATA_DIR: dataDir, ...environment });
  started.push(launched.child);
  return launched;
}

async function start(): Promise<Launched & { readonly address: string }> {
  const launched = serve();
  return { ...launched, address: await addressOf(launched) };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  child.kill(signal);
  return exitOf(child);
}

const postmaster = () => postmasterOf(dataDir);

async function loginAt(address: string): Promise<Record<string, string>> {
  const body = {
    grant_type: 'password',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    username: 'demo.member',
    password: 'demo-member-password',
  };
  const answer = await send(address, 'POST', paths.token, { body });
  assert.equal(answer.status, 200, answer.text);
  return { authorization: `Bearer ${answer.body.access_token}` };
}

test('finishes requests and leaves no process after SIGINT, once or twice, to the service or its group', async () => {
  for (const [signal, times, group] of [
    ['SIGINT', 1, false],
    ['SIGTERM', 2, false],
    ['SIGINT', 2, true],
  ] as const) {
    const { child, address } = await start();
    const headers = await loginAt(address);
    const database = await postmaster();
    const transfers = Array.from({ length: 20 }, (_, index) =>
      send(address, 'POST', paths.transfers, {
        headers,
        body: {
          id: `stop-${signal}-${times}-${group}-${index}`,
          fromAccountId: 'a-1001-checking',
          toAccountId: 'a-1001-savings',
          amount: 0.01,
        },
      }).then(
        (answer) => answer.status,
        () => 'refused',
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, 5));
    for (let sent = 0; sent < times; sent++)
      process.kill(group ? -(child.pid as number) : (child.pid as number), signal);
    const statuses = await Promise.all(transfers);
    assert.equal(await exitOf(child), 0, signal);
    // Either the request got a response, or the connection was never accepted.
    for (const status of statuses) assert.ok(status === 201 || status === 'refused', String(status));
    assert.equal(isAlive(database), false, 'the database has stopped');
  }
});

const skip = process.platform !== 'linux' && 'a priority is a thread’s own on Linux alone';
test('runs V8’s garbage collection and compilation threads at a lower priority than the serving thread', {
  skip,
}, async () => {
  const { child } = await start();
  const threads = await prioritiesOf(child.pid as number, 'node-V8Worker');
  assert.ok(threads.length > 0);
  const serving = os.getPriority();
  const lower = Math.max(serving, os.constants.priority.PRIORITY_BELOW_NORMAL);
  assert.deepEqual(new Set(threads), new Set([lower]));
  assert.equal(os.getPriority(child.pid), serving);
});

test('the next start takes over the database of a service killed with -9', async () => {
  const first = await start();
  const headers = await loginAt(first.address);
  const order = {
    id: 'before-the-kill',
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: 7,
  };
  assert.equal((await send(first.address, 'POST', paths.transfers, { headers, body: order })).status, 201);
  const database = await postmaster();
  await stop(first.child, 'SIGKILL');
  assert.equal(isAlive(database), true);

  const second = await start();
  assert.equal(await postmaster(), database);
  const again = await send(second.address, 'POST', paths.transfers, {
    headers: await loginAt(second.address),
    body: order,
  });
  assert.equal(again.status, 200);
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  assert.equal(await stop(second.child, 'SIGTERM'), 0);
  assert.equal(isAlive(database), false);
});

test('returns 503 or a true 504 while a database killed with -9 restarts, then serves again and moves no money twice', async () => {
  const { child, address } = await start();
  const headers = await loginAt(address);
  const balance = async () =>
    (await send(address, 'GET', `${paths.accounts}/a-1001-savings`, { headers })).body.balance.currentBalance
      .amount as number;
  const before = await balance();
  const order = (index: number) => ({
    id: `kill-${index}`,
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: 0.01,
  });
  const statuses = new Map<number, number>();
  const attempt = async (index: number) => {
    const answer = await send(address, 'POST', paths.transfers, { headers, body: order(index) });
    statuses.set(index, answer.status);
    if (answer.status === 503) {
      assert.equal(
        answer.body.code === 'database_unavailable' || answer.body.code === 'overloaded',
        true,
        answer.text,
      );
      assert.ok(answer.headers.has('retry-after'));
    } else if (answer.status === 504) {
      assert.equal(answer.body.code, 'outcome_unknown');
      assert.equal(answer.body.id, order(index).id);
    } else {
      assert.ok([200, 201].includes(answer.status), answer.text);
    }
  };
  const load = Promise.all(Array.from({ length: 200 }, (_, index) => attempt(index)));
  await new Promise((resolve) => setTimeout(resolve, 30));
  process.kill(await postmaster(), 'SIGKILL');
  await load;

  await eventually('served again', async () => (await send(address, 'GET', '/readyz')).status === 200);
  for (const [index, status] of [...statuses]) if (status >= 500) await attempt(index);
  assert.deepEqual(
    [...new Set(statuses.values())].filter((status) => status >= 500),
    [],
  );
  assert.equal(Math.round((await balance()) * 100), Math.round(before * 100) + 200);
  assert.equal(await stop(child, 'SIGTERM'), 0);
});

test('a second service on the same folder prints the reason and exits without harm', async () => {
  const first = await start();
  const second = serve();
  assert.equal(await exitOf(second.child), 1);
  assert.match(second.output(), /Another service is running on .*DATA_DIR/);
  assert.equal((await send(first.address, 'GET', '/readyz')).status, 200);
});

test('exits with one sentence and leaves nothing for a used port, a wrong setting or a public address for the demo', async () => {
  const first = await start();
  const port = new URL(first.address).port;
  const other = { DATA_DIR: path.join(parent, 'other') };
  const cases: [Record<string, string>, RegExp][] = [
    [{ ...other, PORT: port }, /Another program listens on 127\.0\.0\.1:\d+ already/],
    [
      { ...other, PORT: 'x', LOG_LEVEL: 'loud' },
      /PORT: expected a whole number[\s\S]*LOG_LEVEL: expected one of/,
    ],
    [{ ...other, HOST: '0.0.0.0' }, /demo institution.*ALLOW_DEMO_ANYWHERE/],
    [{ DATA_DIR: '/dev/null/sharedraft' }, /\/dev\/null\/sharedraft/],
  ];
  for (const [environment, sentence] of cases) {
    const { child, output } = serve(environment);
    assert.equal(await exitOf(child), 1, output());
    assert.match(output(), sentence);
    assert.doesNotMatch(output(), /\n\s+at /, 'no stack');
  }
});

test('the service and a command refuse a key that others may read, and leave no database', {
  timeout: 60_000,
}, async () => {
  const open = path.join(parent, 'open');
  await mkdir(open);
  await writeFile(path.join(open, 'secret.key'), `${Buffer.alloc(32).toString('base64')}\n`);
  await chmod(path.join(open, 'secret.key'), 0o644);
  for (const words of [['serve'], ['keys', 'list']]) {
    const { child, output } = launch([process.execPath, 'src/main.ts', ...words], { DATA_DIR: open });
    started.push(child);
    assert.equal(await exitOf(child), 1, output());
    assert.match(output(), /secret\.key: .*chmod 600/);
    await assert.rejects(postmasterOf(open), 'it has stopped');
  }
});
