import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/app/config.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { startService } from '../../src/app/service.ts';
import { clientOf, type DemoCaller, paths, send } from '../support/demo.ts';
import { asSuperuser } from '../support/postgres.ts';
import { eventually } from '../support/processes.ts';
import { testSecretKey } from '../support/secret-key.ts';
import { changeSetting, primaryAndStandby, urlOf } from '../support/standby.ts';

/* A primary and an asynchronous standby of it; the standby lags, the primary is lost, the standby is promoted. */

test('the service continues by itself after a fail-over to a lagging standby, and reports lost events to readers', {
  timeout: 300_000,
}, async () => {
  const { primary, standby, stop } = await primaryAndStandby();
  const { config, secrets } = loadConfig({
    PORT: '0',
    PUBLIC_URL: 'http://sharedraft.test',
    DATABASE_URL: urlOf(standby, primary),
    SECRET_KEY: testSecretKey,
    LOG_LEVEL: 'silent',
    ALLOW_DEMO_ANYWHERE: 'true',
    SHUTDOWN_GRACE_SECONDS: '1',
  });
  const logged: string[] = [];
  const service = await startService(config, secrets, {
    log: (event) => logged.push(event),
    logStream: { write: () => {} },
    beforeListening: async (context) => {
      await loadDemoWhenEmpty(context);
    },
  });
  try {
    const caller = await clientOf(service);
    const order = (id: string) => ({
      id,
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1001-savings',
      amount: 0.01,
    });
    const transfer = (id: string) => caller.post(paths.transfers, order(id));
    assert.equal((await transfer('kept')).status, 201);
    const savings = async () =>
      (await caller.get(`${paths.accounts}/a-1001-savings`)).body.balance.currentBalance.amount;
    const kept = await savings();
    const before = await readToTheEnd(caller, '/digitalbanking/db-events/v1/events?limit=200');
    const replayed = await asSuperuser(primary.connection, async (client) => {
      const { rows } = await client.query('select pg_current_wal_lsn()::text as position');
      return rows[0].position;
    });
    await eventually('the standby has it', async () =>
      asSuperuser(standby.connection, async (client) => {
        const { rows } = await client.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as has', [
          replayed,
        ]);
        return rows[0].has;
      }),
    );
    await asSuperuser(standby.connection, async (client) => {
      await client.query(`alter system set primary_conninfo = ''`);
      await client.query('select pg_reload_conf()');
    });
    await eventually('it is cut off', async () =>
      asSuperuser(primary.connection, async (client) => {
        const { rows } = await client.query('select count(*)::integer as standbys from pg_stat_replication');
        return rows[0].standbys === 0;
      }),
    );
    assert.equal((await transfer('lost')).status, 201);
    const ahead = await readToTheEnd(caller, before.next);
    assert.equal(ahead.events.length, 1);
    for (let reads = 0; reads < 3; reads += 1) assert.notEqual(await savings(), kept);

    await primary.stop();
    await asSuperuser(standby.connection, (client) => client.query('select pg_promote()'));
    await eventually(
      'it serves again',
      async () => (await send(service.address, 'GET', '/readyz')).status === 200,
    );
    assert.ok(logged.includes('event_epoch_began'), logged.join());
    assert.equal((await caller.get(`${paths.transfers}/lost`)).status, 404);
    assert.equal(await savings(), kept, 'the balance of the lost server is forgotten');
    assert.equal((await transfer('lost')).status, 201, 'repeating it makes it again');

    const refused = await caller.get(ahead.next);
    assert.equal(refused.status, 400, 'the reader of lost events is refused');
    const after = await readToTheEnd(caller, before.next);
    assert.deepEqual(
      after.events.map(({ transfer: { id } }) => id),
      ['lost'],
      'a reader that was behind goes on',
    );
    assert.notEqual(after.events[0]?.eventId, ahead.events[0]?.eventId);

    await changeSetting(standby, `synchronous_standby_names = 'nobody'`);
    const waiting = transfer('waits').then(({ status }) => status);
    await eventually('it is degraded', async () => {
      const { status, body } = await send(service.address, 'GET', '/readyz');
      assert.equal(status, 200);
      return body.status === 'degraded' && body.reason === 'commits_wait_for_standby';
    });
    assert.ok(logged.includes('commits_wait_for_standby'));
    await changeSetting(standby, `synchronous_standby_names = ''`);
    assert.ok([201, 504].includes(await waiting));
    assert.ok([200, 201].includes((await transfer('waits')).status));
    assert.equal((await send(service.address, 'GET', '/readyz')).body.status, 'ready');
  } finally {
    await service.close();
    await stop();
  }
});

interface FeedPage {
  readonly events: readonly { readonly eventId: string; readonly transfer: { readonly id: string } }[];
  readonly next: string;
}

/** The last page contains the path to continue from. */
async function readToTheEnd(caller: DemoCaller, path: string): Promise<FeedPage> {
  const events: FeedPage['events'][number][] = [];
  for (let at = path; ; ) {
    const page = await caller.get(at);
    assert.equal(page.status, 200, page.text);
    events.push(...page.body);
    const link =
      /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1] ?? assert.fail('no next page');
    const next = link.replace(/^https?:\/\/[^/]+/, '');
    if (page.body.length === 0) return { events, next };
    at = next;
  }
}
