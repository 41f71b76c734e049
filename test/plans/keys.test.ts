import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { selectAccount } from '../../src/accounts/queries.ts';
import { selectClient } from '../../src/auth/clients/authentication-queries.ts';
import { selectTokenStatuses } from '../../src/auth/tokens/token-status.ts';
import type { Institution } from '../../src/institutions/index.ts';
import { selectLogin } from '../../src/members/index.ts';
import { type UserIdType, userIdTypes } from '../../src/members/profile.ts';
import { selectActorsBy, selectUsersCalled } from '../../src/members/queries.ts';
import { selectPersons } from '../../src/operators/members/find-queries.ts';
import type { Queryable, Statement } from '../../src/storage/index.ts';
import { readByKeys } from '../../src/storage/shared-readers.ts';
import { anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';

// Every request reads by key: among 3,000 members and accounts no statement reads more rows than requested. A
// condition with a function that is not leakproof, such as lower(), is no key behind row-level security.
const members = 3_000;
const mostRows = 40;

let db: TestDatabase;
let institution: Institution;
let session: pg.Client | undefined;

before(async () => {
  db = await testDatabase();
  institution = await anInstitution(db.database);
  const i = institution.institutionId;
  await asSuperuser(db.connection, async (client) => {
    await client.query('set session_replication_role = replica');
    const each = `from generate_series(1000, ${1000 + members - 1}) n`;
    for (const rows of [
      `persons (institution_id, person_key, person_id, first_name, last_name, email) overriding system value
       select ${i}, n, 'p-' || n, 'Ada', 'Example', n || '@example.test' ${each}`,
      `customers (institution_id, customer_key, customer_id, member_number, member_type) overriding system value
       select ${i}, n, 'c-' || n, n, 'RETAIL' ${each}`,
      `customer_persons (institution_id, customer_key, person_key, role) select ${i}, n, n, 'PRIMARY' ${each}`,
      `users (institution_id, user_key, user_id, person_key, email, username, password_hash, created_at) overriding system value
       select ${i}, n, 'u-' || n, n, n || '@example.test', 'member.' || n, 'none', now() ${each}`,
      `accounts (institution_id, account_key, account_id, customer_key, account_number, di_account_type, category,
                 description, currency) overriding system value
       select ${i}, n, 'a-' || n, n, n, 'CHECKING', 'DEPOSIT', 'Share Draft', 'USD' ${each}`,
      `holders (institution_id, account_key, person_key, role, may_pay) select ${i}, n, n, 'PRIMARY', true ${each}`,
      `balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending, seq, last_at)
       select ${i}, n, 'a-' || n, 'USD', 0, 0, 0, 0, now() ${each}`,
    ]) {
      await client.query(`insert into ${rows}`);
    }
    await client.query('analyze');
  });
  session = new pg.Client({ ...db.connection });
  await session.connect();
  await session.query(`select set_config('sharedraft.institution', $1, false)`, [String(i)]);
});
after(async () => {
  await session?.end();
  await db.close();
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Rows read in all scans, discarded ones included. */
function rowsRead(node: PlanNode): number {
  const { 'Actual Rows': rows, 'Rows Removed by Filter': filtered = 0 } = node;
  const { 'Actual Loops': loops, 'Rows Removed by Index Recheck': rechecked = 0 } = node;
  const own = / Scan/.test(node['Node Type']) ? (rows + filtered + rechecked) * loops : 0;
  return (node.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), own);
}

/** For the one statement that `read` sends. */
async function measured(read: (db: Queryable) => Promise<unknown>): Promise<{ rows: number; text: string }> {
  let sent: readonly [Statement, readonly unknown[]] | undefined;
  await read({
    institutionId: institution.institutionId,
    query: async (statement, values = []) => {
      sent = [statement, values];
      return { rows: [], rowCount: 0, command: 'SELECT' };
    },
  });
  assert.ok(sent !== undefined, 'a statement was sent');
  const [{ text }, values] = sent;
  const { rows } = await (session as pg.Client).query<{ 'QUERY PLAN': readonly [{ Plan: PlanNode }] }>(
    `explain (analyze, format json) ${text}`,
    values as unknown[],
  );
  const [{ Plan: plan }] = rows[0]?.['QUERY PLAN'] ?? assert.fail('no plan');
  return { rows: rowsRead(plan), text };
}

const idOf: Readonly<Record<UserIdType, string>> = {
  CUSTOMER_ID: 'c-2000',
  MEMBER_NUMBER: '2000',
  EMAIL: '2000@Example.Test',
  LOGIN_ID: 'Member.2000',
  USER_ID: 'u-2000',
};

test('every request’s reads use keys', async () => {
  const tokenId = '018f0000-0000-7000-8000-000000000000';
  const token = (userId: string) => ({ clientId: 'app', userId, tokenId });
  const reads: Readonly<Record<string, (db: Queryable) => Promise<unknown>>> = {
    'an account of its holder': (q) => selectAccount(q, { personKey: 2000n, coveredKeys: null }, 'a-2000'),
    'an account of the institution': (q) => selectAccount(q, null, 'a-2000'),
    'the status of tokens': (q) => selectTokenStatuses(q, [token('u-2000'), token('u-2001')]),
    'a client': (q) => selectClient(q, { clientId: 'app', address: null, now: new Date() }),
    // Its last statement looks for first names.
    'persons of a first name': (q) => selectPersons(q, 'name', { text: 'ada', limit: 5 }),
    'persons of any kind': (q) => selectPersons(q, 'any', { text: 'ada', limit: 5 }),
    'a login': (q) => selectLogin(q, 'Member.2000'),
    ...Object.fromEntries(
      userIdTypes.flatMap((type) => [
        [`a profile by ${type}`, (q: Queryable) => selectUsersCalled(q, type, idOf[type])],
        [`an asserted member by ${type}`, (q: Queryable) => selectActorsBy(q, type, idOf[type])],
      ]),
    ),
  };
  for (const [name, read] of Object.entries(reads)) {
    const { rows } = await measured(read);
    assert.ok(rows <= mostRows, `${name}: ${rows} rows read`);
  }
});

test('the question for changes reads the rows since the last question, among many older ones', async () => {
  const i = institution.institutionId;
  const older = 200_000;
  await asSuperuser(db.connection, async (client) => {
    await client.query(
      `insert into changes select '3'::xid8, n % 100, n % 20480 from generate_series(1, ${older}) n`,
    );
    await client.query('analyze changes');
    await client.query(readByKeys.text);
    const { rows } = await client.query("select at from changes_since(null, '{}', '{}', '{}', '{}')");
    await client.query('update persons set last_name = $1 where institution_id = $2 and person_key < 1010', [
      'Noted',
      i,
    ]);
    const known = [[i], [i, i, i], [1000, 1001, 1002], [0, 7, 0]];
    await client.query('begin');
    const asked = await client.query('select * from changes_since($1, $2, $3, $4, $5)', [
      rows[0].at,
      ...known,
    ]);
    assert.equal(asked.rows[0].is_kept, true);
    assert.equal(asked.rows[0].changed.length, 10);
    assert.deepEqual(asked.rows[0].moved, [2]);
    const { rows: tables } = await client.query<{ name: string; scanned: number; fetched: number }>(
      `select relname as name, seq_tup_read::integer as scanned, idx_tup_fetch::integer as fetched
       from pg_stat_xact_user_tables where relname in ('changes', 'balances') order by 1`,
    );
    await client.query('rollback');
    for (const { name, scanned, fetched } of tables) {
      assert.ok(
        scanned + fetched <= mostRows,
        `${name}: ${scanned} rows scanned, ${fetched} fetched by a key`,
      );
    }
    assert.deepEqual(
      tables.map(({ name }) => name),
      ['balances', 'changes'],
    );
    assert.ok(
      tables.some(({ fetched }) => fetched > 0),
      'the measure counts',
    );
  });
});

test('the question for two thousand balances takes no more time for each than for two hundred', async () => {
  const i = institution.institutionId;
  await asSuperuser(db.connection, async (client) => {
    await client.query(readByKeys.text);
    const millisFor = async (balances: number) => {
      const keys = Array.from({ length: balances }, (_, index) => 1000 + index);
      const known = [[i], keys.map(() => i), keys, keys.map(() => 0)];
      let least = Number.POSITIVE_INFINITY;
      for (let asked = 0; asked < 8; asked += 1) {
        const started = performance.now();
        const { rows } = await client.query('select moved from changes_since(null, $1, $2, $3, $4)', known);
        least = Math.min(least, performance.now() - started);
        assert.deepEqual(rows[0].moved ?? [], []);
      }
      return least;
    };
    const few = await millisFor(200);
    const many = await millisFor(2_000);
    assert.ok(many < 30 * few, `${few} ms for 200, ${many} ms for 2,000`);
  });
});

test('the measure of reads by key notices a scan', async () => {
  const { rows } = await measured((q) =>
    q.query(
      {
        name: 'naive',
        text: 'select from users where institution_id = $1 and lower(username) = lower($2)',
      },
      [institution.institutionId, 'member.2000'],
    ),
  );
  assert.ok(rows >= members);
});
