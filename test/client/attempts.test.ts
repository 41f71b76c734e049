import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ConflictError,
  ConnectionError,
  OutcomeUnknownError,
  RateLimitError,
  Sharedraft,
  type SharedraftOptions,
  TimeoutError,
  TransferDeclinedError,
  type TransferOrder,
  UnavailableError,
} from '../../client/src/index.ts';
import {
  hangUp,
  json,
  problem,
  type ScriptedServer,
  silence,
  startScriptedServer,
} from './scripted-server.ts';

const order: TransferOrder = { fromAccountId: 'a-1', toAccountId: 'a-2', amount: '105.20' };
const completed = json(201, { ...order, id: 'any', amount: 105.2, status: 'COMPLETED' });

function clientOf({ baseUrl }: ScriptedServer, options: Partial<SharedraftOptions> = {}): Sharedraft {
  return new Sharedraft({ baseUrl, auth: () => 'token', ...options });
}

const failures = {
  'a broken connection': hangUp,
  'a 503': problem(503, 'overloaded', {}, { 'retry-after': '0' }),
  'a 504 with an unknown outcome': problem(504, 'outcome_unknown', { id: 'any' }),
  'a 500': problem(500, 'internal_error'),
  'a 429': problem(429, 'too_many_requests', {}, { 'retry-after': '0' }),
  'a 502 of a proxy': json(502, {}),
};
for (const [name, failure] of Object.entries(failures)) {
  test(`repeats an order after ${name} with the same id and the same bytes`, async () => {
    await using server = await startScriptedServer(failure, failure, completed);
    const { status } = await clientOf(server).transfers.create(order);
    assert.equal(status, 'COMPLETED');
    const bodies = server.received.map(({ body }) => body);
    assert.equal(bodies.length, 3);
    assert.equal(new Set(bodies).size, 1, bodies.join('\n'));
    assert.match(bodies[0] ?? '', /"amount":105\.20,/);
    assert.match(bodies[0] ?? '', /"id":"[0-9a-f-]{36}"/);
  });
}

test('sends the id that the caller chose', async () => {
  await using server = await startScriptedServer(completed);
  await clientOf(server).transfers.create({ ...order, id: 'rent-2026-11' });
  assert.equal(JSON.parse(server.received[0]?.body ?? '').id, 'rent-2026-11');
});

test('makes another id for another call', async () => {
  await using server = await startScriptedServer(completed);
  const { transfers } = clientOf(server);
  await transfers.create(order);
  await transfers.create(order);
  const [first, second] = server.received.map(({ body }) => JSON.parse(body).id);
  assert.notEqual(first, second);
});

test('throws the outcome as unknown if no attempt shows it', async () => {
  await using server = await startScriptedServer(problem(504, 'outcome_unknown', { id: 'rent' }));
  const call = clientOf(server, { maxRetries: 1 }).transfers.create({ ...order, id: 'rent' });
  await assert.rejects(call, (error) => error instanceof OutcomeUnknownError && error.id === 'rent');
  assert.equal(server.received.length, 2);
});

test('throws a declined transfer with its reason, and does not repeat it', async () => {
  const transfer = { id: 'rent', amount: 105.2, status: 'FAILED' };
  await using server = await startScriptedServer(problem(422, 'insufficient_funds', { transfer }));
  await assert.rejects(clientOf(server).transfers.create(order), (error) => {
    assert.ok(error instanceof TransferDeclinedError);
    assert.equal(error.code, 'insufficient_funds');
    assert.equal(error.transfer.amount, '105.2');
    return true;
  });
  assert.equal(server.received.length, 1);
});

test('does not repeat a conflict', async () => {
  await using server = await startScriptedServer(problem(409, 'transfer_id_reused'));
  await assert.rejects(clientOf(server).transfers.create(order), ConflictError);
  assert.equal(server.received.length, 1);
});

test('does not repeat a registration that may have been carried out', async () => {
  await using server = await startScriptedServer(hangUp);
  const call = clientOf(server).members.register({ memberNumber: '1', email: 'a@example.test' });
  await assert.rejects(call, ConnectionError);
  assert.equal(server.received.length, 1);
});

test('repeats a registration after a 503, since nothing was written', async () => {
  await using server = await startScriptedServer(
    problem(503, 'overloaded', {}, { 'retry-after': '0' }),
    json(201, { userId: 'u-1' }),
  );
  const { userId } = await clientOf(server).members.register({ memberNumber: '1', email: 'a@example.test' });
  assert.equal(userId, 'u-1');
});

test('waits for as long as Retry-After says', async () => {
  await using server = await startScriptedServer(
    problem(429, 'too_many_requests', {}, { 'retry-after': '1' }),
    json(200, {}),
  );
  const started = performance.now();
  await clientOf(server).accounts.get('a-1');
  assert.ok(performance.now() - started >= 1_000);
});

test('leaves a Retry-After of more than a minute to the caller', async () => {
  await using server = await startScriptedServer(
    problem(429, 'too_many_requests', {}, { 'retry-after': '3600' }),
  );
  await assert.rejects(clientOf(server).accounts.get('a-1'), (error) => {
    return error instanceof RateLimitError && error.retryAfterSeconds === 3600;
  });
  assert.equal(server.received.length, 1);
});

test('ends an attempt at its time limit and tries again', async () => {
  await using server = await startScriptedServer(silence, json(200, { accountId: 'a-1' }));
  const account = await clientOf(server, { timeoutMillis: 200 }).accounts.get('a-1');
  assert.equal(account.accountId, 'a-1');
});

test('throws a TimeoutError if no attempt got a response', async () => {
  await using server = await startScriptedServer(silence);
  const options = { timeoutMillis: 50, maxRetries: 0 };
  await assert.rejects(clientOf(server).accounts.get('a-1', options), TimeoutError);
});

test('rejects with the reason of the signal, also while it waits to try again', async () => {
  await using server = await startScriptedServer(problem(503, 'overloaded', {}, { 'retry-after': '30' }));
  const abort = new AbortController();
  setTimeout(() => abort.abort(new Error('enough')), 100);
  await assert.rejects(clientOf(server).accounts.get('a-1', { signal: abort.signal }), /enough/);
});

test('does not follow a redirect with the token', async () => {
  await using elsewhere = await startScriptedServer(json(200, {}));
  await using server = await startScriptedServer((response) => {
    response.writeHead(307, { location: `${elsewhere.baseUrl}/stolen` }).end();
  });
  await assert.rejects(clientOf(server, { maxRetries: 0 }).accounts.get('a-1'), ConnectionError);
  assert.equal(elsewhere.received.length, 0);
});

test('takes only the position from a Link to another origin', async () => {
  await using elsewhere = await startScriptedServer(json(200, []));
  await using server = await startScriptedServer(
    json(200, [{ id: '1' }], { link: `<${elsewhere.baseUrl}/stolen?limit=1&after=abc>; rel="next"` }),
    json(200, [{ id: '2' }]),
  );
  const ids: string[] = [];
  for await (const transfer of clientOf(server).transfers.list({ limit: 1 })) ids.push(transfer.id);
  assert.deepEqual(ids, ['1', '2']);
  assert.equal(elsewhere.received.length, 0);
  assert.match(
    server.received[1]?.url ?? '',
    /^\/digitalbanking\/db-transfers\/v1\/transfers\?limit=1&after=abc$/,
  );
});

test('reads only the first page of an awaited list', async () => {
  await using server = await startScriptedServer(
    json(200, [{ id: '1' }], { link: '</t?after=x>; rel="next"' }),
  );
  const page = await clientOf(server).transfers.list();
  assert.deepEqual([page.items.length, page.next], [1, 'x']);
  assert.equal(server.received.length, 1);
});

test('shows the request id of an error, and sends the one of the caller', async () => {
  await using server = await startScriptedServer(
    problem(500, 'internal_error', {}, { transactionid: 'their-id' }),
  );
  const call = clientOf(server).accounts.get('a-1', { maxRetries: 0, requestId: 'my-id' });
  await assert.rejects(call, (error) => error instanceof UnavailableError && error.requestId === 'their-id');
  assert.equal(server.received[0]?.headers.transactionid, 'my-id');
});

test('tells each attempt to a listener', async () => {
  await using server = await startScriptedServer(hangUp, json(200, {}));
  const statuses: (number | undefined)[] = [];
  const options = { onAttempt: ({ status }: { status: number | undefined }) => statuses.push(status) };
  await clientOf(server, options).accounts.get('a-1');
  assert.deepEqual(statuses, [undefined, 200]);
});

test('keeps a path of the base URL, and escapes ids', async () => {
  await using server = await startScriptedServer(json(200, {}));
  await new Sharedraft({ baseUrl: `${server.baseUrl}/bank`, auth: () => 't' }).accounts.get('a/../b');
  assert.equal(server.received[0]?.url, '/bank/digitalbanking/db-accounts/v1/accounts/a%2F..%2Fb');
});

test('follows the feed from a stored position and returns each event once', async () => {
  const at = (position: string) => ({ link: `</events?after=${position}>; rel="next"` });
  await using server = await startScriptedServer(
    json(200, [{ eventId: 'e-1' }], at('p1')),
    json(200, [], at('p1')),
    json(200, [{ eventId: 'e-2' }], at('p2')),
  );
  const seen: (string | undefined)[] = [];
  for await (const { events, position } of clientOf(server).events.follow({ after: 'p0', pollMillis: 10 })) {
    seen.push(...events.map(({ eventId }) => eventId), position);
    if (position === 'p2') break;
  }
  assert.deepEqual(seen, ['e-1', 'p1', 'e-2', 'p2']);
  assert.match(server.received[0]?.url ?? '', /after=p0$/);
  assert.match(server.received[2]?.url ?? '', /after=p1$/);
});
