import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientCredentials, password, Sharedraft } from '../../client/src/index.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';

const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
const orders = 40;

test('every posting has exactly one alert and one event, with two processes whose connections are cut all the time', async () => {
  await using first = await startTestService();
  await using _second = await startTestService({ beside: first });
  const options = { baseUrl: first.address };
  const member = new Sharedraft({
    ...options,
    auth: password(app, { username: 'demo.member', password: 'demo-member-password' }),
  });
  await member.alerts.replacePreferences({
    alerts: [{ alertType: 'PAYMENT', accountId: 'a-1001-checking', threshold: '0.01', channels: ['INBOX'] }],
  });
  let isOver = false;
  const cutting = (async () => {
    while (!isOver) {
      // Only connections that derive or release alerts: cut between any two of their statements.
      await first.db.superuser(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and query ~ 'alert' and random() < 0.3`,
      );
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  })();
  const ids: string[] = [];
  for (let order = 0; order < orders; order += 1) {
    const { id } = await member.transfers.create({
      fromAccountId: 'a-1001-checking',
      toAccountId: 'a-1001-savings',
      amount: '1.00',
    });
    ids.push(id);
  }
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  isOver = true;
  await cutting;
  const bank = new Sharedraft({ ...options, auth: clientCredentials(app) });
  const raised = async () => {
    const events = [];
    for await (const { events: some } of untilEnd(bank)) events.push(...some);
    return events.filter(({ eventType }) => eventType === 'member.alert_raised');
  };
  await until(async () => (await raised()).length >= orders, 'an event for each alert');
  await new Promise((resolve) => setTimeout(resolve, 600));
  const transferIds = (await raised()).map(({ data }) => data?.transferId);
  assert.deepEqual(transferIds.toSorted(), ids.toSorted());
  const inbox = [];
  for await (const alert of member.alerts.list()) inbox.push(alert.transferId);
  assert.deepEqual(inbox.toSorted(), ids.toSorted());
});

async function* untilEnd(bank: Sharedraft) {
  let after: string | undefined;
  for (;;) {
    const batch = await bank.events.read({ limit: 200, ...(after && { after }) });
    if (batch.events.length === 0) return;
    yield batch;
    after = batch.position;
  }
}

test('an alert that is derived twice from the same events is there once', async () => {
  await using service = await startTestService();
  const member = new Sharedraft({
    baseUrl: service.address,
    auth: password(app, { username: 'demo.member', password: 'demo-member-password' }),
  });
  await member.alerts.replacePreferences({
    alerts: [{ alertType: 'PAYMENT', accountId: 'a-1001-checking', threshold: '0.01', channels: ['INBOX'] }],
  });
  await member.transfers.create({
    fromAccountId: 'a-1001-checking',
    toAccountId: 'a-1001-savings',
    amount: '1.00',
  });
  const inbox = async () => (await member.alerts.list()).items;
  await until(async () => (await inbox()).length === 1, 'the alert');
  await service.db.superuser("update alert_positions set epoch = 0, xid = '0', event_key = 0, number = 0");
  await until(async () => {
    const [row] = await service.db.superuser<{ number: bigint }>(
      'select max(number) as number from alert_positions',
    );
    return Number(row?.number) > 0;
  }, 'a second evaluation');
  await new Promise((resolve) => setTimeout(resolve, 600));
  assert.equal((await inbox()).length, 1);
});
