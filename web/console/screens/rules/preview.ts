import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount, Notice } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { Moment, momentColumn } from '../../moment.ts';
import type { DifferingOrder, PreviewFigure, RulesPreview } from '../../operations.ts';

const figureColumns: readonly Column<PreviewFigure>[] = [
  { title: 'By the rules in force', text: ({ present }) => wordOf(present) },
  { title: 'By these rules', text: ({ proposed }) => wordOf(proposed) },
  { title: 'Transfers', text: ({ transfers }) => String(transfers), isNumeric: true },
  {
    title: 'Amount',
    text: ({ amount }) => amount,
    cell: ({ amount, currency }) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`,
    isNumeric: true,
  },
  { title: 'Currency', text: ({ currency }) => currency },
];

const orderColumns: readonly Column<DifferingOrder>[] = [
  momentColumn('Ordered', ({ createdAt }) => createdAt),
  {
    title: 'Transfer',
    text: ({ id }) => id,
    cell: ({ id }) => html`<a href=${addressOf('transfers', id)}>${id}</a>`,
  },
  { title: 'Type', text: ({ transferType }) => wordOf(transferType) },
  {
    title: 'Amount',
    text: ({ amount }) => amount,
    cell: (row) => html`<${Amount} value=${row} />`,
    isNumeric: true,
  },
  { title: 'By the rules in force', text: ({ present }) => wordOf(present) },
  { title: 'By these rules', text: ({ proposed }) => wordOf(proposed) },
];

/** The outcomes of the past orders by both rules, and the orders whose outcome differs. */
export function Preview({ preview }: { preview: RulesPreview }) {
  const { since, until, isCut, mostRead, leftOut, differing, figures, newest } = preview;
  const count = (number: number) => number.toLocaleString('en-US');
  return html`<div class="body" role="status">
      <h3>${differing === 1 ? 'One order' : `${count(differing)} orders`} would have another outcome</h3>
      <p class="quiet">From <${Moment} at=${since} /> to <${Moment} at=${until} />. ${count(leftOut)} others were refused for another reason or are
        reversals. Balances as they were and decisions of persons are not known to this preview.</p>
      ${isCut && html`<${Notice} kind="warn" title=${`A preview reads the newest ${count(mostRead)} transfers: older ones are left out, and count against no limit.`} />`}
    </div>
    <${Table} caption="Outcomes by both rules" columns=${figureColumns} rows=${figures} file="preview" empty="There was no order."
      keyOf=${({ currency, present, proposed }: PreviewFigure) => `${currency} ${present} ${proposed}`} />
    ${
      newest === undefined
        ? html`<p class="body quiet">Auditors also see the orders.</p>`
        : html`<div class="body"><h3>${differing > newest.length ? `The newest ${newest.length} of these orders` : 'These orders'}</h3></div>
          <${Table} caption="Orders with another outcome" columns=${orderColumns} rows=${newest} file="preview-orders" empty="None."
            keyOf=${({ id }: DifferingOrder) => id} />`
    }`;
}
