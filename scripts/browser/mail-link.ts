import { password, Sharedraft } from '../../client/src/index.ts';
import type { Mailbox } from '../../test/mail/mailbox.ts';
import { until } from '../../test/webhooks/receiver.ts';
import type { DemoService } from './service.ts';

/** The link that stops alerts by e-mail, out of the mail about a transfer of the demo's member. */
export async function unsubscribeLink({ url, run }: DemoService, mailbox: Mailbox): Promise<string> {
  const sender = ['--name', 'Lakeside Credit Union', '--from', 'alerts@lakeside.example'];
  await run('alerts', 'mail', ...sender, '--institution', 'lakeside');
  const app = { clientId: 'demo-app', clientSecret: 'demo-app-secret' };
  const member = { username: 'demo.member', password: 'demo-member-password' };
  const { alerts, transfers } = new Sharedraft({ baseUrl: url, auth: password(app, member) });
  const fromAccountId = 'a-1001-checking';
  await alerts.replacePreferences({
    alerts: [{ alertType: 'PAYMENT', accountId: fromAccountId, threshold: '1.00', channels: ['EMAIL'] }],
  });
  await transfers.create({ fromAccountId, toAccountId: 'a-1001-savings', amount: '1.23' });
  const linkIn = () => mailbox.received.map(({ headers }) => headers.get('list-unsubscribe')).find(Boolean);
  await until(() => linkIn() !== undefined, 'a mail with a link');
  return linkIn()?.slice(1, -1) ?? '';
}
