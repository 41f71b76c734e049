import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { momentColumn } from '../../moment.ts';
import type { AlertRule, AlertsOfMember, SentAlert } from '../../operations.ts';

const channelNames: Readonly<Record<string, string>> = {
  EMAIL: 'e-mail',
  SMS: 'SMS',
  PUSH: 'push',
  INBOX: 'inbox',
};

function channelsOf({ channels }: { readonly channels: readonly string[] }): string {
  return channels.map((channel) => channelNames[channel] ?? channel).join(', ');
}

function accountLink(accountId: string | null) {
  return accountId && html`<a href=${addressOf('accounts', accountId)}>${accountId}</a>`;
}

const ruleColumns: readonly Column<AlertRule>[] = [
  { title: 'Alert', text: ({ alertType }) => wordOf(alertType) },
  {
    title: 'Account',
    text: ({ accountId }) => accountId,
    cell: ({ accountId }) => accountLink(accountId),
  },
  {
    title: 'Threshold',
    text: ({ threshold }) => threshold ?? '',
    cell: ({ threshold, currency }) =>
      threshold && html`<${Amount} value=${{ amount: threshold, currencyCode: currency }} />`,
    isNumeric: true,
  },
  { title: 'Sent by', text: channelsOf },
];

const sentColumns: readonly Column<SentAlert>[] = [
  momentColumn('Sent', ({ releasedAt }) => releasedAt),
  { title: 'Alert', text: ({ alertType }) => wordOf(alertType) },
  {
    title: 'Account',
    text: ({ accountId }) => accountId ?? '',
    cell: ({ accountId }) => accountLink(accountId),
  },
  {
    title: 'Transfer',
    text: ({ transferId }) => transferId ?? '',
    cell: ({ transferId }) =>
      transferId && html`<a href=${addressOf('transfers', transferId)}>${transferId}</a>`,
  },
  { title: 'Sent by', text: channelsOf },
];

function settingsOf({ settings }: AlertsOfMember): string {
  if (settings === null)
    return 'The member has chosen nothing: security alerts go out by e-mail and to the inbox.';
  const { securityChannels, quietFrom, quietTo, digestAt, timeZone } = settings;
  const parts = [
    `Security alerts by ${channelsOf({ channels: securityChannels })}`,
    quietFrom && quietTo && `quiet from ${quietFrom} to ${quietTo}`,
    digestAt && `the day’s alerts together at ${digestAt}`,
  ];
  return `${parts.filter(Boolean).join('; ')}. The member’s time zone is ${timeZone}.`;
}

/** The alerts that the member chose, and the last ones that went out. */
export function Alerts({ alerts }: { alerts: AlertsOfMember }) {
  return html`<section class="card" aria-labelledby="alerts">
    <header><h2 id="alerts">Alerts</h2></header>
    <p class="body quiet">${settingsOf(alerts)}</p>
    <${Table} caption="Chosen alerts" columns=${ruleColumns} rows=${alerts.rules} empty="No alert about an account is chosen."
      keyOf=${({ alertType, accountId }: AlertRule) => `${alertType} ${accountId}`} />
    <header><h3>Last sent</h3></header>
    <${Table} caption="Last sent alerts" columns=${sentColumns} rows=${alerts.last} empty="No alert has been sent."
      keyOf=${({ alertId }: SentAlert) => alertId} />
  </section>`;
}
