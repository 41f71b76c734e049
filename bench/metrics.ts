/*
 * The cost of the metrics: two services side by side, one with METRICS_PORT and a scraper that reads it each second, one
 * without. The load goes to them in turns, so that other work on the machine affects both alike.
 *
 *   node bench/metrics.ts [ROUNDS] [SECONDS]
 */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DemoService, startDemoService } from './demo-service.ts';
import { median, ratioOf } from './measure.ts';

const [rounds = 8, seconds = 5] = process.argv.slice(2).map(Number);
const connections = 32;
const metricsPort = 18_392;
const api = '/digitalbanking';

interface Load {
  readonly service: DemoService;
  readonly authorization: string;
}

async function open(port: number, more: Readonly<Record<string, string>> = {}): Promise<Load> {
  const service = await startDemoService(port, connections, more);
  const { statusCode, body } = await service.pool.request({
    path: '/auth/v2/token',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ grant_type: 'password', client_id: 'demo-app', client_secret: 'demo-app-secret' },
      ...{ username: 'demo.member', password: 'demo-member-password' },
    }),
  });
  const token = (await body.json()) as { access_token: string };
  if (statusCode !== 200) throw new Error('no token');
  return { service, authorization: `Bearer ${token.access_token}` };
}

async function get({ service: { pool }, authorization }: Load): Promise<void> {
  const path = `${api}/db-accounts/v1/accounts/a-1001-checking`;
  const { statusCode, body } = await pool.request({ path, method: 'GET', headers: { authorization } });
  await body.dump();
  if (statusCode !== 200) throw new Error(`a read returned ${statusCode}`);
}

let direction = 0;
async function transfer({ service: { pool }, authorization }: Load): Promise<void> {
  const ends = ['a-1001-checking', 'a-1001-savings'];
  direction ^= 1;
  const order = { fromAccountId: ends[direction], toAccountId: ends[1 - direction], amount: 0.01 };
  const { statusCode, body } = await pool.request({
    path: `${api}/db-transfers/v1/transfers`,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  await body.dump();
  if (statusCode !== 201 && statusCode !== 422) throw new Error(`a transfer returned ${statusCode}`);
}

/** Requests a second, and microseconds of the service's CPU for each. */
async function drive(load: Load, send: (load: Load) => Promise<void>): Promise<[rate: number, cpu: number]> {
  const cpuBefore = cpuSecondsOf(load.service.pid);
  const startedAt = performance.now();
  let sent = 0;
  const until = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        await send(load);
        sent += 1;
      }
    }),
  );
  const elapsed = (performance.now() - startedAt) / 1000;
  return [sent / elapsed, ((cpuSecondsOf(load.service.pid) - cpuBefore) * 1e6) / sent];
}

/** User and system time of all threads, in hundredths of a second in /proc (proc_pid_stat(5)). */
function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

const without = await open(18_390);
const watched = await open(18_391, { METRICS_PORT: String(metricsPort) });
let scraping = true;
const scraper = (async () => {
  while (scraping) {
    await fetch(`http://127.0.0.1:${metricsPort}/metrics`).then((response) => response.text());
    await sleep(1_000);
  }
})();
try {
  for (const [name, send] of [
    ['get account', get],
    ['transfer', transfer],
  ] as const) {
    const rates: [number[], number[]] = [[], []];
    const cpus: [number[], number[]] = [[], []];
    for (let round = -1; round < rounds; round++) {
      // The order changes with each round, so that neither profits from being second.
      const turns = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const turn of turns) {
        const [rate, cpu] = await drive(turn === 0 ? without : watched, send);
        // The first round warms up.
        if (round < 0) continue;
        rates[turn as 0 | 1].push(rate);
        cpus[turn as 0 | 1].push(cpu);
      }
    }
    const percent = (ratio: number) => `${((ratio - 1) * 100).toFixed(1)} %`;
    console.log(
      `${name}: ${median(rates[0]).toFixed(0)} → ${median(rates[1]).toFixed(0)} a second ` +
        `(${percent(ratioOf(rates[1], rates[0]))}), CPU ${median(cpus[0]).toFixed(1)} → ${median(cpus[1]).toFixed(1)} µs ` +
        `(${percent(ratioOf(cpus[1], cpus[0]))}); ${rounds} rounds of ${seconds} s, load average ${loadavg()[0]?.toFixed(1)}`,
    );
  }
} finally {
  scraping = false;
  await scraper;
  await Promise.all([without.service[Symbol.asyncDispose](), watched.service[Symbol.asyncDispose]()]);
}
