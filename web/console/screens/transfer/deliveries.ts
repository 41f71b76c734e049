import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { momentColumn } from '../../moment.ts';
import type { DeliveryOfEvent, EventOfTransfer } from '../../operations.ts';

type Row = DeliveryOfEvent & { readonly event: EventOfTransfer };

const kinds = {
  DELIVERED: 'good',
  WAITING: 'warn',
  PARKED: 'bad',
  BEHIND: 'warn',
  PASSED: undefined,
  NEWER: undefined,
  NOT_SUBSCRIBED: undefined,
} as const satisfies Readonly<Record<DeliveryOfEvent['state'], string | undefined>>;

const words: Readonly<Partial<Record<DeliveryOfEvent['state'], string>>> = {
  WAITING: 'Waits for another attempt',
  BEHIND: 'Not sent yet',
  PASSED: 'Passed',
  NEWER: 'Webhook is newer',
  NOT_SUBSCRIBED: 'Not subscribed',
};

function stateOf({ state, behind, endpointStatus }: DeliveryOfEvent): string {
  const word = words[state] ?? wordOf(state);
  if (behind === null) return word;
  const place = behind === 1 ? 'the next event' : `${behind} events behind`;
  return `${word}: ${place}${endpointStatus === 'ACTIVE' ? '' : `, ${endpointStatus.toLowerCase()}`}`;
}

function lastAnswer({ lastAttempt }: DeliveryOfEvent): string {
  if (lastAttempt === null) return '';
  const { status, error } = lastAttempt;
  if (status !== null) return String(status);
  return wordOf(error);
}

const columns: readonly Column<Row>[] = [
  { title: 'Event', text: ({ event }) => event.eventType },
  { title: 'Sequence', text: ({ event }) => String(event.sequence), isNumeric: true },
  {
    title: 'Webhook',
    text: ({ url }) => url,
    cell: ({ endpointId, url }) => html`<a href=${addressOf('webhooks', endpointId)}>${url}</a>`,
  },
  {
    title: 'Delivery',
    text: stateOf,
    cell: (row) => html`<${Badge} kind=${kinds[row.state]}>${stateOf(row)}<//>`,
  },
  { title: 'Attempts', text: ({ attempts }) => String(attempts), isNumeric: true },
  { title: 'Last answer', text: lastAnswer },
  momentColumn('Last attempt', ({ lastAttempt }) => lastAttempt?.attemptedAt),
  momentColumn('Next attempt', ({ nextAttemptAt }) => nextAttemptAt),
];

/** The events of a transfer at each webhook. */
export function Deliveries({ id, events }: { id: string; events: readonly EventOfTransfer[] }) {
  const rows = events.flatMap((event) => event.deliveries.map((delivery) => ({ ...delivery, event })));
  const empty =
    events.length === 0 ? 'The events of this transfer are in the archive.' : 'No client has a webhook.';
  const hasPassed = rows.some(({ state }) => state === 'PASSED');
  return html`<section class="card" aria-labelledby="deliveries">
    <header><h2 id="deliveries">Webhook deliveries</h2></header>
    ${
      hasPassed &&
      html`<p class="body quiet">Passed: the webhook is past the event, and its log does not go back so far. It accepted the event, or did not want the type then.</p>`
    }
    <${Table} caption="Webhook deliveries" columns=${columns} rows=${rows} empty=${empty} file=${`deliveries-${id}`}
      keyOf=${({ event, endpointId }: Row) => `${event.eventId} ${endpointId}`} />
  </section>`;
}
