import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { password, Sharedraft } from '../../client/src/index.ts';
import { demoAddress, operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';

/* A member as operators see them: the means of sign-in, the alerts, and the last events of the login. */

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const demo = { username: 'demo.member', password: 'demo-member-password' };
/** Rows about the member: a statement that has the member's row of `users` as u. */
const insert = (table: string, columns: string, values: string, rows = '') =>
  service.db.superuser(
    `insert into ${table} (institution_id, user_key, ${columns})
     select u.institution_id, u.user_key, ${values} from users u join institutions i on i.institution_id = u.institution_id and i.code = 'lakeside'${rows}
     where u.username = 'demo.member'`,
  );
let service: TestService;
let member: Sharedraft;
let viewer: TestOperator;
let teller: TestOperator;
let person: { readonly personId: string; readonly userId: string };

before(async () => {
  service = await startTestService({ environment: demoAddress });
  member = new Sharedraft({ baseUrl: service.address, auth: password(app, demo) });
  viewer = await operatorOf(service, 'Demo viewer');
  teller = await operatorOf(service, 'Demo teller');
  [person] = (await viewer.get('/members?text=demo.member')).body;
});
after(() => service.close());

const shown = async (operator = viewer) => (await operator.get(`/members/${person.personId}`)).body;

test('shows passkeys, the authenticator app and browsers by name and place, and none of their secrets', async () => {
  await insert(
    'passkeys',
    'passkey_id, credential_id, place, public_key, sign_count, is_synced, name, created_at',
    `gen_random_uuid(), 'credential-id', 1, 'public-key', 7, true, 'Blue phone', now()`,
  );
  await insert(
    'authenticators',
    'authenticator_id, name, sealed_secret, last_step, created_at',
    `gen_random_uuid(), 'Green app', decode(repeat('5a', 48), 'hex'), 7, now()`,
  );
  await insert(
    'member_sessions',
    'session_id, secret_hash, user_epoch, methods, authenticated_at, created_at, last_used_at, expires_at, address, user_agent',
    `gen_random_uuid(), decode(repeat('5b', 32), 'hex'), u.token_epoch, '{pwd}', now(), now(), now(), now() + interval '1 hour',
     '192.0.2.7', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'`,
  );
  const found = await shown();
  assert.deepEqual(Object.keys(found.passkeys[0]), ['name', 'isSynced', 'createdAt', 'lastUsedAt']);
  assert.equal(found.passkeys[0].name, 'Blue phone');
  assert.deepEqual(Object.keys(found.authenticator), ['name', 'createdAt', 'lastUsedAt', 'recoveryCodes']);
  assert.deepEqual([found.authenticator.name, found.authenticator.recoveryCodes], ['Green app', 0]);
  const browser = found.sessions.find(({ clientId }: { clientId: string | null }) => clientId === null);
  assert.deepEqual([browser.device, browser.address], ['Firefox on Linux', '192.0.2.7']);
  assert.doesNotMatch(JSON.stringify(found), /5a5a|5b5b|WlpaW|W1tb|credential|public-?key|Gecko/i);

  const elsewhere = await (await operatorOf(service, 'Demo viewer', 'harbor')).get(
    `/members/${person.personId}`,
  );
  assert.doesNotMatch(JSON.stringify(elsewhere.body), /Blue phone|Green app|192\.0\.2\.7/);
});

test('shows known devices by kind, app and days, those from before without a kind, and no mark of any', async () => {
  await insert(
    'user_devices',
    'device_hash, first_seen_at, last_seen_at, kind, client_id',
    `decode(repeat('5e', 32), 'hex'), now(), now(), 'APP_WITHOUT_ID', 'demo-app'`,
  );
  await insert(
    'user_devices',
    'device_hash, first_seen_at, last_seen_at, kind, client_id, name',
    `decode(repeat('5c', 32), 'hex'), now() - interval '9 days', now() - interval '2 days', 'BROWSER', 'demo-app', 'Firefox on Linux'`,
  );
  await insert(
    'user_devices',
    'device_hash, first_seen_at, last_seen_at',
    `decode(repeat('5d', 32), 'hex'), now() - interval '9 days', now() - interval '3 days'`,
  );
  const { devices } = await shown();
  assert.deepEqual(
    devices.map(({ kind, clientName, name }: Record<string, unknown>) => [kind, clientName, name]),
    [
      ['APP_WITHOUT_ID', devices[0].clientName, null],
      ['BROWSER', devices[0].clientName, 'Firefox on Linux'],
      [null, null, null],
    ],
  );
  assert.equal(typeof devices[0].clientName, 'string');
  assert.deepEqual(Object.keys(devices[0]), ['kind', 'clientName', 'name', 'firstSeenAt', 'lastSeenAt']);
  assert.ok(devices[1].firstSeenAt < devices[1].lastSeenAt);
  assert.doesNotMatch(JSON.stringify(devices), /5c5c|5d5d|5e5e|XFxc/);
});

test('shows whether an account is closed, restricted or delinquent', async () => {
  const state = async () => {
    const { accounts } = await shown();
    const { closed, delinquent, operatorRestriction, coreRestriction } = accounts.find(
      ({ accountId }: { readonly accountId: string }) => accountId === 'a-1001-savings',
    );
    return { closed, delinquent, operatorRestriction, coreRestriction };
  };
  const open = { closed: false, delinquent: false, operatorRestriction: null, coreRestriction: null };
  assert.deepEqual(await state(), open);
  const set = (values: string) =>
    service.db.superuser(
      `update accounts set ${values} where account_id = 'a-1001-savings'
       and institution_id = (select institution_id from institutions where code = 'lakeside')`,
    );
  await set(`delinquent = true, transfer_restriction = 'EXCLUDE_AS_TO'`);
  await teller.post('/accounts/a-1001-savings/restrict', { restriction: 'EXCLUDE_ALL', reason: 'a test' });
  assert.deepEqual(await state(), {
    ...{
      closed: false,
      delinquent: true,
      operatorRestriction: 'EXCLUDE_ALL',
      coreRestriction: 'EXCLUDE_AS_TO',
    },
  });
  await teller.post('/accounts/a-1001-savings/restrict', { restriction: 'NONE', reason: 'a test' });
  await set('delinquent = false, transfer_restriction = null');
  assert.deepEqual(await state(), open);
});

test('finds a member by the first name alone in the own institution, for roles that read members, with an audit entry', async () => {
  const searches = async () =>
    (
      await service.db.superuser(
        `select after_change from audit_entries where action = 'person.searched' order by audit_key`,
      )
    ).length;
  const before = await searches();
  for (const path of ['/members?text=wilLow', '/members?text=willow&by=name', '/search?text=Willow']) {
    const { body } = await viewer.get(path);
    assert.deepEqual(
      (body.members ?? body).map((one: { personId: string }) => one.personId),
      [person.personId],
      path,
    );
  }
  assert.equal(await searches(), before + 3);
  const elsewhere = await operatorOf(service, 'Demo viewer', 'harbor');
  assert.deepEqual((await elsewhere.get('/members?text=willow')).body, []);
  const administrator = await operatorOf(service, 'Demo administrator');
  assert.equal((await administrator.get('/members?text=willow')).status, 403);
});

test('finds the member of a username first, and behind them the members of this first name, page by page', async () => {
  const [other] = await service.db.superuser<{ person_id: string }>(
    `update users u set username = 'Willow'
     from persons p, institutions i
     where i.code = 'lakeside' and u.institution_id = i.institution_id and u.username is not null and u.username <> 'demo.member'
       and p.institution_id = u.institution_id and p.person_key = u.person_key and p.first_name <> 'Willow'
       and u.user_key = (select max(o.user_key) from users o where o.institution_id = u.institution_id and o.username is not null)
     returning p.person_id`,
  );
  assert.ok(other !== undefined, 'another member has a username');
  const found = async (path: string): Promise<string[]> => {
    const { body } = await viewer.get(path);
    return (body.members ?? body).map((one: { personId: string }) => one.personId);
  };
  const both = [other.person_id, person.personId];
  assert.deepEqual(await found('/search?text=willow'), both);
  assert.deepEqual(await found('/members?text=willow'), both);
  assert.deepEqual(await found('/members?text=willow&limit=1'), both.slice(0, 1));
  assert.deepEqual(await found(`/members?text=willow&limit=1&afterPerson=${both[0]}`), both.slice(1));
  assert.deepEqual(await found(`/members?text=willow&afterPerson=${both[1]}`), []);
  assert.deepEqual(await found('/members?text=willow&by=username'), both.slice(0, 1));
  assert.deepEqual(await found('/members?text=willow&by=name'), both.slice(1));
  // The username of a member is no second person of the name.
  assert.deepEqual(await found(`/search?text=${encodeURIComponent('Willow Testerman')}`), both.slice(1));
});

test('removes the authenticator app for a teller, once, and leaves the passkeys', async () => {
  const path = `/users/${person.userId}/remove-second-factor`;
  assert.equal((await viewer.post(path, { reason: 'a test' })).status, 403);
  const first = await teller.post(path, { reason: 'The phone is lost' });
  const second = await teller.post(path, { reason: 'The phone is lost' });
  assert.deepEqual([first.body, second.body], [{ changed: true }, { changed: false }]);
  const { authenticator, passkeys } = await shown();
  assert.deepEqual([authenticator, passkeys.length], [null, 1]);
});

test('shows the alerts that a member chose and the last that went out, also by mail alone', async () => {
  assert.equal((await shown()).alerts.settings, null);
  await member.alerts.replacePreferences({
    alerts: [
      { alertType: 'LOW_BALANCE', accountId: 'a-1001-checking', threshold: '25.50', channels: ['EMAIL'] },
    ],
    quietHours: { from: '22:00', to: '07:00' },
  });
  await insert(
    'alerts',
    'alert_id, alert_type, event_id, occurred_at, recorded_at, channels, due_at, released_at',
    `gen_random_uuid(), 'PASSWORD_CHANGED', '1-1-' || one.event, now(), now(), '{EMAIL}', now() + interval '1 day', one.sent`,
    `, (values (1, now()), (2, null)) as one (event, sent)`,
  );
  const { settings, rules, last } = (await shown()).alerts;
  assert.deepEqual([settings.quietFrom, settings.quietTo], ['22:00', '07:00']);
  assert.deepEqual(rules, [
    {
      alertType: 'LOW_BALANCE',
      accountId: 'a-1001-checking',
      threshold: '25.50',
      currency: 'USD',
      channels: ['EMAIL'],
    },
  ]);
  const passwords = last.filter(({ alertType }: { alertType: string }) => alertType === 'PASSWORD_CHANGED');
  assert.equal(passwords.length, 1, 'the one that has not gone out is left out');
  assert.deepEqual([passwords[0].channels, passwords[0].accountId], [['EMAIL'], null]);
});

test('shows the last events of a login without the name, address and words of operators, and without reads', async () => {
  await member.accounts.list();
  const reason = { reason: 'called from a strange number' };
  for (const act of ['lock', 'unlock']) await teller.post(`/users/${person.userId}/${act}`, reason);
  const found = await shown();
  interface Act {
    readonly action: string;
    readonly isByOperator: boolean;
    readonly address: string | null;
    readonly clientName: string | null;
  }
  const activity: readonly Act[] = found.activity;
  const acts = activity.filter(({ isByOperator }) => isByOperator);
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['user.unlocked', 'user.locked', 'user.second_factor_removed'],
  );
  assert.ok(acts.every(({ address }) => address === null));
  const login = activity.find(({ action }) => action === 'login');
  assert.equal(login?.address, '127.0.0.1');
  assert.ok(login?.clientName);
  assert.ok(!activity.some(({ action }) => action.endsWith('.read')));
  assert.doesNotMatch(JSON.stringify(found), /strange number|Demo teller|The phone is lost/);
});

test('shows no means, alerts or events of a person who has not registered', async () => {
  const [unregistered] = await service.db.superuser<{ person_id: string }>(
    `select p.person_id from persons p join institutions i using (institution_id)
     where i.code = 'lakeside' and not exists (
       select from users u where u.institution_id = p.institution_id and u.person_key = p.person_key) limit 1`,
  );
  assert.ok(unregistered);
  const { body } = await viewer.get(`/members/${unregistered.person_id}`);
  assert.deepEqual(
    [body.login, body.passkeys, body.authenticator, body.alerts, body.activity],
    [null, [], null, null, []],
  );
});
