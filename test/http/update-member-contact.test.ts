import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let app: DemoCaller;
let member: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
  member = await memberOf(service, 'demo.member', 'demo-member-password');
});
after(() => service.close());

const update = (caller: DemoCaller, customerId: string, body: object): Promise<Answer> =>
  caller.patch(`${paths.customer(customerId)}/contact-info`, body);
const changes = () =>
  service.db.superuser<{ data: unknown }>(`select data from outbox where kind = 'member.contact_changed'`);

describe('200', () => {
  test('e-mail and phone, together and alone; what was not given stays; each change is told as an event', async () => {
    const before = (await changes()).length;
    const both = await update(member, 'c-1001', {
      emailAddress: 'willow.new@example.test',
      phoneNumber: '(202) 555-0199',
      phoneType: 'WORK',
    });
    assert.equal(both.status, 200);
    assert.equal(both.body.emailAddress, 'willow.new@example.test');
    assert.deepEqual(both.body.phoneNumbers.toSorted(byType), [
      { phoneNumber: '+12025550143', phoneType: 'MOBILE' },
      { phoneNumber: '+12025550199', phoneType: 'WORK' },
    ]);
    const alone = await update(app, 'c-1001', { phoneNumber: '+12025550188' });
    assert.equal(alone.body.emailAddress, 'willow.new@example.test');
    assert.deepEqual(alone.body.phoneNumbers.toSorted(byType)[0], {
      phoneNumber: '+12025550188',
      phoneType: 'MOBILE',
    });
    const read = await member.get(`${paths.customer('c-1001')}/contact-methods`);
    assert.equal(read.text, alone.text);
    assert.equal((await changes()).length, before + 2);
  });

  test('nothing given, or nothing new, changes nothing and tells nobody', async () => {
    const profile = (await member.get(`${paths.customer('c-1001')}/contact-methods`)).text;
    const before = (await changes()).length;
    assert.equal((await update(member, 'c-1001', {})).text, profile);
    const nulls = { emailAddress: null, phoneNumber: null, phoneType: null };
    assert.equal((await update(member, 'c-1001', nulls)).text, profile);
    assert.equal((await update(member, 'c-1001', { emailAddress: 'willow.new@example.test' })).text, profile);
    assert.equal((await changes()).length, before);
  });
});

test('400: what cannot be a contact, and what is not to be changed here', async () => {
  const cases: [object, string][] = [
    [{ emailAddress: 'nobody' }, '/emailAddress'],
    [{ phoneNumber: '12' }, '/phoneNumber'],
    [{ phoneNumber: 'call me' }, '/phoneNumber'],
    [{ phoneNumber: 2025550143 }, '/phoneNumber'],
    [{ phoneNumber: '+12025550143', phoneType: 'FAX' }, '/phoneType'],
    [{ firstName: 'Will' }, '/firstName'],
    [{ userStatus: { locked: false } }, '/userStatus'],
  ];
  const before = (await changes()).length;
  for (const [body, pointer] of cases) {
    const answer = await update(member, 'c-1001', body);
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.body.errors[0].pointer, pointer);
  }
  assert.equal((await changes()).length, before);
});

test('404: a customer who does not exist and, alike, another’s', async () => {
  const missing = await update(member, 'c-none', { emailAddress: 'a@example.test' });
  const other = await update(member, 'c-1002', { emailAddress: 'a@example.test' });
  assert.equal(missing.status, 404);
  assert.deepEqual({ ...other.body, instance: '' }, { ...missing.body, instance: '' });
});

function byType(a: { phoneType: string }, b: { phoneType: string }): number {
  return a.phoneType < b.phoneType ? -1 : 1;
}
