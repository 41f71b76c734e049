import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* Requests that try to get from the memory what a read would not give. */

const origins = ['https://app.example', 'https://other.example'] as const;
const start = Date.parse('2026-03-02T12:00:00Z');
let now = start;
let service: TestService;
let willow: DemoCaller;
let fern: DemoCaller;
before(async () => {
  service = await startTestService({
    clock: () => new Date(now),
    environment: { MEMORY_MEGABYTES: '1', CORS_ORIGINS: origins.join(',') },
  });
  [willow, fern] = await Promise.all([
    memberOf(service, 'demo.member', 'demo-member-password'),
    memberOf(service, 'fern.joint', 'fern-green-lantern-2'),
  ]);
});
after(() => service.close());

const checking = `${paths.accounts}/a-1001-checking`;
const history = `${checking}/transactions`;
const get = (path: string, headers: Record<string, string> = {}, { token } = willow) =>
  send(service.address, 'GET', path, { headers: { authorization: `Bearer ${token}`, ...headers } });

/** Reads until the answer comes from the memory. */
async function warm(path: string, caller = willow): Promise<string> {
  let text = '';
  for (let reads = 0; reads < 4; reads += 1) {
    const reply = await get(path, {}, caller);
    assert.equal(reply.status, 200, reply.text);
    text = reply.text;
  }
  return text;
}

describe('a remembered answer', () => {
  test('needs a request that its read would accept', async () => {
    await warm(`${history}?limit=5`);
    for (const [path, headers, status] of [
      [`${history}?limit=5`, { accept: 'text/html' }, 406],
      [`${history}?limit=5`, { accept: 'application/json;q=0' }, 406],
      [`${history}?limit=5&limit=5`, {}, 400],
      [`${history}?limit=5&limit=6`, {}, 400],
      [`${history}?limit=5&unknown=1`, {}, 400],
      [`${history}?limit=5`, { authorization: 'Bearer none' }, 401],
      [`${history}?limit=5`, { authorization: `Basic ${willow.token}` }, 401],
    ] as const) {
      const first = await get(path, headers);
      const second = await get(path, headers);
      assert.deepEqual([first.status, second.status], [status, status], `${path} ${JSON.stringify(headers)}`);
    }
    assert.equal((await send(service.address, 'GET', checking)).status, 401);
  });

  test('is found under no other spelling of its path by another member', async () => {
    await warm(checking);
    await warm(`${paths.customer('c-1001')}/contact-methods`);
    for (const path of [
      checking,
      `${paths.accounts}/%61-1001-checking`,
      `${checking}?`,
      `${checking}#part`,
      history,
      `${paths.customer('c-1001')}/contact-methods`,
      `${paths.customer('c-1001')}/contact-methods?userIdType=CUSTOMER_ID`,
      `${paths.customer('%63-1001')}/contact-methods`,
      `${paths.customer('c-1001')}/accounts`,
    ]) {
      const replies = [await get(path, {}, fern), await get(path, {}, fern)];
      assert.deepEqual(
        replies.map(({ status }) => status),
        [404, 404],
        path,
      );
    }
  });

  test('is whole for a request with Range, and for validators that are not of this answer', async () => {
    const text = await warm(checking);
    const etag = (await get(checking)).headers.get('etag') ?? '';
    const ranged = await get(checking, { range: 'bytes=0-9', 'if-range': etag });
    assert.deepEqual([ranged.status, ranged.text], [200, text]);
    for (const wanted of [
      etag.slice(1, -1),
      etag.toUpperCase(),
      `w/${etag}`,
      `"${etag}"`,
      '"*"',
      '**',
      '',
      ',',
      'W/',
      `"${'a'.repeat(8_000)}"`,
    ]) {
      const reply = await get(checking, { 'if-none-match': wanted });
      assert.deepEqual([reply.status, reply.text], [200, text], wanted.slice(0, 40));
    }
    const since = { 'if-modified-since': 'Fri, 31 Dec 2100 23:59:59 GMT' };
    assert.equal((await get(checking, since)).status, 200);
  });

  test('has the headers of its own request: origin, transaction id and connection', async () => {
    await warm(checking);
    for (const [index, origin] of [...origins, 'https://evil.example'].entries()) {
      const reply = await get(checking, { origin, transactionId: `request-${index}` });
      const allowed = origins.some((one) => one === origin) ? origin : null;
      assert.equal(reply.headers.get('access-control-allow-origin'), allowed);
      assert.equal(reply.headers.get('transactionid'), `request-${index}`);
      assert.match(reply.headers.get('vary') ?? '', /Origin/);
    }
  });

  test('leaves the next request on the connection in step if its own has a body', async () => {
    await warm(checking);
    const head = (more: string) =>
      `GET ${checking} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${willow.token}\r\n${more}\r\n`;
    const smuggled = `GET ${paths.accounts} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const { text } = await sendRaw(
      Number(new URL(service.address).port),
      [
        head(`Content-Type: application/json\r\nContent-Length: ${smuggled.length}\r\n`),
        smuggled,
        head('Connection: close\r\n'),
      ],
      10_000,
    );
    const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status);
    assert.ok(!statuses.includes('401'), `the body is no request: ${statuses}`);
    assert.equal(statuses.at(-1), '200', text);
  });

  test('ends with its token when the clock jumps beyond it, and no earlier', async () => {
    const token = await memberOf(service, 'demo.member', 'demo-member-password');
    await warm(checking, token);
    now = start + 1_799_000;
    assert.equal((await get(checking, {}, token)).status, 200);
    now = start + 2 * 3_600_000;
    assert.equal((await get(checking, {}, token)).status, 401);
    assert.equal((await get(checking, { 'if-none-match': '*' }, token)).status, 401);
    now = start;
    assert.equal((await get(checking, {}, token)).status, 200);
  });

  test('the answer of a profile follows a lock that begins and ends by the clock', async () => {
    const client = await clientOf(service);
    const profile = `${paths.customer('c-1002')}/contact-methods`;
    const isLocked = async () => (await get(profile, {}, client)).body.userStatus.locked;
    await warm(profile, client);
    const lock = `update users set locked_until = $1 where user_id = 'u-pebble-primary'`;
    await service.db.superuser(lock, [new Date(start + 900_000)]);
    assert.deepEqual([await isLocked(), await isLocked()], [true, true]);
    now = start + 901_000;
    assert.deepEqual([await isLocked(), await isLocked()], [false, false]);
    now = start;
  });

  test('is as fresh after it had to leave the full memory', async () => {
    const client = await clientOf(service);
    const accounts = ['a-1019-checking', 'a-1019-savings', 'a-1019-moneymarket', 'a-1019-ira'];
    const urls = accounts.flatMap((id) =>
      Array.from({ length: 200 }, (_, index) => `${paths.accounts}/${id}/transactions?limit=${index + 1}`),
    );
    const first = `${paths.accounts}/a-1019-checking`;
    const amount = async () => (await get(first, {}, client)).body.balance.currentBalance.amount;
    const before = await amount();
    for (let at = 0; at < urls.length; at += 50) {
      const replies = await Promise.all(urls.slice(at, at + 50).map((url) => get(url, {}, client)));
      assert.ok(replies.every(({ status }) => status === 200));
    }
    const order = { fromAccountId: 'a-1019-checking', toAccountId: 'a-1019-savings', amount: 1 };
    assert.equal((await client.post(paths.transfers, { id: 'evicted', ...order })).status, 201);
    assert.equal(await amount(), before - 1);
    const [newest] = (await get(`${first}/transactions?limit=1`, {}, client)).body;
    assert.equal(newest.ledgerBalance.amount, before - 1);
  });
});

test('no key of a thing that triggers note can be changed by the service', async () => {
  const keys = await service.db.superuser<{ table: string; column: string }>(
    `select distinct c.relname as table, a.attname as column
     from pg_trigger t
     join pg_class c on c.oid = t.tgrelid
     join pg_attribute a on a.attrelid = c.oid
       and a.attname in ('institution_id', 'account_key', 'person_key', 'user_key', 'customer_key', 'revoked_id')
     where t.tgname = 'note_updated'`,
  );
  assert.ok(keys.length > 20, `${keys.length} keys`);
  const [row] = await service.db.superuser<{ changeable: string[] }>(
    `select coalesce(array_agg(k.t || '.' || k.c), '{}') as changeable
     from unnest($1::text[], $2::text[]) as k (t, c)
     where has_column_privilege($3, k.t, k.c, 'update')`,
    [keys.map(({ table }) => table), keys.map(({ column }) => column), service.db.connection.user],
  );
  assert.deepEqual(row?.changeable, []);
});
