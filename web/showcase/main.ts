import { signal } from '@preact/signals';
import { render } from 'preact';
import {
  Amount,
  Badge,
  Bars,
  Button,
  Choice,
  Empty,
  Loading,
  LongTextField,
  Notice,
  SelectField,
  TextField,
} from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { Icon } from '../design/icons.ts';
import { type Theme, theme, themes } from '../design/theme.ts';

const colors = [
  'page',
  'surface',
  'sunken',
  'line',
  'edge',
  'ink',
  'soft',
  'accent',
  'accent-soft',
  'good',
  'warn',
  'warn-soft',
  'bad',
  'bad-soft',
];
const density = signal('comfortable');
const amount = signal('105.25');
const isChecked = signal(true);
const money = (value: string) => ({ amount: value, currencyCode: 'USD' });

function Section({ title, children }: { title: string; children?: Children }) {
  return html`<section class="card"><header><h2>${title}</h2></header><div class="body specimens">${children}</div></section>`;
}

function Showcase() {
  return html`<main class="showcase">
    <header>
      <h1>Components</h1>
      <p>The parts of the member’s app, each in its states. Colors, space and type are in <code>tokens.css</code>.</p>
      <div class="switches">
        <${SelectField} id="theme" label="Theme" value=${theme.value} onValue=${(value: Theme) => {
          theme.value = value;
        }} options=${themes.map((value) => ({ value, label: value }))} />
        <${SelectField} id="density" label="Density" value=${density.value} onValue=${(value: string) => {
          density.value = value;
          document.documentElement.dataset.density = value;
        }} options=${['comfortable', 'compact'].map((value) => ({ value, label: value }))} />
      </div>
    </header>
    <${Section} title="Color">
      <ul class="swatches">${colors.map((name) => html`<li key=${name}><span class="swatch" data-color=${name}></span>${name}</li>`)}</ul>
    <//>
    <${Section} title="Amounts">
      <${Amount} value=${money('48250.75')} size="large" />
      <p><${Amount} value=${money('9007199254740993.07')} /> is exact: no amount becomes a floating-point number.</p>
      <p><${Amount} value=${money('1250.00')} isCredit=${true} /> came in, <${Amount} value=${money('64.18')} isCredit=${false} /> went out.</p>
      <p><${Amount} value=${{ amount: '1200', currencyCode: 'JPY' }} />, <${Amount} value=${{ amount: '12.500', currencyCode: 'KWD' }} /></p>
    <//>
    <${Section} title="Buttons">
      <div class="actions">
        <${Button} onPress=${() => {}}>Move money<//>
        <${Button} kind="quiet" onPress=${() => {}}>Back<//>
        <${Button} kind="text" onPress=${() => {}}>Show more<//>
        <${Button} isBusy=${true} onPress=${() => {}}>Sending …<//>
      </div>
    <//>
    <${Section} title="Fields">
      <${TextField} id="amount" label="Amount" inputMode="decimal" value=${amount.value} hint="For example 105.25"
        onValue=${(value: string) => {
          amount.value = value;
        }} />
      <${LongTextField} id="long" label="Public keys" value='{ "keys": [] }' onValue=${() => {}} hint="A JWK Set." />
      <${TextField} id="wrong" label="Amount" inputMode="decimal" value="1,50" onValue=${() => {}} fault="Write the amount in digits, like 1.50 or 1,500.00." />
      <${SelectField} id="from" label="From" value="a" onValue=${() => {}} options=${[{ value: 'a', label: 'Share Draft ·· 01-10' }]} />
      <${Choice} id="choice" label="In the inbox" isChecked=${isChecked.value} onChange=${(
        value: boolean,
      ) => {
        isChecked.value = value;
      }} />
    <//>
    <${Section} title="Messages">
      <${Notice} title="The transfer is complete."><p>105.25 is in Share Savings.</p><//>
      <${Notice} kind="warn" title="The institution reviews this transfer."><p>The amount is held until then.</p><//>
      <${Notice} kind="bad" title="The balance does not cover this."><p>You can move up to 48,250.75.</p><//>
      <div class="actions"><${Badge}>Closed<//><${Badge} kind="good">Completed<//><${Badge} kind="warn">Pending<//><${Badge} kind="bad">Failed<//></div>
    <//>
    <${Section} title="Spending">
      <${Bars} bars=${[
        ['Groceries', 41_872n, '418.72'],
        ['Restaurants', 18_640n, '186.40'],
        ['Fuel', 9_105n, '91.05'],
      ].map(([label, minor, value]) => ({ label, minor, value: money(String(value)) }))} />
    <//>
    <${Section} title="Lists">
      <ul class="list">
        <li class="row"><span><span class="first">Juniper Street Market</span></span><${Amount} value=${money('64.18')} isCredit=${false} /><span class="second">Groceries</span><span class="second">$2,410.11</span></li>
        <li class="row"><span class="first"><b>Text is text</b>${' <script>alert(1)</script>'}</span><${Badge} kind="warn">Pending<//></li>
      </ul>
    <//>
    <${Section} title="States">
      <${Loading} subject="accounts" />
      <${Empty}>No transaction fits the search.<//>
    <//>
    <${Section} title="Icons">
      <div class="actions">${(['accounts', 'transfer', 'spending', 'alerts', 'security', 'back', 'next'] as const).map((name) => html`<${Icon} key=${name} name=${name} />`)}</div>
    <//>
  </main>`;
}

render(html`<${Showcase} />`, document.querySelector('#root') as HTMLElement);
