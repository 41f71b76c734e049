import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadConfig } from '../../src/app/config.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { type Service, startService } from '../../src/app/service.ts';
import { Standby } from '../../src/standbys/standby.ts';
import { type InstitutionId, sql } from '../../src/storage/index.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { asSuperuser } from '../support/postgres.ts';
import { eventually } from '../support/processes.ts';
import { type Scrape, scrape } from '../support/scrape.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { changeSetting, primaryAndStandby, type Replicated, urlOf } from '../support/standby.ts';

/* Two processes of the service on a primary with a standby, and one that reads from the primary only. The tests run in this order. */

let servers: Replicated;
let writer: Service;
let reader: Service;
let plain: Service;
const logged: string[] = [];
const at = new Date();

async function start(environment: Readonly<Record<string, string>>, log: (event: string) => void = () => {}) {
  const { config, secrets } = loadConfig({
    PORT: '0',
    METRICS_PORT: '0',
    PUBLIC_URL: 'http://sharedraft.test',
    DATABASE_URL: urlOf(servers.primary),
    SECRET_KEY: testSecretKey,
    LOG_LEVEL: 'silent',
    ALLOW_DEMO_ANYWHERE: 'true',
    SHUTDOWN_GRACE_SECONDS: '1',
    ...environment,
  });
  return startService(config, secrets, {
    log,
    clock: () => at,
    logStream: { write: () => {} },
    beforeListening: async (context) => {
      await loadDemoWhenEmpty(context);
    },
  });
}

before(async () => {
  servers = await primaryAndStandby();
  plain = await start({});
  // The primary among the standbys is skipped, so that one list of all servers serves for both.
  const standbys = { STANDBY_DATABASE_URL: urlOf(servers.primary, servers.standby) };
  writer = await start(standbys);
  reader = await start(standbys, (event) => logged.push(event));
  await standbyIs('current');
});

after(async () => {
  await Promise.all([writer, reader, plain].map((service) => service?.close()));
  await servers?.stop();
});

const figures = (service: Service): Promise<Scrape> => scrape(service.metricsAddress);
const byStandby = async (service: Service) =>
  (await figures(service)).get('sharedraft_history_reads_total{outcome="current"}') ?? 0;

async function standbyIs(state: string): Promise<void> {
  for (const service of [writer, reader])
    await eventually(
      `a standby is ${state}`,
      async () => (await figures(service)).get(`sharedraft_standbys{state="${state}"}`) === 1,
    );
}

const onStandby = (text: string) => asSuperuser(servers.standby.connection, (client) => client.query(text));

const account = `${paths.accounts}/a-1001-checking`;
/** The day where the institution is, which is yesterday's in UTC for a few hours. */
const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(at);
const histories = [
  `${account}/transactions?limit=3`,
  `${account}/transactions?limit=3&status=POSTED`,
  `${account}/transactions?text=first`,
  `${account}/balances?asOf=${at.toISOString()}`,
  `${account}/balances?effectiveDate=${today}`,
  `${paths.transfers}?limit=2`,
  `${paths.transfers}?accountId=a-1001-checking`,
];

async function order(caller: DemoCaller, id: string): Promise<void> {
  const accounts = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };
  const { status, text } = await caller.post(paths.transfers, { id, ...accounts, amount: 0.01, memo: id });
  assert.equal(status, 201, text);
}

test('a standby answers each history with the same bytes as the primary', async () => {
  const ofMember = (service: Service) => memberOf(service, 'demo.member', 'demo-member-password');
  const [member, client] = [await ofMember(reader), await clientOf(reader)];
  const same = [await ofMember(plain), await clientOf(plain)] as const;
  for (const id of ['first', 'second', 'third', 'fourth']) await order(await ofMember(writer), id);
  for (const [one, other] of [
    [member, same[0]],
    [client, same[1]],
  ] as const) {
    for (const path of histories) {
      const expected = await other.get(path);
      assert.equal(expected.status, 200, `${path} ${expected.text}`);
      const answered = await byStandby(reader);
      let shown = await one.get(path);
      // A remembered answer asks no server, so the page is asked for with another spelling until a standby answers.
      for (let spelling = 1; (await byStandby(reader)) === answered; spelling += 1) {
        assert.ok(spelling < 100, 'a standby answers in the end');
        shown = await one.get(`${path}${'&'.repeat(spelling)}`);
      }
      assert.deepEqual([shown.status, shown.text], [200, expected.text], path);
      const links = [shown, expected].map(({ headers }) => headers.get('link')?.replaceAll('&&', '&'));
      assert.equal(links[0], links[1], path);
      const next = links[0]?.match(/<http:\/\/[^/]+([^>]+)>/)?.[1];
      if (next !== undefined) assert.equal((await one.get(next)).text, (await other.get(next)).text, next);
    }
  }
});

test('a reader never gets an older page than a confirmed write of another process, while the replay stops and goes', async () => {
  const member = await memberOf(writer, 'demo.member', 'demo-member-password');
  const other = await memberOf(reader, 'demo.member', 'demo-member-password');
  const answered = await byStandby(reader);
  for (let round = 0; round < 40; round += 1) {
    // The examinations of a second do not see most of these pauses.
    if (round % 4 === 1) await onStandby('select pg_wal_replay_pause()');
    if (round % 4 === 3) await onStandby('select pg_wal_replay_resume()');
    const id = `round-${round}`;
    // The reader has never seen this caller.
    const { token } = await clientOf(plain);
    await order(member, id);
    const [unknown, transfers, transactions] = await Promise.all([
      send(reader.address, 'GET', `${paths.transfers}?limit=1`, {
        headers: { authorization: `Bearer ${token}` },
      }),
      other.get(`${paths.transfers}?limit=1`),
      other.get(`${account}/transactions?limit=1`),
    ]);
    assert.equal(unknown.body[0].id, id);
    assert.equal(transfers.body[0].id, id);
    assert.equal(transactions.body[0].transferId, id);
  }
  await onStandby('select pg_wal_replay_resume()');
  await standbyIs('current');
  await eventually('a standby answers again', async () => {
    assert.equal((await other.get(`${paths.transfers}?limit=1`)).body[0].id, 'round-39');
    return (await byStandby(reader)) > answered;
  });
});

test('a standby that stays behind is skipped', async () => {
  await onStandby('select pg_wal_replay_pause()');
  const member = await memberOf(writer, 'demo.member', 'demo-member-password');
  await order(member, 'unseen');
  await standbyIs('behind');
  const answered = await byStandby(reader);
  const other = await memberOf(reader, 'demo.member', 'demo-member-password');
  assert.equal((await other.get(`${paths.transfers}?limit=1`)).body[0].id, 'unseen');
  const now = await figures(reader);
  assert.equal(await byStandby(reader), answered);
  assert.ok((now.get('sharedraft_history_reads_total{outcome="skipped"}') ?? 0) > 0);
  assert.ok((now.get('sharedraft_standby_lag_seconds') ?? 0) > 0);
  await onStandby('select pg_wal_replay_resume()');
  await standbyIs('current');
});

test('a standby shows no row of another institution', async () => {
  const harbor = await clientOf(reader, ['harbor-app', 'harbor-app-secret']);
  const answered = await byStandby(reader);
  await eventually('a standby answers', async () => {
    assert.deepEqual((await harbor.get(paths.transfers)).body, []);
    // Each institution has an account with this id.
    const { status, text } = await harbor.get(`${account}/transactions?from=2020-01-01`);
    assert.equal(status, 200);
    assert.doesNotMatch(text, /round-|first/);
    return (await byStandby(reader)) > answered;
  });
});

const position = () =>
  asSuperuser(servers.primary.connection, async (client) => {
    const { rows } = await client.query(
      'select pg_current_wal_flush_lsn()::text as flushed, timeline from event_timeline',
    );
    return rows[0] as { flushed: string; timeline: string };
  });

function standbyOf(
  server: { connection: Replicated['primary']['connection'] },
  url = urlOf(server),
): Standby {
  return new Standby({
    url,
    maxConnections: 2,
    sessionSettings: {},
    mayOwnerServe: false,
    requireServed: () => {},
  });
}

const one = 1 as InstitutionId;
const countEntries = sql(
  'test_count_entries',
  'select count(distinct institution_id) as institutions from entries',
);
const writeNothing = sql(
  'test_write',
  'update accounts set account_id = account_id where institution_id = 1',
);
const readSlowly = sql('test_read_slowly', 'select pg_sleep(1.5)::text as done');

test('the session of a standby has row-level security, and cannot write even where the server could', async () => {
  const standby = standbyOf(servers.standby);
  try {
    assert.equal(await standby.examine(await position()), 'current');
    const counted = await standby.read(await position(), one, (db) => db.query(countEntries));
    assert.deepEqual(typeof counted === 'object' && counted.result.rows, [{ institutions: 1n }]);
    assert.equal(await standby.read(await position(), one, (db) => db.query(writeNothing)), 'away');
  } finally {
    await standby.close();
  }
});

test('a read that the replay cancels is told apart, and a login without row-level security is refused', async () => {
  const standby = standbyOf(servers.standby);
  const powerful = standbyOf(servers.standby, urlOf(servers.standby).replace(/\/\/[^@]*@/, '//postgres@'));
  await changeSetting(servers.standby, 'max_standby_streaming_delay = 0');
  try {
    await assert.rejects(powerful.examine(await position()), /is a superuser/);
    assert.equal(await standby.examine(await position()), 'current');
    const reading = standby.read(await position(), one, (db) => db.query(readSlowly));
    await eventually('the standby reads', async () => {
      const { rows } = await onStandby(`select 1 from pg_stat_activity where wait_event = 'PgSleep'`);
      return rows.length === 1;
    });
    await asSuperuser(servers.primary.connection, async (client) => {
      await client.query('create table thrown_away as select 1 as number');
      await client.query('delete from thrown_away');
      await client.query('vacuum thrown_away');
      await client.query('drop table thrown_away');
    });
    assert.equal(await reading, 'cancelled');
  } finally {
    await Promise.all([standby.close(), powerful.close()]);
  }
});

test('a server is refused on another timeline, behind, and as a primary', async () => {
  const seen = await position();
  const [standby, primary] = [standbyOf(servers.standby), standbyOf(servers.primary)];
  const nothing = async () => assert.fail('nothing is read');
  try {
    assert.equal(await standby.read({ ...seen, timeline: 'another/00000002' }, one, nothing), 'other');
    assert.equal(await standby.read({ ...seen, flushed: 'FFFFFFFF/0' }, one, nothing), 'behind');
    assert.equal(await primary.read(seen, one, nothing), 'other');
  } finally {
    await Promise.all([standby.close(), primary.close()]);
  }
});

test('pages go on without a standby that stops, come from it when it is back, and not once it is promoted', async () => {
  const member = await memberOf(reader, 'demo.member', 'demo-member-password');
  const page = async () => {
    const begun = performance.now();
    const { status, body } = await member.get(`${paths.transfers}?limit=1`);
    assert.equal(status, 200);
    return { id: body[0].id, millis: performance.now() - begun };
  };
  await servers.standby.stop();
  await page();
  await standbyIs('away');
  assert.ok(logged.includes('standby_skipped'), logged.join());
  await servers.startStandby();
  await standbyIs('current');
  const answered = await byStandby(reader);
  await eventually('it takes reads', async () => {
    await page();
    return (await byStandby(reader)) > answered;
  });
  await onStandby('select pg_promote()');
  await eventually('no standby is current', async () => {
    await page();
    return (await figures(reader)).get('sharedraft_standbys{state="other"}') === 2;
  });
  const before = await byStandby(reader);
  await order(await memberOf(writer, 'demo.member', 'demo-member-password'), 'of-the-primary');
  assert.equal((await page()).id, 'of-the-primary');
  assert.equal(await byStandby(reader), before);
});
