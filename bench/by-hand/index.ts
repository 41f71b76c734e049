/** Handwritten transfers, one transaction each: the comparison for the service's transfers. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { embeddedLogin } from '../../src/storage/index.ts';
import { onPath } from '../tools.ts';
import type { HandJob, HandResult } from './hand-job.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const run = promisify(execFile);

/** pgbench if it is on the PATH, otherwise client.ts with the same script. */
export const handTool = onPath('pgbench') ? 'pgbench' : 'pg';

export type Hand = 'bare' | 'equal-work';

/** Start-up options: the service's schema needs the institution's setting, as in the service. */
const options: Readonly<Record<Hand, string>> = {
  bare: '-c synchronous_commit=on -c jit=off',
  'equal-work': '-c synchronous_commit=on -c jit=off -c sharedraft.institution=1',
};

export async function byHand(
  hand: Hand,
  job: Omit<HandJob, 'script' | 'options'>,
  scratchFolder: string,
): Promise<HandResult> {
  const connection = hand === 'equal-work' ? { ...job.connection, user: embeddedLogin } : job.connection;
  const full = { ...job, connection, script: path.join(here, `${hand}.sql`), options: options[hand] };
  return handTool === 'pgbench' ? withPgbench(full, scratchFolder) : withNode(full);
}

/** The tables of the bare transaction, with the fewest possible columns, as statements in order. */
export async function bareTables(accounts: number): Promise<string[]> {
  return [
    await readFile(path.join(here, 'bare-schema.sql'), 'utf8'),
    `insert into accounts select i, 1000000000 from generate_series(0, ${accounts - 1}) i`,
    'vacuum (analyze)',
  ];
}

async function withNode(job: HandJob): Promise<HandResult> {
  const { stdout } = await run(process.execPath, [path.join(here, 'client.ts'), JSON.stringify(job)]);
  return JSON.parse(stdout);
}

async function withPgbench(job: HandJob, scratchFolder: string): Promise<HandResult> {
  const { accounts, clients, connection } = job;
  const script = path.join(scratchFolder, `${path.basename(job.script)}`);
  const prelude = [
    job.hot ? String.raw`\set from 0` : String.raw`\set from random(0, ${accounts} - 1)`,
    String.raw`\set to (:from + random(1, ${accounts} - 1)) % ${accounts}`,
    String.raw`\set low least(:from, :to)`,
    String.raw`\set high greatest(:from, :to)`,
    String.raw`\set nonce random(0, 9007199254740991)`,
    '',
  ];
  await writeFile(script, prelude.join('\n') + (await readFile(job.script, 'utf8')));
  const { stdout } = await run(
    'pgbench',
    [
      '-n',
      '-M',
      'prepared',
      '-c',
      String(clients),
      '-T',
      String(job.seconds),
      '-f',
      script,
      '-h',
      connection.host,
      '-p',
      String(connection.port),
      '-U',
      connection.user,
      connection.database,
    ],
    { env: { ...process.env, PGOPTIONS: job.options } },
  );
  const perSecond = Number(/tps = ([0-9.]+)/.exec(stdout)?.[1]);
  const millis = Number(/latency average = ([0-9.]+) ms/.exec(stdout)?.[1]);
  if (!(perSecond > 0)) throw new Error(`pgbench printed:\n${stdout}`);
  return { perSecond, millis };
}
