import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { changeClient, createClient, listClients, reissueActivation } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { forgetRegistrationTries } from '../../src/members/index.ts';
import { runCli } from '../support/cli.ts';
import { type Answer, clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { institutionOf } from '../support/identity.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Registering over HTTP: the refusals that a client gets, its number of tries, and the daily cost of openings. */

let service: TestService;
let now = new Date('2026-03-02T17:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now });
});
after(() => service.close());

const backend = ['demo-backend', 'demo-backend-secret'] as const;

async function setRefusals(registrationRefusals: 'UNIFORM' | 'DISTINCT'): Promise<void> {
  const { institutionId } = await institutionOf(service, 'lakeside');
  const change = { registrationRefusals };
  const changed = await changeClient(service.service.context.auth, institutionId, {
    clientId: backend[0],
    change,
    origin: ownOrigin(),
  });
  assert.ok(changed);
}

/** The response without the members that identify this occurrence. */
function bodyOf({ status, body }: Answer): object {
  const { instance, ...rest } = body;
  assert.match(instance, /^urn:uuid:/);
  return { status, ...rest };
}

describe('uniform refusals', () => {
  const refused: [what: string, registration: object, distinct: string][] = [
    ['another e-mail', { memberNumber: '100021', email: 'other@example.test' }, 'identity_mismatch'],
    [
      'a registered member',
      { memberNumber: '100001', email: 'willow.testerman@example.test' },
      'member_already_registered',
    ],
  ];
  const unknown = { memberNumber: 'UNKNOWN-1', email: 'other@example.test' };

  test('uniform refusals return one response for every refused registration, and audit the reason', async () => {
    const client: DemoCaller = await clientOf(service, backend);
    await service.db.superuser("update institutions set enrollment = 'closed' where code = 'lakeside'");
    const all = [...refused, ['an unknown number', unknown, 'member_not_found'] as const];
    for (const [what, registration, distinct] of all) {
      const answer = await client.post(paths.register, registration);
      assert.equal(answer.body.code, distinct, what);
    }
    await setRefusals('UNIFORM');
    const answers: object[] = [];
    for (const [, registration] of all) {
      answers.push(bodyOf(await client.post(paths.register, registration)));
    }
    assert.deepEqual(answers, Array(all.length).fill(answers[0]));
    assert.partialDeepStrictEqual(answers[0], { status: 422, code: 'registration_refused' });
    await setRefusals('DISTINCT');
    await service.db.superuser("update institutions set enrollment = 'open' where code = 'lakeside'");
    await service.service.context.auth.audit.settle();
    const reasons = await service.db.superuser<{ reason: string; times: number }>(
      `select reason, sum(times)::integer as times from audit_entries
       where action = 'user.registered' and outcome = 'refused' group by 1 order by 1`,
    );
    assert.deepEqual(
      reasons,
      all.map(([, , reason]) => ({ reason, times: 2 })).toSorted((a, b) => (a.reason < b.reason ? -1 : 1)),
    );
  });

  test('uniform refusals are alike for known and unknown numbers when the daily cap is reached', async () => {
    const client = await clientOf(service, backend);
    await service.db.superuser("update institutions set openings_per_day = 0 where code = 'lakeside'");
    const newcomer = { memberNumber: 'UNKNOWN-9', email: 'other@example.test' };
    assert.equal((await client.post(paths.register, newcomer)).body.code, 'too_many_requests');
    await setRefusals('UNIFORM');
    const answers = await Promise.all(
      [...refused.map(([, registration]) => registration), newcomer].map((registration) =>
        client.post(paths.register, registration),
      ),
    );
    await setRefusals('DISTINCT');
    await service.db.superuser("update institutions set openings_per_day = 1000 where code = 'lakeside'");
    assert.deepEqual(answers.map(bodyOf), Array(answers.length).fill(bodyOf(answers[0] ?? assert.fail())));
    assert.partialDeepStrictEqual(answers[0], { status: 422, body: { code: 'registration_refused' } });
    const headers = answers.map((answer) =>
      [...answer.headers.keys()].filter((name) => name === 'retry-after'),
    );
    assert.deepEqual(headers.flat(), []);
  });

  test('a new client gets uniform refusals unless it is created otherwise', async () => {
    const { institutionId } = await institutionOf(service, 'lakeside');
    const client = {
      institutionId,
      clientId: 'newest',
      name: 'newest',
      scopes: ['institution-users:write'],
      grants: ['client_credentials'],
    } as const;
    await createClient(service.service.context.auth, client, ownOrigin());
    const listed = await listClients(service.service.context.auth, institutionId);
    const newest = listed.find(({ clientId }) => clientId === 'newest');
    assert.partialDeepStrictEqual(newest, { registrationRefusals: 'UNIFORM', introspectsAll: false });
  });
});

test('the command line warns of the scopes that make and open a login, and sets a client’s kind of refusals', async () => {
  const client = (...words: string[]) =>
    runCli(service.db, ['client', ...words, '--institution', 'lakeside']);
  const pair = ['--scopes', 'events:read institution-users:write'];
  const created = await client('create', 'both', ...pair);
  assert.deepEqual(
    [created.code, /^warning: .*docs\/security\.md/.test(created.stderr)],
    [0, true],
    created.stderr,
  );
  const apart = await client('set', 'both', '--scopes', 'events:read', '--introspection', 'all');
  assert.deepEqual([apart.code, apart.stderr], [0, '']);
  await client('set', 'both', '--registration-refusals', 'distinct');
  const { stdout } = await client('list');
  const listed = stdout.slice(stdout.indexOf('both (both)'));
  assert.match(listed, /learns {4}about all tokens of the institution; distinct refusals of registration/);
});

describe('tries of one member number', () => {
  const tryOne = (client: DemoCaller, memberNumber: string, email = 'guess@example.test') =>
    client.post(paths.register, { memberNumber, email });

  test('pauses tries of one member number after twenty, longer each time, whether the number is known or not', async () => {
    await service.db.superuser("update institutions set enrollment = 'closed' where code = 'lakeside'");
    try {
      let client = await clientOf(service, backend);
      for (const memberNumber of ['100022', 'UNKNOWN-2']) {
        const answers = await Promise.all(Array.from({ length: 30 }, () => tryOne(client, memberNumber)));
        const paused = answers.filter(({ status }) => status === 429);
        assert.equal(paused.length, 10, memberNumber);
        for (const { body, headers } of paused) {
          assert.equal(body.code, 'too_many_requests');
          assert.equal(headers.get('retry-after'), '60');
        }
        assert.equal((await tryOne(client, '100023')).body.code, 'identity_mismatch');
      }
      const known = 'fern.example@example.test';
      assert.equal((await tryOne(client, '100022', known)).status, 429, 'also with the right details');
      now = new Date(now.getTime() + 60_000);
      assert.equal((await tryOne(client, '100022')).body.code, 'identity_mismatch');
      assert.equal((await tryOne(client, '100022')).headers.get('retry-after'), '120');
      now = new Date(now.getTime() + 24 * 60 * 60_000);
      client = await clientOf(service, backend);
      assert.equal((await tryOne(client, '100022')).body.code, 'identity_mismatch');
      assert.equal((await tryOne(client, '100022')).body.code, 'identity_mismatch');
    } finally {
      await service.db.superuser("update institutions set enrollment = 'open' where code = 'lakeside'");
    }
  });

  test('forgets tries of a member number after a success, and after a day without one', async () => {
    const client = await clientOf(service);
    const { institutionId } = await institutionOf(service, 'lakeside');
    const counted = () =>
      service.db.superuser<{ member_number: string }>(
        `select member_number from registration_tries where member_number = any ($1)`,
        [['100024', '100025']],
      );
    assert.equal((await tryOne(client, '100024')).status, 422);
    assert.equal((await tryOne(client, '100025')).status, 422);
    const [person] = await service.db.superuser<{ email: string }>(
      `select p.email from persons p join customer_persons using (institution_id, person_key)
       join customers c using (institution_id, customer_key) where c.member_number = '100024' and c.institution_id = $1`,
      [institutionId],
    );
    assert.equal((await tryOne(client, '100024', person?.email)).status, 201);
    assert.deepEqual(await counted(), [{ member_number: '100025' }]);
    const later = new Date(now.getTime() + 24 * 60 * 60_000);
    await forgetRegistrationTries(service.db.database, institutionId, later);
    assert.deepEqual(await counted(), []);
  });
});

describe('opening deposit', () => {
  test('pays a real institution’s opening deposit in the transaction of the activation', async () => {
    await service.db.superuser("update institutions set demo = false where code = 'lakeside'");
    try {
      const client = await clientOf(service);
      const registered = await client.post(paths.register, {
        memberNumber: 'REAL-1',
        email: 'real.one@example.test',
      });
      assert.equal(registered.status, 201, registered.text);
      const { userId, customers } = registered.body;
      const held = async () => {
        const accounts = await client.get(`${paths.customer(customers[0].customerId)}/accounts`);
        return accounts.body.map(
          (one: { balance: { currentBalance: { amount: number } } }) => one.balance.currentBalance.amount,
        );
      };
      assert.deepEqual((await held()).toSorted(), [0, 0]);
      const { institutionId } = await institutionOf(service, 'lakeside');
      const { auth } = service.service.context;
      const issued = await reissueActivation(auth, institutionId, { name: userId, origin: ownOrigin() });
      const login = {
        activationCode: issued?.code,
        username: 'real.one',
        password: 'seven lanterns by the lake',
      };
      const capped = (most: string) =>
        service.db.superuser(
          `update institutions set opening_deposits_per_day = ${most} where code = 'lakeside'`,
        );
      await capped('0');
      const waiting = await client.post(paths.activate, login);
      assert.equal(waiting.status, 429, waiting.text);
      assert.ok(Number(waiting.headers.get('retry-after')) > 60);
      await capped('100000000');
      assert.equal((await client.post(paths.activate, login)).status, 201);
      assert.deepEqual((await held()).toSorted(), [0, 500]);
    } finally {
      await service.db.superuser("update institutions set demo = true where code = 'lakeside'");
    }
  });
});
