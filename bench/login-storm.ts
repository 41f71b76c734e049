/*
 * What a storm of logins costs the others: account reads, first alone, then while 500 logins that came at once, on a
 * connection each, are worked off. Another process sends them, and this one only reads: what it takes to send them must not
 * be counted as the service's.
 *
 *   node bench/login-storm.ts
 *
 * Under two loads. One is that of the bench's account row: 64 connections, each of which reads again as soon as it was
 * answered. The other is light: 200 reads a second, each sent at its time whatever is unanswered, so that a stall is seen by
 * all whom it holds up. The figure is the storm's p99 against the quiet one; twice is the aim. Stated, not tested: it depends
 * on the machine. What the machine does by itself is measured, too: the reads without any login, while a process that has
 * nothing to do with the service hashes at the lowest priority.
 */
import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, setPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { Pool } from 'undici';
import type { Storm, Weathered } from './login-storm-client.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const port = 18_437;
const readsPerSecond = 200;
const readersAtOnce = 64;
const quietSeconds = 8;
const logins = 500;
const rounds = 3;
/** When they come in; later they are only worked off. */
const firstMillis = 1_000;
const accountPath = '/digitalbanking/db-accounts/v1/accounts/a-1001-checking';

const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-storm-'));
const service = spawn(path.join(root, 'bin/sharedraft'), ['serve'], {
  cwd: root,
  env: { ...process.env, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'silent' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const url = `http://127.0.0.1:${port}`;
const readers = new Pool(url, { connections: readersAtOnce });
const members = fork(path.join(root, 'bench', 'login-storm-client.ts'));
try {
  readFirst();
  await untilServing();
  const authorization = `Bearer ${await token()}`;
  members.send({ url, logins: await credentials() } satisfies Storm);
  const loads: Record<string, Load> = {
    [`${readersAtOnce} connections`]: (read, over) => eachAfterTheLast(read, over),
    [`${readsPerSecond} a second`]: (read, over) => eachAtItsTime(read, over),
  };
  console.log(`${availableParallelism()} cores, ${logins} logins at once`);
  for (const [name, load] of Object.entries(loads)) {
    await reads(authorization, load, sleep(2_000));
    for (let round = 1; round <= rounds; round += 1) {
      const quiet = p99(await reads(authorization, load, sleep(quietSeconds * 1_000)));
      const told = once(members, 'message');
      members.send('now');
      const storm = await reads(authorization, load, told);
      const [{ seconds, refused }] = (await told) as [Weathered];
      const hashed = once(members, 'message');
      members.send(quietSeconds * 1_000);
      const beside = await reads(authorization, load, hashed);
      const compared = (all: Read[]) => `${p99(all).toFixed(1)} ms (${(p99(all) / quiet).toFixed(2)})`;
      console.log(
        `${name}, p99 of reads: quiet ${quiet.toFixed(1)} ms, storm ${compared(storm)}, ` +
          `after its first second ${compared(storm.filter(({ at }) => at > firstMillis))}, ` +
          `beside a stranger that hashes ${compared(beside)}; ` +
          `the storm took ${seconds.toFixed(1)} s, ${refused} logins refused`,
      );
    }
  }
} finally {
  members.kill();
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

/** Who reads stands for members elsewhere: that this process waits for a core is not to be counted. Only root may. */
function readFirst(): void {
  try {
    setPriority(-10);
  } catch {
    console.log('without the right to a higher priority: the reader shares its cores with what it measures');
  }
}

/** As many logins as the storm has, of all the demo's members in turn. */
async function credentials(): Promise<{ username: string; password: string }[]> {
  const text = await readFile(path.join(root, 'examples/logins.csv'), 'utf8');
  const lines = parse<Record<string, string>>(text, { columns: true });
  const active = lines.filter(({ institution, state }) => institution === 'lakeside' && state === 'active');
  return Array.from({ length: logins }, (_none, n) => {
    const { username = '', password = '' } = active[n % active.length] ?? {};
    return { username, password };
  });
}

async function token(): Promise<string> {
  const { body } = await readers.request({
    path: '/auth/v2/token',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'password',
      client_id: 'demo-app',
      client_secret: 'demo-app-secret',
      username: 'demo.member',
      password: 'demo-member-password',
    }),
  });
  const { access_token } = (await body.json()) as { access_token: string };
  return access_token;
}

/** When a read was sent, from the beginning, and how long after that it was answered; in milliseconds. */
interface Read {
  readonly at: number;
  readonly millis: number;
}

/** Sends reads until `over`, and waits for their answers. */
type Load = (read: () => Promise<void>, over: AbortSignal) => Promise<unknown>;

function eachAfterTheLast(read: () => Promise<void>, over: AbortSignal): Promise<unknown> {
  return Promise.all(
    Array.from({ length: readersAtOnce }, async () => {
      while (!over.aborted) await read();
    }),
  );
}

async function eachAtItsTime(read: () => Promise<void>, over: AbortSignal): Promise<unknown> {
  const started = performance.now();
  const underWay: Promise<void>[] = [];
  while (!over.aborted) {
    const due = started + (underWay.length * 1_000) / readsPerSecond;
    while (performance.now() < due) await sleep(1);
    underWay.push(read());
  }
  return Promise.all(underWay);
}

/** Each read that was sent before `until`. */
async function reads(authorization: string, load: Load, until: Promise<unknown>): Promise<Read[]> {
  const over = new AbortController();
  void until.then(() => over.abort());
  const started = performance.now();
  const all: Read[] = [];
  await load(async () => {
    const sent = performance.now();
    const { statusCode, body } = await readers.request({
      path: accountPath,
      method: 'GET',
      headers: { authorization },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
    all.push({ at: sent - started, millis: performance.now() - sent });
  }, over.signal);
  return all;
}

function p99(all: readonly Read[]): number {
  const millis = all.map((read) => read.millis).sort((one, other) => one - other);
  return millis[Math.floor(millis.length * 0.99)] ?? 0;
}
