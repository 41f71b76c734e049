import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdtemp, writeFile } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { exportJWK, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import { commandsOn } from '../support/commands.ts';
import { approvedDevice } from '../support/device.ts';
import { sendTo, TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { TestBrowser } from '../support/sign-in.ts';

/* The institution's OpenID provider: node-oidc-provider unchanged, and one that lies. Sections of OpenID Connect Core 1.0 are named OIDC. */

let now = Date.now();
let service: TestService;
let sharedraft: ReturnType<typeof commandsOn>;
const servers: http.Server[] = [];
const redirectUri = (institution: string) => `http://localhost/operations/sign-in/callback/${institution}`;

before(async () => {
  service = await startTestService({
    clock: () => new Date(now),
    environment: { PUBLIC_URL: 'http://localhost' },
  });
  sharedraft = commandsOn(service.db);
});
after(async () => {
  for (const server of servers) server.close();
  await service.close();
});

async function listen(handler: (issuer: string) => http.RequestListener): Promise<string> {
  const server = http.createServer().listen(0, '127.0.0.1');
  servers.push(server);
  await new Promise((resolve) => server.once('listening', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', handler(issuer));
  return issuer;
}

async function configure(institution: string, issuer: string, ...more: string[]): Promise<void> {
  const words = [
    '--issuer',
    issuer,
    '--client-id',
    'sharedraft',
    '--break-glass',
    'a test',
    '--institution',
    institution,
  ];
  const { code, stderr } = await sharedraft('institution', 'operators-provider', 'set', ...words, ...more);
  assert.equal(code, 0, stderr);
}

const groups = ['--group', 'bank-approvers=approver', '--group', 'bank-staff=viewer teller'];

async function start(
  institution: string,
  browser = new TestBrowser(service.address),
  next = '/console/review',
) {
  const page = await browser.post('/operations/sign-in/provider', { institution, next });
  const [, href = ''] = /<a href="([^"]+)"/.exec(page.text) ?? [];
  return {
    browser,
    page,
    location: page.status === 200 ? new URL(href.replaceAll('&amp;', '&')) : undefined,
  };
}

/** Sends the browser to the address to which the provider redirected it. */
function callBack(browser: TestBrowser, location: URL) {
  return browser.get(location.pathname + location.search);
}

const sessionOf = async (browser: TestBrowser) =>
  JSON.parse((await browser.get('/operations/v1/session')).text);

async function hasRefusal(reason: string): Promise<boolean> {
  for (let tries = 0; tries < 100; tries += 1) {
    const rows = await service.db.superuser(
      `select from audit_entries where action = 'operator.refused' and reason = $1`,
      [reason],
    );
    if (rows.length > 0) return true;
    await setTimeout(50);
  }
  return false;
}

describe('node-oidc-provider as the institution’s provider', () => {
  let issuer: string;
  const groupsOf = new Map<string, readonly string[]>();
  /** The cookies of each person at the provider: its single sign-on. */
  const jars = new Map<string, Map<string, string>>();

  before(async () => {
    issuer = await listen((own) => {
      const client = { redirect_uris: [redirectUri('lakeside')], client_id: 'sharedraft' };
      const provider = new Provider(own, {
        clients: [{ ...client, client_secret: 'secret with & and +', require_auth_time: true }],
        claims: { openid: ['sub', 'groups', 'name'] },
        conformIdTokenClaims: false,
        cookies: { keys: ['a key of the test'] },
        findAccount: (_context: unknown, id: string) => ({
          accountId: id,
          claims: () => ({ sub: id, name: `Staff ${id}`, groups: groupsOf.get(id) }),
        }),
      });
      return provider.callback();
    });
    const secretFile = path.join(await mkdtemp(path.join(tmpdir(), 'sharedraft-')), 'secret');
    await writeFile(secretFile, 'secret with & and +\n');
    await configure('lakeside', issuer, ...groups, '--client-secret-file', secretFile);
  });

  /** The person's part on the pages of the provider, without a browser. */
  async function proveAt(location: URL, login: string): Promise<URL> {
    const jar = jars.get(login) ?? new Map<string, string>();
    jars.set(login, jar);
    let url = location.href;
    let body: URLSearchParams | undefined;
    for (let steps = 0; steps < 12; steps += 1) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, {
        ...(body && { method: 'POST', body }),
        headers: { cookie },
        redirect: 'manual',
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') jar.delete(name);
        else jar.set(name, value);
      }
      const to = response.headers.get('location');
      body = undefined;
      if (to !== null) {
        const next = new URL(to, url);
        if (next.href.startsWith('http://localhost/')) return next;
        url = next.href;
        continue;
      }
      const text = await response.text();
      const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(text) ?? [];
      const [, action = url] = /action="([^"]+)"/.exec(text) ?? [];
      assert.notEqual(prompt, '', text);
      url = new URL(action, url).href;
      body = new URLSearchParams({ prompt, ...(prompt === 'login' && { login, password: 'x' }) });
    }
    throw new Error('no end');
  }

  async function signIn(login: string, browser = new TestBrowser(service.address)) {
    const { location } = await start('lakeside', browser);
    assert.ok(location);
    const answer = await callBack(browser, await proveAt(location, login));
    return { browser, answer, location };
  }

  test('signs a person in with the roles of the groups, under the name of the provider, and leads back', async () => {
    groupsOf.set('ann', ['bank-approvers', 'golf']);
    const { browser, answer, location } = await signIn('ann');
    assert.equal(answer.headers.get('location'), '/console/review', answer.text);
    for (const name of ['state', 'nonce', 'code_challenge', 'max_age'])
      assert.ok(location.searchParams.get(name), name);
    assert.equal(location.searchParams.get('code_challenge_method'), 'S256');
    const own = await sessionOf(browser);
    assert.deepEqual([own.name, own.roles, own.method], ['Staff ann', ['approver'], 'provider']);
    const rows = await service.db.superuser<{ action: string }>(
      `select action from audit_entries where subject = $1 or operator_id = $1 order by audit_key`,
      [own.operatorId],
    );
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['operator.added', 'operator.signed_in'],
    );
  });

  test('takes the roles anew at each sign-in, and refuses a person without a mapped group, whose sessions end', async () => {
    groupsOf.set('bea', ['bank-staff']);
    const { browser } = await signIn('bea');
    assert.deepEqual((await sessionOf(browser)).roles, ['viewer', 'teller']);
    groupsOf.set('bea', ['bank-staff', 'bank-approvers']);
    const second = await signIn('bea');
    assert.deepEqual((await sessionOf(second.browser)).roles, ['viewer', 'teller', 'approver']);
    assert.deepEqual((await sessionOf(browser)).roles, ['viewer', 'teller', 'approver']);
    groupsOf.set('bea', ['golf']);
    assert.equal((await signIn('bea')).answer.status, 401);
    assert.equal((await second.browser.get('/operations/v1/session')).status, 401);
    assert.ok(await hasRefusal('no_group'));
    groupsOf.delete('cid');
    assert.equal((await signIn('cid')).answer.status, 401);
    assert.equal((await service.db.superuser(`select from operators where name = 'Staff cid'`)).length, 0);
  });

  test('ends the approval of a command line with the sessions of a person who lost the groups', async () => {
    groupsOf.set('eve', ['bank-staff']);
    const { browser } = await signIn('eve');
    const device = await approvedDevice(service, 'lakeside', browser);
    groupsOf.set('eve', ['golf']);
    assert.equal((await signIn('eve')).answer.status, 401);
    groupsOf.set('eve', ['bank-staff']);
    assert.equal((await signIn('eve')).answer.status, 303);
    assert.equal(await device.poll(), 'access_denied');
  });

  test('keeps a suspended or ended operator out, whatever the groups say', async () => {
    groupsOf.set('dan', ['bank-staff']);
    const { browser } = await signIn('dan');
    const { operatorId } = await sessionOf(browser);
    const act = (verb: string) =>
      sharedraft(
        'operator',
        verb,
        operatorId,
        '--break-glass',
        'a test',
        '--institution',
        'lakeside',
        ...(verb === 'resume' ? [] : ['--yes']),
      );
    assert.equal((await act('suspend')).code, 0);
    assert.equal((await signIn('dan')).answer.status, 401);
    assert.equal((await act('resume')).code, 0);
    assert.equal((await signIn('dan')).answer.status, 303);
    const roles = await sharedraft(
      'operator',
      'roles',
      operatorId,
      '--roles',
      'administrator',
      '--break-glass',
      'x',
      '--institution',
      'lakeside',
    );
    assert.match(roles.stderr, /groups/);
    assert.equal((await act('end')).code, 0);
    assert.equal((await signIn('dan')).answer.status, 401);
  });

  test('asks for a new proof when a decision needs one (RFC 9470, prompt=login and max_age)', async () => {
    groupsOf.set('eve', ['bank-approvers']);
    const { browser } = await signIn('eve');
    const decide = async () =>
      new TestOperator(service.address, browser.cookies.get('operator') ?? '').post(
        '/transfers/nothing/approve',
        { reason: 'x' },
      );
    assert.equal((await decide()).status, 404);
    now += 6 * 60_000;
    assert.equal((await decide()).body.code, 'insufficient_user_authentication');
    const again = await start('lakeside', browser);
    assert.equal(again.location?.searchParams.get('prompt'), 'login');
    assert.equal(again.location?.searchParams.get('max_age'), '300');
    now = Date.now();
    assert.equal((await callBack(browser, await proveAt(again.location as URL, 'eve'))).status, 303);
    assert.equal((await decide()).status, 404);
  });

  test('takes each response once, in the browser that began (RFC 9700 section 4.7: login CSRF)', async () => {
    groupsOf.set('ann', ['bank-approvers']);
    const { browser, location } = await start('lakeside');
    const flow = [...browser.cookies];
    const response = await proveAt(location as URL, 'ann');
    const victim = new TestBrowser(service.address);
    assert.equal((await callBack(victim, response)).status, 401);
    const other = await start('lakeside', victim);
    assert.ok(other.location);
    assert.equal((await callBack(victim, response)).status, 401, 'the state is that of another browser');
    assert.equal((await callBack(browser, response)).status, 303);
    for (const [name, value] of flow) browser.cookies.set(name, value);
    assert.equal((await callBack(browser, response)).status, 401, 'the code was used');
  });

  test('refuses a code of another sign-in (RFC 9700 section 4.5: code injection)', async () => {
    const mine = await start('lakeside');
    const theirs = await start('lakeside');
    const stolen = await proveAt(theirs.location as URL, 'ann');
    const own = await proveAt(mine.location as URL, 'ann');
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    assert.equal((await callBack(mine.browser, own)).status, 401);
    assert.ok(await hasRefusal('provider_status_400'));
  });

  test('never leads to another site after the sign-in (RFC 9700 section 4.11)', async () => {
    const browser = new TestBrowser(service.address);
    const { location } = await start('lakeside', browser, 'https://evil.example/');
    const answer = await callBack(browser, await proveAt(location as URL, 'ann'));
    assert.equal(answer.headers.get('location'), '/console');
  });
});

describe('a provider that lies', () => {
  interface Lie {
    readonly metadata?: object;
    readonly claims?: object;
    readonly alg?: string;
    readonly key?: 'other' | 'secret';
    readonly response?: Readonly<Record<string, string>>;
    readonly token?: object;
    /** Happens before the token response. */
    readonly meanwhile?: () => Promise<void>;
  }
  let lie: Lie = {};
  let issuer: string;
  let nonce = '';
  let challenge = '';
  let assertion: string | null = null;
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  before(async () => {
    const jwk = { ...(await exportJWK(own.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' };
    issuer = await listen((base) => async (request, response) => {
      const send = (body: object, status = 200) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      if (request.url?.startsWith('/.well-known/')) {
        return send({
          ...{ issuer: base, authorization_endpoint: `${base}/authorize`, token_endpoint: `${base}/token` },
          ...{
            jwks_uri: `${base}/jwks`,
            authorization_response_iss_parameter_supported: true,
            ...lie.metadata,
          },
        });
      }
      if (request.url === '/jwks') return send({ keys: [jwk] });
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const form = new URLSearchParams(Buffer.concat(chunks).toString());
      assertion = form.get('client_assertion');
      const verifier = form.get('code_verifier') ?? '';
      if (createHash('sha256').update(verifier).digest('base64url') !== challenge)
        return send({ error: 'invalid_grant' }, 400);
      const seconds = Math.floor(now / 1000);
      const claims = {
        ...{ iss: base, aud: 'sharedraft', sub: 'liar', name: 'Liar', groups: ['bank-staff'], nonce },
        ...{ iat: seconds, exp: seconds + 300, auth_time: seconds, ...lie.claims },
      };
      const secret = Buffer.from('a client secret of 32 characters');
      const key = lie.key === 'other' ? other.privateKey : lie.key === 'secret' ? secret : own.privateKey;
      const idToken =
        lie.alg === 'none'
          ? `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.`
          : await new SignJWT(claims).setProtectedHeader({ alg: lie.alg ?? 'ES256', kid: 'one' }).sign(key);
      await lie.meanwhile?.();
      return send({ access_token: 'x', token_type: 'Bearer', id_token: idToken, ...lie.token });
    });
    await configure('harbor', issuer, ...groups, '--private-key-jwt');
  });

  async function attempt(told: Lie = {}, institution = 'harbor') {
    lie = {};
    const { browser, location } = await start('harbor');
    nonce = location?.searchParams.get('nonce') ?? '';
    challenge = location?.searchParams.get('code_challenge') ?? '';
    lie = told;
    const back = new URL(redirectUri(institution));
    const honest = { code: 'code', state: location?.searchParams.get('state') ?? '', iss: issuer };
    for (const [name, value] of Object.entries({ ...honest, ...told.response })) {
      if (value !== '') back.searchParams.set(name, value);
    }
    return { browser, answer: await callBack(browser, back) };
  }

  test('is believed as long as it says the truth, and gets an assertion by the service’s key (RFC 7523 section 3)', async () => {
    const { answer, browser } = await attempt();
    assert.equal(answer.status, 303, answer.text);
    assert.equal((await sessionOf(browser)).name, 'Liar');
    const [head = '', body = ''] = (assertion ?? '').split('.');
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    assert.deepEqual([claims.iss, claims.sub, claims.aud], ['sharedraft', 'sharedraft', issuer]);
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString());
    const published = await fetch(`${service.address}/auth/v2/jwks`);
    const { keys } = (await published.json()) as { readonly keys: readonly { readonly kid: string }[] };
    assert.ok(keys.some((key) => key.kid === kid));
  });

  const hour = 3_600;
  const seconds = () => Math.floor(now / 1000);
  const lies: readonly (readonly [section: string, fault: string, reason: string, lie: () => Lie])[] = [
    [
      'OIDC 3.1.3.7 (2)',
      'of another issuer',
      'id_token_iss',
      () => ({ claims: { iss: 'https://evil.example' } }),
    ],
    [
      'OIDC 3.1.3.7 (3)',
      'for another audience',
      'id_token_aud',
      () => ({ claims: { aud: 'somebody-else' } }),
    ],
    [
      'OIDC 3.1.3.7 (3)',
      'for another audience too',
      'id_token_aud',
      () => ({ claims: { aud: ['sharedraft', 'b'] } }),
    ],
    [
      'OIDC 3.1.3.7 (5)',
      'with another authorized party',
      'id_token_aud',
      () => ({ claims: { azp: 'somebody-else' } }),
    ],
    ['OIDC 3.1.3.7 (6)', 'signed by another key', 'id_token_signature', () => ({ key: 'other' })],
    ['RFC 8725 3.1', 'without a signature', 'id_token_signature', () => ({ alg: 'none' })],
    ['RFC 8725 3.1', 'signed by a MAC', 'id_token_signature', () => ({ alg: 'HS256', key: 'secret' })],
    ['OIDC 3.1.3.7 (9)', 'that has expired', 'id_token_exp', () => ({ claims: { exp: seconds() - 120 } })],
    [
      'OIDC 3.1.3.7 (10)',
      'that was kept for an hour',
      'id_token_exp',
      () => ({ claims: { iat: seconds() - hour } }),
    ],
    ['OIDC 3.1.3.7 (10)', 'of the future', 'id_token_iat', () => ({ claims: { iat: seconds() + hour } })],
    ['OIDC 3.1.3.7 (11)', 'with a wrong nonce', 'id_token_nonce', () => ({ claims: { nonce: 'another' } })],
    ['OIDC 3.1.3.7 (11)', 'without a nonce', 'id_token_nonce', () => ({ claims: { nonce: undefined } })],
    [
      'OIDC 3.1.3.7 (13)',
      'without auth_time',
      'id_token_auth_time',
      () => ({ claims: { auth_time: undefined } }),
    ],
    [
      'OIDC 3.1.3.7 (13)',
      'with a proof older than asked',
      'id_token_auth_time',
      () => ({ claims: { auth_time: seconds() - 13 * hour } }),
    ],
    [
      'OIDC 3.1.3.7 (13)',
      'with a proof of tomorrow',
      'id_token_auth_time',
      () => ({ claims: { auth_time: seconds() + 24 * hour } }),
    ],
    ['OIDC 2', 'without a subject', 'id_token_sub', () => ({ claims: { sub: undefined } })],
    ['OIDC 3.1.3.3', 'that is missing', 'provider_token', () => ({ token: { id_token: undefined } })],
  ];
  for (const [section, fault, , told] of lies) {
    test(`signs nobody in by an ID token ${fault} (${section})`, async () => {
      const { answer, browser } = await attempt(told());
      assert.equal(answer.status, 401);
      assert.equal(browser.cookies.has('operator'), false);
    });
  }

  const responses: readonly (readonly [section: string, fault: string, reason: string, lie: Lie])[] = [
    [
      'RFC 9207 2.4',
      'of another issuer (mix-up)',
      'provider_iss',
      { response: { iss: 'https://evil.example' } },
    ],
    ['RFC 9207 2.4', 'without the issuer that it announces', 'provider_iss', { response: { iss: '' } }],
    ['RFC 6749 10.12', 'with another state', 'provider_state', { response: { state: 'A'.repeat(43) } }],
    ['RFC 6749 10.12', 'without state', 'provider_state', { response: { state: '' } }],
    ['RFC 6749 4.1.2.1', 'that is an error', 'provider_error', { response: { error: 'access_denied' } }],
    ['RFC 6749 4.1.2', 'without a code', 'provider_code', { response: { code: '' } }],
    [
      'OIDC Discovery 4.3',
      'whose metadata are another issuer’s',
      'provider_issuer',
      { metadata: { issuer: 'https://evil.example' } },
    ],
    [
      'RFC 9700 4.15',
      'whose token endpoint is inside the network',
      'provider_metadata',
      { metadata: { token_endpoint: 'http://169.254.169.254/token' } },
    ],
    [
      'RFC 9700 4.15',
      'whose keys are at no address',
      'provider_metadata',
      { metadata: { jwks_uri: 'file:///etc/passwd' } },
    ],
  ];
  for (const [section, fault, , told] of responses) {
    test(`signs nobody in by a response ${fault} (${section})`, async () => {
      const { answer } = await attempt(told);
      assert.equal(answer.status, 401);
    });
  }

  test('leaves the reason of each refusal in the audit', async () => {
    for (const [, , reason] of [...lies, ...responses]) assert.ok(await hasRefusal(reason), reason);
  });

  test('signs nobody in at another institution (RFC 9700 section 4.4.2: mix-up)', async () => {
    assert.equal((await attempt({}, 'lakeside')).answer.status, 401);
    assert.equal((await attempt({}, 'nowhere')).answer.status, 401);
  });

  test('leaves the page of sign-in alike for an unknown institution, one without a provider and a silent provider', async () => {
    lie = { metadata: { issuer: 'https://evil.example' } };
    for (const institution of ['harbor', 'nowhere', '']) {
      const { page } = await start(institution);
      assert.equal(page.status, 422, institution);
      assert.match(page.text, /no provider that responds/);
    }
    lie = {};
  });

  test('is started by our own page only (RFC 9700 section 4.7)', async () => {
    const form = { institution: 'harbor', next: '/console' };
    const sent = await new TestBrowser(service.address).post('/operations/sign-in/provider', form, {
      'sec-fetch-site': 'cross-site',
    });
    assert.equal(sent.status, 401);
  });

  test('loses its sessions when another issuer takes its place, whose subjects are other persons', async () => {
    const { browser } = await attempt();
    const first = await sessionOf(browser);
    const token = browser.cookies.get('operator') ?? '';
    const device = await approvedDevice(service, 'harbor', browser);
    await configure('harbor', 'https://login.other.example', ...groups);
    assert.equal(
      (await sendTo(service.address, 'GET', '/session', { authorization: `Bearer ${token}` })).status,
      401,
    );
    await configure('harbor', issuer, ...groups);
    assert.equal(await device.poll(), 'access_denied', 'the approval of a command line has ended too');
    const again = await attempt();
    assert.equal((await sessionOf(again.browser)).operatorId, first.operatorId);
    const undecided = await approvedDevice(service, 'harbor', again.browser);
    const place = ['--break-glass', 'a test', '--institution', 'harbor', '--yes'];
    const off = await sharedraft('institution', 'operators-provider', 'off', ...place);
    assert.equal(off.code, 0, off.stderr);
    assert.equal(
      (
        await sendTo(service.address, 'GET', '/session', {
          authorization: `Bearer ${again.browser.cookies.get('operator')}`,
        })
      ).status,
      401,
    );
    assert.equal(await undecided.poll(), 'access_denied', 'also when no other provider takes its place');
    await configure('harbor', issuer, ...groups, '--private-key-jwt');
    await service.db.superuser(
      `update operators set provider_issuer = 'https://older.example' where operator_id = $1`,
      [first.operatorId],
    );
    const stranger = await attempt();
    const { operatorId, name } = await sessionOf(stranger.browser);
    assert.notEqual(operatorId, first.operatorId);
    assert.equal(name, 'Liar (liar)');
  });

  test('signs nobody in if it was replaced, renamed or switched off before its answer', async () => {
    const place = ['--break-glass', 'a test', '--institution', 'harbor', '--yes'];
    const secretless = [...groups, '--private-key-jwt'];
    const meanwhiles = [
      () => configure('harbor', 'https://login.other.example', ...secretless),
      () => configure('harbor', issuer, ...secretless, '--client-id', 'sharedraft-2'),
      async () => {
        const off = await sharedraft('institution', 'operators-provider', 'off', ...place);
        assert.equal(off.code, 0, off.stderr);
      },
    ];
    for (const meanwhile of meanwhiles) {
      await configure('harbor', issuer, ...secretless);
      const { answer, browser } = await attempt({ meanwhile });
      assert.equal(answer.status, 401);
      assert.equal((await browser.get('/operations/v1/session')).status, 401);
    }
    assert.ok(await hasRefusal('provider_changed'));
    const session = service.db.superuser(
      `insert into operator_sessions (institution_id, session_id, secret_hash, operator_id, kind, method, authenticated_at,
                                      created_at, last_used_at, expires_at)
       select institution_id, gen_random_uuid()::text, sha256('x'), operator_id, 'BROWSER', 'provider', now(), now(), now(),
              now() + interval '1 hour' from operators where provider_issuer = $1`,
      [issuer],
    );
    await assert.rejects(session, { code: 'SD142' });
    await configure('harbor', issuer, ...secretless);
    assert.equal((await attempt()).answer.status, 303);
  });

  test('is refused by the command line at an address inside, in an institution that is no demo', async () => {
    await service.db.superuser(`update institutions set demo = false where code = 'harbor'`);
    const words = [
      '--issuer',
      'https://10.0.0.7',
      '--client-id',
      'x',
      ...groups,
      '--break-glass',
      'x',
      '--institution',
      'harbor',
    ];
    const set = (...more: string[]) =>
      sharedraft('institution', 'operators-provider', 'set', ...words, ...more);
    assert.equal((await set()).code, 1);
    assert.equal((await set('--inside')).code, 0);
    const shown = await sharedraft(
      'institution',
      'operators-provider',
      'show',
      '--institution',
      'harbor',
      '--json',
    );
    assert.deepEqual(JSON.parse(shown.stdout).groupRoles, {
      'bank-approvers': ['approver'],
      'bank-staff': ['teller', 'viewer'],
    });
    assert.doesNotMatch(shown.stdout, /sealedSecret/);
    assert.equal(
      (
        await sharedraft(
          'institution',
          'operators-provider',
          'off',
          '--break-glass',
          'x',
          '--yes',
          '--institution',
          'harbor',
        )
      ).code,
      0,
    );
    await service.db.superuser(`update institutions set demo = true where code = 'harbor'`);
  });
});
