import { type Column, Table } from '../../../common/table.ts';
import { Amount, Badge } from '../../../design/components.ts';
import { formatMoney } from '../../../design/format/money.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import type { CheckOfTransfer, ShownTransfer } from '../../operations.ts';
import { boundOf } from './bounds.ts';

const names: Readonly<Record<CheckOfTransfer['check'], string>> = {
  SIGN_IN: 'Sign-in',
  ACCOUNTS: 'Accounts are known',
  STATE: 'Accounts may pay and receive',
  CURRENCY: 'Currency',
  TYPE: 'Type',
  PAYMENT_OPTION: 'Payment option',
  LIMIT: 'Limit',
  PAYOFF: 'Payoff',
  CONTRIBUTION: 'Yearly contribution',
  FUNDS: 'Available funds',
  STAND_IN: 'Limits without the core',
  SCREENING: 'Screening',
  REVIEW_TOTAL: 'Total before review',
  REVIEW: 'Review of one transfer',
  CUT_OFF: 'Cut-off',
  CORE: 'Core',
};

const figureNames: Readonly<Record<string, string>> = {
  perTransfer: 'cap of one',
  mostOrders: 'most orders',
  threshold: 'above',
  secondThreshold: 'two persons above',
};

const kinds = {
  PASSED: 'good',
  REFUSED: 'bad',
  HELD: 'warn',
  NOT_ASKED: undefined,
  NOT_KNOWN: undefined,
} as const satisfies Readonly<Record<CheckOfTransfer['outcome'], string | undefined>>;

function nameOf({ check, limit }: CheckOfTransfer): string {
  return limit === null ? names[check] : `${names[check]} ${boundOf(limit)}`;
}

/** The rules of then had no such bound. */
const without: Readonly<Partial<Record<CheckOfTransfer['check'], string>>> = {
  LIMIT: 'no limit bound it',
  REVIEW: 'no threshold',
};

function figureOf({ name, amount, count }: CheckOfTransfer['figures'][number], currencyCode: string): string {
  if (name === 'signInAgeSeconds') return `${count} s before the order`;
  if (name === 'askedMillis') return `answered in ${count} ms`;
  return `${figureNames[name] ?? name} ${amount === undefined ? count : formatMoney(amount, currencyCode)}`;
}

/** The checks of the decision, in the order in which the rules ask them. */
export function Checks({ transfer }: { transfer: ShownTransfer }) {
  const { currencyCode, checks, id } = transfer;
  const figuresOf = ({ check, source, figures }: CheckOfTransfer) => {
    if (figures.length === 0) return (source === 'RECOMPUTED' && without[check]) || '';
    return figures.map((figure) => figureOf(figure, currencyCode)).join(', ');
  };
  const columns: readonly Column<CheckOfTransfer>[] = [
    { title: 'Check', text: nameOf },
    {
      title: 'Outcome',
      text: ({ outcome }) => wordOf(outcome),
      cell: ({ outcome }) => html`<${Badge} kind=${kinds[outcome]}>${wordOf(outcome)}<//>`,
    },
    { title: 'Figures', text: figuresOf },
    {
      title: 'Headroom',
      text: ({ headroom }) => headroom ?? '',
      cell: ({ headroom }) =>
        headroom !== null && html`<${Amount} value=${{ amount: headroom, currencyCode }} />`,
      isNumeric: true,
    },
    { title: 'Source', text: ({ source }) => wordOf(source) },
  ];
  return html`<section class="card" aria-labelledby="checks">
    <header><h2 id="checks">Decision</h2></header>
    <${Table} caption="Checks of the decision" columns=${columns} rows=${checks} empty="No check of this transfer is known."
      keyOf=${(check: CheckOfTransfer) => `${checks.indexOf(check)} ${check.check}`} file=${`checks-${id}`} />
    <p class="body quiet">Stored: kept with the decision. Recomputed: as of the decision, from the rules and the orders of then. Not kept: no figure of then is known.</p>
  </section>`;
}
