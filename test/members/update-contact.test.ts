import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import type { Actor, ClientActor, Institution, MemberActor } from '../../src/institutions/index.ts';
import { type ContactChange, getProfile, type Profile, updateContact } from '../../src/members/index.ts';
import { Database } from '../../src/storage/index.ts';
import {
  aClient,
  aCustomer,
  aMember,
  anInstitution,
  aPerson,
  aRole,
  aUser,
  type Member,
} from '../support/builders.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { refusalOf } from '../support/refusals.ts';

const at = new Date('2026-03-02T12:00:00Z');

let db: TestDatabase;
let institution: Institution;
let client: ClientActor;

before(async () => {
  db = await testDatabase();
  institution = await anInstitution(db.database);
  client = aClient(institution);
});
after(() => db.close());

function update(actor: Actor, customerId: string, change: ContactChange): Promise<Profile> {
  const issueEmailCode = async () => ({ sealedCode: Buffer.from('sealed'), expiresAt: at });
  return updateContact(
    { database: db.database, clock: () => at, businessTime: (_, now) => now, issueEmailCode },
    actor,
    customerId,
    change,
    ownOrigin(),
  );
}

interface ContactEvent {
  readonly data: { readonly before: Contact; readonly after: Contact };
  readonly recorded_at: Date;
}

interface Contact {
  readonly emailAddress: string;
  readonly phoneNumbers: readonly { readonly phoneNumber: string; readonly phoneType: string }[];
}

/** In commit order: each waited for the lock of the one before. */
function eventsOf({ userKey }: MemberActor): Promise<ContactEvent[]> {
  return db.superuser<ContactEvent>(
    `select data, recorded_at from outbox where kind = 'member.contact_changed' and subject_key = $1
     order by event_key`,
    [userKey],
  );
}

/** With an e-mail and a mobile phone. */
async function aReachableMember(email = 'old@home.example.test'): Promise<Member> {
  const member = await aMember(db.database, institution, { user: { email } });
  await db.superuser(
    `insert into user_phones (institution_id, user_key, phone_type, phone_number)
     values ($1, $2, 'MOBILE', '+12025550111')`,
    [institution.institutionId, member.user.userKey],
  );
  return member;
}

const mobile = { phoneNumber: '+12025550111', phoneType: 'MOBILE' };

describe('change of contact', () => {
  test('changes only the e-mail, and stores an event with the old and the new one', async () => {
    const { user, customerId } = await aReachableMember();
    const profile = await update(user, customerId, { emailAddress: 'New.Name@Home.example.test' });
    assert.equal(profile.emailAddress, 'New.Name@Home.example.test');
    assert.deepEqual(profile.phoneNumbers, [mobile]);
    assert.deepEqual(
      profile,
      await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at }),
    );
    assert.deepEqual(await eventsOf(user), [
      {
        data: {
          before: { emailAddress: 'old@home.example.test', phoneNumbers: [mobile] },
          after: { emailAddress: 'New.Name@Home.example.test', phoneNumbers: [mobile] },
        },
        recorded_at: at,
      },
    ]);
  });

  test('keeps an e-mail as typed except for the space around it', async () => {
    const { user, customerId } = await aReachableMember();
    const profile = await update(user, customerId, { emailAddress: '  Spaced@Home.example.test ' });
    assert.equal(profile.emailAddress, 'Spaced@Home.example.test');
  });

  test('treats another case of an e-mail as a change', async () => {
    const { user, customerId } = await aReachableMember();
    assert.equal(
      (await update(user, customerId, { emailAddress: 'OLD@home.example.test' })).emailAddress,
      'OLD@home.example.test',
    );
    assert.equal((await eventsOf(user)).length, 1);
  });

  test('keeps a phone in E.164, as the mobile one without a type', async () => {
    const { user, customerId } = await aReachableMember();
    const profile = await update(user, customerId, { phoneNumber: '(202) 555-0122' });
    assert.deepEqual(profile.phoneNumbers, [{ phoneNumber: '+12025550122', phoneType: 'MOBILE' }]);
    assert.equal(profile.emailAddress, 'old@home.example.test');
    const [event] = await eventsOf(user);
    assert.deepEqual(event?.data.before.phoneNumbers, [mobile]);
    assert.deepEqual(event?.data.after.phoneNumbers, profile.phoneNumbers);
  });

  test('keeps the other types of phones when one changes', async () => {
    const { user, customerId } = await aReachableMember();
    await update(user, customerId, { phoneNumber: '+12025550133', phoneType: 'WORK' });
    const profile = await update(user, customerId, { phoneNumber: '+12025550144', phoneType: 'HOME' });
    assert.deepEqual(profile.phoneNumbers, [
      { phoneNumber: '+12025550144', phoneType: 'HOME' },
      mobile,
      { phoneNumber: '+12025550133', phoneType: 'WORK' },
    ]);
  });

  test('changes the type of the one phone if only the type is given', async () => {
    const { user, customerId } = await aReachableMember();
    const home = { phoneNumber: '+12025550111', phoneType: 'HOME' };
    const profile = await update(user, customerId, { phoneType: 'HOME' });
    assert.deepEqual(profile.phoneNumbers, [home]);
    assert.deepEqual(
      profile,
      await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at }),
    );
    const email = { emailAddress: 'old@home.example.test' };
    assert.deepEqual(
      (await eventsOf(user)).map(({ data }) => data),
      [{ before: { ...email, phoneNumbers: [mobile] }, after: { ...email, phoneNumbers: [home] } }],
    );
    await update(user, customerId, { phoneType: 'HOME' });
    assert.equal((await eventsOf(user)).length, 1, 'the same kind again is no change');
  });

  test('refuses a type alone without a phone or with several, and names the missing field', async () => {
    const member = await aMember(db.database, institution);
    const change = { phoneType: 'HOME' } as const;
    const none = await refusalOf(update(member.user, member.customerId, change));
    assert.equal(none.code, 'invalid_request');
    const detail = (problem: string) => `Required beside phoneType: the member has ${problem}.`;
    assert.deepEqual(none.errors, [{ pointer: '/phoneNumber', detail: detail('no phone yet') }]);
    const { user, customerId } = await aReachableMember();
    await update(user, customerId, { phoneNumber: '+12025550133', phoneType: 'WORK' });
    const several = await refusalOf(update(user, customerId, change));
    assert.equal(several.code, 'invalid_request');
    assert.deepEqual(several.errors, [{ pointer: '/phoneNumber', detail: detail('several phones') }]);
    assert.equal((await eventsOf(user)).length, 1);
  });

  test('stores one event for a change of e-mail and phone', async () => {
    const { user, customerId } = await aReachableMember();
    await update(user, customerId, { emailAddress: 'both@home.example.test', phoneNumber: '+12025550155' });
    const events = await eventsOf(user);
    assert.equal(events.length, 1);
    assert.deepEqual(events[0]?.data.after, {
      emailAddress: 'both@home.example.test',
      phoneNumbers: [{ phoneNumber: '+12025550155', phoneType: 'MOBILE' }],
    });
  });
});

describe('no change of contact', () => {
  test('returns the profile and stores no event without fields', async () => {
    const { user, customerId } = await aReachableMember();
    assert.deepEqual(
      await update(user, customerId, {}),
      await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at }),
    );
    assert.deepEqual(await eventsOf(user), []);
  });

  test('stores no event for the same values in any spelling', async () => {
    const { user, customerId } = await aReachableMember();
    await update(user, customerId, { emailAddress: 'old@home.example.test' });
    await update(user, customerId, { emailAddress: ' old@home.example.test ' });
    await update(user, customerId, { phoneNumber: '(202) 555-0111', phoneType: 'MOBILE' });
    assert.deepEqual(await eventsOf(user), []);
  });
});

describe('refused changes of contact', () => {
  const refused: [string, ContactChange][] = [
    ['a number that cannot be dialled', { phoneNumber: '12345' }],
    ['a number with words around it', { phoneNumber: 'call 202-555-0123 tonight' }],
  ];
  for (const [what, change] of refused) {
    test(`refuses a change of contact with ${what}`, async () => {
      const { user, customerId } = await aReachableMember();
      const was = await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at });
      const good = { emailAddress: 'good@home.example.test' };
      const refusal = await refusalOf(update(user, customerId, { ...good, ...change }));
      assert.partialDeepStrictEqual(refusal, {
        code: 'invalid_request',
        errors: [{ pointer: '/phoneNumber' }],
      });
      assert.deepEqual(
        await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at }),
        was,
      );
      assert.deepEqual(await eventsOf(user), []);
    });
  }

  test('refuses a missing customer and another member’s in the same words', async () => {
    const me = await aReachableMember();
    const other = await aReachableMember();
    const unregistered = await aCustomer(db.database, institution);
    await aRole(db.database, unregistered, await aPerson(db.database, institution), 'PRIMARY');
    const elsewhere = await aMember(db.database, await anInstitution(db.database));
    const change = { emailAddress: 'taken.over@example.test' };
    const missing = await refusalOf(update(me.user, 'no-such-customer', change));
    assert.partialDeepStrictEqual(missing, { code: 'not_found', errors: [], members: {} });
    for (const { customerId } of [other, unregistered, elsewhere]) {
      assert.deepEqual(await refusalOf(update(me.user, customerId, change)), missing);
    }
    for (const { customerId } of [unregistered, elsewhere]) {
      assert.deepEqual(await refusalOf(update(client, customerId, change)), missing);
    }
    assert.deepEqual(await refusalOf(update(client, 'a\0b', change)), missing);
    assert.equal((await update(client, other.customerId, {})).emailAddress, 'old@home.example.test');
    assert.deepEqual(await eventsOf(other.user), []);
  });

  test('does not accept a member number as a customer id', async () => {
    const { user, memberNumber } = await aReachableMember();
    assert.equal((await refusalOf(update(user, memberNumber, {}))).code, 'not_found');
  });
});

describe('owner of the contact', () => {
  test('changes the joint owner’s contact by their token, and the PRIMARY’s by a client’s token', async () => {
    const primary = await aReachableMember();
    const person = await aPerson(db.database, institution);
    await aRole(db.database, primary, person, 'JOINT');
    const joint = await aUser(db.database, institution, person, { email: 'joint@home.example.test' });

    const byJoint = await update(joint, primary.customerId, { emailAddress: 'joint.new@home.example.test' });
    assert.deepEqual([byJoint.userId, byJoint.userRole], [joint.userId, 'JOINT']);
    const byClient = await update(client, primary.customerId, {
      emailAddress: 'primary.new@home.example.test',
    });
    assert.deepEqual([byClient.userId, byClient.userRole], [primary.user.userId, 'PRIMARY']);
    assert.equal(
      (await getProfile(db.database, joint, { id: joint.userId, idType: 'USER_ID', now: at })).emailAddress,
      'joint.new@home.example.test',
    );
    assert.deepEqual([(await eventsOf(joint)).length, (await eventsOf(primary.user)).length], [1, 1]);
  });

  test('keeps the core’s own record of the person', async () => {
    const { user, customerId, person } = await aReachableMember();
    await update(user, customerId, { emailAddress: 'only.here@example.test', phoneNumber: '+12025550166' });
    assert.deepEqual(
      await db.superuser('select email, phone_number from persons where person_key = $1', [person.personKey]),
      [{ email: person.email, phone_number: null }],
    );
  });
});

describe('simultaneous changes of contact', () => {
  test('each event of many simultaneous changes has the value that it replaced', async () => {
    const { user, customerId } = await aReachableMember('0@race.example.test');
    const emails = Array.from({ length: 20 }, (_, i) => `${i + 1}@race.example.test`);
    await Promise.all(emails.map((emailAddress) => update(user, customerId, { emailAddress })));

    const events = await eventsOf(user);
    assert.equal(events.length, emails.length);
    let current = '0@race.example.test';
    for (const { data } of events) {
      assert.equal(data.before.emailAddress, current);
      current = data.after.emailAddress;
    }
    assert.deepEqual(new Set(events.map(({ data }) => data.after.emailAddress)), new Set(emails));
    const profile = await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at });
    assert.equal(profile.emailAddress, current);
  });

  test('keeps both of a simultaneous change of e-mail and of phone', async () => {
    const { user, customerId } = await aReachableMember();
    await Promise.all([
      update(user, customerId, { emailAddress: 'both.last@example.test' }),
      update(user, customerId, { phoneNumber: '+12025550177', phoneType: 'HOME' }),
    ]);
    const profile = await getProfile(db.database, user, { id: customerId, idType: 'CUSTOMER_ID', now: at });
    assert.equal(profile.emailAddress, 'both.last@example.test');
    assert.deepEqual(profile.phoneNumbers, [{ phoneNumber: '+12025550177', phoneType: 'HOME' }, mobile]);
    const [first, second] = await eventsOf(user);
    assert.deepEqual(second?.data.before, first?.data.after);
  });

  test('refuses a change that waits too long for another as retryable, and writes nothing of it', async () => {
    const { user, customerId } = await aReachableMember();
    const change = { emailAddress: 'patient@example.test' };
    const beside = new Database({ connection: db.connection, maxConnections: 1 });
    await beside.transaction(institution.institutionId, async (tx) => {
      const text = 'select from users where institution_id = $1 and user_key = $2 for no key update';
      await tx.query({ name: '', text }, [institution.institutionId, user.userKey]);
      const refusal = await refusalOf(update(user, customerId, change));
      assert.deepEqual([refusal.code, refusal.retryAfterSeconds], ['overloaded', 1]);
    });
    await beside.close();
    assert.deepEqual(await eventsOf(user), []);
    assert.equal((await update(user, customerId, change)).emailAddress, 'patient@example.test');
  });
});
