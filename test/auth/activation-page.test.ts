import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createClient, reissueActivation } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { clientOf, memberOf, paths, send } from '../support/demo.ts';
import { eventually } from '../support/desk.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const app = { clientId: 'first-app', secret: 'first-app-secret-that-is-long' };
const password = 'a feather falls on ink';
const activatePath = '/auth/v2/activate';

let service: TestService;
let institutionId: InstitutionId;
before(async () => {
  service = await startTestService({ environment: { PUBLIC_URL: issuer } });
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    "select institution_id from institutions where code = 'lakeside'",
  );
  institutionId = row?.institution_id as InstitutionId;
  const client = {
    ...{ institutionId, ...app, name: 'First', isFirstParty: true },
    ...{ grants: ['authorization_code'], redirectUris: [redirectUri], logoutUris: [] },
    scopes: ['openid', 'account:read'] as const,
  };
  await createClient(service.service.context.auth, client, ownOrigin());
});
after(() => service.close());

/** A code for a member, as an operator gives it out; the member's sign-in changes only when it is used. */
async function codeFor(name: string): Promise<string> {
  const issued = await reissueActivation(service.service.context.auth, institutionId, {
    name,
    origin: ownOrigin(),
  });
  assert.ok(issued !== undefined);
  return issued.code;
}

async function onPage(browser = new TestBrowser(service.address)) {
  const { verifier, challenge } = pkce();
  const signIn = await browser.get(
    authorizeUrl({
      ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope: 'openid' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  assert.equal(signIn.title, 'Sign in');
  const page = await browser.post(activatePath, { request: signIn.request });
  return { browser, page, verifier };
}

const send3 = (browser: TestBrowser, page: TestPage, form: Readonly<Record<string, string>>) =>
  browser.post(activatePath, { request: page.request, ...form });

const alertOf = (page: TestPage) => /role="alert"[^>]*>([^<]*)</.exec(page.text)?.[1] ?? '';

test('a member activates with a code on the page, and the app gets a code of a signed-in member', async () => {
  const code = await codeFor('wren.many');
  const { browser, page, verifier } = await onPage();
  assert.deepEqual([page.status, page.title], [200, 'Activate your access']);
  const done = await send3(browser, page, { code, username: 'Wren.By.Page', password });
  assert.equal(done.status, 303, done.text);
  assert.equal(done.location.origin + done.location.pathname, redirectUri);
  const { body } = await send(service.address, 'POST', paths.token, {
    body: {
      ...{ grant_type: 'authorization_code', client_id: app.clientId, client_secret: app.secret },
      ...{ code: done.location.searchParams.get('code'), code_verifier: verifier, redirect_uri: redirectUri },
    },
  });
  assert.ok(typeof body.access_token === 'string');
  const [entry] = await service.db.superuser<{ outcome: string; client_id: string }>(
    "select outcome, client_id from audit_entries where action = 'user.activated' order by audit_key desc limit 1",
  );
  assert.deepEqual(entry, { outcome: 'succeeded', client_id: app.clientId });
  const again = await onPage();
  const used = await send3(again.browser, again.page, { code, username: 'wren.by.page', password });
  assert.equal(used.status, 422);
});

test('a wrong code, a used one and one of another institution get the same page', async () => {
  const pages: string[] = [];
  for (const code of ['wrong', 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA-A', '']) {
    const { browser, page } = await onPage();
    const refused = await send3(browser, page, { code, username: 'some.body', password });
    assert.equal(refused.status, 422);
    assert.match(alertOf(refused), /wrong, was used before, or has expired/);
    pages.push(refused.text.replaceAll(/value="[^"]*"/g, ''));
  }
  assert.equal(new Set(pages).size, 1);
});

test('the code stays valid after a refused username or password, and the page says the reason', async () => {
  const code = await codeFor('demo.member');
  const { browser, page } = await onPage();
  for (const [form, reason] of [
    [{ username: 'x', password }, /username cannot be used/],
    [{ username: 'demo.by.page', password: 'short' }, /too short or easy to guess/],
    [{ username: 'demo.by.page', password: 'passwordpassword' }, /too short or easy to guess/],
    [{ username: 'Wren.By.Page', password }, /Somebody else has this username/],
  ] as const) {
    const refused = await send3(browser, page, { code, ...form });
    assert.equal(refused.status, 422);
    assert.match(alertOf(refused), reason);
    assert.ok(refused.text.includes(`value="${form.username}"`), 'the username stays');
    assert.ok(!refused.text.includes(form.password) || form.password === 'short', 'the password does not');
  }
  assert.equal((await send3(browser, page, { code, username: 'demo.by.page', password })).status, 303);
});

test('the form of another site, browser or time changes nothing', async () => {
  const code = await codeFor('demo.by.page');
  const { browser, page } = await onPage();
  const form = { request: page.request, code, username: 'stolen.name', password };
  const foreign = await browser.post(activatePath, form, { 'sec-fetch-site': 'cross-site' });
  const other = await new TestBrowser(service.address).post(activatePath, form);
  const made = await browser.post(activatePath, { ...form, request: 'x'.repeat(200) });
  const none = await browser.post(activatePath, { code, username: 'stolen.name', password });
  assert.deepEqual(
    [foreign, other, made, none].map(({ status }) => status),
    [400, 400, 400, 400],
  );
  const taken = await service.db.superuser("select from users where username = 'stolen.name'");
  assert.equal(taken.length, 0);
});

test('text of a member is escaped on the page', async () => {
  const { browser, page } = await onPage();
  const username = '"><script>alert(1)</script>';
  const refused = await send3(browser, page, { code: await codeFor('demo.by.page'), username, password });
  assert.equal(refused.status, 422);
  assert.ok(!refused.text.includes('<script>alert'));
});

/** A browser behind "Forgot your password?", and its answer to a username. */
async function forget(username: string) {
  const { challenge } = pkce();
  const browser = new TestBrowser(service.address);
  const signIn = await browser.get(
    authorizeUrl({
      ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope: 'openid' },
      ...{ code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  const asked = await browser.post('/auth/v2/forgotten', { request: signIn.request });
  assert.equal(asked.title, 'Forgot your password?');
  const startedAt = performance.now();
  const page = await browser.post('/auth/v2/forgotten', { request: asked.request, username });
  return { browser, page, millis: performance.now() - startedAt };
}

/** The events of forgotten passwords, as a client of the institution reads them. */
async function requestedCodes(): Promise<string[]> {
  const bank = await clientOf(service);
  const ids: string[] = [];
  for (let path = '/digitalbanking/db-events/v1/events?limit=200'; ; ) {
    const { body, headers } = await bank.get(path);
    for (const { eventId, eventType } of body)
      if (eventType === 'member.activation_requested') ids.push(eventId);
    if (body.length === 0) return ids;
    path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]?.replace(issuer, '') ?? '';
  }
}

async function countRequested(): Promise<number> {
  const events = await service.db.superuser("select from outbox where kind = 'member.activation_requested'");
  return events.length;
}

const reasonsOf = (userId: string | null) =>
  service.db.superuser<{ outcome: string; reason: string }>(
    `select outcome, reason from audit_entries where action = 'user.activation_code_issued'
       and user_id is not distinct from $1 and client_id = '${app.clientId}' order by audit_key`,
    [userId],
  );

test('a member who forgot the password gets a code through the institution, and chooses a new one', async () => {
  const username = 'demo.by.page';
  const standing = await memberOf(service, username, password);
  const newPassword = 'five green lanterns swim';
  await service.db.superuser('delete from activations');
  const { browser, page } = await forget(username);
  assert.deepEqual([page.status, page.title], [200, 'Activate your access']);
  assert.match(page.text, /If the username is known/);
  const [eventId, ...more] = await eventually(requestedCodes, (found) => found.length > 0);
  assert.deepEqual(more, []);
  const bank = await clientOf(service);
  const path = `/digitalbanking/db-events/v1/events/${eventId}/activation-code`;
  const { body, status } = await bank.get(path);
  assert.equal(status, 200);
  assert.ok(new Date(body.expiresAt).getTime() - Date.now() <= 30 * 60_000);
  const done = await send3(browser, page, { code: body.activationCode, username, password: newPassword });
  assert.equal(done.status, 303, done.text);
  assert.equal((await standing.get(paths.accounts)).status, 401, 'tokens of before have ended');
  await memberOf(service, username, newPassword);
  await assert.rejects(memberOf(service, username, password));
  assert.equal((await bank.get(path)).status, 404, 'a used code is not handed over');
});

test('a further code is issued only when none is valid any more', async () => {
  const count = await countRequested();
  await forget('wren.by.page');
  await forget('wren.by.page');
  await forget('WREN.by.Page');
  assert.equal(await countRequested(), count + 1);
  const [{ user_id: userId } = { user_id: '' }] = await service.db.superuser<{ user_id: string }>(
    "select user_id from users where username = 'Wren.By.Page'",
  );
  assert.deepEqual(
    (await reasonsOf(userId)).map(({ outcome, reason }) => `${outcome} ${reason}`),
    ['succeeded forgotten_password', 'refused code_valid', 'refused code_valid'],
  );
});

test('nothing tells whether a username exists or may sign in: the words, the status, the time', async () => {
  await service.db.superuser("update users set locked_by_operator = true where username = 'demo.by.page'");
  const count = await countRequested();
  const pages: string[] = [];
  for (const username of ['nobody.at.all', 'demo.by.page', 'wren.by.page']) {
    const { page, millis } = await forget(username);
    assert.equal(page.status, 200);
    assert.ok(millis >= 295, `${millis} ms`);
    pages.push(page.text.replaceAll(/value="[^"]*"/g, ''));
  }
  assert.equal(new Set(pages).size, 1);
  assert.equal(await countRequested(), count);
  assert.deepEqual(await reasonsOf(null), [{ outcome: 'refused', reason: 'unknown_user' }]);
});
