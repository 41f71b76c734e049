import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { openApiDocument } from '../support/contract.ts';
import { eventually } from '../support/processes.ts';
import { account, clientToken, memberToken, startEdge } from './fake-services.ts';

const transfers = '/digitalbanking/db-transfers/v1/transfers';
const accounts = '/digitalbanking/db-accounts/v1/accounts';
const order = { fromAccountId: 'acc-1', toAccountId: 'acc-2', amount: 105 };

describe('edge', () => {
  let edge: Awaited<ReturnType<typeof startEdge>>;
  before(async () => {
    edge = await startEdge();
  });
  after(() => edge.close());

  const post = (body: string | Uint8Array, contentType = 'application/json', headers = {}) =>
    edge.client.post(transfers, {
      token: clientToken,
      body,
      headers: { 'content-type': contentType, ...headers },
    });

  describe('400', () => {
    it('returns 400 with the position of a JSON syntax error', async () => {
      const reply = await post('{\n  "amount": 1,\n  oops\n}');
      assert.equal(reply.status, 400);
      assert.equal(reply.body.code, 'malformed_json');
      assert.equal(reply.body.detail, 'Unexpected character at position 19 (line 3, column 3).');
    });

    it('returns 400 for a body that two readers could understand differently', async () => {
      for (const body of [
        '{"amount":1,"amount":2}',
        '{"__proto__":{"amount":1}}',
        '{"a":{"__proto__":1}}',
        '\ufeff{}',
        '{"amount":01}',
        '{"amount":NaN}',
        '',
      ]) {
        const reply = await post(body);
        assert.equal(reply.body.code, 'malformed_json', body);
      }
    });

    it('returns 400 for bytes that are not UTF-8', async () => {
      const reply = await post(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]));
      assert.equal(reply.body.code, 'malformed_json');
    });

    it('returns 400 for JSON that is too deep for a request', async () => {
      const reply = await post('['.repeat(40_000));
      assert.equal(reply.body.code, 'malformed_json');
    });

    it('returns 400 with all unknown, missing and mistyped fields at once', async () => {
      const reply = await post(
        JSON.stringify({ fromAccountId: 7, amount: 'a lot', extra: true, 'a/b~c': 1, id: 'options' }),
      );
      assert.equal(reply.status, 400);
      assert.equal(reply.body.code, 'invalid_request');
      const errors: { pointer: string; detail: string }[] = reply.body.errors;
      assert.deepEqual(
        errors.toSorted((a, b) => (a.pointer < b.pointer ? -1 : 1)),
        [
          { pointer: '/amount', detail: 'Must be of type number.' },
          { pointer: '/a~1b~0c', detail: 'There is no such field.' },
          { pointer: '/extra', detail: 'There is no such field.' },
          { pointer: '/fromAccountId', detail: 'Must be of type string.' },
          { pointer: '/id', detail: 'This value is reserved.' },
          { pointer: '/toAccountId', detail: 'Required.' },
        ],
      );
    });

    it('returns 400 with the first errors of a body that is wrong everywhere', async () => {
      const fields = Array.from({ length: 5_000 }, (_, number) => [`f${number}`, 1]);
      const reply = await post(JSON.stringify({ ...order, ...Object.fromEntries(fields) }));
      assert.equal(reply.body.errors.length, 32);
      assert.match(reply.body.detail, /^More parts .* the first 32\.$/);
    });

    it('returns 400 with a query parameter given twice, and calls a large number too large', async () => {
      const list = (query: string) => edge.client.get(`${transfers}?${query}`, { token: clientToken });
      const twice = await list('limit=1&limit=2&status=PENDING');
      assert.equal(twice.status, 400);
      assert.deepEqual(twice.body.errors, [{ pointer: 'limit', detail: 'Must be sent once.' }]);
      const large = await list('limit=999999999999999');
      assert.deepEqual(large.body.errors, [{ pointer: 'limit', detail: 'Must be at most 200.' }]);
    });

    it('returns 400 with the accepted forms of a time', async () => {
      const dateTime = 'a date-time like 2026-11-20T15:04:05Z (RFC 3339), from 1900 to 2999.';
      for (const [path, pointer, detail] of [
        [`${accounts}/acc-1/balances?asOf=2026-11-20`, 'asOf', `Must be ${dateTime}`],
        [`${accounts}/acc-1/balances?asOf=9999-12-31T00:00:00Z`, 'asOf', `Must be ${dateTime}`],
        [`${transfers}?from=2026-02-30`, 'from', `Must be a day like 2026-11-20, or ${dateTime}`],
      ] as const) {
        const { body } = await edge.client.get(path, { token: clientToken });
        assert.deepEqual(body.errors, [{ pointer, detail }], path);
      }
    });

    it('accepts an empty body of any media type if none is needed', async () => {
      const cancel = (body: string, type: string) =>
        edge.client.request('POST', `${transfers}/t-1/cancel`, {
          token: clientToken,
          headers: { 'content-type': type },
          body,
        });
      assert.equal((await cancel('', 'application/json')).body.code, 'not_found');
      assert.equal((await cancel(' ', 'application/json')).body.code, 'malformed_json');
      assert.equal((await post('')).body.code, 'malformed_json');
    });

    it('returns 400 for a body that is not an object, and for a missing body', async () => {
      for (const body of ['[]', 'null', '"text"', '7']) {
        const reply = await post(body);
        assert.deepEqual(reply.body.errors, [{ pointer: '', detail: 'Must be of type object.' }], body);
      }
      const reply = await edge.client.post(transfers, { token: clientToken });
      assert.equal(reply.body.code, 'invalid_request');
    });

    it('returns 400 with unknown and repeated query parameters', async () => {
      const unknown = await edge.client.get(`${accounts}?owner=cus-1`, { token: clientToken });
      assert.deepEqual(unknown.body.errors, [{ pointer: 'owner', detail: 'There is no such parameter.' }]);
      const twice = await edge.client.get(`${accounts}?customerId=a&customerId=b`, { token: clientToken });
      assert.deepEqual(twice.body.errors, [{ pointer: 'customerId', detail: 'Must be sent once.' }]);
    });

    it('returns 400 for a malformed percent escape in the path', async () => {
      const reply = await edge.client.get(`${accounts}/%zz`, { token: clientToken });
      assert.equal(reply.status, 400);
      assert.equal(reply.body.code, 'invalid_request');
      assert.ok(reply.headers.get('x-content-type-options'));
    });
  });

  describe('404', () => {
    it('returns a 404 problem for an unknown path, with any method and body', async () => {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const reply = await edge.client.request(method, '/nowhere', {
          headers: { 'content-type': 'application/json' },
          ...(method === 'POST' && { body: '{' }),
        });
        assert.equal(reply.status, 404, method);
        assert.equal(reply.body.code, 'path_not_found');
      }
    });

    it('returns a 404 problem for an additional slash', async () => {
      assert.equal((await edge.client.get('/livez/')).body.code, 'path_not_found');
    });

    it('returns the same 404 for an impossible id as for a missing one', async () => {
      const missing = await edge.client.get(`${transfers}/unknown`, { token: clientToken });
      for (const id of ['%00', 'a%0Ab', 'x'.repeat(65), 'x'.repeat(1_000)]) {
        const impossible = await edge.client.get(`${transfers}/${id}`, { token: clientToken });
        assert.equal(impossible.status, 404, id);
        assert.deepEqual({ ...impossible.body, instance: '' }, { ...missing.body, instance: '' });
      }
    });
  });

  describe('405', () => {
    it('returns 405 with the methods of every path, for every other method', async () => {
      for (const [path, item] of Object.entries(openApiDocument.paths)) {
        const concrete = path.replaceAll(/\{\w+\}/g, 'x');
        const own = Object.keys(item).map((method) => method.toUpperCase());
        const allow = [...own, ...(own.includes('GET') ? ['HEAD'] : []), 'OPTIONS'];
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND', 'QUERY']) {
          if (own.includes(method)) continue;
          const reply = await edge.client.request(method, concrete);
          assert.equal(reply.status, 405, `${method} ${path}`);
          assert.equal(reply.body.code, 'method_not_allowed');
          assert.deepEqual(new Set(reply.headers.get('allow')?.split(', ')), new Set(allow));
        }
      }
    });

    it('returns 405 before checking the token', async () => {
      assert.equal((await edge.client.request('DELETE', transfers)).status, 405);
    });
  });

  it('answers OPTIONS with the methods of the path', async () => {
    const reply = await edge.client.request('OPTIONS', transfers);
    assert.equal(reply.status, 204);
    assert.equal(reply.headers.get('allow'), 'POST, GET, HEAD, OPTIONS');
  });

  it('answers HEAD like GET without the body', async () => {
    const get = await edge.client.get(`${accounts}/acc-1`, { token: clientToken });
    const head = await edge.client.request('HEAD', `${accounts}/acc-1`, { token: clientToken });
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
    assert.equal(head.headers.get('content-length'), get.headers.get('content-length'));
  });

  describe('406', () => {
    it('returns 406 if Accept excludes JSON, and does nothing', async () => {
      for (const accept of [
        'text/html',
        'application/json;q=0',
        'application/xml, text/*',
        'application/json;charset=utf-16',
      ]) {
        const reply = await edge.client.post(transfers, {
          token: clientToken,
          json: order,
          headers: { accept },
        });
        assert.equal(reply.status, 406, accept);
        assert.equal(reply.body.code, 'not_acceptable');
      }
    });

    it('responds normally if Accept allows JSON', async () => {
      for (const accept of [
        'application/json; charset=utf-8',
        'application/json;charset=UTF-8;q=0.9, text/html',
        '',
        '*/*',
        'application/*',
        'text/html, */*;q=0.1',
        'application/problem+json, application/json',
      ]) {
        const reply = await edge.client.get(accounts, { token: clientToken, headers: { accept } });
        assert.equal(reply.status, 200, accept);
      }
    });
  });

  describe('413', () => {
    it('returns 413 for one byte more than 64 KiB, and not for 64 KiB', async () => {
      const padded = (bytes: number) => JSON.stringify(order).padEnd(bytes, ' ');
      assert.equal((await post(padded(65_536))).status, 201);
      const reply = await post(padded(65_537));
      assert.equal(reply.status, 413);
      assert.equal(reply.body.code, 'body_too_large');
    });

    it('returns 413 for a body of several megabytes', async () => {
      assert.equal((await post(' '.repeat(4_000_000))).status, 413);
    });
  });

  describe('415', () => {
    it('returns 415 for every media type except the operation’s own', async () => {
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/jsonp',
        'application/json, application/json',
        'json',
        'application/json; charset=latin1',
      ]) {
        const reply = await post(JSON.stringify(order), type);
        assert.equal(reply.status, 415, type);
        assert.equal(reply.body.code, 'unsupported_media_type');
      }
    });

    it('returns 415 for a compressed body', async () => {
      const reply = await post(JSON.stringify(order), 'application/json', { 'content-encoding': 'gzip' });
      assert.equal(reply.status, 415);
    });

    it('accepts JSON with a charset, in any case', async () => {
      for (const type of ['application/json; charset=utf-8', 'Application/JSON;Charset="UTF-8"']) {
        assert.equal((await post(JSON.stringify(order), type)).status, 201, type);
      }
    });
  });
});

describe('service behind the edge', () => {
  it('hides the cause of an internal error, and logs it under the transaction id', async () => {
    await using edge = await startEdge({
      getAccount: async () => {
        throw new Error('secret of the inside');
      },
    });
    const reply = await edge.client.get(`${accounts}/acc-1`, { token: clientToken });
    assert.equal(reply.status, 500);
    assert.equal(reply.body.code, 'internal_error');
    assert.doesNotMatch(reply.text, /secret|stack|at /);
    const line = edge.log.find((entry) => entry.level === 50);
    assert.equal(line?.transactionId, reply.headers.get('transactionId'));
    assert.match(JSON.stringify(line), /secret of the inside/);
  });

  it('returns 503 with Retry-After beyond its capacity, and still answers probes', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = Promise.withResolvers<void>();
    await using edge = await startEdge(
      {
        listAccounts: async () => {
          waiting.resolve();
          await gate.promise;
          return [];
        },
      },
      { maxInFlight: 1 },
    );
    const first = edge.client.get(accounts, { token: clientToken });
    await waiting.promise;
    const second = await edge.client.get(accounts, { token: clientToken });
    assert.equal(second.status, 503);
    assert.equal(second.body.code, 'overloaded');
    assert.equal(second.headers.get('retry-after'), '1');
    assert.equal((await edge.client.get('/livez')).status, 200);
    gate.resolve();
    assert.equal((await first).status, 200);
    assert.equal((await edge.client.get(accounts, { token: clientToken })).status, 200);
  });

  it('refuses a client that has its share of the slots before it refuses another', async () => {
    const gate = Promise.withResolvers<void>();
    const calls = { flood: 0, quiet: 0 };
    await using edge = await startEdge(
      {
        listAccounts: async (actor) => {
          calls[actor.kind === 'client' ? 'flood' : 'quiet'] += 1;
          await gate.promise;
          return [];
        },
      },
      { maxInFlight: 6 },
    );
    const flood = Array.from({ length: 5 }, () => edge.client.get(accounts, { token: clientToken }));
    while (calls.flood < 5) await new Promise((resolve) => setTimeout(resolve, 5));
    const refused = await edge.client.get(accounts, { token: clientToken });
    assert.equal(refused.status, 503);
    assert.equal(refused.headers.get('retry-after'), '1');
    const quiet = edge.client.get(accounts, { token: memberToken });
    while (calls.quiet < 1) await new Promise((resolve) => setTimeout(resolve, 5));
    gate.resolve();
    assert.deepEqual(
      new Set((await Promise.all([...flood, quiet])).map(({ status }) => status)),
      new Set([200]),
    );
    // Answered and closed, they have freed their slots.
    assert.equal((await edge.client.get(accounts, { token: clientToken })).status, 200);
  });

  it('keeps no slot for a client that does not read its response', async () => {
    const many = Array.from({ length: 60_000 }, () => account);
    let calls = 0;
    await using edge = await startEdge(
      { listAccounts: async () => (++calls === 1 ? many : []) },
      { maxInFlight: 1 },
    );
    const deaf = connect(edge.port, '127.0.0.1');
    deaf.write(`GET ${accounts} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${clientToken}\r\n\r\n`);
    while (calls === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await eventually('another is served', async () => {
      const { status } = await edge.client.get(accounts, { token: memberToken });
      return status === 200;
    });
    assert.ok(deaf.bytesRead < 1_000_000, 'the answer still waits to be read');
    deaf.destroy();
  });

  it('keeps no slot for a token request whose body does not arrive', async () => {
    await using edge = await startEdge({}, { maxInFlight: 1 });
    const slow = connect(edge.port, '127.0.0.1');
    slow.write(
      'POST /auth/v2/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"gr',
    );
    // The service has noticed.
    await eventually('it is there', async () => (await edge.connections()) === 1);
    await edge.client.get('/livez');
    const reply = await edge.client.post('/auth/v2/token', {
      headers: { 'content-type': 'application/json' },
      body: '{"grant_type":"client_credentials"}',
    });
    slow.destroy();
    assert.equal(reply.status, 200);
  });

  it('frees the slot of a client that has disconnected', async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    await using edge = await startEdge(
      {
        listAccounts: async () => {
          calls += 1;
          if (calls <= 3) await gate.promise;
          return [];
        },
      },
      { maxInFlight: 3 },
    );
    const gone = [1, 2, 3].map(() => {
      const abort = new AbortController();
      const request = fetch(`${edge.address}${accounts}`, {
        headers: { authorization: `Bearer ${clientToken}` },
        signal: abort.signal,
      });
      return { abort, request };
    });
    while (calls < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    for (const { abort, request } of gone) {
      abort.abort();
      await assert.rejects(request);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal((await edge.client.get(accounts, { token: clientToken })).status, 200);
    gate.resolve();
  });
});
