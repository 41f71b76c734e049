import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createClient, reissueActivation, setPassword, setStanding } from '../../src/auth/index.ts';
import { type AuditEntry, AuditTrail, appendAudit, readAudit, wholeService } from '../../src/events/index.ts';
import { findInstitutionByCode, type Institution } from '../../src/institutions/index.ts';
import { type Database, sql } from '../../src/storage/index.ts';
import { reverseTransfer, reviewTransfer } from '../../src/transfers/index.ts';
import { clientOf, memberOf, paths, send } from '../support/demo.ts';
import { deskOf } from '../support/desk.ts';
import { commandOf } from '../support/operator.ts';
import { startTestService, type TestService } from '../support/service.ts';

const at = new Date('2026-03-02T12:00:00Z');
const proxy = { 'x-forwarded-for': '198.51.100.7' };
const app = { client_id: 'demo-app', client_secret: 'demo-app-secret' };

let service: TestService;
let lakeside: Institution;
before(async () => {
  service = await startTestService({ clock: () => at, environment: { TRUSTED_PROXIES: '127.0.0.0/8' } });
  lakeside = (await service.service.context.database.directory((db) =>
    findInstitutionByCode(db, 'lakeside'),
  )) as Institution;
});
after(() => service.close());

interface Row {
  readonly institution_id: number;
  readonly action: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly client_id: string | null;
  readonly user_id: string | null;
  readonly subject: string | null;
  readonly name_hash: Buffer | null;
  readonly address: string | null;
  readonly operator: string | null;
  readonly operator_host: string | null;
  readonly sudo_user: string | null;
  readonly transaction_id: string;
  readonly times: number;
}

/** The audit entries of one request or command, repeats of the minute included. */
async function entriesOf(transactionId: string): Promise<Row[]> {
  await service.service.context.auth.audit.settle();
  return service.db.superuser<Row>(
    'select * from audit_entries where transaction_id = $1 order by audit_key',
    [transactionId],
  );
}

let requests = 0;
function ask(body: object, headers: Record<string, string> = {}) {
  requests += 1;
  const transactionId = `request-${requests}`;
  const all = { ...proxy, transactionId, ...headers };
  const asked = send(service.address, 'POST', paths.token, { body, headers: all });
  return asked.then(async ({ status }) => ({ status, entries: await entriesOf(transactionId) }));
}

function summaryOf({ action, outcome, reason, client_id, user_id, address }: Row) {
  return [action, outcome, reason, client_id, user_id, address].map(String).join(' ');
}

describe('audit of token requests', () => {
  const login = { grant_type: 'password', ...app };
  const cases: [string, object, Record<string, string>, string][] = [
    [
      'a login',
      { ...login, username: 'demo.member', password: 'demo-member-password' },
      {},
      'login succeeded password demo-app u-demo-member 198.51.100.7',
    ],
    [
      'a wrong password',
      { ...login, username: 'Demo.Member', password: 'hunter2' },
      {},
      'login refused wrong_password demo-app u-demo-member 198.51.100.7',
    ],
    [
      'an unknown user',
      { ...login, username: 'hunter2-typed-here', password: 'x' },
      {},
      'login refused unknown_user demo-app null 198.51.100.7',
    ],
    [
      'a locked user',
      { ...login, username: 'heath.locked', password: 'heath-lock-lantern-12' },
      {},
      'login refused locked demo-app u-heath-locked 198.51.100.7',
    ],
    [
      'an inactive user',
      { ...login, username: 'moss.inactive', password: 'moss-sleep-lantern-13' },
      {},
      'login refused inactive demo-app u-moss-inactive 198.51.100.7',
    ],
    [
      'a client',
      { grant_type: 'client_credentials', ...app },
      {},
      'client_token succeeded client_credentials demo-app null 198.51.100.7',
    ],
    [
      'a grant that is not the client’s',
      {
        grant_type: 'password',
        client_id: 'demo-backend',
        client_secret: 'demo-backend-secret',
        username: 'x',
        password: 'y',
      },
      {},
      'login refused unauthorized_client demo-backend null 198.51.100.7',
    ],
    [
      'a scope that is not the client’s',
      { grant_type: 'client_credentials', ...app, scope: 'hunter2' },
      {},
      'client_token refused invalid_scope demo-app null 198.51.100.7',
    ],
    [
      'a wrong secret',
      { grant_type: 'client_credentials', client_id: 'demo-app', client_secret: 'hunter2' },
      {},
      'token_request refused wrong_secret demo-app null 198.51.100.7',
    ],
    [
      'an unknown client',
      { grant_type: 'client_credentials', client_id: 'hunter2', client_secret: 'hunter2' },
      {},
      'token_request refused unknown_client null null 198.51.100.7',
    ],
  ];
  for (const [name, body, headers, expected] of cases) {
    test(`audits a token request for ${name}`, async () => {
      const { entries } = await ask(body, headers);
      assert.deepEqual(entries.map(summaryOf), [expected]);
      assert.equal(entries[0]?.name_hash?.length, expected.includes(' unknown_') ? 32 : undefined);
      const ofService = expected.includes('unknown_client');
      assert.equal(entries[0]?.institution_id, ofService ? wholeService : lakeside.institutionId);
    });
  }

  test('audits a token request with caller, address, client and outcome', async () => {
    await service.service.context.auth.audit.settle();
    const rows = await service.db.superuser<{ row: string }>('select t::text as row from audit_entries t');
    assert.ok(rows.length >= cases.length);
    assert.deepEqual(
      rows.filter(({ row }) => /hunter2|lantern|-secret|eyJ|member-password/.test(row)),
      [],
    );
  });
});

test('audits the lock with the fifth wrong password', async () => {
  const body = { grant_type: 'password', ...app, username: 'wren.many', password: 'wrong' };
  for (let tries = 1; tries <= 4; tries += 1) {
    const { entries } = await ask(body);
    assert.deepEqual(
      entries.map((entry) => entry.action),
      ['login'],
      `try ${tries}`,
    );
  }
  const { entries } = await ask(body);
  assert.deepEqual(entries.map((entry) => `${entry.action} ${entry.user_id}`).toSorted(), [
    'login u-wren-many',
    'user.locked u-wren-many',
  ]);
  const after = await ask({ ...body, password: 'wren-many-lantern-18' });
  assert.deepEqual(
    after.entries.map((entry) => entry.reason),
    ['locked'],
  );
});

test('audits registering and activating with user and client, refused ones too', async () => {
  const client = await clientOf(service);
  const call = async (path: string, body: object, transactionId: string) => {
    const reply = await client.post(path, body, { transactionId, ...proxy });
    return { reply, entries: (await entriesOf(transactionId)).map(summaryOf) };
  };
  const member = { memberNumber: '100016', email: 'poppy.newcomer@example.test' };
  const registered = await call(paths.register, member, 'register-1');
  const { userId } = registered.reply.body;
  assert.deepEqual(registered.entries, [`user.registered succeeded null demo-app ${userId} 198.51.100.7`]);
  const again = await call(paths.register, member, 'register-2');
  assert.deepEqual(again.entries, [
    'user.registered refused member_already_registered demo-app null 198.51.100.7',
  ]);

  const { auth } = service.service.context;
  const operator = commandOf('olga');
  const issued = await reissueActivation(auth, lakeside.institutionId, { name: userId, origin: operator });
  const activation = { username: 'poppy.new', password: 'seven lanterns by the lake' };
  const wrong = await call(paths.activate, { ...activation, activationCode: 'wrong' }, 'activate-1');
  assert.deepEqual(wrong.entries, [
    'user.activated refused activation_code_invalid demo-app null 198.51.100.7',
  ]);
  const right = await call(
    paths.activate,
    { ...activation, activationCode: issued?.code ?? '' },
    'activate-2',
  );
  assert.deepEqual(right.entries, [`user.activated succeeded null demo-app ${userId} 198.51.100.7`]);
});

test('audits an operator’s commands with the operator and the user concerned', async () => {
  const { auth } = service.service.context;
  const { institutionId } = lakeside;
  const by = (transactionId: string) => commandOf('olga', { transactionId, sudoUser: 'ola' });
  const name = 'olive.euro';
  await setStanding(auth, institutionId, { name, lockedByOperator: true, origin: by('op-1') });
  await setStanding(auth, institutionId, { name, lockedByOperator: false, origin: by('op-2') });
  await setStanding(auth, institutionId, { name, active: false, origin: by('op-3') });
  await setStanding(auth, institutionId, { name, active: true, origin: by('op-4') });
  await setPassword(auth, lakeside.institutionId, {
    name,
    password: 'nine lanterns by the lake',
    origin: by('op-5'),
  });
  await reissueActivation(auth, institutionId, { name, origin: by('op-6') });
  await createClient(
    auth,
    { institutionId, clientId: 'audited-app', name: 'x', scopes: [], grants: ['client_credentials'] },
    by('op-7'),
  );
  await auth.keys.rotate('soon', by('op-8'));
  const entries = (await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map((n) => entriesOf(`op-${n}`)))).flat();
  assert.deepEqual(
    entries.map((entry) =>
      [
        entry.action,
        entry.operator,
        entry.operator_host,
        entry.sudo_user,
        entry.user_id ?? entry.client_id,
      ].join(' '),
    ),
    [
      'user.locked olga teller-1 ola u-olive-euro',
      'user.unlocked olga teller-1 ola u-olive-euro',
      'user.deactivated olga teller-1 ola u-olive-euro',
      'user.reactivated olga teller-1 ola u-olive-euro',
      'user.password_set olga teller-1 ola u-olive-euro',
      'user.activation_code_issued olga teller-1 ola u-olive-euro',
      'client.created olga teller-1 ola audited-app',
      'key.created olga teller-1 ola ',
    ],
  );
  assert.match(entries.at(-1)?.subject ?? '', /^[0-9a-f-]{36}$/);
});

describe('audit of acts on transfers', () => {
  const member = () => memberOf(service, 'demo.member', 'demo-member-password');
  const order = (id: string, amount: number) => ({
    id,
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1003-checking',
    amount,
  });
  const acts = async (subject: string) => {
    const rows = await service.db.superuser<Row & { before_change: object; after_change: object }>(
      'select * from audit_entries where subject = $1 order by audit_key',
      [subject],
    );
    return rows.map((row) => [
      [row.action, row.outcome, row.reason, row.operator ?? row.user_id, row.address].map(String).join(' '),
      row.before_change,
      row.after_change,
    ]);
  };
  const kept = async (id: string) =>
    (
      await service.db.superuser(
        `select client_id, user_key is not null as by_member, operator, host(address) as address, request_id
         from transfers where transfer_id = $1`,
        [id],
      )
    )[0];

  test('stores the caller’s address and request id with a transfer, and audits its cancellation', async () => {
    const caller = await member();
    const headers = (transactionId: string) => ({ transactionId, ...proxy });
    const held = await caller.post(paths.transfers, order('audited-1', 1200), headers('order-1'));
    assert.equal(held.body.status, 'PENDING', held.text);
    assert.deepEqual(await kept('audited-1'), {
      client_id: 'demo-app',
      by_member: true,
      operator: null,
      address: '198.51.100.7',
      request_id: 'order-1',
    });
    await caller.post(`${paths.transfers}/audited-1/cancel`, {}, headers('cancel-1'));
    await caller.post(`${paths.transfers}/audited-1/cancel`, {}, headers('cancel-2'));
    assert.deepEqual(await acts('audited-1'), [
      [
        'transfer.cancelled succeeded null u-demo-member 198.51.100.7',
        { status: 'PENDING' },
        { status: 'FAILED', failureCode: 'transfer_cancelled' },
      ],
    ]);
  });

  test('audits an approval, a refused one, a decline and a reversal as the operator’s', async () => {
    await using desk = await deskOf(service);
    const { institutionId } = desk;
    const caller = await member();
    await caller.post(paths.transfers, order('audited-2', 1200));
    await caller.post(paths.transfers, order('audited-3', 1200));
    const review = (id: string, kind: 'approve' | 'decline') =>
      reviewTransfer(desk.desk, institutionId, { transferId: id, act: { kind, origin: commandOf('olga') } });
    await review('audited-2', 'approve');
    await review('audited-2', 'approve');
    await review('audited-3', 'decline');
    const reverse = (transferId: string) =>
      reverseTransfer(desk.desk, institutionId, {
        originalId: 'audited-2',
        transferId,
        origin: commandOf('ivan', { transactionId: `command-${transferId}` }),
      });
    await reverse('audited-4');
    await reverse('audited-4');
    const seen = async (id: string) => (await caller.get(`${paths.transfers}/${id}`)).body;
    assert.equal((await seen('audited-2')).reversedBy, 'audited-4');
    assert.equal((await seen('audited-4')).reverses, 'audited-2', 'its payer sees the reversal');
    const listed = (await (await clientOf(service)).get(paths.transfers)).body as Record<string, string>[];
    assert.deepEqual(
      listed.flatMap(({ id, reverses, reversedBy }) =>
        reverses || reversedBy ? [[id, reverses, reversedBy].map(String).join(' ')] : [],
      ),
      ['audited-4 audited-2 undefined', 'audited-2 undefined audited-4'],
    );
    const { body: history } = await caller.get(`${paths.accounts}/a-1001-checking/transactions`);
    assert.ok((history as { transferId?: string }[]).some(({ transferId }) => transferId === 'audited-4'));
    const [summaryOf] = await service.db.superuser<{ data: object }>(
      `select o.data from outbox o join transfers t using (institution_id)
       where t.transfer_id = 'audited-4' and o.subject_key = t.transfer_key`,
    );
    assert.deepEqual(summaryOf?.data, { reverses: 'audited-2', operator: 'ivan' });
    await reverse('audited-5');
    assert.deepEqual(await acts('audited-2'), [
      [
        'transfer.approved succeeded null olga null',
        { status: 'PENDING', approvedBy: [] },
        { status: 'COMPLETED', approvedBy: [['olga']] },
      ],
      ['transfer.approved refused final olga null', null, null],
      ['transfer.reversed succeeded null ivan null', {}, { status: 'COMPLETED', reversedBy: 'audited-4' }],
      ['transfer.reversed refused not_reversible ivan null', null, null],
    ]);
    assert.deepEqual(await acts('audited-3'), [
      [
        'transfer.declined succeeded null olga null',
        { status: 'PENDING', approvedBy: [] },
        { status: 'FAILED', failureCode: 'transfer_declined', approvedBy: [] },
      ],
    ]);
    assert.deepEqual(await kept('audited-4'), {
      client_id: null,
      by_member: false,
      operator: 'ivan',
      address: null,
      request_id: 'command-audited-4',
    });
  });
});

test('audits a change of contact with the caller and the fields, and without personal data', async () => {
  const caller = await memberOf(service, 'demo.member', 'demo-member-password');
  const headers = { transactionId: 'contact-1', ...proxy };
  const change = { emailAddress: 'audited@example.test', phoneNumber: '+1 202 555 0188' };
  const { status, text } = await caller.patch(`${paths.customer('c-1001')}/contact-info`, change, headers);
  assert.equal(status, 200, text);
  const [row] = await service.db.superuser<{ row: string; after_change: object }>(
    `select a::text as row, after_change from audit_entries a where action = 'user.contact_changed'`,
  );
  assert.match(row?.row ?? '', /demo-app,u-demo-member.*198\.51\.100\.7.*contact-1/);
  assert.deepEqual(row?.after_change, { changed: ['emailAddress', 'phoneNumber MOBILE'] });
  assert.doesNotMatch(row?.row ?? '', /audited@|555/);
});

test('audits a change with the old and new values, and a typed name only in a demo', async () => {
  const { database } = service.service.context;
  const entry = {
    action: 'institution.changed',
    outcome: 'succeeded',
    before: { openingDepositMinor: 50_000n, enrollment: 'open' },
    after: { openingDepositMinor: 0n, enrollment: 'closed' },
    origin: commandOf('root', { transactionId: 'typed-1', as: 'Ann "A" Lee' }),
  } as const;
  const append = () => database.transaction(lakeside.institutionId, (tx) => appendAudit(tx, entry, at));
  await append();
  const found: object[] = [];
  for await (const { action, before, after, origin } of readAudit(database, lakeside.institutionId, {
    transactionId: 'typed-1',
  }))
    found.push({ action, before, after, operator: origin.operator });
  assert.deepEqual(found, [
    {
      action: 'institution.changed',
      before: { openingDepositMinor: '50000', enrollment: 'open' },
      after: { openingDepositMinor: '0', enrollment: 'closed' },
      operator: { user: 'root', host: 'teller-1', as: 'Ann "A" Lee' },
    },
  ]);
  const demo = (is: boolean) =>
    service.db.superuser('update institutions set demo = $1 where institution_id = $2', [
      is,
      lakeside.institutionId,
    ]);
  await demo(false);
  try {
    await assert.rejects(append(), {
      code: 'SD020',
      message: /only a demo institution accepts a typed operator name/,
    });
  } finally {
    await demo(true);
  }
});

describe('floods of refusals', () => {
  const refusal = (n: number): AuditEntry => ({
    action: 'login',
    outcome: 'refused',
    reason: 'unknown_user',
    origin: { transactionId: `flood-${n}`, address: `2001:db8::${n.toString(16)}` },
    nameHash: Buffer.alloc(32, n),
  });
  const rows = () =>
    service.db.superuser<{ rows: bigint; times: bigint }>(
      "select count(*) as rows, sum(times) as times from audit_entries where transaction_id like 'flood-%'",
    );

  test('audits a flood of refusals of one kind in two rows a minute with their number', async () => {
    const { database } = service.service.context;
    const trail = new AuditTrail({ database, clock: () => at });
    for (let n = 0; n < 2_000; n += 1) trail.note(lakeside.institutionId, refusal(1));
    await trail.close();
    assert.deepEqual(await rows(), [{ rows: 2n, times: 2_000n }]);
  });

  test('audits refusals of changing names and addresses separately up to a number, and counts the rest', async () => {
    await service.db.superuser("delete from audit_entries where transaction_id like 'flood-%'");
    const { database } = service.service.context;
    const trail = new AuditTrail({ database, clock: () => at, mostKinds: 50 });
    for (let n = 0; n < 2_000; n += 1) trail.note(lakeside.institutionId, refusal(n));
    await trail.close();
    const [found] = await rows();
    assert.equal(found?.times, 2_000n);
    assert.equal(found?.rows, 52n);
  });

  test('audits refusals of unknown names without hiding the caller and address of other refusals', async () => {
    await service.db.superuser("delete from audit_entries where transaction_id like 'flood-%'");
    const { database } = service.service.context;
    const trail = new AuditTrail({ database, clock: () => at, mostKinds: 50 });
    for (let n = 0; n < 100; n += 1) trail.note(lakeside.institutionId, refusal(n));
    for (let n = 0; n < 100; n += 1) {
      const { nameHash: _, ...known } = refusal(n);
      trail.note(lakeside.institutionId, { ...known, reason: 'wrong_password', userId: `u-${n}` });
    }
    await trail.close();
    const [found] = await service.db.superuser<{ users: bigint; addresses: bigint }>(
      `select count(distinct user_id) as users, count(distinct address) as addresses from audit_entries
       where transaction_id like 'flood-%' and reason = 'wrong_password'`,
    );
    assert.deepEqual(found, { users: 100n, addresses: 100n });
  });

  test('continues to audit after the database refused a row', async () => {
    const { database } = service.service.context;
    const failures: unknown[] = [];
    const trail = new AuditTrail({ database, clock: () => at, onError: (error) => failures.push(error) });
    trail.note(lakeside.institutionId, { ...refusal(1), reason: 'NOT A WORD OF OURS' });
    await trail.settle();
    trail.note(lakeside.institutionId, {
      ...refusal(2),
      origin: { transactionId: 'after-1', address: null },
    });
    await trail.close();
    assert.equal(failures.length, 1);
    assert.equal((await entriesOf('after-1')).length, 1);
  });

  test('writes the entries beside one that the database refuses', async () => {
    const { database } = service.service.context;
    const failures: unknown[] = [];
    const trail = new AuditTrail({ database, clock: () => at, onError: (error) => failures.push(error) });
    const named = (transactionId: string, n: number, reason: string) => ({
      ...refusal(n),
      reason,
      origin: { transactionId, address: null },
    });
    // The first is written alone; the others wait for it, and are one batch.
    trail.note(lakeside.institutionId, named('beside-1', 1, 'unknown_user'));
    trail.note(lakeside.institutionId, named('beside-2', 2, 'NOT A WORD OF OURS'));
    trail.note(lakeside.institutionId, named('beside-3', 3, 'unknown_user'));
    await trail.close();
    assert.equal(failures.length, 1);
    for (const written of ['beside-1', 'beside-3']) assert.equal((await entriesOf(written)).length, 1);
  });
});

describe('reads of members’ data', () => {
  const read = (subject: string, user: string): AuditEntry => ({
    action: 'account.read',
    outcome: 'succeeded',
    reason: 'entries',
    subject,
    // As by a command: the row needs no operator of the institution.
    origin: { transactionId: 'reads', address: null, operator: { user } },
  });
  const rows = () =>
    service.db.superuser<{ operator: string; subject: string; times: number }>(
      `select operator, subject, times from audit_entries where transaction_id = 'reads' order by audit_key`,
    );

  test('an entry of each read stands before it is shown, and those repeated within the minute are counted in a second one', async () => {
    const { database } = service.service.context;
    const trail = new AuditTrail({ database, clock: () => at });
    await trail.noteRead(lakeside.institutionId, read('a-1', 'ada'));
    assert.deepEqual(await rows(), [{ operator: 'ada', subject: 'a-1', times: 1 }]);
    for (let n = 0; n < 30; n += 1) await trail.noteRead(lakeside.institutionId, read('a-1', 'ada'));
    await trail.noteRead(lakeside.institutionId, read('a-1', 'bea'));
    await trail.noteRead(lakeside.institutionId, read('a-2', 'ada'));
    await trail.settle();
    await trail.noteRead(lakeside.institutionId, read('a-1', 'ada'));
    await trail.close();
    assert.deepEqual(
      (await rows()).map(({ operator, subject, times }) => `${operator} ${subject} ${times}`),
      ['ada a-1 1', 'bea a-1 1', 'ada a-2 1', 'ada a-1 30', 'ada a-1 1'],
    );
  });

  test('a read whose entry cannot be written is refused, and so are those that waited for the entry; the next one is written', async () => {
    await service.db.superuser("delete from audit_entries where transaction_id = 'reads'");
    const { database } = service.service.context;
    let isAway = true;
    const write: Database['write'] = (institutionId, work) =>
      isAway ? Promise.reject(new Error('The database is away.')) : database.write(institutionId, work);
    const trail = new AuditTrail({ database: { write } as Database, clock: () => at });
    const both = await Promise.allSettled([
      trail.noteRead(lakeside.institutionId, read('a-1', 'ada')),
      trail.noteRead(lakeside.institutionId, read('a-1', 'ada')),
    ]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
    isAway = false;
    await trail.noteRead(lakeside.institutionId, read('a-1', 'ada'));
    await trail.close();
    assert.deepEqual(await rows(), [{ operator: 'ada', subject: 'a-1', times: 1 }]);
  });

  test('more kinds of reads than a process counts are written one by one', async () => {
    await service.db.superuser("delete from audit_entries where transaction_id = 'reads'");
    const { database } = service.service.context;
    const trail = new AuditTrail({ database, clock: () => at, mostKinds: 0 });
    for (let n = 0; n < 3; n += 1) await trail.noteRead(lakeside.institutionId, read('a-1', 'ada'));
    await trail.close();
    assert.equal((await rows()).length, 3);
  });
});

describe('audit entries', () => {
  const run = (text: string) =>
    service.service.context.database.read(lakeside.institutionId, (db) => db.query(sql('', text)));

  test('the service’s role cannot change or delete audit entries', async () => {
    for (const text of [
      'update audit_entries set times = 2',
      'delete from audit_entries',
      'truncate audit_entries',
    ]) {
      await assert.rejects(run(text), /permission denied/, text);
    }
  });

  test('another institution cannot see or write audit entries', async () => {
    const harbor = await service.service.context.database.directory((db) =>
      findInstitutionByCode(db, 'harbor'),
    );
    const { database } = service.service.context;
    const seen = await database.read(harbor?.institutionId as never, (db) =>
      db.query(sql('', `select from audit_entries where institution_id = ${lakeside.institutionId}`)),
    );
    assert.equal(seen.rowCount, 0);
    await assert.rejects(
      run(
        `insert into audit_entries (institution_id, recorded_at, action, outcome, transaction_id, times)
         values (0, '2026-03-02Z', 'login', 'refused', 'x', 1)`,
      ),
      /row-level security/,
    );
  });
});

test('audits a login before its token is sent, as the login of one user', async () => {
  await memberOf(service, 'demo.member', 'demo-member-password');
  const [last] = await service.db.superuser<Row>(
    "select * from audit_entries where action = 'login' and outcome = 'succeeded' order by audit_key desc limit 1",
  );
  assert.equal(last?.user_id, 'u-demo-member');
});
