import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientOf, paths } from '../support/demo.ts';
import { demoAddress, operatorOf } from '../support/operators.ts';
import { asSuperuser } from '../support/postgres.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let now = Date.now();

before(async () => {
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
});
after(() => service.close());

test('counts transfers that wait by age, and lists those of a band, by the clock of the service', async () => {
  const begun = now;
  const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
  const order = {
    id: 'desk-age',
    fromAccountId: 'a-1002-checking',
    toAccountId: 'a-1001-checking',
    amount: 510,
  };
  assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
  // Its review ends after an hour, and the service would let it expire then.
  await asSuperuser(service.db.connection, async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      `update pending_transfers p set due_at = p.due_at + interval '30 days' from transfers t
       where t.institution_id = p.institution_id and t.transfer_key = p.transfer_key and t.transfer_id = 'desk-age'`,
    );
  });
  const minutes = (count: number) => count * 60_000;
  for (const [millis, band] of [
    [0, 'UNDER_15_MINUTES'],
    [minutes(15) - 1, 'UNDER_15_MINUTES'],
    [minutes(15), 'UNDER_AN_HOUR'],
    [minutes(60) - 1, 'UNDER_AN_HOUR'],
    [minutes(60), 'UNDER_A_DAY'],
    [minutes(24 * 60) - 1, 'UNDER_A_DAY'],
    [minutes(24 * 60), 'OLDER'],
  ] as const) {
    now = begun + millis;
    const viewer = await operatorOf(service, 'Demo viewer', 'harbor');
    const listed = async (query: string): Promise<string[]> =>
      (await viewer.get(`/pending?${query}`)).body.map(({ id }: { id: string }) => id);
    const { waiting } = (await viewer.get('/today')).body;
    const reviews = waiting.find(({ heldFor }: { heldFor: string }) => heldFor === 'REVIEW');
    assert.ok(reviews !== undefined, `${millis} ms: ${JSON.stringify(waiting)}`);
    for (const { age, transfers } of reviews.ages) {
      const ids = await listed(`heldFor=REVIEW&age=${age}`);
      assert.equal(ids.length, transfers, `${millis} ms, ${age}`);
      assert.equal(ids.includes('desk-age'), age === band, `${millis} ms, ${age}`);
    }
    const counts: number[] = reviews.ages.map(({ transfers }: { transfers: number }) => transfers);
    assert.equal(
      counts.reduce((sum, count) => sum + count, 0),
      reviews.transfers,
    );
    assert.ok((await listed(`age=${band}`)).includes('desk-age'));
    assert.ok(!(await listed(`heldFor=CUT_OFF&age=${band}`)).includes('desk-age'));
    const elsewhere = await operatorOf(service, 'Demo viewer', 'lakeside');
    const others = (await elsewhere.get(`/pending?age=${band}`)).body;
    assert.ok(!others.some(({ id }: { id: string }) => id === 'desk-age'));
  }
  const viewer = await operatorOf(service, 'Demo viewer', 'harbor');
  for (const query of ['age=YOUNG', 'heldFor=review', 'age=', 'band=OLDER'])
    assert.equal((await viewer.get(`/pending?${query}`)).status, 400, query);
});
