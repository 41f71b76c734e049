import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { demoAddress, operatorOf, sendTo } from '../support/operators.ts';
import { sendRaw } from '../support/raw-http.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { TestBrowser } from '../support/sign-in.ts';

let service: TestService;
let now = Date.now();

before(async () => {
  service = await startTestService({ environment: demoAddress, clock: () => new Date(now) });
});
after(() => service.close());

const demo = '/operations/sign-in/demo';

async function signedIn(name: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.address);
  const answer = await browser.post(demo, { institution: 'lakeside', name, next: '/console' });
  assert.equal(answer.status, 303);
  return browser;
}

test('shows a button for each role of each demo institution, and signs in with one click', async () => {
  const browser = new TestBrowser(service.address);
  const page = await browser.get('/operations/sign-in?next=/console/review');
  assert.equal(page.status, 200);
  assert.match(page.text, /Continue as Demo approver/);
  assert.match(page.text, /Continue as Second demo approver/);
  const answer = await browser.post(demo, {
    institution: 'lakeside',
    name: 'Demo approver',
    next: '/console/review',
  });
  assert.equal(answer.headers.get('location'), '/console/review');
  const own = await browser.get('/operations/v1/session');
  assert.equal(JSON.parse(own.text).name, 'Demo approver');
  assert.deepEqual(JSON.parse(own.text).roles, ['approver']);
});

test('leads to the console and never to another site', async () => {
  for (const next of [
    '//evil.example',
    'https://evil.example',
    '/\\evil.example',
    '/consoleevil',
    '/console\r\nx: y',
  ]) {
    const browser = new TestBrowser(service.address);
    const answer = await browser.post(demo, { institution: 'lakeside', name: 'Demo viewer', next });
    assert.equal(answer.headers.get('location'), '/console', next);
  }
});

test('has no demo buttons at an address beyond this machine, behind a proxy, or for an institution that is no demo', async () => {
  await using elsewhere = await startTestService({ environment: { PUBLIC_URL: 'https://bank.example' } });
  const page = await new TestBrowser(elsewhere.address).get('/operations/sign-in');
  assert.doesNotMatch(page.text, /Continue as/);
  const body = { institution: 'lakeside', name: 'Demo approver' };
  assert.equal((await sendTo(elsewhere.address, 'POST', '/demo-session', {}, body)).status, 404);
  await using proxied = await startTestService({
    environment: { ...demoAddress, TRUSTED_PROXIES: '127.0.0.1/32' },
  });
  const headers = { 'x-forwarded-for': '192.0.2.7' };
  assert.equal((await sendTo(proxied.address, 'POST', '/demo-session', headers, body)).status, 404);
  await service.db.superuser(`update institutions set demo = false where code = 'harbor'`);
  const harbor = { ...body, institution: 'harbor' };
  assert.equal((await sendTo(service.address, 'POST', '/demo-session', {}, harbor)).status, 404);
});

test('refuses the demo to a page whose name leads to this machine (DNS rebinding)', async () => {
  const sent = async (host: string) => {
    const body = JSON.stringify({ institution: 'lakeside', name: 'Demo approver' });
    const head = `POST /operations/v1/demo-session HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\n`;
    const request = `${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`;
    const { text } = await sendRaw(Number(new URL(service.address).port), [request]);
    return text.slice('HTTP/1.1 '.length, 'HTTP/1.1 404'.length);
  };
  for (const host of ['localhost', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080']) {
    assert.equal(await sent(host), '200', host);
  }
  for (const host of [
    'evil.example:8080',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost@evil.example',
  ]) {
    assert.equal(await sent(host), '404', host);
  }
});

test('refuses an act with the cookie that a page of another site sends', async () => {
  const browser = await signedIn('Demo teller');
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const act = (headers: Record<string, string>) =>
    sendTo(service.address, 'POST', '/users/nobody/lock', { cookie, ...headers }, { reason: 'a test' });
  assert.equal((await act({ 'sec-fetch-site': 'cross-site' })).status, 401);
  assert.equal((await act({ 'sec-fetch-site': 'same-site' })).status, 401);
  assert.equal((await act({ origin: 'https://evil.example' })).status, 401);
  assert.equal((await act({})).status, 401);
  assert.equal((await act({ 'sec-fetch-site': 'same-origin' })).status, 404);
  assert.equal((await act({ origin: 'http://127.0.0.1:8080' })).status, 404);
});

test('ends the session when the operator leaves, and audits both by name', async () => {
  const browser = await signedIn('Demo auditor');
  const token = [...browser.cookies.values()][0] ?? '';
  assert.equal((await browser.post('/operations/sign-out', {})).status, 303);
  assert.equal(browser.cookies.size, 0);
  const answer = await sendTo(service.address, 'GET', '/session', { authorization: `Bearer ${token}` });
  assert.equal(answer.body.code, 'invalid_token');
  const rows = await service.db.superuser<{ action: string; operator: string }>(
    `select action, operator from audit_entries where operator = 'Demo auditor' order by audit_key`,
  );
  assert.deepEqual(
    rows.map(({ action }) => action),
    ['operator.signed_in', 'operator.signed_out'],
  );
});

test('refuses at the next request a role that was taken away, and an operator who was suspended', async () => {
  const teller = await operatorOf(service, 'Demo teller');
  const administrator = await operatorOf(service, 'Demo administrator');
  const { operatorId } = (await teller.get('/session')).body;
  assert.equal((await teller.post('/users/nobody/lock', { reason: 'a test' })).status, 404);
  const change = (body: object) => administrator.send('PATCH', `/operators/${operatorId}`, body);
  assert.equal((await change({ roles: ['viewer'], reason: 'moves on' })).status, 200);
  assert.equal((await teller.post('/users/nobody/lock', { reason: 'a test' })).status, 403);
  assert.equal((await change({ status: 'SUSPENDED', reason: 'on leave' })).status, 200);
  assert.equal((await teller.get('/session')).body.code, 'invalid_token');
  assert.equal((await change({ status: 'ACTIVE', roles: ['teller'], reason: 'is back' })).status, 200);
  assert.equal((await teller.get('/session')).status, 401, 'the old session stays ended');
  const own = (await administrator.get('/session')).body.operatorId;
  const mine = await administrator.send('PATCH', `/operators/${own}`, {
    roles: ['approver'],
    reason: 'more',
  });
  assert.equal(mine.body.code, 'act_refused');
});

test('ends a browser session that was idle for half an hour, and any after twelve hours', async () => {
  const browser = await signedIn('Demo viewer');
  now += 29 * 60_000;
  assert.equal((await browser.get('/operations/v1/session')).status, 200);
  now += 29 * 60_000;
  assert.equal((await browser.get('/operations/v1/session')).status, 200);
  now += 31 * 60_000;
  assert.equal((await browser.get('/operations/v1/session')).status, 401);
  const again = await signedIn('Demo viewer');
  for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
    now += 20 * 60_000;
    assert.equal((await again.get('/operations/v1/session')).status, 200);
  }
  now += 20 * 60_000;
  assert.equal((await again.get('/operations/v1/session')).status, 401);
});

test('says when the session ends, and a request of a page without a person does not put it off', async () => {
  const browser = await signedIn('Demo viewer');
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const read = async (headers: Record<string, string> = {}) =>
    sendTo(service.address, 'GET', '/session', { cookie, 'sec-fetch-site': 'same-origin', ...headers });
  const alone = { 'sharedraft-unattended': '1' };
  const leftOf = ({ body }: Awaited<ReturnType<typeof read>>) => [body.idleInSeconds, body.expiresInSeconds];
  assert.deepEqual(leftOf(await read()), [1_800, 43_200]);
  now += 28 * 60_000;
  assert.deepEqual(leftOf(await read(alone)), [120, 41_520]);
  assert.deepEqual(leftOf(await read()), [1_800, 41_520]);
  now += 20 * 60_000;
  assert.deepEqual(leftOf(await read(alone)), [600, 40_320]);
  now += 11 * 60_000;
  assert.equal((await read(alone)).status, 401);
  assert.equal((await read()).status, 401);
});

test('the last half hour of a session is that of its twelve hours', async () => {
  const viewer = await operatorOf(service, 'Demo viewer');
  for (let step = 1; step <= 30; step += 1) {
    now += 24 * 60_000 - (step === 30 ? 90_000 : 0);
    assert.equal((await viewer.get('/session')).status, 200);
  }
  const { body } = await viewer.get('/session');
  assert.deepEqual([body.idleInSeconds, body.expiresInSeconds], [90, 90]);
});

test('the database refuses an act of an operator who is not active, and a decision of one who may not decide', async () => {
  const rows = await service.db.superuser<{ institution_id: number; operator_id: string; name: string }>(
    `select institution_id, operator_id, name from operators where name = 'Demo viewer'`,
  );
  const [viewer] = rows;
  const insert = (action: string, outcome = 'succeeded') =>
    service.db.superuser(
      `insert into audit_entries (institution_id, recorded_at, action, outcome, operator, operator_id, transaction_id, times)
       values ($1, now(), $2, $3, $4, $5, 'x', 1)`,
      [viewer?.institution_id, action, outcome, viewer?.name, viewer?.operator_id],
    );
  await insert('person.read');
  await assert.rejects(insert('transfer.approved'), { code: 'SD141' });
  await insert('transfer.approved', 'refused');
  const status = (to: string) =>
    service.db.superuser(`update operators set status = $1 where operator_id = $2`, [
      to,
      viewer?.operator_id,
    ]);
  await status('SUSPENDED');
  await assert.rejects(insert('person.read'), { code: 'SD141' });
  await status('ENDED');
  await assert.rejects(status('ACTIVE'), { code: 'SD140' });
});
