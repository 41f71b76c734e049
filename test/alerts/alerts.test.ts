import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientCredentials, NotFoundError, password, Sharedraft } from '../../client/src/index.ts';
import { runMaintenance } from '../../src/app/background/maintenance.ts';
import { reissueActivation } from '../../src/auth/index.ts';
import { ownOrigin } from '../../src/events/index.ts';
import { checkedFetch } from '../support/contract.ts';
import { institutionOf } from '../support/identity.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const checking = 'a-1001-checking';
let now = Date.parse('2026-03-02T17:00:00Z');
let service: TestService;
let bank: Sharedraft;
let member: Sharedraft;

before(async () => {
  service = await startTestService({ clock: () => new Date(now) });
  const options = { baseUrl: service.address, fetch: checkedFetch };
  bank = new Sharedraft({ ...options, auth: clientCredentials(app) });
  member = memberOf('demo.member', 'demo-member-password');
});
after(() => service.close());

function memberOf(username: string, secret: string): Sharedraft {
  const auth = password(app, { username, password: secret });
  return new Sharedraft({ baseUrl: service.address, fetch: checkedFetch, auth });
}

const pay = (amount: string, fromAccountId = checking, toAccountId = 'a-1001-savings') =>
  member.transfers.create({ fromAccountId, toAccountId, amount });

type Rule = Parameters<Sharedraft['alerts']['replacePreferences']>[0]['alerts'][number];
const want = (...alerts: Rule[]) => member.alerts.replacePreferences({ alerts });

async function inboxOf(someone = member) {
  return (await someone.alerts.list()).items;
}

/** Every event of the feed so far has been evaluated, and its alerts are out. */
async function settled(): Promise<void> {
  await until(async () => {
    const [row] = await service.db.superuser<{ open: boolean }>(
      `select exists (select from outbox o
                      where o.institution_id = i.institution_id
                        and not exists (select from alert_positions p
                                        where p.institution_id = o.institution_id
                                          and (p.epoch, p.xid, p.event_key) >= (o.epoch, o.xid, o.event_key)))
              as open
       from institutions i where i.code = 'lakeside'`,
    );
    return row?.open === false;
  }, 'all events evaluated');
}

/** All alerts in the feed. The feed holds an event back while an older transaction runs, so this waits for the last one. */
async function alertEvents() {
  let events: Awaited<ReturnType<typeof feed>> = [];
  await until(async () => {
    const [row] = await service.db.superuser<{ count: bigint }>(
      `select count(*) from outbox join institutions i using (institution_id) where i.code = 'lakeside'`,
    );
    events = await feed();
    return BigInt(events.length) >= BigInt(row?.count ?? 0);
  }, 'every event in the feed');
  return events.filter(({ eventType }) => eventType === 'member.alert_raised');
}

async function feed() {
  const events = [];
  for (let from = 1; ; ) {
    const batch = await bank.events.read({ from, limit: 200 }).catch(() => ({ events: [] }));
    if (batch.events.length === 0) return events;
    events.push(...batch.events);
    from = (batch.events.at(-1)?.sequence ?? 0) + 1;
  }
}

test('a transfer raises the alerts that the member chose, in the inbox and in the feed', async () => {
  await want(
    { alertType: 'TRANSFER_COMPLETE', accountId: checking, channels: ['INBOX', 'SMS'] },
    { alertType: 'PAYMENT', accountId: checking, threshold: '100.00', channels: ['INBOX'] },
    { alertType: 'DEPOSIT', accountId: 'a-1001-savings', threshold: '200.00', channels: ['INBOX'] },
  );
  const { id } = await pay('105.25');
  await until(async () => (await inboxOf()).length === 2, 'two alerts');
  await settled();
  const alerts = await inboxOf();
  assert.deepEqual(alerts.map(({ alertType }) => alertType).sort(), ['PAYMENT', 'TRANSFER_COMPLETE']);
  const payment = alerts.find(({ alertType }) => alertType === 'PAYMENT');
  assert.deepEqual(
    [
      payment?.amount,
      payment?.threshold,
      payment?.accountId,
      payment?.transferId,
      payment?.currencyCode,
      payment?.read,
    ],
    ['105.25', '100.00', checking, id, 'USD', false],
  );
  assert.match(
    payment?.message ?? '',
    /^105\.25 USD was paid from Share Draft …0110\. Available: 48145\.50 USD\.$/,
  );
  const events = await alertEvents();
  assert.deepEqual(
    new Set(events.map(({ data }) => data?.alertId)),
    new Set(alerts.map(({ alertId }) => alertId)),
  );
  const sms = events.find(({ data }) => data?.alertType === 'TRANSFER_COMPLETE');
  assert.deepEqual(
    [sms?.userId, sms?.data?.channels, sms?.data?.message, sms?.accounts],
    [
      'u-demo-member',
      ['INBOX', 'SMS'],
      'Your transfer of 105.25 USD from Share Draft …0110 is complete.',
      [],
    ],
  );
  assert.equal(payment?.eventId, sms?.data?.causedBy);
});

test('a balance that crosses its threshold raises one alert, and the postings below it raise none', async () => {
  await member.alerts.replacePreferences({ alerts: [] });
  const before = (await inboxOf()).length;
  await want(
    { alertType: 'LOW_BALANCE', accountId: 'a-1001-savings', threshold: '12700.00', channels: ['INBOX'] },
    { alertType: 'HIGH_BALANCE', accountId: 'a-1001-savings', threshold: '12705.00', channels: ['INBOX'] },
  );
  const spend = (amount: string) => pay(amount, 'a-1001-savings', checking);
  for (const amount of ['5.25', '0.01', '10.00', '20.00']) await spend(amount);
  await pay('60.00');
  await spend('60.00');
  await settled();
  await until(async () => (await inboxOf()).length >= before + 3, 'three crossings');
  const raised = (await inboxOf())
    .slice(0, -before)
    .map(({ alertType, balanceAmount }) => [alertType, balanceAmount]);
  assert.deepEqual(raised, [
    ['LOW_BALANCE', '12669.99'],
    ['HIGH_BALANCE', '12729.99'],
    ['LOW_BALANCE', '12699.99'],
  ]);
});

test('a refused transfer is told to the member who ordered it, and to no other holder', async () => {
  const pebble = memberOf('pebble.primary', 'pebble-blue-lantern-1');
  const fern = memberOf('fern.joint', 'fern-green-lantern-2');
  const rules: Rule[] = [
    { alertType: 'TRANSFER_FAILED', accountId: 'a-1002-checking', channels: ['INBOX'] },
    { alertType: 'TRANSFER_COMPLETE', accountId: 'a-1002-checking', channels: ['INBOX'] },
  ];
  await pebble.alerts.replacePreferences({ alerts: rules });
  await fern.alerts.replacePreferences({ alerts: rules });
  const order = { fromAccountId: 'a-1002-checking', toAccountId: 'a-1002-savings' };
  await assert.rejects(pebble.transfers.create({ ...order, amount: '999999.00' }));
  await pebble.transfers.create({ ...order, amount: '1.00' });
  await settled();
  await until(
    async () => (await inboxOf(fern)).length > 0 && (await inboxOf(pebble)).length > 1,
    'the alerts',
  );
  assert.deepEqual(
    (await inboxOf(pebble)).map(({ alertType }) => alertType),
    ['TRANSFER_COMPLETE', 'TRANSFER_FAILED'],
  );
  assert.deepEqual(
    (await inboxOf(fern)).map(({ alertType }) => alertType),
    ['TRANSFER_COMPLETE'],
  );
});

test('a member who is no longer a holder gets no alert about the account, and sees none of the old ones', async () => {
  const fern = memberOf('fern.joint', 'fern-green-lantern-2');
  const count = (await alertEvents()).length;
  assert.equal((await inboxOf(fern)).length, 1);
  await service.db.superuser(
    `delete from holders h using accounts a, persons p
     where a.institution_id = h.institution_id and a.account_key = h.account_key and a.account_id = 'a-1002-checking'
       and p.institution_id = h.institution_id and p.person_key = h.person_key and p.person_id = 'p-1003'`,
  );
  const pebble = memberOf('pebble.primary', 'pebble-blue-lantern-1');
  await pebble.transfers.create({
    fromAccountId: 'a-1002-checking',
    toAccountId: 'a-1002-savings',
    amount: '1.00',
  });
  await settled();
  await until(async () => (await inboxOf(pebble)).length === 3, "pebble's alert");
  assert.deepEqual(await inboxOf(fern), []);
  assert.equal((await alertEvents()).length, count + 1);
  assert.deepEqual((await fern.alerts.preferences()).alerts, []);
});

test('alerts of quiet hours wait for their end, and security alerts do not', async () => {
  await member.alerts.replacePreferences({
    timeZone: 'America/Chicago',
    language: 'es',
    quietHours: { from: '10:00', to: '13:00' },
    alerts: [{ alertType: 'PAYMENT', accountId: checking, threshold: '1.00', channels: ['EMAIL', 'INBOX'] }],
  });
  const before = (await inboxOf()).length;
  await pay('2.00');
  await member.members.updateContact('c-1001', { phoneNumber: '+1 202 555 0177' });
  await until(async () => (await inboxOf()).length > before, 'the security alert');
  await settled();
  const [first] = await inboxOf();
  assert.deepEqual(
    [first?.alertType, first?.accountId, first?.message],
    [
      'CONTACT_CHANGED',
      undefined,
      'Sus datos de contacto cambiaron. Si usted no los cambió, llámenos de inmediato.',
    ],
  );
  const count = (await alertEvents()).length;
  now += 2 * 3_600_000;
  await until(async () => (await alertEvents()).length === count + 1, 'the alert after quiet hours');
  const event = (await alertEvents()).at(-1);
  assert.deepEqual(
    [event?.data?.alertType, event?.data?.emailAddress],
    ['PAYMENT', 'willow.testerman@example.test'],
  );
});

test('an alert is marked as read and as unread, by its own member only', async () => {
  const [alert] = await inboxOf();
  assert.ok(alert !== undefined);
  assert.equal((await member.alerts.mark(alert.alertId, { read: true })).read, true);
  assert.equal((await member.alerts.mark(alert.alertId, { read: true })).read, true);
  const unread = (await member.alerts.list({ unread: 'true' })).items;
  assert.ok(!unread.some(({ alertId }) => alertId === alert.alertId) && unread.length > 0);
  assert.equal((await member.alerts.mark(alert.alertId, { read: false })).read, false);
  const other = memberOf('pebble.primary', 'pebble-blue-lantern-1');
  await assert.rejects(other.alerts.mark(alert.alertId, { read: true }), NotFoundError);
  const marks = await service.db.superuser(`select from audit_entries where action = 'alert.marked'`);
  assert.equal(marks.length, 2);
});

test('the inbox is read page by page without a gap', async () => {
  const all = await inboxOf();
  const paged = [];
  for await (const alert of member.alerts.list({ limit: 2 })) paged.push(alert.alertId);
  assert.deepEqual(
    paged,
    all.map(({ alertId }) => alertId),
  );
  assert.ok(all.length > 4);
});

test('preferences that are not valid are refused with the place and a reason', async () => {
  const rule = { alertType: 'PAYMENT', accountId: checking, threshold: '1.00', channels: ['INBOX'] } as const;
  const refusals: [object, string, RegExp][] = [
    [{ alerts: [{ ...rule, accountId: 'a-1002-checking' }] }, '/alerts/0/accountId', /account of the member/],
    [{ alerts: [{ ...rule, accountId: 'nothing' }] }, '/alerts/0/accountId', /account of the member/],
    [{ alerts: [{ ...rule, threshold: undefined }] }, '/alerts/0/threshold', /required/],
    [{ alerts: [{ ...rule, threshold: '1.001' }] }, '/alerts/0/threshold', /decimals/],
    [{ alerts: [{ ...rule, threshold: '0' }] }, '/alerts/0/threshold', /greater than zero/],
    [{ alerts: [{ ...rule, alertType: 'TRANSFER_FAILED' }] }, '/alerts/0/threshold', /left out/],
    [{ alerts: [rule, rule] }, '/alerts/1/alertType', /once/],
    [{ alerts: [], securityChannels: ['INBOX'] }, '/securityChannels', /cannot be switched off/],
    [{ alerts: [], timeZone: 'Nowhere/Town' }, '/timeZone', /time zone/],
    [{ alerts: [], timeZone: '+01:00' }, '/timeZone', /time zone/],
    [{ alerts: [], quietHours: { from: '07:00', to: '07:00' } }, '/quietHours/to', /differ/],
  ];
  const before = await member.alerts.preferences();
  for (const [body, pointer, detail] of refusals) {
    await assert.rejects(
      member.alerts.replacePreferences(body as never),
      (error: Error & { errors?: unknown }) => {
        const [first] = error.errors as { pointer: string; detail: string }[];
        assert.equal(first?.pointer, pointer);
        assert.match(first?.detail ?? '', detail);
        return true;
      },
    );
  }
  assert.deepEqual(await member.alerts.preferences(), before);
});

test('a loan has no balance alert', async () => {
  const loan = {
    alertType: 'LOW_BALANCE',
    accountId: 'a-1001-carloan',
    threshold: '1.00',
    channels: ['INBOX'],
  } as const;
  await assert.rejects(want(loan), /not valid/);
});

test('a member with a login hears of a new password by an activation code, and one without hears of none', async () => {
  const { userId } = await bank.members.register({
    memberNumber: '100016',
    email: 'poppy.newcomer@example.test',
  });
  const { auth } = service.service.context;
  const { institutionId } = await institutionOf(service, 'lakeside');
  const activate = async (secret: string) => {
    const issued = await reissueActivation(auth, institutionId, { name: userId, origin: ownOrigin() });
    const login = { username: 'poppy.new', password: secret };
    await bank.members.activate({ activationCode: issued?.code ?? '', ...login });
    await settled();
    const inbox = await inboxOf(memberOf(login.username, secret));
    return inbox.map(({ alertType }) => alertType).filter((type) => type === 'PASSWORD_CHANGED');
  };
  assert.deepEqual(await activate('seven lanterns by the lake'), []);
  assert.deepEqual(await activate('nine lanterns by the lake'), ['PASSWORD_CHANGED']);
  const [mail] = (await alertEvents()).filter(({ data }) => data?.alertType === 'PASSWORD_CHANGED');
  assert.equal(mail?.data?.emailAddress, 'poppy.newcomer@example.test');
});

test('an alert is kept for 400 days', async () => {
  now += 399 * 86_400_000;
  const { context } = service.service;
  await runMaintenance(context, () => {});
  const rows = () => service.db.superuser('select from alerts');
  assert.ok((await rows()).length > 0);
  now += 2 * 86_400_000;
  await runMaintenance(context, () => {});
  assert.equal((await rows()).length, 0);
});
