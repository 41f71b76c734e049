import { setTimeout as sleep } from 'node:timers/promises';
import { bestClients, drive, type Figure, handRate, type Row, type Run, serve } from '../measure.ts';
import { cpuSeconds, residentBytes } from '../meters.ts';
import type { Server, Stage } from '../stage.ts';

interface Used {
  readonly service: number;
  readonly database: number;
  readonly wal: number;
  readonly disk: number;
}

/** Use so far: CPU seconds, bytes of the write-ahead log, bytes of the tables with their indexes. */
async function used(stage: Stage, database: string, server: Server | undefined): Promise<Used> {
  const [row] = await stage.sql<{ wal: string; disk: string }>(
    database,
    `select pg_current_wal_lsn() - '0/0'::pg_lsn as wal,
            (select sum(pg_total_relation_size(oid)) from pg_class
             where relkind = 'r' and relnamespace = 'public'::regnamespace) as disk`,
  );
  return {
    service: server === undefined ? 0 : ((await cpuSeconds(server.pid, true)) ?? Number.NaN),
    database: (await cpuSeconds(await stage.databasePid(), true)) ?? Number.NaN,
    wal: Number(row?.wal),
    disk: Number(row?.disk),
  };
}

interface Cost {
  readonly serviceMicros: number;
  readonly databaseMicros: number;
  readonly walBytes: number;
  readonly diskBytes: number;
}

async function costOf(
  stage: Stage,
  database: string,
  server: Server | undefined,
  work: () => Promise<number>,
): Promise<Cost> {
  const before = await used(stage, database, server);
  const done = await work();
  // Linux adds the CPU of exited processes a moment later.
  await sleep(100);
  const after = await used(stage, database, server);
  return {
    serviceMicros: ((after.service - before.service) / done) * 1e6,
    databaseMicros: ((after.database - before.database) / done) * 1e6,
    walBytes: (after.wal - before.wal) / done,
    diskBytes: (after.disk - before.disk) / done,
  };
}

/** CPU of service and database for each request, in µs. */
export async function microsOf(
  run: Run,
  traffic: 'transfers' | 'account',
  connections: number,
): Promise<number> {
  const { database } = run.dataset.connection;
  const cost = await costOf(run.stage, database, run.server, () => all(run, traffic, connections));
  return cost.serviceMicros + cost.databaseMicros;
}

/** All successful requests, the warm-up included, because the measured use includes it. */
async function all(run: Run, traffic: 'transfers' | 'account', connections: number): Promise<number> {
  const { allStatuses } = await drive(run, { traffic, connections });
  return (allStatuses[200] ?? 0) + (allStatuses[201] ?? 0);
}

export const cost: Row = {
  name: 'cost',
  title: 'Cost of a transfer: CPU of service and database, write-ahead log, disk; and the service’s memory',
  async measure(bench) {
    const { stage } = bench;
    const run = await serve(bench);
    const { server } = run;
    const { database } = run.dataset.connection;
    let most = 0;
    const watching = setInterval(async () => {
      most = Math.max(most, (await residentBytes(server.pid)) ?? 0);
    }, 100);
    const ours = await costOf(stage, database, server, () => all(run, 'transfers', 256));
    clearInterval(watching);
    const read = await costOf(stage, database, server, () => all(run, 'account', 64));
    const clients = await bestClients(bench, 'bare');
    const bare = await costOf(
      stage,
      'bench_bare',
      undefined,
      async () => (await handRate(bench, 'bare', clients)) * bench.pace.seconds,
    );
    const beside = (value: number) => ({ name: 'bare', value });
    return [
      { name: 'a transfer, CPU of the service', ours: ours.serviceMicros, unit: 'µs' },
      figure('a transfer, CPU of the database', ours.databaseMicros, 'µs', beside(bare.databaseMicros)),
      figure('a transfer, write-ahead log', ours.walBytes, 'bytes', beside(bare.walBytes)),
      figure('a transfer, disk', ours.diskBytes, 'bytes', beside(bare.diskBytes)),
      { name: 'an account read, CPU of the service', ours: read.serviceMicros, unit: 'µs' },
      { name: 'an account read, CPU of the database', ours: read.databaseMicros, unit: 'µs' },
      ...(most > 0
        ? [
            {
              name: 'resident memory under 256 connections',
              ours: most / 1e6,
              unit: 'MB',
              target: { atMost: 250 },
            },
          ]
        : []),
    ].filter((one) => !Number.isNaN(one.ours));
  },
};

function figure(name: string, ours: number, unit: string, against: { name: string; value: number }): Figure {
  return { name, ours, unit, against, ratio: ours / against.value };
}
