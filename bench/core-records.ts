/*
 * The cost of taking records of the core, by kind of delivery:
 *
 *   node bench/core-records.ts [LINES]     default 30000 lines: a third persons, memberships and accounts with a holder each
 *
 * Sends invented records as one NDJSON stream to a service in a process of its own: first all new, then the same again, then the
 * persons with another name. Peak memory is the largest resident set of the process, from /proc, at the end of each stream.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import os from 'node:os';
import { importExtract } from '../src/core-system/index.ts';
import { connectorOf } from '../test/support/core.ts';
import { extractFolder, extractOf } from '../test/support/extract.ts';
import { addressOf, launch } from '../test/support/processes.ts';
import { testSecretKey } from '../test/support/secret-key.ts';
import { startTestService } from '../test/support/service.ts';
import { count } from './stage.ts';

const lines = Number(process.argv[2] ?? 30_000);

const service = await startTestService({ demo: false });
await using extract = await extractFolder(extractOf(10));
await importExtract(service.service.context, extract.folder);
const core = await connectorOf(service, 'fictional');
const launched = launch([process.execPath, 'src/main.ts'], {
  DATABASE_URL: service.db.url,
  SECRET_KEY: testSecretKey,
  ALLOW_DEMO_ANYWHERE: 'true',
});
const address = await addressOf(launched);

function recordOf(n: number): object {
  const member = Math.floor(n / 3);
  const [personId, memberNumber] = [`bench-p-${member}`, `B${member}`];
  if (n % 3 === 0) return { record: 'person', personId, firstName: 'Reseda', lastName: 'Quillington' };
  if (n % 3 === 1) {
    const persons = [{ personId, role: 'PRIMARY' }];
    return { record: 'member', memberNumber, customerId: `bench-c-${member}`, memberType: 'RETAIL', persons };
  }
  return {
    record: 'account',
    accountId: `bench-a-${member}`,
    memberNumber,
    accountNumber: `${memberNumber}-00`,
    type: 'SAVINGS',
    currency: 'USD',
    balance: (n % 9_000) / 100,
    holders: [{ personId, role: 'PRIMARY', mayPay: true }],
  };
}

async function peakMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${launched.child.pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
}

async function stream(name: string, records: number, recordAt: (n: number) => object): Promise<string> {
  const start = performance.now();
  const request = http.request(`${address}/digitalbanking/core/v1/records?answers=refused`, {
    method: 'POST',
    headers: { authorization: `Bearer ${core.token}`, 'content-type': 'application/x-ndjson' },
  });
  let answer = '';
  const answered = once(request, 'response').then(async ([response]) => {
    for await (const chunk of response) answer += chunk;
  });
  for (let n = 0; n < records; n += 500) {
    let text = '';
    for (let at = n; at < Math.min(n + 500, records); at += 1) text += `${JSON.stringify(recordAt(at))}\n`;
    if (!request.write(text)) await once(request, 'drain');
  }
  request.end();
  await answered;
  const { summary } = JSON.parse(answer) as { summary?: Record<string, number> };
  if (summary === undefined || summary.refused !== 0) throw new Error(answer.slice(0, 500));
  const seconds = (performance.now() - start) / 1000;
  return `${name}: ${count(records)} lines in ${seconds.toFixed(1)} s, ${count(Math.round(records / seconds))} a second, peak ${await peakMegabytes()} MB`;
}

const rows = [
  await stream('new', lines, recordOf),
  await stream('the same again', lines, recordOf),
  await stream('renamed', Math.floor(lines / 3), (n) => ({
    record: 'person',
    personId: `bench-p-${n}`,
    firstName: 'Renamed',
  })),
];
process.stdout.write(`${rows.join('\n')}\nload ${os.loadavg()[0]?.toFixed(1)}\n`);
launched.child.kill('SIGTERM');
await once(launched.child, 'exit');
await service.close();
process.exit();
