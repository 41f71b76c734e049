import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import pg from 'pg';
import {
  expireRuns,
  type Finding,
  type FindingKind,
  findingKinds,
  KeptFindings,
  recordRun,
} from '../../src/reconciliation/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { runCli } from '../support/cli.ts';
import { eventually } from '../support/desk.ts';
import { institutionOf } from '../support/identity.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { asSuperuser } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

const ira = 'a-1001-ira';

let service: TestService;
let institutionId: InstitutionId;
let viewer: TestOperator;
let elsewhere: TestOperator;
before(async () => {
  service = await startTestService({ environment: demoAddress });
  ({ institutionId } = await institutionOf(service, 'lakeside'));
  viewer = await operatorOf(service, 'Demo viewer');
  elsewhere = await operatorOf(service, 'Demo viewer', 'harbor');
});
after(() => service.close());

// biome-ignore lint/suspicious/noExplicitAny: a document of any operation
const read = async (path: string, operator = viewer): Promise<any> => {
  const { status, body } = await operator.get(path);
  assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
  return body;
};

/** Behind the back of the triggers, as a person with the owner's login could. */
const changeBalance = (minor: number) =>
  asSuperuser(service.db.owner, (client) =>
    client.query(
      `set session_replication_role = replica;
       update balances set posted = posted + ${minor} where institution_id = ${institutionId} and account_id = '${ira}'`,
    ),
  );

const reconcileNow = async (...words: readonly string[]) => {
  const { code, stderr } = await runCli(service.db, ['reconcile', '--institution', 'lakeside', ...words]);
  assert.ok(code === 0 || code === 3, stderr);
  const [newest] = await read('/reconcile/runs');
  return newest;
};

const findingsOf = (id: string, query = '') => read(`/reconcile/runs/${id}/findings${query}`);

const invented = (check: FindingKind, more: Partial<Finding> = {}): Finding => ({
  ...{ check, row: 'a row', detail: 'differs', accountId: null, entry: null, transferId: null },
  ...{ expected: null, found: null, currency: null },
  ...more,
});

function runOf(findings: readonly Finding[], startedAt = new Date()) {
  const kept = new KeptFindings();
  for (const finding of findings) kept.add(finding);
  const checkpoint = { at: startedAt, epoch: 0n, xid: '3' };
  return { startedAt, finishedAt: startedAt, findings: kept, checkpoint };
}

const record = (findings: readonly Finding[], startedAt?: Date) =>
  recordRun(service.db.database, institutionId, runOf(findings, startedAt));

test('a difference is kept with exact amounts, and each run that still finds it names it again', async () => {
  const clean = await reconcileNow();
  assert.deepEqual([clean.findings, clean.kept, clean.changedSince], [0, 0, null]);
  assert.deepEqual(await findingsOf(clean.id), []);
  assert.deepEqual((await read(`/reconcile/runs/${clean.id}`)).kinds, []);

  const [account] = await service.db.superuser<{ posted: bigint }>(
    'select posted from balances where institution_id = $1 and account_id = $2',
    [institutionId, ira],
  );
  const posted = account?.posted as bigint;
  const decimal = (minor: bigint) => `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`;
  await changeBalance(1);
  try {
    const changed = await reconcileNow('--changes');
    // Of the accounts it checks those with an entry since the checkpoint, give or take a minute.
    assert.ok(changed.findings > 0 && Date.parse(changed.changedSince) > 0);
    const whole = await reconcileNow();
    assert.ok(BigInt(whole.id) > BigInt(changed.id));
    assert.deepEqual([whole.findings, whole.kept, whole.changedSince], [2, 2, null]);
    const [total, balance, ...more] = await findingsOf(whole.id);
    assert.deepEqual(more, []);
    const { meaning, advice, detail, ...ofBooks } = total;
    assert.match(`${meaning} ${advice}`, /^The balances of the currency do not add up to zero.+\.$/);
    assert.match(detail, /all balances add up to 1, not to 0/);
    assert.deepEqual(ofBooks, {
      ...{ place: 1, kind: 'trial-balance', subject: 'USD' },
      ...{ expected: '0.00', found: '0.01', difference: '0.01', currencyCode: 'USD' },
    });
    assert.deepEqual(
      [balance.kind, balance.accountId, balance.expected, balance.found, balance.difference],
      ['balance-posted', ira, decimal(posted), decimal(posted + 1n), '0.01'],
    );
    assert.deepEqual((await findingsOf(changed.id))[0], total);
    assert.deepEqual(
      (await read(`/reconcile/runs/${whole.id}`)).kinds.map(({ kind, findings }: Record<string, unknown>) => [
        kind,
        findings,
      ]),
      [
        ['trial-balance', 1],
        ['balance-posted', 1],
      ],
    );
    assert.deepEqual(await findingsOf(whole.id, '?kind=balance-posted'), [balance]);
    const last = { finishedAt: whole.finishedAt, findings: 2, runId: whole.id };
    assert.deepEqual(await read('/reconcile'), last);
    assert.deepEqual((await read('/today')).reconcile, last);
    const withFindings = await read('/reconcile/runs?findings=true');
    assert.deepEqual(
      withFindings.map(({ id }: { id: string }) => id),
      [whole.id, changed.id],
    );
  } finally {
    await changeBalance(-1);
  }
});

test('a run and its findings are not there for another institution', async () => {
  await record([invented('trial-balance')]);
  const [{ id }] = await read('/reconcile/runs');
  assert.deepEqual(await read('/reconcile/runs', elsewhere), []);
  assert.deepEqual(await read('/reconcile', elsewhere), { finishedAt: null, findings: null, runId: null });
  for (const path of [`/reconcile/runs/${id}`, `/reconcile/runs/${id}/findings`])
    assert.equal((await elsewhere.get(path)).status, 404, path);
  for (const wrong of ['0', '-1', 'x', '99999999999999999999', '1%20or%201']) {
    assert.equal((await viewer.get(`/reconcile/runs/${wrong}`)).status, 404, wrong);
    assert.equal((await viewer.get(`/reconcile/runs/${wrong}/findings`)).status, 404, wrong);
  }
  assert.equal((await viewer.get(`/reconcile/runs/${id}/findings?kind=nonsense`)).status, 400);
});

test('the findings name balances, so an administrator sees their kinds alone, and the audit has each read', async () => {
  await record([invented('hold-in', { accountId: ira, expected: '1', found: '2', currency: 'USD' })]);
  const [{ id }] = await read('/reconcile/runs');
  const administrator = await operatorOf(service, 'Demo administrator');
  assert.equal((await administrator.get(`/reconcile/runs/${id}/findings`)).status, 403);
  assert.equal((await read(`/reconcile/runs/${id}`, administrator)).kinds[0].kind, 'hold-in');
  const reads = () =>
    service.db.superuser<{ operator: string }>(
      `select operator from audit_entries where action = 'account.read' and reason = 'findings' and subject = $1`,
      [id],
    );
  assert.deepEqual(await reads(), []);
  await findingsOf(id);
  assert.deepEqual(await reads(), [{ operator: 'Demo viewer' }]);
});

test('the command line shows the same documents as the operations', async () => {
  await record([
    invented('hold-out', {
      accountId: ira,
      entry: 2n,
      expected: '0',
      found: '-123456789012345678901',
      currency: 'USD',
    }),
    invented('transfer-id', { transferId: 't-1' }),
  ]);
  const [newest] = await read('/reconcile/runs');
  const run = (...words: readonly string[]) =>
    runCli(service.db, ['reconcile', ...words, '--institution', 'lakeside']);
  const lines = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  const [json, named, text, runs, none] = await Promise.all([
    run('findings', '--json'),
    run('findings', newest.id, '--kind', 'transfer-id', '--json'),
    run('findings'),
    run('runs', '--limit', '1', '--json'),
    run('findings', '999999999'),
  ]);
  const all = await findingsOf(newest.id);
  assert.equal(all[0].found, '-1234567890123456789.01');
  assert.deepEqual(lines(json.stdout), all, json.stderr);
  assert.deepEqual(lines(named.stdout), all.slice(1));
  assert.deepEqual(lines(runs.stdout), [newest]);
  assert.match(text.stdout, /^Run \d+ of \S+: 2 rows are off\.$/m);
  assert.match(text.stdout, /^hold-out: The account holds another amount/m);
  assert.match(
    text.stdout,
    /-1234567890123456789\.01 USD, expected 0\.00, difference -1234567890123456789\.01;/,
  );
  assert.deepEqual([none.code, none.stdout], [1, '']);
  assert.match(none.stderr, /There is no run 999999999\./);
});

test('a run with many findings keeps the first hundred of each kind in their order, and counts all', async () => {
  const many = Array.from({ length: 250 }, (_, n) =>
    invented('entry-gap', { row: `entry ${n + 1}`, accountId: ira, entry: BigInt(n + 1) }),
  );
  await record([invented('trial-balance'), ...many, invented('event-gap')]);
  const [newest] = await read('/reconcile/runs');
  assert.deepEqual([newest.findings, newest.kept], [252, 102]);
  const pages: { place: number; kind: string; subject: string }[] = [];
  for (let path: string | undefined = `/reconcile/runs/${newest.id}/findings?limit=40`; path; ) {
    const { body, headers } = await viewer.get(path);
    pages.push(...body);
    path = /<[^>]*operations\/v1([^>]*)>/.exec(headers.get('link') ?? '')?.[1];
  }
  assert.deepEqual(
    pages.map(({ place }) => place),
    Array.from({ length: 102 }, (_, n) => n + 1),
  );
  assert.deepEqual(
    [pages[0]?.kind, pages[1]?.subject, pages[100]?.subject, pages[101]?.kind],
    ['trial-balance', 'entry 1', 'entry 100', 'event-gap'],
  );
});

const stateOf = () =>
  service.db.superuser(
    `select (select count(*) from reconcile_results) as runs, (select count(*) from reconcile_findings) as findings,
            (select jsonb_agg(r order by r.institution_id) from reconcile_runs r) as last`,
  );

test('a run that the database refuses leaves nothing behind', async () => {
  const before = await stateOf();
  await assert.rejects(
    record([invented('trial-balance'), invented('entry-gap', { accountId: 'a'.repeat(65) })]),
  );
  assert.deepEqual(await stateOf(), before);
});

test('a run whose connection is killed while it is kept leaves nothing behind', async () => {
  await record([]);
  const before = await stateOf();
  const holder = new pg.Client(service.db.owner);
  await holder.connect();
  try {
    await holder.query('begin; select from reconcile_runs for update');
    const { rows } = await holder.query('select pg_backend_pid() as pid');
    // The last part of the statement waits for the lock: the run and its findings are written then.
    const refused = assert.rejects(record([invented('trial-balance')]));
    const [blocked] = await eventually(
      () =>
        service.db.superuser<{ pid: number }>(
          `select pid from pg_stat_activity where datname = current_database() and $1 = any (pg_blocking_pids(pid))`,
          [rows[0].pid],
        ),
      (found) => found.length === 1,
    );
    await service.db.superuser('select pg_terminate_backend($1)', [blocked?.pid]);
    await refused;
  } finally {
    await holder.end();
  }
  assert.deepEqual(await stateOf(), before);
});

test('a run that began earlier and ends later is kept, and is not the last one', async () => {
  await record([invented('trial-balance')]);
  const last = await read('/reconcile');
  await record([], new Date(Date.now() - 60_000));
  assert.deepEqual(await read('/reconcile'), last);
  assert.equal((await read('/reconcile/runs'))[0].findings, 0);
});

/** Statements by the login of the service, each in a transaction of its own. */
async function serviceLogin() {
  const client = new pg.Client(service.db.connection);
  await client.connect();
  await client.query(`set sharedraft.institution = '${institutionId}'`);
  return {
    run: (statement: string) => client.query(statement),
    [Symbol.asyncDispose]: () => client.end(),
  };
}

test('the database keeps runs as they were written', async () => {
  await record([invented('trial-balance')]);
  const [{ id }] = await read('/reconcile/runs');
  await using own = await serviceLogin();
  const insertFinding = (columns: string, values: string) =>
    `insert into reconcile_findings (institution_id, run_key, place, kind, subject, detail${columns})
     values (${institutionId}, ${id}, ${values})`;
  const result = (kept: number, findings: number) =>
    `insert into reconcile_results (institution_id, started_at, finished_at, findings, kept)
     values (${institutionId}, now(), now(), ${findings}, ${kept})`;
  for (const [statement, refusal] of [
    ['update reconcile_results set findings = 0', { code: '42501' }],
    ['update reconcile_findings set found = 0', { code: '42501' }],
    ['delete from reconcile_findings', { code: '42501' }],
    [`delete from reconcile_results where run_key = ${id}`, { code: 'SD221' }],
    [insertFinding('', `2, 'entry-gap', 'added later', 'x'`), { code: 'SD220' }],
    [result(1, 1), { code: 'SD220' }],
    [result(2, 1), { constraint: 'reconcile_results_kept' }],
    [result(0, 1), { constraint: 'reconcile_results_kept' }],
    [insertFinding('', `0, 'entry-gap', 'x', 'x'`), { constraint: 'reconcile_findings_place_check' }],
    [insertFinding('', `2, 'nonsense', 'x', 'x'`), { constraint: 'reconcile_findings_kind_check' }],
    [insertFinding(', entry', `2, 'entry-gap', 'x', 'x', 1`), { constraint: 'reconcile_findings_entry' }],
    ...['1, 1', '1, null', '1, 1.5'].map(
      (amounts) =>
        [
          insertFinding(', currency, expected, found', `2, 'hold-in', 'x', 'x', 'USD', ${amounts}`),
          { constraint: 'reconcile_findings_amounts' },
        ] as const,
    ),
  ] as const)
    await assert.rejects(own.run(statement), refusal, statement);
});

test('a run goes with its findings after 400 days, and the last one stays', async () => {
  const days = (count: number) => new Date(Date.now() - count * 86_400_000);
  for (const age of [500, 401, 399]) await record([invented('trial-balance')], days(age));
  const ages = async (): Promise<number[]> =>
    (await read('/reconcile/runs?limit=200')).map(({ startedAt }: { startedAt: string }) =>
      Math.round((Date.now() - Date.parse(startedAt)) / 86_400_000),
    );
  const isOld = (age: number) => age > 100;
  assert.deepEqual((await ages()).filter(isOld), [399, 401, 500]);
  const expire = (now: Date) => service.db.database.write(institutionId, (db) => expireRuns(db, now));
  await expire(new Date());
  assert.deepEqual((await ages()).filter(isOld), [399]);
  const [orphans] = await service.db.superuser<{ count: number }>(
    `select count(*)::integer as count from reconcile_findings f
     where not exists (select from reconcile_results r
                       where r.institution_id = f.institution_id and r.run_key = f.run_key)`,
  );
  assert.equal(orphans?.count, 0);
  // By a clock that is wrong: the database keeps the runs of its own last ninety days.
  await assert.rejects(expire(days(-10_000)), { code: 'SD221' });
  const { runId } = await read('/reconcile');
  await service.db.superuser(
    `update reconcile_results set started_at = $2, finished_at = $2 where institution_id = $1 and run_key = $3`,
    [institutionId, days(600), runId],
  );
  await expire(new Date());
  assert.equal((await read(`/reconcile/runs/${runId}`)).id, runId);
  await using own = await serviceLogin();
  await assert.rejects(own.run(`delete from reconcile_results where run_key = ${runId}`), { code: 'SD221' });
});

test('the code, the database and the page of reconcile have the same kinds of findings', async () => {
  const [constraint] = await service.db.superuser<{ definition: string }>(
    `select pg_get_constraintdef(oid) as definition from pg_constraint where conname = 'reconcile_findings_kind_check'`,
  );
  const inDatabase = [...(constraint?.definition ?? '').matchAll(/'([a-z-]+)'/g)].map(([, kind]) => kind);
  assert.deepEqual(inDatabase.toSorted(), findingKinds.toSorted());
  const page = await readFile(new URL('../../docs/reconcile.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| .+\.(?: \|.*)? \|$/gm)];
  const onPage = rows.flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, kind]) => kind));
  assert.deepEqual([...new Set(onPage)].toSorted(), findingKinds.toSorted());
});
