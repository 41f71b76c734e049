/*
 * The cost of a login storm for other callers: account reads alone, then while 500 logins that arrive at once are
 * served. Another process sends the logins, so that the cost of sending them is not counted as the service's.
 *
 *   node bench/login-storm.ts
 *
 * Two loads: 64 connections that read again as soon as a response arrives, as in the bench's row `account`; and 200 reads
 * a second, each sent at its time, so that a stall delays every read that is due. The figure is the p99 in the storm
 * relative to the quiet p99; the aim is at most two. It is printed, not tested, because it depends on the machine. As a
 * comparison, an unrelated process hashes passwords at the lowest priority, without any login.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { availableParallelism, setPriority } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { startDemoService } from './demo-service.ts';
import type { Storm, StormResult } from './login-storm-client.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readsPerSecond = 200;
const readersAtOnce = 64;
const quietSeconds = 8;
const logins = 500;
const rounds = 3;
/** All logins have arrived by then. */
const arrivalMillis = 1_000;

await using service = await startDemoService(18_437, readersAtOnce);
const storms = fork(path.join(root, 'bench', 'login-storm-client.ts'));
try {
  raisePriority();
  const token = await memberToken();
  storms.send({ url: service.url, logins: await credentials() } satisfies Storm);
  const loads: Record<string, Load> = {
    [`${readersAtOnce} connections`]: readOneAfterAnother,
    [`${readsPerSecond} a second`]: readAtConstantRate,
  };
  console.log(`${availableParallelism()} cores, ${logins} logins at once`);
  for (const [name, load] of Object.entries(loads)) {
    await reads(token, load, sleep(2_000));
    for (let round = 1; round <= rounds; round += 1) {
      const quiet = p99(await reads(token, load, sleep(quietSeconds * 1_000)));
      const stormEnded = once(storms, 'message');
      storms.send('now');
      const storm = await reads(token, load, stormEnded);
      const [{ seconds, refused }] = (await stormEnded) as [StormResult];
      const hashingEnded = once(storms, 'message');
      storms.send(quietSeconds * 1_000);
      const beside = await reads(token, load, hashingEnded);
      const compared = (all: Read[]) => `${p99(all).toFixed(1)} ms (${(p99(all) / quiet).toFixed(2)})`;
      console.log(
        `${name}, p99 of reads: quiet ${quiet.toFixed(1)} ms, storm ${compared(storm)}, ` +
          `after its first second ${compared(storm.filter(({ at }) => at > arrivalMillis))}, ` +
          `beside an unrelated process that hashes ${compared(beside)}; ` +
          `the storm took ${seconds.toFixed(1)} s, ${refused} logins refused`,
      );
    }
  }
} finally {
  storms.kill();
}

/** The reader stands for members on other machines, so its own waits for a core must not count. Needs root. */
function raisePriority(): void {
  try {
    setPriority(-10);
  } catch {
    console.log('no right to a higher priority: the reader shares its cores with the service');
  }
}

/** One login for each request of the storm, from the demo's active members in turn. */
async function credentials(): Promise<{ username: string; password: string }[]> {
  const text = await readFile(path.join(root, 'examples/logins.csv'), 'utf8');
  const lines = parse<Record<string, string>>(text, { columns: true });
  const active = lines.filter(({ institution, state }) => institution === 'lakeside' && state === 'active');
  return Array.from({ length: logins }, (_none, n) => {
    const { username = '', password = '' } = active[n % active.length] ?? {};
    return { username, password };
  });
}

async function memberToken(): Promise<string> {
  const { body } = await service.pool.request({
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

interface Read {
  /** Milliseconds from the start of the load until the read was sent. */
  readonly at: number;
  /** Milliseconds until its response. */
  readonly millis: number;
}

/** Sends reads until `over`, and waits for their responses. */
type Load = (read: () => Promise<void>, over: AbortSignal) => Promise<unknown>;

function readOneAfterAnother(read: () => Promise<void>, over: AbortSignal): Promise<unknown> {
  return Promise.all(
    Array.from({ length: readersAtOnce }, async () => {
      while (!over.aborted) await read();
    }),
  );
}

async function readAtConstantRate(read: () => Promise<void>, over: AbortSignal): Promise<unknown> {
  const started = performance.now();
  const underWay: Promise<void>[] = [];
  while (!over.aborted) {
    const due = started + (underWay.length * 1_000) / readsPerSecond;
    while (performance.now() < due) await sleep(1);
    underWay.push(read());
  }
  return Promise.all(underWay);
}

/** All reads sent before `until`. */
async function reads(token: string, load: Load, until: Promise<unknown>): Promise<Read[]> {
  const over = new AbortController();
  void until.then(() => over.abort());
  const started = performance.now();
  const all: Read[] = [];
  await load(async () => {
    const sent = performance.now();
    await service.readAccount(token);
    all.push({ at: sent - started, millis: performance.now() - sent });
  }, over.signal);
  return all;
}

function p99(all: readonly Read[]): number {
  const millis = all.map((read) => read.millis).sort((one, other) => one - other);
  return millis[Math.floor(millis.length * 0.99)] ?? 0;
}
