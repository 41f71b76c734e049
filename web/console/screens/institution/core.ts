import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount, Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { Moment, momentColumn } from '../../moment.ts';
import { type CoreConnection, type OpenInstruction, read } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Stateful } from '../../shell.ts';

const kinds = { connected: 'good', late: 'warn', away: 'bad' } as const;
const link = (screen: string, id: string) => html`<a href=${addressOf(screen, id)}>${id}</a>`;

const columns: readonly Column<OpenInstruction>[] = [
  { title: 'Number', text: ({ sequence }) => String(sequence), isNumeric: true },
  { title: 'Transfer', text: ({ id }) => id, cell: ({ id }) => link('transfers', id) },
  {
    title: 'From',
    text: ({ fromAccountId }) => fromAccountId,
    cell: ({ fromAccountId }) => link('accounts', fromAccountId),
  },
  {
    title: 'To',
    text: ({ toAccountId }) => toAccountId,
    cell: ({ toAccountId }) => link('accounts', toAccountId),
  },
  {
    title: 'Amount',
    text: ({ amount }) => amount,
    cell: (row) => html`<${Amount} value=${row} />`,
    isNumeric: true,
  },
  { title: 'Mode', text: ({ mode }) => wordOf(mode) },
  { title: 'Fetched by', text: ({ leasedBy }) => leasedBy ?? 'nobody' },
  momentColumn('Until', ({ leaseUntil }) => leaseUntil),
];

/** The connection to the core, and the instructions that it has not decided. */
export function Core() {
  const { state, again } = useLoad(() => ask(() => read<CoreConnection>('/core')), []);
  return html`<section class="card" aria-labelledby="core">
    <header><h2 id="core">Core</h2></header>
    <${Stateful} state=${state} subject="the core" again=${again}>
      ${({
        state: now,
        heardAt,
        oldestUndeliveredAt,
      }: CoreConnection) => html`<div class="body"><dl class="facts">
        <div><dt>Connection</dt><dd><${Badge} kind=${kinds[now]}>${wordOf(now)}<//></dd></div>
        <div><dt>Last request of the core</dt><dd>${heardAt ? html`<${Moment} at=${heardAt} />` : 'none yet'}</dd></div>
        <div><dt>Oldest instruction not fetched</dt><dd>${oldestUndeliveredAt ? html`<${Moment} at=${oldestUndeliveredAt} />` : 'none'}</dd></div>
      </dl></div>
      ${may('members:read') && html`<${Instructions} />`}`}
    <//>
  </section>`;
}

function Instructions() {
  const { state, again } = useLoad(
    () => ask(() => read<readonly OpenInstruction[]>('/core/instructions')),
    [],
  );
  return html`<${Stateful} state=${state} subject="instructions" again=${again}>
    ${(
      rows: readonly OpenInstruction[],
    ) => html`<${Table} caption="Instructions without an outcome" columns=${columns} rows=${rows}
      keyOf=${({ sequence }: OpenInstruction) => String(sequence)} file="instructions" empty="Each instruction has an outcome." />`}
  <//>`;
}
