import { Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { Moment } from '../../moment.ts';
import type { CoreInstruction } from '../../operations.ts';

const modes = {
  WAIT: 'The transfer waits until the core accepts it',
  MEMO: 'The transfer completed at once; a refusal takes it back',
  STAND_IN: 'The core was away; a refusal takes the transfer back',
} as const satisfies Readonly<Record<CoreInstruction['mode'], string>>;

const kinds = { OPEN: 'warn', ACCEPTED: 'good', REJECTED: 'bad', WITHDRAWN: undefined } as const;

/** The instruction to the core with its outcome. The reference is the receipt of the core. */
export function CoreOutcome({ core }: { core: CoreInstruction }) {
  const { refusalCode, refusalReason } = core;
  const moment = (at: string | null, none: string) => (at === null ? none : html`<${Moment} at=${at} />`);
  return html`<section class="card" aria-labelledby="core">
    <header><h2 id="core">The core</h2></header>
    <div class="body split">
      <dl class="facts">
        <dt>Outcome</dt><dd><${Badge} kind=${kinds[core.state]}>${wordOf(core.state)}<//></dd>
        <dt>Receipt</dt><dd>${core.coreReference ?? 'none'}</dd>
        ${refusalCode !== null && html`<dt>Refused for</dt><dd>${refusalCode}${refusalReason !== null && `: ${refusalReason}`}</dd>`}
        <dt>Reported by</dt><dd>${core.decidedBy ?? core.decidedOperator ?? 'nobody yet'}</dd>
        <dt>Reported</dt><dd>${moment(core.decidedAt, 'not yet')}</dd>
      </dl>
      <dl class="facts">
        <dt>Mode</dt><dd>${modes[core.mode]}</dd>
        <dt>Issued</dt><dd>${moment(core.issuedAt, 'not yet')}</dd>
        <dt>Fetched for the core</dt><dd>${moment(core.deliveredAt, 'not yet')}</dd>
        ${core.fileNumber !== null && html`<dt>In file</dt><dd>${core.fileNumber}</dd>`}
      </dl>
    </div>
  </section>`;
}
