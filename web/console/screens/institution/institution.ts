import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { Notice } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { ChangeButton } from '../../form/change-button.ts';
import { type Values, wordsOfValue } from '../../form/changeable.ts';
import { act, read, type Session } from '../../operations.ts';
import { ask, may, session } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { Rules } from '../rules/rules.ts';
import { Calendar } from './calendar.ts';
import { Core } from './core.ts';
import { Screening } from './screening.ts';
import { type SettingGroup, settingGroups } from './setting-words.ts';
import { System } from './system.ts';

export function InstitutionScreen() {
  return html`<${Screen} title="Institution">
    <${Settings} />
    ${may('rules:preview') && html`<${Rules} />`}
    <${Screening} />
    <${Calendar} />
    <${Core} />
    <${System} />
  <//>`;
}

function Settings() {
  const { state, again, refresh } = useLoad(() => ask(() => read<Values>('/institution')), []);
  const [result, setResult] = useState<string>();
  const done = async (title: string) => {
    setResult(`${title}: the change is made.`);
    // The name stands above each screen, and the time zone in each moment.
    session.value = await ask(() => read<Session>('/session')).catch(() => session.peek());
    await refresh();
  };
  return html`
    ${result && html`<${Notice} title=${result} />`}
    <${Stateful} state=${state} subject="the settings" again=${again}>
      ${(settings: Values) =>
        settingGroups.map(
          (group) =>
            html`<${Group} key=${group.title} group=${group} settings=${settings} onDone=${() => void done(group.title)} />`,
        )}
    <//>`;
}

interface GroupProps {
  readonly group: SettingGroup;
  readonly settings: Values;
  readonly onDone: () => void;
}

function Group({ group: { title, fields }, settings, onDone }: GroupProps) {
  const id = title.toLowerCase().replaceAll(' ', '-');
  const send = (change: Values, reason: string) => act('/institution', { ...change, reason }, 'PATCH');
  return html`<section class="card" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2>
      ${
        may('institution:change') &&
        html`<${ChangeButton} subject=${title} effect="Every process uses the new values within a second."
          fields=${fields} values=${settings} send=${send} onDone=${onDone} />`
      }
    </header>
    <div class="body"><dl class="facts">${fields.map(
      (field) =>
        html`<div key=${field.name}><dt>${field.label}</dt><dd>${wordsOfValue(field, settings[field.name], String(settings.currency))}</dd></div>`,
    )}</dl></div>
  </section>`;
}
