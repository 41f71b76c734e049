import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { addressOf, go } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount, Badge, Button, Empty, Submit, TextField } from '../../../design/components.ts';
import { type Children, html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { Moment } from '../../moment.ts';
import { type ClassBalance, type Flow, type Flows, read, type TrialBalance } from '../../operations.ts';
import { ask, may, session } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { FlowPicture } from './flow-picture.ts';

const parts = ['at', 'from', 'to'] as const;
type Asked = Readonly<Record<(typeof parts)[number], string>>;

/** The moment and the period stand in the address, so that a ledger can be shared. */
export function LedgerScreen({ query }: { query: URLSearchParams }) {
  const asked = Object.fromEntries(parts.map((name) => [name, query.get(name) ?? ''])) as Asked;
  return html`<${Screen} title="Ledger" lead=${`Times are those of ${session.value?.institution.timeZone}.`}>
    <${AskForm} asked=${asked} />
    <${Trial} at=${asked.at} />
    <${Moved} from=${asked.from} to=${asked.to} />
  <//>`;
}

function AskForm({ asked }: { asked: Asked }) {
  const [draft, setDraft] = useState(asked);
  const set = (name: keyof Asked) => (value: string) => setDraft({ ...draft, [name]: value });
  const submit = (event: Event) => {
    event.preventDefault();
    go(
      addressOf(
        'ledger',
        undefined,
        Object.fromEntries(Object.entries(draft).filter(([, one]) => one !== '')),
      ),
    );
  };
  return html`<form class="card" onSubmit=${submit} novalidate><div class="body filters">
    <${TextField} id="at" label="Balances at" type="datetime-local" value=${draft.at} onValue=${set('at')} />
    <${TextField} id="from" label="Money moved from" type="date" value=${draft.from} onValue=${set('from')} />
    <${TextField} id="to" label="Money moved until" type="date" value=${draft.to} onValue=${set('to')} />
    <div class="actions">
      <${Submit}>Show<//>
      <${Button} kind="text" onPress=${() => go(addressOf('ledger'))}>Now<//>
    </div>
  </div></form>`;
}

function figure(title: string, side: 'debits' | 'credits' | 'balance'): Column<ClassBalance> {
  return {
    title,
    text: (row) => row[side],
    cell: (row) => html`<${Amount} value=${{ amount: row[side], currencyCode: row.currency }} />`,
    isNumeric: true,
  };
}

/** Leads to accounts for roles that may read them. */
function linkTo(address: string | null, text: string): Children {
  return address !== null && may('members:read') ? html`<a href=${address}>${text}</a>` : text;
}

function addressOfClass({ class: name, currency }: ClassBalance, before: string): string {
  return addressOf('classes', name, { currency, before });
}

/** An internal class is one account. The name leads to it, and the number of accounts to the balances at the moment of the trial balance. */
function balanceColumns(at: string): readonly Column<ClassBalance>[] {
  return [
    {
      title: 'Class',
      text: ({ class: name }) => wordOf(name),
      cell: (row) =>
        linkTo(
          row.accountId === null ? addressOfClass(row, at) : addressOf('accounts', row.accountId),
          wordOf(row.class),
        ),
    },
    { title: 'Currency', text: ({ currency }) => currency },
    { title: 'Held by', text: ({ isInternal }) => (isInternal ? 'The institution' : 'Members') },
    {
      title: 'Accounts not at zero',
      text: ({ accounts }) => String(accounts),
      cell: (row) => linkTo(row.accounts === 0 ? null : addressOfClass(row, at), String(row.accounts)),
      isNumeric: true,
    },
    figure('Debits', 'debits'),
    figure('Credits', 'credits'),
    figure('Balance', 'balance'),
  ];
}

function Trial({ at }: { at: string }) {
  const { state, again } = useLoad(
    () => ask(() => read<TrialBalance>('/ledger/trial-balance', { at })),
    [at],
  );
  return html`<section class="card" aria-labelledby="trial">
    <header><h2 id="trial">Trial balance</h2></header>
    <${Stateful} state=${state} subject="the trial balance" again=${again}>
      ${(
        trial: TrialBalance,
      ) => html`<div class="body"><p class="quiet">Before <${Moment} at=${trial.at} /></p>
        ${trial.totals.map((total) => html`<p key=${total.currency}><${Total} total=${total} /></p>`)}</div>
        <${Table} caption="Trial balance" columns=${balanceColumns(trial.at)} rows=${trial.classes} file="trial-balance" empty="There is no account yet."
          keyOf=${({ class: name, isInternal, currency }: ClassBalance) => `${name} ${isInternal} ${currency}`} />`}
    <//>
  </section>`;
}

function Total({ total }: { total: TrialBalance['totals'][number] }) {
  const { currency, debits, credits, balance } = total;
  const money = (amount: string) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`;
  const isZero = /^0(\.0+)?$/.test(balance);
  return html`Debits ${money(debits)}, credits ${money(credits)}:
    <${Badge} kind=${isZero ? 'good' : 'bad'}>${isZero ? 'in balance' : html`off by ${money(balance)}`}<//>`;
}

const flowColumns: readonly Column<Flow>[] = [
  {
    title: 'From',
    text: ({ from }) => wordOf(from),
    cell: ({ from, fromAccountId: id }) => linkTo(id && addressOf('accounts', id), wordOf(from)),
  },
  {
    title: 'To',
    text: ({ to }) => wordOf(to),
    cell: ({ to, toAccountId: id }) => linkTo(id && addressOf('accounts', id), wordOf(to)),
  },
  { title: 'Postings', text: ({ postings }) => String(postings), isNumeric: true },
  {
    title: 'Amount',
    text: ({ amount }) => amount,
    cell: ({ amount, currency }) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`,
    isNumeric: true,
  },
];

function Moved({ from, to }: { from: string; to: string }) {
  const { state, again } = useLoad(() => ask(() => read<Flows>('/ledger/flows', { from, to })), [from, to]);
  return html`<section class="card" aria-labelledby="flows">
    <header><h2 id="flows">Money between classes</h2></header>
    <${Stateful} state=${state} subject="the money that moved" again=${again}>
      ${(moved: Flows) => html`<div class="body"><p class="quiet">
          From <time datetime=${moved.from}>${moved.from}</time> to <time datetime=${moved.to}>${moved.to}</time>: completed transfers by the day of
          their order, and postings of the core by the day of their arrival</p></div>
        ${moved.flows.length === 0 && html`<${Empty}>No money moved on these days.<//>`}
        ${currenciesOf(moved.flows).map((currency) => html`<${OfCurrency} key=${currency} currency=${currency} flows=${moved.flows.filter((flow) => flow.currency === currency)} />`)}`}
    <//>
  </section>`;
}

function OfCurrency({ currency, flows }: { currency: string; flows: readonly Flow[] }) {
  return html`<div class="flow">
    <div class="body"><${FlowPicture} flows=${flows} /></div>
    <div><${Table} caption=${`Money between classes in ${currency}`} columns=${flowColumns} rows=${flows} file=${`flows-${currency}`} empty="No money moved on these days."
      keyOf=${(flow: Flow) => `${flow.from} ${flow.to}`} /></div>
  </div>`;
}

function currenciesOf(flows: readonly Flow[]): string[] {
  return [...new Set(flows.map(({ currency }) => currency))];
}
