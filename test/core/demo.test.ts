import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../src/app/config.ts';
import { type AppContext, openAppContext } from '../../src/app/context.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import type { PasswordHasher, Vault } from '../../src/auth/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { dumpTables } from '../support/tables.ts';

const example = (file: string) =>
  readFileSync(fileURLToPath(new URL(`../../examples/${file}`, import.meta.url)), 'utf8');

function lines(file: string): Record<string, string>[] {
  const [header = '', ...rest] = example(file).trim().split('\n');
  const names = header.split(',');
  return rest.map((line) =>
    Object.fromEntries(line.split(',').map((value, n) => [names[n] as string, value])),
  );
}

async function storesOf(db: TestDatabase): Promise<AppContext> {
  const { config, secrets } = loadConfig({
    DATABASE_URL: db.url,
    SECRET_KEY: randomBytes(32).toString('hex'),
    ALLOW_DEMO_ANYWHERE: 'true',
  });
  return openAppContext(config, secrets, 'borrow', () => {});
}

/** The same, except that the process ends at the n-th call. */
function killedAt<Given extends unknown[], Answer>(nth: number, call: (...given: Given) => Answer) {
  let calls = 0;
  return (...given: Given): Answer => {
    calls += 1;
    if (calls === nth) throw new Error('killed');
    return call(...given);
  };
}

describe('demo institution', () => {
  let db: TestDatabase;
  let context: AppContext;
  before(async () => {
    db = await testDatabase();
    context = await storesOf(db);
    assert.equal(await loadDemoWhenEmpty(context), true);
  });
  after(async () => {
    await context.close();
    await db.close();
  });

  const strings = async (text: string) =>
    (await db.superuser<{ value: string }>(text)).map(({ value }) => value);

  test('the demo has at least 30 members, and a smaller institution beside them', async () => {
    const [lakeside, harbor] = await db.superuser<{ members: bigint }>(
      `select count(*) as members from customers join institutions using (institution_id)
       group by code order by code desc`,
    );
    assert.ok((lakeside?.members ?? 0n) >= 30n);
    assert.ok((harbor?.members ?? 99n) < (lakeside?.members ?? 0n));
  });

  test('the demo has every kind of account', async () => {
    const types = await strings('select distinct di_account_type as value from accounts');
    for (const type of [
      'CHECKING',
      'SAVINGS',
      'MONEY_MARKET',
      'CERT_OF_DEPOSIT',
      'RETIREMENT_IRA',
      'MORTGAGE_LOAN',
      'INSTALLMENT_LOAN',
      'CREDIT_CARD_LOAN',
      'LINE_OF_CREDIT_LOAN',
      'BROKERAGE',
    ]) {
      assert.ok(types.includes(type), type);
    }
  });

  const oneAtLeast: Record<string, string> = {
    'a closed account': `select from accounts where closed`,
    'a delinquent one': `select from accounts where delinquent`,
    'one with an overdraft line': `select from accounts where overdraft_limit > 0`,
    'one in euros': `select from accounts where currency = 'EUR' and purpose is null`,
    'one in yen, which have no decimals': `select from accounts where currency = 'JPY' and purpose is null`,
    'a joint holder of some accounts of a membership, but not of others': `
      select from customer_persons cp
      where cp.role = 'JOINT'
        and exists (select from holders h join accounts a using (institution_id, account_key)
                    where h.institution_id = cp.institution_id and h.person_key = cp.person_key
                      and a.customer_key = cp.customer_key)
        and exists (select from accounts a
                    where a.institution_id = cp.institution_id and a.customer_key = cp.customer_key
                      and not exists (select from holders h where h.institution_id = a.institution_id
                                        and h.account_key = a.account_key and h.person_key = cp.person_key))`,
    'a signer who may see and not pay': `
      select from holders where role = 'AUTHORIZED_SIGNER' and not may_pay`,
    'a user with two memberships': `
      select from customer_persons join users using (institution_id, person_key)
      group by institution_id, person_key having count(*) = 2`,
    'a business with an admin and a user': `
      select from customers c
      where c.member_type = 'BUSINESS' and (
        select count(distinct cp.role) from customer_persons cp join users u using (institution_id, person_key)
        where cp.institution_id = c.institution_id and cp.customer_key = c.customer_key
          and cp.role in ('BUSINESS_ADMIN', 'BUSINESS_USER')) = 2`,
    'a locked user': `select from users where locked_by_operator and active`,
    'an inactive user': `select from users where not active`,
    'two users with one e-mail': `
      select from users group by institution_id, lower(email) having count(*) = 2`,
    'a PRIMARY without an e-mail, not yet registered': `
      select from persons p join customer_persons cp using (institution_id, person_key)
      where p.email is null and cp.role = 'PRIMARY'
        and not exists (select from users u where u.institution_id = p.institution_id and u.person_key = p.person_key)`,
    'a joint owner who is not yet registered': `
      select from persons p join customer_persons cp using (institution_id, person_key)
      where p.email is not null and cp.role = 'JOINT'
        and not exists (select from users u where u.institution_id = p.institution_id and u.person_key = p.person_key)`,
    'an institution with open enrollment, which gives 500.00': `
      select from institutions where enrollment = 'open' and opening_deposit_minor = 50000`,
  };
  for (const [what, query] of Object.entries(oneAtLeast)) {
    test(`the demo has each special case: ${what}`, async () => {
      assert.notEqual((await db.superuser(query)).length, 0);
    });
  }

  test('the demo has the same ids, numbers and usernames for other accounts in its second institution', async () => {
    for (const [table, column] of [
      ['customers', 'member_number'],
      ['customers', 'customer_id'],
      ['accounts', 'account_number'],
      ['accounts', 'account_id'],
      ['users', 'username'],
    ]) {
      const shared = await db.superuser(
        `select from ${table} where ${column} not like 'internal:%'
         group by ${column} having count(distinct institution_id) = 2`,
      );
      assert.ok(shared.length >= 2, `${table}.${column}: ${shared.length}`);
    }
  });

  test('the demo has demo.member with everything that the first calls need', async () => {
    const accounts = await db.superuser<Record<string, unknown>>(
      `select a.di_account_type as type, b.posted, cp.role, a.overdraft_limit as overdraft, h.may_pay,
              count(*) over (partition by u.email) as shown, (
                select count(*) from users o where o.institution_id = u.institution_id
                  and lower(o.email) = lower(u.email)) as "users with the e-mail", (
                select count(*) from customer_persons all_of where all_of.institution_id = u.institution_id
                  and all_of.person_key = u.person_key) as memberships
       from users u join institutions i using (institution_id)
         join holders h using (institution_id, person_key) join accounts a using (institution_id, account_key)
         join balances b using (institution_id, account_key)
         join customer_persons cp using (institution_id, person_key, customer_key)
       where i.code = 'lakeside' and u.username = 'demo.member'`,
    );
    const of = (type: string) => accounts.filter((account) => account.type === type);
    assert.ok(BigInt(of('CHECKING')[0]?.posted as bigint) >= 2_500_000n);
    assert.ok(BigInt(of('SAVINGS')[0]?.posted as bigint) >= 500_000n);
    assert.equal(of('RETIREMENT_IRA').length, 1);
    assert.equal(of('INSTALLMENT_LOAN').length, 1);
    for (const account of accounts) {
      assert.equal(account.role, 'PRIMARY');
      assert.equal(account.memberships, 1n);
      assert.equal(account['users with the e-mail'], 1n);
      assert.equal(account.overdraft, 0n);
      assert.equal(account.may_pay, true);
    }
  });

  test('the demo has demo-app with every scope and grant, and a client of each lesser kind', async () => {
    const clients = await db.superuser(
      `select code, client_id, cardinality(scopes) as scopes, grants from clients
         join institutions using (institution_id) order by client_id`,
    );
    const both = ['client_credentials', 'password'];
    assert.deepEqual(clients, [
      { code: 'lakeside', client_id: 'demo-app', scopes: 12, grants: [...both, 'refresh_token'] },
      { code: 'lakeside', client_id: 'demo-backend', scopes: 5, grants: ['client_credentials'] },
      {
        code: 'lakeside',
        client_id: 'demo-budget',
        scopes: 6,
        grants: ['authorization_code', 'refresh_token'],
      },
      { code: 'lakeside', client_id: 'demo-reader', scopes: 3, grants: both },
      { code: 'lakeside', client_id: 'demo-web', scopes: 10, grants: ['authorization_code'] },
      { code: 'harbor', client_id: 'harbor-app', scopes: 9, grants: both },
    ]);
  });

  test('the demo lists every login and every client in its table, as in the files', () => {
    const table = example('README.md');
    for (const { username = '', password, institution } of [
      ...lines('logins.csv'),
      ...lines('meadow/logins.csv'),
    ]) {
      assert.ok(table.includes(`| \`${username}\` | \`${password}\` | ${institution} |`), username);
    }
    for (const { client_id = '', client_secret, institution } of [
      ...lines('clients.csv'),
      ...lines('meadow/clients.csv'),
    ]) {
      assert.ok(table.includes(`| \`${client_id}\` | \`${client_secret}\` | ${institution} |`), client_id);
    }
  });

  test('the demo has passwords that a member could have chosen', () => {
    const logins = [...lines('logins.csv'), ...lines('meadow/logins.csv')];
    const passwords = logins.map(({ password = '' }) => password);
    assert.equal(new Set(passwords).size, passwords.length);
    for (const { username = '', password = '' } of logins) {
      assert.ok(password.length >= 15 && !password.includes(username), username);
    }
  });

  test('loads the demo once', async () => {
    const standing = await dumpTables(db);
    assert.equal(await loadDemoWhenEmpty(context), false);
    assert.deepEqual(await dumpTables(db), standing);
  });
});

test('the next start completes a demo whose load was killed', async () => {
  await using db = await testDatabase();
  const context = await storesOf(db);
  const logins = lines('logins.csv').length;
  const { auth, clock } = context;
  const noLogin = { hash: killedAt(logins, (text: string) => auth.passwords.hash(text)) } as PasswordHasher;
  const noClient = {
    hash: killedAt(3, (purpose: string, text: string) => auth.vault.hash(purpose, text)),
  } as Vault;
  const killed: AppContext[] = [
    // An import reads the clock as it begins, for each range of memberships, and at its end.
    { ...context, clock: killedAt(5, clock) },
    { ...context, auth: { ...auth, passwords: noLogin } },
    { ...context, auth: { ...auth, vault: noClient } },
  ];
  const standing: (readonly string[] | undefined)[] = [];
  for (const attempt of killed) {
    await assert.rejects(loadDemoWhenEmpty(attempt), /killed/);
    const [counts] = await db.superuser<{ counts: string[] }>(
      `select array[(select count(*) from accounts where purpose is null), (select count(*) from users),
                    (select count(*) from clients)]::text[] as counts`,
    );
    standing.push(counts?.counts);
  }
  const ofLakeside = lines('lakeside/accounts.csv').length;
  const accounts = ofLakeside + lines('harbor/accounts.csv').length;
  assert.deepEqual(
    standing[0],
    [`${ofLakeside}`, '0', '0'],
    'the first attempt got to the second institution',
  );
  assert.equal(standing[1]?.[2], '0', 'the second attempt got to the logins');
  assert.deepEqual(standing[2], [`${accounts}`, `${logins}`, '2'], 'the third attempt got to the clients');

  assert.equal(await loadDemoWhenEmpty(context), true);
  const [done] = await db.superuser(
    `select (select count(*) from users) as users, (select count(*) from clients) as clients,
            (select count(*) from entries where kind = 'OPENING') as openings`,
  );
  // Two entries per opening; one account of lakeside is closed and has none.
  assert.deepEqual(done, { users: BigInt(logins), clients: 6n, openings: 2n * BigInt(accounts - 1) });
  assert.equal(await loadDemoWhenEmpty(context), false);
  await context.close();
});

test('loads no demo into a database with an institution of its own', async () => {
  await using db = await testDatabase();
  const context = await storesOf(db);
  await db.superuser(
    `insert into institutions (code, name, currency, time_zone, enrollment, created_at)
     values ('fictional', 'Fictional Credit Union', 'USD', 'UTC', 'closed', now())`,
  );
  assert.equal(await loadDemoWhenEmpty(context), false);
  assert.equal((await db.superuser('select from institutions')).length, 1);
  await context.close();
});
