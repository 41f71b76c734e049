import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCli } from '../support/cli.ts';
import { clientOf, memberOf, paths, send } from '../support/demo.ts';
import { demoAddress, operatorOf } from '../support/operators.ts';
import { asSuperuser } from '../support/postgres.ts';
import { childrenOf, eventually } from '../support/processes.ts';
import { type Scrape, scrape, sumOf } from '../support/scrape.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startWorkers } from '../support/workers.ts';
import { startReceiver } from '../webhooks/receiver.ts';

/* /metrics of a running service. */

let service: TestService;
before(async () => {
  service = await startTestService({ environment: { METRICS_PORT: '0', ...demoAddress } });
});
after(() => service.close());

const read = () => scrape(service.service.metricsAddress);
const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
const requests = 'http_server_request_duration_seconds_count';

/** How far the sums of the named series rose during the work. */
async function rises(work: () => Promise<unknown>): Promise<(name: string, ...labels: string[]) => number> {
  const earlier = await read();
  await work();
  const later = await read();
  return (name, ...labels) => sumOf(later, name, ...labels) - sumOf(earlier, name, ...labels);
}

test('counts requests by route and status, statements by name, batches and orders by result', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const rise = await rises(async () => {
    for (let round = 0; round < 3; round++)
      assert.equal((await member.post(paths.transfers, order)).status, 201);
    assert.equal((await member.post(paths.transfers, { ...order, amount: 9_000_000 })).status, 422);
    assert.equal((await member.get(`${paths.accounts}/a-1001-checking`)).status, 200);
    assert.equal((await member.get(`${paths.accounts}/a-none`)).status, 404);
    await member.get('/nowhere/at/all');
  });
  const account = `http_route="${paths.accounts}/:accountId"`;
  assert.equal(rise(requests, `http_route="${paths.transfers}"`, 'http_response_status_code="201"'), 3);
  assert.equal(rise(requests, `http_route="${paths.transfers}"`, 'http_response_status_code="422"'), 1);
  assert.equal(rise(requests, account, 'http_response_status_code="200"'), 1);
  assert.equal(rise(requests, account, 'http_response_status_code="404"'), 1);
  assert.equal(rise(requests, 'http_route=""', 'http_response_status_code="404"'), 1);
  assert.equal(rise('sharedraft_problems_total', 'code="insufficient_funds"'), 1);
  assert.equal(rise('sharedraft_problems_total', 'code="not_found"'), 1);
  assert.equal(rise('sharedraft_orders_total', 'result="new"', 'status="COMPLETED"'), 3);
  assert.equal(rise('sharedraft_orders_total', 'status="FAILED"', 'code="insufficient_funds"'), 1);
  assert.equal(rise('sharedraft_batch_orders_sum'), 4);
  assert.equal(rise('sharedraft_batch_wait_seconds_count'), 4);
  assert.ok(rise('db_client_operation_duration_seconds_count', 'db_query_summary="transfers_write"') >= 1);
});

test('counts sign-ins by grant and outcome', async () => {
  const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const ask = (body: object) => send(service.address, 'POST', paths.token, { body });
  const rise = await rises(async () => {
    await clientOf(service);
    await ask({ ...app, grant_type: 'password', username: 'demo.member', password: 'not this one at all' });
    await ask({
      ...app,
      grant_type: 'password',
      username: 'no.such.member',
      password: 'not this one at all',
    });
    await ask({ ...app, client_secret: 'wrong', grant_type: 'client_credentials' });
    await ask({ ...app, grant_type: 'telepathy' });
  });
  const signIns = (...labels: string[]) => rise('sharedraft_sign_ins_total', ...labels);
  assert.equal(signIns('grant="client_credentials"', 'outcome="issued"'), 1);
  assert.equal(signIns('grant="password"', 'outcome="wrong_password"'), 1);
  assert.equal(signIns('grant="password"', 'outcome="unknown_user"'), 1);
  assert.equal(signIns('grant="client_credentials"', 'outcome="invalid_client"'), 1);
  assert.equal(signIns('grant="other"', 'outcome="unsupported_grant_type"'), 1);
});

test('counts a caller who leaves as a hang-up, not as an error', async () => {
  const { token } = await memberOf(service, 'demo.member', 'demo-member-password');
  const rise = await rises(async () => {
    const socket = connect(Number(new URL(service.address).port), '127.0.0.1');
    socket.write(
      `POST ${paths.transfers} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
    );
    await sleep(100);
    socket.destroy();
    await eventually('counted', async () => sumOf(await read(), 'sharedraft_hang_ups_total') > 0);
  });
  assert.equal(rise('sharedraft_hang_ups_total'), 1);
  assert.equal(rise(requests), 0);
});

test('no request adds a series by its path, its method or its contents', async () => {
  const ids = Array.from({ length: 20 }, (_, at) => `invented-${at}`);
  let last = 0;
  const all = async () => {
    for (const id of ids) {
      await send(service.address, 'GET', `/${id}`);
      await send(service.address, 'PROPFIND', `${paths.accounts}/${id}`);
    }
    const wrong = ids[last++];
    await send(service.address, 'POST', paths.token, {
      body: { grant_type: wrong, client_id: wrong, client_secret: wrong },
    });
  };
  await all();
  const series = [...(await read()).keys()];
  await all();
  const added = [...(await read()).keys()].filter((name) => !series.includes(name));
  // A background job may have run its first statement in between. A statement's name is fixed in the source.
  const ofStatements = /^db_client_operation_duration_seconds_\w+\{db_query_summary="[a-z_]+"/;
  assert.deepEqual(
    added.filter((name) => !ofStatements.test(name)),
    [],
  );
  assert.ok(!series.some((name) => name.includes('invented-')));
});

test('no label names an account, a member, a client or an institution', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  await member.post(paths.transfers, { ...order, id: 'a-labelled-transfer' });
  const text = [...(await read()).keys()].join('\n');
  for (const name of ['a-1001', 'demo.member', 'demo-app', 'harbor', 'lakeside', 'a-labelled-transfer']) {
    assert.ok(!text.includes(name), name);
  }
});

test('shows the figures of the database: what is due and held, the age of the key, the last run of reconcile', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const held = await member.post(paths.transfers, {
    id: 'metrics-held',
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1002-checking',
    amount: 1_200,
  });
  assert.equal(held.body.status, 'PENDING', held.text);
  assert.equal((await runCli(service.db, ['reconcile'])).code, 0);
  const fresh = async () => (await read()).get('sharedraft_reconcile_age_seconds') !== undefined;
  await eventually('fresh figures', fresh);
  const figures = await read();
  assert.equal(figures.get('sharedraft_database_up'), 1);
  assert.ok(Math.abs(figures.get('sharedraft_clock_offset_seconds') ?? 60) < 60);
  assert.equal(figures.get('sharedraft_institutions'), 2);
  assert.equal(figures.get('sharedraft_transfers_pending'), 1);
  assert.equal(figures.get('sharedraft_reviews_waiting'), 1);
  assert.ok((figures.get('sharedraft_reviews_oldest_seconds') ?? -1) >= 0);
  assert.equal(figures.get('sharedraft_transfers_overdue'), 0);
  assert.equal(figures.get('sharedraft_reconcile_findings'), 0);
  assert.ok((figures.get('sharedraft_signing_key_age_seconds') ?? -1) >= 0);
  assert.equal(figures.get('sharedraft_feed_lag_seconds'), 0);
  assert.ok((figures.get('sharedraft_audit_seal_lag_seconds') ?? 0) > 0);
});

test('the lag of the feed grows while a transaction holds its events back', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  await asSuperuser(service.db.connection, async (client) => {
    await client.query('begin');
    await client.query('select pg_current_xact_id()');
    assert.equal((await member.post(paths.transfers, order)).status, 201);
    const lag = async () => (await read()).get('sharedraft_feed_lag_seconds') ?? 0;
    await eventually('lag', async () => (await lag()) > 0);
    await client.query('rollback');
    await eventually('no lag', async () => (await lag()) === 0);
  });
});

test('counts a transfer as overdue from a minute after its time', async () => {
  const due = async (sinceDue: string) => {
    const [figures] = await service.db.superuser<Record<string, number>>(
      `select f.* from (select max(due_at) as at from pending_transfers) d,
                       operational_figures(d.at + interval '${sinceDue}') f`,
    );
    return [figures?.due, figures?.overdue, figures?.oldest_due_seconds];
  };
  assert.deepEqual(await due('-1 second'), [0, 0, 0]);
  assert.deepEqual(await due('30 seconds'), [1, 0, 30]);
  assert.deepEqual(await due('90 seconds'), [1, 1, 90]);
});

test('counts deliveries of webhooks by outcome, and shows their lag and the states of endpoints and events', async () => {
  await using receiver = await startReceiver();
  const client = await clientOf(service);
  const endpoints = '/digitalbanking/db-webhooks/v1/endpoints';
  const { body: endpoint } = await client.post(endpoints, { url: receiver.url });
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const deliveries = async (outcome: string) =>
    sumOf(
      await read(),
      'sharedraft_delivery_duration_seconds_count',
      'kind="webhook"',
      `outcome="${outcome}"`,
    );
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  await eventually('accepted', async () => (await deliveries('accepted')) === 1);
  receiver.respond = () => 503;
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  await eventually('failed', async () => (await deliveries('status_5xx')) === 1);
  await eventually('fresh figures', async () => {
    const figures = await read();
    return (
      (figures.get('sharedraft_webhook_lag_seconds') ?? 0) > 1 &&
      figures.get('sharedraft_webhook_endpoints{state="failing"}') === 1 &&
      figures.get('sharedraft_webhook_events{state="waiting"}') === 1
    );
  });
  await service.db.superuser(`update webhook_deliveries set state = 'PARKED', next_attempt_at = null`);
  await service.db.superuser(
    `update webhook_endpoints set status = 'DISABLED', status_reason = 'gone' where endpoint_id = $1`,
    [endpoint.endpointId],
  );
  const [figures] = await service.db.superuser(
    'select active, failing, paused, disabled, waiting, parked, lag_seconds from webhook_figures(now())',
  );
  assert.deepEqual(figures, {
    ...{ active: 0, failing: 0, paused: 0, disabled: 1, waiting: 0, parked: 1, lag_seconds: 0 },
  });
});

test('shows for how long the core has been silent, and the age of its oldest open instruction', async () => {
  await service.db.superuser(`update institutions set record = 'core' where code = 'harbor'`);
  const figuresAt = async (time: string) => {
    const [figures] = await service.db.superuser<Record<string, number>>(
      `select * from core_figures(timestamptz '2026-03-02T12:00:00Z' + interval '${time}')`,
    );
    return figures;
  };
  const none = { open_instructions: 0, oldest_instruction_seconds: 0 };
  assert.deepEqual(await figuresAt('0'), { cores: 1, silence_seconds: null, ...none });
  await service.db.superuser(
    `insert into core_connections (institution_id, heard_at, heard_client)
     select institution_id, '2026-03-02T12:00:00Z', 'a-connector' from institutions where code = 'harbor'`,
  );
  assert.deepEqual(await figuresAt('90 seconds'), { cores: 1, silence_seconds: 90, ...none });
  await service.db.superuser(`update institutions set record = 'ledger' where code = 'harbor'`);
  assert.deepEqual(await figuresAt('90 seconds'), { cores: 0, silence_seconds: null, ...none });
});

test('counts the open breaks with a core by class, and shows the age of the oldest', async () => {
  await service.db.superuser(`update institutions set record = 'core' where code = 'harbor'`);
  await service.db.superuser(
    `insert into core_breaks (institution_id, class, subject, account_id, currency, difference, opened_at)
     select institution_id, class, subject, 'a-1001-checking', 'USD', 0, now() - age
     from institutions, (values ('AMOUNT', 'account:one', interval '2 hours'), ('AMOUNT', 'account:two', interval '1 hour'),
                                ('TIMING', 'instruction:one', interval '1 minute')) as b (class, subject, age)
     where code = 'harbor'`,
  );
  const of = (lines: readonly string[], name: string) =>
    lines.filter((line) => line.startsWith(`sharedraft_core_breaks_${name}{`));
  await eventually('the figures are read anew', async () => {
    const lines = (await (await fetch(`${service.service.metricsAddress}/metrics`)).text()).split('\n');
    const [amounts = '', timings = '', ...others] = of(lines, 'oldest_seconds');
    return (
      of(lines, 'open').join() ===
        'sharedraft_core_breaks_open{class="AMOUNT"} 2,sharedraft_core_breaks_open{class="TIMING"} 1' &&
      Math.floor(Number(amounts.split(' ')[1]) / 3600) === 2 &&
      Number(timings.split(' ')[1]) < 3600 &&
      others.length === 0
    );
  });
  await service.db.superuser(`update core_breaks set closed_at = now(), closed_by = 'AGREED'`);
  await service.db.superuser(`update institutions set record = 'ledger' where code = 'harbor'`);
});

test('returns 404 for another path of the metrics port, and 405 for another method', async () => {
  const address = service.service.metricsAddress;
  assert.equal((await fetch(`${address}/`)).status, 404);
  assert.equal((await fetch(`${address}/metrics`, { method: 'POST' })).status, 405);
  const { headers } = await fetch(`${address}/metrics`);
  assert.match(headers.get('content-type') ?? '', /^application\/openmetrics-text; version=1\.0\.0/);
});

test('the service port does not serve the metrics', async () => {
  assert.equal((await send(service.address, 'GET', '/metrics')).status, 404);
});

test('shows operators the queues, the lanes and the batches', async () => {
  const viewer = await operatorOf(service, 'Demo viewer');
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  const { work } = (await viewer.get('/system')).body;
  assert.deepEqual(
    work.queues.map(({ queue }: { queue: string }) => queue),
    ['logins', 'hashing', 'orders'],
  );
  assert.ok(
    work.queues.every(
      ({ waiting, capacity }: { waiting: number; capacity: number }) => waiting === 0 && capacity > 0,
    ),
  );
  assert.deepEqual([work.lanes, work.lanesBusy, work.batchOrders.half], [3, 0, 1]);
  assert.ok(work.waitSeconds.half > 0);
  await using unmeasured = await startTestService({ beside: service, environment: demoAddress });
  const beside = await operatorOf(unmeasured, 'Demo viewer');
  assert.equal((await beside.get('/system')).body.work, null);
});

test('adds up the workers, and no counter goes back when one of them ends', async () => {
  const served = await startWorkers(2, { METRICS_PORT: '0', ...demoAddress });
  try {
    const viewer = await operatorOf(served, 'Demo viewer');
    // Each worker has three lanes, and the one that responds knows those of the other.
    assert.equal((await viewer.get('/system')).body.work.lanes, 6);
    const readiness = [`http_route="/readyz"`];
    const ask = () =>
      Promise.all(
        Array.from({ length: 16 }, () =>
          send(served.address, 'GET', '/readyz', { headers: { connection: 'close' } }),
        ),
      );
    await ask();
    const together: Scrape = await scrape(served.metricsAddress);
    assert.equal(sumOf(together, requests, ...readiness), 16);
    assert.equal(together.get('sharedraft_processes'), 3);
    assert.equal(together.get('sharedraft_lanes'), 6);
    assert.equal(together.get('sharedraft_database_up'), 1);
    const [one] = await childrenOf(served.pid);
    process.kill(one as number, 'SIGKILL');
    await eventually('replaced', async () => {
      const samples = await scrape(served.metricsAddress);
      assert.ok(sumOf(samples, requests, ...readiness) >= 16);
      return (
        samples.get('sharedraft_processes') === 3 && !(await childrenOf(served.pid)).includes(one as number)
      );
    });
    await ask();
    assert.equal(sumOf(await scrape(served.metricsAddress), requests, ...readiness), 32);
  } finally {
    await served.close();
  }
});
