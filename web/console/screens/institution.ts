import { useLoad } from '../../common/load.ts';
import { html } from '../../design/html.ts';
import { read } from '../operations.ts';
import { ask } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

type Settings = Readonly<Record<string, unknown>>;

export function InstitutionScreen() {
  const { state, again } = useLoad(() => ask(() => read<Settings>('/institution')), []);
  return html`<${Screen} title="Institution">
    <${Stateful} state=${state} subject="the settings" again=${again}>
      ${(
        settings: Settings,
      ) => html`<section class="card" aria-label="Settings"><div class="body"><dl class="facts">
        ${Object.entries(settings).map(([name, value]) => html`<dt key=${name}>${titleOf(name)}</dt><dd>${textOf(value)}</dd>`)}
      </dl></div></section>`}
    <//>
  <//>`;
}

/** `Time zone` of `timeZone`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
