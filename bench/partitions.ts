/*
 * The cost of the partitions of events: two services side by side, one on a database with partitions, one on a plain table. Load and
 * inserts go to them in turns, so that other work on the machine affects both alike.
 *
 *   node bench/partitions.ts [ROUNDS] [SECONDS]
 */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { Pool } from 'undici';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { sql } from '../src/storage/index.ts';
import { plainEvents } from '../test/support/plain-events.ts';
import { startTestService, type TestService } from '../test/support/service.ts';
import { median, ratioOf } from './measure.ts';

const [rounds = 10, seconds = 4] = process.argv.slice(2).map(Number);
const connections = 64;
const api = '/digitalbanking';

interface Load {
  readonly service: TestService;
  readonly pool: Pool;
  readonly authorization: string;
}

async function open(service: TestService): Promise<Load> {
  const pool = new Pool(service.address, { connections });
  const { statusCode, body } = await pool.request({
    path: '/auth/v2/token',
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ grant_type: 'password', client_id: 'demo-app', client_secret: 'demo-app-secret' },
      ...{ username: 'demo.member', password: 'demo-member-password' },
    }),
  });
  const token = (await body.json()) as { access_token: string };
  if (statusCode !== 200) throw new Error('no token');
  return { service, pool, authorization: `Bearer ${token.access_token}` };
}

let direction = 0;
async function transfer({ pool, authorization }: Load): Promise<void> {
  const ends = ['a-1001-checking', 'a-1001-savings'];
  direction ^= 1;
  const order = { fromAccountId: ends[direction], toAccountId: ends[1 - direction], amount: 0.01 };
  const { statusCode, body } = await pool.request({
    path: `${api}/db-transfers/v1/transfers`,
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  });
  await body.dump();
  if (statusCode !== 201 && statusCode !== 422) throw new Error(`a transfer returned ${statusCode}`);
}

/** CPU time in microseconds of the server processes of the database, which other work on the machine hardly changes. */
async function databaseMicros({ service: { db } }: Load): Promise<number> {
  const rows = await db.superuser<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and usename = 'sharedraft_app'`,
  );
  return rows.reduce((sum, { pid }) => {
    const [nanos = ''] = readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ');
    return sum + Number(nanos) / 1000;
  }, 0);
}

/** Transfers a second, and the microseconds of the database for each. */
async function transfers(load: Load): Promise<readonly number[]> {
  const before = await databaseMicros(load);
  const startedAt = performance.now();
  let sent = 0;
  const until = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < until) {
        await transfer(load);
        sent += 1;
      }
    }),
  );
  const rate = sent / ((performance.now() - startedAt) / 1000);
  return [rate, ((await databaseMicros(load)) - before) / sent];
}

const batch = 64;
const batches = 200;
const insert = sql(
  'bench_events_insert',
  `insert into outbox (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq, recorded_at)
   select $1, 0, 'member.activated', n, n, n, n, n, now() from generate_series(1, ${batch}) n`,
);

/** Events a second, and the microseconds of the database for each, of a transaction of many batches. */
async function events(load: Load): Promise<readonly number[]> {
  const { database } = load.service.db;
  const institution = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
  if (institution === undefined) throw new Error('no institution');
  const { institutionId } = institution;
  const before = await databaseMicros(load);
  const startedAt = performance.now();
  await database.transaction(institutionId, async (tx) => {
    for (let index = 0; index < batches; index++) await tx.query(insert, [institutionId]);
  });
  const written = batch * batches;
  const rate = written / ((performance.now() - startedAt) / 1000);
  return [rate, ((await databaseMicros(load)) - before) / written];
}

const plain = await open(await startTestService());
for (const text of plainEvents) await plain.service.db.superuser(text);
const partitioned = await open(await startTestService());
try {
  for (const [name, measure] of [
    ['transfers', transfers],
    ['events', events],
  ] as const) {
    const figures: (readonly number[])[][] = [[], []];
    for (let round = -1; round < rounds; round++) {
      // The order changes with each round, so that neither profits from being second.
      for (const turn of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const figure = await measure(turn === 0 ? plain : partitioned);
        // The first round warms up.
        if (round >= 0) figures[turn]?.push(figure);
      }
    }
    for (const [place, unit] of ['a second', 'µs of the database for each'].entries()) {
      const [before = [], after = []] = figures.map((all) => all.map((figure) => figure[place] ?? 0));
      console.log(
        `${name}, ${unit}: ${median(before).toFixed(1)} plain, ${median(after).toFixed(1)} with partitions, ` +
          `ratio ${ratioOf(after, before).toFixed(3)}; ${rounds} rounds, load average ${loadavg()[0]?.toFixed(1)}`,
      );
    }
  }
} finally {
  for (const { pool, service } of [plain, partitioned]) {
    await pool.destroy();
    await service.close();
  }
}
