import {
  type Bench,
  drive,
  type Figure,
  inTurns,
  median,
  plain,
  type Row,
  ratioOf,
  transferRate,
  warmUp,
} from '../measure.ts';
import { residentBytes } from '../meters.ts';
import type { Ground, Server } from '../stage.ts';

const saturating = 256;

export const overload: Row = {
  name: 'overload',
  title: 'Overload: four times what saturates the service',
  async measure(bench) {
    const ground = await bench.stage.ground(plain);
    const server = await bench.stage.service(ground);
    await warmUp(bench, server, ground);
    const seen = { p99: 0, refusedP99: 0, refused: 0, unsent: 0, memory: 0 };
    const watching = setInterval(async () => {
      seen.memory = Math.max(seen.memory, (await residentBytes(server.pid)) ?? 0);
    }, 100);
    let peak = 0;
    const rates = await inTurns(bench, {
      peak: async () => {
        peak = await transferRate(bench, server, ground, { connections: saturating });
        return peak;
      },
      'four times the connections': () =>
        transferRate(bench, server, ground, {
          connections: 4 * saturating,
          honourRetryAfter: true,
          warmupSeconds: 2,
        }),
      'four times the rate': async () => {
        const result = await drive(bench, server, ground, {
          traffic: 'transfers',
          connections: 4 * saturating,
          perSecond: 4 * peak,
        });
        seen.p99 = Math.max(seen.p99, result.millis.p99);
        seen.refusedP99 = Math.max(seen.refusedP99, result.refusedMillis?.p99 ?? 0);
        seen.refused += result.statuses[503] ?? 0;
        seen.unsent += result.unsent;
        return result.perSecond;
      },
    });
    clearInterval(watching);
    await everyTransferCounts(bench, ground);
    const goodput = (what: string, ours: readonly number[], atLeast: number, note: string): Figure => ({
      what,
      unit: 'transfers/s',
      ours: median(ours),
      against: { what: 'peak', value: median(rates.peak) },
      ratio: ratioOf(ours, rates.peak),
      reach: { atLeast },
      rounds: { ours, peak: rates.peak },
      note,
    });
    return [
      goodput(
        'four times the connections',
        rates['four times the connections'],
        0.8,
        'clients wait as Retry-After says',
      ),
      goodput(
        'four times the rate',
        rates['four times the rate'],
        0.3,
        `${seen.refused} answered 503, ${seen.unsent} not sent for want of a free connection`,
      ),
      { what: 'what is accepted at four times the rate, p99', ours: seen.p99, unit: 'ms' },
      { what: 'a 503 at four times the rate, p99', ours: seen.refusedP99, unit: 'ms' },
      ...(seen.memory > 0 ? [{ what: 'resident memory, at most', ours: seen.memory / 1e6, unit: 'MB' }] : []),
    ];
  },
};

/** Under whatever load: what the entries say is what the balances say, and nothing was made or lost. */
async function everyTransferCounts({ stage }: Bench, ground: Ground): Promise<void> {
  const [books] = await stage.sql<{ sum: string; differing: string; transfers: string; ids: string }>(
    ground.connection.database,
    `select (select sum(amount) from entries) as sum,
            (select count(*) from balances b
             where b.posted <> (select e.posted_after from entries e where e.institution_id = b.institution_id
                                and e.account_key = b.account_key order by e.seq desc limit 1)) as differing,
            (select count(*) from transfers) as transfers, (select count(*) from used_ids) as ids`,
  );
  if (books?.sum !== '0' || books.differing !== '0' || books.transfers !== books.ids) {
    throw new Error(`the books do not balance: ${JSON.stringify(books)}`);
  }
}

export const fairness: Row = {
  name: 'fairness',
  title:
    'Fairness: one client floods with 512 connections and never waits, another sends a tenth of the peak',
  async measure(bench) {
    const ground = await bench.stage.ground(plain);
    const server = await bench.stage.service(ground);
    await warmUp(bench, server, ground);
    const peak = await transferRate(bench, server, ground, { connections: saturating });
    const quiet = { traffic: 'transfers', connections: 128, perSecond: peak / 10 } as const;
    const times: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
    const answered = async (times: number[]) => {
      const { perSecond, millis } = await drive(bench, server, ground, quiet);
      times.push(millis.p99);
      return perSecond;
    };
    const rates = await inTurns(bench, {
      alone: () => answered(times.alone),
      'beside the flood': () => besideFlood(bench, server, ground, () => answered(times.beside)),
    });
    return [
      {
        what: 'answered 201 beside the flood',
        unit: 'transfers/s',
        ours: median(rates['beside the flood']),
        against: { what: 'alone', value: median(rates.alone) },
        ratio: ratioOf(rates['beside the flood'], rates.alone),
        reach: { atLeast: 0.95 },
        rounds: rates,
        note: `p99 ${median(times.beside).toFixed(0)} ms, alone ${median(times.alone).toFixed(0)} ms`,
      },
    ];
  },
};

async function besideFlood(
  bench: Bench,
  server: Server,
  ground: Ground,
  work: () => Promise<number>,
): Promise<number> {
  const flood = { traffic: 'transfers', connections: 512, as: 'flood' } as const;
  // It begins before what is measured, and ends after.
  const longer = { ...bench, pace: { ...bench.pace, seconds: bench.pace.seconds + 2 } };
  const began = Promise.withResolvers<void>();
  const flooding = drive(longer, server, ground, flood, { which: 1, during: async () => began.resolve() });
  await Promise.race([began.promise, flooding]);
  const rate = await work();
  await flooding;
  return rate;
}
