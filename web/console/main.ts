import { render } from 'preact';
import { currentPlace } from '../common/router.ts';
import { Button, Loading, Notice } from '../design/components.ts';
import { html } from '../design/html.ts';
import '../design/theme.ts';
import { followLive } from './live.ts';
import { sentenceOf } from './operations.ts';
import { AccountScreen } from './screens/account.ts';
import { AuditScreen } from './screens/audit.ts';
import { BreakScreen } from './screens/breaks/break.ts';
import { BreaksScreen } from './screens/breaks/breaks.ts';
import { InstitutionScreen } from './screens/institution.ts';
import { LedgerScreen } from './screens/ledger/ledger.ts';
import { MemberScreen } from './screens/member.ts';
import { MembersScreen } from './screens/members.ts';
import { OperatorsScreen } from './screens/operators.ts';
import { ReviewScreen } from './screens/review/review.ts';
import { SearchScreen } from './screens/search.ts';
import { TodayScreen } from './screens/today.ts';
import { TransferScreen } from './screens/transfer.ts';
import { TransfersScreen } from './screens/transfers.ts';
import { WebhookScreen } from './screens/webhook.ts';
import { WebhooksScreen } from './screens/webhooks.ts';
import { may, session, start, toSignIn } from './session.ts';
import { firstScreen, NotAllowed, rightOf, Screen, Shell } from './shell.ts';

const root = document.querySelector('#root') as HTMLElement;

function Console() {
  if (session.value === undefined) return html`<${Loading} subject="the console" />`;
  if (session.value === null) return html`<${Welcome} />`;
  const { screen } = currentPlace();
  return html`<${Shell} screen=${screen || firstScreen()}><${Current} /><//>`;
}

function Current() {
  const place = currentPlace();
  const { id, query } = place;
  const screen = place.screen || firstScreen();
  if (!may(rightOf(screen))) return html`<${NotAllowed} />`;
  switch (screen) {
    case 'today':
      return html`<${TodayScreen} />`;
    case 'review':
      return html`<${ReviewScreen} />`;
    case 'transfers':
      return id === undefined
        ? html`<${TransfersScreen} query=${query} />`
        : html`<${TransferScreen} key=${id} id=${id} />`;
    case 'members':
      return id === undefined
        ? html`<${MembersScreen} key=${query.get('text')} text=${query.get('text') ?? ''} />`
        : html`<${MemberScreen} key=${id} personId=${id} />`;
    case 'accounts':
      return html`<${AccountScreen} key=${id} accountId=${id ?? ''} />`;
    case 'breaks':
      return id === undefined
        ? html`<${BreaksScreen} query=${query} />`
        : html`<${BreakScreen} key=${id} breakId=${id} />`;
    case 'ledger':
      return html`<${LedgerScreen} key=${query.toString()} query=${query} />`;
    case 'search':
      return html`<${SearchScreen} key=${query.get('text')} text=${query.get('text') ?? ''} />`;
    case 'webhooks':
      return id === undefined
        ? html`<${WebhooksScreen} />`
        : html`<${WebhookScreen} key=${id} endpointId=${id} />`;
    case 'audit':
      return html`<${AuditScreen} query=${query} />`;
    case 'operators':
      return html`<${OperatorsScreen} />`;
    case 'institution':
      return html`<${InstitutionScreen} />`;
    default:
      return html`<${Screen} title="There is no such screen" />`;
  }
}

function Welcome() {
  return html`<main class="welcome"><div class="card"><div class="body fields">
    <h1>Console</h1>
    <p class="quiet">For the people who run an institution. Each act stands in the audit under your name.</p>
    <${Button} onPress=${toSignIn}>Sign in<//>
  </div></div></main>`;
}

function Failed({ error }: { error: unknown }) {
  return html`<main class="welcome"><div class="card"><div class="body fields">
    <h1>Console</h1>
    <${Notice} kind="bad" title=${sentenceOf(error)} />
    <${Button} onPress=${() => location.reload()}>Try again<//>
  </div></div></main>`;
}

document.documentElement.dataset.density = 'compact';
render(html`<${Console} />`, root);
start().then(followLive, (error) => render(html`<${Failed} error=${error} />`, root));
