import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { commandsOn } from '../support/commands.ts';
import { memberOf, paths } from '../support/demo.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let run: ReturnType<typeof commandsOn>;
before(async () => {
  service = await startTestService();
  run = commandsOn(service.db);
});
after(() => service.close());

const lakeside = ['--institution', 'lakeside'];
const member = (...words: string[]) => run('member', ...words, ...lakeside);

async function found(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await member('find', ...words, '--json');
  assert.equal(code, 0, stderr);
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).personId);
}
const shown = async (text: string) => JSON.parse((await member('show', text, '--json')).stdout);
const audited = (action: string) =>
  service.db.superuser<Record<string, unknown>>(
    'select user_id, subject, stated_reason, name_hash is not null as hashed, before_change, after_change from audit_entries where action = $1 order by audit_key',
    [action],
  );

for (const [text, persons] of [
  ['100002', ['p-1003', 'p-1002']],
  ['WILLOW.testerman@example.test', ['p-1001']],
  ['demo.member', ['p-1001']],
  ['DEMO.MEMBER', ['p-1001']],
  ['p-1002', ['p-1002']],
  ['a-1001-checking', ['p-1001']],
  ['samplewick', ['p-1003', 'p-1002']],
  ['Samplewick, P', ['p-1002']],
  ['Fern Sample', ['p-1003']],
  ['fern', ['p-1003']],
  // Last names first, then first names: Mockingford, Meadow; nobody twice.
  ['m', ['p-1004', 'p-1005', 'p-1008', 'p-1036', 'p-1014']],
  ['Fern,', []],
  ['nobody at all', []],
  ['%', []],
] as const) {
  test(`finds ${persons.join(' and ') || 'no person'} by "${text}"`, async () => {
    assert.deepEqual(await found(text), persons);
  });
}

test('finds only by the named kind', async () => {
  assert.deepEqual(await found('100002', '--by', 'email'), []);
  assert.deepEqual(await found('100002', '--by', 'member-number'), ['p-1003', 'p-1002']);
});

test('pages by name in order, without a gap or a repeat', async () => {
  const all = await found('', '--by', 'name', '--limit', '200');
  assert.ok(all.length > 15);
  const paged: string[] = [];
  for (let after: string[] = []; ; after = ['--after', paged.at(-1) as string]) {
    const page = await found('', '--by', 'name', '--limit', '7', ...after);
    paged.push(...page);
    if (page.length < 7) break;
  }
  assert.deepEqual(paged, all);
});

test('pages through last names and first names, without a gap or a repeat', async () => {
  const all = await found('s', '--by', 'name', '--limit', '200');
  // Samplewick twice, Sharemail twice, Stubbington three times; then the first name Sage.
  assert.equal(all.length, 8);
  assert.equal(all.at(-1), 'p-1017');
  for (const size of [1, 2, 3, 7]) {
    const paged: string[] = [];
    for (let after: string[] = []; ; after = ['--after', paged.at(-1) as string]) {
      const page = await found('s', '--by', 'name', '--limit', String(size), ...after);
      paged.push(...page);
      if (page.length < size) break;
    }
    assert.deepEqual(paged, all, `pages of ${size}`);
  }
});

test('audits a search by the hash of its text and the number of persons, and never the text', async () => {
  const before = (await audited('person.searched')).length;
  await found('Samplewick');
  const [entry] = (await audited('person.searched')).slice(before);
  assert.deepEqual(entry, {
    user_id: null,
    subject: null,
    stated_reason: null,
    hashed: true,
    before_change: null,
    after_change: { found: 2 },
  });
});

test('shows a person with memberships, accounts, login and sessions, and audits the read', async () => {
  const document = await shown('demo.member');
  assert.deepEqual(Object.keys(document), [
    ...['personId', 'firstName', 'lastName', 'email', 'phoneNumber', 'birthDate', 'selfDeclared'],
    ...['memberships', 'accounts', 'login', 'sessions', 'consents'],
    ...['passkeys', 'authenticator', 'devices', 'alerts', 'activity'],
  ]);
  assert.equal(document.login.state, 'active');
  assert.equal(document.memberships[0].memberNumber, '100001');
  const savings = document.accounts.find((one: { accountId: string }) => one.accountId === 'a-1001-savings');
  assert.deepEqual([savings.balance, savings.mayPay], ['12600.00', true]);
  const [read] = await audited('person.read');
  assert.deepEqual([read?.subject, read?.user_id], ['p-1001', document.login.userId]);
  const table = (await member('show', 'demo.member')).stdout;
  assert.match(table, /^login +active$/m);
  assert.match(table, /a-1001-savings +SAVINGS/);
});

test('shows the consents of a member that are in force', async () => {
  const consent = `insert into consents (institution_id, consent_id, client_id, user_key, scopes, granted_at, expires_at)
    select u.institution_id, gen_random_uuid(), 'demo-app', u.user_key, '{account:read}', now(), now() + $1::interval
    from users u join institutions i using (institution_id) where i.code = 'lakeside' and u.username = 'demo.member'`;
  await service.db.superuser(consent, ['90 days']);
  const { consents } = await shown('demo.member');
  assert.deepEqual(
    consents.map((one: Record<string, unknown>) => [one.clientId, one.scopes]),
    [['demo-app', ['account:read']]],
  );
  assert.match((await member('show', 'demo.member')).stdout, /Consents in force\n +consent +client/);
  await service.db.superuser(`update consents set ended_at = now(), ended_by = 'MEMBER'`);
  assert.deepEqual((await shown('demo.member')).consents, []);
});

test('the table of a member has the means of sign-in, the browsers, the alerts and the last events, briefly', async (t) => {
  await memberOf(service, 'demo.member', 'demo-member-password');
  t.after(async () => {
    for (const table of ['passkeys', 'authenticators', 'member_sessions'])
      await service.db.superuser(`delete from ${table}`);
  });
  const ofDemo = (columns: string, table: string, values: string) =>
    service.db.superuser(
      `insert into ${table} (institution_id, user_key, ${columns})
       select u.institution_id, u.user_key, ${values} from users u join institutions i using (institution_id)
       where i.code = 'lakeside' and u.username = 'demo.member'`,
    );
  await ofDemo(
    'passkey_id, credential_id, place, public_key, sign_count, is_synced, name, created_at',
    'passkeys',
    `gen_random_uuid(), 'credential-id', 1, 'public-key', 7, true, 'Blue phone', now()`,
  );
  await ofDemo(
    'authenticator_id, name, sealed_secret, last_step, created_at',
    'authenticators',
    `gen_random_uuid(), 'Green app', decode(repeat('5a', 48), 'hex'), 7, now()`,
  );
  await ofDemo(
    'session_id, secret_hash, user_epoch, methods, authenticated_at, created_at, last_used_at, expires_at, address, user_agent',
    'member_sessions',
    `gen_random_uuid(), decode(repeat('5b', 32), 'hex'), u.token_epoch, '{pwd}', now(), now(), now(), now() + interval '1 hour',
     '192.0.2.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'`,
  );
  const table = (await member('show', 'demo.member')).stdout;
  assert.match(table, /^authenticator app +Green app, since \S+, never used$/m);
  assert.match(table, /^recovery codes left +0$/m);
  assert.match(table, /^alerts +nothing chosen: security alerts by e-mail/m);
  assert.match(table, /^Passkeys\n +name +added +last used +synced\n +Blue phone +\S+ +yes$/m);
  assert.match(table, /^ +sign-in page .* Firefox on Linux +192\.0\.2\.7/m);
  assert.match(table, /^Alerts about accounts(: none|\n +alert +account)/m);
  assert.match(table, /^Last alerts(: none|\n +sent +alert)/m);
  assert.match(table, /^Last events\n +at +event +outcome +by +address\n +\S+ +login +succeeded/m);
  assert.doesNotMatch(table, /5a5a|5b5b|credential|public-key|Gecko/);
  // A person who has not registered has no parts of a login.
  assert.doesNotMatch((await member('show', 'p-1019')).stdout, /Passkeys|Last events|^alerts/m);
});

test('lists the persons if a member number names several, and fails', async () => {
  const { code, stdout, stderr } = await member('show', '100002');
  assert.equal(code, 1);
  assert.match(stdout, /p-1002/);
  assert.match(stderr, /Several persons match/);
});

test('ends every session of a member, who can sign in again', async () => {
  const caller = await memberOf(service, 'demo.member', 'demo-member-password');
  assert.equal((await caller.get(paths.accounts)).status, 200);
  const ended = await member('end-sessions', 'demo.member', '--reason', 'Phone lost', '--yes');
  assert.equal(ended.code, 0, ended.stderr);
  assert.equal((await caller.get(paths.accounts)).status, 401);
  const again = await memberOf(service, 'demo.member', 'demo-member-password');
  assert.equal((await again.get(paths.accounts)).status, 200);
  const [entry] = await audited('user.sessions_ended');
  assert.equal(entry?.stated_reason, 'Phone lost');
});

test('locks once, names the state on a second click, and audits what changed', async () => {
  await member('lock', 'demo.member', '--reason', 'Call from the member', '--yes');
  assert.match((await member('lock', 'demo.member', '--yes')).stdout, /locked already. Nothing was changed/);
  assert.equal((await shown('demo.member')).login.state, 'locked by an operator');
  assert.match((await member('find', 'demo.member')).stdout, /locked/);
  await member('unlock', 'demo.member');
  assert.match((await member('unlock', 'demo.member')).stdout, /not locked already/);
  const [locked, ...others] = await audited('user.locked');
  assert.deepEqual(others, []);
  assert.deepEqual(
    [locked?.stated_reason, locked?.before_change, locked?.after_change],
    ['Call from the member', { lockedByOperator: false }, { lockedByOperator: true }],
  );
});

test('unlocks a lock by wrong passwords', async () => {
  await service.db.superuser(
    `update users set failed_logins = 5, locked_until = now() + interval '1 hour' where username = 'demo.member'`,
  );
  assert.equal((await shown('demo.member')).login.state, 'locked for a time');
  assert.match((await member('unlock', 'demo.member')).stdout, /is not locked\./);
  const { state, failedLogins } = (await shown('demo.member')).login;
  assert.deepEqual([state, failedLogins], ['active', 0]);
});

for (const [words, code, message] of [
  [['lock', 'demo.member'], 1, /demo.member is locked out.*Confirm with --yes/],
  [['deactivate', 'demo.member'], 1, /is switched off/],
  [['end-sessions', 'demo.member'], 1, /Every session of demo.member ends/],
  [['lock', 'no.such.user', '--yes'], 1, /No user of this institution/],
  [['end-sessions', 'no.such.user', '--yes'], 1, /No user of this institution/],
  [['show', 'no-such-person'], 1, /No person matches/],
  [['find', 'x', '--by', 'shoe-size'], 2, /Allowed choices are member-number/],
  [['find', 'x', '--limit', '201'], 2, /From 1 to 200/],
] as const) {
  test(`sharedraft member ${words.join(' ')} is refused`, async () => {
    const result = await member(...words);
    assert.equal(result.code, code, result.stderr);
    assert.match(result.stderr, message);
  });
}

test('finds and shows nobody of another institution', async () => {
  const olive = 'olive.euroford@example.test';
  assert.deepEqual(await found(olive), ['p-1018']);
  const elsewhere = ['--institution', 'harbor'];
  assert.equal((await run('member', 'find', olive, ...elsewhere)).stdout, 'No person matches.\n');
  const { code, stderr } = await run('member', 'show', olive, ...elsewhere);
  assert.equal(code, 1);
  assert.match(stderr, /No person matches/);
});
