import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { Authenticator, type Lie, optionsIn } from '../support/authenticator.ts';
import { commandsOn } from '../support/commands.ts';
import { approvedDevice } from '../support/device.ts';
import { institutionOf } from '../support/identity.ts';
import { sendTo, TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';

/* WebAuthn: Web Authentication level 3. Sections are those of its sections 7.1 (registration) and 7.2 (authentication). */

const issuer = 'http://localhost';
let now = Date.parse('2026-03-02T12:00:00Z');
let service: TestService;
let sharedraft: ReturnType<typeof commandsOn>;
let count = 0;

before(async () => {
  service = await startTestService({ clock: () => new Date(now), environment: { PUBLIC_URL: issuer } });
  sharedraft = commandsOn(service.db);
});
after(() => service.close());

const later = (minutes: number) => {
  now += minutes * 60_000;
};

/** By the command line, as the first administrator of an institution. The command runs at the machine's time, so its code is re-dated. */
async function invite(roles: string, institution = 'lakeside') {
  count += 1;
  const name = `Person ${count}`;
  const words = [
    '--name',
    name,
    '--email',
    `person-${count}@bank.example`,
    '--roles',
    roles,
    '--break-glass',
    'a test',
  ];
  const { code, stdout, stderr } = await sharedraft(
    'operator',
    'invite',
    ...words,
    '--institution',
    institution,
  );
  assert.equal(code, 0, stderr);
  const [row] = await service.db.superuser<{ operator_id: string }>(
    `select operator_id from operators where name = $1`,
    [name],
  );
  const operatorId = row?.operator_id ?? '';
  await service.db.superuser('update operator_invitations set expires_at = $2 where operator_id = $1', [
    operatorId,
    new Date(now + 72 * 3_600_000),
  ]);
  return { name, institution, operatorId, invitation: /code {2}(\S+)/.exec(stdout)?.[1] ?? '' };
}

const invitationPage = '/operations/invitation';

function enterCode(institution: string, code: string, browser = new TestBrowser(service.address)) {
  return browser.post(invitationPage, { institution, code });
}

interface Enrolled {
  readonly browser: TestBrowser;
  readonly key: Authenticator;
  readonly answer: TestPage;
}

async function enroll(institution: string, code: string, lie: Lie = {}): Promise<Enrolled> {
  const browser = new TestBrowser(service.address);
  const page = await enterCode(institution, code, browser);
  assert.match(page.title, /^Welcome/, page.text);
  const key = new Authenticator(issuer);
  const credential = key.create(optionsIn(page.text), lie);
  const answer = await browser.post(`${invitationPage}/passkey`, {
    request: page.request,
    credential,
    name: 'Laptop',
  });
  return { browser, key, answer };
}

async function enrolled(roles: string, institution = 'lakeside') {
  const invited = await invite(roles, institution);
  const { browser, key, answer } = await enroll(institution, invited.invitation);
  assert.equal(answer.headers.get('location'), '/console', answer.text);
  return { ...invited, browser, key };
}

/** Opens the page of sign-in, and answers its challenge. */
async function signIn(key: Authenticator, lie: Lie = {}, next = '/console') {
  const browser = new TestBrowser(service.address);
  const page = await browser.get(`/operations/sign-in?next=${next}`);
  const credential = key.get(optionsIn(page.text), lie);
  const sent = { request: page.request, credential, next };
  return { browser, sent, answer: await browser.post('/operations/sign-in/passkey', sent) };
}

const ownSession = async (browser: TestBrowser) => browser.get('/operations/v1/session');

function apiOf(browser: TestBrowser) {
  return new TestOperator(service.address, [...browser.cookies.values()][0] ?? '');
}

async function audited(operatorId: string) {
  const rows = await service.db.superuser<{ action: string }>(
    `select action from audit_entries where operator_id = $1 order by audit_key`,
    [operatorId],
  );
  return rows.map(({ action }) => action);
}

/** Refusals are counted, and written within a second or two. */
async function lastRefusal(reason: string, subject: string) {
  for (let tries = 0; tries < 100; tries += 1) {
    const rows = await service.db.superuser(
      `select from audit_entries where action = 'operator.refused' and reason = $1 and subject = $2`,
      [reason, subject],
    );
    if (rows.length > 0) return true;
    await setTimeout(100);
  }
  return false;
}

describe('an invitation', () => {
  test('leads the first administrator from the command line to a passkey and the console, each step in the audit by name', async () => {
    const ada = await enrolled('administrator');
    const own = JSON.parse((await ownSession(ada.browser)).text);
    assert.deepEqual([own.name, own.roles, own.method], [ada.name, ['administrator'], 'passkey']);
    assert.deepEqual(await audited(ada.operatorId), ['operator.passkey_added', 'operator.signed_in']);
    const [entry] = await service.db.superuser<{ operator: string; stated_reason: string; after: object }>(
      `select operator, stated_reason, after_change as after from audit_entries where action = 'operator.invited' and subject = $1`,
      [ada.operatorId],
    );
    assert.equal(entry?.stated_reason, 'a test');
    assert.deepEqual(entry?.after, { name: ada.name, roles: ['administrator'] });
    const again = await signIn(ada.key);
    assert.equal(again.answer.headers.get('location'), '/console');
    assert.equal((await ownSession(again.browser)).status, 200);
  });

  test('an administrator invites the next operator over the operations, and the code is shown once', async () => {
    const ada = await enrolled('administrator');
    const api = apiOf(ada.browser);
    const body = { name: 'Bea Approver', email: 'bea@bank.example', roles: ['approver'], reason: 'joins' };
    const { status, body: invited } = await api.post('/operators', body);
    assert.equal(status, 200);
    assert.equal(invited.operator.status, 'INVITED');
    const { answer } = await enroll('lakeside', invited.code);
    assert.equal(answer.status, 303);
    const list = (await api.get('/operators')).body;
    assert.equal(list.find((one: { name: string }) => one.name === 'Bea Approver').status, 'ACTIVE');
    assert.doesNotMatch(JSON.stringify(list), new RegExp(invited.code.slice(9)));
    for (const taken of [
      { ...body, email: 'other@bank.example', name: 'BEA  approver' },
      { ...body, name: 'Somebody else', email: 'BEA@bank.example' },
    ])
      assert.equal((await api.post('/operators', taken)).body.code, 'act_refused');
    for (const wrong of [
      { ...body, email: 'no address' },
      { ...body, name: ' ' },
      { ...body, name: 'Two\nlines' },
      { ...body, roles: ['owner'] },
      { ...body, roles: [] },
      { ...body, reason: '' },
    ])
      assert.equal((await api.post('/operators', wrong)).status, 400, JSON.stringify(wrong));
  });

  test('is refused alike for a wrong code, a foreign institution, an unknown one and a used code', async () => {
    const { invitation, operatorId } = await invite('viewer');
    const wrong = `${invitation.slice(0, -1)}${invitation.endsWith('0') ? '8' : '0'}`;
    const pages = [
      await enterCode('lakeside', wrong),
      await enterCode('harbor', invitation),
      await enterCode('nowhere', invitation),
      await enterCode('lakeside', ''),
    ];
    assert.ok(await lastRefusal('invitation', operatorId));
    await enroll('lakeside', invitation);
    pages.push(await enterCode('lakeside', invitation));
    for (const page of pages) {
      assert.equal(page.status, 422);
      assert.match(page.text, /The code is wrong, was used before, or has expired/);
    }
    assert.deepEqual(await audited(operatorId), ['operator.passkey_added', 'operator.signed_in']);
  });

  test('ends after five wrong tries and after 72 hours', async () => {
    const tried = await invite('viewer');
    const wrong = `${tried.invitation.slice(0, 9)}${'0'.repeat(26)}`;
    for (let tries = 0; tries < 5; tries += 1) await enterCode('lakeside', wrong);
    assert.equal((await enterCode('lakeside', tried.invitation)).status, 422);
    const late = await invite('viewer');
    later(72 * 60 + 1);
    assert.equal((await enterCode('lakeside', late.invitation)).status, 422);
  });

  test('lets one of two browsers enroll when both use its code at the same time', async () => {
    const { invitation, operatorId } = await invite('viewer');
    const forms = await Promise.all(
      [1, 2].map(async () => {
        const browser = new TestBrowser(service.address);
        const page = await enterCode('lakeside', invitation, browser);
        const credential = new Authenticator(issuer).create(optionsIn(page.text));
        return { browser, form: { request: page.request, credential, name: 'Laptop' } };
      }),
    );
    const answers = await Promise.all(
      forms.map(({ browser, form }) => browser.post(`${invitationPage}/passkey`, form)),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [303, 422]);
    const rows = await service.db.superuser('select from operator_passkeys where operator_id = $1', [
      operatorId,
    ]);
    assert.equal(rows.length, 1);
  });

  for (const [section, fault, lie] of [
    ['7.1.7', 'of an assertion in place of a registration', { type: 'webauthn.get' }],
    ['7.1.8', 'for another challenge', { challenge: 'AAAA' }],
    ['7.1.9', 'from another origin', { origin: 'https://evil.example' }],
    ['7.1.13', 'for another relying party', { rpId: 'evil.example' }],
    ['7.1.14', 'without the person’s presence', { flags: 0x04 }],
    ['7.1.15', 'without verification of the person', { flags: 0x01 }],
  ] as const) {
    test(`refuses an enrollment ${fault} (WebAuthn ${section}), and its code still works`, async () => {
      const { invitation } = await invite('viewer');
      const { answer } = await enroll('lakeside', invitation, lie);
      assert.equal(answer.status, 422);
      assert.equal((await enroll('lakeside', invitation)).answer.status, 303);
    });
  }

  test('refuses the form that a page of another site sends (RFC 9700 section 4.7)', async () => {
    const { invitation } = await invite('viewer');
    const browser = new TestBrowser(service.address);
    for (const site of ['cross-site', 'same-site', 'none']) {
      const form = { institution: 'lakeside', code: invitation };
      assert.equal((await browser.post(invitationPage, form, { 'sec-fetch-site': site })).status, 401, site);
    }
  });

  test('is revoked by the end of the operator, also behind an open page', async () => {
    const { invitation, operatorId } = await invite('viewer');
    const browser = new TestBrowser(service.address);
    const page = await enterCode('lakeside', invitation, browser);
    const credential = new Authenticator(issuer).create(optionsIn(page.text));
    const reason = ['--break-glass', 'withdrawn', '--yes', '--institution', 'lakeside'];
    assert.equal((await sharedraft('operator', 'suspend', operatorId, ...reason)).code, 1);
    assert.equal((await sharedraft('operator', 'end', operatorId, ...reason)).code, 0);
    const form = { request: page.request, credential, name: 'Laptop' };
    assert.equal((await browser.post(`${invitationPage}/passkey`, form)).status, 422);
  });

  test('made again for lost passkeys ends the old passkeys and sessions at once, and nobody invites themselves', async () => {
    const ada = await enrolled('administrator');
    const bea = await enrolled('teller');
    const api = apiOf(ada.browser);
    const again = (operatorId: string) =>
      api.post(`/operators/${operatorId}/invitation`, { reason: 'lost phone' });
    assert.equal((await again(ada.operatorId)).body.code, 'act_refused');
    const { body } = await again(bea.operatorId);
    assert.equal((await ownSession(bea.browser)).status, 401);
    assert.equal((await signIn(bea.key)).answer.status, 401);
    const { key, answer } = await enroll('lakeside', body.code);
    assert.equal(answer.status, 303);
    assert.equal((await signIn(key)).answer.status, 303);
    const [removed] = await service.db.superuser<{ operator: string }>(
      `select operator from audit_entries where action = 'operator.passkey_removed' and reason = 'invited_again' order by audit_key desc limit 1`,
    );
    assert.equal(removed?.operator, ada.name);
    assert.equal(
      (await api.send('PATCH', `/operators/${bea.operatorId}`, { status: 'SUSPENDED', reason: 'x' })).status,
      200,
    );
    assert.equal((await again(bea.operatorId)).body.code, 'act_refused');
  });

  test('the database holds the states of operators and their way of signing in by itself', async () => {
    const ada = await enrolled('viewer');
    const sql = service.db.superuser;
    const status = (to: string) =>
      sql('update operators set status = $2 where operator_id = $1', [ada.operatorId, to]);
    await assert.rejects(status('INVITED'), { code: 'SD140' });
    await assert.rejects(status('GONE'), { code: '23514' });
    const invited = await invite('viewer');
    const suspended = sql(`update operators set status = 'SUSPENDED' where operator_id = $1`, [
      invited.operatorId,
    ]);
    await assert.rejects(suspended, { code: 'SD140' });
    const session = (operatorId: string, method: string) =>
      sql(
        `insert into operator_sessions (institution_id, session_id, secret_hash, operator_id, kind, method, authenticated_at,
                                        created_at, last_used_at, expires_at)
         select institution_id, gen_random_uuid()::text, sha256(gen_random_uuid()::text::bytea), operator_id, 'BROWSER', $2, now(), now(), now(),
                now() + interval '1 hour' from operators where operator_id = $1`,
        [operatorId, method],
      );
    await assert.rejects(session(invited.operatorId, 'passkey'), { code: 'SD142' });
    await assert.rejects(session(ada.operatorId, 'provider'), { code: 'SD142' });
    await assert.rejects(session(ada.operatorId, 'demo'), { code: 'SD142' });
    const passkey = sql(
      `insert into operator_passkeys (institution_id, passkey_id, credential_id, operator_id, place, public_key, sign_count, is_synced,
                                      name, created_at)
       select institution_id, gen_random_uuid(), 'x', operator_id, 1, 'x', 0, false, 'x', now() from operators where operator_id = $1`,
      [invited.operatorId],
    );
    await assert.rejects(passkey, { code: 'SD142' });
    const born = sql(
      `insert into operators (institution_id, operator_id, name, email, roles, status, source, created_at)
       select institution_id, gen_random_uuid()::text, 'Born active', 'born@bank.example', roles, 'ACTIVE', 'INVITATION', now()
       from operators where operator_id = $1`,
      [ada.operatorId],
    );
    await assert.rejects(born, { code: 'SD140' });
  });
});

describe('an operator’s passkey', () => {
  for (const [section, fault, lie] of [
    ['7.2.6', 'for another person', { userHandle: Buffer.alloc(36, 1).toString('base64url') }],
    ['7.2.6', 'without a user handle', { userHandle: '' }],
    ['7.2.10', 'of a registration in place of an assertion', { type: 'webauthn.create' }],
    ['7.2.11', 'for another challenge', { challenge: 'AAAA' }],
    ['7.2.12', 'from another origin', { origin: 'https://evil.example' }],
    ['7.2.15', 'for another relying party', { rpId: 'evil.example' }],
    ['7.2.16', 'without the person’s presence', { flags: 0x04 }],
    ['7.2.17', 'without verification of the person', { flags: 0x01 }],
    ['7.2.21', 'with a counter that went back', { count: 0 }],
  ] as const) {
    test(`does not sign in ${fault} (WebAuthn ${section})`, async () => {
      const { key } = await enrolled('viewer');
      assert.equal((await signIn(key)).answer.status, 303);
      const { answer, browser } = await signIn(key, lie);
      assert.equal(answer.status, 401);
      assert.equal(browser.cookies.size, 0);
      assert.match(answer.text, /does not sign in here/);
    });
  }

  test('answers a challenge once, and no challenge after ten minutes', async () => {
    const { key } = await enrolled('viewer');
    const { browser, sent } = await signIn(key);
    assert.equal((await browser.post('/operations/sign-in/passkey', sent)).status, 401);
    const page = await browser.get('/operations/sign-in');
    const credential = key.get(optionsIn(page.text));
    later(11);
    const late = await browser.post('/operations/sign-in/passkey', { request: page.request, credential });
    assert.equal(late.status, 401);
  });

  test('a suspended or ended operator does not sign in with a passkey, and the audit has the reason', async () => {
    const ada = await enrolled('administrator');
    const bea = await enrolled('viewer');
    const api = apiOf(ada.browser);
    const set = (status: string) =>
      api.send('PATCH', `/operators/${bea.operatorId}`, { status, reason: 'x' });
    assert.equal((await set('SUSPENDED')).status, 200);
    assert.equal((await signIn(bea.key)).answer.status, 401);
    assert.ok(await lastRefusal('not_active', bea.operatorId));
    assert.equal((await set('ACTIVE')).status, 200);
    assert.equal((await signIn(bea.key)).answer.status, 303);
    assert.equal((await set('ENDED')).status, 200);
    assert.equal((await signIn(bea.key)).answer.status, 401);
    const rows = await service.db.superuser('select from operator_passkeys where operator_id = $1', [
      bea.operatorId,
    ]);
    assert.equal(rows.length, 0);
  });

  test('leads back to the page that asked for it, never to another site (RFC 9700 section 4.11), and ends the session before', async () => {
    const { key } = await enrolled('viewer');
    const { browser, answer } = await signIn(key, {}, '/console/review');
    assert.equal(answer.headers.get('location'), '/console/review');
    const before = [...browser.cookies.values()][0] ?? '';
    const page = await browser.get('/operations/sign-in?next=//evil.example');
    const credential = key.get(optionsIn(page.text));
    const sent = { request: page.request, credential, next: '//evil.example' };
    const again = await browser.post('/operations/sign-in/passkey', sent);
    assert.equal(again.headers.get('location'), '/console');
    assert.notEqual([...browser.cookies.values()][0], before);
    const old = await sendTo(service.address, 'GET', '/session', { authorization: `Bearer ${before}` });
    assert.equal(old.status, 401);
    const foreign = await browser.post('/operations/sign-in/passkey', sent, {
      'sec-fetch-site': 'cross-site',
    });
    assert.equal(foreign.status, 401);
  });

  test('makes a sign-in fresh again for a decision after five minutes', async () => {
    const { key } = await enrolled('approver');
    const first = await signIn(key);
    const decide = (browser: TestBrowser) =>
      apiOf(browser).post('/transfers/nothing/approve', { reason: 'a test' });
    assert.equal((await decide(first.browser)).status, 404);
    later(6);
    const old = await decide(first.browser);
    assert.deepEqual(
      [old.status, old.body.code, old.body.max_age],
      [401, 'insufficient_user_authentication', 300],
    );
    assert.equal((await decide((await signIn(key)).browser)).status, 404);
  });

  test('signs in no member, and a member’s passkey no operator', async () => {
    const { key } = await enrolled('viewer');
    const { institutionId } = await institutionOf(service, 'lakeside');
    const redirectUri = 'https://app.example/callback';
    const app = { clientId: `app-${count}`, secret: 'app-secret-that-is-long-enough', name: 'App' };
    await createClient(
      service.service.context.auth,
      {
        ...{ ...app, institutionId, scopes: ['account:read'], isFirstParty: true },
        ...{ grants: ['authorization_code'], redirectUris: [redirectUri], logoutUris: [] },
      },
      ownOrigin(),
    );
    const browser = new TestBrowser(service.address);
    const page = await browser.get(
      authorizeUrl({
        ...{
          client_id: app.clientId,
          response_type: 'code',
          redirect_uri: redirectUri,
          scope: 'account:read',
        },
        ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
      }),
    );
    const credential = key.get(optionsIn(page.text));
    const asMember = await browser.post('/auth/v2/sign-in/passkey', { request: page.request, credential });
    assert.equal(asMember.status, 401);

    const security = `/auth/v2/security?client_id=${app.clientId}`;
    const first = await browser.get(security);
    const password = { username: 'demo.member', password: 'demo-member-password' };
    await browser.post('/auth/v2/sign-in', { request: first.request, ...password });
    const own = await browser.get(security);
    const memberKey = new Authenticator(issuer);
    const made = memberKey.create(optionsIn(own.text));
    const sent = { request: own.request, credential: made, name: 'Phone' };
    const added = await browser.post('/auth/v2/security/passkeys', sent);
    assert.match(added.text, /Phone/);
    assert.equal((await signIn(memberKey)).answer.status, 401);
    // The page of a member is no page of an operator, and the other way round.
    const operatorPage = await browser.get('/operations/sign-in');
    const crossed = key.get(optionsIn(page.text));
    const mixed = await browser.post('/operations/sign-in/passkey', {
      request: page.request,
      credential: crossed,
    });
    assert.equal(mixed.status, 401);
    const back = { request: operatorPage.request, credential: memberKey.get(optionsIn(operatorPage.text)) };
    assert.equal((await browser.post('/auth/v2/sign-in/passkey', back)).status, 400);
  });
});

const ownPasskeys = '/operations/passkeys';

async function addSecond(browser: TestBrowser, name = 'Phone') {
  const page = await browser.get(ownPasskeys);
  const key = new Authenticator(issuer);
  const credential = key.create(optionsIn(page.text));
  const answer = await browser.post(ownPasskeys, { request: page.request, credential, name });
  return { key, answer, form: { request: page.request, credential, name } };
}

describe('the page of own passkeys', () => {
  const path = ownPasskeys;

  test('adds a second passkey that signs in, lists both by name, and removes one, with an audit entry each', async () => {
    const { browser, operatorId, key } = await enrolled('viewer');
    later(1); // They are listed by age.
    const { key: second, answer } = await addSecond(browser);
    assert.match(answer.text, /The passkey was added/);
    const other = await signIn(second);
    assert.equal(other.answer.status, 303);
    const passkeys = (await apiOf(browser).get('/passkeys')).body;
    assert.deepEqual(
      passkeys.map((one: { name: string }) => one.name),
      ['Laptop', 'Phone'],
    );
    const removed = await browser.post(`${path}/remove`, { passkey: passkeys[1].passkeyId });
    assert.match(removed.text, /was removed/);
    assert.equal((await signIn(second)).answer.status, 401);
    assert.equal((await ownSession(other.browser)).status, 401, 'the session of the other browser has ended');
    assert.equal((await ownSession(browser)).status, 200);
    assert.equal((await signIn(key)).answer.status, 303);
    const acts = (await audited(operatorId)).filter((action) => action.startsWith('operator.passkey'));
    assert.deepEqual(acts, ['operator.passkey_added', 'operator.passkey_added', 'operator.passkey_removed']);
  });

  test('keeps the last passkey, also when two are removed at the same time', async () => {
    const { browser } = await enrolled('viewer');
    const api = apiOf(browser);
    const only = (await api.get('/passkeys')).body[0].passkeyId;
    assert.equal((await api.send('DELETE', `/passkeys/${only}`)).body.code, 'act_refused');
    assert.match((await browser.post(`${path}/remove`, { passkey: only })).text, /your only passkey/);
    await addSecond(browser);
    const both = (await api.get('/passkeys')).body;
    const answers = await Promise.all(
      both.map(({ passkeyId }: { passkeyId: string }) => api.send('DELETE', `/passkeys/${passkeyId}`)),
    );
    assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409]);
  });

  test('takes each form once, of its own session, and of its own site', async () => {
    const ada = await enrolled('viewer');
    const bea = await enrolled('viewer');
    const { form } = await addSecond(ada.browser);
    assert.equal((await ada.browser.post(path, form)).status, 422);
    const page = await ada.browser.get(path);
    const credential = new Authenticator(issuer).create(optionsIn(page.text));
    const own = { request: page.request, credential, name: 'Key' };
    assert.equal((await bea.browser.post(path, own)).status, 422);
    const foreign = await ada.browser.post(path, own, { 'sec-fetch-site': 'cross-site' });
    assert.equal(foreign.headers.get('location'), `/operations/sign-in?next=${path}`);
    for (const passkey of [(await apiOf(ada.browser).get('/passkeys')).body[0].passkeyId, 'none', '']) {
      assert.equal((await bea.browser.post(`${path}/remove`, { passkey })).status, 422);
    }
  });

  test('leads to the sign-in without a session, and after five minutes, for its operation too', async () => {
    const toSignIn = `/operations/sign-in?next=${path}`;
    const stranger = new TestBrowser(service.address);
    assert.equal((await stranger.get(path)).headers.get('location'), toSignIn);
    const { browser } = await enrolled('viewer');
    assert.equal((await browser.get(path)).status, 200);
    later(6);
    assert.equal((await browser.get(path)).headers.get('location'), toSignIn);
    const late = await apiOf(browser).send('DELETE', '/passkeys/00000000-0000-4000-8000-000000000000');
    assert.equal(late.body.code, 'insufficient_user_authentication');
  });
});

describe('the approval of a command line', () => {
  const approved = ({ browser }: { readonly browser: TestBrowser }) =>
    approvedDevice(service, 'lakeside', browser);
  const reason = { reason: 'lost laptop' };
  let ada: TestOperator;
  before(async () => {
    ada = apiOf((await enrolled('administrator')).browser);
  });

  test('lasts until its one use while the session that gave it lasts', async () => {
    const bea = await enrolled('teller');
    const device = await approved(bea);
    assert.equal(await device.poll(), 200);
    assert.equal(await device.poll(), 'invalid_grant');
  });

  for (const [act, run] of [
    ['a new invitation', (bea) => ada.post(`/operators/${bea.operatorId}/invitation`, reason)],
    [
      'a suspension, also after the operator is back',
      async (bea) => {
        const set = (status: string) =>
          ada.send('PATCH', `/operators/${bea.operatorId}`, { status, ...reason });
        assert.equal((await set('SUSPENDED')).status, 200);
        return set('ACTIVE');
      },
    ],
    [
      'the end of the operator',
      (bea) => ada.send('PATCH', `/operators/${bea.operatorId}`, { status: 'ENDED', ...reason }),
    ],
    [
      'the removal of a passkey in another browser',
      async (bea) => {
        const other = apiOf((await signIn(bea.key)).browser);
        await addSecond((await signIn(bea.key)).browser);
        const [first] = (await other.get('/passkeys')).body;
        return other.send('DELETE', `/passkeys/${first.passkeyId}`);
      },
    ],
    ['a sign-out', (bea) => bea.browser.post('/operations/sign-out', {})],
  ] satisfies readonly [
    string,
    (bea: Awaited<ReturnType<typeof enrolled>>) => Promise<{ readonly status: number }>,
  ][]) {
    test(`ends by ${act}`, async () => {
      const bea = await enrolled('teller');
      const device = await approved(bea);
      const { status } = await run(bea);
      assert.ok(status < 400, String(status));
      assert.equal((await ownSession(bea.browser)).status, 401);
      assert.equal(await device.poll(), 'access_denied');
      assert.equal(await device.poll(), 'invalid_grant', 'the code is used up');
    });
  }

  test('stays when the browser that gave it removes a passkey, which ends the other sessions', async () => {
    const bea = await enrolled('teller');
    await addSecond(bea.browser);
    const device = await approved(bea);
    const own = apiOf(bea.browser);
    const [, second] = (await own.get('/passkeys')).body;
    assert.equal((await own.send('DELETE', `/passkeys/${second.passkeyId}`)).status, 200);
    assert.equal(await device.poll(), 200);
  });

  test('gives no session, and an open page no passkey, that outlives a new invitation at the same moment', async () => {
    for (let times = 0; times < 3; times += 1) {
      const bea = await enrolled('teller');
      const device = await approved(bea);
      const page = await bea.browser.get(ownPasskeys);
      const credential = new Authenticator(issuer).create(optionsIn(page.text));
      const [, , invited] = await Promise.all([
        device.poll(),
        bea.browser.post(ownPasskeys, { request: page.request, credential, name: 'Phone' }),
        ada.post(`/operators/${bea.operatorId}/invitation`, reason),
      ]);
      assert.equal(invited.status, 200, JSON.stringify(invited.body));
      const left = await service.db.superuser(
        'select from operator_sessions where operator_id = $1 and ended_at is null',
        [bea.operatorId],
      );
      assert.equal(left.length, 0);
      const passkeys = 'select from operator_passkeys where operator_id = $1';
      assert.equal((await service.db.superuser(passkeys, [bea.operatorId])).length, 0);
    }
  });

  test('is demanded by the database, for the session of the command line itself', async () => {
    const bea = await enrolled('teller');
    await approved(bea);
    const begin = (authenticatedAt = 'd.authenticated_at') =>
      service.db.superuser(
        `insert into operator_sessions (institution_id, session_id, secret_hash, operator_id, kind, method, authenticated_at,
                                        created_at, last_used_at, expires_at)
         select d.institution_id, gen_random_uuid()::text, sha256(gen_random_uuid()::text::bytea), d.operator_id, 'COMMAND_LINE', d.method,
                ${authenticatedAt}, now(), now(), now() + interval '1 hour'
         from operator_device_requests d where d.operator_id = $1`,
        [bea.operatorId],
      );
    await assert.rejects(begin(`d.authenticated_at + interval '1 minute'`), { code: 'SD143' });
    await begin();
    await service.db.superuser('update operator_sessions set ended_at = now() where operator_id = $1', [
      bea.operatorId,
    ]);
    await assert.rejects(begin(), { code: 'SD143' });
    const expired = `delete from operator_sessions where operator_id = $1`;
    await service.db.superuser(expired, [bea.operatorId]);
    const left = await service.db.superuser('select from operator_device_requests where operator_id = $1', [
      bea.operatorId,
    ]);
    assert.equal(left.length, 0, 'a request goes with its session');
  });
});

test('pages of operators allow no inline code, no frame and no other site (strict policy)', async () => {
  const browser = new TestBrowser(service.address);
  for (const path of ['/operations/sign-in', invitationPage]) {
    const page = await browser.get(path);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'/);
    assert.match(policy, /frame-ancestors 'none'/);
    assert.doesNotMatch(policy, /unsafe/);
    assert.doesNotMatch(page.text, /<script(?! type="module" src="\/auth\/v2\/passkeys\.js")|style=|onclick/);
  }
});

test('no passkey is offered over plain http beyond this machine, and no code is taken', async () => {
  await using unsafe = await startTestService({
    demo: false,
    environment: { PUBLIC_URL: 'http://bank.example' },
  });
  const browser = new TestBrowser(unsafe.address);
  const page = await browser.get('/operations/sign-in');
  assert.doesNotMatch(page.text, /data-ceremony/);
  assert.match(page.text, /https only/);
  assert.equal((await browser.post(invitationPage, { institution: 'lakeside', code: 'x' })).status, 422);
});
