import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { clientOf, type DemoCaller, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* One failing order or locked account must affect only its own callers. */

let service: TestService;
let bank: DemoCaller;
before(async () => {
  service = await startTestService();
  bank = await clientOf(service);
});
after(() => service.close());

function order(id: string, fromAccountId: string, toAccountId: string) {
  return { id, fromAccountId, toAccountId, amount: 0.01 };
}

test('a poison order fails alone and stores nothing, and its neighbors in the batch succeed', async () => {
  await service.db.superuser(
    `create function poison() returns trigger language plpgsql as $$
     begin
       if new.transfer_id = 'poison' then raise exception 'poison'; end if;
       return new;
     end $$`,
  );
  await service.db.superuser(
    'create trigger poison before insert on transfers for each row execute function poison()',
  );
  const neighbours = Array.from({ length: 40 }, (_, index) =>
    bank.post(paths.transfers, order(`neighbour-${index}`, 'a-1001-checking', 'a-1001-savings')),
  );
  const poison = bank.post(paths.transfers, order('poison', 'a-1001-checking', 'a-1001-savings'));
  const statuses = (await Promise.all(neighbours)).map((answer) => answer.status);
  assert.deepEqual(new Set(statuses), new Set([201]));
  const answer = await poison;
  assert.equal(answer.status, 500);
  assert.equal(answer.body.code, 'internal_error');
  assert.doesNotMatch(answer.text, /poison|trigger|plpgsql/);
  const stored = await service.db.superuser(
    `select from idempotency_keys where transfer_id = 'poison'
     union all select from transfers where transfer_id = 'poison'`,
  );
  assert.equal(stored.length, 0);
  await service.db.superuser('drop trigger poison on transfers');
  const again = await bank.post(paths.transfers, order('poison', 'a-1001-checking', 'a-1001-savings'));
  assert.equal(again.status, 201, 'the id was not used up');
});

test('an account that another session has locked delays no other order, and its order settles after the release', async () => {
  const stranger = new pg.Client({ ...service.db.owner });
  await stranger.connect();
  await stranger.query('begin');
  await stranger.query(`select from balances where account_id = 'a-1014-checking' for update`);

  const started = performance.now();
  const stuck = bank.post(paths.transfers, order('stuck', 'a-1014-checking', 'a-1001-savings'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  const waits: number[] = [];
  for (let round = 0; round < 6; round++) {
    const sent = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        bank.post(paths.transfers, order(`free-${round}-${index}`, 'a-1002-checking', 'a-1003-checking')),
      ),
    );
    waits.push(performance.now() - sent);
    assert.deepEqual(new Set(answers.map((answer) => answer.status)), new Set([201]));
  }
  // Twenty orders that share no account with it, six times over, while it waits.
  assert.ok(Math.max(...waits) < 3_000, `neighbours waited ${waits.map(Math.round).join(', ')} ms`);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, 2_000 - (performance.now() - started))));
  await stranger.query('rollback');
  await stranger.end();
  assert.equal((await stuck).status, 201);
});

test('an account locked longer than an order may wait causes 503, writes nothing and keeps the id free', async () => {
  const stranger = new pg.Client({ ...service.db.owner });
  await stranger.connect();
  await stranger.query('begin');
  await stranger.query(`select from balances where account_id = 'a-1014-checking' for update`);
  const answer = await bank.post(paths.transfers, order('too-long', 'a-1014-checking', 'a-1001-savings'));
  assert.equal(answer.status, 503, answer.text);
  assert.ok(answer.headers.has('retry-after'));
  await stranger.query('rollback');
  await stranger.end();
  const stored = await service.db.superuser(`select from idempotency_keys where transfer_id = 'too-long'`);
  assert.equal(stored.length, 0);
  const again = await bank.post(paths.transfers, order('too-long', 'a-1014-checking', 'a-1001-savings'));
  assert.equal(again.status, 201);
});
