import { handTool } from '../by-hand/index.ts';
import {
  type Bench,
  bestClients,
  compared,
  drive,
  handRate,
  inTurns,
  median,
  plain,
  type Row,
  transferRate,
  warmUp,
} from '../measure.ts';

const unit = 'transfers/s';

async function served(bench: Bench) {
  const ground = await bench.stage.ground(plain);
  const server = await bench.stage.service(ground);
  await warmUp(bench, server, ground);
  return { ground, server };
}

export const transfers: Row = {
  name: 'transfers',
  title: 'Transfers over HTTP by member tokens, 100,000 accounts, uniform, a checkpoint in each run',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const bareClients = await bestClients(bench, 'bare');
    const equalClients = await bestClients(bench, 'equal-work');
    const rates = await inTurns(bench, {
      bare: () => handRate(bench, 'bare', bareClients),
      'ours, 64 connections': () => transferRate(bench, server, ground, { connections: 64 }),
      'equal work': () => handRate(bench, 'equal-work', equalClients),
      'ours, 256 connections': () => transferRate(bench, server, ground, { connections: 256 }),
    });
    const bare = `bare, ${bareClients} clients (${handTool})`;
    const [at64, at256] = [rates['ours, 64 connections'], rates['ours, 256 connections']];
    return [
      compared('64 connections', unit, at64, bare, rates.bare, 1),
      compared('256 connections', unit, at256, bare, rates.bare, 1.4),
      compared(
        '256 connections',
        unit,
        at256,
        `equal work, ${equalClients} clients (${handTool})`,
        rates['equal work'],
        2,
      ),
    ];
  },
};

export const dryRun: Row = {
  name: 'dry-run',
  title: 'Dry runs by member tokens, 64 connections',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const rate = async () =>
      (await drive(bench, server, ground, { traffic: 'dry-run', connections: 64 })).perSecond;
    const rates = await inTurns(bench, {
      'ours, transfers': () => transferRate(bench, server, ground, { connections: 64 }),
      'ours, dry runs': rate,
    });
    return [
      compared(
        '64 connections',
        'answers/s',
        rates['ours, dry runs'],
        'ours, transfers',
        rates['ours, transfers'],
        1,
      ),
    ];
  },
};

export const hot: Row = {
  name: 'hot',
  title: 'Every transfer from one hot account, 256 connections',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const rates = await inTurns(bench, {
      'bare, hot, 16 clients': () => handRate(bench, 'bare', 16, true),
      'ours, hot': () => transferRate(bench, server, ground, { connections: 256, sources: 'hot' }),
      'ours, uniform': () => transferRate(bench, server, ground, { connections: 256 }),
    });
    return [
      compared(
        'one account',
        unit,
        rates['ours, hot'],
        `bare on it, 16 clients (${handTool})`,
        rates['bare, hot, 16 clients'],
        5,
      ),
      compared('one account', unit, rates['ours, hot'], 'ours, uniform', rates['ours, uniform'], 0.9),
    ];
  },
};

export const zipf: Row = {
  name: 'zipf',
  title: 'Sources by Zipf 1.1 over 100,000 accounts, 256 connections',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const rates = await inTurns(bench, {
      'ours, Zipf': () => transferRate(bench, server, ground, { connections: 256, sources: 'zipf' }),
      'ours, uniform': () => transferRate(bench, server, ground, { connections: 256 }),
    });
    return [compared('Zipf 1.1', unit, rates['ours, Zipf'], 'ours, uniform', rates['ours, uniform'], 0.9)];
  },
};

export const one: Row = {
  name: 'one',
  title: 'One connection, one transfer at a time',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const rates = await inTurns(bench, {
      'bare, one client': () => handRate(bench, 'bare', 1),
      'ours, one connection': () => transferRate(bench, server, ground, { connections: 1 }),
    });
    return [
      compared(
        'one connection',
        unit,
        rates['ours, one connection'],
        `bare, one client (${handTool})`,
        rates['bare, one client'],
        0.4,
      ),
    ];
  },
};

export const large: Row = {
  name: 'large',
  title: 'Transfers with 1,000,000 accounts and 5,000,000 transfers in the tables, 256 connections',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const full = await bench.stage.ground({ members: 100_000, historyPerAccount: 10 });
    const fullServer = await bench.stage.service(full);
    await warmUp(bench, fullServer, full);
    const rates = await inTurns(bench, {
      'ours, 100,000 accounts': () => transferRate(bench, server, ground, { connections: 256 }),
      'ours, large': () => transferRate(bench, fullServer, full, { connections: 256 }),
    });
    await bench.stage.stop(fullServer);
    return [
      compared(
        'large tables',
        unit,
        rates['ours, large'],
        'ours, 100,000 accounts',
        rates['ours, 100,000 accounts'],
        0.85,
      ),
    ];
  },
};

export const latency: Row = {
  name: 'latency',
  title: 'A transfer’s time at half of the saturated rate, sent at a constant rate',
  async measure(bench) {
    const { ground, server } = await served(bench);
    const saturated = await transferRate(bench, server, ground, { connections: 256 });
    const rounds: { p50: number[]; p99: number[] } = { p50: [], p99: [] };
    for (let round = 0; round < bench.pace.rounds; round++) {
      const { millis, unsent } = await drive(bench, server, ground, {
        traffic: 'transfers',
        connections: 256,
        perSecond: saturated / 2,
      });
      if (unsent > 0) throw new Error(`${unsent} transfers could not be sent at half of the saturated rate`);
      rounds.p50.push(millis.p50);
      rounds.p99.push(millis.p99);
    }
    const note = `at ${Math.round(saturated / 2)} a second; p50 ${median(rounds.p50).toFixed(1)} ms`;
    return [{ what: 'p99', ours: median(rounds.p99), unit: 'ms', reach: { atMost: 25 }, rounds, note }];
  },
};
