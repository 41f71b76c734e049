import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient, readCertificatePem, type Scope } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { TestCertificate } from '../support/certificates.ts';
import { Client, type Reply } from '../support/client.ts';
import { asNdjson, purchase, readNdjson, transactionsPath } from '../support/core.ts';
import { paths } from '../support/demo.ts';
import { sha256, TestKey } from '../support/dpop.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Bound tokens at operations that change something or that stream: RFC 9449 section 7 and RFC 8705 section 3. */

const issuer = 'http://localhost';
const member = { grant_type: 'password', username: 'demo.member', password: 'demo-member-password' };
const recordsPath = '/digitalbanking/core/v1/records';
/** A proof names the path without its query (RFC 9449 section 4.2). */
const balancesPath = '/digitalbanking/core/v1/balances?asOf=2026-03-02T12:00:00Z';
const [own, others] = [new TestCertificate(), new TestCertificate()];
const [key, otherKey] = [new TestKey(), new TestKey()];
const now = new Date('2026-03-02T12:00:00Z');

let service: TestService;
let client: Client;

before(async () => {
  const environment = {
    PUBLIC_URL: issuer,
    CLIENT_CERT_PROXIES: '127.0.0.1',
    FAILED_LOGIN_PAUSE_MILLIS: '0',
  };
  service = await startTestService({ clock: () => now, environment });
  client = new Client(service.address);
  const [row] = await service.db.superuser<{ institution_id: InstitutionId }>(
    `select institution_id from institutions where code = 'lakeside'`,
  );
  const institutionId = row?.institution_id as InstitutionId;
  const certificate = readCertificatePem(own.pem, now);
  const bank = { scopes: ['transfer:write', 'account:read'] as Scope[], grants: ['password'] };
  const core = { scopes: ['core:read', 'core:write'] as Scope[], grants: ['client_credentials'] };
  for (const [name, rights] of Object.entries({ bank, core })) {
    for (const binding of [{ requiresDpop: true }, { bindsToCertificate: true }]) {
      const clientId = `${name}-${binding.requiresDpop ? 'key' : 'certificate'}`;
      const settings = { institutionId, clientId, name: clientId, certificate, ...rights, ...binding };
      await createClient(service.service.context.auth, settings, ownOrigin());
    }
  }
});
after(() => service.close());

const by = ({ header }: TestCertificate) => ({ 'client-cert': header });

function proofOf(of: TestKey, path: string, token?: string): string {
  const nonce = service.service.context.auth.proofNonces.current();
  const iat = Math.floor(now.getTime() / 1000);
  const ath = token === undefined ? {} : { ath: sha256(token) };
  return of.proof({ claims: { htm: 'POST', htu: issuer + path, iat, nonce, ...ath } });
}

type Kind = 'key' | 'certificate';

async function tokenOf(kind: Kind, name: 'bank' | 'core'): Promise<string> {
  const grant = name === 'bank' ? member : { grant_type: 'client_credentials' };
  const proof = kind === 'key' ? { dpop: proofOf(key, paths.token) } : {};
  const form = { ...grant, client_id: `${name}-${kind}` };
  const reply = await client.post(paths.token, { form, headers: { ...by(own), ...proof } });
  assert.equal(reply.status, 200, reply.text);
  return reply.body.access_token;
}

/** The headers of a request that proves the binding. */
const right = (kind: Kind, path: string, token: string): Record<string, string> =>
  kind === 'key'
    ? { authorization: `DPoP ${token}`, dpop: proofOf(key, path, token) }
    : { authorization: `Bearer ${token}`, ...by(own) };

/** Requests that a thief of the token can make. */
const wrong: Record<Kind, (path: string, token: string) => [name: string, Record<string, string>][]> = {
  key: (path, token) => [
    ['as Bearer', { authorization: `Bearer ${token}` }],
    ['as Bearer with a right proof', { authorization: `Bearer ${token}`, dpop: proofOf(key, path, token) }],
    ['as Bearer with a certificate', { authorization: `Bearer ${token}`, ...by(own) }],
    ['without a proof', { authorization: `DPoP ${token}` }],
    ['with a proof of another key', { authorization: `DPoP ${token}`, dpop: proofOf(otherKey, path, token) }],
    ['with a proof for another path', { authorization: `DPoP ${token}`, dpop: proofOf(key, '/', token) }],
    ['with a proof for another token', { authorization: `DPoP ${token}`, dpop: proofOf(key, path, 'x') }],
  ],
  certificate: (path, token) => [
    ['without a certificate', { authorization: `Bearer ${token}` }],
    ['with another certificate', { authorization: `Bearer ${token}`, ...by(others) }],
    ['with a malformed certificate', { authorization: `Bearer ${token}`, 'client-cert': '::' }],
    ['as DPoP', { authorization: `DPoP ${token}`, dpop: proofOf(key, path, token), ...by(own) }],
  ],
};

interface Act {
  readonly name: string;
  readonly client: 'bank' | 'core';
  readonly path: string;
  readonly contentType: string;
  /** A body of its own for each request. */
  readonly body: (id: string) => string;
  /** The number of rows that the requests have made; absent for an act that makes none by itself. */
  readonly count?: string;
  readonly assertDone: (reply: Reply) => void;
}

/** The summary of a stream counts one line of the result. */
const took = (result: string) => (reply: Reply) => {
  assert.equal(reply.status, 200, reply.text);
  assert.equal(readNdjson(reply.text).at(-1)?.summary?.[result], 1, reply.text);
};
const ndjson = 'application/x-ndjson';

const acts: readonly Act[] = [
  {
    ...{ name: 'a transfer', client: 'bank', path: paths.transfers, contentType: 'application/json' },
    body: (id) =>
      JSON.stringify({ id, fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 }),
    count: `select count(*)::int as rows from transfers where transfer_id like 'bound-%'`,
    assertDone: ({ status, text }) => assert.equal(status, 201, text),
  },
  {
    ...{ name: 'the stream of transactions', client: 'core', path: transactionsPath, contentType: ndjson },
    body: (id) => asNdjson([purchase(id, { postedAt: '2026-03-02T05:00:00-05:00' })]),
    count: `select count(*)::int as rows from core_transactions where core_id like 'bound-%'`,
    assertDone: took('posted'),
  },
  {
    ...{ name: 'the stream of records', client: 'core', path: recordsPath, contentType: ndjson },
    body: (id) =>
      asNdjson([{ record: 'person', personId: id, firstName: 'Reseda', lastName: 'Quillington' }]),
    count: `select count(*)::int as rows from persons where person_id like 'bound-%'`,
    assertDone: took('added'),
  },
  {
    ...{ name: 'the stream of balances', client: 'core', path: balancesPath, contentType: ndjson },
    body: () => asNdjson([{ accountId: 'a-1001-checking', balance: 1, currencyCode: 'USD' }]),
    assertDone: took('accounts'),
  },
];

let sent = 0;
const perform = ({ path, contentType, body }: Act, headers: Record<string, string>) => {
  sent += 1;
  return client.post(path, {
    body: body(`bound-${sent}`),
    headers: { 'content-type': contentType, ...headers },
  });
};

for (const kind of ['key', 'certificate'] as const) {
  describe(`a token that is bound to a ${kind}`, () => {
    for (const act of acts) {
      test(`is taken with its ${kind} at ${act.name}, and refused in every other way before anything is read`, async () => {
        const { count } = act;
        const rows = async () =>
          count ? ((await service.db.superuser<{ rows: number }>(count))[0]?.rows ?? 0) : 0;
        const token = await tokenOf(kind, act.client);
        const before = await rows();
        // The second time the caller is remembered.
        for (const times of [1, 2]) {
          act.assertDone(await perform(act, right(kind, act.path, token)));
          for (const [name, headers] of wrong[kind](act.path, token)) {
            const reply = await perform(act, headers);
            assert.equal(reply.status, 401, `${name}: ${reply.text}`);
            assert.match(reply.body.code, /^invalid_(?:token|dpop_proof)$/, name);
          }
          assert.equal((await rows()) - before, count ? times : 0, 'the refused requests have done nothing');
        }
      });
    }
  });
}
