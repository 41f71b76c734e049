import type { Consent } from '@sharedraft/client';
import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { Button, Empty, Notice, SelectField } from '../../design/components.ts';
import { formatMoment } from '../../design/format/dates.ts';
import { html } from '../../design/html.ts';
import { type Theme, theme, themes } from '../../design/theme.ts';
import { ask, sentenceOf } from '../bank.ts';
import { member, signOut } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

const themeLabels: Readonly<Record<Theme, string>> = {
  system: 'As the device',
  light: 'Light',
  dark: 'Dark',
};

export function SecurityScreen() {
  const [fault, setFault] = useState<string>();
  const leave = () => {
    signOut().catch((error) => setFault(sentenceOf(error)));
  };
  return html`<${Screen} title="Security">
    <section class="card" aria-labelledby="you">
      <header><h2 id="you">This device</h2></header>
      <div class="body fields">
        <p>You are signed in as ${member.value?.name}.</p>
        ${fault && html`<${Notice} kind="bad" title=${fault} />`}
        <${SelectField} id="theme" label="Appearance" value=${theme.value} onValue=${(value: Theme) => {
          theme.value = value;
        }} options=${themes.map((value) => ({ value, label: themeLabels[value] }))} />
        <div class="actions"><${Button} kind="quiet" onPress=${leave}>Sign out<//></div>
      </div>
    </section>
    <${Apps} />
  <//>`;
}

/** The apps of others that the member gave access. */
function Apps() {
  const { state, again } = useLoad(() => ask((bank) => bank.tokens.consents()), []);
  return html`<section class="card" aria-labelledby="apps">
    <header><h2 id="apps">Connected apps</h2></header>
    <${Stateful} state=${state} subject="connected apps" again=${again}>
      ${(consents: readonly Consent[]) =>
        consents.length === 0
          ? html`<${Empty}>No other app has access to your accounts.<//>`
          : html`<ul class="list">${consents.map((consent) => html`<${App} key=${consent.consentId} consent=${consent} onEnd=${again} />`)}</ul>`}
    <//>
  </section>`;
}

function App({ consent, onEnd }: { consent: Consent; onEnd: () => void }) {
  const [fault, setFault] = useState<string>();
  const end = () => {
    ask((bank) => bank.tokens.withdrawConsent(consent.consentId)).then(onEnd, (error) =>
      setFault(sentenceOf(error)),
    );
  };
  return html`<li class="row">
    <div>
      <p class="first">${consent.clientName}</p>
      <p class="second">Until ${formatMoment(consent.expiresAt)}</p>
      ${fault && html`<${Notice} kind="bad" title=${fault} />`}
    </div>
    <${Button} kind="text" onPress=${end}>End access<span class="visually-hidden"> of ${consent.clientName}</span><//>
  </li>`;
}
