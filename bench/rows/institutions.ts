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
import { microsOf } from './cost.ts';

const many = 200;

const idleSeconds = 20;

export const institutions: Row = {
  name: 'institutions',
  title: `The same members and accounts in ${many} institutions instead of one, 256 connections for transfers and 64 for reads`,
  async measure(bench) {
    const one = await serving(bench, 1);
    const idle = await transactionsASecond(await start(bench, { ...plain, institutions: many }));
    const all = await serving(bench, many);
    const read = async (run: Run) => (await drive(run, { traffic: 'account', connections: 64 })).perSecond;
    const rates = await inTurns(bench, {
      'transfers, one': () => transferRate(one, { connections: 256 }),
      'transfers, many': () => transferRate(all, { connections: 256 }),
      'account, one': () => read(one),
      'account, many': () => read(all),
      'CPU of a transfer, one': () => microsOf(one, 'transfers', 256),
      'CPU of a transfer, many': () => microsOf(all, 'transfers', 256),
      'CPU of an account, one': () => microsOf(one, 'account', 64),
      'CPU of an account, many': () => microsOf(all, 'account', 64),
    });
    const beside = (name: 'transfers' | 'account' | 'CPU of a transfer' | 'CPU of an account') => ({
      name: `${name}, ${many} institutions`,
      ours: rates[`${name}, many`],
      against: 'one institution',
      theirs: rates[`${name}, one`],
    });
    return [
      compared({ ...beside('transfers'), unit: 'transfers/s', atLeast: 0.5 }),
      compared({ ...beside('account'), unit: 'responses/s', atLeast: 0.8 }),
      compared({ ...beside('CPU of a transfer'), unit: 'µs' }),
      compared({ ...beside('CPU of an account'), unit: 'µs' }),
      {
        name: 'transactions of an idle process',
        ours: idle,
        unit: '1/s',
        target: { atMost: 10 },
      },
    ];
  },
};

async function serving(bench: Bench, count: number): Promise<Run> {
  const run = await start(bench, { ...plain, institutions: count });
  await warmUp(run);
  return run;
}

/** Before any load, since alerts of many transfers are derived long after them. A statement outside a transaction is one by itself. The statistics lag behind by up to a second. */
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
  // The work of the start ends first.
  await sleep(seconds * 1000);
  const before = await count();
  await sleep(seconds * 1000);
  const idle = ((await count()) - before) / seconds;
  await stage.sql('postgres', 'alter system reset autovacuum');
  await stage.sql('postgres', 'select pg_reload_conf()');
  return idle;
}
