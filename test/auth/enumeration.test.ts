import assert from 'node:assert/strict';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import {
  type AuthDeps,
  activateMember,
  authorize,
  type Browser,
  changeClient,
  createClient,
  introspectToken,
  issueToken,
  OAuthError,
  PasswordHasher,
  pushRequest,
  type RawTokenRequest,
  readPublicKey,
  reissueActivation,
  revokeToken,
  type Step,
  signIn,
  signInWithPasskey,
} from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { openInvitation, pollDevice } from '../../src/operators/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { Authenticator, optionsIn } from '../support/authenticator.ts';
import { Client } from '../support/client.ts';
import { commandsOn } from '../support/commands.ts';
import { signJws } from '../support/jws.ts';
import { recording } from '../support/recording.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser, type TestPage } from '../support/sign-in.ts';

/*
 * No page and no operation of sign-in tells whether a name exists: by its words, its status or its time. Time is compared as work: the
 * statements, and the hashes of passwords. `node bench/sign-in-times.ts` measures milliseconds. docs/security.md lists where else it is tested.
 */

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const app = { clientId: 'names-app', secret: 'names-app-secret-that-is-long' };
const off = { ...app, clientId: 'names-off' };
const afar = { ...app, clientId: 'names-afar' };
const wrongPassword = 'whatever it may be';
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Names that a stranger might try. */
const names: Readonly<Record<string, string>> = {
  nobody: 'nobody.of.this.name',
  'a member': 'rowan.owner',
  'a locked member': 'heath.locked',
  'an inactive member': 'moss.inactive',
};

let service: TestService;
let institutionId: InstitutionId;
const auth = (): AuthDeps => service.service.context.auth;

before(async () => {
  const environment = { PUBLIC_URL: issuer, FAILED_LOGIN_PAUSE_MILLIS: '0' };
  service = await startTestService({ environment });
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    "select institution_id from institutions where code = 'lakeside'",
  );
  institutionId = row?.institution_id as InstitutionId;
  const settings = {
    ...{ institutionId, name: 'App', isFirstParty: true, redirectUris: [redirectUri] },
    ...{ grants: ['authorization_code', 'client_credentials', 'password'] },
    scopes: ['openid', 'account:read'] as const,
  };
  const pem = pair.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const key = await readPublicKey(pem);
  for (const client of [app, off, afar])
    await createClient(auth(), { ...settings, ...client, key }, ownOrigin());
  const set = (clientId: string, change: Parameters<typeof changeClient>[2]['change']) =>
    changeClient(auth(), institutionId, { clientId, change, origin: ownOrigin() });
  await set(off.clientId, { active: false });
  await set(afar.clientId, { networks: ['192.0.2.0/24'] });
});
after(() => service.close());
beforeEach(() =>
  service.db.superuser('update users set failed_logins = 0, locked_until = null where failed_logins > 0'),
);

interface Told {
  /** The words and the status. */
  readonly told: string;
  readonly work?: readonly string[];
}

/** Every kind gets what the first gets. */
async function assertAlike(kinds: Readonly<Record<string, () => Promise<Told>>>): Promise<Told> {
  const all: [string, Told][] = [];
  for (const [kind, act] of Object.entries(kinds)) all.push([kind, await act()]);
  const first = all[0]?.[1] ?? assert.fail('there is no kind');
  for (const [kind, one] of all) assert.deepEqual(one, first, kind);
  return first;
}

/** Runs a use case, and notes its statements and hashes of passwords. */
async function working(act: (deps: AuthDeps) => Promise<unknown>): Promise<Told> {
  const work: string[] = [];
  const passwords = new PasswordHasher(1);
  const verify = passwords.verify.bind(passwords);
  passwords.verify = (encoded, given) => {
    work.push('hash');
    return verify(encoded, given);
  };
  const deps = { ...auth(), passwords, database: recording(auth().database, work) };
  return { told: await outcomeOf(act(deps)), work };
}

async function outcomeOf(acting: Promise<unknown>): Promise<string> {
  try {
    const outcome = await acting;
    const isPage = typeof outcome === 'object' && outcome !== null && 'kind' in outcome;
    return isPage ? pageOf(outcome as Step) : String(outcome);
  } catch (error) {
    if (error instanceof OAuthError || error instanceof Problem) return error.message;
    throw error;
  }
}

/** A page without its seals, and without the name that the caller typed. */
function pageOf({ cookies: _, ...step }: Step): string {
  return JSON.stringify(step, (name, value) =>
    ['challenge', 'passkeyOptions', 'request', 'username'].includes(name) ? typeof value : value,
  );
}

const parameters = () => ({
  ...{ client_id: app.clientId, response_type: 'code', redirect_uri: redirectUri, scope: 'openid' },
  ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
});
const stranger: Browser = {
  secret: undefined,
  sessionSecret: () => undefined,
  userAgent: undefined,
  origin: ownOrigin(),
};

/** The page of sign-in in a new browser, at the use cases. */
async function atPage(deps = auth(), hint: object = {}) {
  const page = await authorize(deps, { values: { ...parameters(), ...hint }, repeated: [] }, stranger);
  assert.ok(page.kind === 'sign_in');
  return { page, browser: { ...stranger, secret: page.cookies?.browser ?? '' } };
}

const each = (act: (name: string) => Promise<Told>) =>
  Object.fromEntries(Object.entries(names).map(([kind, name]) => [kind, () => act(name)]));

/** The status and the words of a page, without its seals and without the typed name. */
const shown = ({ status, text }: TestPage, name = ''): Told => {
  const plain = text.replaceAll(/(?:value|data-options)="[^"]*"/g, '');
  return { told: `${status} ${name === '' ? plain : plain.replaceAll(name, '')}` };
};

async function opened(hint: Record<string, string> = {}) {
  const browser = new TestBrowser(service.address);
  return { browser, page: await browser.get(authorizeUrl({ ...parameters(), ...hint })) };
}

describe('pages of members', () => {
  test('the page of sign-in refuses a name that does not exist in the words of one that does', async () => {
    await assertAlike(
      each(async (username) => {
        const { browser, page } = await opened();
        const form = { request: page.request, username, password: wrongPassword };
        return shown(await browser.post('/auth/v2/sign-in', form), username);
      }),
    );
  });

  test('the page of sign-in runs the same statements and one hash for any name', async () => {
    const { work = [] } = await assertAlike(
      each(async (username) => {
        const { page, browser } = await atPage();
        return working((deps) =>
          signIn(deps, { request: page.request, username, password: wrongPassword }, browser),
        );
      }),
    );
    assert.equal(work.filter((one) => one === 'hash').length, 1);
    assert.ok(work.includes('members_login') && work.includes('members_count_failed_login'));
  });

  test('a login_hint is shown and never looked up: the same page after the same statements', async () => {
    await assertAlike(each(async (name) => shown((await opened({ login_hint: name })).page, name)));
    const { work = [] } = await assertAlike(
      each((login_hint) => working(async (deps) => (await atPage(deps, { login_hint })).page)),
    );
    assert.deepEqual(
      work.filter((one) => one.startsWith('members_')),
      [],
    );
  });

  test('the options for a passkey are the same with any login_hint', async () => {
    await assertAlike(
      each(async (login_hint) => {
        const { page } = await opened({ login_hint });
        return { told: JSON.stringify({ ...optionsIn(page.text), challenge: '' }) };
      }),
    );
  });

  test('a passkey that nobody has gets the page and the statements of a text that is none', async () => {
    const sendKey = async (credential: (text: string) => string) => {
      const { browser, page } = await opened();
      const form = { request: page.request, credential: credential(page.text) };
      return shown(await browser.post('/auth/v2/sign-in/passkey', form));
    };
    await assertAlike({
      unknown: () => sendKey((text) => new Authenticator(issuer).get(optionsIn(text))),
      'no credential': () => sendKey(() => 'no credential'),
    });
    const { page, browser } = await atPage();
    const credential = new Authenticator(issuer).get({ challenge: 'A'.repeat(43), rpId: 'localhost' });
    const { work = [] } = await working((deps) =>
      signInWithPasskey(deps, { request: page.request, credential }, browser),
    );
    assert.equal(work.filter((one) => one === 'auth_passkey_by_credential').length, 1);
  });

  test('a code of activation with a wrong secret gets the words and the statements of one that nobody has', async () => {
    const name = 'wren.many';
    const issued = await reissueActivation(auth(), institutionId, { name, origin: ownOrigin() });
    const [selector = ''] = (issued?.code ?? '').split('-');
    const wrong = `${selector}-${'0'.repeat(26)}`;
    const activate = (activationCode: string) =>
      working((deps) =>
        activateMember(
          { ...deps, depositOpening: async () => {} },
          { kind: 'client', institutionId, clientId: app.clientId },
          { activationCode, username: 'some.body', password: wrongPassword, origin: ownOrigin() },
        ),
      );
    await assertAlike({
      'wrong secret': () => activate(wrong),
      'nobody has it': () => activate(`AAAAAAAA-${'0'.repeat(26)}`),
      'no code': () => activate('no code'),
    });
  });
});

describe('authentication of clients', () => {
  const operations: readonly [path: string, form: Record<string, string>][] = [
    ['/auth/v2/token', { grant_type: 'client_credentials' }],
    ['/auth/v2/par', {}],
    ['/auth/v2/introspect', { token: 'invented' }],
    ['/auth/v2/revoke', { token: 'invented' }],
  ];
  const clients = { unknown: 'nobody-app', known: app.clientId, off: off.clientId, afar: afar.clientId };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const asserted = (clientId: string, header: object) => {
    const claims = {
      iss: clientId,
      sub: clientId,
      aud: issuer,
      exp: Date.now() / 1000 + 60,
      jti: randomUUID(),
    };
    const client_assertion = signJws({ alg: 'ES256', ...header }, claims, privateKey);
    return { client_assertion, client_assertion_type: assertionType };
  };
  const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  const ways: Readonly<Record<string, (clientId: string) => { form?: object; headers?: object }>> = {
    'no proof': (client_id) => ({ form: { client_id } }),
    'a wrong secret': (client_id) => ({ form: { client_id, client_secret: 'wrong' } }),
    'a wrong secret in Basic': (clientId) => ({
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:wrong`).toString('base64')}` },
    }),
    'an assertion of another key': (clientId) => ({ form: asserted(clientId, {}) }),
    'an assertion of another type': (clientId) => ({ form: asserted(clientId, { typ: 'at+jwt' }) }),
    'an assertion with crit': (clientId) => ({ form: asserted(clientId, { crit: ['exp'] }) }),
  };
  for (const [path, form] of operations) {
    for (const [way, proofOf] of Object.entries(ways)) {
      test(`POST ${path} with ${way} responds to an unknown client as to a known one`, async () => {
        const client = new Client(service.address);
        const ask = async (clientId: string): Promise<Told> => {
          const proof = proofOf(clientId);
          const sent = { form: { ...form, ...proof.form }, headers: { ...proof.headers } };
          const { status, text } = await client.post(path, sent);
          return { told: `${status} ${text}` };
        };
        const kinds = Object.entries(clients).map(([kind, clientId]) => [kind, () => ask(clientId)] as const);
        const { told } = await assertAlike(Object.fromEntries(kinds));
        assert.match(told, /^401 .*invalid_client/);
      });
    }
  }

  test('each operation asks the database once about a client, known or not', async () => {
    const raw = (clientId: string): RawTokenRequest => ({
      parameters: { grant_type: 'password', token: 'x', client_id: clientId, client_secret: 'wrong' },
      ...{ repeated: [], authorization: undefined, origin: ownOrigin() },
    });
    for (const operation of [issueToken, pushRequest, introspectToken, revokeToken]) {
      const known = await working((deps) => operation(deps, raw(app.clientId)));
      assert.deepEqual(known.work, ['auth_client']);
      const asked: string[] = [];
      const institutionOf = async (clientId: string) => {
        asked.push(clientId);
        return undefined;
      };
      const clientDirectory: AuthDeps['clientDirectory'] = { institutionOf, of: () => clientDirectory };
      const unknown = await working((deps) => operation({ ...deps, clientDirectory }, raw('nobody')));
      assert.deepEqual([unknown.told, unknown.work, asked], [known.told, [], ['nobody']]);
    }
  });
});

describe('pages of operators', () => {
  const operators = () => {
    const { database, clock, businessTime } = service.service.context;
    return { database, clock, businessTime, auth: auth() };
  };
  const from = { origin: ownOrigin(), userAgent: undefined };

  test('an invitation with a wrong code gets one page at any institution, known or not', async () => {
    const browser = new TestBrowser(service.address);
    const enter = async (institution: string, code: string) =>
      shown(await browser.post('/operations/invitation', { institution, code }));
    await assertAlike({
      known: () => enter('lakeside', `AAAAAAAA-${'0'.repeat(26)}`),
      other: () => enter('harbor', 'no code'),
      unknown: () => enter('no-such-bank', `AAAAAAAA-${'0'.repeat(26)}`),
    });
  });

  test('an invitation with a wrong secret takes the statements of one that nobody has', async () => {
    const invite = ['operator', 'invite', '--name', 'Names Person', '--email', 'names@bank.example'];
    const more = ['--roles', 'viewer', '--break-glass', 'a test', '--institution', 'lakeside'];
    const { stdout, stderr } = await commandsOn(service.db)(...invite, ...more);
    const [selector = ''] = (/code {2}(\S+)/.exec(stdout)?.[1] ?? assert.fail(stderr)).split('-');
    const open = async (code: string) =>
      working((deps) => {
        const { database } = deps;
        return openInvitation(
          { ...operators(), database, auth: deps },
          { institution: 'lakeside', code },
          from,
        );
      });
    const { work } = await assertAlike({
      'wrong secret': () => open(`${selector}-${'0'.repeat(26)}`),
      'nobody has it': () => open(`AAAAAAAA-${'0'.repeat(26)}`),
    });
    assert.ok(work?.includes('access_count_invitation_try'));
  });

  test('a passkey that no operator has gets one page, and an institution without a provider that of an unknown one', async () => {
    const browser = new TestBrowser(service.address);
    const sign = async (credentialOf: (text: string) => string) => {
      const page = await browser.get('/operations/sign-in');
      const form = { request: page.request, credential: credentialOf(page.text) };
      return shown(await browser.post('/operations/sign-in/passkey', form));
    };
    await assertAlike({
      unknown: () => sign((text) => new Authenticator(issuer).get(optionsIn(text))),
      'unknown operator': () =>
        sign((text) =>
          new Authenticator(issuer).get(optionsIn(text), {
            userHandle: Buffer.from(`${institutionId}.${randomUUID()}`).toString('base64url'),
          }),
        ),
      'no credential': () => sign(() => 'no credential'),
    });
    const lead = async (institution: string) =>
      shown(await browser.post('/operations/sign-in/provider', { institution }), institution);
    await assertAlike({ known: () => lead('lakeside'), unknown: () => lead('no-such-bank') });
  });

  test('a device code that nobody has gets the words and the statements of one at an institution that does not exist', async () => {
    const code = 'A'.repeat(43);
    const poll = (institution: number) =>
      working((deps) => {
        const { database } = deps;
        return pollDevice({ ...operators(), database, auth: deps }, `${institution}.${code}`, from).catch(
          (error: Error) => error.message,
        );
      });
    await assertAlike({ known: () => poll(institutionId), unknown: () => poll(987_654) });
  });
});
