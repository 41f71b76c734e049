import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { findMembership, importExtract, MembershipExists, openMembership } from '../../src/core/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { extractFolder, soundExtract } from '../support/extract.ts';
import { balancesOf, dumpTables, ledgerSums } from '../support/tables.ts';

const at = new Date('2026-03-02T12:00:00Z');
let db: TestDatabase;
let keys: PostingKeys;
let fictional: Institution;

before(async () => {
  db = await testDatabase();
  keys = new PostingKeys(db.database);
  await using folder = await extractFolder(soundExtract());
  await importExtract({ database: db.database, clock: () => at, postingKeys: keys }, folder.folder);
  fictional = (await db.database.directory((directory) =>
    findInstitutionByCode(directory, 'fictional'),
  )) as Institution;
});
after(() => db.close());

async function open(memberNumber: string, institution = fictional, names = {}) {
  const key = await keys.next();
  return db.database.transaction(institution.institutionId, (tx) =>
    openMembership(tx, institution, { memberNumber, email: ' new@example.test ', ...names }, key, at),
  );
}

async function accountsOf(memberNumber: string) {
  return db.superuser<{ account_id: string }>(
    `select account_id, a.account_number, a.di_account_type, a.description, a.currency, b.posted, h.role, h.may_pay
     from customers c join accounts a using (institution_id, customer_key)
       join balances b using (institution_id, account_key, account_id)
       join holders h using (institution_id, account_key) join persons p using (institution_id, person_key)
     where c.member_number = $1 and p.email = 'new@example.test' order by a.account_number`,
    [memberNumber],
  );
}

test('a newcomer has a membership of their own, savings, and checking with the opening deposit', async () => {
  const person = await open('2001', fictional, { firstName: ' Nova ', lastName: 'Newby' });
  assert.deepEqual(
    { ...person, personKey: typeof person.personKey },
    {
      personKey: 'bigint',
      role: 'PRIMARY',
      firstName: 'Nova',
      lastName: 'Newby',
      email: 'new@example.test',
      phoneNumber: null,
      phoneType: null,
      registered: false,
    },
  );
  const accounts = await accountsOf('2001');
  const holder = { currency: 'USD', role: 'PRIMARY', may_pay: true };
  assert.deepEqual(
    accounts.map(({ account_id, ...account }) => account),
    [
      {
        account_number: '2001-00',
        di_account_type: 'SAVINGS',
        description: 'Share Savings',
        posted: 0n,
        ...holder,
      },
      {
        account_number: '2001-10',
        di_account_type: 'CHECKING',
        description: 'Share Draft',
        posted: 25_000n,
        ...holder,
      },
    ],
  );
  const balances = await balancesOf(db, 'fictional');
  assert.equal(balances[accounts[1]?.account_id as string]?.kinds, 'OPENING');
  assert.deepEqual(new Set(await ledgerSums(db)), new Set(['0']));

  const membership = await db.database.read(fictional.institutionId, (tenant) =>
    findMembership(tenant, fictional.institutionId, '2001'),
  );
  assert.deepEqual(membership, { persons: [person] });
});

test('refuses a newcomer whose name holds a bidirectional or invisible character', async () => {
  const before = await dumpTables(db);
  await assert.rejects(open('2002', fictional, { firstName: 'No\u200Bva', lastName: '\u202Eybwen' }), {
    code: 'invalid_request',
    errors: ['/firstName', '/lastName'].map((pointer) => ({
      pointer,
      detail: 'Must not hold control, bidirectional or invisible characters.',
    })),
  });
  assert.deepEqual(await dumpTables(db), before);
});

test('the deposit is out of the funding account, not out of nothing', async () => {
  const before = (await balancesOf(db, 'fictional'))['internal:funding:USD']?.posted as bigint;
  await open('2002');
  assert.equal((await balancesOf(db, 'fictional'))['internal:funding:USD']?.posted, before - 25_000n);
});

test('an institution that gives nothing opens the accounts at zero, without an entry', async () => {
  await open('2003', { ...fictional, openingDepositMinor: 0n });
  const accounts = await accountsOf('2003');
  const balances = await balancesOf(db, 'fictional');
  assert.deepEqual(
    accounts.map(({ account_id }) => balances[account_id]).map((held) => [held?.posted, held?.kinds]),
    [
      [0n, ''],
      [0n, ''],
    ],
  );
});

test('a number of 32 characters has account numbers of its own', async () => {
  const long = 'x'.repeat(31);
  await open(`a${long}`);
  await open(`b${long}`);
  const numbers = (await Promise.all([accountsOf(`a${long}`), accountsOf(`b${long}`)])).flat();
  assert.equal(
    new Set(numbers.map((account) => 'account_number' in account && account.account_number)).size,
    4,
  );
});

test('a number that is known is not opened again', async () => {
  const before = await dumpTables(db);
  await assert.rejects(open('1001'), MembershipExists);
  assert.deepEqual(await dumpTables(db), before);
});

test('of ten enrollments of one number at once, one opens it', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => open('2004')));
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(lost.length, 9);
  for (const { reason } of lost) assert.ok(reason instanceof MembershipExists, String(reason));
  assert.equal((await accountsOf('2004')).length, 2);
  assert.deepEqual(new Set(await ledgerSums(db)), new Set(['0']));
});

test('a membership of several persons tells who of them is registered', async () => {
  await db.superuser(
    `insert into users (institution_id, user_id, person_key, email, created_at)
     select institution_id, 'u-2', person_key, 'bob@example.test', $1 from persons where person_id = 'p-2'`,
    [at],
  );
  const membership = await db.database.read(fictional.institutionId, (tenant) =>
    findMembership(tenant, fictional.institutionId, '1001'),
  );
  assert.deepEqual(
    membership?.persons.map(({ role, firstName, email, phoneNumber, registered }) => [
      role,
      firstName,
      email,
      phoneNumber,
      registered,
    ]),
    [
      ['PRIMARY', 'Ada', 'ada@example.test', '+12025550143', false],
      ['JOINT', 'Bob', null, null, true],
    ],
  );
});

test('an unknown number has no membership', async () => {
  const membership = await db.database.read(fictional.institutionId, (tenant) =>
    findMembership(tenant, fictional.institutionId, '9999'),
  );
  assert.equal(membership, undefined);
});
