import { addressOf } from '../../../common/router.ts';
import type { Column } from '../../../common/table.ts';
import { Amount } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { momentOf } from '../../moment.ts';
import type { AccountOfClass } from '../../operations.ts';
import { PagedTable } from '../../paged-table.ts';
import { session } from '../../session.ts';
import { Screen } from '../../shell.ts';

/**
 * The accounts that a class of a trial balance counts. Currency and moment stand in the address, so that the balances are those of the trial
 * balance however many pages are read.
 */
export function ClassScreen({ name, query }: { name: string; query: URLSearchParams }) {
  const currency = query.get('currency') ?? session.value?.institution.currency ?? '';
  const before = query.get('before') ?? '';
  const moment = Number.isNaN(Date.parse(before)) ? undefined : momentOf(before);
  return html`<${Screen} title=${`${wordOf(name)}, ${currency}`} lead=${moment ? `Balances before ${moment}` : 'Balances of now'}>
    <section class="card" aria-labelledby="of-class">
      <header><h2 id="of-class">Accounts not at zero</h2></header>
      <p class="body quiet">As the ledger has them: credit is positive. They sum to the balance of the class.</p>
      <${PagedTable} path="/ledger/accounts" query=${{ class: name, currency, before }} columns=${columnsIn(currency)} caption="Accounts of the class"
        keyOf=${({ accountId }: AccountOfClass) => accountId} file=${`accounts-${name}-${currency}`} empty="Every account of the class was at zero." />
    </section>
  <//>`;
}

function columnsIn(currencyCode: string): readonly Column<AccountOfClass>[] {
  return [
    {
      title: 'Account',
      text: ({ accountId }) => accountId,
      cell: ({ accountId }) => html`<a href=${addressOf('accounts', accountId)}>${accountId}</a>`,
    },
    { title: 'Description', text: ({ description }) => description },
    {
      title: 'Membership',
      text: ({ memberNumber }) => memberNumber ?? '',
      cell: ({ memberNumber: text }) =>
        text === null
          ? 'The institution'
          : html`<a href=${addressOf('members', undefined, { text })}>${text}</a>`,
    },
    {
      title: 'Balance',
      text: ({ balance }) => balance,
      cell: ({ balance: amount }) => html`<${Amount} value=${{ amount, currencyCode }} />`,
      isNumeric: true,
    },
  ];
}
