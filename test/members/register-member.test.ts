import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listAccounts } from '../../src/accounts/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { ClientActor, Institution, MemberActor } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { getProfile, type Profile, type Registration, registerMember } from '../../src/members/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { Database } from '../../src/storage/index.ts';
import {
  aClient,
  aCustomer,
  aFundingAccount,
  aMember,
  anInstitution,
  aPerson,
  aRole,
  type Customer,
  type Person,
  type PersonSettings,
  uniqueNumber,
} from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusals.ts';

const at = new Date('2026-03-02T12:00:00Z');
const expiresAt = new Date('2026-03-05T12:00:00Z');

let db: TestDatabase;
let postingKeys: PostingKeys;
let closed: Institution;
let open: Institution;

before(async () => {
  db = await testDatabase();
  postingKeys = new PostingKeys(db.database);
  closed = await anInstitution(db.database);
  open = await anInstitution(db.database, { enrollment: 'open', openingDepositMinor: 50_000n, demo: true });
  await aFundingAccount(db.database, open);
});
after(() => db.close());

function register(
  actor: ClientActor,
  registration: Registration,
  issueActivation: Parameters<typeof registerMember>[0]['issueActivation'] = async (_tx, { userKey }) => ({
    sealedCode: Buffer.from(`sealed for ${userKey}`),
    expiresAt,
  }),
): Promise<Profile> {
  const deps = {
    database: db.database,
    clock: () => at,
    postingKeys,
    issueActivation,
    businessTime: (_: unknown, now: Date) => now,
    issueEmailCode: async () => ({ sealedCode: Buffer.from('sealed e-mail code'), expiresAt }),
  };
  return registerMember(deps, actor, registration, ownOrigin());
}

/** A membership of the core, whose PRIMARY is not registered. */
async function aKnownMember(
  settings: PersonSettings = {},
): Promise<Customer & { person: Person; email: string }> {
  const person = await aPerson(db.database, closed, settings);
  const customer = await aCustomer(db.database, closed);
  await aRole(db.database, customer, person, 'PRIMARY');
  return { ...customer, person, email: person.email ?? 'none@example.test' };
}

/** The institution's number of each; a refused registration leaves all unchanged. */
async function countsOf({ institutionId }: Institution): Promise<object | undefined> {
  const tables = ['users', 'user_phones', 'outbox', 'persons', 'customers', 'accounts', 'entries'];
  const columns = tables.map(
    (table) => `(select count(*) from ${table} where institution_id = $1) as ${table}`,
  );
  return (await db.superuser(`select ${columns.join(', ')}`, [institutionId]))[0];
}

interface UserRow {
  readonly user_key: bigint;
  readonly email: string;
  readonly username: string | null;
  readonly active: boolean;
  readonly created_at: Date;
}

function usersOf({ personKey }: Person): Promise<UserRow[]> {
  return db.superuser<UserRow>(
    'select user_key, email, username, active, created_at from users where person_key = $1',
    [personKey],
  );
}

/**
 * For simultaneous calls: the successful ones, and the codes of the refusals. Anything but a Problem fails the test.
 */
async function outcomesOf(calls: readonly Promise<Profile>[]): Promise<{ won: Profile[]; lost: string[] }> {
  const settled = await Promise.allSettled(calls);
  const won: Profile[] = [];
  const lost: string[] = [];
  for (const outcome of settled) {
    if (outcome.status === 'fulfilled') won.push(outcome.value);
    else if (outcome.reason instanceof Problem) lost.push(outcome.reason.code);
    else throw outcome.reason;
  }
  return { won, lost };
}

describe('registered members', () => {
  test('registering gives the person a user without a login, and returns the profile in the named membership', async () => {
    const { customerId, memberNumber, person, email } = await aKnownMember({
      firstName: 'Ada',
      lastName: 'Example',
    });
    const answer = await register(aClient(closed), {
      memberNumber,
      email,
      firstName: 'Ada',
      lastName: 'Example',
    });
    const [user, ...more] = await usersOf(person);
    assert.deepEqual(more, []);
    assert.partialDeepStrictEqual(user, { email, username: null, active: true, created_at: at });
    assert.match(answer.userId, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const expected: Omit<Profile, 'userId'> = {
      firstName: 'Ada',
      lastName: 'Example',
      emailAddress: email,
      userRole: 'PRIMARY',
      userType: 'RETAIL',
      userStatus: { active: true, locked: false },
      customers: [{ customerId, memberNumber }],
      phoneNumbers: [],
    };
    assert.deepEqual(answer, { userId: answer.userId, ...expected });
    assert.deepEqual(
      await getProfile(db.database, aClient(closed), { id: customerId, idType: 'CUSTOMER_ID', now: at }),
      answer,
    );
  });

  test('registering leaves one event with the sealed activation code until its expiry', async () => {
    const { memberNumber, person, email } = await aKnownMember();
    await register(aClient(closed), { memberNumber, email });
    const [user] = await usersOf(person);
    assert.ok(user);
    assert.deepEqual(
      await db.superuser(
        `select kind, secret, secret_expires_at, recorded_at from outbox
         where institution_id = $1 and subject_key = $2`,
        [closed.institutionId, user.user_key],
      ),
      [
        {
          kind: 'member.registered',
          secret: Buffer.from(`sealed for ${user.user_key}`),
          secret_expires_at: expiresAt,
          recorded_at: at,
        },
      ],
    );
  });

  test('registering takes over the core’s phone number', async () => {
    const { memberNumber, email } = await aKnownMember({ phoneNumber: '+12025550123', phoneType: 'HOME' });
    const profile = await register(aClient(closed), { memberNumber, email });
    assert.deepEqual(profile.phoneNumbers, [{ phoneNumber: '+12025550123', phoneType: 'HOME' }]);
  });

  test('registering keeps the e-mail as typed, and the core’s record unchanged', async () => {
    const { memberNumber, person } = await aKnownMember({ email: 'core.typed@example.test' });
    const profile = await register(aClient(closed), { memberNumber, email: ' Core.Typed@Example.test ' });
    assert.equal(profile.emailAddress, 'Core.Typed@Example.test');
    assert.deepEqual(
      await db.superuser('select email from persons where person_key = $1', [person.personKey]),
      [{ email: 'core.typed@example.test' }],
    );
  });

  test('registers a PRIMARY whose e-mail the core does not have, with the given e-mail', async () => {
    const { memberNumber } = await aKnownMember({ email: null, firstName: 'Cleo' });
    const registration = { memberNumber, email: 'cleo@new.example.test', firstName: 'cleo ' };
    const profile = await register(aClient(closed), registration);
    assert.deepEqual([profile.emailAddress, profile.firstName], ['cleo@new.example.test', 'Cleo']);
  });

  test('registers a PRIMARY without an e-mail in the core, by policy only with the core’s birth date', async () => {
    const careful = await anInstitution(db.database, { policies: { registrationBirthDate: true } });
    const person = await aPerson(db.database, careful, { email: null });
    await db.superuser("update persons set birth_date = '1980-12-31' where person_key = $1", [
      person.personKey,
    ]);
    const membership = await aCustomer(db.database, careful);
    await aRole(db.database, membership, person, 'PRIMARY');
    const registration = { memberNumber: membership.memberNumber, email: 'claimed@example.test' };
    for (const birthDate of [undefined, '1980-12-30']) {
      const claimed = { ...registration, ...(birthDate && { birthDate }) };
      assert.equal((await refusalOf(register(aClient(careful), claimed))).code, 'identity_mismatch');
    }
    const profile = await register(aClient(careful), { ...registration, birthDate: '1980-12-31' });
    assert.equal(profile.emailAddress, 'claimed@example.test');
  });

  test('registers a joint owner by e-mail, in their own role, beside the PRIMARY', async () => {
    const known = await aKnownMember();
    const joint = await aPerson(db.database, closed);
    await aRole(db.database, known, joint, 'JOINT');
    const { memberNumber } = known;
    const first = await register(aClient(closed), { memberNumber, email: joint.email ?? '' });
    assert.equal(first.userRole, 'JOINT');
    const second = await register(aClient(closed), { memberNumber, email: known.email });
    assert.equal(second.userRole, 'PRIMARY');
    assert.notEqual(second.userId, first.userId);
  });

  test('registers a person in the role of the named membership, even if another one has a higher role', async () => {
    const known = await aKnownMember();
    const business = await aCustomer(db.database, closed, { memberType: 'BUSINESS' });
    await aRole(db.database, business, known.person, 'BUSINESS_USER');
    const { memberNumber } = business;
    const answer = await register(aClient(closed), { memberNumber, email: known.email });
    assert.deepEqual([answer.userRole, answer.userType], ['BUSINESS_USER', 'BUSINESS']);
    assert.equal(answer.customers.length, 2);
  });
});

describe('refused registrations', () => {
  async function assertRefused(
    institution: Institution,
    registration: Registration,
    code: string,
  ): Promise<void> {
    const before = await countsOf(institution);
    const refusal = await refusalOf(register(aClient(institution), registration));
    assert.equal(refusal.code, code);
    assert.deepEqual([refusal.errors, refusal.members], [[], {}]);
    for (const value of Object.values(registration)) {
      assert.equal(refusal.detail.includes(String(value)), false, 'the detail repeats no input');
    }
    assert.deepEqual(await countsOf(institution), before);
  }

  test('refuses a member number that the core does not have with member_not_found', async () => {
    await assertRefused(closed, { memberNumber: 'NOBODY-1', email: 'ada@example.test' }, 'member_not_found');
  });

  test('refuses a member number of another institution with member_not_found', async () => {
    const elsewhere = await aMember(db.database, open, { memberNumber: `ELSEWHERE-${uniqueNumber()}` });
    const { memberNumber, person } = elsewhere;
    await assertRefused(closed, { memberNumber, email: person.email ?? '' }, 'member_not_found');
  });

  const contradictions: [string, Partial<Registration>][] = [
    ['another e-mail', { email: 'somebody.else@example.test' }],
    ['another first name', { firstName: 'Eve' }],
    ['another last name', { lastName: 'Elsewhere' }],
  ];
  for (const [what, contradiction] of contradictions) {
    test(`refuses ${what} than in the core with identity_mismatch`, async () => {
      const { memberNumber, email } = await aKnownMember({ firstName: 'Ada', lastName: 'Example' });
      await assertRefused(closed, { memberNumber, email, ...contradiction }, 'identity_mismatch');
    });
  }

  test('refuses an e-mail of no one in the membership with identity_mismatch, even if the core has it elsewhere', async () => {
    const here = await aKnownMember();
    const elsewhere = await aKnownMember();
    const registration = { memberNumber: here.memberNumber, email: elsewhere.email };
    await assertRefused(closed, registration, 'identity_mismatch');
  });

  test('refuses a membership without persons with identity_mismatch', async () => {
    const { memberNumber } = await aCustomer(db.database, closed);
    await assertRefused(closed, { memberNumber, email: 'ada@example.test' }, 'identity_mismatch');
  });

  test('refuses the same person again with member_already_registered', async () => {
    const { memberNumber, email } = await aKnownMember();
    await register(aClient(closed), { memberNumber, email });
    await assertRefused(closed, { memberNumber, email }, 'member_already_registered');
  });

  test('refuses the same person by another of their memberships with member_already_registered', async () => {
    const { memberNumber, email, person } = await aKnownMember();
    const second = await aCustomer(db.database, closed);
    await aRole(db.database, second, person, 'PRIMARY');
    await register(aClient(closed), { memberNumber, email });
    const registration = { memberNumber: second.memberNumber, email };
    await assertRefused(closed, registration, 'member_already_registered');
  });

  test('hides from a caller that contradicts the core that the person is registered', async () => {
    const { memberNumber, email } = await aKnownMember({ firstName: 'Ada' });
    await register(aClient(closed), { memberNumber, email });
    await assertRefused(closed, { memberNumber, email, firstName: 'Eve' }, 'identity_mismatch');
  });

  test('a code that cannot be issued registers no one, and the same call made again does', async () => {
    const { memberNumber, email } = await aKnownMember();
    const registration = { memberNumber, email };
    const before = await countsOf(closed);
    const failing = register(aClient(closed), registration, async () => {
      throw new Error('no code today');
    });
    await assert.rejects(failing, /no code today/);
    assert.deepEqual(await countsOf(closed), before);
    assert.equal((await register(aClient(closed), registration)).emailAddress, email);
  });
});

describe('open enrollment', () => {
  /** The newcomer's own view of their accounts. */
  async function accountsOf(profile: Profile): Promise<[string, string, bigint][]> {
    const [user] = await db.superuser<{ user_key: bigint; person_key: bigint }>(
      'select user_key, person_key from users where institution_id = $1 and user_id = $2',
      [open.institutionId, profile.userId],
    );
    assert.ok(user);
    const actor: MemberActor = {
      kind: 'member',
      institutionId: open.institutionId,
      clientId: 'app',
      userId: profile.userId,
      userKey: user.user_key,
      personKey: user.person_key,
    };
    const accounts = await listAccounts(db.database, actor);
    return accounts
      .map(({ diAccountType, description, currentMinor }): [string, string, bigint] => [
        diAccountType,
        description,
        currentMinor,
      ])
      .sort();
  }

  async function sumOfLedger(institution: Institution): Promise<bigint | undefined> {
    const rows = await db.superuser<{ sum: bigint }>(
      'select coalesce(sum(posted), 0)::bigint as sum from balances where institution_id = $1',
      [institution.institutionId],
    );
    return rows[0]?.sum;
  }

  const newcomersAccounts = [
    ['CHECKING', 'Share Draft', 50_000n],
    ['SAVINGS', 'Share Savings', 0n],
  ];

  test('open enrollment opens an unknown member number with savings, checking and the opening deposit', async () => {
    const memberNumber = `NEW-${uniqueNumber()}`;
    const profile = await register(aClient(open), {
      memberNumber,
      email: 'newcomer@example.test',
      firstName: 'Nia',
      lastName: 'Newcomer',
    });
    assert.deepEqual(
      [profile.firstName, profile.lastName, profile.emailAddress, profile.userRole, profile.userType],
      ['Nia', 'Newcomer', 'newcomer@example.test', 'PRIMARY', 'RETAIL'],
    );
    assert.deepEqual(
      profile.customers.map((customer) => customer.memberNumber),
      [memberNumber],
    );
    assert.deepEqual(await accountsOf(profile), newcomersAccounts);
    assert.equal(await sumOfLedger(open), 0n);
  });

  test('open enrollment needs no names', async () => {
    const answer = await register(aClient(open), {
      memberNumber: `NEW-${uniqueNumber()}`,
      email: 'nameless@example.test',
    });
    assert.equal(typeof answer.firstName, 'string');
    assert.deepEqual(await accountsOf(answer), newcomersAccounts);
  });

  test('open enrollment checks a known member number as a closed institution does', async () => {
    const known = await aCustomer(db.database, open);
    const person = await aPerson(db.database, open, { email: 'known@example.test' });
    await aRole(db.database, known, person, 'PRIMARY');
    const { memberNumber } = known;
    const mismatch = await refusalOf(register(aClient(open), { memberNumber, email: 'other@example.test' }));
    assert.equal(mismatch.code, 'identity_mismatch');
    const profile = await register(aClient(open), { memberNumber, email: 'known@example.test' });
    assert.equal(profile.emailAddress, 'known@example.test');
  });

  test('open enrollment refuses an opened number as registered', async () => {
    const registration = { memberNumber: `NEW-${uniqueNumber()}`, email: 'twice@example.test' };
    await register(aClient(open), registration);
    const before = await countsOf(open);
    assert.equal((await refusalOf(register(aClient(open), registration))).code, 'member_already_registered');
    assert.deepEqual(await countsOf(open), before);
  });

  test('one of 20 simultaneous calls for one number opens it, and 19 get member_already_registered', async () => {
    const registration = { memberNumber: `RACE-${uniqueNumber()}`, email: 'racer@example.test' };
    const { won, lost } = await outcomesOf(
      Array.from({ length: 20 }, () => register(aClient(open), registration)),
    );
    assert.deepEqual([won.length, lost], [1, Array(19).fill('member_already_registered')]);
    const [winner] = won;
    assert.ok(winner);
    assert.deepEqual(await accountsOf(winner), newcomersAccounts);
    assert.deepEqual(
      await db.superuser(
        `select (select count(*) from customers where institution_id = $1 and member_number = $2)::integer as customers,
                (select count(*) from persons where institution_id = $1 and email = $3)::integer as persons,
                (select count(*) from users where institution_id = $1 and email = $3)::integer as users`,
        [open.institutionId, registration.memberNumber, registration.email],
      ),
      [{ customers: 1, persons: 1, users: 1 }],
    );
    assert.equal(await sumOfLedger(open), 0n);
  });

  test('one of two people who call at once for one number opens it, and the other gets member_already_registered', async () => {
    const memberNumber = `RACE-${uniqueNumber()}`;
    const { won, lost } = await outcomesOf([
      register(aClient(open), { memberNumber, email: 'one@example.test', firstName: 'One' }),
      register(aClient(open), { memberNumber, email: 'two@example.test', firstName: 'Two' }),
    ]);
    assert.deepEqual([won.length, lost], [1, ['member_already_registered']]);
  });

  test('20 simultaneous calls for 20 numbers open all of them, although one account pays every deposit', async () => {
    const fresh = await anInstitution(db.database, {
      enrollment: 'open',
      openingDepositMinor: 12_345n,
      demo: true,
    });
    await aFundingAccount(db.database, fresh);
    const { won, lost } = await outcomesOf(
      Array.from({ length: 20 }, (_, i) =>
        register(aClient(fresh), { memberNumber: `MANY-${i}`, email: `many.${i}@example.test` }),
      ),
    );
    assert.deepEqual([won.length, lost], [20, []]);
    assert.equal(await sumOfLedger(fresh), 0n);
    assert.deepEqual(
      await db.superuser(
        `select a.category, count(*)::integer as accounts, sum(b.posted)::bigint as posted
         from accounts a join balances b using (institution_id, account_key)
         where institution_id = $1 group by 1 order by 1`,
        [fresh.institutionId],
      ),
      [
        { category: 'DEPOSIT', accounts: 40, posted: 246_900n },
        { category: 'INTERNAL', accounts: 1, posted: -246_900n },
      ],
    );
  });
});

describe('simultaneous registrations', () => {
  test('one of 20 simultaneous calls for one person registers them, and 19 get member_already_registered', async () => {
    const { memberNumber, email, person } = await aKnownMember({ phoneNumber: '+12025550123' });
    const { won, lost } = await outcomesOf(
      Array.from({ length: 20 }, () => register(aClient(closed), { memberNumber, email })),
    );
    assert.deepEqual([won.length, lost], [1, Array(19).fill('member_already_registered')]);
    const users = await usersOf(person);
    assert.equal(users.length, 1);
    const events = await db.superuser(
      "select from outbox where institution_id = $1 and kind = 'member.registered' and subject_key = $2",
      [closed.institutionId, users[0]?.user_key],
    );
    assert.equal(events.length, 1);
  });

  test('two persons of one membership are both registered at once', async () => {
    const known = await aKnownMember();
    const joint = await aPerson(db.database, closed);
    await aRole(db.database, known, joint, 'JOINT');
    const { memberNumber } = known;
    const { won, lost } = await outcomesOf([
      register(aClient(closed), { memberNumber, email: known.email }),
      register(aClient(closed), { memberNumber, email: joint.email ?? '' }),
    ]);
    assert.deepEqual(lost, []);
    assert.deepEqual(new Set(won.map(({ userRole }) => userRole)), new Set(['PRIMARY', 'JOINT']));
  });

  test('one person by two of their memberships at once is registered once', async () => {
    const { memberNumber, email, person } = await aKnownMember();
    const second = await aCustomer(db.database, closed);
    await aRole(db.database, second, person, 'PRIMARY');
    const { won, lost } = await outcomesOf([
      register(aClient(closed), { memberNumber, email }),
      register(aClient(closed), { memberNumber: second.memberNumber, email }),
    ]);
    assert.deepEqual([won.length, lost], [1, ['member_already_registered']]);
    assert.equal((await usersOf(person)).length, 1);
  });

  test('a registration that waits too long for another is refused as retryable, and then succeeds', async () => {
    const { memberNumber, email, person } = await aKnownMember();
    const before = await countsOf(closed);
    const beside = new Database({ connection: db.connection, maxConnections: 1 });
    const hesitant = beside.transaction(closed.institutionId, async (tx) => {
      const text = `insert into users (institution_id, user_id, person_key, email, created_at)
                    values ($1, 'hesitant', $2, 'hesitant@example.test', $3)`;
      await tx.query({ name: '', text }, [closed.institutionId, person.personKey, at]);
      const refusal = await refusalOf(register(aClient(closed), { memberNumber, email }));
      assert.deepEqual([refusal.code, refusal.retryAfterSeconds], ['overloaded', 1]);
      throw new Error('thought better of it');
    });
    await assert.rejects(hesitant, /thought better of it/);
    await beside.close();
    assert.deepEqual(await countsOf(closed), before);
    assert.equal((await register(aClient(closed), { memberNumber, email })).emailAddress, email);
  });
});
