import { handTool } from '../by-hand/index.ts';
import {
  bestClients,
  compared,
  drive,
  handRate,
  inTurns,
  median,
  type Row,
  serve,
  start,
  transferRate,
  warmUp,
} from '../measure.ts';

const unit = 'transfers/s';

export const transfers: Row = {
  name: 'transfers',
  title: 'Transfers over HTTP by member tokens, 100,000 accounts, uniform, a checkpoint in each run',
  async measure(bench) {
    const run = await serve(bench);
    const bareClients = await bestClients(bench, 'bare');
    const equalClients = await bestClients(bench, 'equal-work');
    const rates = await inTurns(bench, {
      bare: () => handRate(bench, 'bare', bareClients),
      'ours, 64 connections': () => transferRate(run, { connections: 64 }),
      'equal work': () => handRate(bench, 'equal-work', equalClients),
      'ours, 256 connections': () => transferRate(run, { connections: 256 }),
    });
    const bare = `bare, ${bareClients} clients (${handTool})`;
    const [at64, at256] = [rates['ours, 64 connections'], rates['ours, 256 connections']];
    return [
      compared({ name: '64 connections', unit, ours: at64, against: bare, theirs: rates.bare, atLeast: 1 }),
      compared({
        name: '256 connections',
        unit,
        ours: at256,
        against: bare,
        theirs: rates.bare,
        atLeast: 1.4,
      }),
      compared({
        name: '256 connections',
        unit,
        ours: at256,
        against: `equal work, ${equalClients} clients (${handTool})`,
        theirs: rates['equal work'],
        atLeast: 2,
      }),
    ];
  },
};

export const dryRun: Row = {
  name: 'dry-run',
  title: 'Dry runs by member tokens, 64 connections',
  async measure(bench) {
    const run = await serve(bench);
    const rate = async () => (await drive(run, { traffic: 'dry-run', connections: 64 })).perSecond;
    const rates = await inTurns(bench, {
      'ours, transfers': () => transferRate(run, { connections: 64 }),
      'ours, dry runs': rate,
    });
    return [
      compared({
        name: '64 connections',
        unit: 'responses/s',
        ours: rates['ours, dry runs'],
        against: 'ours, transfers',
        theirs: rates['ours, transfers'],
        atLeast: 1,
      }),
    ];
  },
};

export const hot: Row = {
  name: 'hot',
  title: 'Every transfer from one hot account, 256 connections',
  async measure(bench) {
    const run = await serve(bench);
    const rates = await inTurns(bench, {
      'bare, hot, 16 clients': () => handRate(bench, 'bare', 16, true),
      'ours, hot': () => transferRate(run, { connections: 256, sources: 'hot' }),
      'ours, uniform': () => transferRate(run, { connections: 256 }),
    });
    return [
      compared({
        name: 'one account',
        unit,
        ours: rates['ours, hot'],
        against: `bare on it, 16 clients (${handTool})`,
        theirs: rates['bare, hot, 16 clients'],
        atLeast: 5,
      }),
      compared({
        name: 'one account',
        unit,
        ours: rates['ours, hot'],
        against: 'ours, uniform',
        theirs: rates['ours, uniform'],
        atLeast: 0.9,
      }),
    ];
  },
};

export const zipf: Row = {
  name: 'zipf',
  title: 'Sources by Zipf 1.1 over 100,000 accounts, 256 connections',
  async measure(bench) {
    const run = await serve(bench);
    const rates = await inTurns(bench, {
      'ours, Zipf': () => transferRate(run, { connections: 256, sources: 'zipf' }),
      'ours, uniform': () => transferRate(run, { connections: 256 }),
    });
    return [
      compared({
        name: 'Zipf 1.1',
        unit,
        ours: rates['ours, Zipf'],
        against: 'ours, uniform',
        theirs: rates['ours, uniform'],
        atLeast: 0.9,
      }),
    ];
  },
};

export const one: Row = {
  name: 'one',
  title: 'One connection, one transfer at a time',
  async measure(bench) {
    const run = await serve(bench);
    const rates = await inTurns(bench, {
      'bare, one client': () => handRate(bench, 'bare', 1),
      'ours, one connection': () => transferRate(run, { connections: 1 }),
    });
    return [
      compared({
        name: 'one connection',
        unit,
        ours: rates['ours, one connection'],
        against: `bare, one client (${handTool})`,
        theirs: rates['bare, one client'],
        atLeast: 0.4,
      }),
    ];
  },
};

export const largeTables: Row = {
  name: 'large',
  title: 'Transfers with 1,000,000 accounts and 5,000,000 transfers in the tables, 256 connections',
  async measure(bench) {
    const run = await serve(bench);
    const large = await start(bench, { members: 100_000, historyPerAccount: 10 });
    await warmUp(large);
    const rates = await inTurns(bench, {
      'ours, 100,000 accounts': () => transferRate(run, { connections: 256 }),
      'ours, large': () => transferRate(large, { connections: 256 }),
    });
    await bench.stage.stop(large.server);
    return [
      compared({
        name: 'large tables',
        unit,
        ours: rates['ours, large'],
        against: 'ours, 100,000 accounts',
        theirs: rates['ours, 100,000 accounts'],
        atLeast: 0.85,
      }),
    ];
  },
};

export const latency: Row = {
  name: 'latency',
  title: 'Latency of a transfer at half of the saturated rate, sent at a constant rate',
  async measure(bench) {
    const run = await serve(bench);
    const saturated = await transferRate(run, { connections: 256 });
    const rounds: { p50: number[]; p99: number[] } = { p50: [], p99: [] };
    for (let round = 0; round < bench.pace.rounds; round++) {
      const { millis, unsent } = await drive(run, {
        traffic: 'transfers',
        connections: 256,
        perSecond: saturated / 2,
      });
      if (unsent > 0) throw new Error(`${unsent} transfers could not be sent at half of the saturated rate`);
      rounds.p50.push(millis.p50);
      rounds.p99.push(millis.p99);
    }
    const note = `at ${Math.round(saturated / 2)} a second; p50 ${median(rounds.p50).toFixed(1)} ms`;
    return [{ name: 'p99', ours: median(rounds.p99), unit: 'ms', target: { atMost: 25 }, rounds, note }];
  },
};
