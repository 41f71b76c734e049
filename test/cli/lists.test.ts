import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { TestCertificate } from '../support/certificates.ts';
import { commandsOn } from '../support/commands.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { eventually } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* The lists of the command line as documents, whose members are their stable shape. */

let service: TestService;
let run: ReturnType<typeof commandsOn>;
let bank: DemoCaller;
before(async () => {
  service = await startTestService();
  run = commandsOn(service.db);
  bank = await clientOf(service);
});
after(() => service.close());

const lakeside = ['--institution', 'lakeside'];

async function documents(...words: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await run(...words, '--json');
  assert.equal(code, 0, stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
const membersOf = (rows: readonly object[]) => Object.keys(rows[0] ?? {});
const pay = (body: object) => bank.post(paths.transfers, body);

test('lists clients and keys as documents without a secret', async () => {
  const clients = await documents('client', 'list', ...lakeside);
  // Members are only ever added.
  const known = [
    'clientId',
    'name',
    'scopes',
    'grants',
    'tokenLifetimeSeconds',
    'networks',
    'active',
    'kids',
  ];
  assert.deepEqual(
    known.filter((member) => !membersOf(clients).includes(member)),
    [],
  );
  assert.equal(typeof clients[0]?.secrets, 'number');
  const keys = await documents('keys', 'list');
  assert.deepEqual(membersOf(keys), ['kid', 'state', 'createdAt', 'signsFrom', 'hasPrivatePart']);
  assert.match((await run('keys', 'list')).stdout, /^key +state +signs from +private part\n/);
});

test('registers a client by its certificate, lists it, and replaces it', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-certificates-'));
  const validity = { from: new Date(Date.now() - 60_000), until: new Date(Date.now() + 3_600_000) };
  const [from, until] = [validity.from.toISOString(), validity.until.toISOString()];
  let first = new TestCertificate({ from, until });
  // A thumbprint that looks like an option, but not like -h.
  while (!/^-[^h-]/.test(first.thumbprint)) first = new TestCertificate({ from, until });
  const second = new TestCertificate({ from, until });
  const [one, other] = [path.join(folder, 'first.pem'), path.join(folder, 'second.pem')];
  const of = async (clientId: string) =>
    (await documents('client', 'list', ...lakeside)).find((client) => client.clientId === clientId);
  try {
    await writeFile(one, first.pem);
    await writeFile(other, second.pem);
    const create = ['client', 'create', 'by-certificate', ...lakeside, '--scopes', 'account:read'];
    const made = await run(...create, '--profile', 'fapi2', '--certificate', one);
    assert.equal(made.code, 0, made.stderr);
    assert.equal(made.stdout, `client_id:     by-certificate\nx5t#S256:      ${first.thumbprint}\n`);
    assert.equal((await run('client', 'add-certificate', 'by-certificate', other, ...lakeside)).code, 0);
    const ended = ['client', 'remove-certificate', 'by-certificate', first.thumbprint, ...lakeside, '--yes'];
    assert.equal((await run(...ended, '--yse')).code, 2);
    assert.deepEqual([(await run(...ended)).code, (await run(...ended)).code], [0, 1]);
    const client = await of('by-certificate');
    assert.deepEqual(client?.certificateThumbprints, [second.thumbprint]);
    assert.deepEqual([client?.requiresDpop, client?.bindsToCertificate], [false, true]);
    const again = await run('client', 'set', 'by-certificate', ...lakeside, '--profile', 'fapi2');
    assert.equal(again.code, 0, again.stderr);
    const kept = await of('by-certificate');
    assert.deepEqual([kept?.requiresDpop, kept?.bindsToCertificate], [false, true]);
    assert.match(
      (await run('client', 'list', ...lakeside)).stdout,
      /bound to its certificate \(mutual TLS\)/,
    );
    await writeFile(other, 'no certificate');
    const refused = await run('client', 'add-certificate', 'by-certificate', other, ...lakeside);
    assert.match(refused.stderr, /must hold one certificate in PEM/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('lists providers and webhooks as no document if there are none, and as a sentence for people', async () => {
  assert.deepEqual(await documents('provider', 'list', ...lakeside), []);
  assert.deepEqual(await documents('webhook', 'list', ...lakeside), []);
  assert.match((await run('webhook', 'list', ...lakeside)).stdout, /No client has an endpoint/);
});

test('lists pending transfers with what each waits for, and declines one with a reason', async () => {
  const ends = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1003-checking' };
  assert.equal((await pay({ id: 'list-held', ...ends, amount: 2_000 })).body.status, 'PENDING');
  const [row, ...others] = await documents('transfer', 'pending', ...lakeside);
  assert.deepEqual(others, []);
  const { dueAt, createdAt, ...known } = row as Record<string, unknown>;
  assert.equal(typeof dueAt, 'string');
  assert.equal(typeof createdAt, 'string');
  assert.deepEqual(known, {
    kind: 'transfer',
    id: 'list-held',
    type: 'INTRA_FI',
    ...ends,
    amount: '2000.00',
    currencyCode: 'USD',
    heldFor: 'REVIEW',
    whenDue: 'POST',
    approvalsNeeded: 1,
    approvedBy: [],
    isOrdererShutOut: false,
    isWithCore: false,
    reasons: [{ kind: 'AMOUNT', threshold: '1000.00' }],
  });
  const refused = await run('transfer', 'decline', 'list-held', ...lakeside);
  assert.match(refused.stderr, /list-held fails for good.*Confirm with --yes/);
  const declined = await run(
    'transfer',
    'decline',
    'list-held',
    '--reason',
    'Not known to the payee',
    '--yes',
    ...lakeside,
  );
  assert.equal(declined.code, 0, declined.stderr);
  const [entry] = await service.db.superuser<{ stated_reason: string }>(
    `select stated_reason from audit_entries where action = 'transfer.declined'`,
  );
  assert.equal(entry?.stated_reason, 'Not known to the payee');
});

test('asks before a reversal, and audits its reason', async () => {
  await pay({ id: 'list-paid', fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 3 });
  const asked = await run('transfer', 'reverse', 'list-paid', ...lakeside);
  assert.match(asked.stderr, /whole amount of list-paid goes back/);
  const words = ['list-paid', '--reason', 'Paid twice', '--yes', ...lakeside];
  const reversed = await run('transfer', 'reverse', ...words);
  assert.equal(reversed.code, 0, reversed.stderr);
  const again = await run('transfer', 'reverse', ...words);
  assert.match(again.stderr, /can be reversed/);
  const rows = await service.db.superuser<{ outcome: string; stated_reason: string }>(
    `select outcome, stated_reason from audit_entries where action = 'transfer.reversed' order by audit_key`,
  );
  assert.deepEqual(rows[0], { outcome: 'succeeded', stated_reason: 'Paid twice' });
});

/** Every event of lakeside. The feed holds an event back while an older transaction runs. */
async function wholeFeed(): Promise<Record<string, unknown>[]> {
  let events: Record<string, unknown>[] = [];
  await eventually('every event in the feed', async () => {
    const [row] = await service.db.superuser<{ count: bigint }>(
      `select count(*) from outbox join institutions using (institution_id) where code = 'lakeside'`,
    );
    events = await documents('events', 'tail', '--from', '1', ...lakeside);
    return BigInt(events.length) === BigInt(row?.count ?? 0);
  });
  return events;
}

test('shows the last events or those from a sequence on, and audits the read', async () => {
  const all = await wholeFeed();
  const last = await documents('events', 'tail', ...lakeside);
  assert.deepEqual(membersOf(last), [
    'sequence',
    'eventId',
    'type',
    'at',
    'userId',
    'transfer',
    'accounts',
    'data',
  ]);
  const numbers = (events: readonly Record<string, unknown>[]) => events.map(({ sequence }) => sequence);
  assert.deepEqual(numbers(last), numbers(all.slice(-10)));
  const newest = last.at(-1)?.sequence as number;
  const two = await documents('events', 'tail', '--from', String(newest - 1), ...lakeside);
  assert.deepEqual(
    two.map(({ sequence }) => sequence),
    [newest - 1, newest],
  );
  const ahead = await run('events', 'tail', '--from', String(newest + 500), ...lakeside);
  assert.equal(ahead.code, 1);
  assert.match((await run('events', 'tail', ...lakeside)).stdout, /transfer\.completed {2}.* -> /);
  const reads = await service.db.superuser(`select from audit_entries where action = 'events.read'`);
  assert.ok(reads.length >= 4);
});

test('shows a limit with its use, of an account, a member and nobody', async () => {
  const harbor = ['--institution', 'harbor'];
  const member = await memberOf(service, 'demo.member', 'harbor-member-password', [
    'harbor-app',
    'harbor-app-secret',
  ]);
  const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1002-checking', amount: 20 };
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  const [{ user_id: userId } = { user_id: '' }] = await service.db.superuser<{ user_id: string }>(
    `select user_id from users u join institutions i using (institution_id) where i.code = 'harbor' and username = 'demo.member'`,
  );
  const limits = await documents('limits', 'show', '--user', userId, ...harbor);
  assert.deepEqual(membersOf(limits), [
    ...[
      'limitKey',
      'subject',
      'subjectId',
      'period',
      'transferType',
      'sourceType',
      'currency',
      'used',
      'maxAmount',
    ],
    ...['remaining', 'transfers', 'maxCount', 'maxPerTransfer', 'reviewAbove', 'resetsAt'],
  ]);
  const used = limits.filter(({ subject }) => subject === 'USER').map((row) => row.used);
  assert.ok(used.includes('20.00'), JSON.stringify(limits));
  const account = await run('limits', 'show', '--account', 'a-1001-checking', ...harbor);
  assert.equal(account.code, 0, account.stderr);
  const unknown = await run('limits', 'show', '--user', 'nobody', ...harbor);
  assert.match(unknown.stderr, /No account or user/);
  assert.equal((await run('limits', 'show', ...lakeside)).code, 0);
  assert.equal((await run('limits', 'show', '--account', 'a', '--user', 'b', ...harbor)).code, 2);
});
