import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import { releaseAlerts } from '../../src/alerts/release/release.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import { checkedFetch } from '../support/contract.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';

/* Alerts that a member gets together, once a day. */

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const checking = 'a-1001-checking';
/** Noon in Chicago. */
let now = Date.parse('2026-03-02T18:00:00Z');
let service: TestService;
let bank: Sharedraft;
let member: Sharedraft;
before(async () => {
  service = await startTestService({ clock: () => new Date(now) });
  bank = new Sharedraft({ baseUrl: service.address, auth: clientCredentials(app) });
  member = memberOf('demo.member', 'demo-member-password');
});
after(() => service.close());

function memberOf(username: string, secret: string): Sharedraft {
  const auth = password(app, { username, password: secret });
  return new Sharedraft({ baseUrl: service.address, auth, fetch: checkedFetch });
}

const pay = (amount: string, someone = member, from = checking, to = 'a-1001-savings') =>
  someone.transfers.create({ fromAccountId: from, toAccountId: to, amount });

type Preferences = Parameters<Sharedraft['alerts']['replacePreferences']>[0];
type Rule = Preferences['alerts'][number];
const payments: Rule = {
  alertType: 'PAYMENT',
  accountId: checking,
  threshold: '1.00',
  channels: ['SMS', 'INBOX'],
};
const chicago = { timeZone: 'America/Chicago', digestAt: '17:30' } as const;

interface Raised {
  readonly alertType: string;
  readonly channels: readonly string[];
  readonly message: string;
  readonly phoneNumber?: string;
  readonly alerts?: readonly { readonly alertType: string; readonly amount: string }[];
}

/** The data of all alerts in the outbox, the oldest first. */
async function raised(): Promise<Raised[]> {
  const rows = await service.db.superuser<{ data: Raised }>(
    `select data from outbox where kind = 'member.alert_raised' order by epoch, xid, event_key`,
  );
  return rows.map(({ data }) => data);
}

/** So many alerts of the member wait for their time. */
function waiting(count: number): Promise<void> {
  return until(async () => {
    const rows = await service.db.superuser('select from alerts where released_at is null');
    return rows.length === count;
  }, `${count} waiting alerts`);
}

test('a digest comes at the time that the member chose, and has the alerts of a day', async () => {
  await member.alerts.replacePreferences({ ...chicago, alerts: [payments] });
  assert.equal((await member.alerts.preferences()).digestAt, '17:30');
  for (const amount of ['1.25', '2.50', '3.75']) await pay(amount);
  await waiting(3);
  assert.deepEqual(await raised(), []);
  assert.deepEqual((await member.alerts.list()).items, []);
  now = Date.parse('2026-03-02T23:29:59Z');
  await releaseAll();
  await waiting(3);
  now = Date.parse('2026-03-02T23:30:00Z');
  await until(async () => (await raised()).length > 0, 'the digest');
  const [digest, ...others] = await raised();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [digest?.alertType, digest?.channels, digest?.alerts?.map(({ amount }) => amount)],
    ['DIGEST', ['SMS', 'INBOX'], ['1.25', '2.50', '3.75']],
  );
  assert.match(digest?.phoneNumber ?? '', /^\+1/);
  const lines = digest?.message.split('\n') ?? [];
  assert.equal(lines.length, 3);
  assert.match(lines[2] ?? '', /^3\.75 USD was paid from Share Draft …0110\. Available: /);
  assert.equal((await member.alerts.list()).items.length, 3);
});

test('alerts with other channels go in a message of their own, and those for the inbox alone go at once', async () => {
  const other: Rule = { ...payments, alertType: 'TRANSFER_COMPLETE', channels: ['EMAIL'] };
  const { threshold: _, ...completed } = other;
  const inbox: Rule = {
    alertType: 'DEPOSIT',
    accountId: 'a-1001-savings',
    threshold: '1.00',
    channels: ['INBOX'],
  };
  await member.alerts.replacePreferences({ ...chicago, alerts: [payments, completed, inbox] });
  const earlier = (await raised()).length;
  await pay('4.00');
  await pay('5.00');
  await until(async () => (await raised()).length === earlier + 2, 'two alerts of the inbox');
  await waiting(4);
  now += 86_400_000;
  await until(async () => (await raised()).length === earlier + 4, 'two digests');
  const digests = (await raised()).slice(-2);
  assert.deepEqual(
    digests
      .map(({ channels, alerts = [] }) => [channels.join(), ...alerts.map((one) => one.alertType)])
      .sort(),
    [
      ['EMAIL', 'TRANSFER_COMPLETE', 'TRANSFER_COMPLETE'],
      ['SMS,INBOX', 'PAYMENT', 'PAYMENT'],
    ],
  );
});

test('security alerts do not wait for the digest', async () => {
  const earlier = (await raised()).length;
  await member.members.updateContact('c-1001', { phoneNumber: '+1 202 555 0188' });
  await until(async () => (await raised()).length === earlier + 1, 'the security alert');
  assert.equal((await raised()).at(-1)?.alertType, 'CONTACT_CHANGED');
});

test('four processes that release at once write one digest for each member', async () => {
  const pebble = memberOf('pebble.primary', 'pebble-blue-lantern-1');
  const rule: Rule = { ...payments, accountId: 'a-1002-checking' };
  await pebble.alerts.replacePreferences({ ...chicago, alerts: [rule] });
  await member.alerts.replacePreferences({ ...chicago, alerts: [payments] });
  for (const amount of ['6.00', '7.00']) {
    await pay(amount);
    await pay(amount, pebble, 'a-1002-checking', 'a-1002-savings');
  }
  await waiting(4);
  const earlier = (await raised()).length;
  now += 86_400_000;
  await Promise.all(Array.from({ length: 4 }, releaseAll));
  await waiting(0);
  const digests = (await raised()).slice(earlier);
  assert.deepEqual(
    digests.map(({ alertType, alerts }) => [alertType, alerts?.length]),
    [
      ['DIGEST', 2],
      ['DIGEST', 2],
    ],
  );
});

test('a digest leaves out an account that the member no longer holds', async () => {
  const fern = memberOf('fern.joint', 'fern-green-lantern-2');
  await fern.alerts.replacePreferences({
    ...chicago,
    alerts: [{ ...payments, accountId: 'a-1002-checking' }],
  });
  await member.alerts.replacePreferences({ alerts: [] });
  const pebble = memberOf('pebble.primary', 'pebble-blue-lantern-1');
  await pebble.alerts.replacePreferences({ alerts: [] });
  await pay('8.00', pebble, 'a-1002-checking', 'a-1002-savings');
  await waiting(1);
  await service.db.superuser(
    `delete from holders h using accounts a, persons p
     where a.institution_id = h.institution_id and a.account_key = h.account_key and a.account_id = 'a-1002-checking'
       and p.institution_id = h.institution_id and p.person_key = h.person_key and p.person_id = 'p-1003'`,
  );
  const earlier = (await raised()).length;
  now += 86_400_000;
  await waiting(0);
  assert.equal((await raised()).length, earlier);
});

test('a digest needs a time of day', async () => {
  for (const digestAt of ['24:00', '8:00', 'noon']) {
    await assert.rejects(member.alerts.replacePreferences({ digestAt, alerts: [] }), {
      code: 'invalid_request',
    });
  }
  assert.ok((await bank.events.read({ from: 1, limit: 1 })).events.length > 0);
});

async function releaseAll(): Promise<void> {
  const { context } = service.service;
  const [row] = await service.db.superuser<{ id: InstitutionId }>(
    `select institution_id as id from institutions where code = 'lakeside'`,
  );
  await releaseAlerts(context, row?.id as InstitutionId, () => false);
}
