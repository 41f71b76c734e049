import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { listInstitutions } from '../../src/institutions/index.ts';
import { type Finding, reconcile } from '../../src/reconciliation/index.ts';
import { startTestService } from '../support/service.ts';

const program = fileURLToPath(new URL('../support/random-orders.ts', import.meta.url));
const each = 50_000;

/** Each is the source of one process; both pay into the others. */
const processes = [
  {
    name: 'one',
    sources: { 'a-1001-checking': 4_825_075, 'a-1002-checking': 312_044, 'a-1004-savings': 90_000 },
  },
  {
    name: 'two',
    sources: { 'a-1019-checking': 900_000, 'a-1003-moneymarket': 5_400_000, 'a-1009-checking': 41_000 },
  },
] as const;
const sinks = [
  'a-1001-savings',
  'a-1003-savings',
  'a-1020-checking',
  'a-1021-checking',
  'a-1019-certificate',
];

test('100,000 random orders through two processes have every outcome and balance of the model', {
  timeout: 300_000,
}, async (context) => {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  context.diagnostic(`SEED=${seed}`);
  await using service = await startTestService();
  // This model has no reviews: the random lives test holds and approvals.
  await service.db.superuser('delete from transfer_policies');
  const { host, database } = service.db.connection;
  const results = await Promise.all(
    processes.map(async ({ name, sources }, index) => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        program,
        `--host=${host}`,
        `--database=${database}`,
        `--name=${name}`,
        `--seed=${seed + index}`,
        `--count=${each}`,
        `--sources=${Object.entries(sources).map(([id, cents]) => `${id}=${cents}`)}`,
        `--sinks=${sinks}`,
      ]);
      return JSON.parse(stdout) as { wrong: string[]; wrongCount: number; balances: Record<string, string> };
    }),
  );
  for (const { wrong, wrongCount, balances } of results) {
    assert.equal(wrongCount, 0, `seed ${seed}:\n${wrong.join('\n')}`);
    for (const [accountId, cents] of Object.entries(balances)) {
      const rows = await service.db.superuser<{ posted: bigint }>(
        `select posted from balances join institutions using (institution_id)
         where code = 'lakeside' and account_id = $1`,
        [accountId],
      );
      assert.equal(String(rows[0]?.posted), cents, `${accountId}, seed ${seed}`);
    }
  }

  // For every account: entries numbered without a gap, each continuing the one before, the balance equal to the
  // newest.
  const [broken] = await service.db.superuser<{ count: bigint }>(
    `select count(*) from (
       select e.seq, e.posted_after, e.amount, e.floor,
              lag(e.seq, 1, 0::bigint) over w as seq_before, lag(e.posted_after, 1, 0::bigint) over w as posted_before,
              last_value(e.seq) over (w rows between unbounded preceding and unbounded following) as newest,
              last_value(e.posted_after) over (w rows between unbounded preceding and unbounded following) as final,
              b.seq as balance_seq, b.posted
       from entries e join balances b using (institution_id, account_key)
       window w as (partition by e.institution_id, e.account_key order by e.seq)) x
     where seq <> seq_before + 1 or posted_after <> posted_before + amount or posted_after < floor
        or newest <> balance_seq or final <> posted`,
  );
  assert.equal(broken?.count, 0n);
  const [counted] = await service.db.superuser<{ transfers: bigint; ids: bigint; events: bigint }>(
    `select (select count(*) from transfers) as transfers, (select count(*) from idempotency_keys) as ids,
            (select count(*) from outbox where kind like 'transfer.%') as events`,
  );
  assert.equal(counted?.transfers, counted?.ids);
  assert.equal(counted?.transfers, counted?.events);
  const sums = await service.db.superuser<{ total: string }>(
    'select sum(posted)::text as total from balances group by institution_id, currency',
  );
  assert.deepEqual(new Set(sums.map((row) => row.total)), new Set(['0']));

  const findings: Finding[] = [];
  const { database: asService } = service.service.context;
  for (const { institutionId } of await asService.directory(listInstitutions)) {
    await reconcile(asService, institutionId, { onFinding: (finding) => findings.push(finding) });
  }
  assert.deepEqual(findings, [], `seed ${seed}`);
});
