import { useLoad } from '../../../common/load.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { type Limit, read } from '../../operations.ts';
import { ask } from '../../session.ts';
import { Stateful } from '../../shell.ts';

export const limitColumns: readonly Column<Limit>[] = [
  { title: 'Counts', text: ({ subject, subjectId }) => `${wordOf(subject)} ${subjectId}` },
  { title: 'Per', text: ({ period }) => wordOf(period) },
  { title: 'Type', text: ({ transferType }) => wordOf(transferType) || 'All' },
  {
    title: 'Used',
    text: ({ used }) => used,
    cell: ({ used: amount, currency }) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`,
    isNumeric: true,
  },
  {
    title: 'Left',
    text: ({ remaining }) => remaining ?? '',
    cell: ({ remaining: amount, currency }) =>
      amount && html`<${Amount} value=${{ amount, currencyCode: currency }} />`,
    isNumeric: true,
  },
  {
    title: 'Transfers',
    text: ({ transfers, maxCount }) => `${transfers}${maxCount === null ? '' : ` of ${maxCount}`}`,
  },
];

/** The limits of a person or of an account, with what is used of them. */
export function Limits({ path }: { path: string }) {
  const { state, again } = useLoad(() => ask(() => read<readonly Limit[]>(path)), [path]);
  return html`<section class="card" aria-labelledby="limits">
    <header><h2 id="limits">Limits</h2></header>
    <${Stateful} state=${state} subject="limits" again=${again}>
      ${(
        limits: readonly Limit[],
      ) => html`<${Table} caption="Limits" columns=${limitColumns} rows=${limits} empty="No limit."
        keyOf=${({ limitKey, subjectId }: Limit) => `${limitKey} ${subjectId}`} />`}
    <//>
  </section>`;
}
