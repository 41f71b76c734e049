/*
 * The cost of an import, relative to COPY of the same files:
 *
 *   node bench/import.ts [MEMBERS ...]     default 100000
 *
 * Generates an extract of invented members, seeded. COPY loads its files into plain, logged tables with their natural
 * primary keys and no other constraint or index, in one process. The import is the command, in a process of its own, on the
 * same server: into an empty database; the same files again; with one person in a hundred renamed. Peak memory is the
 * importing process's largest resident set, from /proc; the log is the server's write-ahead log (WAL).
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
async function copy(connection: SocketConnection, folder: string): Promise<number> {
  const client = new pg.Client({ ...connection });
  await client.connect();
  try {
    for (const { name, table } of extractFiles) await client.query(`create table "${name}" (${table})`);
    const started = performance.now();
    for (const { name } of extractFiles) {
      const into = client.query(copyFrom(`copy "${name}" from stdin with (format csv, header)`));
      await pipeline(createReadStream(path.join(folder, name)), into);
    }
    return (performance.now() - started) / 1_000;
  } finally {
    await client.end();
  }
}

interface Cost {
  readonly seconds: number;
  readonly peakMegabytes: number;
  readonly logMegabytes: number;
}

async function importInto(stage: Stage, connection: SocketConnection, folder: string): Promise<Cost> {
  const position = async () => {
    const [row] = await stage.sql<{ at: string }>('postgres', 'select pg_current_wal_lsn() as at');
    return row?.at as string;
  };
  const before = await position();
  const started = performance.now();
  const child = spawn(process.execPath, [main, 'import', folder], {
    env: { PATH: process.env.PATH, ...environmentOf(connection) },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (data) => {
    errors = `${errors}${data}`.slice(-4_000);
  });
  let peakKilobytes = 0;
  const meter = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    peakKilobytes = Math.max(peakKilobytes, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0));
  }, 50);
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearInterval(meter);
  const seconds = (performance.now() - started) / 1_000;
  if (code !== 0) throw new Error(`the import failed:\n${errors}`);
  const [log] = await stage.sql<{ bytes: string }>(
    'postgres',
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '${before}')::text as bytes`,
  );
  return { seconds, peakMegabytes: peakKilobytes / 1024, logMegabytes: Number(log?.bytes) / 1_048_576 };
}

const sizes = process.argv.slice(2).map(Number);
await using stage = await Stage.open((text) => console.log(text));
for (const members of sizes.length > 0 ? sizes : [100_000]) {
  const folder = path.join(stage.folder, `extract-${members}`);
  const rows = await writeExtract(folder, members);
  await writeExtract(`${folder}-renamed`, members, true);
  console.log(`\n${count(members)} members, ${count(rows)} rows`);
  const plain = await copy(await stage.emptyDatabase(`plain_${members}`), folder);
  console.log(`COPY             ${plain.toFixed(1).padStart(8)} s`);
  const connection = await stage.emptyDatabase(`bank_${members}`);
  await migrate(connection, { login: embeddedLogin });
  const steps = { first: folder, unchanged: folder, 'one in 100': `${folder}-renamed` };
  for (const [name, from] of Object.entries(steps)) {
    const { seconds, peakMegabytes, logMegabytes } = await importInto(stage, connection, from);
    console.log(
      `${name.padEnd(16)} ${seconds.toFixed(1).padStart(8)} s, ${(seconds / plain).toFixed(1).padStart(5)} × COPY, ` +
        `${peakMegabytes.toFixed(0).padStart(6)} MB resident at most, ${logMegabytes.toFixed(1).padStart(8)} MB of log`,
    );
  }
}
