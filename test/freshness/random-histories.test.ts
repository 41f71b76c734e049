import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { clientOf } from '../support/demo.ts';
import { mulberry32, pick } from '../support/random.ts';
import { type Bank, openBank } from './bank.ts';
import { findAnomalies } from './history.ts';
import {
  described,
  descriptionOf,
  moving,
  personas as namePersonas,
  Readers,
  subjects,
  transferView,
} from './readers.ts';
import { Recorder } from './recorder.ts';
import { type World, type Writer, writersOf } from './writers.ts';

/*
 * Reads through two processes while everything that they show changes, and while processes and the database are killed: no
 * read is older than an acknowledged write. A longer run: SECONDS=600 npm test test/freshness/random-histories.test.ts.
 */

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const seconds = Number(process.env.SECONDS ?? 8);
const readersAtOnce = 6;

test('no read of two processes is older than a write acknowledged before it, through kills and a restored backup; without a trigger some are', {
  timeout: 120_000 + seconds * 4_000,
}, async (context) => {
  context.diagnostic(`SEED=${seed}`);
  const random = mulberry32(seed);
  await using bank = await openBank();
  await bank.sql(`update transfer_policies set review_seconds = 3600 where review_seconds = 30`);
  const recorder = new Recorder(moving);
  await beginSubjects(bank, recorder);
  const readers = new Readers(bank, recorder, random);
  const [address = ''] = bank.addresses;
  const writer = (await clientOf({ address })).token;
  const personas = namePersonas();
  const world: World = { bank, recorder, readers, personas, random, writer, transfers: [] };
  const writers = await writersOf(world);
  await run(world, writers, (traffic) => fail(world, traffic));
  await recorder.settleBalances(bank);

  const histories = recorder.histories();
  const anomalies = histories.flatMap(findAnomalies);
  const writes = histories.reduce((sum, history) => sum + history.writes.length - 1, 0);
  context.diagnostic(`${inspect(readers.counts)}, ${writes} writes, ${histories.length} subjects`);
  assert.deepEqual(anomalies.slice(0, 5), [], `SEED=${seed}: ${anomalies.length} anomalies`);
  for (const { subject, writes: own, reads } of histories.filter(({ subject }) => fixed.includes(subject))) {
    assert.ok(own.length > 1 && reads.length > 1, `${subject} was written and read`);
  }

  // The same traffic catches a process that does not hear of a revocation.
  await bank.sql('alter table revocations disable trigger note_inserted');
  const isCaught = () =>
    recorder
      .histories()
      .flatMap(findAnomalies)
      .some(({ subject, kind }) => subject.startsWith('token ') && kind === 'stale');
  await run(world, writers, (traffic) => traffic.until(isCaught));
  assert.ok(isCaught(), `SEED=${seed}: a read with a revoked token is seen without the trigger`);
});

async function run(
  world: World,
  writers: readonly Writer[],
  until: (traffic: Traffic) => Promise<void>,
): Promise<void> {
  const traffic = new Traffic(writers);
  await traffic.during([
    until(traffic),
    traffic.run(world.random),
    ...Array.from({ length: readersAtOnce }, () => readOn(world, traffic)),
  ]);
}

const fixed: readonly string[] = [...Object.values(subjects), ...described.map(descriptionOf)];

async function beginSubjects(bank: Bank, recorder: Recorder): Promise<void> {
  await recorder.beginBalances(bank);
  for (const accountId of described) recorder.begin(descriptionOf(accountId), 'Share Savings');
  recorder.begin(subjects.phone, '+12025550145');
  recorder.begin(subjects.name, 'Willow');
  recorder.begin(subjects.locked, 'open');
  recorder.begin(subjects.held, 'yes');
  recorder.begin(subjects.restricted, '');
  recorder.begin(subjects.available, '8150000');
}

/** Runs the writers until it is stopped; while it is paused, none of their writes is under way. */
class Traffic {
  readonly #writers: readonly Writer[];
  isOver = false;
  #gate: Promise<void> = Promise.resolve();
  #underWay = new Set<Promise<void>>();

  constructor(writers: readonly Writer[]) {
    this.#writers = writers;
  }

  /** Resolves when all of them have ended; the first error stops the others. */
  async during(parts: readonly Promise<void>[]): Promise<void> {
    const stop = (error: unknown) => {
      this.isOver = true;
      throw error;
    };
    const ends = await Promise.allSettled(parts.map((part) => part.catch(stop)));
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async run(random: (below: number) => number): Promise<void> {
    await Promise.all(
      this.#writers.map(async (write) => {
        while (!this.isOver) {
          await this.#gate;
          const act = write();
          this.#underWay.add(act);
          await act;
          this.#underWay.delete(act);
          await sleep(random(30));
        }
      }),
    );
  }

  /** Stops everything once the condition holds, or after a minute. */
  async until(isMet: () => boolean): Promise<void> {
    const deadline = performance.now() + 60_000;
    while (!this.isOver && performance.now() < deadline && !isMet()) await sleep(200);
    this.isOver = true;
  }

  async whilePaused(work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    await Promise.all(this.#underWay);
    await work();
    resolve();
  }
}

async function readOn({ readers, personas, random, transfers }: World, traffic: Traffic): Promise<void> {
  while (!traffic.isOver) {
    const persona = pick(random, Object.values(personas));
    if (persona.tokens.length === 0) {
      await sleep(5);
      continue;
    }
    // Mostly the newest token, since the process remembers it.
    const token = persona.tokens.at(random(8) === 0 ? random(persona.tokens.length) : -1);
    const views =
      persona === personas.app && transfers.length > 0
        ? [...persona.views, transferView(pick(random, transfers))]
        : persona.views;
    if (token !== undefined) await readers.read(random(2), token, pick(random, views));
  }
}

/** Kills and restores: each kind once, in the order of the seed, and then at random until the time is over. */
async function fail({ bank, recorder, random, personas, transfers }: World, traffic: Traffic): Promise<void> {
  const end = performance.now() + seconds * 1_000;
  const pause = () => sleep(300 + random(700));
  const restore = () =>
    traffic.whilePaused(async () => {
      await recorder.settleBalances(bank);
      const services = pick(random, ['go on', 'start again'] as const);
      await recorder.restored(
        (subject) => (subject.startsWith('transfer ') ? 'absent' : undefined),
        () => bank.restore(services),
      );
      for (const { tokens } of Object.values(personas)) {
        const known = tokens.filter(({ subject }) => !recorder.isForgotten(subject));
        tokens.splice(0, tokens.length, ...known);
      }
      transfers.length = 0;
    });
  const backUp = () =>
    traffic.whilePaused(async () => {
      await recorder.noteBackup(bank);
      await bank.backUp();
    });
  const kinds = [
    () => bank.killService(random(2)),
    () => bank.killDatabase(pick(random, ['backend', 'postmaster'])),
    restore,
  ];
  await pause();
  await backUp();
  for (const kill of kinds.toSorted(() => random(2) - 0.5)) {
    await pause();
    if (!traffic.isOver) await kill();
  }
  while (performance.now() < end && !traffic.isOver) {
    await pause();
    await sleep(random(4_000));
    await pick(random, [...kinds, backUp])();
  }
  await pause();
  // A slow machine gets the time for one write of each.
  await traffic.until(() => fixed.every((subject) => recorder.isWritten(subject)));
}
