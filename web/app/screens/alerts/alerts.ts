import type { MemberAlert } from '@sharedraft/client';
import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { Badge, Button, Empty, Notice } from '../../../design/components.ts';
import { formatMoment } from '../../../design/format/dates.ts';
import { html } from '../../../design/html.ts';
import { ask, sentenceOf } from '../../bank.ts';
import { Screen, Stateful } from '../../shell.ts';

/** The newest alerts, as many as one page of the service has. */
export function AlertsScreen() {
  const { state, again } = useLoad(() => ask((bank) => bank.alerts.list()), []);
  return html`<${Screen} title="Alerts">
    <div class="actions"><a class="button" data-kind="quiet" href=${addressOf('alerts', 'preferences')}>Choose alerts</a></div>
    <section class="card" aria-label="Inbox">
      <${Stateful} state=${state} subject="your alerts" again=${again}>
        ${({ items }: { readonly items: readonly MemberAlert[] }) =>
          items.length === 0
            ? html`<${Empty}>No alerts yet. Choose the ones that you want.<//>`
            : html`<ul class="list">${items.map((alert) => html`<${AlertRow} key=${alert.alertId} alert=${alert} />`)}</ul>`}
      <//>
    </section>
  <//>`;
}

function AlertRow({ alert }: { alert: MemberAlert }) {
  const [read, setRead] = useState(alert.read);
  const [fault, setFault] = useState<string>();
  const mark = async () => {
    try {
      const marked = await ask((bank) => bank.alerts.mark(alert.alertId, { read: !read }));
      setRead(marked.read);
      setFault(undefined);
    } catch (error) {
      setFault(sentenceOf(error));
    }
  };
  return html`<li class="row alert-row">
    <div>
      <p class="first">${!read && html`<${Badge} kind="good">New<//> `}${alert.message}</p>
      <p class="second">${formatMoment(alert.timestamp)}</p>
      ${fault && html`<${Notice} kind="bad" title=${fault} />`}
    </div>
    <${Button} kind="text" onPress=${mark}>${read ? 'Mark as new' : 'Mark as read'}<span class="visually-hidden">: ${alert.message}</span><//>
  </li>`;
}
