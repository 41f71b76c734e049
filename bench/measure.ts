import { setTimeout as sleep } from 'node:timers/promises';
import { bareGround, byHand, type Hand } from './by-hand/index.ts';
import type { Filling } from './fill.ts';
import type { Job, JobResult } from './job.ts';
import type { Ground, Server, Stage } from './stage.ts';

/** How long and how often: the whole table fits into ten minutes. */
export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
}

export interface Bench {
  readonly stage: Stage;
  readonly pace: Pace;
}

/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly ours: number;
  readonly unit: string;
  readonly against?: { readonly what: string; readonly value: number };
  /** Ours to theirs, the median of the rounds. */
  readonly ratio?: number;
  readonly reach?: { readonly atLeast?: number; readonly atMost?: number };
  /** Every round's figures. */
  readonly rounds?: Readonly<Record<string, readonly number[]>>;
  readonly note?: string;
}

export interface Row {
  readonly name: string;
  readonly title: string;
  measure(bench: Bench): Promise<Figure[]>;
}

/** 100,000 accounts of 10,000 members, all signed in, and no transfer yet. */
export const plain: Filling = { members: 10_000, historyPerAccount: 0 };

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number;
}

/** Contenders take turns, so that what the machine does meanwhile meets all alike. */
export async function inTurns<Name extends string>(
  { stage, pace }: Bench,
  contenders: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contenders) as Name[];
  const all = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < pace.rounds; round++) {
    for (const name of names) {
      const value = await contenders[name]();
      all[name].push(value);
      stage.say(`  ${round + 1}/${pace.rounds}  ${name.padEnd(28)} ${value.toFixed(value < 100 ? 2 : 0)}`);
    }
  }
  return all;
}

/** The ratio of each round, and of those the median. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] as number)));
}

export function compared(
  what: string,
  unit: string,
  ours: readonly number[],
  against: string,
  theirs: readonly number[],
  atLeast: number,
  note?: string,
): Figure {
  return {
    what,
    unit,
    ours: median(ours),
    against: { what: against, value: median(theirs) },
    ratio: ratioOf(ours, theirs),
    reach: { atLeast },
    rounds: { ours, [against]: theirs },
    ...(note !== undefined && { note }),
  };
}

/** A second or so before measuring: connections, caches and compiled code as they are in a service that runs. */
export async function drive(
  { stage, pace }: Bench,
  server: Server,
  ground: Ground,
  job: Pick<Job, 'traffic' | 'connections'> & Partial<Job>,
  options: { readonly during?: () => Promise<void>; readonly which?: number } = {},
): Promise<JobResult> {
  return stage.run(
    {
      url: server.url,
      warmupSeconds: Math.min(1, pace.seconds),
      seconds: pace.seconds,
      people: ground.people,
      ...job,
    },
    options.during,
    options.which,
  );
}

/** Transfers a second over HTTP by member tokens, with a checkpoint in the middle. */
export async function transferRate(
  bench: Bench,
  server: Server,
  ground: Ground,
  job: Pick<Job, 'connections'> & Partial<Job>,
): Promise<number> {
  const { perSecond } = await drive(
    bench,
    server,
    ground,
    { traffic: 'transfers', ...job },
    { during: () => checkpoint(bench) },
  );
  return perSecond;
}

/** Members' first requests verify their tokens and fill what remembers them: before the first measured round. */
export async function warmUp(bench: Bench, server: Server, ground: Ground): Promise<void> {
  const job = {
    url: server.url,
    connections: 64,
    warmupSeconds: 0,
    seconds: Math.min(4, bench.pace.seconds),
    people: ground.people,
  };
  await bench.stage.run({ ...job, traffic: 'account' });
  await bench.stage.run({ ...job, traffic: 'transfers' });
}

export async function checkpoint({ stage, pace }: Bench): Promise<void> {
  await sleep((pace.seconds / 2) * 1000);
  await stage.sql('postgres', 'checkpoint');
}

/** Transactions a second, written by hand, on a database of their own. */
export async function handRate(bench: Bench, hand: Hand, clients: number, hot = false): Promise<number> {
  const { stage, pace } = bench;
  const accounts = plain.members * 10;
  const connection =
    hand === 'bare' ? await groundByHand(stage, accounts) : (await stage.ground(plain, 'equal')).connection;
  const job = { connection, clients, seconds: pace.seconds, accounts, hot };
  const [{ perSecond }] = await Promise.all([byHand(hand, job, stage.folder), checkpoint(bench)]);
  return perSecond;
}

const bareGrounds = new WeakMap<Stage, Promise<Ground['connection']>>();

/** The same number of accounts. */
async function groundByHand(stage: Stage, accounts: number): Promise<Ground['connection']> {
  const make = async () => {
    const name = 'bench_bare';
    const connection = await stage.emptyDatabase(name);
    for (const statement of await bareGround(accounts)) await stage.sql(name, statement);
    return connection;
  };
  const made = bareGrounds.get(stage) ?? make();
  bareGrounds.set(stage, made);
  return made;
}

const bests = new WeakMap<Stage, Map<Hand, Promise<number>>>();

/** With how many clients the hand-written transactions are fastest: tried once, each number for a short while. */
export function bestClients(bench: Bench, hand: Hand): Promise<number> {
  const { stage, pace } = bench;
  const known = bests.get(stage) ?? new Map<Hand, Promise<number>>();
  bests.set(stage, known);
  const find = async () => {
    const rates: [number, number][] = [];
    for (const clients of [1, 8, 16, 32]) {
      rates.push([
        clients,
        await handRate({ stage, pace: { ...pace, seconds: Math.min(3, pace.seconds) } }, hand, clients),
      ]);
    }
    stage.say(
      `  ${hand} by clients: ${rates.map(([clients, rate]) => `${clients}: ${Math.round(rate)}`).join(', ')}`,
    );
    return rates.toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 1;
  };
  const best = known.get(hand) ?? find();
  known.set(hand, best);
  return best;
}
