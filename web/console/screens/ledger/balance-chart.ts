import { useLoad } from '../../../common/load.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { momentColumn } from '../../moment.ts';
import { type BalanceHistory, pathOf, read } from '../../operations.ts';
import { ask } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import { stepsOf } from './balance-steps.ts';

type Row = BalanceHistory['balances'][number];

/** The balance at the end of each of the last ninety days, as a line and as a table. */
export function BalanceChart({ accountId }: { accountId: string }) {
  const { state, again } = useLoad(
    () => ask(() => read<BalanceHistory>(pathOf`/accounts/${accountId}/balances`, { days: '90' })),
    [accountId],
  );
  return html`<section class="card" aria-labelledby="history">
    <header><h2 id="history">Balance, 90 days</h2></header>
    <${Stateful} state=${state} subject="the balances" again=${again}>
      ${(history: BalanceHistory) => html`<${Chart} history=${history} />`}
    <//>
  </section>`;
}

function Chart({ history: { currency, balances } }: { history: BalanceHistory }) {
  const { path, zero, lowest, highest } = stepsOf(balances);
  const money = (amount: string) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`;
  const columns: readonly Column<Row>[] = [
    momentColumn('Before', ({ before }) => before),
    {
      title: 'Balance',
      text: ({ balance }) => balance,
      cell: ({ balance }) => money(balance),
      isNumeric: true,
    },
  ];
  return html`<div class="body">
      <svg class="steps" aria-hidden="true" preserveAspectRatio="none" viewBox="0 0 100 100">
        <line class="zero" x1="0" x2="100" y1=${zero} y2=${zero} /><path d=${path} />
      </svg>
      <p class="quiet">Lowest ${money(lowest.balance)}, highest ${money(highest.balance)}</p>
    </div>
    <details class="figures"><summary>The figures</summary>
      <${Table} caption="Balance by day" columns=${columns} rows=${balances.toReversed()} file="balances" empty="No balance yet."
        keyOf=${({ before }: Row) => before} />
    </details>`;
}
