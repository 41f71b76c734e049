/*
 * Webhooks under load: 300 transfers a second with 0, 10, 30 and 100 endpoints, and then as many transfers as the service takes with and
 * without them. The receiver is a process of its own that responds at once. CPU is that of the service, its database and the receiver.
 *
 *   node bench/webhooks.ts [SECONDS] [ENDPOINTS …]     seconds for each figure, default 10; numbers of endpoints, default 0 10 30 100
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { type DemoService, startDemoService } from './demo-service.ts';
import { cpuSeconds, residentBytes } from './meters.ts';

const eventsPerSecond = 300;
const endpointsOfClient = 20;
const connections = 32;
const api = '/digitalbanking';
const accounts = [1, 2, 3, 4].flatMap((member) => [`a-100${member}-checking`, `a-100${member}-savings`]);

/** The deliveries that came since the last question. */
interface Received {
  readonly deliveries: number;
  readonly p50: number;
  readonly p99: number;
}

function serveAsReceiver(send: (message: unknown) => void): void {
  let lags: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string };
    lags.push(Date.now() - Date.parse(timestamp));
    response.writeHead(204).end();
  });
  server.listen(0, '127.0.0.1', () => send((server.address() as AddressInfo).port));
  process.on('message', () => {
    const sorted = lags.toSorted((one, other) => one - other);
    lags = [];
    const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? 0;
    send({ deliveries: sorted.length, p50: at(0.5), p99: at(0.99) });
  });
}

async function main(): Promise<void> {
  const [seconds = 10, ...counts] = process.argv.slice(2).map(Number);
  await using service = await startDemoService(18_395, connections);
  const receiver = fork(fileURLToPath(import.meta.url), { execArgv: [] });
  try {
    const [port] = (await once(receiver, 'message')) as [number];
    const received = async () => {
      receiver.send('received');
      const [answer] = (await once(receiver, 'message')) as [Received];
      return answer;
    };
    const bank = await Bench.open(service, { port, pid: receiver.pid ?? 0 });
    await bank.paced(2);
    for (const endpoints of counts.length > 0 ? counts : [0, 10, 30, 100]) {
      await bank.listen(endpoints);
      await received();
      const load = loadavg()[0]?.toFixed(1);
      const paced = await bank.measured(() => bank.paced(seconds));
      const got = await received();
      const most = await bank.measured(() => bank.most(seconds));
      const gotAtMost = await received();
      console.log(
        [
          `${endpoints} endpoints`,
          `${paced.transfers.toFixed(0)} transfers a second`,
          `${(got.deliveries / paced.seconds).toFixed(0)} deliveries a second`,
          `lag p50 ${got.p50} ms, p99 ${got.p99} ms`,
          `CPU ${coresOf(paced)}`,
          `${(paced.bytes / 2 ** 20).toFixed(0)} MB`,
          `at most ${most.transfers.toFixed(0)} transfers a second with ${(gotAtMost.deliveries / most.seconds).toFixed(0)} deliveries`,
          `CPU ${coresOf(most)}`,
          `load average ${load}`,
        ].join('; '),
      );
    }
    await bank.close();
  } finally {
    receiver.kill();
  }
}

interface Measured {
  readonly seconds: number;
  readonly transfers: number;
  readonly bytes: number;
  /** Cores. */
  readonly service: number;
  readonly database: number;
  readonly receiver: number;
}

function coresOf({ service, database, receiver }: Measured): string {
  return [service, database, receiver].map((cores) => cores.toFixed(2)).join(' + ');
}

class Bench {
  readonly #service: DemoService;
  readonly #receiver: { readonly port: number; readonly pid: number };
  readonly #postgres: number;
  readonly #token: string;
  readonly #database: pg.Client;
  #order = 0;

  private constructor(parts: {
    readonly service: DemoService;
    readonly receiver: { readonly port: number; readonly pid: number };
    readonly postgres: number;
    readonly token: string;
    readonly database: pg.Client;
  }) {
    this.#service = parts.service;
    this.#postgres = parts.postgres;
    this.#receiver = parts.receiver;
    this.#token = parts.token;
    this.#database = parts.database;
  }

  static async open(
    service: DemoService,
    receiver: { readonly port: number; readonly pid: number },
  ): Promise<Bench> {
    const client = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
    const response = await fetch(`${service.url}/auth/v2/token`, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', ...client }),
    });
    if (!response.ok) throw new Error(await response.text());
    const { access_token: token } = (await response.json()) as { access_token: string };
    const pid = path.join(service.settings.DATA_DIR ?? '', 'postgres', 'postmaster.pid');
    const [postgres, , , , host = ''] = (await readFile(pid, 'utf8')).split('\n');
    const database = new pg.Client({ host, user: 'postgres', database: 'sharedraft' });
    await database.connect();
    return new Bench({ service, receiver, postgres: Number(postgres), token, database });
  }

  async close(): Promise<void> {
    await this.#database.end();
  }

  /** Has exactly so many endpoints; the new ones begin behind the last event. A client may have twenty, so some change hands. */
  async listen(endpoints: number): Promise<void> {
    await this.#database.query('delete from webhook_endpoints');
    for (let number = 0; number < endpoints; number += 1) {
      if (number % endpointsOfClient === 0)
        await this.#database.query(`update webhook_endpoints set client_id = 'demo-backend'`);
      const response = await fetch(`${this.#service.url}${api}/db-webhooks/v1/endpoints`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ url: `http://127.0.0.1:${this.#receiver.port}/` }),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.arrayBuffer();
    }
  }

  async measured(work: () => Promise<number>): Promise<Measured> {
    const { pid } = this.#service;
    const used = () =>
      Promise.all([
        cpuSeconds(pid, false),
        cpuSeconds(this.#postgres, true),
        cpuSeconds(this.#receiver.pid, false),
      ]);
    const before = await used();
    const startedAt = performance.now();
    const transfers = await work();
    const seconds = (performance.now() - startedAt) / 1_000;
    const after = await used();
    const [service = 0, database = 0, receiver = 0] = after.map(
      (end, place) => ((end ?? 0) - (before[place] ?? 0)) / seconds,
    );
    const bytes = (await residentBytes(pid)) ?? 0;
    return { seconds, transfers: transfers / seconds, bytes, service, database, receiver };
  }

  /** Sends at the fixed rate, however long the responses take. Returns the transfers. */
  async paced(seconds: number): Promise<number> {
    const startedAt = performance.now();
    const sent: Promise<number>[] = [];
    const total = seconds * eventsPerSecond;
    while (sent.length < total) {
      const due = Math.min(total, ((performance.now() - startedAt) / 1_000) * eventsPerSecond);
      while (sent.length < due) sent.push(this.#transfer());
      await sleep(5);
    }
    return (await Promise.all(sent)).reduce((sum, one) => sum + one, 0);
  }

  /** Sends on all connections as fast as the service responds. */
  async most(seconds: number): Promise<number> {
    const until = performance.now() + seconds * 1_000;
    let sent = 0;
    await Promise.all(
      Array.from({ length: connections }, async () => {
        while (performance.now() < until) {
          const done = await this.#transfer();
          sent += done;
        }
      }),
    );
    return sent;
  }

  async #transfer(): Promise<number> {
    this.#order += 1;
    const pair = 2 * (this.#order % (accounts.length / 2));
    const isBack = Math.floor(this.#order / accounts.length) % 2;
    const order = {
      fromAccountId: accounts[pair + isBack],
      toAccountId: accounts[pair + 1 - isBack],
      amount: 0.01,
    };
    const { statusCode, body } = await this.#service.pool.request({
      path: `${api}/db-transfers/v1/transfers`,
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
    await body.dump();
    // On a busy machine some orders find the queue full.
    if (statusCode !== 201 && statusCode !== 503) throw new Error(`a transfer returned ${statusCode}`);
    return statusCode === 201 ? 1 : 0;
  }
}

if (process.send === undefined) await main();
else serveAsReceiver(process.send.bind(process));
