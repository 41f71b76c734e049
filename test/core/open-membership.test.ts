import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  importExtract,
  MembershipExistsError,
  openMembership,
  payDueOpening,
} from '../../src/core-system/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { isRegistered } from '../../src/members/queries.ts';
import { findMembership } from '../../src/memberships/index.ts';
import { aFundingAccount, aMember, anAccount, anInstitution } from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { extractFolder, validExtract } from '../support/extract.ts';
import { balancesOf, dumpTables, ledgerSums } from '../support/tables.ts';

const at = new Date('2026-03-02T12:00:00Z');
let db: TestDatabase;
let keys: PostingKeys;
let fictional: Institution;

before(async () => {
  db = await testDatabase();
  keys = new PostingKeys(db.database);
  await using folder = await extractFolder(validExtract());
  await importExtract({ database: db.database, clock: () => at }, folder.folder);
  const real = (await db.database.directory((directory) =>
    findInstitutionByCode(directory, 'fictional'),
  )) as Institution;
  // A demo pays the deposit at once.
  fictional = { ...real, demo: true };
});
after(() => db.close());

async function open(memberNumber: string, institution = fictional, names = {}, now = at) {
  const key = await keys.next();
  return db.database.transaction(institution.institutionId, (tx) =>
    openMembership(tx, institution, {
      member: { memberNumber, email: ' new@example.test ', ...names },
      postingKey: key,
      at: now,
    }),
  );
}

async function payDue(institution: Institution, personKey: bigint, now = at): Promise<void> {
  const key = await keys.next();
  await db.database.transaction(institution.institutionId, (tx) =>
    payDueOpening(tx, personKey, { postingKey: key, at: now }),
  );
}

/** An institution of its own with open enrollment, so that its daily counts are its own. */
async function anOpenInstitution(
  policies: Institution['policies'] | object,
  demo = false,
): Promise<Institution> {
  const settings = { enrollment: 'open', openingDepositMinor: 10_000n, demo, policies } as const;
  const institution = await anInstitution(db.database, settings);
  await aFundingAccount(db.database, institution);
  return institution;
}

async function heldBy(institution: Institution): Promise<bigint> {
  const [row] = await db.superuser<{ sum: bigint }>(
    `select coalesce(sum(b.posted), 0)::bigint as sum from balances b join accounts a using (institution_id, account_key)
     where b.institution_id = $1 and a.category = 'DEPOSIT'`,
    [institution.institutionId],
  );
  return row?.sum ?? 0n;
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

test('gives a newcomer a membership, savings, and checking with the opening deposit', async () => {
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
      birthDate: null,
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
    findMembership(tenant, '2001'),
  );
  assert.deepEqual(membership, { persons: [person] });
});

test('refuses a newcomer whose name contains a bidirectional or invisible character', async () => {
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

test('pays the opening deposit from the funding account', async () => {
  const before = (await balancesOf(db, 'fictional'))['internal:funding:USD']?.posted as bigint;
  await open('2002');
  assert.equal((await balancesOf(db, 'fictional'))['internal:funding:USD']?.posted, before - 25_000n);
});

test('opens accounts at zero without an entry if the institution gives no deposit', async () => {
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

test('gives a member number of 32 characters its own account numbers', async () => {
  const long = 'x'.repeat(31);
  await open(`a${long}`);
  await open(`b${long}`);
  const numbers = (await Promise.all([accountsOf(`a${long}`), accountsOf(`b${long}`)])).flat();
  assert.equal(
    new Set(numbers.map((account) => 'account_number' in account && account.account_number)).size,
    4,
  );
});

test('does not open a known member number again', async () => {
  const before = await dumpTables(db);
  await assert.rejects(open('1001'), MembershipExistsError);
  assert.deepEqual(await dumpTables(db), before);
});

test('opens a member number once of ten simultaneous enrollments', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => open('2004')));
  const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
  assert.equal(lost.length, 9);
  for (const { reason } of lost) assert.ok(reason instanceof MembershipExistsError, String(reason));
  assert.equal((await accountsOf('2004')).length, 2);
  assert.deepEqual(new Set(await ledgerSums(db)), new Set(['0']));
});

test('an institution that is not a demo pays the opening deposit when it is due, once', async () => {
  const real = await anOpenInstitution({});
  const { personKey } = await open('3001', real);
  assert.equal(await heldBy(real), 0n);
  await Promise.all(Array.from({ length: 5 }, () => payDue(real, personKey)));
  assert.equal(await heldBy(real), 10_000n);
  await payDue(real, personKey);
  assert.equal(await heldBy(real), 10_000n);
  await assert.rejects(
    db.superuser('update openings set deposited_on = $2 where person_key = $1', [personKey, '2026-03-03']),
    { code: 'SD043' },
  );
});

test('opens as many memberships as the daily cap of many simultaneous ones, and more on the next day', async () => {
  const real = await anOpenInstitution({ openingsPerDay: 2 });
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, i) => open(`31${i}`, real)));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  assert.equal(refused.length, 6);
  // 07:00 in New York: 17 hours to go.
  assert.deepEqual(
    refused.map(({ code, retryAfterSeconds }) => [code, retryAfterSeconds]),
    Array(6).fill(['too_many_requests', 17 * 3_600]),
  );
  await assert.rejects(open('3190', real), { code: 'too_many_requests' });
  await open('3191', real, {}, new Date(at.getTime() + 17 * 3_600_000));
});

test('the funding account pays no more opening deposits per day than the institution allows', async () => {
  const demo = await anOpenInstitution({ openingDepositsPerDayMinor: 25_000n }, true);
  await open('3201', demo);
  await open('3202', demo);
  await assert.rejects(open('3203', demo), { code: 'too_many_requests' });
  assert.equal(await heldBy(demo), 20_000n);
  const real = await anOpenInstitution({ openingDepositsPerDayMinor: 10_000n });
  const [first, second] = [await open('3204', real), await open('3205', real)];
  await payDue(real, first.personKey);
  await assert.rejects(payDue(real, second.personKey), { code: 'too_many_requests' });
  assert.equal(await heldBy(real), 10_000n);
  await payDue(real, second.personKey, new Date(at.getTime() + 24 * 3_600_000));
  assert.equal(await heldBy(real), 20_000n);
});

test('the database refuses an opening beyond the daily cap', async () => {
  const real = await anOpenInstitution({ openingsPerDay: 1 });
  await open('3301', real);
  const { personKey, customerKey, accountId } = await anUncountedMember(real);
  const another = db.superuser(
    `insert into openings (institution_id, customer_key, person_key, account_id, opened_on, deposit)
     values ($1, $2, $3, $4, '2026-03-02', 0)`,
    [real.institutionId, customerKey, personKey, accountId],
  );
  await assert.rejects(another, { code: 'SD042' });
});

async function anUncountedMember(institution: Institution) {
  const member = await aMember(db.database, institution);
  const { accountId } = await anAccount(db.database, member);
  return { personKey: member.person.personKey, customerKey: member.customerKey, accountId };
}

test('names the registered person of a membership with several persons', async () => {
  await db.superuser(
    `insert into users (institution_id, user_id, person_key, email, created_at)
     select institution_id, 'u-2', person_key, 'bob@example.test', $1 from persons where person_id = 'p-2'`,
    [at],
  );
  const found = await db.database.read(fictional.institutionId, async (tenant) => {
    const membership = await findMembership(tenant, '1001');
    return Promise.all(
      (membership?.persons ?? []).map(async ({ personKey, role, firstName, email, phoneNumber }) => [
        role,
        firstName,
        email,
        phoneNumber,
        await isRegistered(tenant, personKey),
      ]),
    );
  });
  assert.deepEqual(found, [
    ['PRIMARY', 'Ada', 'ada@example.test', '+12025550143', false],
    ['JOINT', 'Bob', null, null, true],
  ]);
});

test('finds no membership for an unknown number', async () => {
  const membership = await db.database.read(fictional.institutionId, (tenant) =>
    findMembership(tenant, '9999'),
  );
  assert.equal(membership, undefined);
});
