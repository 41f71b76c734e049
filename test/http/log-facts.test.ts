import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Operation } from '../../src/http/operation.ts';
import { operations } from '../../src/http/operations.ts';
import { operationsOfOperators } from '../../src/http/operators/operations.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { operatorOf, sendTo, type TestOperator } from '../support/operators.ts';
import { eventually } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { TestBrowser } from '../support/sign-in.ts';

/* The facts of the caller on the line of each response: every operation of both interfaces, and the pages of sign-in. */

type Line = Readonly<Record<string, unknown>>;

const lines: string[] = [];
let service: TestService;
let member: DemoCaller;
let client: DemoCaller;
let operator: TestOperator;
let institutionId: number | undefined;
let userKey: string;
let operatorId: string | undefined;
before(async () => {
  service = await startTestService({
    environment: { LOG_LEVEL: 'info', PUBLIC_URL: 'http://localhost:8080' },
    logStream: { write: (line) => lines.push(line) },
  });
  member = await memberOf(service, 'demo.member', 'demo-member-password');
  client = await clientOf(service);
  operator = await operatorOf(service, 'Demo approver');
  const [user] = await service.db.superuser<{ institution_id: number; user_key: bigint }>(
    `select institution_id, user_key from users where username = 'demo.member'
     and institution_id = (select institution_id from institutions where code = 'lakeside')`,
  );
  institutionId = user?.institution_id;
  userKey = String(user?.user_key);
  const [row] = await service.db.superuser<{ operator_id: string }>(
    `select operator_id from operators where name = 'Demo approver' and institution_id = ${institutionId}`,
  );
  operatorId = row?.operator_id;
});
after(() => service.close());

/** The line of the response, which is written after the caller has it. */
async function answered(transactionId: string): Promise<Line> {
  const ofIt = `"transactionId":"${transactionId}"`;
  const find = () => lines.find((line) => line.includes(ofIt) && line.includes('"answered"'));
  await eventually(transactionId, async () => find() !== undefined);
  return JSON.parse(find() as string);
}

function factsIn({ operation, institutionId: of, clientId, userKey: key, operatorId: by }: Line): Line {
  return { operation, institutionId: of, clientId, userKey: key, operatorId: by };
}

const nothing = {
  ...{ operation: undefined, institutionId: undefined, clientId: undefined },
  ...{ userKey: undefined, operatorId: undefined },
};

/** The facts that the token itself gives. */
function factsOfToken({ token, operationId }: Operation): Line {
  if (token === 'none') return { operation: operationId };
  const ofClient = { operation: operationId, institutionId, clientId: 'demo-app' };
  return token === 'client' ? ofClient : { ...ofClient, userKey };
}

test('the line of each operation of members and clients names the operation, and the caller by keys', async () => {
  for (const operation of operations) {
    const { method, path, operationId, token, body } = operation;
    const bearer = token === 'client' ? client : member;
    const url = path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
    await send(service.address, method, url, {
      headers: {
        transactionId: `of-${operationId}`,
        ...(token !== 'none' && { authorization: `Bearer ${bearer.token}` }),
      },
      ...(body && { body: {} }),
    });
  }
  for (const operation of operations) {
    const line = await answered(`of-${operation.operationId}`);
    assert.deepEqual(factsIn(line), { ...nothing, ...factsOfToken(operation) });
  }
});

test('the line of each operation of operators names the operation, the institution and the operator', async () => {
  for (const { method, path, operationId, body } of operationsOfOperators) {
    const url = path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000');
    const headers = { authorization: `Bearer ${operator.token}`, transactionId: `by-${operationId}` };
    await sendTo(service.address, method, url, headers, body && { reason: 'a test' });
  }
  for (const { operationId: operation } of operationsOfOperators) {
    const line = await answered(`by-${operation}`);
    assert.deepEqual(factsIn(line), { ...nothing, operation, institutionId, operatorId });
    assert.equal(line.transferId, undefined, operation);
  }
  assert.doesNotMatch(lines.join(''), /Demo approver/);
});

test('an operator’s line has the id of a transfer that exists, also if the act is refused, and of no other', async () => {
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
  await member.post(paths.transfers, { ...order, id: 'facts-1' });
  const headers = (transactionId: string) => ({ authorization: `Bearer ${operator.token}`, transactionId });
  const reason = { reason: 'a test' };
  for (const [id, method, url, body] of [
    ['seen-1', 'GET', '/transfers/facts-1', undefined],
    ['seen-2', 'POST', '/transfers/facts-1/approve', reason],
    ['seen-3', 'GET', '/transfers/ada.lovelace@bank.example', undefined],
    ['seen-4', 'POST', '/transfers/facts-none/decline', reason],
  ] as const) {
    await sendTo(service.address, method, url, headers(id), body);
  }
  const found = await Promise.all(['seen-1', 'seen-2', 'seen-3', 'seen-4'].map(answered));
  assert.deepEqual(
    found.map(({ status, transferId }) => [status, transferId]),
    [
      [200, 'facts-1'],
      [409, 'facts-1'],
      [404, undefined],
      [404, undefined],
    ],
  );
});

test('the line of a token request names the client once it is authenticated, and the member', async () => {
  const grant = { grant_type: 'password', username: 'demo.member', password: 'demo-member-password' };
  for (const [id, secret] of [
    ['token-1', 'demo-app-secret'],
    ['token-2', 'wrong'],
  ] as const) {
    const body = { ...grant, client_id: 'demo-app', client_secret: secret };
    await send(service.address, 'POST', paths.token, { body, headers: { transactionId: id } });
  }
  const operation = 'issueToken';
  const issued = { ...nothing, operation, institutionId, clientId: 'demo-app', userKey };
  assert.deepEqual(factsIn(await answered('token-1')), issued);
  assert.deepEqual(factsIn(await answered('token-2')), { ...nothing, operation });
});

test('the lines of the pages of sign-in name the institution and the client, and then the member', async () => {
  const browser = new TestBrowser(service.address, { host: 'localhost:8080' });
  const security = '/auth/v2/security?client_id=demo-budget';
  const page = await browser.get(security, { transactionId: 'page-1' });
  const form = { request: page.request, username: 'demo.member' };
  await browser.post('/auth/v2/sign-in', { ...form, password: 'wrong' }, { transactionId: 'page-2' });
  await browser.post(
    '/auth/v2/sign-in',
    { ...form, password: 'demo-member-password' },
    { transactionId: 'page-3' },
  );
  await browser.get(security, { transactionId: 'page-4' });
  const asked = { ...nothing, institutionId, clientId: 'demo-budget' };
  assert.deepEqual(factsIn(await answered('page-1')), asked);
  assert.deepEqual(factsIn(await answered('page-2')), asked);
  assert.deepEqual(factsIn(await answered('page-3')), { ...asked, userKey });
  assert.deepEqual(factsIn(await answered('page-4')), { ...asked, userKey });
});

test('the lines of the operators’ pages name the operator who is signed in, or who has just signed in', async () => {
  const begun = { institution: 'lakeside', name: 'Demo approver' };
  const answer = await sendTo(service.address, 'POST', '/demo-session', { transactionId: 'enter-1' }, begun);
  const authorization = `Bearer ${answer.body.token}`;
  await send(service.address, 'GET', '/operations/passkeys', {
    headers: { authorization, transactionId: 'enter-2' },
  });
  await sendTo(service.address, 'POST', '/end-session', { authorization, transactionId: 'enter-3' });
  for (const id of ['enter-1', 'enter-2', 'enter-3']) {
    assert.deepEqual(factsIn(await answered(id)), { ...nothing, institutionId, operatorId }, id);
  }
});
