import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { type FastifyInstance, fastify } from 'fastify';
import type { Clue } from '../../src/cell-directory/index.ts';
import { cluesOfForm, cluesOfHead } from '../../src/http/forwarding/clues.ts';
import { openHop, sealHop } from '../../src/http/forwarding/forwarded-by.ts';
import { registerForwarding } from '../../src/http/forwarding/register.ts';
import { connectionsWith } from '../../src/http/limits/connections.ts';
import type { Problem } from '../../src/shared/problem.ts';

/* A process that sends requests on, before another cell that this test plays. */

const issuer = 'https://bank.example';
const key = Buffer.alloc(32, 1);
const tokenOf = (claims: object) =>
  ['{}', JSON.stringify(claims), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const lakesideToken = tokenOf({ iss: issuer, institution_id: 7 });

let app: FastifyInstance;
let other: Server;
let address: string;
let respond: (request: IncomingMessage, response: ServerResponse) => void;
let otherAddress: string;
let asked: (readonly Clue[])[] = [];
before(async () => {
  other = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
  await once(other, 'listening');
  app = fastify();
  app.decorateRequest('callerAddress', null);
  app.decorateRequest('clientCert', null);
  app.decorateRequest('isSentOn', false);
  app.addHook('onRequest', (request, _reply, done) => {
    request.callerAddress = '192.0.2.7';
    // Of a proxy that the cell trusts.
    request.clientCert = request.headers['x-trusted'] ? String(request.headers['client-cert']) : null;
    done();
  });
  app.setErrorHandler((error, _request, reply) => {
    const { code, detail, retryAfterSeconds } = error as Problem;
    return reply.code(503).send({ code, detail, retryAfterSeconds });
  });
  const connections = connectionsWith({}, 30_000);
  registerForwarding(
    app,
    {
      issuer,
      key,
      now: () => new Date(),
      isHere: (clue) => clue.kind === 'institution' && clue.institutionId === 1,
      find: async (clues) => {
        asked.push(clues);
        return clues.some((clue) => clue.kind !== 'host')
          ? { cell: 'west', address: otherAddress }
          : undefined;
      },
    },
    connections,
  );
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
  const operation = { operationId: 'issueToken', oauth: true, body: {} } as never;
  app.post('/token', { config: { operation } }, async ({ body }) => ({ here: body }));
  app.get('/certificate', async ({ clientCert }) => ({ clientCert }));
  app.all('/*', async ({ callerAddress, isSentOn }) => ({ here: true, callerAddress, isSentOn }));
  address = await app.listen({ port: 0, host: '127.0.0.1' });
});
after(async () => {
  await app.close();
  other.closeAllConnections();
  other.close();
});
beforeEach(() => {
  asked = [];
  otherAddress = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  respond = (_request, response) => response.end('there');
});

const authorization = `Bearer ${lakesideToken}`;
const form = 'application/x-www-form-urlencoded';

test('a request goes on with its method, path and headers, the caller’s address under the key, and nothing of the connection', async () => {
  let seen: IncomingMessage | undefined;
  let body = '';
  respond = async (request, response) => {
    seen = request;
    body = await text(request);
    response.writeHead(201, { 'x-one': '1', 'keep-alive': 'timeout=3' }).end('made');
  };
  const answer = await fetch(`${address}/a/b?c=d`, {
    method: 'POST',
    headers: {
      authorization,
      'x-forwarded-for': '203.0.113.9',
      'content-type': 'text/plain',
      te: 'trailers',
    },
    body: 'the body',
  });
  assert.deepEqual([answer.status, await answer.text(), answer.headers.get('x-one')], [201, 'made', '1']);
  assert.deepEqual([seen?.method, seen?.url, body], ['POST', '/a/b?c=d', 'the body']);
  const { headers } = seen as IncomingMessage;
  assert.equal(headers.authorization, authorization);
  assert.equal(headers['x-forwarded-for'], '192.0.2.7', 'in place of that of the caller');
  assert.equal(headers.te, undefined);
  const hop = { method: 'POST', url: '/a/b?c=d', now: new Date() };
  const sealed = String(headers['sharedraft-forwarded']);
  assert.equal(openHop(key, sealed, hop), '192.0.2.7');
  assert.equal(openHop(Buffer.alloc(32, 2), sealed, hop), undefined, 'another key');
  assert.equal(openHop(key, sealed, { ...hop, url: '/a' }), undefined, 'another request');
  assert.equal(
    openHop(key, sealed, { ...hop, now: new Date(Date.now() + 180_000) }),
    undefined,
    'a later time',
  );
  assert.equal(openHop(key, sealed.replace('192.0.2.7', '192.0.2.8'), hop), undefined, 'another address');
});

test('a certificate goes on under the key if this cell believes its header, and else not at all (RFC 9440 4)', async () => {
  let seen: IncomingMessage | undefined;
  respond = (request, response) => {
    seen = request;
    response.end();
  };
  const hop = { method: 'GET', url: '/a', now: new Date() };
  const clientCert = ':AAAA:';
  await fetch(`${address}/a`, { headers: { authorization, 'client-cert': clientCert, 'x-trusted': '1' } });
  const { headers } = seen as IncomingMessage;
  const sealed = String(headers['sharedraft-forwarded']);
  assert.equal(headers['client-cert'], clientCert);
  assert.equal(openHop(key, sealed, { ...hop, clientCert }), '192.0.2.7');
  assert.equal(openHop(key, sealed, { ...hop, clientCert: ':BBBB:' }), undefined, 'another certificate');
  assert.equal(openHop(key, sealed, hop), undefined, 'the header was taken away');
  await fetch(`${address}/a`, { headers: { authorization, 'client-cert': clientCert } });
  assert.equal((seen as IncomingMessage).headers['client-cert'], undefined);
});

test('a certificate counts in a request that was sent on if the key covers it (RFC 9440 4)', async () => {
  const hop = { method: 'GET', url: '/certificate', address: '198.51.100.4' };
  const seal = (clientCert?: string) => sealHop(key, { ...hop, clientCert }, new Date());
  const ask = async (sealed: string, clientCert: string) => {
    const headers = { 'sharedraft-forwarded': sealed, 'client-cert': clientCert };
    return (await fetch(`${address}/certificate`, { headers })).json();
  };
  assert.deepEqual(await ask(seal(':AAAA:'), ':AAAA:'), { clientCert: ':AAAA:' });
  for (const sealed of [seal(), seal(':BBBB:'), '1 forged 198.51.100.4']) {
    assert.deepEqual(await ask(sealed, ':AAAA:'), { clientCert: null });
  }
});

test('a request of an own institution stays, and so does one without a clue', async () => {
  const own = { authorization: `Bearer ${tokenOf({ iss: issuer, institution_id: 1 })}` };
  for (const headers of [own, {}]) {
    const answer = await fetch(`${address}/a`, { headers });
    assert.deepEqual(await answer.json(), { here: true, callerAddress: '192.0.2.7', isSentOn: false });
  }
  assert.deepEqual(asked, []);
});

test('a request that was sent on stays, with the caller’s address if the key is that of the cells', async () => {
  const sealed = sealHop(key, { method: 'GET', url: '/a', address: '198.51.100.4' }, new Date());
  for (const [header, callerAddress] of [
    [sealed, '198.51.100.4'],
    ['1 forged 198.51.100.5', '192.0.2.7'],
  ] as const) {
    const answer = await fetch(`${address}/a`, {
      headers: { authorization, 'sharedraft-forwarded': header },
    });
    assert.deepEqual(await answer.json(), { here: true, callerAddress, isSentOn: true });
  }
  assert.deepEqual(asked, []);
});

test('a token request goes on by its form, and one of this cell is parsed as it was sent', async () => {
  let body = '';
  respond = async (request, response) => {
    body = await text(request);
    response.end('there');
  };
  const post = (sent: string) =>
    fetch(`${address}/token`, { method: 'POST', headers: { 'content-type': form }, body: sent });
  assert.equal(await (await post('grant_type=x&client_id=app')).text(), 'there');
  assert.equal(body, 'grant_type=x&client_id=app');
  assert.deepEqual(asked, [[{ kind: 'client', clientId: 'app' }]]);
  assert.deepEqual(await (await post('grant_type=x')).json(), { here: 'grant_type=x' });
});

test('streams pass in both directions before they end', async () => {
  respond = (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    request.on('data', (chunk) => response.write(`heard ${chunk}`));
    request.on('end', () => response.end('end'));
  };
  const outgoing = httpRequest(`${address}/stream`, { method: 'POST', headers: { authorization } });
  outgoing.write('one');
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  assert.equal(String((await once(response, 'data'))[0]), 'heard one');
  outgoing.write('two');
  assert.equal(String((await once(response, 'data'))[0]), 'heard two');
  outgoing.end();
  assert.equal(await text(response), 'end');
});

test('a caller that leaves ends the request at the other cell', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  respond = (request) => {
    request.socket.once('close', resolve);
    arrive();
  };
  const outgoing = httpRequest(`${address}/slow`, { headers: { authorization } }).on('error', () => {});
  outgoing.end();
  await arrived;
  outgoing.destroy();
  await closed;
});

test('a cell that is away, that does not serve the institution, or that breaks off, is a refusal with its reason', async () => {
  const get = async (method = 'GET') =>
    (await (await fetch(`${address}/a`, { method, headers: { authorization } })).json()) as Problem;
  respond = (_request, response) => response.writeHead(421).end('not mine');
  const wrong = await get();
  assert.deepEqual([wrong.code, wrong.retryAfterSeconds], ['database_unavailable', 1]);
  assert.match(
    wrong.detail,
    /The cell "west" does not serve the institution, although the directory says so/,
  );
  respond = ({ socket }) => socket.destroy();
  assert.equal((await get('POST')).code, 'outcome_unknown');
  assert.equal((await get()).code, 'database_unavailable', 'a read is safe to repeat');
  otherAddress = 'http://127.0.0.1:1';
  const away = await get('POST');
  assert.equal(away.code, 'database_unavailable');
  assert.match(away.detail, /The cell "west" cannot be reached\. Nothing was written/);
});

test('the clues of a request are its token, its client, its provider and its host, the surest first', () => {
  const head = (authorization?: string, host = 'bank.example', query?: string) =>
    cluesOfHead({ authorization, host, query }, issuer);
  assert.deepEqual(head(authorization), [{ kind: 'institution', institutionId: 7 }]);
  assert.deepEqual(head(`dpop ${lakesideToken}`, 'Lakeside.example:443'), [
    { kind: 'institution', institutionId: 7 },
    { kind: 'host', host: 'lakeside.example' },
  ]);
  assert.deepEqual(head(`Basic ${Buffer.from('my%2Dapp:secret').toString('base64')}`), [
    { kind: 'client', clientId: 'my-app' },
  ]);
  assert.deepEqual(head(`Bearer ${tokenOf({ iss: 'https://idp.example', institution_id: 7 })}`), [
    { kind: 'issuer', issuer: 'https://idp.example' },
  ]);
  assert.deepEqual(head(undefined, '10.0.0.7:8080', 'client_id=app&x=1'), [
    { kind: 'client', clientId: 'app' },
  ]);
  for (const broken of [
    'Bearer',
    'Bearer x',
    'Bearer a.b.c',
    `Bearer ${tokenOf([])}`,
    'Basic',
    'Basic ====',
    'Bearer ..',
  ])
    assert.deepEqual(head(broken), [], broken);
  for (const claims of [
    { iss: issuer, institution_id: -1 },
    { iss: issuer, institution_id: '7' },
    { iss: 7 },
    {},
  ])
    assert.deepEqual(head(`Bearer ${tokenOf(claims)}`), []);
  const inForm = (values: Record<string, string>) =>
    cluesOfForm(Buffer.from(new URLSearchParams(values).toString()), issuer);
  assert.deepEqual(inForm({ client_assertion: tokenOf({ sub: 'app' }) }), [
    { kind: 'client', clientId: 'app' },
  ]);
  assert.deepEqual(inForm({ assertion: tokenOf({ iss: 'https://idp.example' }) }), [
    { kind: 'issuer', issuer: 'https://idp.example' },
  ]);
  assert.deepEqual(cluesOfForm(Buffer.from('{"client_id":"app"}'), issuer), [
    { kind: 'client', clientId: 'app' },
  ]);
  for (const broken of ['%', '{', '{"client_id":7}', ''])
    assert.deepEqual(cluesOfForm(Buffer.from(broken), issuer), []);
});
