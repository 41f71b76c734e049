import {
  compared,
  drive,
  type Figure,
  inTurns,
  median,
  type Row,
  type Run,
  serve,
  transferRate,
} from '../measure.ts';
import { residentBytes } from '../meters.ts';

const saturating = 256;

export const overload: Row = {
  name: 'overload',
  title: 'Overload: four times the saturating load',
  async measure(bench) {
    const run = await serve(bench);
    const seen = { p99: 0, refusedP99: 0, refused: 0, unsent: 0, memory: 0 };
    const watching = setInterval(async () => {
      seen.memory = Math.max(seen.memory, (await residentBytes(run.server.pid)) ?? 0);
    }, 100);
    let peak = 0;
    const rates = await inTurns(bench, {
      peak: async () => {
        peak = await transferRate(run, { connections: saturating });
        return peak;
      },
      'four times the connections': () =>
        transferRate(run, {
          connections: 4 * saturating,
          honourRetryAfter: true,
          warmupSeconds: 2,
        }),
      'four times the rate': async () => {
        const result = await drive(run, {
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
    await checkBooks(run);
    const goodput = (name: Exclude<keyof typeof rates, 'peak'>, atLeast: number, note: string): Figure =>
      compared({
        name,
        unit: 'transfers/s',
        ours: rates[name],
        against: 'peak',
        theirs: rates.peak,
        atLeast,
        note,
      });
    return [
      goodput('four times the connections', 0.8, 'clients wait for the Retry-After'),
      goodput(
        'four times the rate',
        0.3,
        `${seen.refused} responses 503, ${seen.unsent} requests not sent because no connection was free`,
      ),
      { name: 'an accepted transfer at four times the rate, p99', ours: seen.p99, unit: 'ms' },
      { name: 'a 503 at four times the rate, p99', ours: seen.refusedP99, unit: 'ms' },
      ...(seen.memory > 0 ? [{ name: 'resident memory, at most', ours: seen.memory / 1e6, unit: 'MB' }] : []),
    ];
  },
};

/** Throws unless balances equal their entries, the sum of all entries is zero, and each transfer has an id. */
async function checkBooks({ stage, dataset }: Run): Promise<void> {
  const [books] = await stage.sql<{ sum: string; differing: string; transfers: string; ids: string }>(
    dataset.connection.database,
    `select (select sum(amount) from entries) as sum,
            (select count(*) from balances b
             where b.posted <> (select e.posted_after from entries e where e.institution_id = b.institution_id
                                and e.account_key = b.account_key order by e.seq desc limit 1)) as differing,
            (select count(*) from transfers) as transfers, (select count(*) from idempotency_keys) as ids`,
  );
  if (books?.sum !== '0' || books.differing !== '0' || books.transfers !== books.ids) {
    throw new Error(`the books do not balance: ${JSON.stringify(books)}`);
  }
}

export const fairness: Row = {
  name: 'fairness',
  title:
    'Fairness: one client floods with 512 connections without waiting, another sends a tenth of the peak',
  async measure(bench) {
    const run = await serve(bench);
    const peak = await transferRate(run, { connections: saturating });
    const quiet = { traffic: 'transfers', connections: 128, perSecond: peak / 10 } as const;
    const times: { alone: number[]; beside: number[] } = { alone: [], beside: [] };
    const measureQuiet = async (times: number[]) => {
      const { perSecond, millis } = await drive(run, quiet);
      times.push(millis.p99);
      return perSecond;
    };
    const rates = await inTurns(bench, {
      alone: () => measureQuiet(times.alone),
      'beside the flood': () => besideFlood(run, () => measureQuiet(times.beside)),
    });
    return [
      compared({
        name: 'transfers beside the flood',
        unit: 'transfers/s',
        ours: rates['beside the flood'],
        against: 'alone',
        theirs: rates.alone,
        atLeast: 0.95,
        note: `p99 ${median(times.beside).toFixed(0)} ms, alone ${median(times.alone).toFixed(0)} ms`,
      }),
    ];
  },
};

async function besideFlood(run: Run, work: () => Promise<number>): Promise<number> {
  const flood = { traffic: 'transfers', connections: 512, as: 'flood' } as const;
  // The flood starts before the measured time and ends after it.
  const longer = { ...run, pace: { ...run.pace, seconds: run.pace.seconds + 2 } };
  const began = Promise.withResolvers<void>();
  const flooding = drive(longer, flood, { clientIndex: 1, during: async () => began.resolve() });
  await Promise.race([began.promise, flooding]);
  const rate = await work();
  await flooding;
  return rate;
}
