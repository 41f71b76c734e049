/*
 * What remembering verified tokens saves: account reads with a token that was never seen before each time, against the
 * same reads with one token. Both in turns, in one run, by one client.
 *
 *   node bench/fresh-tokens.ts
 *
 * The CPU of the service's process is what the signature costs; the rate is bound by the database and the client, too.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { loadConfig } from '../src/app/config.ts';
import { openStores } from '../src/app/context.ts';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { median } from './measure.ts';
import { cpuSeconds } from './meters.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const port = 18_438;
const connections = 64;
const readsEach = 4_000;
const rounds = 3;
const accountPath = '/digitalbanking/db-accounts/v1/accounts/a-1001-checking';

const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-fresh-'));
const environment = { PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'silent' };
const service = spawn(path.join(root, 'bin/sharedraft'), ['serve'], {
  cwd: root,
  env: { ...process.env, ...environment },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const readers = new Pool(`http://127.0.0.1:${port}`, { connections });
try {
  await untilServing();
  const tokens = await issue(rounds * readsEach + 1);
  const one = tokens.pop() as string;
  await reads(Array(readsEach).fill(one));

  const found: { micros: number; perSecond: number; freshMicros: number; freshPerSecond: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const known = await reads(Array(readsEach).fill(one));
    const fresh = await reads(tokens.splice(0, readsEach));
    found.push({ ...known, freshMicros: fresh.micros, freshPerSecond: fresh.perSecond });
  }
  const middle = (of: (one: (typeof found)[number]) => number) => median(found.map(of));
  const ratio = middle(({ micros, freshMicros }) => freshMicros / micros);
  console.log(
    `${availableParallelism()} cores, ${connections} connections, ${rounds} rounds of ${readsEach} reads
one token     ${middle(({ micros }) => micros).toFixed(0)} µs of the service's CPU a read, ${middle(({ perSecond }) => perSecond).toFixed(0)} reads/s
fresh tokens  ${middle(({ freshMicros }) => freshMicros).toFixed(0)} µs of the service's CPU a read, ${middle(({ freshPerSecond }) => freshPerSecond).toFixed(0)} reads/s
ratio         ${ratio.toFixed(2)}`,
  );
} finally {
  await readers.destroy();
  service.kill('SIGTERM');
  if (service.exitCode === null) await once(service, 'exit');
  await rm(folder, { recursive: true, force: true });
}

async function untilServing(): Promise<void> {
  for (;;) {
    if (service.exitCode !== null) throw new Error('the service has ended');
    const ready = await readers.request({ path: '/readyz', method: 'GET' }).catch(() => undefined);
    await ready?.body.dump();
    if (ready?.statusCode === 200) return;
    await sleep(100);
  }
}

/** Tokens of the demo's member, made here with the key that the service shares. */
async function issue(count: number): Promise<string[]> {
  const { config, secrets } = loadConfig({ ...environment });
  const stores = await openStores(config, secrets, 'borrow', () => {});
  try {
    const lakeside = await stores.database.directory((db) => findInstitutionByCode(db, 'lakeside'));
    if (lakeside === undefined) throw new Error('the demo is not there');
    const { institutionId } = lakeside;
    const client = { institutionId, clientId: 'demo-app', clientEpoch: 0, scopes: ['account:read'] } as const;
    const member = { use: 'member', userId: 'u-demo-member', userEpoch: 0 } as const;
    const { tokens } = stores.auth;
    return await Promise.all(
      Array.from({ length: count }, () => tokens.issue({ ...client, ...member }, 1_800)),
    );
  } finally {
    await stores.close();
  }
}

/** One read with each token, as many at a time as there are connections. */
async function reads(tokens: string[]): Promise<{ micros: number; perSecond: number }> {
  const waiting = [...tokens];
  const started = performance.now();
  const used = async () => (await cpuSeconds(service.pid ?? 0, false)) ?? Number.NaN;
  const before = await used();
  const reader = async () => {
    for (let token = waiting.pop(); token !== undefined; token = waiting.pop()) {
      const { statusCode, body } = await readers.request({
        path: accountPath,
        method: 'GET',
        headers: { authorization: `Bearer ${token}` },
      });
      await body.dump();
      if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: connections }, reader));
  const seconds = (performance.now() - started) / 1_000;
  return { micros: (((await used()) - before) / tokens.length) * 1e6, perSecond: tokens.length / seconds };
}
