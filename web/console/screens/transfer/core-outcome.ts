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
        <div><dt>Outcome</dt><dd><${Badge} kind=${kinds[core.state]}>${wordOf(core.state)}<//></dd></div>
        <div><dt>Receipt</dt><dd>${core.coreReference ?? 'none'}</dd></div>
        ${refusalCode !== null && html`<div><dt>Refused for</dt><dd>${refusalCode}${refusalReason !== null && `: ${refusalReason}`}</dd></div>`}
        <div><dt>Reported by</dt><dd>${core.decidedBy ?? core.decidedOperator ?? 'nobody yet'}</dd></div>
        <div><dt>Reported</dt><dd>${moment(core.decidedAt, 'not yet')}</dd></div>
      </dl>
      <dl class="facts">
        <div><dt>Mode</dt><dd>${modes[core.mode]}</dd></div>
        <div><dt>Issued</dt><dd>${moment(core.issuedAt, 'not yet')}</dd></div>
        <div><dt>Fetched for the core</dt><dd>${moment(core.deliveredAt, 'not yet')}</dd></div>
        ${core.fileNumber !== null && html`<div><dt>In file</dt><dd>${core.fileNumber}</dd></div>`}
      </dl>
    </div>
  </section>`;
}
