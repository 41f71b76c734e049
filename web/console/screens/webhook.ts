import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import type { Column } from '../../common/table.ts';
import { Badge, Notice } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { type Act, ActButton } from '../act.ts';
import { wordOf } from '../format.ts';
import { Moment, momentColumn } from '../moment.ts';
import { type Attempt, act, type Delivery, pathOf, read, type Webhook } from '../operations.ts';
import { PagedTable } from '../paged-table.ts';
import { ask, may } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';
import { nameOf, WebhookStatus } from './webhooks.ts';

const dayMillis = 24 * 60 * 60_000;

/** One endpoint with its attempts, its waiting events, and the acts that send again. */
export function WebhookScreen({ endpointId }: { endpointId: string }) {
  const path = pathOf`/webhooks/${endpointId}`;
  const { state, again } = useLoad(() => ask(() => read<Webhook>(path)), [endpointId]);
  const [result, setResult] = useState<string>();
  const done = (words: string) => {
    setResult(words);
    again();
  };
  const acts =
    state.kind === 'ready' &&
    may('institution:change') &&
    actsOf(path, state.value).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${done} />`);
  return html`<${Screen} title="Webhook" lead=${state.kind === 'ready' ? nameOf(state.value) : endpointId} acts=${acts}>
    ${result && html`<${Notice} title=${result} />`}
    <${Stateful} state=${state} subject="the webhook" again=${again}>
      ${(webhook: Webhook) => html`
        <${Facts} webhook=${webhook} />
        <${Waiting} path=${path} state="PARKED" title="Parked: given up after many attempts" />
        <${Waiting} path=${path} state="WAITING" title="Waiting for another attempt" />
        <${Attempts} path=${path} onDone=${done} />`}
    <//>
  <//>`;
}

function replayOf(path: string, replay: object, words: Pick<Act<string>, 'verb' | 'effect'>): Act<string> {
  return {
    ...words,
    run: async (reason) => {
      const { events } = await act<{ readonly events: number }>(`${path}/replay`, { ...replay, reason });
      return events === 1 ? 'One event is sent again.' : `${events} events are sent again.`;
    },
  };
}

function actsOf(path: string, { status }: Webhook): Act<string>[] {
  const to = status === 'ACTIVE' ? 'PAUSED' : 'ACTIVE';
  const change: Act<string> = {
    verb: to === 'PAUSED' ? 'Pause' : 'Resume',
    effect:
      to === 'PAUSED'
        ? 'Nothing is sent until an operator or the client resumes it. No event is lost.'
        : 'Sending goes on from the position. No event was lost.',
    run: async (reason) => {
      await act<Webhook>(path, { status: to, reason }, 'PATCH');
      return to === 'PAUSED' ? 'The webhook is paused.' : 'The webhook is active.';
    },
  };
  const ping: Act<string> = {
    verb: 'Send a test event',
    effect: 'An event that says nothing is sent now, to see whether the endpoint takes it.',
    run: async (reason) => {
      const { delivered, status, error = '' } = await act<Attempt>(`${path}/ping`, { reason });
      return delivered
        ? `The test event was accepted, with the status ${status}.`
        : `The test event was refused: ${[status, wordOf(error)].filter(Boolean).join(' ')}.`;
    },
  };
  return [
    change,
    ping,
    replayOf(
      path,
      { since: new Date(Date.now() - dayMillis).toISOString() },
      {
        verb: 'Replay the last day',
        effect: 'Every event of the last 24 hours is sent again, with the same ids.',
      },
    ),
    replayOf(
      path,
      { parked: true },
      {
        verb: 'Replay the parked',
        effect: 'Every parked event is sent again, at most a thousand at a time.',
      },
    ),
  ];
}

function Facts({ webhook }: { webhook: Webhook }) {
  return html`<section class="card" aria-label="Facts"><div class="body split">
    <dl class="facts">
      <div><dt>Status</dt><dd><${WebhookStatus} webhook=${webhook} />${webhook.statusReason && ` by ${wordOf(webhook.statusReason).toLowerCase()}`}</dd></div>
      <div><dt>Client</dt><dd>${webhook.clientId || 'the institution'}</dd></div>
      <div><dt>Events</dt><dd>${webhook.eventTypes?.join(', ') ?? 'all'}</dd></div>
      <div><dt>Payload, order</dt><dd>${wordOf(webhook.payload)}, ${wordOf(webhook.ordering)}</dd></div>
    </dl>
    <dl class="facts">
      <div><dt>Sent up to event</dt><dd>${webhook.sequence}</dd></div>
      <div><dt>Failures in a row</dt><dd>${webhook.failures}</dd></div>
      ${webhook.failingSince && html`<div><dt>Failing since</dt><dd><${Moment} at=${webhook.failingSince} /></dd></div>`}
      ${webhook.nextAttemptAt && html`<div><dt>Next attempt</dt><dd><${Moment} at=${webhook.nextAttemptAt} /></dd></div>`}
    </dl>
  </div></section>`;
}

const deliveryColumns: readonly Column<Delivery>[] = [
  { title: 'Event', text: ({ eventId }) => eventId },
  { title: 'Sequence', text: ({ sequence }) => String(sequence), isNumeric: true },
  { title: 'Attempts', text: ({ attempts }) => String(attempts), isNumeric: true },
  momentColumn('Next attempt', ({ nextAttemptAt }) => nextAttemptAt),
];

function Waiting({ path, state, title }: { path: string; state: string; title: string }) {
  const id = state.toLowerCase();
  return html`<section class="card" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2></header>
    <${PagedTable} path=${`${path}/deliveries`} query=${{ state }} columns=${deliveryColumns} caption=${title}
      keyOf=${({ eventId }: Delivery) => eventId} file=${id} empty="None." />
  </section>`;
}

function Attempts({ path, onDone }: { path: string; onDone: (words: string) => void }) {
  const columns: Column<Attempt>[] = [
    momentColumn('Attempted', ({ attemptedAt }) => attemptedAt),
    { title: 'Event', text: ({ eventId }) => eventId },
    { title: 'Type', text: ({ eventType }) => eventType },
    {
      title: 'Outcome',
      text: ({ status, error = 'delivered' }) => `${status ?? ''} ${error}`.trim(),
      cell: ({ delivered, status, error }) =>
        html`<${Badge} kind=${delivered ? 'good' : 'bad'}>${delivered ? 'Delivered' : wordOf(error)}<//> <span class="quiet">${status}</span>`,
    },
    { title: 'Milliseconds', text: ({ durationMs }) => String(durationMs), isNumeric: true },
  ];
  const again: Column<Attempt> = {
    title: 'Again',
    text: () => '',
    isActs: true,
    cell: ({ eventId, sequence }) =>
      sequence !== undefined &&
      html`<${ActButton} onDone=${onDone} act=${replayOf(path, { eventIds: [eventId] }, { verb: 'Send again', effect: `Event ${eventId} is sent again, with the same id.` })} />`,
  };
  return html`<section class="card" aria-labelledby="attempts">
    <header><h2 id="attempts">Attempts</h2></header>
    <${PagedTable} path=${`${path}/attempts`} columns=${may('institution:change') ? [...columns, again] : columns} caption="Attempts"
      keyOf=${({ eventId, attemptedAt }: Attempt) => `${eventId} ${attemptedAt}`} file="attempts" empty="No attempt yet." />
  </section>`;
}
