import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { password, Sharedraft } from '../../client/src/index.ts';
import { checkedFetch } from '../support/contract.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';

/* The alert about the payment of a loan, which the calendar raises. */

const loan = 'a-1001-carloan';
let now = Date.parse('2026-03-02T12:00:00Z');
let service: TestService;
let member: Sharedraft;
before(async () => {
  service = await startTestService({ clock: () => new Date(now) });
  const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({
    baseUrl: service.address,
    auth: password(app, demo),
    fetch: checkedFetch,
  });
  await service.db.superuser(`update institutions set time_zone = 'America/New_York'`);
});
after(() => service.close());

beforeEach(async () => {
  await service.db.superuser('delete from alerts');
  await service.db.superuser('update alert_positions set dues_seen_on = null');
  await member.alerts.replacePreferences({
    alerts: [{ alertType: 'PAYMENT_DUE', accountId: loan, channels: ['INBOX'] }],
  });
});

/** On the demo's loan. */
async function due(amount: number, on: string | null): Promise<void> {
  await service.db.superuser(
    `update loans l set amount_due = $1, next_due_on = $2 from accounts a
     where a.institution_id = l.institution_id and a.account_key = l.account_key and a.account_id = $3`,
    [amount, on, loan],
  );
}

/** The payments due of the day were looked up. */
function seen(day: string): Promise<void> {
  return until(async () => {
    const rows = await service.db.superuser(
      `select from alert_positions join institutions using (institution_id)
       where code = 'lakeside' and dues_seen_on = $1`,
      [day],
    );
    return rows.length === 1;
  }, `payments due on ${day}`);
}

const inbox = async () => (await member.alerts.list()).items;

/** Nine in New York. */
const morningOf = (day: string) => Date.parse(`${day}T14:00:00Z`);

test('a payment that is due in three days raises one alert, at nine and not in the night', async () => {
  await due(350_00, '2026-03-05');
  now = Date.parse('2026-03-02T13:59:59Z');
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.deepEqual(await inbox(), []);
  now = morningOf('2026-03-02');
  await until(async () => (await inbox()).length > 0, 'the alert');
  const [alert] = await inbox();
  assert.deepEqual(
    [alert?.alertType, alert?.accountId, alert?.amount, alert?.dueOn, alert?.eventId],
    ['PAYMENT_DUE', loan, '350.00', '2026-03-05', undefined],
  );
  assert.match(alert?.message ?? '', /^A payment of 350\.00 USD to .* …\w{4} is due on March 5, 2026\.$/);
  for (const day of ['2026-03-03', '2026-03-04', '2026-03-05', '2026-03-06']) {
    now = morningOf(day);
    await seen(day);
  }
  assert.equal((await inbox()).length, 1);
});

test('the next payment raises an alert of its own, in the language of the member', async () => {
  now = morningOf('2026-04-01');
  await due(350_00, '2026-04-04');
  await member.alerts.replacePreferences({
    language: 'es',
    alerts: [{ alertType: 'PAYMENT_DUE', accountId: loan, channels: ['INBOX'] }],
  });
  await until(async () => (await inbox()).length > 0, 'the alert');
  await seen('2026-04-01');
  now = morningOf('2026-04-02');
  await due(360_00, '2026-05-04');
  await seen('2026-04-02');
  now = morningOf('2026-05-01');
  await until(async () => (await inbox()).length === 2, 'the next alert');
  assert.match(
    (await inbox())[0]?.message ?? '',
    /^Un pago de 360\.00 USD a .* vence el 4 de mayo de 2026\.$/,
  );
});

test('no alert is raised for a payment that is made, later than three days, or overdue', async () => {
  for (const [day, amount, on] of [
    ['2026-06-01', 0, '2026-06-03'],
    ['2026-06-02', 350_00, '2026-06-06'],
    ['2026-06-03', 350_00, '2026-06-02'],
    ['2026-06-04', 350_00, null],
  ] as const) {
    await due(amount, on);
    now = morningOf(day);
    await seen(day);
    assert.deepEqual(await inbox(), [], day);
  }
});

test('a day that is looked up again raises no alert again', async () => {
  await due(350_00, '2026-07-03');
  now = morningOf('2026-07-01');
  await until(async () => (await inbox()).length > 0, 'the alert');
  await seen('2026-07-01');
  await service.db.superuser('update alert_positions set dues_seen_on = null');
  await seen('2026-07-01');
  assert.equal((await inbox()).length, 1);
});

test('only a loan has such an alert, and it has no threshold', async () => {
  const rule = { alertType: 'PAYMENT_DUE', accountId: 'a-1001-checking', channels: ['INBOX'] } as const;
  await assert.rejects(member.alerts.replacePreferences({ alerts: [rule] }), (error: unknown) =>
    /only a loan has payments that are due/.test(JSON.stringify(error)),
  );
  await assert.rejects(
    member.alerts.replacePreferences({ alerts: [{ ...rule, accountId: loan, threshold: '1.00' }] }),
    { code: 'invalid_request' },
  );
});

test('the database refuses a payment due without its day, and an event beside it', async () => {
  const change = (set: string) => service.db.superuser(`update alerts set ${set}`);
  await due(350_00, '2026-08-03');
  now = morningOf('2026-08-01');
  await until(async () => (await inbox()).length > 0, 'the alert');
  for (const set of ['due_on = null', `event_id = '0-1-1'`]) {
    await assert.rejects(change(set), { constraint: 'alerts_due_on' });
  }
});
