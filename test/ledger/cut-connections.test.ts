import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownOrigin } from '../../src/events/index.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import { PostingKeys } from '../../src/ledger/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { Database } from '../../src/storage/index.ts';
import { initiateTransfer, openTransferDesk, rememberSettings } from '../../src/transfers/index.ts';
import { cuttingProxy } from '../support/cutting-proxy.ts';
import { startTestService } from '../support/service.ts';
import { inactiveTokens } from '../support/tokens.ts';

/*
 * The connection of a batch is cut at many bytes, in both directions, COMMIT and its response included. Each caller
 * gets a true response, money moves once or not at all, and repeating the id settles it.
 */
test('a connection cut anywhere in a batch loses no order and doubles none', {
  timeout: 120_000,
}, async () => {
  await using service = await startTestService();
  await using proxy = await cuttingProxy(service.db.connection.host);
  const { database } = service.service.context;
  const ledger = new Database({
    connection: { ...service.db.connection, host: proxy.host },
    maxConnections: 2,
  });
  const institution = await database.directory((db) => findInstitutionByCode(db, 'lakeside'));
  assert.ok(institution);
  const desk = openTransferDesk(ledger, {
    database,
    clock: () => new Date(),
    postingKeys: new PostingKeys(database),
    settings: rememberSettings(database),
    inactiveTokens,
  });
  const actor = { kind: 'client', institutionId: institution.institutionId, clientId: 'demo-app' } as const;
  const submit = (transferId: string) =>
    initiateTransfer(desk, actor, {
      order: {
        transferId,
        fromAccountId: 'a-1001-checking',
        toAccountId: 'a-1001-savings',
        amount: { digits: 1n, decimals: 2 },
        currencyCode: null,
        transferType: null,
        paymentOption: null,
        previousYearContribution: null,
        memo: null,
      },
      origin: ownOrigin(),
    }).then(
      (outcome) => outcome.kind,
      (error: unknown) => (error instanceof Problem ? error.code : String(error)),
    );
  const moved = async (transferId: string) => {
    const rows = await service.db.superuser<{ entries: bigint }>(
      `select count(e.*) as entries from transfers t join entries e on e.posting_key = t.transfer_key
       where t.transfer_id = $1`,
      [transferId],
    );
    return Number(rows[0]?.entries);
  };

  // The bytes that one batch sends and receives on a connection with prepared statements.
  for (const warm of ['warm-1', 'warm-2', 'warm-3']) assert.equal(await submit(warm), 'new');
  proxy.cutAfter(null);
  // An id as long as those of the cut orders.
  assert.equal(await submit('cut-measured-00'), 'new');
  const { toServer, toClient } = { ...proxy.seen };
  const outcomes = new Map<string, number>();
  const places = 24;
  // Each cut is at another place, many bytes from the next.
  assert.ok(Math.min(toServer, toClient) > 20 * places, `${toServer} bytes there, ${toClient} back`);

  for (const [direction, total] of [
    ['toServer', toServer],
    ['toClient', toClient],
  ] as const) {
    for (let place = 0; place <= places; place++) {
      const id = `cut-${direction}-${place}`;
      proxy.cutAfter({ direction, bytes: Math.max(1, Math.round((total * place) / places)) });
      const answer = await submit(id);
      proxy.cutAfter(null);
      outcomes.set(answer, (outcomes.get(answer) ?? 0) + 1);
      // An order that was resolved after a lost commit finds its own id, and counts as new.
      if (answer === 'new' || answer === 'replayed') assert.equal(await moved(id), 2, `${id}: ${answer}`);
      else if (answer === 'database_unavailable') assert.equal(await moved(id), 0, `${id}: ${answer}`);
      else assert.equal(answer, 'outcome_unknown', id);
      const again = await submit(id);
      assert.ok(again === 'new' || again === 'replayed', `${id} again: ${again}`);
      assert.equal(await moved(id), 2, `${id} after repeating`);
    }
  }
  assert.ok(
    (outcomes.get('new') ?? 0) + (outcomes.get('replayed') ?? 0) > places,
    JSON.stringify([...outcomes]),
  );

  const sums = await service.db.superuser<{ total: string }>(
    'select sum(posted)::text as total from balances group by institution_id, currency',
  );
  assert.deepEqual(new Set(sums.map((row) => row.total)), new Set(['0']));
  await ledger.close();
});
