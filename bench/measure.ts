import { setTimeout as sleep } from 'node:timers/promises';
import { bareTables, byHand, type Hand } from './by-hand/index.ts';
import type { Filling } from './fill.ts';
import type { Job, JobResult } from './job.ts';
import type { Dataset, Server, Stage } from './stage.ts';

/** Seconds per measurement and rounds: at the normal pace the whole table fits into ten minutes. */
export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
}

export interface Bench {
  readonly stage: Stage;
  readonly pace: Pace;
}

/** A service on a dataset. */
export interface Run extends Bench {
  readonly server: Server;
  readonly dataset: Dataset;
}

/** One line of the table. */
export interface Figure {
  readonly name: string;
  readonly ours: number;
  readonly unit: string;
  readonly against?: { readonly name: string; readonly value: number };
  /** Ours to theirs: the median of the rounds' ratios. */
  readonly ratio?: number;
  readonly target?: { readonly atLeast?: number; readonly atMost?: number };
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

/** Contenders take turns, so that other work on the machine affects all of them alike. */
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

/** The median of the rounds' ratios. */
export function ratioOf(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((value, round) => value / (theirs[round] as number)));
}

/** Medians of the rounds, and their ratio. */
export function compared({
  name,
  unit,
  ours,
  against,
  theirs,
  atLeast,
  note,
}: {
  readonly name: string;
  readonly unit: string;
  readonly ours: readonly number[];
  readonly against: string;
  readonly theirs: readonly number[];
  readonly atLeast?: number;
  readonly note?: string;
}): Figure {
  return {
    name,
    unit,
    ours: median(ours),
    against: { name: against, value: median(theirs) },
    ratio: ratioOf(ours, theirs),
    rounds: { ours, [against]: theirs },
    ...(atLeast !== undefined && { target: { atLeast } }),
    ...(note !== undefined && { note }),
  };
}

/** Warms up for about a second first: connections, caches and compiled code are then as in a running service. */
export async function drive(
  { stage, pace, server, dataset }: Run,
  job: Pick<Job, 'traffic' | 'connections'> & Partial<Job>,
  options: { readonly during?: () => Promise<void>; readonly clientIndex?: number } = {},
): Promise<JobResult> {
  return stage.run(
    {
      url: server.url,
      warmupSeconds: Math.min(1, pace.seconds),
      seconds: pace.seconds,
      people: dataset.people,
      ...job,
    },
    options.during,
    options.clientIndex,
  );
}

/** Transfers per second over HTTP by member tokens, with a checkpoint in the middle. */
export async function transferRate(run: Run, job: Pick<Job, 'connections'> & Partial<Job>): Promise<number> {
  const { perSecond } = await drive(run, { traffic: 'transfers', ...job }, { during: () => checkpoint(run) });
  return perSecond;
}

/** The service on the default dataset, warmed up. */
export async function serve(bench: Bench): Promise<Run> {
  const run = await start(bench, plain);
  await warmUp(run);
  return run;
}

export async function start(bench: Bench, filling: Filling): Promise<Run> {
  const dataset = await bench.stage.dataset(filling);
  return { ...bench, dataset, server: await bench.stage.service(dataset) };
}

/** Runs before the first measured round: the members' first requests verify their tokens and fill the cache. */
export async function warmUp({ stage, pace, server, dataset }: Run): Promise<void> {
  const job = {
    url: server.url,
    connections: 64,
    warmupSeconds: 0,
    seconds: Math.min(4, pace.seconds),
    people: dataset.people,
  };
  await stage.run({ ...job, traffic: 'account' });
  await stage.run({ ...job, traffic: 'transfers' });
}

export async function checkpoint({ stage, pace }: Bench): Promise<void> {
  await sleep((pace.seconds / 2) * 1000);
  await stage.sql('postgres', 'checkpoint');
}

/** Handwritten transactions per second, on a database of their own. */
export async function handRate(bench: Bench, hand: Hand, clients: number, hot = false): Promise<number> {
  const { stage, pace } = bench;
  const accounts = plain.members * 10;
  const connection =
    hand === 'bare' ? await bareDataset(stage, accounts) : (await stage.dataset(plain, 'equal')).connection;
  const job = { connection, clients, seconds: pace.seconds, accounts, hot };
  const [{ perSecond }] = await Promise.all([byHand(hand, job, stage.folder), checkpoint(bench)]);
  return perSecond;
}

const bareDatasets = new WeakMap<Stage, Promise<Dataset['connection']>>();

async function bareDataset(stage: Stage, accounts: number): Promise<Dataset['connection']> {
  const make = async () => {
    const name = 'bench_bare';
    const connection = await stage.emptyDatabase(name);
    for (const statement of await bareTables(accounts)) await stage.sql(name, statement);
    return connection;
  };
  const made = bareDatasets.get(stage) ?? make();
  bareDatasets.set(stage, made);
  return made;
}

const fastest = new WeakMap<Stage, Map<Hand, Promise<number>>>();

/** The number of clients at which the handwritten transactions are fastest, tried once per stage. */
export function bestClients(bench: Bench, hand: Hand): Promise<number> {
  const { stage, pace } = bench;
  const known = fastest.get(stage) ?? new Map<Hand, Promise<number>>();
  fastest.set(stage, known);
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

/** Requests until each account, or its member, was read once. */
export async function readEach(
  run: Run,
  traffic: 'account' | 'accounts' | 'profile' | 'page',
): Promise<void> {
  const { accounts } = run.dataset.people;
  const job = { traffic, connections: 64, sources: 'each', warmupSeconds: 0 } as const;
  for (let { seconds } = run.pace; ; ) {
    const { allStatuses } = await drive(run, { ...job, seconds });
    const read = allStatuses[200] ?? 0;
    if (read >= accounts || run.pace.rounds === 1) return;
    seconds = Math.ceil((1.2 * seconds * accounts) / read);
  }
}
