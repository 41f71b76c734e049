import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Problem } from '../../src/shared/problem.ts';
import type { Outcome, Transfer, TransferOrder } from '../../src/transfers/index.ts';
import { clientToken, memberToken, startEdge } from './fake-services.ts';

const path = '/digitalbanking/db-transfers/v1/transfers';
const order = { fromAccountId: 'acc-1', toAccountId: 'acc-2', amount: 105 };

const transfer: Transfer = {
  id: 'rent-1',
  transferType: 'STANDARD',
  fromAccountId: 'acc-1',
  toAccountId: 'acc-2',
  amountMinor: 10_500n,
  currencyCode: 'USD',
  status: 'COMPLETED',
  createdAt: new Date('2026-11-20T15:04:05.678Z'),
  failureCode: null,
  failureDetail: null,
  memo: null,
};
const declined: Transfer = {
  ...transfer,
  status: 'FAILED',
  failureCode: 'insufficient_funds',
  failureDetail: 'The source account does not have enough available.',
};

/** An edge with one fixed result for every order, and the orders it received. */
async function edgeAnswering(outcome: Outcome) {
  const orders: TransferOrder[] = [];
  const edge = await startEdge({
    initiateTransfer: async (_actor, given) => {
      orders.push(given);
      return outcome;
    },
  });
  return { ...edge, orders };
}

describe('edge of initiate transfer', () => {
  it('reads the amount from the source text of its number', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    for (const [text, digits, decimals] of [
      ['9999999999999.99', 999_999_999_999_999n, 2],
      ['0.07', 7n, 2],
      ['105.00', 105n, 0],
      ['1.500', 15n, 1],
      ['1e2', 100n, 0],
      ['1.0E1', 10n, 0],
      ['1.05e2', 105n, 0],
    ] as const) {
      await edge.client.post(path, {
        token: clientToken,
        body: `{"fromAccountId":"a","toAccountId":"b","amount":${text}}`,
        headers: { 'content-type': 'application/json' },
      });
      assert.deepEqual(edge.orders.at(-1)?.amount, { digits, decimals }, text);
    }
  });

  it('reads a decimal string as the number in it', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    for (const [amount, digits, decimals] of [
      ['1234567.89', 123_456_789n, 2],
      ['105', 105n, 0],
      ['1E+2', 100n, 0],
      ['9999999999999.99', 999_999_999_999_999n, 2],
    ] as const) {
      const reply = await edge.client.post(path, { token: clientToken, json: { ...order, amount } });
      assert.equal(reply.status, 201, amount);
      assert.deepEqual(edge.orders.at(-1)?.amount, { digits, decimals }, amount);
    }
  });

  it('points at an impossible amount', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    for (const text of [
      '0',
      '0.00',
      '-1',
      '""',
      '" 105"',
      '"+105"',
      '"1,05"',
      '"0x10"',
      '"Infinity"',
      '"-1"',
      '"1.001e-3"',
      '10000000000000',
      '1e400',
      '1.23456',
      'null',
      'true',
      '[1]',
    ]) {
      const reply = await edge.client.post(path, {
        token: clientToken,
        body: `{"fromAccountId":"a","toAccountId":"b","amount":${text}}`,
        headers: { 'content-type': 'application/json' },
      });
      assert.equal(reply.status, 400, text);
      assert.equal(reply.body.errors[0].pointer, '/amount', text);
    }
    assert.equal(edge.orders.length, 0);
  });

  it('ignores status and createdAt with any value', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    for (const [status, createdAt] of [
      ['FAILED', '2020-01-01T00:00:00Z'],
      ['DONE', 'yesterday'],
      [null, null],
      [1, { at: [] }],
      ['', true],
    ]) {
      const full = { ...order, id: 'rent-1', status, createdAt };
      const reply = await edge.client.post(path, { token: clientToken, json: full });
      assert.equal(reply.status, 201, JSON.stringify(full));
    }
    assert.deepEqual(edge.orders[0], {
      transferId: 'rent-1',
      fromAccountId: 'acc-1',
      toAccountId: 'acc-2',
      amount: { digits: 105n, decimals: 0 },
      currencyCode: null,
      transferType: null,
      paymentOption: null,
      previousYearContribution: null,
      memo: null,
    });
    for (const given of edge.orders) assert.deepEqual(given, edge.orders[0]);
  });

  it('reads null as absence in an optional field, and in no other', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    const optional = ['transferType', 'currencyCode', 'paymentOption', 'previousYearContribution'];
    const nulls = Object.fromEntries(optional.map((name) => [name, null]));
    const json = { ...order, id: 'rent-1', ...nulls };
    assert.equal((await edge.client.post(path, { token: clientToken, json })).status, 201);
    await edge.client.post(path, { token: clientToken, json: { ...order, id: 'rent-1' } });
    assert.deepEqual(edge.orders[0], edge.orders[1]);
    assert.equal(
      (await edge.client.post(path, { token: clientToken, json: { ...order, id: null } })).status,
      201,
    );
    for (const name of ['fromAccountId', 'toAccountId', 'amount', 'more']) {
      const reply = await edge.client.post(path, { token: clientToken, json: { ...order, [name]: null } });
      assert.equal(reply.status, 400, name);
      assert.equal(reply.body.errors[0].pointer, `/${name}`);
    }
  });

  it('refuses impossible ids and reserved ones', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    for (const id of ['', '-a', 'a b', 'ä', 'x'.repeat(65), 'a/b', 'options', 'dry-run', 'a\u0000', 7]) {
      const reply = await edge.client.post(path, { token: clientToken, json: { ...order, id } });
      assert.equal(reply.status, 400, String(id));
      assert.equal(reply.body.errors[0].pointer, '/id');
    }
    assert.equal(
      (await edge.client.post(path, { token: clientToken, json: { ...order, id: 'options2' } })).status,
      201,
    );
  });

  it('makes a UUIDv7 for an order without an id', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    await edge.client.post(path, { token: clientToken, json: order });
    assert.match(
      edge.orders[0]?.transferId ?? '',
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('derives the id from an Idempotency-Key, per caller, if the body has none', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    const send = async (token: string, key: string, json: object = order) => {
      await edge.client.post(path, { token, json, headers: { 'idempotency-key': key } });
      return edge.orders.at(-1)?.transferId;
    };
    const first = await send(clientToken, 'key-1');
    assert.match(first ?? '', /^key:[A-Za-z0-9_-]{43}$/);
    assert.equal(await send(clientToken, 'key-1'), first);
    assert.equal(await send(clientToken, '"key-1"'), first);
    assert.notEqual(await send(clientToken, 'key-2'), first);
    assert.notEqual(await send(memberToken, 'key-1'), first);
    assert.equal(await send(clientToken, 'key-1', { ...order, id: 'mine' }), 'mine');
  });

  it('refuses an impossible Idempotency-Key', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    for (const key of ['', 'two words', 'x'.repeat(256), 'ü', '""']) {
      const headers = { 'idempotency-key': key };
      const reply = await edge.client.post(path, { token: clientToken, json: order, headers });
      assert.equal(reply.status, 400, key);
      assert.equal(reply.body.errors[0].pointer, 'Idempotency-Key');
    }
    assert.equal(edge.orders.length, 0);
  });

  it('returns 201 for a new transfer, with its Location and exact amount', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer });
    const reply = await edge.client.post(path, { token: clientToken, json: order });
    assert.equal(reply.status, 201);
    assert.equal(reply.headers.get('location'), `${path}/rent-1`);
    assert.equal(reply.headers.get('idempotent-replayed'), null);
    assert.equal(
      reply.text,
      '{"id":"rent-1","transferType":"STANDARD","fromAccountId":"acc-1","toAccountId":"acc-2","amount":105.00,"currencyCode":"USD","status":"COMPLETED","createdAt":"2026-11-20T15:04:05.678Z"}',
    );
  });

  it('returns 201 for a held transfer', async () => {
    await using edge = await edgeAnswering({ kind: 'new', transfer: { ...transfer, status: 'PENDING' } });
    const reply = await edge.client.post(path, { token: clientToken, json: order });
    assert.equal(reply.status, 201);
    assert.equal(reply.body.status, 'PENDING');
  });

  it('returns 200 for the same order again', async () => {
    await using edge = await edgeAnswering({ kind: 'replayed', transfer });
    const reply = await edge.client.post(path, { token: clientToken, json: order });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('idempotent-replayed'), 'true');
    assert.equal(reply.body.id, 'rent-1');
  });

  it('returns 422 for a declined order, new and repeated, with the transfer and the reason', async () => {
    for (const kind of ['new', 'replayed'] as const) {
      await using edge = await edgeAnswering({ kind, transfer: declined });
      const reply = await edge.client.post(path, { token: clientToken, json: order });
      assert.equal(reply.status, 422);
      assert.equal(reply.body.code, 'insufficient_funds');
      assert.equal(reply.body.detail, 'The source account does not have enough available.');
      assert.equal(reply.body.transfer.status, 'FAILED');
      assert.equal(reply.body.transfer.failureCode, 'insufficient_funds');
      assert.equal(reply.headers.get('idempotent-replayed'), kind === 'replayed' ? 'true' : null);
    }
  });

  it('returns 409 for another order under the id, with the different fields only for a caller who may see them', async () => {
    await using open = await edgeAnswering({ kind: 'id_reused', differs: ['amount', 'toAccountId'] });
    const conflict = await open.client.post(path, { token: clientToken, json: order });
    assert.equal(conflict.status, 409);
    assert.equal(conflict.body.code, 'transfer_id_reused');
    assert.deepEqual(
      conflict.body.errors.map((part: { pointer: string }) => part.pointer),
      ['/amount', '/toAccountId'],
    );
    await using bare = await edgeAnswering({ kind: 'id_reused', differs: null });
    const untold = await bare.client.post(path, { token: clientToken, json: { ...order, id: 'secret-id' } });
    // In the log for operators, with the caller and without the id.
    const [line] = bare.log.filter(({ msg }) => /transfer id of another order/.test(String(msg)));
    assert.deepEqual([line?.level, line?.clientId], [40, 'quill-app']);
    assert.doesNotMatch(JSON.stringify(bare.log), /secret-id/);
    assert.equal(untold.status, 409);
    assert.equal(untold.body.errors, undefined);
  });

  it('returns 400 for an amount that its currency cannot write', async () => {
    await using edge = await edgeAnswering({
      kind: 'malformed',
      pointer: '/amount',
      detail: 'Too many decimals.',
    });
    const reply = await edge.client.post(path, { token: clientToken, json: order });
    assert.equal(reply.status, 400);
    assert.deepEqual(reply.body.errors, [{ pointer: '/amount', detail: 'Too many decimals.' }]);
  });

  it('returns 503 if nothing happened, and 504 with the id to repeat if the outcome is unknown', async () => {
    await using down = await startEdge({
      initiateTransfer: async () => {
        throw new Problem('database_unavailable', 'The database cannot be reached.');
      },
    });
    const nothing = await down.client.post(path, { token: clientToken, json: order });
    assert.equal(nothing.status, 503);
    assert.equal(nothing.headers.get('retry-after'), '1');
    let made = '';
    await using lost = await startEdge({
      initiateTransfer: async (_actor, { transferId }) => {
        made = transferId;
        throw new Problem('outcome_unknown', 'The answer was lost.', { members: { id: transferId } });
      },
    });
    const unknown = await lost.client.post(path, { token: clientToken, json: order });
    assert.equal(unknown.status, 504);
    assert.equal(unknown.body.id, made);
    assert.notEqual(made, '');
  });

  it('logs a 429 for a burst of dry runs once a minute', async () => {
    await using edge = await startEdge(
      { explainTransfer: async () => ({ kind: 'id_reused', differs: null }) },
      { dryRunsPerMinute: 1 },
    );
    const statuses: number[] = [];
    for (let tries = 0; tries < 4; tries += 1) {
      const { status } = await edge.client.post(`${path}/dry-run`, { token: memberToken, json: order });
      statuses.push(status);
    }
    assert.deepEqual(statuses, [409, 429, 429, 429]);
    const lines = edge.log.filter(({ msg }) => msg === 'rate limit reached');
    assert.deepEqual(
      lines.map(({ rate, clientId, userId }) => [rate, clientId, userId]),
      [['dry-run', 'quill-app', 'usr-1']],
    );
  });
});
