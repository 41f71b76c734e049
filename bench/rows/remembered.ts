import {
  compared,
  drive,
  type Figure,
  inTurns,
  median,
  plain,
  type Row,
  type Run,
  readEach,
  serve,
  transferRate,
} from '../measure.ts';
import { residentBytes } from '../meters.ts';

const connections = 64;

export const unchanged: Row = {
  name: 'unchanged',
  title: 'Account detail that has not changed (304), against the whole answer, 64 connections',
  async measure(bench) {
    const run = await serve(bench);
    const rate = async (traffic: 'account' | 'unchanged') =>
      (await drive(run, { traffic, connections })).perSecond;
    for (const traffic of ['account', 'unchanged'] as const) await rate(traffic);
    const rates = await inTurns(bench, {
      unchanged: () => rate('unchanged'),
      whole: () => rate('account'),
    });
    return [
      compared({
        name: '304',
        unit: 'responses/s',
        ours: rates.unchanged,
        against: 'the whole answer',
        theirs: rates.whole,
        atLeast: 1,
      }),
    ];
  },
};

const mostTransfersPerSecond = 2_000;
const readsPerSecond = 1_000;

/** At most half of the transfers that the machine can do: beyond, reads wait for the machine and not for changes. */
async function transfersPerSecondOf(run: Run): Promise<number> {
  const peak = await transferRate(run, { connections: 256, sources: 'zipf' });
  return Math.min(mostTransfersPerSecond, Math.round(peak / 2));
}

/** Reads and transfers pick accounts by the same law, so the transfers change the accounts that are read most. */
export const moving: Row = {
  name: 'moving',
  title: `Account detail while up to ${mostTransfersPerSecond} transfers a second change the accounts, 64 connections`,
  async measure(bench) {
    const run = await serve(bench);
    const read = { traffic: 'account', connections, sources: 'zipf' } as const;
    const atRate = { ...read, perSecond: readsPerSecond };
    const transfersPerSecond = await transfersPerSecondOf(run);
    const moved: number[] = [];
    /** Transfers from a second client, begun with the warm-up of the reads. */
    const whileMoving = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      const transfers = drive(
        run,
        {
          traffic: 'transfers',
          connections: 256,
          sources: 'zipf',
          perSecond: transfersPerSecond,
          seconds: run.pace.seconds + 1,
        },
        { clientIndex: 1 },
      );
      const [result, { perSecond }] = await Promise.all([work(), transfers]);
      moved.push(perSecond);
      return result;
    };
    const rate = async () => (await drive(run, read)).perSecond;
    const p99 = async () => (await drive(run, atRate)).millis.p99;
    await rate();
    const rounds = await inTurns(bench, {
      'quiet, reads/s': rate,
      'changing, reads/s': () => whileMoving(rate),
      'quiet, p99 ms': p99,
      'changing, p99 ms': () => whileMoving(p99),
    });
    const note = `${Math.round(median(moved))} transfers/s beside`;
    const slower: Figure = compared({
      name: `p99 at ${readsPerSecond} reads/s`,
      unit: 'ms',
      ours: rounds['changing, p99 ms'],
      against: 'without transfers',
      theirs: rounds['quiet, p99 ms'],
      note,
    });
    return [
      compared({
        name: 'throughput',
        unit: 'responses/s',
        ours: rounds['changing, reads/s'],
        against: 'without transfers',
        theirs: rounds['quiet, reads/s'],
        note,
      }),
      { ...slower, target: { atMost: 2 } },
    ];
  },
};

/** A new process reads each of 100,000 accounts at least once. */
export const remembering: Row = {
  name: 'remembering',
  title: 'Memory of the service after 100,000 accounts were read',
  async measure(bench) {
    const { stage } = bench;
    const dataset = await stage.dataset(plain);
    const figures: Figure[] = [];
    for (const megabytes of ['48', '256']) {
      const server = await stage.service(dataset, { MEMORY_MEGABYTES: megabytes });
      const run = { ...bench, dataset, server };
      const before = (await residentBytes(server.pid)) ?? 0;
      await readEach(run, 'account');
      const after = (await residentBytes(server.pid)) ?? 0;
      await stage.stop(server);
      const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
      figures.push({
        name: `MEMORY_MEGABYTES=${megabytes}`,
        unit: 'MB',
        ours: mebibytes(after),
        against: { name: 'before the first read', value: mebibytes(before) },
        // 48 is the default.
        ...(megabytes === '48' && { target: { atMost: 300 } }),
      });
    }
    return figures;
  },
};
