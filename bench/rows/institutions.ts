import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Bench,
  compared,
  drive,
  inTurns,
  plain,
  type Row,
  type Run,
  start,
  transferRate,
  warmUp,
} from '../measure.ts';

const many = 200;

const idleSeconds = 20;

export const institutions: Row = {
  name: 'institutions',
  title: `The same members and accounts in ${many} institutions instead of one, 256 connections for transfers and 64 for reads`,
  async measure(bench) {
    const one = await serving(bench, 1);
    const all = await serving(bench, many);
    const read = async (run: Run) => (await drive(run, { traffic: 'account', connections: 64 })).perSecond;
    const rates = await inTurns(bench, {
      'transfers, one': () => transferRate(one, { connections: 256 }),
      [`transfers, ${many}`]: () => transferRate(all, { connections: 256 }),
      'account, one': () => read(one),
      [`account, ${many}`]: () => read(all),
    });
    const against = 'one institution';
    const asked = await transactionsASecond(all);
    return [
      compared({
        name: `transfers, ${many} institutions`,
        unit: 'transfers/s',
        ours: rates[`transfers, ${many}`] ?? [],
        against,
        theirs: rates['transfers, one'] ?? [],
        atLeast: 0.5,
      }),
      compared({
        name: `account, ${many} institutions`,
        unit: 'responses/s',
        ours: rates[`account, ${many}`] ?? [],
        against,
        theirs: rates['account, one'] ?? [],
        atLeast: 0.8,
      }),
      { name: 'transactions of an idle process', ours: asked, unit: '1/s', target: { atMost: 10 } },
    ];
  },
};

async function serving(bench: Bench, count: number): Promise<Run> {
  const run = await start(bench, { ...plain, institutions: count });
  await warmUp(run);
  return run;
}

/** A statement outside a transaction is one by itself. The statistics lag behind by up to a second. */
async function transactionsASecond({ stage, pace, dataset }: Run): Promise<number> {
  const seconds = pace.rounds === 1 ? 2 : idleSeconds;
  const count = async () => {
    const [row] = await stage.sql<{ count: bigint }>(
      'postgres',
      `select xact_commit + xact_rollback as count from pg_stat_database where datname = '${dataset.connection.database}'`,
    );
    return Number(row?.count);
  };
  // Its transactions would count, too.
  await stage.sql('postgres', 'alter system set autovacuum = off');
  await stage.sql('postgres', 'select pg_reload_conf()');
  // The work behind the transfers ends first: alerts, event numbers.
  await sleep(seconds * 1000);
  const before = await count();
  await sleep(seconds * 1000);
  return ((await count()) - before) / seconds;
}
