import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { openApiDocument, pointer, schemaChecker } from '../support/contract.ts';
import { eventually } from '../support/processes.ts';
import { sendRaw } from '../support/raw-http.ts';
import { account, clientToken, startEdge } from './fake-services.ts';

const isProblem = schemaChecker(openApiDocument);

/** The responses, each with its status, headers and problem code. */
function answersIn(text: string) {
  return text.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => {
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    const document = head.includes('problem+json') ? JSON.parse(body) : undefined;
    if (document) assert.equal(isProblem(pointer('components', 'schemas', 'Problem'), document), true, body);
    return { status: Number(head.slice(9, 12)), head: head.toLowerCase(), code: document?.code };
  });
}

describe('a connection', () => {
  it('sends a problem to a connection that does not speak HTTP, and closes it', async () => {
    await using edge = await startEdge();
    for (const garbage of ['\u0016\u0003\u0001\u0002\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', 'GET\r\n\r\n']) {
      const { text, ended } = await sendRaw(edge.port, [garbage]);
      const [answer] = answersIn(text);
      assert.equal(answer?.status, 400, garbage);
      assert.equal(answer?.code, 'invalid_request');
      assert.match(answer?.head ?? '', /connection: close/);
      assert.match(answer?.head ?? '', /x-content-type-options: nosniff/);
      assert.match(answer?.head ?? '', /transactionid: [0-9a-f-]{36}/);
      assert.equal(ended, true);
    }
  });

  it('logs no error for a connection that its client closes within a body or before the response', async () => {
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<never>();
    await using edge = await startEdge({
      getAccount: () => {
        asked.resolve();
        return gate.promise;
      },
    });
    const head = (line: string) => `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${clientToken}\r\n`;
    const body = connect(edge.port, '127.0.0.1');
    body.write(`${head('POST /digitalbanking/db-transfers/v1/transfers')}Content-Type: application/json\r\n`);
    body.write('Content-Length: 100\r\n\r\n{"amount":');
    const answer = connect(edge.port, '127.0.0.1');
    answer.write(`${head('GET /digitalbanking/db-accounts/v1/accounts/acc-1')}\r\n`);
    await asked.promise;
    body.destroy();
    answer.destroy();
    gate.resolve(account as never);
    const answered = () => edge.log.filter(({ msg }) => msg === 'answered');
    await eventually('both are logged', async () => answered().length === 2);
    assert.deepEqual(
      edge.log.filter(({ level }) => Number(level) >= 50),
      [],
    );
  });

  it('sends a problem to a connection without Host', async () => {
    await using edge = await startEdge();
    const { text } = await sendRaw(edge.port, ['GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n']);
    assert.equal(answersIn(text)[0]?.code, 'invalid_request');
  });

  it('sends a problem to a connection with two Host headers', async () => {
    await using edge = await startEdge();
    const { text } = await sendRaw(edge.port, [
      'GET /livez HTTP/1.1\r\nHost: x\r\nhost: y\r\nConnection: close\r\n\r\n',
    ]);
    assert.equal(answersIn(text)[0]?.code, 'invalid_request');
    assert.match(text, /Host header is repeated/);
  });

  it('refuses to become a tunnel, after the responses to earlier requests', async () => {
    await using edge = await startEdge();
    const { text, ended } = await sendRaw(edge.port, [
      'GET /livez HTTP/1.1\r\nHost: x\r\n\r\nCONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
    ]);
    assert.deepEqual(
      answersIn(text).map(({ status, code }) => [status, code]),
      [
        [200, undefined],
        [400, 'invalid_request'],
      ],
    );
    assert.match(text, /The service is not a proxy/);
    assert.equal(ended, true);
  });

  it('does not repeat a request to TRACE', async () => {
    await using edge = await startEdge();
    const { text } = await sendRaw(edge.port, [
      'TRACE /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n',
    ]);
    assert.equal(answersIn(text)[0]?.status, 405);
    assert.doesNotMatch(text, /secret/);
  });

  it('names the part of a request that was not understood', async () => {
    await using edge = await startEdge();
    const post = (headers: string) => `POST /auth/v2/token HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`;
    for (const [request, detail] of [
      ['get /livez HTTP/1.1\r\nHost: x\r\n\r\n', 'The method does not exist'],
      ['FOO /livez HTTP/1.1\r\nHost: x\r\n\r\n', 'The method does not exist'],
      ['GET /livez HTTP/1.2\r\nHost: x\r\n\r\n', 'The version is not'],
      ['GET /\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n', 'percent-encoded'],
      ['GET /livez HTTP/1.1\r\nHost : x\r\n\r\n', 'A header is malformed'],
      [post('Content-Length: -1'), 'Content-Length is not a number'],
      [post('Content-Length: 1\r\nContent-Length: 2'), 'Content-Length is repeated'],
      [post('Transfer-Encoding: gzip'), 'Transfer-Encoding can only be chunked'],
      [`${post('Content-Type: application/json\r\nTransfer-Encoding: chunked')}zz\r\n`, 'size of a chunk'],
    ] as const) {
      const { text } = await sendRaw(edge.port, [request]);
      assert.equal(answersIn(text)[0]?.code, 'invalid_request', request);
      assert.ok(text.includes(detail), text);
    }
  });

  it('serves a request with an unknown expectation', async () => {
    await using edge = await startEdge();
    const { text } = await sendRaw(edge.port, [
      'GET /livez HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n',
    ]);
    assert.equal(answersIn(text)[0]?.status, 200);
  });

  it('refuses a request with two lengths, or with a length and chunks', async () => {
    await using edge = await startEdge();
    for (const lengths of [
      'Content-Length: 2\r\nContent-Length: 3',
      'Content-Length: 2\r\nTransfer-Encoding: chunked',
    ]) {
      const { text, ended } = await sendRaw(edge.port, [
        `POST /auth/v2/token HTTP/1.1\r\nHost: x\r\n${lengths}\r\n\r\n{}`,
      ]);
      assert.equal(answersIn(text)[0]?.status, 400, lengths);
      assert.equal(ended, true);
    }
  });

  it('refuses a request with two Authorization headers', async () => {
    await using edge = await startEdge();
    const twice = `Authorization: Bearer ${clientToken}\r\nAuthorization: Bearer other\r\n`;
    const { text } = await sendRaw(edge.port, [
      `GET /digitalbanking/db-accounts/v1/accounts HTTP/1.1\r\nHost: x\r\n${twice}Connection: close\r\n\r\n`,
    ]);
    assert.equal(answersIn(text)[0]?.code, 'invalid_token');
  });

  it('returns 431 for headers beyond 16 KiB', async () => {
    await using edge = await startEdge();
    const { text, ended } = await sendRaw(edge.port, [
      `GET /livez HTTP/1.1\r\nHost: x\r\nCookie: ${'x'.repeat(17_000)}\r\n\r\n`,
    ]);
    const [answer] = answersIn(text);
    assert.equal(answer?.status, 431);
    assert.equal(answer?.code, 'headers_too_large');
    assert.equal(ended, true);
  });

  it('returns 408 for headers that stall', async () => {
    await using edge = await startEdge({}, { requestTimeoutSeconds: 1 });
    const { text, ended } = await sendRaw(edge.port, ['GET /livez HTTP/1.1\r\nHost: x\r\n'], 5_000);
    assert.equal(answersIn(text)[0]?.code, 'request_timeout');
    assert.equal(ended, true);
  });

  it('returns 408 for a body that stalls', async () => {
    await using edge = await startEdge({}, { requestTimeoutSeconds: 1 });
    const { text, ended } = await sendRaw(
      edge.port,
      [
        'POST /auth/v2/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"gr',
      ],
      5_000,
    );
    assert.equal(answersIn(text)[0]?.code, 'request_timeout');
    assert.equal(ended, true);
  });

  it('responds to a request that is followed by garbage', async () => {
    const gate = Promise.withResolvers<void>();
    let done = false;
    await using edge = await startEdge({
      listAccounts: async () => {
        await gate.promise;
        done = true;
        return [];
      },
    });
    setTimeout(gate.resolve, 200);
    const { text, ended } = await sendRaw(edge.port, [
      `GET /digitalbanking/db-accounts/v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${clientToken}\r\n\r\n`,
      50,
      'garbage\r\n\r\n',
    ]);
    assert.equal(done, true);
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      [200, 400],
    );
    assert.equal(ended, true);
  });

  it('answers several requests on one connection in order', async () => {
    await using edge = await startEdge();
    const request = (path: string, last = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${last}\r\n`;
    const { text } = await sendRaw(edge.port, [
      request('/livez') + request('/nowhere') + request('/version', 'Connection: close\r\n'),
    ]);
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      [200, 404, 200],
    );
  });

  it('serves several requests on one connection one after another', async () => {
    const served: string[] = [];
    await using edge = await startEdge({
      listAccounts: async (_actor, customerId) => {
        served.push(`${customerId} begins`);
        // The first takes longer than those behind it.
        await new Promise((resolve) => setTimeout(resolve, customerId === 'one' ? 100 : 1));
        served.push(`${customerId} ends`);
        return [];
      },
    });
    const request = (of: string, last = '') =>
      `GET /digitalbanking/db-accounts/v1/accounts?customerId=${of} HTTP/1.1\r\nHost: x\r\n` +
      `Authorization: Bearer ${clientToken}\r\n${last}\r\n`;
    const { text } = await sendRaw(edge.port, [
      request('one') + request('two'),
      20,
      request('three', 'Connection: close\r\n'),
    ]);
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      [200, 200, 200],
    );
    assert.deepEqual(served, [
      ...['one begins', 'one ends'],
      ...['two begins', 'two ends'],
      ...['three begins', 'three ends'],
    ]);
  });
});

describe('a connection with many pipelined requests', () => {
  const request = `GET /digitalbanking/db-accounts/v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${clientToken}\r\n\r\n`;

  it('answers a hundred pipelined requests', async () => {
    await using edge = await startEdge();
    const last = 'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';
    const { text } = await sendRaw(edge.port, [request.repeat(99) + last]);
    assert.deepEqual(
      answersIn(text).map(({ status }) => status),
      Array(100).fill(200),
    );
  });

  it('closes a connection with more pipelined requests, and does not serve those that have not begun', async () => {
    const gate = Promise.withResolvers<void>();
    let served = 0;
    await using edge = await startEdge({
      listAccounts: async () => {
        served += 1;
        await gate.promise;
        return [];
      },
    });
    const { text, ended } = await sendRaw(edge.port, [request.repeat(400)]);
    assert.deepEqual([text, ended], ['', true]);
    gate.resolve();
    assert.equal((await edge.client.get('/livez')).status, 200);
    assert.equal(served, 1);
  });

  it('closes a connection that does not read its responses', async () => {
    const many = Array.from({ length: 60_000 }, () => account);
    await using edge = await startEdge({ listAccounts: async () => many }, { silenceSeconds: 1 });
    const deaf = connect(edge.port, '127.0.0.1');
    deaf.on('error', () => {});
    deaf.write(request);
    await eventually('it is there', async () => (await edge.connections()) === 1);
    await eventually('it is ended', async () => (await edge.connections()) === 0);
    deaf.destroy();
  });
});

describe('closing', () => {
  it('finishes open requests while closing, announces the close, and accepts no more', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting = Promise.withResolvers<void>();
    const edge = await startEdge({
      listAccounts: async () => {
        waiting.resolve();
        await gate.promise;
        return [];
      },
    });
    const inFlight = edge.client.get('/digitalbanking/db-accounts/v1/accounts', { token: clientToken });
    await waiting.promise;
    const closed = edge.close();
    await eventually('no other connection is accepted', () =>
      fetch(`${edge.address}/livez`).then(
        () => false,
        () => true,
      ),
    );
    gate.resolve();
    const reply = await inFlight;
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('connection'), 'close');
    await closed;
  });

  it('does not wait for idle connections while closing', async () => {
    const edge = await startEdge();
    assert.equal((await edge.client.get('/livez')).status, 200);
    const started = performance.now();
    await edge.close();
    // These would stay open for 72 seconds.
    assert.ok(performance.now() - started < 30_000);
  });
});
