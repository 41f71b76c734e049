/*
 * What a storm of logins costs the others: account reads at a steady rate, first alone, then while 500 logins that came
 * at once are worked off. Times count from when a read was due, so that a stall is seen by all whom it held up.
 *
 *   node bench/login-storm.ts
 *
 * The figure is the storm's p99 against the quiet one; twice is the aim. Stated, not tested: it depends on the machine.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { Pool } from 'undici';

const root = fileURLToPath(new URL('..', import.meta.url));
const port = 18_437;
const readsPerSecond = 200;
const quietSeconds = 8;
const logins = 500;
const rounds = 3;
const accountPath = '/digitalbanking/db-accounts/v1/accounts/a-1001-checking';

const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-storm-'));
const service = spawn(process.execPath, ['src/main.ts', 'serve'], {
  cwd: root,
  env: { ...process.env, PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'silent' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const url = `http://127.0.0.1:${port}`;
const readers = new Pool(url, { connections: 32 });
const members = new Pool(url, { connections: logins });
try {
  await untilServing();
  const bearer = await token({ username: 'demo.member', password: 'demo-member-password' });
  const authorization = `Bearer ${bearer.token}`;
  await reads(authorization, sleep(2_000));

  const found: { quiet: number; storm: number; seconds: number; refused: number }[] = [];
  for (let round = 1; round <= rounds; round += 1) {
    const quiet = await reads(authorization, sleep(quietSeconds * 1_000));
    const began = performance.now();
    const storm = Promise.all(await credentials().then((all) => all.map(token)));
    const during = await reads(authorization, storm);
    const answered = await storm;
    found.push({
      quiet: p99(quiet),
      storm: p99(during),
      seconds: (performance.now() - began) / 1_000,
      refused: answered.filter(({ status }) => status !== 200).length,
    });
  }
  console.log(`${availableParallelism()} cores, ${readsPerSecond} reads a second, ${logins} logins at once`);
  for (const { quiet, storm, seconds, refused } of found) {
    console.log(
      `p99 of reads: quiet ${quiet.toFixed(1)} ms, storm ${storm.toFixed(1)} ms, ratio ${(storm / quiet).toFixed(2)}; ` +
        `the storm took ${seconds.toFixed(1)} s, ${refused} logins refused`,
    );
  }
} finally {
  await Promise.all([readers.destroy(), members.destroy()]);
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

async function token(who: {
  username: string;
  password: string;
}): Promise<{ status: number; token: string }> {
  const client = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const { statusCode, body } = await members.request({
    path: '/auth/v2/token',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ grant_type: 'password', ...client, ...who }),
  });
  const answer = (await body.json()) as { access_token?: string };
  return { status: statusCode, token: answer.access_token ?? '' };
}

/** Milliseconds of each read that was due before `over`. */
async function reads(authorization: string, over: Promise<unknown>): Promise<number[]> {
  const millis: number[] = [];
  const underWay: Promise<void>[] = [];
  let ended = false;
  over.then(() => {
    ended = true;
  });
  const started = performance.now();
  for (let n = 0; !ended; n += 1) {
    const due = started + (n * 1_000) / readsPerSecond;
    while (performance.now() < due) await sleep(1);
    underWay.push(read(due));
  }
  await Promise.all(underWay);
  return millis;

  async function read(due: number): Promise<void> {
    const { statusCode, body } = await readers.request({
      path: accountPath,
      method: 'GET',
      headers: { authorization },
    });
    await body.dump();
    if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
    millis.push(performance.now() - due);
  }
}

function p99(millis: readonly number[]): number {
  return millis.toSorted((one, other) => one - other)[Math.floor(millis.length * 0.99)] ?? 0;
}
