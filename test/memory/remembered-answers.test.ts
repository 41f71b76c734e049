import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { beginEpoch } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { commandOf } from '../support/operator.ts';
import { asSuperuser } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

let one: TestService;
let two: TestService;
before(async () => {
  one = await startTestService();
  two = await startTestService({ beside: one });
});
after(async () => {
  await two.close();
  await one.close();
});

const institution = `(select institution_id from institutions where code = 'lakeside')`;
const accountKey = (id: string) =>
  `(select account_key from accounts where institution_id = ${institution} and account_id = '${id}')`;
const personKey = (id: string) =>
  `(select person_key from persons where institution_id = ${institution} and person_id = '${id}')`;
const userKey = `(select user_key from users where institution_id = ${institution} and user_id = 'u-demo-member')`;
const customerKey = (id: string) =>
  `(select customer_key from customers where institution_id = ${institution} and customer_id = '${id}')`;
const ofUser = `institution_id = ${institution} and user_key = ${userKey}`;

const checking = `${paths.accounts}/a-1001-checking`;
const profile = `${paths.customer('c-1001')}/contact-methods`;

/** A statement on a table, and a request whose answer it changes. `undo` restores the answer. */
interface Change {
  readonly on: string;
  readonly path: string;
  readonly as?: 'client';
  /** Runs before the answer is remembered; `change` undoes it. */
  readonly setup?: string;
  readonly change: string;
  readonly undo: string;
}

const addAccount = `
  with a as (
    insert into accounts (institution_id, account_id, customer_key, account_number, di_account_type, category,
                          description, currency)
    values (${institution}, 'a-new', ${customerKey('c-1001')}, '1', 'SAVINGS', 'DEPOSIT', 'New', 'USD')
    returning account_key)
  insert into balances (institution_id, account_key, account_id, currency, posted, debits_pending, credits_pending,
                        seq, last_at)
  select ${institution}, account_key, 'a-new', 'USD', 0, 0, 0, 0, now() from a`;
const removeAccount = `
  with b as (delete from balances where institution_id = ${institution} and account_id = 'a-new')
  delete from accounts where institution_id = ${institution} and account_id = 'a-new'`;
const addHolder = `
  insert into holders (institution_id, account_key, person_key, role, may_pay)
  values (${institution}, ${accountKey('a-1002-savings')}, ${personKey('p-1001')}, 'JOINT', true)`;
const removeHolder = `
  delete from holders where institution_id = ${institution}
    and account_key = ${accountKey('a-1002-savings')} and person_key = ${personKey('p-1001')}`;
const addMembership = `
  insert into customer_persons (institution_id, customer_key, person_key, role)
  values (${institution}, ${customerKey('c-1003')}, ${personKey('p-1001')}, 'JOINT')`;
const removeMembership = `
  delete from customer_persons where institution_id = ${institution}
    and customer_key = ${customerKey('c-1003')} and person_key = ${personKey('p-1001')}`;
const addPhone = `insert into user_phones values (${institution}, ${userKey}, 'WORK', '+12025550199')`;
const removePhone = `delete from user_phones where ${ofUser} and phone_type = 'WORK'`;

/** An update, and the one that takes it back. */
function update(on: string, path: string, write: (changed: boolean) => string): Change {
  return {
    on: `${on} updated`,
    path,
    change: `update ${on} ${write(true)}`,
    undo: `update ${on} ${write(false)}`,
  };
}

/** An insert, and the delete of the same row. */
function addAndRemove(on: string, path: string, [add, remove]: readonly [string, string]): Change[] {
  return [
    { on: `${on} inserted`, path, change: add, undo: remove },
    { on: `${on} deleted`, path, setup: add, change: remove, undo: add },
  ];
}

const heardLongAgo = (act: string) =>
  `insert into core_connections values (${institution}, '2026-01-02T03:04:05Z', 'remembered') ${act}`;
const recordOf = (record: string) => `update institutions set record = '${record}' where code = 'lakeside'`;

const changes: readonly Change[] = [
  // Balances of a core that is away show its last sign of life.
  {
    on: 'core_connections inserted',
    path: checking,
    setup: recordOf('core'),
    change: heardLongAgo(''),
    undo: `delete from core_connections where heard_client = 'remembered'`,
  },
  {
    on: 'core_connections updated',
    path: checking,
    change: `update core_connections set heard_at = now() where heard_client = 'remembered'`,
    undo: heardLongAgo('on conflict (institution_id) do update set heard_at = excluded.heard_at'),
  },
  {
    on: 'institutions updated',
    path: checking,
    // Remembered while the core keeps the books.
    setup: recordOf('core'),
    change: recordOf('ledger'),
    undo: recordOf('core'),
  },
  update(
    'accounts',
    checking,
    (changed) => `set description = '${changed ? 'Renamed' : 'Share Draft'}'
    where institution_id = ${institution} and account_id = 'a-1001-checking'`,
  ),
  {
    on: 'accounts inserted',
    path: `${paths.accounts}?customerId=c-1001`,
    as: 'client',
    change: addAccount,
    undo: removeAccount,
  },
  update(
    'loans',
    `${paths.accounts}/a-1001-carloan`,
    (changed) => `set fees_due = fees_due ${changed ? '+' : '-'} 100
    where institution_id = ${institution} and account_key = ${accountKey('a-1001-carloan')}`,
  ),
  ...addAndRemove('holders', paths.accounts, [addHolder, removeHolder]),
  update(
    'holders',
    `${checking}/transactions`,
    (changed) => `set role = '${changed ? 'JOINT' : 'PRIMARY'}'
    where institution_id = ${institution} and account_key = ${accountKey('a-1002-checking')}
      and person_key = ${personKey('p-1002')}`,
  ),
  update(
    'persons',
    profile,
    (changed) => `set first_name = '${changed ? 'Renamed' : 'Willow'}'
    where institution_id = ${institution} and person_id = 'p-1001'`,
  ),
  update(
    'persons',
    `${checking}/transactions`,
    (changed) => `set first_name = '${changed ? 'Renamed' : 'Pebble'}'
    where institution_id = ${institution} and person_id = 'p-1002'`,
  ),
  update(
    'customers',
    profile,
    (changed) => `set member_number = '${changed ? 199_999 : 100_001}'
    where institution_id = ${institution} and customer_id = 'c-1001'`,
  ),
  ...addAndRemove('customer_persons', profile, [addMembership, removeMembership]),
  update(
    'customer_persons',
    profile,
    (changed) => `set role = '${changed ? 'JOINT' : 'PRIMARY'}'
    where institution_id = ${institution} and customer_key = ${customerKey('c-1001')}`,
  ),
  update(
    'users',
    profile,
    (changed) => `set email = '${changed ? 'other@example.test' : 'willow.testerman@example.test'}'
    where ${ofUser}`,
  ),
  update(
    'users',
    profile,
    (changed) => `set locked_until = ${changed ? `now() + interval '1 hour'` : 'null'} where ${ofUser}`,
  ),
  ...addAndRemove('user_phones', profile, [addPhone, removePhone]),
  update(
    'user_phones',
    profile,
    (changed) => `set phone_number = '+120255501${changed ? '99' : '43'}' where ${ofUser}`,
  ),
  {
    on: 'revocations inserted',
    path: checking,
    change: `insert into revocations values (${institution}, '{jti}', now() + interval '1 hour')`,
    undo: `delete from revocations where revoked_id = '{jti}'`,
  },
  {
    on: 'core_transactions inserted',
    path: `${checking}/transactions`,
    change: `insert into core_transactions
      select institution_id, 'remembered-echo', account_key, seq, posting_key, null, amount, 'TRANSFER', recorded_at, recorded_at::date,
             'In the words of the core', null, null, null, null, null, false, recorded_at
      from entries where institution_id = ${institution} and account_key = ${accountKey('a-1001-checking')} and kind = 'TRANSFER'
      order by seq desc limit 1`,
    undo: `delete from core_transactions where core_id = 'remembered-echo'`,
  },
  {
    on: 'core_authorizations updated',
    path: `${checking}/transactions`,
    // Without its entries, which would change the answer by themselves.
    setup: `begin; set local session_replication_role = replica;
      insert into core_authorizations values (${institution}, 'remembered-hold', ${accountKey('a-1001-checking')}, 1, 1, 100, null,
        null, null, null, now(), null, null, now());
      commit`,
    change: `update core_authorizations set description = 'Announced late' where authorization_id = 'remembered-hold'`,
    undo: `update core_authorizations set description = null where authorization_id = 'remembered-hold'`,
  },
  update('clients', checking, (changed) => `set active = ${!changed} where client_id = 'demo-app'`),
  update('users', checking, (changed) => `set active = ${!changed} where ${ofUser}`),
];

/** Triggers on changes that end no remembered answer, each with the reason. */
const beyondAnswers: Readonly<Record<string, string>> = {
  'accounts deleted': 'an account is never deleted',
  'clients inserted': 'a token names a client that exists',
  'clients deleted': 'a client is never deleted',
  'consents inserted': 'a token names a consent that exists',
  'consents updated':
    'test/auth/consent-accounts.test.ts ends the answers of a consent that becomes narrower',
  'consents deleted': 'a consent is never deleted',
  'core_authorizations deleted': 'an authorization is never deleted',
  'core_authorizations inserted': 'raises the number of its account, or holds nothing',
  'core_connections deleted': 'a sign of life is never deleted',
  'core_transactions deleted': 'a transaction of the core is never deleted',
  'core_transactions updated': 'a transaction of the core never changes',
  'customers inserted': 'an answer names a membership that exists',
  'customers deleted': 'a membership is never deleted',
  'event_epochs inserted': 'ends every answer of the institution, below',
  'event_epochs updated': 'an epoch never changes',
  'event_epochs deleted': 'an epoch is never deleted',
  'identity_providers inserted': 'a token names a provider that exists',
  'identity_providers updated': 'test/auth/providers.test.ts ends the tokens of a changed provider',
  'identity_providers deleted': 'test/auth/providers.test.ts ends the tokens of a removed provider',
  'institutions inserted': 'an answer names an institution that exists',
  'institutions deleted': 'an institution is never deleted',
  'institutions hosts_inserted':
    'test/auth/institution-hosts.test.ts asks another process for a new host name',
  'institutions hosts_updated': 'so does the test of a changed one',
  'institutions hosts_deleted': 'an institution is never deleted',
  'loans inserted': 'comes with its account',
  'loans deleted': 'a loan is never deleted',
  'persons inserted': 'an answer names a person that exists',
  'persons deleted': 'a person is never deleted',
  'revocations deleted': 'is deleted after its token has expired',
  'revocations updated': 'a revocation never changes',
  'users inserted': 'an answer names a user that exists',
  'users deleted': 'a user is never deleted',
};

describe('a change of what an answer stands on', () => {
  let client: DemoCaller;
  before(async () => {
    const member = await memberOf(one, 'demo.member', 'demo-member-password');
    client = await clientOf(one, ['demo-backend', 'demo-backend-secret']);
    const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1002-checking', amount: 1.5 };
    assert.equal((await member.post(paths.transfers, { id: 'remembered', ...order })).status, 201);
  });

  const asks = (at: TestService, { token }: DemoCaller, path: string) =>
    send(at.address, 'GET', path, { headers: { authorization: `Bearer ${token}` } });

  /** The answer as remembered by both processes. */
  async function remembered(caller: DemoCaller, path: string) {
    let replies: Awaited<ReturnType<typeof send>>[] = [];
    for (let reads = 0; reads < 5; reads += 1) {
      replies = await Promise.all([one, two].map((at) => asks(at, caller, path)));
    }
    const [first = '', second = ''] = replies.map(({ status, text }) => `${status} ${text}`);
    assert.equal(first, second);
    assert.match(first, /^200 /);
    return first;
  }

  for (const { on, path, as, setup, change, undo } of changes) {
    const [table = '', event = ''] = on.split(' ');
    test(`is seen by the next read in every process, and not without its trigger: ${on}, GET ${path.split('v1/')[1]}`, async () => {
      const { db } = one;
      const caller = async () =>
        as === 'client' ? client : memberOf(one, 'demo.member', 'demo-member-password');
      let asking = await caller();
      const run = (statement: string) => db.superuser(statement.replace('{jti}', jtiOf(asking.token)));
      const read = () =>
        Promise.all(
          [one, two].map((at) => asks(at, asking, path).then(({ status, text }) => `${status} ${text}`)),
        );

      if (setup !== undefined) await run(setup);
      const before = await remembered(asking, path);
      await db.superuser(`alter table ${table} disable trigger note_${event}`);
      await run(change);
      await db.superuser(`alter table ${table} enable trigger note_${event}`);
      assert.deepEqual(
        await read(),
        [before, before],
        'a process that hears of no change goes on with its answer',
      );

      await run(undo);
      // A user or a client that was switched off has lost its tokens.
      asking = await caller();
      assert.equal(await remembered(asking, path), before);
      await run(change);
      for (const reply of await read()) assert.notEqual(reply, before);
      if (setup === undefined) await run(undo);
    });
  }

  test('every trigger that notes changes has a change above, or a reason to have none', async () => {
    const triggers = await one.db.superuser<{ name: string }>(
      `select t.tgrelid::regclass || ' ' || substr(t.tgname, 6) as name from pg_trigger t
       where t.tgname like 'note\\_%' and t.tgname <> 'note_truncated' order by 1`,
    );
    const covered = new Set([...changes.map(({ on }) => on), ...Object.keys(beyondAnswers)]);
    assert.deepEqual(
      triggers.map(({ name }) => name),
      [...covered].toSorted(),
    );
  });
});

describe('a remembered answer', () => {
  test('has an ETag, and gets 304 without a body for as long as it holds', async () => {
    const member = await memberOf(one, 'demo.member', 'demo-member-password');
    const get = (etag?: string, method = 'GET', at = one) =>
      send(at.address, method, checking, {
        headers: {
          authorization: `Bearer ${member.token}`,
          ...(etag !== undefined && { 'if-none-match': etag }),
        },
      });
    const etag = (await get()).headers.get('etag') ?? '';
    assert.match(etag, /^"[\w-]{22}"$/);
    for (let reads = 0; reads < 4; reads += 1) {
      for (const wanted of [etag, `W/${etag}`, '*', `"other", ${etag}`]) {
        for (const at of [one, two]) {
          const reply = await get(wanted, 'GET', at);
          assert.deepEqual([reply.status, reply.text, reply.headers.get('etag')], [304, '', etag]);
          assert.equal(reply.headers.get('cache-control'), 'no-store');
        }
      }
      const other = await get('"other"');
      assert.deepEqual([other.status, other.headers.get('etag')], [200, etag]);
      assert.deepEqual([(await get(undefined, 'HEAD')).status, (await get(etag, 'HEAD')).status], [200, 304]);
    }
    const order = { id: 'etag', fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
    assert.equal((await member.post(paths.transfers, order)).status, 201);
    const moved = await get(etag, 'GET', two);
    assert.equal(moved.status, 200);
    assert.notEqual(moved.headers.get('etag'), etag);
    assert.equal(moved.body.balance.currentBalance.amount, (await get()).body.balance.currentBalance.amount);
  });

  test('is for its caller alone, also if another institution has an account with the same id', async () => {
    const member = await memberOf(one, 'demo.member', 'demo-member-password');
    const stranger = await memberOf(one, 'pebble.primary', 'pebble-blue-lantern-1');
    const client = await clientOf(one, ['demo-backend', 'demo-backend-secret']);
    const harbor = await clientOf(one, ['harbor-app', 'harbor-app-secret']);
    for (let reads = 0; reads < 4; reads += 1) {
      const replies = await Promise.all(
        [member, stranger, client, harbor].map((caller) => caller.get(checking)),
      );
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 404, 200, 200],
      );
      assert.notEqual(replies[2]?.text, replies[3]?.text);
      const lists = await Promise.all([member, stranger].map((caller) => caller.get(paths.accounts)));
      assert.notEqual(lists[0]?.text, lists[1]?.text);
    }
  });

  test('needs the scope at each request', async () => {
    const body = {
      grant_type: 'client_credentials',
      client_id: 'demo-app',
      client_secret: 'demo-app-secret',
    };
    const tokenWith = async (scope: string) =>
      (await send(one.address, 'POST', paths.token, { body: { ...body, scope } })).body.access_token;
    const [may, mayNot] = [await tokenWith('account:read'), await tokenWith('transfer:read')];
    const get = (token: string) =>
      send(one.address, 'GET', checking, { headers: { authorization: `Bearer ${token}` } });
    for (let reads = 0; reads < 4; reads += 1) {
      assert.deepEqual([(await get(may)).status, (await get(mayNot)).status], [200, 403]);
    }
  });

  test('is read anew after an epoch began, as the command restored does, and not without its trigger', async () => {
    const member = await memberOf(one, 'demo.member', 'demo-member-password');
    const description = async (at: TestService) =>
      (
        await send(at.address, 'GET', `${paths.accounts}/a-1001-savings`, {
          headers: { authorization: `Bearer ${member.token}` },
        })
      ).body.accountType.description;
    const both = () => Promise.all([one, two].map(description));
    for (let reads = 0; reads < 4; reads += 1) await both();
    const before = await both();
    // Put back without triggers, as by a restore of the data.
    await one.db.superuser('alter table accounts disable trigger note_updated');
    await one.db.superuser(
      `update accounts set description = 'Put back' where account_id = 'a-1001-savings' and institution_id = ${institution}`,
    );
    await one.db.superuser('alter table accounts enable trigger note_updated');
    const { database, clock } = one.service.context;
    const [row] = await one.db.superuser<{ id: InstitutionId }>(`select ${institution} as id`);
    const begin = () => beginEpoch(database, row?.id ?? assert.fail(), clock, commandOf('ann'));
    await one.db.superuser('alter table event_epochs disable trigger note_inserted');
    await begin();
    await one.db.superuser('alter table event_epochs enable trigger note_inserted');
    assert.deepEqual(await both(), before);
    await begin();
    assert.deepEqual(await both(), ['Put back', 'Put back']);
  });

  test('is not sent while the database is away, and is read anew after the database was restarted', async () => {
    const member = await memberOf(one, 'demo.member', 'demo-member-password');
    for (let reads = 0; reads < 4; reads += 1) assert.equal((await member.get(checking)).status, 200);
    const { database } = one.db.connection;
    await asSuperuser({ ...one.db.owner, database: 'postgres' }, async (admin) => {
      const shut = (allow: boolean) => admin.query(`alter database ${database} allow_connections ${allow}`);
      const end = () =>
        admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [database]);
      await shut(false);
      await end();
      assert.equal((await member.get(checking)).status, 503);
      assert.equal((await member.get(checking)).status, 503);
      await shut(true);
    });
    // Triggers off, as by a restore: only the lost connection tells.
    const write = `update accounts set description = 'Restored' where account_id = 'a-1001-checking'`;
    await one.db.superuser('alter table accounts disable trigger note_updated');
    await one.db.superuser(write);
    await one.db.superuser('alter table accounts enable trigger note_updated');
    assert.equal((await member.get(checking)).body.accountType.description, 'Restored');
  });
});

function jtiOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).jti;
}
