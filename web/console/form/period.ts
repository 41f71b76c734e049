import { Button } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { Moment } from '../moment.ts';

interface PeriodProps {
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly onAnyTime: () => void;
}

/** The period of a search that came with its address, as from a figure of Today, and the way out of it. */
export function Period({ since, until, onAnyTime }: PeriodProps) {
  if (!since && !until) return null;
  return html`<p class="period">
    <span>${since && html`Since <${Moment} at=${since} />`}${since && until && ', '}${until && html`${since ? 'before' : 'Before'} <${Moment} at=${until} />`}</span>
    <${Button} kind="text" onPress=${onAnyTime}>Any time<//>
  </p>`;
}
