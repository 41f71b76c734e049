import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { nextTurn, runMaintenance } from '../../src/app/background/maintenance.ts';
import { appendAudit, ownOrigin, selectInstitutionsToMaintain } from '../../src/events/index.ts';
import { seams } from '../../src/shared/seams.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { anInstitution } from '../support/builders.ts';
import { eventually } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* An idle process asks one question for all institutions, however many there are. */

const institutions = 30;
let service: TestService;
before(async () => {
  service = await startTestService({ demo: false });
  for (let index = 0; index < institutions; index++) {
    await anInstitution(service.db.database, { record: index % 2 === 0 ? 'core' : 'ledger' });
  }
});
after(() => service.close());

test('an idle process asks the database for no single institution', async () => {
  const asked: string[] = [];
  const start = ({ statement }: { readonly statement: string }) => asked.push(statement);
  const subscriber = { start } as unknown as Parameters<typeof seams.statement.subscribe>[0];
  seams.statement.subscribe(subscriber);
  try {
    const sweeps = () => asked.filter((name) => name === 'transfers_to_settle').length;
    // Long enough for a look at the cores, which comes every two seconds.
    await eventually(
      async () => [sweeps(), asked.includes('core_to_tend')],
      ([count, tended]) => Number(count) >= 5 && tended === true,
    );
  } finally {
    seams.statement.unsubscribe(subscriber);
  }
  const questions = [
    'alerts_work',
    'core_to_tend',
    'institutions_all',
    'logouts_work',
    'transfers_to_settle',
    'webhooks_work',
    'events_begin_epochs_of_timeline',
  ];
  assert.deepEqual(
    [...new Set(asked)].filter((name) => !questions.includes(name)),
    [],
  );
});

test('the maintenance is asked for by an unsealed entry, an expired secret and five hundred events, and by nothing else', async () => {
  const { context } = service.service;
  const { database, clock } = context;
  const ask = () => database.directory((db) => selectInstitutionsToMaintain(db, clock()));
  // An entry and an event count once no older transaction runs.
  const asksFor = (expected: readonly InstitutionId[]) =>
    eventually(ask, (asked) =>
      isDeepStrictEqual(
        asked.toSorted((a, b) => a - b),
        expected,
      ),
    );
  // To seal, to wipe, and to number.
  const ids: InstitutionId[] = [];
  for (let index = 0; index < 3; index++) ids.push((await anInstitution(database)).institutionId);
  const entry = { action: 'institution.changed', outcome: 'succeeded', origin: ownOrigin() } as const;
  await database.transaction(ids[0] as InstitutionId, (tx) => appendAudit(tx, entry, clock()));
  const event = (count: number) =>
    `insert into outbox (institution_id, kind, subject_key, recorded_at) select $1, 'member.registered', 1, now() from generate_series(1, ${count})`;
  await service.db.superuser(event(499), [ids[2]]);
  await service.db.superuser(
    `insert into outbox (institution_id, kind, subject_key, recorded_at, secret, secret_expires_at)
     values ($1, 'member.activation_issued', 1, now(), '\\x00', now() - interval '1 second')`,
    [ids[1]],
  );
  await asksFor(ids.slice(0, 2));
  await service.db.superuser(event(1), [ids[2]]);
  await asksFor(ids);
  const maintained = async () => {
    await runMaintenance(context, (event) => assert.notEqual(event, 'housekeeping_failed'));
    return ask();
  };
  await eventually(maintained, (asked) => asked.length === 0);
});

test('the turns of the maintenance reach each institution within an hour', () => {
  for (const count of [0, 1, 59, 61, 200]) {
    const all = Array.from({ length: count }, (_, index) => ({
      institutionId: (index + 1) as InstitutionId,
    }));
    const reached = new Set<InstitutionId>();
    let last: InstitutionId | undefined;
    for (let minute = 0; minute < 60; minute++) {
      const turn = nextTurn(all, last);
      for (const { institutionId } of turn) reached.add(institutionId);
      last = turn.at(-1)?.institutionId;
    }
    assert.equal(reached.size, count);
  }
});
