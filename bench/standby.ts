/*
 * Pages of history with a standby and without: processor time of the primary, the standby and the service for each page, and the share
 * of the pages that the standby answered; without writes, and beside a steady rate of transfers by another process.
 *
 *   node bench/standby.ts [SECONDS]     each measurement; default 5
 *
 * A page has the newest 50 transactions of an account since a day, so no answer is remembered. Contenders take turns, three rounds.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type Dispatcher } from 'undici';
import type { EmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import { asSuperuser } from '../test/support/postgres.ts';
import { addressOf, eventually, exitOf, freePort, type Launched, launch } from '../test/support/processes.ts';
import { scrape } from '../test/support/scrape.ts';
import { primaryAndStandby, urlOf } from '../test/support/standby.ts';
import { environmentOf, fill } from './fill.ts';
import { accountId } from './job.ts';
import { median } from './measure.ts';
import { cpuSeconds } from './meters.ts';

const members = 500;
const historyPerAccount = 100;
const connections = 16;
const transfersPerSecond = 100;
const rounds = 3;

const [seconds = 5] = process.argv.slice(2).map(Number);
const servers = await primaryAndStandby();
const launched: Launched[] = [];

async function pidOf({ connection }: EmbeddedPostgres): Promise<number> {
  const folder = await asSuperuser(connection, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('show data_directory');
    return rows[0]?.data_directory ?? '';
  });
  return Number((await readFile(`${folder}/postmaster.pid`, 'utf8')).split('\n')[0]);
}

async function start(settings: Readonly<Record<string, string>>) {
  const metrics = await freePort();
  const process = launch(['bin/sharedraft', 'serve'], {
    ...environmentOf(servers.primary.connection),
    METRICS_PORT: metrics,
    ...settings,
  });
  launched.push(process);
  const address = await addressOf(process);
  const figures = () => scrape(`http://127.0.0.1:${metrics}`);
  return { address, pid: process.child.pid as number, figures };
}

/** Sends requests over so many connections until the time is over; returns the number of responses. */
async function load(
  address: string,
  wanted: number,
  request: () => Dispatcher.RequestOptions,
): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let responses = 0;
  const one = async () => {
    const client = new Client(address);
    while (performance.now() < until) {
      const { statusCode, body } = await client.request(request());
      assert.equal(statusCode, wanted, await body.text());
      responses += 1;
    }
    await client.close();
  };
  await Promise.all(Array.from({ length: connections }, one));
  return responses;
}

const random = (below: number) => Math.floor(Math.random() * below);

try {
  const people = await fill(servers.primary.connection, { members, historyPerAccount });
  const headersOf = (member: number) => ({ authorization: `Bearer ${people.tokens[member]}` });
  // A page with a period is never remembered.
  const page = (): Dispatcher.RequestOptions => {
    const member = random(members);
    const account = accountId(member * 10 + random(10));
    const path = `/digitalbanking/db-accounts/v1/accounts/${account}/transactions?limit=50&from=2026-01-01`;
    return { method: 'GET', path, headers: headersOf(member) };
  };
  const alone = await start({});
  const beside = await start({ STANDBY_DATABASE_URL: urlOf(servers.standby) });
  const writer = await start({});
  await eventually(
    'the standby is current',
    async () => (await beside.figures()).get('sharedraft_standbys{state="current"}') === 1,
  );
  const pids = { primary: await pidOf(servers.primary), standby: await pidOf(servers.standby) };

  let writing = false;
  const write = async () => {
    const client = new Client(writer.address, { pipelining: transfersPerSecond });
    const sent: Promise<unknown>[] = [];
    for (let number = 0; writing; number += 1) {
      const member = random(members);
      const [fromAccountId, toAccountId] = [accountId(member * 10), accountId(member * 10 + 1)];
      const body = JSON.stringify({
        id: `t-${Date.now()}-${number}`,
        fromAccountId,
        toAccountId,
        amount: 0.01,
      });
      const headers = { ...headersOf(member), 'content-type': 'application/json' };
      const path = '/digitalbanking/db-transfers/v1/transfers';
      sent.push(
        client.request({ method: 'POST', path, headers, body }).then((response) => response.body.dump()),
      );
      await sleep(1000 / transfersPerSecond);
    }
    await Promise.all(sent);
    await client.close();
    return sent.length;
  };

  const cpu = async (service: number) => ({
    primary: (await cpuSeconds(pids.primary, true)) ?? 0,
    standby: (await cpuSeconds(pids.standby, true)) ?? 0,
    service: (await cpuSeconds(service, false)) ?? 0,
  });
  const answered = async ({ figures }: typeof beside) =>
    (await figures()).get('sharedraft_history_reads_total{outcome="current"}') ?? 0;

  async function measure(one: typeof beside) {
    const [before, answeredBefore] = [await cpu(one.pid), await answered(one)];
    const pages = await load(one.address, 200, page);
    const [after, answeredAfter] = [await cpu(one.pid), await answered(one)];
    const micros = (part: keyof typeof before) => ((after[part] - before[part]) * 1e6) / pages;
    return {
      pages: pages / seconds,
      primary: micros('primary'),
      standby: micros('standby'),
      service: micros('service'),
      share: (answeredAfter - answeredBefore) / pages,
    };
  }

  for (const isWriting of [false, true]) {
    const all: Record<'alone' | 'beside', Awaited<ReturnType<typeof measure>>[]> = { alone: [], beside: [] };
    writing = isWriting;
    const written = isWriting ? write() : Promise.resolve(0);
    // Tokens are read once by each process.
    for (const one of [alone, beside]) await load(one.address, 200, page);
    for (let round = 0; round < rounds; round += 1) {
      all.alone.push(await measure(alone));
      all.beside.push(await measure(beside));
    }
    writing = false;
    const transfers = await written;
    console.log(
      isWriting ? `beside ${transfers} transfers, ${transfersPerSecond} a second at most` : 'without writes',
    );
    for (const [name, measured] of Object.entries(all)) {
      const of = (part: keyof (typeof measured)[number]) => median(measured.map((one) => one[part]));
      console.log(
        `  ${name === 'alone' ? 'without a standby' : 'with a standby   '}  ${of('pages').toFixed(0)} pages a second; for a page: primary ${of('primary').toFixed(0)} µs, standby ${of('standby').toFixed(0)} µs, service ${of('service').toFixed(0)} µs; ${(of('share') * 100).toFixed(1)} % by the standby`,
      );
    }
  }
} finally {
  for (const { child } of launched) {
    child.kill('SIGTERM');
    await exitOf(child);
  }
  await servers.stop();
}
process.exit(0);
