import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { createClient } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { findInstitutionByCode } from '../../src/institutions/index.ts';
import { changeInstitution, signInToDemo } from '../../src/operators/index.ts';
import { type Receiver, until } from '../webhooks/receiver.ts';
import { Authenticator, optionsIn } from './authenticator.ts';
import type { FeedEvent } from './cell-clients.ts';
import type { TestCell } from './cells.ts';
import { type Answer, clientOf, paths, send } from './demo.ts';
import { TestOperator } from './operators.ts';
import { authorizeUrl, pkce, TestBrowser } from './sign-in.ts';

/*
 * An institution that has something of everything before a move, and uses all of it at the cell to which it moved.
 */

const issuer = 'http://localhost';
const redirectUri = 'https://app.example/callback';
const member = { username: 'demo.member', password: 'harbor-member-password' };
const purse = { clientId: 'purse-app', secret: 'purse-app-secret-that-is-long' };
/** First-party, with every grant that shows something. */
const bankApp = { clientId: 'bank-app', secret: 'bank-app-secret-that-is-long' };
const bankClient = { client_id: bankApp.clientId, client_secret: bankApp.secret };
const purseClient = { client_id: purse.clientId, client_secret: purse.secret };
const scope = 'openid account:read transfer:read transfer:write institution-users:write offline_access';
const ownPayment = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };
/** Above harbor's threshold for a review, and below that of a second approval. */
const heldPayment = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1001-checking', amount: 510 };
/** Above the threshold of the step-up, and below that of the review. */
const steppedUp = { ...ownPayment, amount: 150 };
const reviewSeconds = 3_600;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A caller with a token, at whichever cell. */
const withToken =
  (token: string) =>
  (cell: TestCell, method: string, path: string, body?: object): Promise<Answer> =>
    send(cell.address, method, path, {
      headers: { authorization: `Bearer ${token}` },
      ...(body && { body }),
    });

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

/** Gives harbor all that is used at the other cell after its move. */
export async function furnish(cell: TestCell, receiver: Receiver) {
  const { context } = cell.service;
  const harbor = await context.database.directory((db) => findInstitutionByCode(db, 'harbor'));
  assert.ok(harbor !== undefined);
  const { institutionId } = harbor;
  const scopes = scope.split(' ');
  for (const client of [
    { ...purse, grants: ['authorization_code', 'refresh_token'], redirectUris: [redirectUri], scopes },
    {
      ...{ ...bankApp, grants: ['client_credentials', 'password', 'refresh_token'], redirectUris: [] },
      scopes: [...scopes, 'webhooks:manage', 'events:read'],
    },
  ])
    await createClient(
      context.auth,
      { ...client, scopes: client.scopes as never, institutionId, name: 'App', logoutUris: [] },
      ownOrigin(),
    );
  await changeInstitution(context, institutionId, {
    settings: {
      transferStepUpMaxAgeSeconds: 300,
      transferStepUpAboveMinor: 10_000n,
      transferStepUpPasskey: true,
    },
    origin: { ...ownOrigin(), operator: { user: 'tester', host: 'test' } },
  });
  const bank = await clientOf(cell, [bankApp.clientId, bankApp.secret]);
  const endpoint = await bank.post('/digitalbanking/db-webhooks/v1/endpoints', { url: receiver.url });
  assert.equal(endpoint.status, 201, endpoint.text);
  for (const id of ['held-and-approved', 'held-until-it-expires']) {
    const answer = await bank.post(paths.transfers, { ...heldPayment, id });
    assert.equal(answer.body.status, 'PENDING', answer.text);
  }
  const login = await send(cell.address, 'POST', paths.token, {
    body: { ...{ grant_type: 'password', ...member, ...bankClient }, scope },
  });
  assert.equal(login.status, 200, login.text);
  const tokens: Tokens = login.body;
  const order = { ...ownPayment, amount: 1.25, id: 'paid-before-the-move' };
  const paid = await withToken(tokens.access_token)(cell, 'POST', paths.transfers, order);
  assert.equal(paid.status, 201, paid.text);
  const session = await signInToDemo(
    context,
    { institution: 'harbor', name: 'Demo approver' },
    { origin: ownOrigin(), userAgent: undefined },
  );
  const key = await enrollPasskey(cell);
  const consented = await consent(cell);
  await until(
    () => receiver.accepted.some(({ event }) => event.transferId === order.id),
    'a webhook of the last payment',
  );
  return {
    ...{ institutionId, receiver, bank, tokens, session },
    ...{ order, paid, key, consented },
  };
}

async function enrollPasskey(cell: TestCell): Promise<Authenticator> {
  const key = new Authenticator(issuer);
  const browser = new TestBrowser(cell.address);
  const security = `/auth/v2/security?client_id=${purse.clientId}`;
  const first = await browser.get(security);
  await browser.post('/auth/v2/sign-in', { request: first.request, ...member });
  const page = await browser.get(security);
  const credential = key.create(optionsIn(page.text));
  const added = await browser.post('/auth/v2/security/passkeys', {
    ...{ request: page.request, credential, name: 'Phone' },
  });
  assert.match(added.text, /The passkey was added/);
  return key;
}

/** The page of a sign-in for the app. */
async function signInPage(cell: TestCell, parameters: Readonly<Record<string, string>>) {
  const { verifier, challenge } = pkce();
  const browser = new TestBrowser(cell.address);
  const page = await browser.get(
    authorizeUrl({
      ...{ client_id: purse.clientId, response_type: 'code', redirect_uri: redirectUri, scope },
      ...{ code_challenge: challenge, code_challenge_method: 'S256', ...parameters },
    }),
  );
  return { browser, page, verifier };
}

async function redeem(cell: TestCell, code: string | null, verifier: string): Promise<Tokens> {
  const { body, text } = await send(cell.address, 'POST', paths.token, {
    body: {
      ...{ grant_type: 'authorization_code', ...purseClient },
      ...{ code, code_verifier: verifier, redirect_uri: redirectUri },
    },
  });
  assert.ok(body.access_token, text);
  return body;
}

async function consent(cell: TestCell): Promise<Tokens> {
  const { browser, page, verifier } = await signInPage(cell, { prompt: 'consent' });
  const asked = await browser.post('/auth/v2/sign-in', { request: page.request, ...member });
  const allowed = await browser.post('/auth/v2/consent', {
    ...{ request: asked.request, days: '90', answer: 'allow', accounts: 'all' },
  });
  assert.equal(allowed.status, 303, allowed.text);
  return redeem(cell, allowed.location.searchParams.get('code'), verifier);
}

/** Signs in by passkey, for an app to which the member has consented before. */
async function signInByPasskey(cell: TestCell, key: Authenticator): Promise<Tokens> {
  const { browser, page, verifier } = await signInPage(cell, { prompt: 'login', acr_values: 'phr' });
  const credential = key.get(optionsIn(page.text));
  const signedIn = await browser.post('/auth/v2/sign-in/passkey', { request: page.request, credential });
  assert.equal(signedIn.status, 303, signedIn.text);
  return redeem(cell, signedIn.location.searchParams.get('code'), verifier);
}

const refresh = (cell: TestCell, token: string, client: object) =>
  send(cell.address, 'POST', paths.token, {
    body: { grant_type: 'refresh_token', refresh_token: token, ...client },
  });

/** Uses all of it at the cell to which harbor moved. */
export async function useAll(cell: TestCell, has: Awaited<ReturnType<typeof furnish>>): Promise<void> {
  const { tokens, consented, key } = has;
  const asBank = withToken(has.bank.token);
  // A process learns of the opening half a second later.
  await until(
    async () => (await withToken(tokens.access_token)(cell, 'GET', paths.accounts)).status === 200,
    'the institution is open',
  );

  // An id is used up: the same answer, and no second transfer.
  const repeated = await withToken(tokens.access_token)(cell, 'POST', paths.transfers, has.order);
  assert.deepEqual([repeated.status, repeated.body], [200, has.paid.body], repeated.text);
  const times = await cell.rows(
    `select count(*)::integer as times from transfers where transfer_id = '${has.order.id}'`,
  );
  assert.deepEqual(times, [{ times: 1 }]);

  // A family of refresh tokens goes on, and its sign-in is the one of before.
  const renewed = await refresh(cell, tokens.refresh_token, bankClient);
  assert.equal(renewed.status, 200, renewed.text);
  const byPassword = await withToken(renewed.body.access_token)(cell, 'POST', paths.transfers, {
    ...{ ...steppedUp, id: 'without-a-passkey' },
  });
  assert.equal(byPassword.status, 401, byPassword.text);
  assert.partialDeepStrictEqual(byPassword.body, {
    ...{ code: 'insufficient_user_authentication', acr_values: 'phr' },
  });
  const again = await refresh(cell, renewed.body.refresh_token, bankClient);
  assert.equal(again.status, 200, again.text);

  // A sign-in by the passkey of before is the step-up. No page of consent comes between.
  const stepped = await signInByPasskey(cell, key);
  const paid = await withToken(stepped.access_token)(cell, 'POST', paths.transfers, {
    ...{ ...steppedUp, id: 'with-a-passkey' },
  });
  assert.equal(paid.status, 201, paid.text);

  // A consent of before is used, and then withdrawn.
  const asApp = withToken(consented.access_token);
  assert.equal((await asApp(cell, 'GET', paths.accounts)).status, 200);
  const appRenewed = await refresh(cell, consented.refresh_token, purseClient);
  assert.equal(appRenewed.status, 200, appRenewed.text);
  const { consent_id: consentId } = claimsOf(consented.access_token);
  const withdrawn = await withToken(again.body.access_token)(
    cell,
    'DELETE',
    `/auth/v2/consents/${consentId}`,
  );
  assert.deepEqual([withdrawn.status, withdrawn.body.ended], [200, true], withdrawn.text);
  assert.equal((await asApp(cell, 'GET', paths.accounts)).status, 401);
  assert.equal((await refresh(cell, appRenewed.body.refresh_token, purseClient)).status, 400);

  // The session of an operator decides a pending transfer.
  const approver = new TestOperator(cell.address, has.session);
  const approved = await approver.post('/transfers/held-and-approved/approve', { reason: 'called back' });
  assert.equal(approved.body.status, 'COMPLETED', JSON.stringify(approved.body));

  // The other one comes due by the clock of the institution.
  await cell.rows(`update institutions set clock_ahead_seconds = clock_ahead_seconds + ${reviewSeconds + 60}
    where institution_id = ${has.institutionId}`);
  await until(async () => {
    const { body } = await asBank(cell, 'GET', `${paths.transfers}/held-until-it-expires`);
    return body.status === 'FAILED';
  }, 'the review ends by itself');

  await provesWebhooks(cell, has);
}

/** The endpoint gets each event since it was made, those of both cells. One whose answer the first cell did not note may come twice. */
async function provesWebhooks(
  cell: TestCell,
  { bank, receiver }: Awaited<ReturnType<typeof furnish>>,
): Promise<void> {
  const first = Math.min(...receiver.accepted.map(({ event }) => event.sequence));
  const got = () => receiver.accepted.map(({ event }) => event.eventId);
  let feed: readonly FeedEvent[] = [];
  await until(async () => {
    const from = `/digitalbanking/db-events/v1/events?from=${first}&limit=200`;
    feed = (await withToken(bank.token)(cell, 'GET', from)).body;
    const ofTheDue = feed.filter(({ transfer }) => transfer?.id === 'held-until-it-expires');
    const expected = feed.map(({ eventId }) => eventId).sort();
    return ofTheDue.length === 2 && isDeepStrictEqual([...new Set(got())].sort(), expected);
  }, 'the endpoint has each event of the feed');
  const firstHere = feed.findIndex(({ transfer }) => transfer?.id === 'with-a-passkey');
  const ofThisCell = new Set(feed.slice(firstHere).map(({ eventId }) => eventId));
  assert.ok(firstHere > 0 && ofThisCell.size >= 3, 'the endpoint goes on');
  const twice = got().filter((eventId, index, all) => all.indexOf(eventId) !== index);
  assert.deepEqual(
    twice.filter((eventId) => ofThisCell.has(eventId)),
    [],
  );
}
