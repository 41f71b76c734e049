import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { createClient, type PublicJwk, readJwks } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { paths, send } from '../support/demo.ts';
import { anAssertionClient, aProvider, jwtBearer, saml2Bearer } from '../support/identity.ts';
import { signJwt, validClaims } from '../support/jwt.ts';
import { anAssertion, persistent, samlIssuer, signAssertion, toParameter } from '../support/saml.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { signInWithoutPages } from '../support/sign-in.ts';

/* Each grant type issues a token, and refuses a wrong proof and a client without it. */

const now = new Date('2026-03-02T12:00:00Z');
const issuer = 'https://login.lakeside.example';
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const app = ['demo-app', 'demo-app-secret'] as const;
const pages = ['pages', 'the-secret-of-the-app-with-pages'] as const;
let bridge: readonly [string, string];
let service: TestService;

before(async () => {
  service = await startTestService({ clock: () => now });
  bridge = await anAssertionClient(service, 'lakeside', 'bridge', ['account:read']);
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  await createClient(
    service.service.context.auth,
    {
      institutionId: row?.institution_id as InstitutionId,
      clientId: pages[0],
      name: 'Pages',
      secret: pages[1],
      scopes: ['account:read'],
      grants: ['authorization_code'],
      redirectUris: ['https://app.example/'],
      isFirstParty: true,
    },
    ownOrigin(),
  );
  const jwk = { ...ec.publicKey.export({ format: 'jwk' }), kid: 'e' };
  await aProvider(service, 'lakeside', {
    providerId: 'web',
    kind: 'jwt',
    issuer,
    keys: readJwks(JSON.stringify({ keys: [jwk] })),
  });
  await aProvider(service, 'lakeside', {
    providerId: 'saml',
    kind: 'saml',
    subjectFrom: persistent,
    issuer: samlIssuer,
    keys: [rsa.publicKey.export({ format: 'jwk' }) as PublicJwk],
  });
});
after(() => service.close());

interface Example {
  readonly client: () => readonly [id: string, secret: string];
  readonly use: 'client' | 'member';
  readonly proof: () => Promise<object>;
  /** A wrong proof; null if the client's credentials are the proof. */
  readonly wrong: (() => object) | null;
}

const login = { username: 'demo.member', password: 'demo-member-password' };
const jwt = (more: object = {}) =>
  signJwt(
    { alg: 'ES256', kid: 'e' },
    { ...validClaims(now, issuer, 'u-demo-member'), ...more },
    ec.privateKey,
  );
const saml = (key = rsa.privateKey) => toParameter(signAssertion(anAssertion(now), key));

/** One for every grant type of the service; a new one needs an example here. */
const examples: Readonly<Record<string, Example>> = {
  authorization_code: {
    client: () => pages,
    use: 'member',
    proof: async () => {
      const { auth } = service.service.context;
      const wanted = { clientId: pages[0], redirectUri: 'https://app.example/', scope: 'account:read' };
      const { code, verifier } = await signInWithoutPages(auth, wanted, login);
      return { code, code_verifier: verifier };
    },
    wrong: () => ({ code: 'a'.repeat(43), code_verifier: 'a'.repeat(43) }),
  },
  client_credentials: { client: () => app, use: 'client', proof: async () => ({}), wrong: null },
  password: {
    client: () => app,
    use: 'member',
    proof: async () => login,
    wrong: () => ({ ...login, password: 'not the password at all' }),
  },
  refresh_token: {
    client: () => app,
    use: 'member',
    proof: async () => {
      const scope = 'account:read offline_access';
      const { body } = await ask('password', app, { ...login, scope });
      return { refresh_token: body.refresh_token };
    },
    wrong: () => ({ refresh_token: 'a'.repeat(43) }),
  },
  [jwtBearer]: {
    client: () => bridge,
    use: 'member',
    proof: async () => ({ assertion: jwt() }),
    wrong: () => ({ assertion: jwt({ iss: 'https://nobody.example' }) }),
  },
  [saml2Bearer]: {
    client: () => bridge,
    use: 'member',
    proof: async () => ({ assertion: saml() }),
    wrong: () => ({ assertion: saml(stranger.privateKey) }),
  },
};

function ask(grant_type: string, [client_id, client_secret]: readonly [string, string], proof: object) {
  const body = { grant_type, client_id, client_secret, ...proof };
  return send(service.address, 'POST', paths.token, { body });
}

test('every grant type of the metadata has an example', async () => {
  const { body } = await send(service.address, 'GET', '/.well-known/oauth-authorization-server');
  assert.deepEqual(body.grant_types_supported.toSorted(), Object.keys(examples).toSorted());
});

for (const [grantType, { client, use, proof, wrong }] of Object.entries(examples)) {
  test(`the grant ${grantType} issues a ${use} token, and none for a wrong proof or a client without the grant`, async () => {
    const issued = await ask(grantType, client(), await proof());
    assert.equal(issued.status, 200, issued.text);
    const [, payload] = issued.body.access_token.split('.');
    assert.equal(JSON.parse(Buffer.from(payload, 'base64url').toString()).token_use, use);
    const headers = { authorization: `Bearer ${issued.body.access_token}` };
    const accounts = use === 'client' ? `${paths.accounts}?customerId=c-1001` : paths.accounts;
    assert.equal((await send(service.address, 'GET', accounts, { headers })).status, 200);

    if (wrong !== null) {
      const refused = await ask(grantType, client(), wrong());
      assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_grant'], refused.text);
    }
    const without = client() === app ? bridge : app;
    const barred = await ask(grantType, without, await proof());
    assert.deepEqual([barred.status, barred.body.error], [400, 'unauthorized_client'], barred.text);
  });
}
