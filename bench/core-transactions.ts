/*
 * The cost of taking the core's transactions, relative to COPY of the rows that are written for them:
 *
 *   node bench/core-transactions.ts [LINES] [MEMBERS] [TIMES]     default 50000 lines on the accounts of 5000 members, sent once
 *
 * Sends invented lines as one NDJSON stream to a service in a process of its own, and imports as many others from a file by the
 * command. COPY loads the rows that the stream has written (entries, transactions, events, balances) into plain, logged tables with
 * their primary keys and no other index or constraint. A second COPY loads the input file itself into a table of text, as the floor of
 * any import. All run one after another on one server. Peak memory is the largest resident set of the process, from /proc, at each
 * tenth of the stream. With TIMES, stream and file hold the same lines so many times over, and all but the first are repetitions: that
 * shows the memory of long inputs.
 */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { importExtract } from '../src/core-system/index.ts';
import { startCli } from '../test/support/cli.ts';
import { connectorOf, transactionsPath } from '../test/support/core.ts';
import { extractFolder, extractOf } from '../test/support/extract.ts';
import { addressOf, launch } from '../test/support/processes.ts';
import { testSecretKey } from '../test/support/secret-key.ts';
import { startTestService } from '../test/support/service.ts';
import { count } from './stage.ts';

const lines = Number(process.argv[2] ?? 50_000);
const members = Number(process.argv[3] ?? 5_000);
const total = lines * Number(process.argv[4] ?? 1);

const service = await startTestService({ demo: false });
const { context } = service.service;
await using extract = await extractFolder(extractOf(members));
await importExtract(context, extract.folder);
const accounts = (
  await service.db.superuser<{ id: string }>(
    `select account_id as id from accounts where customer_key is not null and currency = 'USD' order by account_key`,
  )
).map(({ id }) => id);
const core = await connectorOf(service, 'fictional');
const launched = launch([process.execPath, 'src/main.ts'], {
  DATABASE_URL: service.db.url,
  SECRET_KEY: testSecretKey,
  ALLOW_DEMO_ANYWHERE: 'true',
});
const address = await addressOf(launched);
const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-bench-'));

const fieldsOf = (prefix: string, n: number) => ({
  id: `${prefix}-${n}`,
  accountId: accounts[(n * 7_919) % accounts.length] as string,
  amount: -((n % 9_000) + 1) / 100,
  currencyCode: 'USD',
  kind: n % 5 === 0 ? 'ACH_CREDIT' : 'CARD',
  postedAt: '2026-03-02T14:05:00-05:00',
  description: `CORNER BAKERY ${n % 997}`,
  merchant: 'Corner Bakery',
  category: 'RESTAURANTS',
});

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}

async function peakMegabytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

const peaks: number[] = [];
async function stream(): Promise<void> {
  const request = http.request(`${address}${transactionsPath}?answers=refused`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
  });
  let answer = '';
  const answered = once(request, 'response').then(async ([response]) => {
    for await (const chunk of response) answer += chunk;
  });
  for (let n = 0; n < total; n += 500) {
    let text = '';
    for (let at = n; at < Math.min(n + 500, total); at += 1)
      text += `${JSON.stringify(fieldsOf('bench', at % lines))}\n`;
    if (!request.write(text)) await once(request, 'drain');
    if (n % Math.ceil(total / 10) < 500) peaks.push(await peakMegabytes(launched.child.pid as number));
  }
  request.end();
  await answered;
  if (!answer.startsWith(`{"summary":{"posted":${lines},`)) throw new Error(answer.slice(0, 500));
}

let filePeak = 0;
async function importFile(): Promise<void> {
  const child = startCli(service.db, [
    'import',
    path.join(folder, 'transactions.csv'),
    '--institution',
    'fictional',
  ]);
  const timer = setInterval(async () => {
    filePeak = Math.max(filePeak, await peakMegabytes(child.pid as number));
  }, 200);
  const [code] = await once(child, 'exit');
  clearInterval(timer);
  if (code !== 0) throw new Error(`the import ended with ${code}`);
}

const written = [
  ['entries', `select * from entries where kind = 'CORE'`, 'institution_id, account_key, seq'],
  ['core_transactions', 'select * from core_transactions', 'institution_id, core_id'],
  ['outbox', `select * from outbox where kind = 'account.posted'`, 'institution_id, event_key'],
  ['balances', 'select * from balances where seq > 0', 'institution_id, account_key'],
] as const;

/** Returns the number of rows and the seconds of COPY. */
async function copyRows(): Promise<{ rows: number; took: number }> {
  const client = new pg.Client(service.db.owner);
  await client.connect();
  let rows = 0;
  let took = 0;
  for (const [table, query, key] of written) {
    const file = path.join(folder, `${table}.copy`);
    await pipeline(client.query(copyTo(`copy (${query}) to stdout`)), createWriteStream(file));
    await client.query(
      `create table plain_${table} (like ${table}); alter table plain_${table} add primary key (${key})`,
    );
    took += await seconds(() =>
      pipeline(createReadStream(file), client.query(copyFrom(`copy plain_${table} from stdin`))),
    );
    const { rows: counted } = await client.query(`select count(*) as rows from plain_${table}`);
    rows += Number(counted[0]?.rows);
  }
  await client.end();
  return { rows, took };
}

/** Returns the seconds of COPY of the input file as it is. */
async function copyInput(file: string, columns: readonly string[]): Promise<number> {
  const client = new pg.Client(service.db.owner);
  await client.connect();
  await client.query(`create table plain_input (${columns.map((name) => `${name} text`).join(', ')})`);
  const took = await seconds(() =>
    pipeline(
      createReadStream(file),
      client.query(copyFrom('copy plain_input from stdin with (format csv, header)')),
    ),
  );
  await client.end();
  return took;
}

const streamed = await seconds(stream);
const copied = await copyRows();
const header = Object.keys(fieldsOf('x', 0)).map((name) =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
);
function* csv() {
  yield `${header.join(',')}\n`;
  for (let n = 0; n < total; n += 1) yield `${Object.values(fieldsOf('file', n % lines)).join(',')}\n`;
}
const file = path.join(folder, 'transactions.csv');
await writeFile(file, csv());
const input = await copyInput(file, header);
const imported = await seconds(importFile);
const times = (took: number) =>
  `${(took / copied.took).toFixed(1)} times COPY of the rows, ${(took / input).toFixed(0)} times COPY of the input`;
process.stdout.write(
  [
    `${count(total)} lines, ${count(lines)} of them different, on ${count(accounts.length)} accounts; load ${os
      .loadavg()
      .map((one) => one.toFixed(1))
      .join(' ')}`,
    `COPY of the ${count(copied.rows)} rows written for them: ${copied.took.toFixed(1)} s`,
    `COPY of the input file: ${input.toFixed(2)} s`,
    `NDJSON: ${streamed.toFixed(1)} s, ${times(streamed)}; peak memory by tenths ${peaks.join(' ')} MB`,
    `file: ${imported.toFixed(1)} s, ${times(imported)}; peak memory ${filePeak} MB`,
    '',
  ].join('\n'),
);
process.kill(launched.child.pid as number, 'SIGTERM');
await once(launched.child, 'exit');
await rm(folder, { recursive: true });
await service.close();
