/*
 * The archive of a partition of events at size: the time of each step, and the longest waits of orders and of readers of the feed beside it,
 * against those of as long a time before.
 *
 *   node bench/archive.ts [MEMBERS] [TRANSFERS]     default 4,000 members, and 40 earlier transfers of each of their ten accounts
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'undici';
import { loadConfig } from '../src/app/config.ts';
import { openAppContext } from '../src/app/context.ts';
import { createClient } from '../src/auth/index.ts';
import { makeEventPartitions, ownOrigin } from '../src/events/index.ts';
import { findInstitutionByCode } from '../src/institutions/index.ts';
import { environmentOf, urlOf } from './fill.ts';
import { accountId } from './job.ts';
import { Stage } from './stage.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const payers = 4;
const [members = 4_000, historyPerAccount = 40] = process.argv.slice(2).map(Number);

await using stage = await Stage.open((text) => console.log(text));
const { connection, people } = await stage.dataset({ members, historyPerAccount });
const environment = environmentOf(connection);
const sql = <Row extends object>(text: string) => stage.sql<Row>(connection.database, text);

/** A token that reads the feed. The next events get keys of a later partition. */
async function prepare(): Promise<string> {
  const { config, secrets } = loadConfig(environment);
  const context = await openAppContext(config, secrets, 'borrow', () => {});
  try {
    const { database, auth } = context;
    const institution = await database.directory((db) => findInstitutionByCode(db, 'bench'));
    assert.ok(institution !== undefined);
    const { institutionId } = institution;
    const clientId = 'bench-reader';
    const client = {
      institutionId,
      clientId,
      name: 'Reader',
      secret: 'bench-reader-secret-of-no-use-elsewhere',
    };
    const scopes = ['events:read'] as const;
    await createClient(auth, { ...client, scopes, grants: ['client_credentials'] }, ownOrigin());
    await sql(`select setval('outbox_event_key_seq', (select min(end_key) from event_partitions) + 1)`);
    await database.directory(makeEventPartitions);
    return await auth.tokens.issue(
      { institutionId, scopes, clientEpoch: 0, clientId, use: 'client' },
      86_400,
    );
  } finally {
    await context.close();
  }
}

const reader = await prepare();
const service = await stage.service({ connection, people });
const command = (...words: string[]) =>
  promisify(execFile)('bin/sharedraft', words, {
    cwd: root,
    env: { PATH: process.env.PATH, ...environment, MIGRATION_DATABASE_URL: urlOf(connection) },
  });

/** Sends one request after the other, and keeps how long each took, by its end. */
class Probe {
  readonly took: { readonly end: number; readonly millis: number }[] = [];
  #isOver = false;
  readonly #running: Promise<unknown>;

  constructor(loops: number, request: (client: Client, loop: number) => Promise<void>) {
    this.#running = Promise.all(
      Array.from({ length: loops }, async (_, loop) => {
        const client = new Client(service.url);
        while (!this.#isOver) {
          const start = performance.now();
          await request(client, loop);
          const end = performance.now();
          this.took.push({ end, millis: end - start });
        }
        await client.close();
      }),
    );
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** In words, for the requests that ended in the time. */
  figures(from: number, to: number): string {
    const sorted = this.took
      .filter(({ end }) => end >= from && end < to)
      .map(({ millis }) => millis)
      .toSorted((one, other) => one - other);
    const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(1);
    return `${sorted.length} requests, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`;
  }
}

let orders = 0;
const paying = new Probe(payers, async (client, loop) => {
  orders += 1;
  const [fromAccountId, toAccountId] = [accountId(loop * 10), accountId(loop * 10 + 1)];
  const { statusCode, body } = await client.request({
    method: 'POST',
    path: '/digitalbanking/db-transfers/v1/transfers',
    headers: { authorization: `Bearer ${people.tokens[loop]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id: `archive-${orders}`, fromAccountId, toAccountId, amount: 0.01 }),
  });
  assert.equal(statusCode, 201, await body.text());
});
let next: string | undefined;
const reading = new Probe(1, async (client) => {
  const { statusCode, headers, body } = await client.request({
    method: 'GET',
    path: next ?? '/digitalbanking/db-events/v1/events?limit=100',
    headers: { authorization: `Bearer ${reader}` },
  });
  const text = await body.text();
  if (statusCode === 400) next = undefined;
  else assert.equal(statusCode, 200, text);
  const link = /<([^>]+)>; rel="next"/.exec(String(headers.link))?.[1];
  if (statusCode === 200 && link !== undefined) {
    const { pathname, search } = new URL(link, service.url);
    next = pathname + search;
  }
  await sleep(5);
});

const folder = await mkdtemp(path.join(stage.folder, 'archive-'));
try {
  await command('reconcile');
  const quietFrom = performance.now();
  await sleep(20_000);
  const from = performance.now();
  const { stdout } = await command('events', 'archive', '--to', folder, '--older-than', '90', '--yes');
  const to = performance.now();
  await Promise.all([paying.stop(), reading.stop()]);
  const [steps] = await sql<{ written: string }>(
    'select (written_at - closed_at)::text as written from event_partitions where first_key = 1',
  );
  const file = path.join(folder, 'events-1-1000000.jsonl');
  console.log(stdout.replaceAll(`${folder}/`, '').trim());
  console.log(`the file has ${((await stat(file)).size / 1e6).toFixed(0)} MB`);
  console.log(`the command: ${((to - from) / 1000).toFixed(1)} s; closed to written ${steps?.written}`);
  console.log(`orders before it:   ${paying.figures(quietFrom, from)}`);
  console.log(`orders beside it:   ${paying.figures(from, to)}`);
  console.log(`the feed before it: ${reading.figures(quietFrom, from)}`);
  console.log(`the feed beside it: ${reading.figures(from, to)}; load average ${loadavg()[0]?.toFixed(1)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}
