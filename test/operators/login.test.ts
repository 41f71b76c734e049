import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { logIn } from '../../src/cli/commands/operator/login.ts';
import { sessionFile } from '../../src/cli/kept-session.ts';
import { commandsOn } from '../support/commands.ts';
import { clientOf, paths } from '../support/demo.ts';
import { sendTo } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { TestBrowser } from '../support/sign-in.ts';

/* Device authorization of the command line. Sections are those of RFC 8628. */

let now = Date.now();
let service: TestService;
let sharedraft: ReturnType<typeof commandsOn>;
const grant = 'urn:ietf:params:oauth:grant-type:device_code';

before(async () => {
  service = await startTestService({
    clock: () => new Date(now),
    environment: { PUBLIC_URL: 'http://localhost' },
  });
  sharedraft = commandsOn(service.db);
  process.env.HOME = await mkdtemp(path.join(tmpdir(), 'sharedraft-home-'));
});
after(() => service.close());

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

async function post(route: string, form: Readonly<Record<string, string>>): Promise<Answer> {
  const response = await fetch(service.address + route, { method: 'POST', body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

function ask(more: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const form = { client_id: 'sharedraft-cli', institution: 'harbor', machine: 'ann on laptop', ...more };
  return post('/operations/device-authorization', form);
}

/** Waits as long as the service asks, on its clock. */
function poll(
  code: string | undefined,
  { seconds = 5, ...more }: { seconds?: number; client_id?: string; grant_type?: string } = {},
) {
  now += seconds * 1000;
  const form = { client_id: 'sharedraft-cli', grant_type: grant, device_code: code ?? '', ...more };
  return post('/operations/token', form);
}

async function demoBrowser(name: string, institution = 'harbor'): Promise<TestBrowser> {
  const browser = new TestBrowser(service.address);
  const { body } = await sendTo(service.address, 'POST', '/demo-session', {}, { institution, name });
  browser.cookies.set('operator', body.token);
  return browser;
}

const enter = (browser: TestBrowser, code: string) => browser.post('/operations/device', { code });
const decide = (browser: TestBrowser, request: string, answer = 'approve') =>
  browser.post('/operations/device/decide', { request, answer });

test('signs a command line in after the operator saw the machine and approved, once (sections 3.1 to 3.5)', async () => {
  const asked = await ask();
  assert.match(asked.body.user_code ?? '', /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.equal(asked.body.verification_uri, 'http://localhost/operations/device');
  assert.equal((await poll(asked.body.device_code)).body.error, 'authorization_pending');
  const browser = await demoBrowser('Demo approver');
  const page = await enter(browser, (asked.body.user_code ?? '').toLowerCase().replace('-', ' '));
  assert.match(page.text, /ann on laptop/);
  assert.match(page.text, /127\.0\.0\.1/);
  assert.match((await decide(browser, page.request)).text, /is signed in/);
  const { body, status } = await poll(asked.body.device_code);
  assert.equal(status, 200);
  const session = await sendTo(service.address, 'GET', '/session', {
    authorization: `Bearer ${body.access_token}`,
  });
  assert.equal(session.body.name, 'Demo approver');
  assert.equal((await poll(asked.body.device_code)).body.error, 'invalid_grant', 'the code is used up');
  assert.equal((await enter(browser, asked.body.user_code ?? '')).status, 422);
  const rows = await service.db.superuser<{ operator: string; reason: string }>(
    `select operator, reason from audit_entries where action = 'operator.device_decided'`,
  );
  assert.deepEqual(rows, [{ operator: 'Demo approver', reason: 'approved' }]);
});

describe('device authorization', () => {
  test('refuses a poll that comes too early, and from then on wants five seconds more (section 3.5: slow_down)', async () => {
    const { body } = await ask();
    assert.equal((await poll(body.device_code)).body.error, 'authorization_pending');
    assert.equal((await poll(body.device_code, { seconds: 2 })).body.error, 'slow_down');
    assert.equal((await poll(body.device_code, { seconds: 6 })).body.error, 'slow_down');
    assert.equal((await poll(body.device_code, { seconds: 15 })).body.error, 'authorization_pending');
  });

  test('refuses a code after ten minutes, on both sides (section 3.5: expired_token)', async () => {
    const { body } = await ask();
    const browser = await demoBrowser('Demo approver');
    const page = await enter(browser, body.user_code ?? '');
    now += 601_000;
    assert.equal((await poll(body.device_code)).body.error, 'expired_token');
    const late = await demoBrowser('Demo approver');
    assert.equal((await enter(late, body.user_code ?? '')).status, 422);
    assert.notEqual((await decide(browser, page.request)).status, 200);
  });

  test('refuses a machine that the operator denied (section 3.5: access_denied)', async () => {
    const { body } = await ask();
    const browser = await demoBrowser('Demo approver');
    const page = await enter(browser, body.user_code ?? '');
    await decide(browser, page.request, 'deny');
    assert.equal((await decide(browser, page.request)).status, 422, 'the first decision stands');
    assert.equal((await poll(body.device_code)).body.error, 'access_denied');
  });

  test('refuses an operator who was suspended between approval and poll', async () => {
    const { body } = await ask();
    const browser = await demoBrowser('Demo viewer');
    await decide(browser, (await enter(browser, body.user_code ?? '')).request);
    await service.db.superuser(`update operators set status = 'SUSPENDED' where name = 'Demo viewer'`);
    assert.equal((await poll(body.device_code)).body.error, 'access_denied');
    await service.db.superuser(`update operators set status = 'ACTIVE' where name = 'Demo viewer'`);
  });

  test('refuses other clients, grants, codes, institutions and machine names (RFC 6749 section 5.2)', async () => {
    const { body } = await ask();
    const code = body.device_code ?? '';
    assert.equal((await poll(code, { client_id: 'somebody' })).body.error, 'invalid_client');
    assert.equal((await poll(code, { grant_type: 'password' })).body.error, 'unsupported_grant_type');
    for (const wrong of ['', 'x', `${code}x`, code.replace(/^\d+/, '999'), `1.${'A'.repeat(43)}`])
      assert.equal((await poll(wrong)).body.error, 'invalid_grant', wrong);
    for (const more of [
      { institution: 'nowhere' },
      { machine: '' },
      { machine: 'two\nlines' },
      { machine: 'x'.repeat(129) },
    ])
      assert.equal((await ask(more)).body.error, 'invalid_request');
    assert.equal((await ask({ client_id: 'somebody' })).status, 401);
  });

  test('refuses the code at another institution, and the form of another session or site (section 5.4)', async () => {
    const { body } = await ask();
    const elsewhere = await demoBrowser('Demo approver', 'lakeside');
    assert.equal((await enter(elsewhere, body.user_code ?? '')).status, 422);
    const browser = await demoBrowser('Demo approver');
    const page = await enter(browser, body.user_code ?? '');
    assert.equal((await decide(await demoBrowser('Demo teller'), page.request)).status, 422);
    const foreign = { request: page.request, answer: 'approve' };
    const sent = await browser.post('/operations/device/decide', foreign, { 'sec-fetch-site': 'cross-site' });
    assert.equal(sent.headers.get('location'), '/operations/sign-in?next=/operations/device');
    assert.equal((await poll(body.device_code)).body.error, 'authorization_pending');
  });

  test('refuses an approval without a sign-in of the last five minutes', async () => {
    const { body } = await ask();
    const browser = await demoBrowser('Demo approver');
    now += 301_000;
    const page = await enter(browser, body.user_code ?? '');
    assert.equal(page.headers.get('location'), '/operations/sign-in?next=/operations/device');
  });

  test('refuses a sixth machine that waits at one address, until the others have expired', async () => {
    now += 601_000;
    for (let count = 0; count < 5; count += 1) assert.equal((await ask()).status, 200);
    const full = await ask();
    assert.deepEqual([full.status, full.body.error], [503, 'temporarily_unavailable']);
    now += 601_000;
    assert.equal((await ask()).status, 200);
  });
});

describe('sharedraft login', () => {
  async function logInAs(name: string) {
    let shown = '';
    const asked = { server: service.address, institution: 'harbor', machine: 'ann on laptop' };
    const done = logIn(asked, {
      file: sessionFile(),
      show: (text) => {
        shown = text;
      },
    });
    while (shown === '') await new Promise((resolve) => setTimeout(resolve, 20));
    const browser = await demoBrowser(name);
    const page = await enter(browser, /code (\S+)/.exec(shown)?.[1] ?? '');
    await decide(browser, page.request);
    return done;
  }

  test('keeps the session in a file that only its owner reads, and refuses one that others may read', async () => {
    assert.deepEqual(await logInAs('Demo approver'), { name: 'Demo approver' });
    assert.equal((await stat(sessionFile())).mode & 0o777, 0o600);
    const who = await sharedraft('whoami');
    assert.match(who.stdout, /^Demo approver, approver of Harbor/);
    await chmod(sessionFile(), 0o640);
    const refused = await sharedraft('whoami');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /rights 0600/);
    await chmod(sessionFile(), 0o600);
  });

  test('lets a decision stand under the name of the operator; without it the institution wants --break-glass, which the audit marks', async () => {
    const harbor = await clientOf(service, ['harbor-app', 'harbor-app-secret']);
    for (const id of ['cli-1', 'cli-2', 'cli-3']) {
      const order = { id, fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount: 510 };
      assert.equal((await harbor.post(paths.transfers, order)).body.status, 'PENDING');
    }
    const place = ['--institution', 'harbor', '--yes'];
    const decline = (id: string, ...more: string[]) =>
      sharedraft('transfer', 'decline', id, ...place, ...more);
    // The sign-in of the kept session is as old as the real clock says: commands have no test clock.
    await service.db.superuser(
      `update operator_sessions set authenticated_at = now(), last_used_at = now(), expires_at = now() + interval '1 hour'`,
    );
    await service.db.superuser(
      `update operators set source = 'INVITATION', email = 'demo@bank.example' where name = 'Demo approver'`,
    );
    const signed = await decline('cli-1', '--reason', 'wrong payee');
    assert.equal(signed.code, 0, signed.stderr);
    const kept = await readFile(sessionFile(), 'utf8');
    assert.equal((await sharedraft('logout')).code, 0);
    const unsigned = await decline('cli-2');
    assert.equal(unsigned.code, 1);
    assert.match(
      unsigned.stderr,
      /has operators. Sign in with `sharedraft login`, or act with --break-glass/,
    );
    await mkdir(path.dirname(sessionFile()), { recursive: true });
    await writeFile(sessionFile(), kept, { mode: 0o600 });
    const ended = await decline('cli-2');
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /has ended/);
    const broken = await decline('cli-2', '--break-glass', 'console is down');
    assert.equal(broken.code, 0, broken.stderr);
    for (const twice of [
      ['--break-glass', 'x', '--reason', 'y'],
      ['--reason', 'y', '--break-glass', 'x'],
    ])
      assert.match((await decline('cli-3', ...twice)).stderr, /cannot be used with/);
    const rows = await service.db.superuser<{
      operator_id: string | null;
      break_glass: boolean;
      stated_reason: string;
    }>(
      `select operator_id, break_glass, stated_reason from audit_entries where action = 'transfer.declined' order by audit_key`,
    );
    assert.deepEqual(
      rows.map((row) => [row.operator_id !== null, row.break_glass, row.stated_reason]),
      [
        [true, false, 'wrong payee'],
        [false, true, 'console is down'],
      ],
    );
  });
});
