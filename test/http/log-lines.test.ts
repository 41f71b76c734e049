import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../../src/shared/describe-error.ts';
import { clientOf, type DemoCaller, memberOf, paths, send } from '../support/demo.ts';
import { eventually } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The lines that requests leave in the log. */

type Line = Readonly<Record<string, unknown>> & { readonly level: number };

const lines: string[] = [];
let service: TestService;
let member: DemoCaller;
let client: DemoCaller;
before(async () => {
  const note = (event: string, details?: object) => {
    // As openServiceLog writes them, with the same description of errors.
    const { error, ...more } = (details ?? {}) as { error?: unknown };
    lines.push(JSON.stringify({ level: 30, event, ...more, error: describeError(error) }));
  };
  service = await startTestService({
    environment: { LOG_LEVEL: 'trace' },
    log: note,
    debug: note,
    logStream: { write: (line) => lines.push(line) },
  });
  member = await memberOf(service, 'demo.member', 'demo-member-password');
  client = await clientOf(service);
});
after(() => service.close());

const parsed = () => lines.map((line) => JSON.parse(line) as Line);
const linesOf = (transactionId: string) => parsed().filter((line) => line.transactionId === transactionId);
/** The line of the response, which is written after the caller has it. */
async function answered(transactionId: string): Promise<Line> {
  const find = () => linesOf(transactionId).find((line) => line.msg === 'answered');
  await eventually(transactionId, async () => find() !== undefined);
  return find() as Line;
}
const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };

test('the line of a response names the operation, the institution, the client, the user and the transfer', async () => {
  await member.post(paths.transfers, { ...order, id: 'logged-1' }, { transactionId: 'logs-1' });
  const line = await answered('logs-1');
  assert.equal(line.operation, 'initiateTransfer');
  assert.equal(line.clientId, 'demo-app');
  assert.equal(line.transferId, 'logged-1');
  const [user] = await service.db.superuser<{ institution_id: number; user_key: bigint }>(
    `select institution_id, user_key from users where username = 'demo.member'
     and institution_id = (select institution_id from institutions where code = 'lakeside')`,
  );
  assert.equal(line.institutionId, user?.institution_id);
  assert.equal(line.userKey, String(user?.user_key));

  await member.post(
    paths.transfers,
    { ...order, id: 'logged-2', amount: 9_000_000 },
    { transactionId: 'logs-2' },
  );
  const declined = await answered('logs-2');
  assert.deepEqual([declined.transferId, declined.code], ['logged-2', 'insufficient_funds']);
});

test('the id of another order stays out of the log', async () => {
  const other = { ...order, id: 'logged-1', amount: 2 };
  const conflict = await member.post(paths.transfers, other, { transactionId: 'logs-3' });
  assert.equal(conflict.status, 409);
  await answered('logs-3');
  assert.ok(!JSON.stringify(linesOf('logs-3')).includes('logged-1'));
});

const personal = {
  name: 'Wilhelmina-Recognizable',
  email: 'wilhelmina.recognizable@private.test',
  other: 'recognizable.other@private.test',
  phone: '+12025550143',
  memo: 'recognizable memo about a divorce',
  username: 'recognizable.username',
  password: 'recognizable password of nine words',
  member: 'RECOGNIZABLE-77',
  birthday: '1969-07-21',
};

test('no line has personal data or a value, also if statements fail and the database quotes the row', async () => {
  await service.db.superuser(
    `alter table users add constraint of_this_test check (email is distinct from '${personal.other}')`,
  );
  await service.db.superuser(
    `alter table transfers add constraint of_this_test check (memo is distinct from '${personal.memo}')`,
  );
  const registration = {
    memberNumber: personal.member,
    firstName: personal.name,
    lastName: personal.name,
    email: personal.email,
    birthDate: personal.birthday,
  };
  const failures: string[] = [];
  const ask = async (what: string, request: Promise<{ readonly status: number }>) => {
    if ((await request).status >= 500) failures.push(what);
  };
  const headers = (id: string) => ({ transactionId: id });
  await ask('register', client.post(paths.register, registration, headers('p-1')));
  await ask(
    'register',
    client.post(paths.register, { ...registration, email: personal.other }, headers('p-2')),
  );
  const customer = `${paths.customer('c-1001')}/contact-info`;
  await ask('contact', member.patch(customer, { emailAddress: personal.email }, headers('p-3')));
  await ask('failing contact', member.patch(customer, { emailAddress: personal.other }, headers('p-4')));
  await ask(
    'contact',
    member.patch(customer, { phoneNumber: personal.phone, phoneType: 'MOBILE' }, headers('p-5')),
  );
  await ask(
    'failing memo',
    member.post(paths.transfers, { ...order, id: 'p-6', memo: personal.memo }, headers('p-6')),
  );
  await ask(
    'memo',
    member.post(paths.transfers, { ...order, memo: `${personal.memo}, too` }, headers('p-7')),
  );
  const find = `/digitalbanking/ux-users/v1/customers/${encodeURIComponent(personal.email)}/contact-methods?userIdType=EMAIL`;
  await ask('profile', client.get(find));
  await ask('unknown path', client.get(`/${personal.email}`));
  await ask('transfer', client.get(`${paths.transfers}/${personal.username}`));
  const grant = { grant_type: 'password', client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const { username, password } = personal;
  for (const body of [
    { ...grant, username, password },
    { ...grant, username: 'demo.member', password },
    `{"username":"${username}", "password": ${password}`,
    JSON.stringify([personal]),
  ]) {
    await ask(
      'token',
      send(service.address, 'POST', paths.token, { body, headers: { 'content-type': 'application/json' } }),
    );
  }
  await ask(
    'a forged token',
    send(service.address, 'GET', paths.accounts, {
      headers: { authorization: `Bearer ${username}.${username}.x` },
    }),
  );
  assert.deepEqual(failures, ['failing contact', 'failing memo']);

  for (const [id, statement] of [
    ['p-4', /^members_/],
    ['p-6', /^transfers_write$/],
  ] as const) {
    const line = await answered(id);
    assert.equal(line.sqlState, '23514', JSON.stringify(line));
    assert.match(String(line.statement), statement);
    const error = linesOf(id).find(({ level }) => level === 50);
    assert.equal(error?.sqlState, '23514');
    assert.equal(error?.clientId, 'demo-app');
    assert.equal(typeof error?.userKey, 'string');
  }
  const output = lines.join('\n').toLowerCase();
  assert.ok(lines.length > 15);
  for (const [what, value] of Object.entries(personal)) {
    assert.ok(!output.includes(value.toLowerCase()), `the ${what} is in the log`);
    assert.ok(
      !output.includes(encodeURIComponent(value).toLowerCase()),
      `the ${what} is in the log, encoded`,
    );
  }
  assert.doesNotMatch(output, /failing row|recognizable/);
});

test('a caller who leaves is no error: within the body, and before the response', async () => {
  const port = Number(new URL(service.address).port);
  const head = (id: string, length: number) =>
    [
      `POST ${paths.transfers} HTTP/1.1`,
      'host: x',
      `authorization: Bearer ${member.token}`,
      `transactionId: ${id}`,
      'content-type: application/json',
      `content-length: ${length}`,
      '',
      '',
    ].join('\r\n');
  const body = JSON.stringify(order);
  for (const [id, sent] of [
    ['left-1', `${head('left-1', body.length)}{`],
    ['left-2', `${head('left-2', body.length)}${body}`],
  ] as const) {
    const socket = connect(port, '127.0.0.1');
    socket.write(sent);
    await sleep(id === 'left-1' ? 50 : 1);
    socket.destroy();
  }
  const line = await answered('left-1');
  assert.equal(line.isOutputClosed, true);
  await sleep(300);
  const errors = parsed().filter(
    ({ level, transactionId }) => level >= 40 && String(transactionId).startsWith('left'),
  );
  assert.deepEqual(errors, []);
});
