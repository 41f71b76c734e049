import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { Notice } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActButton } from '../../act.ts';
import { ChangeButton } from '../../form/change-button.ts';
import { type Values, wordsOfValue } from '../../form/changeable.ts';
import { wordOf } from '../../format.ts';
import { act, read } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import { screeningFields } from './setting-words.ts';

interface Tried {
  readonly verdict?: string;
  readonly reference?: string | null;
  readonly error?: string;
  readonly millis: number;
}

const tryOut: Act<string> = {
  verb: 'Try it',
  effect: 'The service that judges orders is asked about an invented order now. No money moves.',
  run: async (reason) => {
    const { verdict, error, millis } = await act<Tried>('/screening/test', { reason });
    return verdict
      ? `The verdict on an invented order is ${wordOf(verdict).toLowerCase()}, after ${millis} ms.`
      : `There was no verdict after ${millis} ms: ${error}`;
  },
};

const rotate: Act<string> = {
  verb: 'New secret',
  effect: 'A new secret signs the questions from now on. The one before signs as well for a day.',
  run: async (reason) => {
    const { secret } = await act<{ readonly secret: string }>('/screening/rotate-secret', { reason });
    return `The new secret is ${secret}. It is not shown again.`;
  },
};

const switchOff: Act<string> = {
  verb: 'Switch off',
  effect: 'No order is screened from now on. The command line sets the address anew.',
  run: async (reason) => {
    await act('/screening/off', { reason });
    return 'Screening is switched off.';
  },
};

/** The rules by which another service judges orders, and the acts on it. Its address is the command line's. */
export function Screening() {
  const { state, again, refresh } = useLoad(() => ask(() => read<Values>('/screening')), []);
  const [result, setResult] = useState<string>();
  const done = (words: string) => {
    setResult(words);
    void refresh();
  };
  return html`<section class="card" aria-labelledby="screening">
    <header><h2 id="screening">Screening</h2>
      ${state.kind === 'ready' && state.value.on === true && may('institution:change') && html`<${Acts} values=${state.value} onDone=${done} />`}
    </header>
    ${result && html`<div class="body"><${Notice} title=${result} /></div>`}
    <${Stateful} state=${state} subject="screening" again=${again}>
      ${(values: Values) =>
        values.on === true
          ? html`<div class="body"><dl class="facts">${screeningFields.map(
              (field) =>
                html`<div key=${field.name}><dt>${field.label}</dt><dd>${wordsOfValue(field, values[field.name], String(values.currencyCode))}</dd></div>`,
            )}</dl></div>`
          : html`<p class="body quiet">No order is screened. The command line switches screening on, with the address of the service that judges orders.</p>`}
    <//>
  </section>`;
}

function Acts({ values, onDone }: { values: Values; onDone: (words: string) => void }) {
  return html`<div class="actions">
    <${ChangeButton} subject="Screening" effect="Orders are screened by the new rules from now on." fields=${screeningFields} values=${values}
      send=${(change: Values, reason: string) => act('/screening', { ...change, reason }, 'PATCH')} onDone=${() => onDone('Screening: the change is made.')} />
    <${ActButton} act=${tryOut} onDone=${onDone} />
    <${ActButton} act=${rotate} onDone=${onDone} />
    <${ActButton} act=${switchOff} onDone=${onDone} />
  </div>`;
}
