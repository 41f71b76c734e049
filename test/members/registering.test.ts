import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { changeClient, createClient, listClients } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { type Answer, clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { institutionOf } from '../support/identity.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Registering as callers meet it: what a client is told, how often it may try, what an opening may cost a day. */

let service: TestService;
const now = new Date('2026-03-02T17:00:00Z');
before(async () => {
  service = await startTestService({ clock: () => now });
});
after(() => service.close());

const backend = ['demo-backend', 'demo-backend-secret'] as const;

async function setRefusals(registrationRefusals: 'UNIFORM' | 'DISTINCT'): Promise<void> {
  const { institutionId } = await institutionOf(service, 'lakeside');
  const change = { registrationRefusals };
  const changed = await changeClient(
    service.service.stores.auth,
    institutionId,
    backend[0],
    change,
    ownOrigin(),
  );
  assert.ok(changed);
}

/** The answer without what names this one occurrence. */
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

  test('give every refused registration one answer, and leave the reason in the audit', async () => {
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
    await service.service.stores.auth.audit.settle();
    const reasons = await service.db.superuser<{ reason: string; times: number }>(
      `select reason, sum(times)::integer as times from audit_entries
       where action = 'user.registered' and outcome = 'refused' group by 1 order by 1`,
    );
    assert.deepEqual(
      reasons,
      all.map(([, , reason]) => ({ reason, times: 2 })).toSorted((a, b) => (a.reason < b.reason ? -1 : 1)),
    );
  });

  test('are what a new client gets unless it is created otherwise', async () => {
    const { institutionId } = await institutionOf(service, 'lakeside');
    const client = {
      institutionId,
      clientId: 'newest',
      name: 'newest',
      scopes: ['institution-users:write'],
      grants: ['client_credentials'],
    } as const;
    await createClient(service.service.stores.auth, client, ownOrigin());
    const listed = await listClients(service.service.stores.auth, institutionId);
    const newest = listed.find(({ clientId }) => clientId === 'newest');
    assert.partialDeepStrictEqual(newest, { registrationRefusals: 'UNIFORM', introspectsAll: false });
  });
});
