import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose';
import { issueCode } from '../../src/auth/authorization/issue-code.ts';
import { lockClient } from '../../src/auth/clients/client-queries.ts';
import { createClient, endSessions, setPassword, setStanding } from '../../src/auth/index.ts';
import { endSession } from '../../src/auth/sessions/session-queries.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { beginAttempts } from '../../src/logouts/notice-queries.ts';
import { type DeliveryMessage, seams } from '../../src/shared/seams.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { commandsOn } from '../support/commands.ts';
import { paths, send } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';
import { until } from '../webhooks/receiver.ts';

/* OpenID Connect Back-Channel Logout 1.0, with two processes that send, and apps that verify by `jose`. */

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const event = 'http://schemas.openid.net/event/backchannel-logout';
const willow = { username: 'demo.member', password: 'demo-member-password' };
const fern = { username: 'fern.joint', password: 'fern-green-lantern-2' };
const apps = ['wallet', 'budget', 'deaf', 'silent', 'pebble'] as const;
type App = (typeof apps)[number];
type Granted = Parameters<typeof issueCode>[1];
let services: TestService[];
let service: TestService;
let lakeside: InstitutionId;
let receiver: Server;
let received: { path: string; contentType: string | undefined; token: string; method: string }[] = [];
/** The status of each response; undefined: silence. */
let respond: (path: string) => number | undefined = () => 200;

const idOf = (app: App) => `${app}-app`;
const secretOf = (app: App) => `${app}-app-secret-that-is-long`;
const urlOf = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${path}`;

before(async () => {
  receiver = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const path = (request.url ?? '').slice(1);
    const [[name, token] = [], ...more] = [...new URLSearchParams(body)];
    assert.deepEqual([name, more], ['logout_token', []]);
    const { 'content-type': contentType } = request.headers;
    received.push({ path, contentType, token: token ?? '', method: request.method ?? '' });
    const status = respond(path);
    if (status !== undefined) response.writeHead(status, { location: urlOf('elsewhere') }).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const environment = { PUBLIC_URL: issuer };
  service = await startTestService({ environment });
  services = [await startTestService({ environment, beside: service }), service];
  const rows = await service.db.superuser<{ id: InstitutionId; code: string }>(
    'select institution_id as id, code from institutions',
  );
  const institutionOf = (code: string) => rows.find((row) => row.code === code)?.id as InstitutionId;
  lakeside = institutionOf('lakeside');
  for (const app of apps) {
    const institutionId = institutionOf(app === 'pebble' ? 'harbor' : 'lakeside');
    const created = await createClient(
      service.service.context.auth,
      {
        ...{ institutionId, clientId: idOf(app), secret: secretOf(app), name: app, isFirstParty: true },
        grants: ['authorization_code', 'refresh_token', 'password'],
        scopes: ['openid', 'account:read', 'institution-users:write', 'offline_access'],
        redirectUris: [redirectUri],
        backchannelLogoutUri: app === 'deaf' ? null : urlOf(app),
      },
      ownOrigin(),
    );
    assert.ok(created, app);
  }
});
after(async () => {
  receiver.closeAllConnections();
  receiver.close();
  for (const one of services) await one.close();
});

beforeEach(async () => {
  respond = () => 200;
  await service.db.superuser('delete from logout_notices');
  received = [];
});

interface SignedIn {
  readonly browser: TestBrowser;
  readonly idToken: string;
  readonly accessToken: string;
}

/** Signs in to an app, by a form if the browser has no session. */
async function signIn(
  app: App,
  {
    host,
    browser = new TestBrowser(service.address, { ...(host && { host }) }),
    who = willow,
  }: { readonly host?: string; readonly browser?: TestBrowser; readonly who?: typeof willow } = {},
): Promise<SignedIn> {
  const { verifier, challenge } = pkce();
  let page = await browser.get(
    authorizeUrl({
      ...{ client_id: idOf(app), response_type: 'code', redirect_uri: redirectUri, nonce: 'n-1' },
      ...{ scope: 'openid account:read', code_challenge: challenge, code_challenge_method: 'S256' },
    }),
  );
  if (page.status === 200) {
    page = await browser.post('/auth/v2/sign-in', { request: page.request, ...who });
  }
  assert.equal(page.status, 303, page.text);
  const { body, text } = await send(service.address, 'POST', paths.token, {
    ...(host && { headers: { host } }),
    body: {
      ...{ grant_type: 'authorization_code', client_id: idOf(app), client_secret: secretOf(app) },
      code: page.location.searchParams.get('code'),
      ...{ code_verifier: verifier, redirect_uri: redirectUri },
    },
  });
  assert.ok(body.id_token, text);
  return { browser, idToken: body.id_token, accessToken: body.access_token };
}

const logOut = ({ browser, idToken }: Pick<SignedIn, 'browser' | 'idToken'>) =>
  browser.get(`/auth/v2/logout?id_token_hint=${idToken}`);

interface NoticeRow {
  readonly client_id: string;
  readonly attempts: number;
  readonly seconds: number;
}

const waiting = () =>
  service.db.superuser<NoticeRow>(
    'select client_id, attempts, extract(epoch from due_at - now())::float8 as seconds from logout_notices order by client_id',
  );

/** The tokens at the address of an app, once the service has nothing more to send. */
async function tokensAt(path: string): Promise<string[]> {
  await until(async () => (await waiting()).length === 0, 'no notice that waits');
  return received.filter((one) => one.path === path).map(({ token }) => token);
}

async function verified(token: string, app: App): Promise<JWTPayload> {
  const { body } = await send(service.address, 'GET', '/auth/v2/jwks');
  const rules = { issuer, audience: idOf(app), typ: 'logout+jwt', algorithms: ['ES256'] };
  return (await jwtVerify(token, createLocalJWKSet(body as never), rules)).payload;
}

describe('a logout token', () => {
  test('has exactly the claims of section 2.4, the type logout+jwt, and no nonce', async () => {
    const signedIn = await signIn('wallet');
    const { sub, sid } = decodeJwt(signedIn.idToken);
    await logOut(signedIn);
    const [token = '', ...more] = await tokensAt('wallet');
    assert.deepEqual(more, []);
    const { iat = 0, jti = '', ...claims } = await verified(token, 'wallet');
    assert.deepEqual(claims, {
      ...{ iss: issuer, sub, aud: 'wallet-app', exp: iat + 120, sid },
      events: { [event]: {} },
    });
    assert.match(jti, /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(iat - Date.now() / 1000) < 10);
    const { kid, ...header } = decodeProtectedHeader(token);
    assert.ok(kid);
    assert.deepEqual(header, { alg: 'ES256', typ: 'logout+jwt' });
  });

  test('comes by POST as the form of section 2.5', async () => {
    await logOut(await signIn('wallet'));
    await tokensAt('wallet');
    assert.deepEqual(
      received.map(({ method, contentType }) => [method, contentType]),
      [['POST', 'application/x-www-form-urlencoded']],
    );
  });

  test('is neither an ID token nor an access token (section 2.4)', async () => {
    await logOut(await signIn('wallet'));
    const [token = ''] = await tokensAt('wallet');
    const { browser } = await signIn('wallet');
    const asked = await logOut({ browser, idToken: token });
    assert.deepEqual([asked.status, (await waiting()).length], [200, 0]);
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await send(service.address, 'GET', paths.accounts, { headers })).status, 401);
  });

  test('names the issuer of the host at which the session began, as the ID token does (section 2.6)', async () => {
    const host = 'lakeside.example';
    await service.db.superuser('update institutions set host = $1 where institution_id = $2', [
      host,
      lakeside,
    ]);
    const [atHost, atPublicUrl] = [await signIn('wallet', { host }), await signIn('wallet')];
    assert.equal(decodeJwt(atHost.idToken).iss, `https://${host}`);
    assert.equal((await logOut(atHost)).status, 200);
    assert.equal(decodeJwt((await tokensAt('wallet'))[0] ?? '').iss, `https://${host}`);
    received = [];
    await logOut(atPublicUrl);
    assert.equal(decodeJwt((await tokensAt('wallet'))[0] ?? '').iss, issuer);
    // All sessions of the member at once, by a trigger of its own.
    await signIn('wallet', { host });
    await signIn('wallet');
    received = [];
    await service.db.superuser(
      `update users set token_epoch = token_epoch + 1 where user_id = 'u-demo-member'`,
    );
    const issuers = new Set((await tokensAt('wallet')).map((token) => decodeJwt(token).iss));
    assert.deepEqual([...issuers].toSorted(), [issuer, `https://${host}`].toSorted());
    await service.db.superuser('update institutions set host = null');
  });

  test('has a sid of the session (section 2.1) that differs between apps and shows nothing of the cookie', async () => {
    const one = await signIn('wallet');
    const two = await signIn('budget', one);
    const again = await signIn('wallet', one);
    const [sid, other, same] = [one, two, again].map(({ idToken }) => decodeJwt(idToken).sid as string);
    assert.equal(sid, same);
    assert.notEqual(sid, other);
    const [row] = await service.db.superuser<{ id: string }>(
      'select session_id as id from member_sessions order by created_at desc limit 1',
    );
    assert.ok(![...one.browser.cookies.values(), row?.id].includes(sid));
    await logOut(again);
    const [token = ''] = await tokensAt('wallet');
    const [otherToken = ''] = await tokensAt('budget');
    assert.deepEqual(
      [(await verified(token, 'wallet')).sid, (await verified(otherToken, 'budget')).sid],
      [sid, other],
    );
    assert.equal(received.length, 2, 'one token for an app with two grants');
  });
});

test('both metadata documents announce it (section 2.1)', async () => {
  for (const name of ['oauth-authorization-server', 'openid-configuration']) {
    const { body } = await send(service.address, 'GET', `/.well-known/${name}`);
    assert.deepEqual(
      [body.backchannel_logout_supported, body.backchannel_logout_session_supported],
      [true, true],
    );
  }
});

describe('an app at the end of a session (section 2.3)', () => {
  const act = (name: string) => ({ name, origin: ownOrigin() });
  const security = `/auth/v2/security?client_id=wallet-app`;
  const endOnPage = async (browser: TestBrowser, who: typeof willow, kind: string) => {
    let page = await browser.get(security);
    if (page.title === 'Sign in') {
      await browser.post('/auth/v2/sign-in', { request: page.request, ...who });
      page = await browser.get(security);
    }
    const offered = [...page.text.matchAll(/name="access" value="([^"]+)"/g)].map(([, one]) => one ?? '');
    for (const access of offered.filter((one) => one.startsWith(kind))) {
      await browser.post('/auth/v2/security/end', { request: page.request, access });
    }
  };
  const causes: Readonly<Record<string, (signedIn: SignedIn) => Promise<unknown>>> = {
    'by a logout with an ID token': logOut,
    'by a logout after an hour in which the browser was not at our pages': async (signedIn) => {
      await service.db.superuser(
        `update member_sessions set authenticated_at = now() - interval '1 hour', last_used_at = now() - interval '1 hour'
         where ended_at is null`,
      );
      await logOut(signedIn);
    },
    'by a logout that the member confirms': ({ browser }) => browser.post('/auth/v2/sign-out', {}),
    'by another browser on the security page': () =>
      endOnPage(new TestBrowser(service.address), fern, 'browser'),
    'by "everywhere else"': () => endOnPage(new TestBrowser(service.address), fern, 'others'),
    'by a lock': async () => {
      const lock = { ...act(fern.username), lockedByOperator: true };
      await setStanding(service.service.context.auth, lakeside, lock);
      await setStanding(service.service.context.auth, lakeside, { ...lock, lockedByOperator: false });
    },
    'by a deactivation': async () => {
      await setStanding(service.service.context.auth, lakeside, { ...act(fern.username), active: false });
      await setStanding(service.service.context.auth, lakeside, { ...act(fern.username), active: true });
    },
    "by an operator's end of all sessions": () =>
      endSessions(service.service.context.auth, lakeside, act(fern.username)),
    'by the command member end-sessions': async () => {
      const run = commandsOn(service.db);
      const words = ['member', 'end-sessions', fern.username, '--institution', 'lakeside', '--yes'];
      const { code, stderr } = await run(...words);
      assert.equal(code, 0, stderr);
    },
    'by a new password of the member': async () => {
      const { body } = await send(service.address, 'POST', paths.token, {
        body: {
          ...{ grant_type: 'password', client_id: idOf('wallet'), client_secret: secretOf('wallet') },
          ...{ ...fern, scope: 'institution-users:write' },
        },
      });
      const changed = await send(service.address, 'POST', paths.password, {
        headers: { authorization: `Bearer ${body.access_token}` },
        body: { currentPassword: fern.password, newPassword: 'fern-red-lantern-33' },
      });
      assert.ok(changed.status < 300, changed.text);
      fern.password = 'fern-red-lantern-33';
    },
    'by a new password of an operator': async () => {
      fern.password = 'fern-blue-lantern-44';
      const wanted = { ...act(fern.username), password: fern.password };
      await setPassword(service.service.context.auth, lakeside, wanted);
    },
  };
  for (const [cause, end] of Object.entries(causes)) {
    test(`hears of a session that ended ${cause}`, async () => {
      const signedIn = await signIn('wallet', { who: fern });
      const { sid, sub } = decodeJwt(signedIn.idToken);
      await end(signedIn);
      const tokens = await tokensAt('wallet');
      assert.equal(tokens.length, 1);
      const claims = await verified(tokens[0] ?? '', 'wallet');
      assert.deepEqual([claims.sid, claims.sub], [sid, sub]);
    });
  }

  test('hears once of a session that ends by several causes', async () => {
    const signedIn = await signIn('wallet', { who: fern });
    respond = () => 500;
    await logOut(signedIn);
    for (const _time of [1, 2]) {
      await endSessions(service.service.context.auth, lakeside, act(fern.username));
    }
    await until(() => received.length === 1, 'the request');
    assert.equal((await waiting()).length, 1);
  });
});

describe('an app that is not concerned', () => {
  test('hears nothing of another browser, another member or another institution', async () => {
    const mine = await signIn('wallet');
    await signIn('budget');
    await signIn('budget', { who: fern });
    const pebble = await signIn('pebble', {
      who: { username: 'demo.member', password: 'harbor-member-password' },
    });
    await logOut(mine);
    assert.equal((await tokensAt('wallet')).length, 1);
    assert.equal(received.length, 1);
    await logOut(pebble);
    const [token = ''] = await tokensAt('pebble');
    assert.equal((await verified(token, 'pebble')).sub, decodeJwt(pebble.idToken).sub);
    assert.equal(received.length, 2);
  });

  test('hears nothing without an address, and the others hear', async () => {
    const one = await signIn('deaf');
    await signIn('wallet', one);
    await logOut(one);
    assert.equal((await tokensAt('wallet')).length, 1);
    assert.equal(received.length, 1);
  });

  test('hears nothing if it is switched off before the session ends, or before an attempt', async () => {
    await signIn('wallet');
    const two = await signIn('budget');
    const set = (app: App, active: boolean) =>
      service.db.superuser('update clients set active = $2 where client_id = $1', [idOf(app), active]);
    respond = () => 500;
    await logOut(two);
    await until(async () => (await waiting())[0]?.attempts === 1, 'the first attempt');
    await set('wallet', false);
    await set('budget', false);
    await service.db.superuser('update member_sessions set ended_at = now() where ended_at is null');
    await service.db.superuser('update logout_notices set due_at = now()');
    await tokensAt('wallet');
    assert.deepEqual(
      received.map(({ path }) => path),
      ['budget'],
    );
    await set('wallet', true);
    await set('budget', true);
  });
});

describe('an attempt that fails (section 2.5)', () => {
  const attemptsBegun = (attempts: number) =>
    until(async () => (await waiting())[0]?.attempts === attempts, `attempt ${attempts}`);
  const makeDue = () => service.db.superuser('update logout_notices set due_at = now()');

  test('is repeated after a status of 500, with a jti and a time of its own', async () => {
    respond = () => 500;
    await logOut(await signIn('wallet'));
    await attemptsBegun(1);
    const [row] = await waiting();
    assert.ok(row && row.seconds > 15 && row.seconds <= 22, `due in ${row?.seconds} s`);
    await until(() => received.length === 1, 'the first request');
    respond = () => 204;
    await makeDue();
    const tokens = await tokensAt('wallet');
    assert.equal(tokens.length, 2);
    const [first, second] = await Promise.all(tokens.map((token) => verified(token, 'wallet')));
    assert.notEqual(first?.jti, second?.jti);
    assert.equal(first?.sid, second?.sid);
  });

  test('is repeated after silence, also if its process never comes back', async () => {
    respond = () => undefined;
    await logOut(await signIn('silent'));
    await until(() => received.length === 1, 'the first request');
    await attemptsBegun(1);
    respond = () => 200;
    await makeDue();
    assert.equal((await tokensAt('silent')).length, 2);
    receiver.closeAllConnections();
  });

  test('delays no other app, although more are due than a process sends at a time', async () => {
    respond = (path) => (path === 'silent' ? undefined : 200);
    await service.db.superuser(
      `insert into logout_notices (institution_id, session_id, client_id, user_key)
       select institution_id, gen_random_uuid(), client_id, user_key
       from (select * from authorization_grants where client_id = 'silent-app' limit 1) g, generate_series(1, 200)`,
    );
    await until(() => received.length >= 16, 'the requests to the silent app');
    await logOut(await signIn('budget'));
    await until(() => received.some(({ path }) => path === 'budget'), 'the token of the other app');
    assert.equal(received.length, 17, 'eight at a time of each process to the silent app');
    await service.db.superuser('delete from logout_notices');
  });

  test('begins as many to each app as it has room for, whether or not another app is slow', async () => {
    const { database } = service.service.context.auth;
    const tomorrow = new Date(Date.now() + 86_400_000);
    // Due tomorrow, so that the processes of this test leave them alone.
    await service.db.superuser(
      `insert into logout_notices (institution_id, session_id, client_id, user_key, due_at)
       select g.institution_id, gen_random_uuid(), app, g.user_key, $1::timestamptz - make_interval(secs => number)
       from (select * from authorization_grants where client_id = 'silent-app' limit 1) g,
            unnest(array['silent-app', 'wallet-app', 'budget-app']) app, generate_series(1, 20) number
       where app <> 'budget-app' or number > 18`,
      [tomorrow],
    );
    const begun = async (rooms: readonly [app: App, room: number][], most: number) => {
      const limits = {
        ...{ now: tomorrow, mostToClient: 8, most },
        rooms: new Map(rooms.map(([app, room]) => [idOf(app), room])),
      };
      const notices = await database.write(lakeside, (db) => beginAttempts(db, limits));
      const count = (app: App) => notices.filter(({ clientId }) => clientId === idOf(app)).length;
      return { silent: count('silent'), wallet: count('wallet'), budget: count('budget') };
    };
    assert.deepEqual(await begun([['silent', 1]], 64), { silent: 1, wallet: 8, budget: 2 });
    assert.deepEqual(await begun([['silent', 0]], 64), { silent: 0, wallet: 8, budget: 0 });
    const { silent, wallet } = await begun([['wallet', 3]], 9);
    assert.deepEqual([silent + wallet, wallet <= 3], [9, true]);
    await service.db.superuser('delete from logout_notices');
  });

  test('follows no redirect', async () => {
    respond = () => 302;
    await logOut(await signIn('wallet'));
    await until(() => received.some(({ path }) => path === 'wallet'), 'the request');
    await new Promise((resolve) => setTimeout(resolve, 200));
    assert.ok(!received.some(({ path }) => path === 'elsewhere'));
    assert.deepEqual(
      (await waiting()).map(({ attempts }) => attempts),
      [1],
    );
  });

  test('reaches no address inside', async () => {
    const outcomes: unknown[] = [];
    const listener = {
      asyncEnd: ({ kind, outcome, url }: DeliveryMessage) => {
        if (kind === 'logout') outcomes.push([url.hostname, outcome]);
      },
    };
    seams.delivery.subscribe(listener);
    const set = (uri: string) =>
      service.db.superuser('update clients set backchannel_logout_uri = $1 where client_id = $2', [
        uri,
        idOf('wallet'),
      ]);
    await set('https://10.0.0.1/logout');
    await logOut(await signIn('wallet'));
    await until(() => outcomes.length === 1, 'the outcome');
    seams.delivery.unsubscribe(listener);
    await set(urlOf('wallet'));
    assert.deepEqual(outcomes, [['10.0.0.1', 'address_not_allowed']]);
    assert.equal((await waiting())[0]?.attempts, 1);
  });

  test('is the last one after a day, with an entry of the audit', async () => {
    respond = () => 400;
    await logOut(await signIn('wallet'));
    await attemptsBegun(1);
    await until(() => received.some(({ path }) => path === 'wallet'), 'the first request');
    await service.db.superuser('update logout_notices set attempts = 9, due_at = now()');
    assert.equal((await tokensAt('wallet')).length, 2);
    const entries = await service.db.superuser<object>(
      `select outcome, reason, client_id from audit_entries where action = 'logout.not_accepted'`,
    );
    assert.deepEqual(entries, [{ outcome: 'refused', reason: 'status_400', client_id: 'wallet-app' }]);
  });
});

describe('a grant beside the end of its session', () => {
  /** The argument of `issueCode` for another grant in the session of the newest one. */
  async function grantedTo(app: App): Promise<Granted> {
    const [row] = await service.db.superuser<{ s: string; u: string; k: string; e: number; at: Date }>(
      `select g.session_id as s, u.user_id as u, g.user_key::text as k, g.user_epoch as e, g.authenticated_at as at
       from authorization_grants g join users u on u.institution_id = g.institution_id and u.user_key = g.user_key
       order by g.created_at desc limit 1`,
    );
    assert.ok(row);
    const { s: sessionId, u: userId, k, e: userEpoch, at: authenticatedAt } = row;
    return {
      request: {
        ...{ institutionId: lakeside, clientId: idOf(app), requestId: crypto.randomUUID(), redirectUri },
        ...{ scopes: ['openid'], codeChallenge: pkce().challenge, prompts: [] },
      },
      session: {
        sessionId,
        userId,
        userKey: BigInt(k),
        userEpoch,
        authenticatedAt,
        username: null,
        methods: ['pwd'],
      },
      ...{ isFirstParty: true, consented: undefined, origin: ownOrigin() },
    };
  }

  test('holds the end up if it came first, so that its app hears of the end', async () => {
    const { auth, database } = service.service.context;
    await signIn('budget');
    const granted = await grantedTo('wallet');
    let issuing: Promise<unknown> | undefined;
    let ending: Promise<boolean> | undefined;
    // The row of the client holds the grant up, once it has its session.
    await services[0]?.service.context.database.transaction(lakeside, async (tx) => {
      await lockClient(tx, idOf('wallet'));
      issuing = issueCode(auth, granted);
      await new Promise((resolve) => setTimeout(resolve, 200));
      ending = database.transaction(lakeside, (other) =>
        endSession(other, granted.session.sessionId, new Date()),
      );
      await new Promise((resolve) => setTimeout(resolve, 200));
      assert.deepEqual(await waiting(), []);
    });
    assert.ok(await issuing);
    assert.equal(await ending, true);
    assert.equal((await tokensAt('wallet')).length, 1);
    assert.equal((await tokensAt('budget')).length, 1);
  });

  test('is refused after it', async () => {
    await logOut(await signIn('budget'));
    const granted = await grantedTo('budget');
    await assert.rejects(issueCode(service.service.context.auth, granted), { name: 'UnsafeRequestError' });
  });
});

describe('the address of an app', () => {
  const set = (uri: string) =>
    commandsOn(service.db)(
      ...['client', 'set', 'deaf-app', '--institution', 'lakeside', '--backchannel-logout-uri', uri],
    );
  const stored = async () =>
    (
      await service.db.superuser<{ uri: string | null }>(
        `select backchannel_logout_uri as uri from clients where client_id = 'deaf-app'`,
      )
    )[0]?.uri;

  for (const uri of [
    'https://10.0.0.1/logout',
    'https://[::ffff:169.254.169.254]/',
    'https://core.internal/logout',
    'https://app.example/logout#part',
    'https://user:word@app.example/logout',
    'ftp://app.example/logout',
    'logout',
  ]) {
    test(`is not ${uri} (section 2.2)`, async () => {
      const { code, stderr } = await set(uri);
      assert.deepEqual([code, await stored()], [1, null], stderr);
      assert.match(stderr, /back-channel logout/);
    });
  }

  test('is set, listed and taken back by an operator', async () => {
    const uri = 'https://app.example/logout?tenant=7';
    assert.equal((await set(uri)).code, 0);
    assert.equal(await stored(), uri);
    const listed = await commandsOn(service.db)('client', 'list', '--institution', 'lakeside');
    assert.match(listed.stdout, /logouts {3}https:\/\/app\.example\/logout\?tenant=7/);
    assert.equal((await set('none')).code, 0);
    assert.equal(await stored(), null);
  });

  test('has no fragment in the database either', async () => {
    await assert.rejects(
      service.db.superuser(`update clients set backchannel_logout_uri = 'https://app.example/#part'`),
      { constraint: 'clients_backchannel_logout_uri' },
    );
  });
});
