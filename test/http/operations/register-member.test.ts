import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Answer, clientOf, type DemoCaller, memberOf, paths } from '../../support/demo.ts';
import { startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
let app: DemoCaller;
before(async () => {
  service = await startTestService();
  app = await clientOf(service);
});
after(() => service.close());

const register = (body: object, caller: DemoCaller = app): Promise<Answer> =>
  caller.post(paths.register, body);

describe('register: 201', () => {
  test('registers a person of the core by e-mail, with the profile at the Location', async () => {
    const answer = await register({ memberNumber: '100016', email: 'poppy.newcomer@example.test' });
    assert.equal(answer.status, 201);
    const { userId, ...profile } = answer.body;
    assert.ok(userId);
    assert.deepEqual(profile, {
      firstName: 'Poppy',
      lastName: 'Newcomer',
      emailAddress: 'poppy.newcomer@example.test',
      userRole: 'PRIMARY',
      userType: 'RETAIL',
      userStatus: { active: true, locked: false },
      customers: [{ customerId: 'c-1016', memberNumber: '100016' }],
      phoneNumbers: [],
    });
    const read = await app.get(answer.headers.get('location') ?? '');
    assert.equal(read.text, answer.text);
  });

  test('registers the joint owner of a membership, distinguished from the PRIMARY by e-mail', async () => {
    const answer = await register({ memberNumber: '100017', email: 'yarrow.pairwise@example.test' });
    assert.equal(answer.status, 201);
    assert.equal(answer.body.firstName, 'Yarrow');
    assert.equal(answer.body.userRole, 'JOINT');
    const read = await app.get(answer.headers.get('location') ?? '');
    assert.equal(read.text, answer.text);
  });

  test('opens a membership with savings, checking and 500.00 for an unknown number with open enrollment', async () => {
    const answer = await register({
      memberNumber: 'NEW-1',
      email: 'nova.startwell@example.test',
      firstName: 'Nova',
      lastName: 'Startwell',
    });
    assert.equal(answer.status, 201);
    const [{ customerId }] = answer.body.customers;
    const accounts = await app.get(`${paths.accounts}?customerId=${customerId}`);
    const shown = accounts.body
      .map((account: { accountType: { DIAccountType: string }; balance: object }) => [
        account.accountType,
        account.balance,
      ])
      .toSorted(([a]: [{ DIAccountType: string }], [b]: [{ DIAccountType: string }]) =>
        a.DIAccountType < b.DIAccountType ? -1 : 1,
      );
    const money = (amount: number) => ({ amount, currencyCode: 'USD' });
    assert.deepEqual(shown, [
      [
        { DIAccountType: 'CHECKING', description: 'Share Draft' },
        { availableBalance: money(500), currentBalance: money(500) },
      ],
      [
        { DIAccountType: 'SAVINGS', description: 'Share Savings' },
        { availableBalance: money(0), currentBalance: money(0) },
      ],
    ]);
  });
});

describe('register: 400', () => {
  test('returns 400 for an invalid member number, e-mail or name', async () => {
    const email = 'nobody@example.test';
    const cases: [object, string][] = [
      [{ email }, '/memberNumber'],
      [{ memberNumber: '100016' }, '/email'],
      [{ memberNumber: '', email }, '/memberNumber'],
      [{ memberNumber: 'x'.repeat(33), email }, '/memberNumber'],
      [{ memberNumber: '10 16', email }, '/memberNumber'],
      [{ memberNumber: 100016, email }, '/memberNumber'],
      [{ memberNumber: '100016', email: 'nobody' }, '/email'],
      [{ memberNumber: '100016', email: `${'x'.repeat(250)}@example.test` }, '/email'],
      [{ memberNumber: '100016', email, firstName: '' }, '/firstName'],
      [{ memberNumber: '100016', email, lastName: 'a\u0000b' }, '/lastName'],
      [{ memberNumber: '100016', email, emailAddress: email }, '/emailAddress'],
    ];
    for (const [body, pointer] of cases) {
      const answer = await register(body);
      assert.equal(answer.status, 400, JSON.stringify(body));
      assert.equal(answer.body.errors[0].pointer, pointer);
    }
  });
});

test('returns 403 for registering with a member’s token', async () => {
  const member = await memberOf(service, 'demo.member', 'demo-member-password');
  const answer = await register({ memberNumber: '100018', email: 'any@example.test' }, member);
  assert.equal(answer.status, 403);
  assert.equal(answer.body.code, 'client_token_required');
});

test('returns 403 for registering without the scope', async () => {
  const reader = await clientOf(service, ['demo-reader', 'demo-reader-secret']);
  const answer = await register({ memberNumber: '100018', email: 'any@example.test' }, reader);
  assert.equal(answer.body.code, 'insufficient_scope');
});

test('returns 404 for registering an unknown number with closed enrollment', async () => {
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const answer = await register({ memberNumber: '100032', email: 'meadow.trialson@example.test' }, harbor);
  assert.equal(answer.status, 404);
  assert.equal(answer.body.code, 'member_not_found');
});

test('returns 409 for a registered person, and registers one of two simultaneous calls', async () => {
  const known = await register({ memberNumber: '100001', email: 'willow.testerman@example.test' });
  assert.equal(known.status, 409);
  assert.equal(known.body.code, 'member_already_registered');
  for (const body of [
    { memberNumber: '100020', email: 'zinnia.stubbington@example.test' },
    { memberNumber: 'NEW-2', email: 'twice@example.test', firstName: 'Twice', lastName: 'Asked' },
  ]) {
    const answers = await Promise.all([register(body), register(body)]);
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409], body.memberNumber);
  }
});

test('returns 422 for an e-mail or a name that contradicts the core', async () => {
  for (const body of [
    { memberNumber: '100021', email: 'somebody.else@example.test' },
    { memberNumber: '100021', email: 'birch.demowitz@example.test', lastName: 'Otherwise' },
  ]) {
    const answer = await register(body);
    assert.equal(answer.status, 422);
    assert.equal(answer.body.code, 'identity_mismatch');
  }
});
