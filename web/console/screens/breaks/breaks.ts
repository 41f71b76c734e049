import { useState } from 'preact/hooks';
import { addressOf, go } from '../../../common/router.ts';
import type { Column } from '../../../common/table.ts';
import { Amount, SelectField } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { durationOf, wordOf } from '../../format.ts';
import { useChanges } from '../../live.ts';
import { momentColumn } from '../../moment.ts';
import type { Break } from '../../operations.ts';
import { PagedTable } from '../../paged-table.ts';
import { may } from '../../session.ts';
import { Screen } from '../../shell.ts';

const classes = [
  'MISSING_HERE',
  'MISSING_THERE',
  'AMOUNT',
  'DUPLICATE',
  'TIMING',
  'UNKNOWN_ACCOUNT',
  'AMOUNT_MISMATCH',
  'BELOW_FLOOR',
  'REVERSAL_REJECTED',
];

/** The differences between the core's books and these. The filter stands in the address. */
export function BreaksScreen({ query }: { query: URLSearchParams }) {
  const filter = { state: query.get('state') ?? 'open', class: query.get('class') ?? '' };
  const pick = (name: keyof typeof filter) => (value: string) =>
    go(addressOf('breaks', undefined, { ...filter, [name]: value }));
  const [round, setRound] = useState(0);
  useChanges('breaks', () => setRound(round + 1));
  const asked = { open: String(filter.state !== 'closed'), class: filter.class };
  return html`<${Screen} title="Breaks" lead="Differences between the core’s books and these, the oldest first">
    <div class="card"><div class="body filters">
      <${SelectField} id="state" label="State" value=${filter.state} onValue=${pick('state')}
        options=${['open', 'closed'].map((value) => ({ value, label: wordOf(value) }))} />
      <${SelectField} id="class" label="Class" value=${filter.class} onValue=${pick('class')}
        options=${['', ...classes].map((value) => ({ value, label: wordOf(value) || 'All' }))} />
    </div></div>
    <section class="card" aria-label="Breaks">
      <${PagedTable} key=${query.toString()} round=${round} path="/breaks" query=${asked} columns=${columns} keyOf=${({ id }: Break) => id}
        caption="Breaks" file="breaks" empty=${`No break is ${filter.state}${filter.class === '' ? '' : ' in this class'}.`} />
    </section>
  <//>`;
}

/** How long a break was open, or has been until now. */
export function ageOf({ openedAt, closedAt }: Break): string {
  const end = closedAt === undefined ? Date.now() : Date.parse(closedAt);
  return durationOf(Math.max(0, end - Date.parse(openedAt)));
}

/** Leads to the account for roles that may read it. An account that is not here has no page. */
export function AccountOf({ of }: { of: Break }) {
  return may('members:read') && of.class !== 'UNKNOWN_ACCOUNT'
    ? html`<a href=${addressOf('accounts', of.accountId)}>${of.accountId}</a>`
    : of.accountId;
}

const columns: readonly Column<Break>[] = [
  {
    title: 'Break',
    text: ({ id }) => id,
    cell: ({ id }) => (may('members:read') ? html`<a href=${addressOf('breaks', id)}>${id}</a>` : id),
    isNumeric: true,
  },
  { title: 'Class', text: (one) => wordOf(one.class) },
  { title: 'Account', text: ({ accountId }) => accountId, cell: (one) => html`<${AccountOf} of=${one} />` },
  {
    title: 'Difference',
    text: ({ difference }) => difference,
    cell: ({ difference, currencyCode }) => html`<${Amount} value=${{ amount: difference, currencyCode }} />`,
    isNumeric: true,
  },
  momentColumn('Opened', ({ openedAt }) => openedAt),
  { title: 'Age', text: ageOf },
  { title: 'Owner', text: ({ owner }) => owner ?? 'None' },
  momentColumn('Closed', ({ closedAt }) => closedAt),
];
