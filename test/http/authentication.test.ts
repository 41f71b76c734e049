import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Caller } from '../../src/auth/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { openApiDocument } from '../support/contract.ts';
import { eventually } from '../support/processes.ts';
import { sendRaw } from '../support/raw-http.ts';
import {
  account,
  clientToken,
  identify,
  memberToken,
  profile,
  scopelessToken,
  startEdge,
} from './fake-services.ts';

const accounts = '/digitalbanking/db-accounts/v1/accounts';
const transfers = '/digitalbanking/db-transfers/v1/transfers';
const register = '/digitalbanking/v1/customers/register';

describe('access tokens', () => {
  let edge: Awaited<ReturnType<typeof startEdge>>;
  before(async () => {
    edge = await startEdge();
  });
  after(() => edge.close());

  const withAuthorization = (authorization: string) =>
    edge.client.get(accounts, { headers: { authorization } });

  it('every operation needs an access token except the token operation and the service’s own', async () => {
    for (const [path, item] of Object.entries(openApiDocument.paths)) {
      for (const method of Object.keys(item)) {
        if (path === '/auth/v2/token' || !path.startsWith('/digitalbanking')) continue;
        const reply = await edge.client.request(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'));
        assert.equal(reply.status, 401, `${method} ${path}`);
        assert.equal(reply.body.code, 'missing_token');
      }
    }
  });

  it('challenges a request without an access token without an error code', async () => {
    const reply = await edge.client.get(accounts);
    assert.equal(reply.headers.get('www-authenticate'), 'Bearer realm="sharedraft"');
  });

  it('treats a token of another scheme as missing', async () => {
    const reply = await withAuthorization('Basic cXVpbGw6YXBw');
    assert.equal(reply.status, 401);
    assert.equal(reply.body.code, 'missing_token');
  });

  it('refuses an invalid access token as invalid_token', async () => {
    for (const authorization of [
      'Bearer wrong',
      'Bearer',
      'Bearer ',
      'Bearer a b',
      'Bearer ü',
      'Bearer "x"',
    ]) {
      const reply = await withAuthorization(authorization);
      assert.equal(reply.status, 401, authorization);
      assert.equal(reply.body.code, 'invalid_token', authorization);
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer realm="sharedraft", error="invalid_token"');
    }
  });

  it('accepts an access token with its scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      assert.equal((await withAuthorization(`${scheme} ${clientToken}`)).status, 200, scheme);
    }
  });

  it('ignores an access token in the query and in the body', async () => {
    const query = await edge.client.get(`${accounts}?access_token=${clientToken}`);
    assert.equal(query.body.code, 'missing_token');
    const body = await edge.client.post(register, { form: { access_token: clientToken } });
    assert.equal(body.body.code, 'missing_token');
  });

  it('checks the access token before the body', async () => {
    const reply = await edge.client.post(register, {
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    assert.equal(reply.status, 401);
  });

  it('reads and returns nothing, and no other problem, before the status of a remembered token is read', async () => {
    const asked: string[] = [];
    let verification = Promise.withResolvers<Caller>();
    const presumed = await identify(clientToken).verify();
    const dead = new Problem('invalid_token', 'The access token is malformed, expired, or not valid here.');
    await using seen = await startEdge({
      identify: (token) => ({ ...identify(token), verify: () => verification.promise }),
      getAccount: async (_actor, accountId) => {
        asked.push(`read ${accountId}`);
        if (accountId === 'none') throw new Problem('not_found', 'There is no such account.');
        return account;
      },
      registerMember: async () => {
        asked.push('written');
        return profile;
      },
    });
    const read = seen.client.get(`${accounts}/acc-1`, { token: clientToken });
    const first = await Promise.race([read, new Promise((resolve) => setTimeout(resolve, 100, 'not yet'))]);
    assert.equal(first, 'not yet');
    assert.deepEqual(asked, []);
    verification.resolve(presumed);
    assert.equal((await read).status, 200);
    asked.pop();

    verification = Promise.withResolvers<Caller>();
    verification.promise.catch(() => {});
    verification.reject(dead);
    for (const [path, token] of [
      [`${accounts}/acc-1`, clientToken],
      [`${accounts}/none`, clientToken],
      [`${accounts}/acc-1?unknown=1`, clientToken],
      [`${accounts}/acc-1`, scopelessToken],
    ] as const) {
      const reply = await seen.client.get(path, { token });
      assert.equal(reply.status, 401, path);
      assert.equal(reply.body.code, 'invalid_token', path);
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer realm="sharedraft", error="invalid_token"');
    }
    const body = { memberNumber: '700101', email: 'wilhelmina@quillfeather.example' };
    assert.equal((await seen.client.post(register, { token: clientToken, json: body })).status, 401);
    assert.deepEqual(asked, []);
  });

  it('starts a transfer of a known token, and rejects it before the decision if the token has ended', async () => {
    const begun: string[] = [];
    const decided: string[] = [];
    let verification = Promise.withResolvers<Caller>();
    const presumed = await identify(clientToken).verify();
    const dead = new Problem('invalid_token', 'The access token is malformed, expired, or not valid here.');
    await using seen = await startEdge({
      identify: (token) => ({ ...identify(token), verify: () => verification.promise }),
      initiateTransfer: async (_actor, { transferId }) => {
        begun.push(transferId);
        if (transferId === 'overloaded') throw new Problem('overloaded', 'Too much to do.');
        // As the batch does.
        await verification.promise;
        decided.push(transferId);
        return { kind: 'id_reused', differs: null };
      },
    });
    const order = { id: 'rent', fromAccountId: 'acc-1', toAccountId: 'acc-2', amount: 105 };
    const sent = seen.client.post(transfers, { token: clientToken, json: order });
    await eventually('begun', async () => begun.length === 1);
    assert.deepEqual(decided, []);
    verification.resolve(presumed);
    assert.equal((await sent).status, 409);
    assert.deepEqual(decided, ['rent']);

    verification = Promise.withResolvers<Caller>();
    const refused = seen.client.post(transfers, { token: clientToken, json: { ...order, id: 'begun' } });
    await eventually('begun', async () => begun.includes('begun'));
    verification.reject(dead);
    const json = { 'content-type': 'application/json' };
    const replies = [
      await refused,
      await seen.client.post(transfers, { token: clientToken, json: order }),
      await seen.client.post(transfers, { token: clientToken, json: { ...order, id: 'overloaded' } }),
      await seen.client.post(`${transfers}?dryRun=true`, { token: clientToken, json: order }),
      await seen.client.post(`${transfers}?unknown=1`, { token: clientToken, json: order }),
      await seen.client.post(transfers, { token: clientToken, json: { ...order, amount: '105' } }),
      await seen.client.post(transfers, { token: clientToken, json: {} }),
      await seen.client.post(transfers, { token: clientToken }),
      await seen.client.post(transfers, { token: clientToken, body: '{', headers: json }),
      await seen.client.post(transfers, { token: clientToken, body: 'x'.repeat(100_000), headers: json }),
      await seen.client.post(transfers, { token: clientToken, form: { id: 'rent' } }),
      await seen.client.post(transfers, { token: scopelessToken, json: order }),
      await seen.client.post(transfers, {
        token: clientToken,
        json: order,
        headers: { accept: 'text/html' },
      }),
    ];
    for (const [index, reply] of replies.entries()) {
      assert.equal(reply.status, 401, `${index}: ${reply.text}`);
      assert.equal(reply.body.code, 'invalid_token');
      assert.equal(reply.headers.get('www-authenticate'), 'Bearer realm="sharedraft", error="invalid_token"');
    }
    assert.deepEqual(decided, ['rent']);
    // A refused caller need not send the body.
    const head = `POST ${transfers} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${clientToken}\r\nContent-Type: application/json\r\nContent-Length: 80\r\n\r\n`;
    assert.match((await sendRaw(seen.port, [head])).text, /^HTTP\/1\.1 401 /);
    assert.match((await sendRaw(seen.port, [head, 20, '{"id":'])).text, /^HTTP\/1\.1 401 /);
  });

  it('refuses an access token without the scope, and names the scope', async () => {
    const reply = await edge.client.get(accounts, { token: scopelessToken });
    assert.equal(reply.status, 403);
    assert.equal(reply.body.code, 'insufficient_scope');
    assert.equal(
      reply.headers.get('www-authenticate'),
      'Bearer realm="sharedraft", error="insufficient_scope", scope="account:read"',
    );
  });

  it('logs each refused request with its code, its operation and the caller’s address', async () => {
    for (const [token, code] of [
      [scopelessToken, 'insufficient_scope'],
      ['not.a.token', 'invalid_token'],
    ] as const) {
      const { headers } = await edge.client.get(accounts, { token });
      const transactionId = headers.get('transactionId');
      const find = () =>
        edge.log.find((line) => line.transactionId === transactionId && line.msg === 'answered');
      await eventually(code, async () => find() !== undefined);
      assert.partialDeepStrictEqual(find(), { code, operation: 'listAccounts', address: '127.0.0.1' });
      assert.ok(!JSON.stringify(edge.log).includes(token), 'no token');
    }
  });

  it('refuses to register or activate with a member’s token', async () => {
    for (const path of [register, '/digitalbanking/v1/customers/activate']) {
      const reply = await edge.client.post(path, { token: memberToken, json: {} });
      assert.equal(reply.status, 403, path);
      assert.equal(reply.body.code, 'client_token_required');
    }
  });
});
