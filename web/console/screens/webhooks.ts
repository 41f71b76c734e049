import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { type Column, Table } from '../../common/table.ts';
import { Badge } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { useChanges } from '../live.ts';
import { momentColumn } from '../moment.ts';
import { read, type Webhook } from '../operations.ts';
import { ask } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

const kinds = { ACTIVE: 'good', PAUSED: 'warn', DISABLED: 'bad' } as const;

export function WebhookStatus({ webhook }: { webhook: Webhook }) {
  return html`<${Badge} kind=${kinds[webhook.status]}>${wordOf(webhook.status)}<//>`;
}

/** Mail has no address of its own. */
export function nameOf({ url, endpointId }: Webhook): string {
  return url || endpointId;
}

const columns: readonly Column<Webhook>[] = [
  {
    title: 'Address',
    text: nameOf,
    cell: (row) => html`<a href=${addressOf('webhooks', row.endpointId)}>${nameOf(row)}</a>`,
  },
  { title: 'Client', text: ({ clientId }) => clientId || 'Institution' },
  {
    title: 'Status',
    text: ({ status }) => wordOf(status),
    cell: (row) => html`<${WebhookStatus} webhook=${row} />`,
  },
  { title: 'Sent up to', text: ({ sequence }) => String(sequence), isNumeric: true },
  { title: 'Failures in a row', text: ({ failures }) => String(failures), isNumeric: true },
  momentColumn('Failing since', ({ failingSince }) => failingSince),
];

/** The endpoints of all clients. */
export function WebhooksScreen() {
  const { state, again, refresh } = useLoad(() => ask(() => read<readonly Webhook[]>('/webhooks')), []);
  useChanges('webhooks', () => void refresh());
  return html`<${Screen} title="Webhooks">
    <section class="card" aria-label="Webhooks">
      <${Stateful} state=${state} subject="webhooks" again=${again}>
        ${(webhooks: readonly Webhook[]) =>
          html`<${Table} caption="Webhooks" columns=${columns} rows=${webhooks} file="webhooks" keyOf=${({ endpointId }: Webhook) => endpointId} empty="No client has a webhook." />`}
      <//>
    </section>
  <//>`;
}
