import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clientToken, startEdge } from './fake-services.ts';

const accounts = '/digitalbanking/db-accounts/v1/accounts';
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('transactionId', () => {
  it('takes the transactionId from the caller, returns it, and logs it in every line', async () => {
    await using edge = await startEdge();
    for (const name of ['transactionId', 'X-Request-Id']) {
      const given = `order!7~${name}`;
      const reply = await edge.client.get('/livez', { headers: { [name]: given } });
      assert.equal(reply.headers.get('transactionId'), given);
    }
    // Each response is logged when it has been sent.
    await edge.close();
    const logged = edge.log.map((line) => line.transactionId);
    assert.deepEqual(
      logged.filter((id) => id !== undefined),
      ['order!7~transactionId', 'order!7~X-Request-Id'],
    );
  });

  it('makes a transactionId if the caller’s is not valid', async () => {
    await using edge = await startEdge();
    for (const given of ['', 'two words', 'x'.repeat(129), 'é']) {
      const reply = await edge.client.get('/livez', { headers: { transactionId: given } });
      assert.match(reply.headers.get('transactionId') ?? '', uuid, given);
    }
  });

  it('names the occurrence of a problem if the transactionId is a UUID, and only then', async () => {
    await using edge = await startEdge();
    const id = '0199e0c4-77aa-7f02-8c1d-5d0e9b7a6c11';
    const named = await edge.client.get('/nowhere', { headers: { transactionId: id } });
    assert.equal(named.body.instance, `urn:uuid:${id}`);
    const unnamed = await edge.client.get('/nowhere', { headers: { transactionId: 'mine' } });
    assert.equal(unnamed.body.instance, undefined);
  });
});

describe('log', () => {
  it('logs one line for each response, with the pattern of its path and no personal data', async () => {
    await using edge = await startEdge();
    const email = 'wilhelmina@quillfeather.example';
    const path = `/digitalbanking/ux-users/v1/customers/${email}/contact-methods?userIdType=EMAIL`;
    await edge.client.get(path, { token: clientToken });
    await edge.close();
    const lines = edge.log.filter((line) => line.msg === 'answered');
    assert.equal(lines.length, 1);
    assert.equal(lines[0]?.status, 200);
    assert.equal(lines[0]?.operation, 'getMemberProfile');
    assert.equal(lines[0]?.clientId, 'quill-app');
    assert.doesNotMatch(JSON.stringify(edge.log), /quillfeather|client-token/);
  });

  it('logs a valid traceparent', async () => {
    await using edge = await startEdge();
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await edge.client.get('/livez', { headers: { traceparent } });
    await edge.client.get('/livez', { headers: { traceparent: 'no trace' } });
    await edge.close();
    const [traced, untraced] = edge.log.filter((line) => line.msg === 'answered');
    assert.equal(traced?.traceparent, traceparent);
    assert.equal(untraced?.traceparent, undefined);
  });
});

describe('security headers', () => {
  it('sends security headers with every response: success, refusal, missing path, page', async () => {
    await using edge = await startEdge();
    for (const path of ['/livez', accounts, '/nowhere', '/', '/problems/not_found', '/docs']) {
      const { headers } = await edge.client.get(path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
      assert.equal(headers.get('x-frame-options'), 'DENY', path);
      assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
      assert.match(
        headers.get('content-security-policy') ?? '',
        /default-src 'none'.*base-uri 'none'.*frame-ancestors 'none'/,
        path,
      );
      assert.equal(headers.get('strict-transport-security'), null, path);
    }
  });

  it('names the media type of every body, and UTF-8 wherever it is text', async () => {
    await using edge = await startEdge();
    for (const [path, type] of [
      ['/livez', 'application/json; charset=utf-8'],
      [accounts, 'application/problem+json; charset=utf-8'],
      ['/', 'text/html; charset=utf-8'],
      ['/docs', 'text/html; charset=utf-8'],
      ['/docs/scalar.js', 'text/javascript; charset=utf-8'],
    ] as const) {
      assert.equal((await edge.client.get(path)).headers.get('content-type'), type, path);
    }
  });

  it('requires https if the service is reached by it', async () => {
    await using edge = await startEdge({}, { publicUrl: 'https://bank.example' });
    const { headers } = await edge.client.get('/livez');
    assert.equal(headers.get('strict-transport-security'), 'max-age=63072000');
  });

  it('keeps every response to a token, and the token itself, out of caches', async () => {
    await using edge = await startEdge();
    const account = await edge.client.get(accounts, { token: clientToken });
    const refused = await edge.client.get(accounts);
    const token = await edge.client.post('/auth/v2/token', { json: { grant_type: 'client_credentials' } });
    for (const { headers } of [account, refused, token])
      assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(token.headers.get('pragma'), 'no-cache');
  });
});

describe('pages of other origins', () => {
  const trusted = 'https://app.bank.example';
  const preflight = {
    'access-control-request-method': 'PATCH',
    'access-control-request-headers': 'authorization',
  };

  it('pages of a configured origin may call and read', async () => {
    await using edge = await startEdge({}, { corsOrigins: [trusted] });
    const asked = await edge.client.request(
      'OPTIONS',
      '/digitalbanking/ux-users/v1/customers/x/contact-info',
      {
        headers: { origin: trusted, ...preflight },
      },
    );
    assert.equal(asked.status, 204);
    assert.equal(asked.headers.get('access-control-allow-origin'), trusted);
    assert.equal(asked.headers.get('access-control-allow-methods'), 'PATCH');
    assert.match(asked.headers.get('access-control-allow-headers') ?? '', /Authorization.*Idempotency-Key/);
    const done = await edge.client.get(accounts, { token: clientToken, headers: { origin: trusted } });
    assert.equal(done.headers.get('access-control-allow-origin'), trusted);
    assert.equal(done.headers.get('vary'), 'Origin');
    assert.equal(done.headers.get('access-control-allow-credentials'), null);
    const script = await edge.client.get('/docs/scalar.js');
    assert.equal(script.headers.get('vary'), 'Accept-Encoding, Origin');
    for (const path of [accounts, `${accounts}/%zz`]) {
      const refused = await edge.client.get(path, { headers: { origin: trusted } });
      assert.equal(refused.headers.get('access-control-allow-origin'), trusted, path);
      assert.equal(refused.headers.get('vary'), 'Origin', path);
    }
  });

  it('pages of any other origin may not read', async () => {
    await using edge = await startEdge({}, { corsOrigins: [trusted] });
    for (const origin of ['https://evil.example', `${trusted}.evil.example`, 'null']) {
      const asked = await edge.client.request('OPTIONS', accounts, { headers: { origin, ...preflight } });
      assert.equal(asked.headers.get('access-control-allow-origin'), null, origin);
      assert.equal(asked.headers.get('access-control-allow-methods'), null, origin);
      const done = await edge.client.get(accounts, { token: clientToken, headers: { origin } });
      assert.equal(done.headers.get('access-control-allow-origin'), null, origin);
    }
  });
});
