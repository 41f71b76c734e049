import { render } from 'preact';
import { useState } from 'preact/hooks';
import { Button, Loading, Notice } from '../design/components.ts';
import { html } from '../design/html.ts';
import '../design/theme.ts';
import { useLoad } from '../common/load.ts';
import { currentPlace } from '../common/router.ts';
import { sentenceOf } from './bank.ts';
import { brand } from './brand.ts';
import { factOf } from './facts.ts';
import { keepShell } from './keep-shell.ts';
import { AccountScreen } from './screens/account.ts';
import { AccountsScreen } from './screens/accounts.ts';
import { AlertsScreen } from './screens/alerts/alerts.ts';
import { SecurityScreen } from './screens/security.ts';
import { SpendingScreen } from './screens/spending.ts';
import { TransferScreen } from './screens/transfer/transfer.ts';
import { member, signIn, start } from './session.ts';
import { Screen, Shell, Stateful } from './shell.ts';

const root = document.querySelector('#root') as HTMLElement;

function App() {
  if (member.value === undefined) return html`<${Loading} subject=${brand.name} />`;
  if (member.value === null) return html`<${Welcome} />`;
  const { screen } = currentPlace();
  return html`<${Shell} screen=${screen || 'accounts'}><${Current} /><//>`;
}

function Current() {
  const { screen, id, query } = currentPlace();
  switch (screen) {
    case '':
    case 'accounts':
      return id === undefined
        ? html`<${AccountsScreen} />`
        : html`<${AccountScreen} key=${id} accountId=${id} />`;
    case 'transfer':
      return html`<${TransferScreen} from=${query.get('from') ?? undefined} />`;
    case 'spending':
      return html`<${SpendingScreen} />`;
    case 'alerts':
      return id === 'preferences' ? html`<${Preferences} />` : html`<${AlertsScreen} />`;
    case 'security':
      return html`<${SecurityScreen} />`;
    default:
      return html`<${Screen} title="There is no such screen" />`;
  }
}

/** Few open it, so its module is no part of the first view. */
function Preferences() {
  const { state, again } = useLoad(() => import('./screens/alerts/preferences.ts'), []);
  return html`<${Stateful} state=${state} subject="the screen" again=${again}>
    ${({ PreferencesScreen }: typeof import('./screens/alerts/preferences.ts')) => html`<${PreferencesScreen} />`}
  <//>`;
}

function Welcome() {
  const [fault, setFault] = useState<string>();
  const enter = () => {
    signIn().catch((error) => setFault(sentenceOf(error)));
  };
  return html`<main class="welcome"><div class="card"><div class="body fields">
    <p class="brand">${brand.name}</p>
    <h1>Your accounts, on your phone</h1>
    <p class="quiet">Balances, transactions, transfers and alerts. You sign in on your institution’s page.</p>
    ${fault && html`<${Notice} kind="bad" title=${fault} />`}
    <${Button} onPress=${enter}>Sign in<//>
  </div></div></main>`;
}

function Failed({ error }: { error: unknown }) {
  return html`<main class="welcome"><div class="card"><div class="body fields">
    <h1>${brand.name}</h1>
    <${Notice} kind="bad" title=${sentenceOf(error)} />
    <${Button} onPress=${() => location.reload()}>Try again<//>
  </div></div></main>`;
}

/** The service signs members in at one name only, which passkeys need; a page at another name of the same server moves there. */
const origin = factOf('origin');
if (origin !== location.origin) {
  location.replace(`${origin}${location.pathname}${location.hash}`);
} else {
  render(html`<${App} />`, root);
  start().catch((error) => render(html`<${Failed} error=${error} />`, root));
  keepShell().catch(() => {
    // The app works without it: a browser without service workers needs the network for each visit.
  });
}
