import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { password, Sharedraft } from '../../client/src/index.ts';
import { connectorOf, purchase } from '../support/core.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { until } from '../webhooks/receiver.ts';

/* Alerts about postings that the core delivers. */

let service: TestService;
let member: Sharedraft;

before(async () => {
  service = await startTestService();
  const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
  const demo = { username: 'demo.member', password: 'demo-member-password' };
  member = new Sharedraft({ baseUrl: service.address, auth: password(app, demo) });
});
after(() => service.close());

test('a card payment and a deposit of the core raise one alert each, also if the core delivers them again, and history raises none', async () => {
  const accountId = 'a-1001-checking';
  const channels = ['INBOX'] as const;
  await member.alerts.replacePreferences({
    alerts: [
      { alertType: 'PAYMENT', accountId, threshold: '10.00', channels: [...channels] },
      { alertType: 'DEPOSIT', accountId, threshold: '10.00', channels: [...channels] },
    ],
  });
  const core = await connectorOf(service);
  const lines = [
    purchase('old', { amount: -99, historic: true }),
    purchase('small', { amount: -9.99 }),
    purchase('bakery'),
    purchase('payroll', { amount: 1500.5, kind: 'ACH_CREDIT' }),
  ];
  for (const result of ['posted', 'already']) {
    const answers = await core.deliver(lines);
    assert.deepEqual(
      answers.slice(0, -1).map((answer) => answer.result),
      lines.map(() => result),
    );
  }
  // An alert of a later event shows that those before it are all there.
  await core.deliver([purchase('last', { amount: -20 })]);
  const inbox = async () => (await member.alerts.list()).items;
  await until(async () => (await inbox()).some(({ amount }) => amount === '20.00'), 'the last alert');
  const raised = (await inbox()).map(({ alertType, amount, currencyCode }) => [
    alertType,
    amount,
    currencyCode,
  ]);
  assert.deepEqual(raised, [
    ['PAYMENT', '20.00', 'USD'],
    ['DEPOSIT', '1500.50', 'USD'],
    ['PAYMENT', '12.34', 'USD'],
  ]);
});
