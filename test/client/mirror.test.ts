import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { clientCredentials, Sharedraft } from '../../client/src/index.ts';
import { addressOf, exitOf, type Launched, launch, postmasterOf } from '../support/processes.ts';
import { mulberry32, pick } from '../support/random.ts';

/* The nightly job of examples/mirror.mjs, as a process of its own, against a service of its own. */

const seed = 20_261_123;
const orders = 120;
const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const command = [
  process.execPath,
  `--import=${file('../support/client-package.mjs')}`,
  file('../../examples/mirror.mjs'),
] as const;

test('the mirror of the example equals the bank after kill -9 of the job, the service and the database', async (context) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-mirror-'));
  await chmod(folder, 0o755);
  const [dataDir, mirrorFile] = [path.join(folder, 'data'), path.join(folder, 'mirror.db')];
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const random = mulberry32(seed);
  const bank = new Sharedraft({ baseUrl, auth: clientCredentials(app), maxRetries: 20 });
  let service: Launched | undefined;
  const serve = async () => {
    service = launch([process.execPath, 'src/main.ts', 'serve'], { DATA_DIR: dataDir, PORT: String(port) });
    await addressOf(service);
  };
  const mirror = () =>
    launch(command, {
      ...{ BANK_URL: baseUrl, CLIENT_ID: app.clientId, CLIENT_SECRET: app.clientSecret, MIRROR: mirrorFile },
    });
  const kills = { job: 0, service: 0, database: 0 };
  let isOver = false;
  const pay = async () => {
    const accounts = [1, 2, 3].map((member) => `a-100${member}-checking`);
    for (let order = 0; order < orders; order += 1) {
      const fromAccountId = pick(random, accounts);
      const toAccountId = fromAccountId.replace('checking', 'savings');
      await bank.transfers.create({
        id: `mirrored-${order}`,
        fromAccountId,
        toAccountId,
        amount: `0.${10 + (order % 90)}`,
      });
      await sleep(random(40));
    }
    isOver = true;
  };
  const runJobs = async () => {
    while (!isOver) {
      const { child } = mirror();
      await sleep(random(700));
      if (child.kill('SIGKILL')) kills.job += 1;
      await exitOf(child);
    }
  };
  const killOthers = async () => {
    for (const victim of ['database', 'service'] as const) {
      await sleep(400 + random(600));
      kills[victim] += 1;
      if (victim === 'database') process.kill(await postmasterOf(dataDir), 'SIGKILL');
      else {
        service?.child.kill('SIGKILL');
        if (service !== undefined) await exitOf(service.child);
        await serve();
      }
    }
  };
  try {
    await serve();
    await Promise.all([pay(), runJobs(), killOthers()]);
    const last = mirror();
    assert.equal(await exitOf(last.child), 0, last.output());
    const rows = new DatabaseSync(mirrorFile, { readOnly: true })
      .prepare('select * from transfers order by id')
      .all();
    const wanted = [];
    for await (const transfer of bank.transfers.list({ limit: 200 })) {
      const { id, status, amount, fromAccountId, toAccountId } = transfer;
      wanted.push({ id, status, amount, from_account: fromAccountId, to_account: toAccountId });
    }
    context.diagnostic(JSON.stringify({ transfers: rows.length, kills }));
    assert.ok(rows.length >= orders && kills.job > 0);
    assert.deepEqual(
      rows.map((row) => ({ ...row })),
      wanted.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
    );
  } finally {
    service?.child.kill('SIGTERM');
    if (service !== undefined) await exitOf(service.child);
    await rm(folder, { recursive: true, force: true });
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
