import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OAuthError, type RawTokenRequest } from '../../src/auth/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { startEdge } from './fake-services.ts';

const path = '/auth/v2/token';
const issued = { access_token: 'a.b.c', token_type: 'Bearer', expires_in: 60, scope: '' } as const;

describe('edge of the token operation', () => {
  it('passes the parameters of JSON, form and Basic on unchanged', async () => {
    const seen: RawTokenRequest[] = [];
    await using edge = await startEdge({
      issueToken: async (request) => {
        seen.push(request);
        request.countFor?.('quill-app');
        return issued;
      },
    });
    await edge.client.post(path, { json: { grant_type: 'password', unknown: 1 } });
    await edge.client.post(path, { form: { grant_type: 'password', scope: 'a b', empty: '' } });
    await edge.client.post(path, {
      body: 'grant_type=a&scope=1&scope=2',
      headers: {
        'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
        authorization: 'Basic eA==',
      },
    });
    const { origin, countFor, recognize, ...first } = seen[0] ?? assert.fail('nothing was handed over');
    assert.match(origin.transactionId, /^[0-9a-f-]{36}$/);
    assert.equal(origin.address, '127.0.0.1');
    assert.deepEqual([typeof countFor, typeof recognize], ['function', 'function']);
    assert.deepEqual(first, {
      parameters: { grant_type: 'password', unknown: 1 },
      repeated: [],
      authorization: undefined,
      certificate: undefined,
    });
    assert.equal(origin.address, '127.0.0.1');
    assert.equal(typeof countFor, 'function');
    assert.deepEqual({ ...seen[1]?.parameters }, { grant_type: 'password', scope: 'a b', empty: '' });
    assert.deepEqual([...(seen[2]?.repeated ?? [])], ['scope']);
    assert.equal(seen[2]?.authorization, 'Basic eA==');
  });

  it('reads a body that is empty or not an object as a token request without parameters', async () => {
    const seen: RawTokenRequest[] = [];
    await using edge = await startEdge({
      issueToken: async (request) => {
        seen.push(request);
        throw new OAuthError('invalid_request', 'grant_type is missing.');
      },
    });
    for (const body of ['null', '7', '[]', '{}']) {
      const reply = await edge.client.post(path, { body, headers: { 'content-type': 'application/json' } });
      assert.equal(reply.body.error, 'invalid_request', body);
    }
    await edge.client.post(path);
    assert.deepEqual(
      seen.map(({ parameters }) => Object.keys(parameters)),
      [[], [], [], [], []],
    );
  });

  it('ignores token parameters in the query', async () => {
    let parameters: object = {};
    await using edge = await startEdge({
      issueToken: async (request) => {
        parameters = request.parameters;
        request.countFor?.('quill-app');
        return issued;
      },
    });
    const reply = await edge.client.post(`${path}?grant_type=password&x=1`, { json: {} });
    assert.equal(reply.status, 200);
    assert.deepEqual(parameters, {});
  });

  it('returns RFC 6749 errors for 400 and 401, even if the body could not be read', async () => {
    await using edge = await startEdge({
      issueToken: async () => {
        throw new OAuthError('invalid_client', 'The client or its secret is wrong.');
      },
    });
    const unknown = await edge.client.post(path, { json: {} });
    assert.equal(unknown.status, 401);
    assert.deepEqual(unknown.body, {
      error: 'invalid_client',
      error_description: 'The client or its secret is wrong.',
    });
    assert.match(unknown.headers.get('www-authenticate') ?? '', /^Basic realm=/);
    assert.equal(unknown.headers.get('cache-control'), 'no-store');
    for (const [type, body] of [
      ['application/json', '{"grant_type":"a","grant_type":"b"}'],
      ['application/json', '{'],
      ['application/x-www-form-urlencoded', 'grant_type=%zz'],
    ] as const) {
      const reply = await edge.client.post(path, { body, headers: { 'content-type': type } });
      assert.equal(reply.status, 400, body);
      assert.equal(reply.body.error, 'invalid_request', body);
    }
  });

  it('returns a problem for every other error of the token operation', async () => {
    await using edge = await startEdge({
      issueToken: async () => {
        throw new Problem('overloaded', 'Too many logins wait.', { retryAfterSeconds: 2 });
      },
    });
    const busy = await edge.client.post(path, { json: {} });
    assert.equal(busy.status, 503);
    assert.equal(busy.headers.get('retry-after'), '2');
    assert.equal((await edge.client.get(path)).body.code, 'method_not_allowed');
    const text = await edge.client.post(path, { body: 'x', headers: { 'content-type': 'text/plain' } });
    assert.equal(text.body.code, 'unsupported_media_type');
    const large = await edge.client.post(path, { json: { x: 'x'.repeat(65_536) } });
    assert.equal(large.body.code, 'body_too_large');
  });
});
