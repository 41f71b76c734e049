/*
 * Vacuum and fill factors under a million transfers: databases with the same accounts, whose tables of balances and limits leave room in
 * their pages, or none. Transfers go to them in turns, so that other work on the machine affects all alike. Autovacuum has PostgreSQL's
 * own settings. For each table that transfers update: the updates that touched no index (HOT), dead rows, size, and runs of autovacuum.
 *
 *   node bench/vacuum.ts [TRANSFERS] [SECONDS] [FILL_FACTOR …]
 *
 * TRANSFERS in each database, default 1,000,000; SECONDS of a turn, default 20; fill factors, default 100 80.
 */
import { loadavg } from 'node:os';
import { cpuSeconds } from './meters.ts';
import { Stage } from './stage.ts';

const [transfers = 1_000_000, seconds = 20, ...given] = process.argv.slice(2).map(Number);
const fillFactors = given.length > 0 ? given : [100, 80];
/** The tables that a transfer updates. */
const updated = ['balances', 'limit_counters'];

interface TableState {
  readonly name: string;
  readonly updates: string;
  readonly hot: string | null;
  readonly dead: string;
  readonly megabytes: string;
  readonly vacuums: string;
}

const tableStates = `
  select s.relname name, s.n_tup_upd updates, round(100.0 * s.n_tup_hot_upd / nullif(s.n_tup_upd, 0), 1) hot, s.n_dead_tup dead,
    round(pg_total_relation_size(s.relid) / 1048576.0, 1) megabytes, s.autovacuum_count vacuums
  from pg_stat_user_tables s where s.n_tup_upd > 0 order by s.n_tup_upd desc limit 6`;

await using stage = await Stage.open(console.log);
const contenders = [];
for (const fillFactor of fillFactors) {
  const dataset = await stage.dataset({ members: 1_000, historyPerAccount: 0 }, `fill_${fillFactor}`);
  const { database } = dataset.connection;
  for (const table of updated) {
    await stage.sql(database, `alter table ${table} set (fillfactor = ${fillFactor})`);
    await stage.sql(database, `vacuum (full, analyze) ${table}`);
  }
  const server = await stage.service(dataset);
  contenders.push({ fillFactor, dataset, server, done: 0, rates: [] as number[], micros: [] as number[] });
}
const postgres = await stage.databasePid();
while (contenders.some(({ done }) => done < transfers)) {
  for (const one of contenders) {
    let micros = 0;
    const job = { traffic: 'transfers', connections: 64, sources: 'uniform' } as const;
    const { people } = one.dataset;
    const result = await stage.run(
      { ...job, url: one.server.url, people, warmupSeconds: 1, seconds },
      async () => {
        micros = (await cpuSeconds(postgres, true)) ?? 0;
      },
    );
    micros = ((await cpuSeconds(postgres, true)) ?? 0) - micros;
    one.done += result.perSecond * seconds;
    one.rates.push(result.perSecond);
    one.micros.push((micros * 1e6) / (result.perSecond * seconds));
  }
}
for (const { fillFactor, dataset, done, rates, micros } of contenders) {
  const tenth = Math.max(1, Math.floor(rates.length / 10));
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const ends = (values: readonly number[]) =>
    `${mean(values.slice(0, tenth)).toFixed(0)} in the first tenth, ${mean(values.slice(-tenth)).toFixed(0)} in the last`;
  console.log(
    `\nfill factor ${fillFactor}: ${Math.round(done)} transfers; a second ${mean(rates).toFixed(0)}, ${ends(rates)}; ` +
      `µs of the database for each ${mean(micros).toFixed(0)}, ${ends(micros)}; load average ${loadavg()[0]?.toFixed(1)}`,
  );
  for (const state of await stage.sql<TableState>(dataset.connection.database, tableStates))
    console.log(
      `  ${state.name.padEnd(28)} ${state.updates} updates, ${state.hot ?? 0} % of them HOT, ${state.dead} dead rows, ` +
        `${state.megabytes} MB, ${state.vacuums} runs of autovacuum`,
    );
}
