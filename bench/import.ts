/*
 * The cost of an import, relative to COPY of the same files:
 *
 *   node bench/import.ts [MEMBERS ...]     default 100000
 *
 * Generates an extract of invented members, seeded. COPY loads its files into plain, logged tables with their natural
 * primary keys and no other constraint or index, in one process. The import is the command, in a process of its own, on the
 * same server: into an empty database, committed once and by range; the same files again; with one person in a hundred renamed.
 * Peak memory is the importing process's largest resident set, from /proc. Processor time is that of the command (of this process
 * for COPY) and of the server's processes that ended meanwhile; the log is the server's write-ahead log (WAL).
 */
import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { embeddedLogin, migrate, type SocketConnection } from '../src/storage/index.ts';
import { extractFiles, writeExtract } from './extract.ts';
import { environmentOf } from './fill.ts';
import { count, Stage } from './stage.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const ticksPerSecond = 100;

/** The fields of /proc/PID/stat from the state on, which is number 3 of proc_pid_stat(5). */
async function statOf(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

async function ownSeconds(pid: number): Promise<number> {
  const stat = await statOf(pid);
  return (Number(stat[11] ?? 0) + Number(stat[12] ?? 0)) / ticksPerSecond;
}

/** Processor time of the server's processes that have ended; connections are such processes. */
async function serverSeconds(stage: Stage): Promise<number> {
  const [file] = await stage.sql<{ text: string }>(
    'postgres',
    `select pg_read_file('postmaster.pid') as text`,
  );
  const stat = await statOf(Number(file?.text.split('\n')[0]));
  return (Number(stat[13]) + Number(stat[14])) / ticksPerSecond;
}

interface Cost {
  readonly seconds: number;
  readonly commandSeconds: number;
  readonly serverSeconds: number;
}

async function copy(stage: Stage, connection: SocketConnection, folder: string): Promise<Cost> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  for (const { name, table } of extractFiles) await client.query(`create table "${name}" (${table})`);
  const before = await serverSeconds(stage);
  const usedBefore = process.cpuUsage();
  const started = performance.now();
  for (const { name } of extractFiles) {
    const into = client.query(copyFrom(`copy "${name}" from stdin with (format csv, header)`));
    await pipeline(createReadStream(path.join(folder, name)), into);
  }
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(usedBefore);
  await client.end();
  return {
    seconds,
    commandSeconds: (user + system) / 1_000_000,
    serverSeconds: (await serverSeconds(stage)) - before,
  };
}

interface ImportCost extends Cost {
  readonly peakMegabytes: number;
  readonly logMegabytes: number;
}

async function importInto(
  stage: Stage,
  connection: SocketConnection,
  parameters: readonly string[],
): Promise<ImportCost> {
  const position = async () => {
    const [row] = await stage.sql<{ at: string }>('postgres', 'select pg_current_wal_lsn() as at');
    return row?.at as string;
  };
  const before = await position();
  const serverBefore = await serverSeconds(stage);
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'import', ...parameters], {
    env: { PATH: process.env.PATH, ...environmentOf(connection) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const pid = child.pid as number;
  let errors = '';
  child.stderr.on('data', (data) => {
    errors = `${errors}${data}`.slice(-4_000);
  });
  let peakKilobytes = 0;
  let commandSeconds = 0;
  const meter = setInterval(async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    peakKilobytes = Math.max(peakKilobytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
    commandSeconds = Math.max(commandSeconds, await ownSeconds(pid));
  }, 50);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(meter);
  const seconds = (performance.now() - started) / 1_000;
  if (code !== 0) throw new Error(`the import failed:\n${errors}`);
  const [log] = await stage.sql<{ bytes: string }>(
    'postgres',
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '${before}')::text as bytes`,
  );
  return {
    seconds,
    commandSeconds,
    serverSeconds: (await serverSeconds(stage)) - serverBefore,
    peakMegabytes: peakKilobytes / 1024,
    logMegabytes: Number(log?.bytes) / 1_048_576,
  };
}

const used = ({ seconds, commandSeconds, serverSeconds: server }: Cost) =>
  `${seconds.toFixed(1).padStart(8)} s; processor ${commandSeconds.toFixed(2)} s and ${server.toFixed(2)} s of the server`;

const sizes = process.argv.slice(2).map(Number);
await using stage = await Stage.open((text) => console.log(text));
for (const members of sizes.length > 0 ? sizes : [100_000]) {
  const folder = path.join(stage.folder, `extract-${members}`);
  const rows = await writeExtract(folder, members);
  await writeExtract(`${folder}-renamed`, members, true);
  console.log(`\n${count(members)} members, ${count(rows)} rows`);
  const plain = await copy(stage, await stage.emptyDatabase(`plain_${members}`), folder);
  console.log(`COPY             ${used(plain)}`);
  const [once, byRange] = [
    await stage.emptyDatabase(`once_${members}`),
    await stage.emptyDatabase(`bank_${members}`),
  ];
  for (const connection of [once, byRange]) await migrate(connection, { login: embeddedLogin });
  const steps = [
    ['first', once, [folder]],
    ['first, by range', byRange, [folder, '--commit', 'by-range']],
    ['unchanged', byRange, [folder]],
    ['one in 100', byRange, [`${folder}-renamed`, '--commit', 'by-range']],
  ] as const;
  for (const [name, connection, parameters] of steps) {
    const cost = await importInto(stage, connection, parameters);
    console.log(
      `${name.padEnd(16)} ${used(cost)}; ${(cost.seconds / plain.seconds).toFixed(1)} × COPY; ` +
        `${cost.peakMegabytes.toFixed(0)} MB resident at most, ${cost.logMegabytes.toFixed(1)} MB of log`,
    );
  }
}
