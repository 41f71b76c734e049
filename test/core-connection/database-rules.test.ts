import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import pg from 'pg';
import { reconcile } from '../../src/reconciliation/index.ts';
import { connectorOf, purchase } from '../support/core.ts';
import { startTestService, type TestService } from '../support/service.ts';

const aTransaction = `select institution_id, account_key as payer, settlement_key as payee from core_transactions`;
const twoMembers = `
  select institution_id, min(account_key) as payer, max(account_key) as payee
  from accounts where customer_key is not null and currency = 'USD' group by institution_id`;

/** Statements that a defect of the service could send, each with the error of the database. */
const wrong: readonly (readonly [what: string, state: string, statements: string])[] = [
  ['a transaction without its entry', 'SD060', ghost('c.seq + 1', 'c.amount')],
  [
    'a transaction with another amount than its entry',
    'SD060',
    `${postingOf({ kind: 'CORE', amount: 5 })}; ${ghost('c.seq + 1', '-6')}`,
  ],
  ['an entry of the core without its transaction', 'SD017', postingOf({ kind: 'CORE', amount: 5 })],
  [
    'a hold of the core without its authorization',
    'SD017',
    postingOf({ kind: 'CORE_HOLD', amount: 0, held: 5 }),
  ],
  [
    'a hold that an authorization does not have',
    'SD017',
    'update core_authorizations set held = held + 1, posting_key = posting_key + 1 where ended is null',
  ],
  [
    'an authorization that begins again',
    'SD061',
    'update core_authorizations set held = 5, ended = null where ended is not null',
  ],
  ['a transaction of the core deleted', '42501', 'delete from core_transactions'],
  ['a transaction of the core changed', '42501', 'update core_transactions set amount = 1'],
  [
    'an authorization moved to another account',
    '42501',
    'update core_authorizations set account_key = account_key + 1',
  ],
  [
    'an act of the core between two members',
    'SD019',
    postingOf({ kind: 'CORE', amount: 5, pair: twoMembers }),
  ],
];

function ghost(seq: string, amount: string): string {
  return `insert into core_transactions
    select c.institution_id, 'ghost', c.account_key, ${seq}, 77, c.settlement_key, ${amount}, c.kind, c.posted_at, c.effective_date,
           c.description, null, null, null, null, null, false, c.recorded_at
    from core_transactions c`;
}

/** A posting between two accounts with both balances: the first one pays. Pending amounts rise by `held`. */
function postingOf({ kind, amount, held = 0, pair = aTransaction }: Posting): string {
  return `with pair as (${pair}), moved as (
      update balances b
      set posted = b.posted + s.sign * ${amount}, debits_pending = b.debits_pending + case s.sign when -1 then ${held} else 0 end,
          credits_pending = b.credits_pending + case s.sign when 1 then ${held} else 0 end, seq = b.seq + 1,
          last_at = now() + interval '1 day'
      from pair p cross join lateral (values (p.payer, -1), (p.payee, 1)) as s (account_key, sign)
      where b.institution_id = p.institution_id and b.account_key = s.account_key
      returning b.*, s.sign)
    insert into entries
    select institution_id, account_key, seq, 77, '${kind}', sign * ${amount}, posted, debits_pending, credits_pending, null, null, last_at
    from moved`;
}

interface Posting {
  readonly kind: string;
  readonly amount: number;
  readonly held?: number;
  /** The accounts; by default that of a transaction and its settlement account. */
  readonly pair?: string;
}

let service: TestService;
let institutionId: number;
before(async () => {
  service = await startTestService();
  const core = await connectorOf(service);
  await core.deliver([
    purchase('rule-1'),
    purchase('open-1', { status: 'AUTHORIZED' }),
    purchase('over-1', { status: 'AUTHORIZED' }),
    { ...purchase('over-1', { status: 'RELEASED', postedAt: '2026-03-03T00:00:00Z' }), amount: undefined },
  ]);
  const [row] = await service.db.superuser<{ id: number }>(
    'select institution_id as id from core_transactions limit 1',
  );
  institutionId = row?.id ?? 0;
});
after(() => service.close());

describe('the database refuses', () => {
  for (const [what, state, statements] of wrong) {
    test(`the database refuses ${what}`, async () => {
      const client = new pg.Client(service.db.connection);
      await client.connect();
      try {
        await client.query(`select set_config('sharedraft.institution', '${institutionId}', false)`);
        await client.query('begin');
        const run = async () => {
          for (const statement of statements.split(';')) await client.query(statement);
          await client.query('commit');
        };
        await assert.rejects(run(), ({ code }: { code?: string }) => {
          assert.equal(code, state);
          return true;
        });
      } finally {
        await client.end();
      }
    });
  }
});

describe('reconcile', () => {
  const finds = (what: string, statement: string, checks: readonly string[]) =>
    test(`reconcile finds ${what}`, async () => {
      const owner = new pg.Client(service.db.owner);
      await owner.connect();
      const found = new Set<string>();
      try {
        await owner.query('begin; set local session_replication_role = replica');
        await owner.query(statement);
        const database = {
          read: async <T>(_id: unknown, work: (db: never) => Promise<T>) =>
            work({
              institutionId,
              query: async ({ text }: { text: string }, values: unknown[]) => {
                const { rows } = await owner.query(text, values);
                return { rows: rows.map(camel), rowCount: rows.length };
              },
            } as never),
        };
        await reconcile(database as never, institutionId as never, {
          onFinding: ({ check }) => found.add(check),
        });
      } finally {
        await owner.query('rollback');
        await owner.end();
      }
      for (const check of checks) assert.ok(found.has(check), `${check} of ${[...found]}`);
    });

  void finds(
    'an entry of the core whose transaction is gone',
    `delete from core_transactions where core_id = 'rule-1'`,
    ['core-entry'],
  );
  void finds(
    'a transaction that differs from its entry',
    'update core_transactions set amount = amount - 1',
    ['core-entry', 'core-transaction'],
  );
  void finds(
    'an authorization that holds another amount',
    'update core_authorizations set held = held + 1 where ended is null',
    ['hold-out', 'hold-in'],
  );
});

function camel(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}
