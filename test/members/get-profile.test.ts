import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Actor, ClientActor, Institution } from '../../src/institutions/index.ts';
import { getProfile, type Profile, type UserIdType, userIdTypes } from '../../src/members/index.ts';
import { type InstitutionId, type Queryable, sql } from '../../src/storage/index.ts';
import {
  aClient,
  aCustomer,
  aMember,
  anInstitution,
  aPerson,
  aRole,
  aUser,
  type Customer,
  type Person,
} from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusals.ts';

const now = new Date('2026-03-02T12:00:00Z');

let db: TestDatabase;
let institution: Institution;
let client: ClientActor;

before(async () => {
  db = await testDatabase();
  institution = await anInstitution(db.database);
  client = aClient(institution);
});
after(() => db.close());

function get(actor: Actor, id: string, idType: UserIdType = 'CUSTOMER_ID'): Promise<Profile> {
  return getProfile(db.database, actor, { id, idType, now });
}

describe('profile object', () => {
  test('returns the person, their memberships by member number, and their phones', async () => {
    const ada = await aMember(db.database, institution, {
      customerId: 'object-a',
      memberNumber: '7002',
      firstName: 'Ada',
      lastName: 'Example',
      email: 'ada@core.example.test',
      user: { email: 'Ada@Home.example.test' },
    });
    const business = await aCustomer(db.database, institution, {
      customerId: 'object-b',
      memberNumber: '7001',
      memberType: 'BUSINESS',
    });
    await aRole(db.database, business, ada.person, 'BUSINESS_USER');
    await db.database.read(institution.institutionId, (q) =>
      q.query(
        sql(
          'test_phones',
          `insert into user_phones (institution_id, user_key, phone_type, phone_number)
           values ($1, $2, 'WORK', '+12025550199'), ($1, $2, 'MOBILE', '+12025550123')`,
        ),
        [institution.institutionId, ada.user.userKey],
      ),
    );
    assert.deepEqual(await get(client, 'object-a'), {
      userId: ada.user.userId,
      firstName: 'Ada',
      lastName: 'Example',
      emailAddress: 'Ada@Home.example.test',
      userRole: 'PRIMARY',
      userType: 'RETAIL',
      userStatus: { active: true, locked: false },
      customers: [
        { customerId: 'object-b', memberNumber: '7001' },
        { customerId: 'object-a', memberNumber: '7002' },
      ],
      phoneNumbers: [
        { phoneNumber: '+12025550123', phoneType: 'MOBILE' },
        { phoneNumber: '+12025550199', phoneType: 'WORK' },
      ],
    });
    const asBusiness = await get(ada.user, 'object-b');
    assert.deepEqual([asBusiness.userRole, asBusiness.userType], ['BUSINESS_USER', 'BUSINESS']);
    const withoutMembership = await get(ada.user, ada.user.userId, 'USER_ID');
    assert.deepEqual([withoutMembership.userRole, withoutMembership.userType], ['PRIMARY', 'RETAIL']);
  });

  const standings: [string, Parameters<typeof aUser>[3], { active: boolean; locked: boolean }][] = [
    ['an inactive user', { active: false }, { active: false, locked: false }],
    ['a user locked by an operator', { lockedByOperator: true }, { active: true, locked: true }],
    [
      'a user locked for a while',
      { lockedUntil: new Date(now.getTime() + 60_000) },
      { active: true, locked: true },
    ],
    ['a user whose lock is over', { lockedUntil: now }, { active: true, locked: false }],
  ];
  for (const [who, user, userStatus] of standings) {
    test(`shows the standing of ${who}`, async () => {
      const member = await aMember(db.database, institution, user ? { user } : {});
      assert.deepEqual((await get(client, member.customerId)).userStatus, userStatus);
    });
  }
});

describe('profiles for a client token', () => {
  test('a client finds a user by each type of id, by e-mail and login without case', async () => {
    const member = await aMember(db.database, institution, {
      user: { email: 'Grace@Found.example.test', username: 'Grace.Example' },
    });
    const ids: Record<UserIdType, string> = {
      CUSTOMER_ID: member.customerId,
      MEMBER_NUMBER: member.memberNumber,
      EMAIL: 'gRACE@found.EXAMPLE.test',
      LOGIN_ID: 'gRACE.example',
      USER_ID: member.user.userId,
    };
    for (const idType of userIdTypes) {
      assert.equal((await get(client, ids[idType], idType)).userId, member.user.userId, idType);
    }
  });

  test('a client that names a membership gets its PRIMARY user, beside any other persons', async () => {
    const primary = await aMember(db.database, institution);
    const joint = await aPerson(db.database, institution);
    await aRole(db.database, primary, joint, 'JOINT');
    await aUser(db.database, institution, joint);
    for (const [id, idType] of [
      [primary.customerId, 'CUSTOMER_ID'],
      [primary.memberNumber, 'MEMBER_NUMBER'],
    ] as const) {
      const profile = await get(client, id, idType);
      assert.deepEqual([profile.userId, profile.userRole], [primary.user.userId, 'PRIMARY']);
    }
  });

  test('a client finds no one by a membership whose PRIMARY is not registered, even if others are', async () => {
    const customer = await aCustomer(db.database, institution);
    await aRole(db.database, customer, await aPerson(db.database, institution), 'PRIMARY');
    const joint = await aPerson(db.database, institution);
    await aRole(db.database, customer, joint, 'JOINT');
    await aUser(db.database, institution, joint);
    assert.deepEqual(await refusalOf(get(client, customer.customerId)), await missing(client));
    assert.deepEqual(
      await refusalOf(get(client, customer.memberNumber, 'MEMBER_NUMBER')),
      await missing(client),
    );
  });

  test('a client that names an e-mail of several users learns that it is ambiguous, and nothing of them', async () => {
    const email = 'family@shared.example.test';
    await aMember(db.database, institution, { email });
    await aMember(db.database, institution, { email: 'FAMILY@shared.example.test' });
    const refusal = await refusalOf(get(client, email, 'EMAIL'));
    assert.equal(refusal.code, 'ambiguous_user_id');
    assert.deepEqual([refusal.errors, refusal.members], [[], {}]);
    assert.equal(refusal.detail.includes('@'), false);
  });

  test('a client’s id is read as the given type: one membership’s number may be another’s id', async () => {
    const ada = await aMember(db.database, institution, { customerId: '8001', memberNumber: '8002' });
    const bob = await aMember(db.database, institution, { customerId: '8002', memberNumber: '8003' });
    await aRole(db.database, bob, ada.person, 'JOINT');
    assert.equal((await get(client, '8002', 'CUSTOMER_ID')).userId, bob.user.userId);
    assert.equal((await get(client, '8002', 'MEMBER_NUMBER')).userId, ada.user.userId);
    assert.equal((await get(ada.user, '8002', 'CUSTOMER_ID')).userRole, 'JOINT');
    assert.equal((await get(ada.user, '8002', 'MEMBER_NUMBER')).userRole, 'PRIMARY');
  });
});

describe('profiles for a member token', () => {
  test('a member gets their own user by each type of id, in the role of the named membership', async () => {
    const primary = await aMember(db.database, institution);
    const person = await aPerson(db.database, institution);
    await aRole(db.database, primary, person, 'AUTHORIZED_SIGNER');
    const signer = await aUser(db.database, institution, person, {
      email: 'signer@own.example.test',
      username: 'signer.example',
    });
    const ids: Record<UserIdType, string> = {
      CUSTOMER_ID: primary.customerId,
      MEMBER_NUMBER: primary.memberNumber,
      EMAIL: 'SIGNER@own.example.test',
      LOGIN_ID: 'SIGNER.example',
      USER_ID: signer.userId,
    };
    for (const idType of userIdTypes) {
      const { userId, userRole } = await get(signer, ids[idType], idType);
      assert.deepEqual([userId, userRole], [signer.userId, 'AUTHORIZED_SIGNER'], idType);
    }
  });

  test('a member gets themselves by an e-mail that they share with others', async () => {
    const email = 'couple@shared.example.test';
    const one = await aMember(db.database, institution, { email });
    const two = await aMember(db.database, institution, { email });
    assert.equal((await get(one.user, email, 'EMAIL')).userId, one.user.userId);
    assert.equal((await get(two.user, email, 'EMAIL')).userId, two.user.userId);
  });

  test('another user’s ids are missing for a member, in the same words', async () => {
    const me = await aMember(db.database, institution);
    const other = await aMember(db.database, institution, {
      email: 'other@elsewhere.example.test',
      user: { username: 'other.example' },
    });
    const ids: Record<UserIdType, string> = {
      CUSTOMER_ID: other.customerId,
      MEMBER_NUMBER: other.memberNumber,
      EMAIL: 'other@elsewhere.example.test',
      LOGIN_ID: 'other.example',
      USER_ID: other.user.userId,
    };
    const nobody = await missing(me.user);
    for (const idType of userIdTypes) {
      assert.deepEqual(await refusalOf(get(me.user, ids[idType], idType)), nobody, idType);
      assert.deepEqual(await refusalOf(get(me.user, 'nobody-at-all', idType)), nobody, idType);
    }
    await aMember(db.database, institution, { email: 'other@elsewhere.example.test' });
    assert.deepEqual(await refusalOf(get(me.user, 'other@elsewhere.example.test', 'EMAIL')), nobody);
  });

  test('a member’s read runs the same look-up for their own id, another user’s and no one’s', async () => {
    const me = await aMember(db.database, institution, { user: { username: 'looking.up' } });
    const other = await aMember(db.database, institution, {
      user: { email: 'other@timed.example.test', username: 'timed.example' },
    });
    const ids: Record<UserIdType, readonly string[]> = {
      CUSTOMER_ID: [me.customerId, other.customerId, 'nobody'],
      MEMBER_NUMBER: [me.memberNumber, other.memberNumber, 'nobody'],
      EMAIL: [me.person.email ?? '', 'other@timed.example.test', 'nobody@timed.example.test'],
      LOGIN_ID: ['looking.up', 'timed.example', 'nobody.example'],
      USER_ID: [me.user.userId, other.user.userId, 'nobody'],
    };
    const asked: unknown[] = [];
    const watched = Object.create(db.database, {
      read: {
        value: (institutionId: InstitutionId, work: (q: Queryable) => Promise<unknown>) =>
          db.database.read(institutionId, (q) =>
            work({
              institutionId,
              query: (statement, values) => {
                asked.push([statement, values]);
                return q.query(statement, values);
              },
            }),
          ),
      },
    });
    for (const idType of userIdTypes) {
      for (const id of ids[idType]) await getProfile(watched, me.user, { id, idType, now }).catch(() => {});
    }
    assert.equal(asked.length, 15);
    for (const one of asked) assert.deepEqual(one, asked[0]);
  });

  test('a member who was removed from a membership no longer finds themselves in it', async () => {
    const primary = await aMember(db.database, institution);
    const person = await aPerson(db.database, institution);
    await aRole(db.database, primary, person, 'JOINT');
    await aRole(db.database, await aCustomer(db.database, institution), person, 'PRIMARY');
    const joint = await aUser(db.database, institution, person);
    assert.equal((await get(joint, primary.customerId)).userRole, 'JOINT');
    await takeOut(primary, person);
    assert.deepEqual(await refusalOf(get(joint, primary.customerId)), await missing(joint));
    assert.equal((await get(joint, joint.userId, 'USER_ID')).customers.length, 1);
  });
});

describe('a user without a membership', () => {
  test('a user removed from their last membership is missing by any type of id, for a client and for themselves', async () => {
    const user = { email: 'former@gone.example.test', username: 'former.example' };
    const former = await aMember(db.database, institution, { user });
    const ids: Record<UserIdType, string> = {
      CUSTOMER_ID: former.customerId,
      MEMBER_NUMBER: former.memberNumber,
      EMAIL: user.email,
      LOGIN_ID: user.username,
      USER_ID: former.user.userId,
    };
    await takeOut(former, former.person);
    for (const idType of userIdTypes) {
      for (const actor of [client, former.user]) {
        const refusal = await refusalOf(get(actor, ids[idType], idType));
        assert.deepEqual(refusal, await missing(actor), `${idType} to a ${actor.kind}`);
      }
    }
  });

  test('a user removed from their last membership does not make a current member’s e-mail ambiguous', async () => {
    const email = 'household@shared.example.test';
    const former = await aMember(db.database, institution, { email });
    const stays = await aMember(db.database, institution, { email });
    await takeOut(former, former.person);
    assert.equal((await get(client, email, 'EMAIL')).userId, stays.user.userId);
  });
});

describe('missing profiles', () => {
  test('a missing profile is refused in the same words for every type of id and any id', async () => {
    const nobody = await missing(client);
    assert.partialDeepStrictEqual(nobody, { code: 'not_found', errors: [], members: {} });
    for (const idType of userIdTypes) {
      for (const id of ['', ' ', '\0', 'a\0b', "' or true --", '%', 'x'.repeat(10_000), '\ud800']) {
        assert.deepEqual(await refusalOf(get(client, id, idType)), nobody, `${idType} ${JSON.stringify(id)}`);
      }
    }
  });

  test('the same ids in another institution lead only to its own users', async () => {
    const other = await anInstitution(db.database);
    const same = { customerId: 'crossing', memberNumber: 'CROSS-1' };
    const user = { email: 'same@crossing.example.test', username: 'same.example' };
    const here = await aMember(db.database, institution, { ...same, user });
    const there = await aMember(db.database, other, { ...same, user });
    const onlyThere = await aMember(db.database, other);
    const ids: Record<UserIdType, string> = {
      CUSTOMER_ID: same.customerId,
      MEMBER_NUMBER: same.memberNumber,
      EMAIL: user.email,
      LOGIN_ID: user.username,
      USER_ID: onlyThere.user.userId,
    };
    for (const idType of userIdTypes) {
      if (idType === 'USER_ID') {
        assert.deepEqual(await refusalOf(get(client, ids[idType], idType)), await missing(client));
        continue;
      }
      assert.equal((await get(client, ids[idType], idType)).userId, here.user.userId, idType);
      assert.equal((await get(aClient(other), ids[idType], idType)).userId, there.user.userId, idType);
      assert.equal((await get(here.user, ids[idType], idType)).userId, here.user.userId, idType);
    }
    assert.deepEqual(await refusalOf(get(client, onlyThere.customerId)), await missing(client));
  });

  for (const table of ['users', 'user_phones', 'activations', 'outbox']) {
    test(`row-level security alone hides the ${table} of another institution`, async () => {
      const other = await anInstitution(db.database);
      const { user } = await aMember(db.database, other);
      const plants: Record<string, string> = {
        user_phones: `insert into user_phones (institution_id, user_key, phone_type, phone_number)
                      values ($1, $2, 'HOME', '+12025550123')`,
        activations: `insert into activations (institution_id, user_key, selector, secret_hash, expires_at)
                      values ($1, $2, 'invented', decode(repeat('00', 32), 'hex'), '2026-01-01Z')`,
        outbox: `insert into outbox (institution_id, kind, subject_key, recorded_at)
                 values ($1, 'member.activated', $2, '2026-01-01Z')`,
      };
      const seenBy = async ({ institutionId }: Institution) => {
        const select = sql(`test_seen_${table}`, `select institution_id from ${table}`);
        const { rows } = await db.database.read(institutionId, (q) =>
          q.query<{ institutionId: number }>(select),
        );
        return rows.map((row) => row.institutionId);
      };
      const text = plants[table];
      if (text !== undefined) {
        await db.database.read(other.institutionId, (q) =>
          q.query({ name: '', text }, [other.institutionId, user.userKey]),
        );
      }
      assert.deepEqual(new Set(await seenBy(other)), new Set([other.institutionId]));
      assert.equal((await seenBy(institution)).includes(other.institutionId), false);
    });
  }
});

async function takeOut(customer: Customer, person: Person): Promise<void> {
  const remove = sql(
    'test_remove_role',
    'delete from customer_persons where institution_id = $1 and customer_key = $2 and person_key = $3',
  );
  await db.database.read(institution.institutionId, (q) =>
    q.query(remove, [institution.institutionId, customer.customerKey, person.personKey]),
  );
}

function missing(actor: Actor) {
  return refusalOf(get(actor, 'no-such-customer'));
}
