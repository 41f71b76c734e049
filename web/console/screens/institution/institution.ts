import { useLoad } from '../../../common/load.ts';
import { html } from '../../../design/html.ts';
import { Moment } from '../../moment.ts';
import { read, type WorkFigures } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { Rules } from '../rules/rules.ts';
import { Work } from './work.ts';

type Settings = Readonly<Record<string, unknown>>;

export function InstitutionScreen() {
  return html`<${Screen} title="Institution">
    <${Facts} id="settings" title="Settings" path="/institution" />
    ${may('rules:preview') && html`<${Rules} />`}
    <${Facts} id="screening" title="Screening" path="/screening" />
    <${Facts} id="system" title="System" path="/system" />
  <//>`;
}

function Facts({ id, title, path }: { id: string; title: string; path: string }) {
  const { state, again } = useLoad(() => ask(() => read<Settings>(path)), [path]);
  return html`<section class="card" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2></header>
    <${Stateful} state=${state} subject=${title.toLowerCase()} again=${again}>
      ${(settings: Settings) => html`<div class="body"><dl class="facts">
        ${flat(settings).map(([name, value]) => html`<div key=${name}><dt>${titleOf(name)}</dt><dd>${isMoment(value) ? html`<${Moment} at=${value} />` : textOf(value)}</dd></div>`)}
      </dl></div>
      ${settings.work !== undefined && html`<${Work} work=${settings.work as WorkFigures | null} />`}`}
    <//>
  </section>`;
}

/** The facts of the database stand inside those of the system; the work has a part of its own. */
function flat({ database, work: _, ...facts }: Settings): [string, unknown][] {
  return Object.entries({ ...facts, ...(database as Settings | undefined) });
}

/** `Time zone` of `timeZone`. */
function titleOf(name: string): string {
  const words = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function isMoment(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
}

function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(String).join(', ') || 'none';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
