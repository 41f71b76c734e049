/*
 * Runs a handwritten transaction in a loop on several connections, if pgbench is missing: prepared statements, one at a
 * time, as a handwritten service would. It reads the part of pgbench's language that the scripts here use: `:name` is a value,
 * and `\gset` keeps the columns of the one returned row.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { HandJob, HandResult } from './hand-job.ts';

interface Step {
  readonly name: string;
  readonly text: string;
  readonly variables: readonly string[];
  readonly keeps: boolean;
}

const job: HandJob = JSON.parse(process.argv[2] ?? '');
const steps = (await readFile(job.script, 'utf8'))
  .split('\n')
  .filter((line) => line !== '')
  .map(toStep);
const until = performance.now() + job.seconds * 1000;
let done = 0;
let millis = 0;
await Promise.all(Array.from({ length: job.clients }, client));
const result: HandResult = { perSecond: done / job.seconds, millis: millis / Math.max(1, done) };
process.stdout.write(JSON.stringify(result));

function toStep(line: string, index: number): Step {
  const variables: string[] = [];
  const text = line.replace(/\s*(\\gset|;)$/, '').replaceAll(/(?<!:):([a-z_]+)/g, (_, name: string) => {
    if (!variables.includes(name)) variables.push(name);
    return `$${variables.indexOf(name) + 1}`;
  });
  return { name: `step_${index}`, text, variables, keeps: line.endsWith('\\gset') };
}

async function client(): Promise<void> {
  const db = new pg.Client({ ...job.connection, options: job.options });
  await db.connect();
  while (performance.now() < until) {
    const started = performance.now();
    const from = job.hot ? 0 : Math.floor(Math.random() * job.accounts);
    const to = (from + 1 + Math.floor(Math.random() * (job.accounts - 1))) % job.accounts;
    const values: Record<string, unknown> = {
      from,
      to,
      low: Math.min(from, to),
      high: Math.max(from, to),
      nonce: Math.floor(Math.random() * Number.MAX_SAFE_INTEGER),
    };
    for (const { name, text, variables, keeps } of steps) {
      const { rows } = await db.query({ name, text, values: variables.map((variable) => values[variable]) });
      if (keeps) Object.assign(values, rows[0]);
    }
    done += 1;
    millis += performance.now() - started;
  }
  await db.end();
  await sleep(0);
}
