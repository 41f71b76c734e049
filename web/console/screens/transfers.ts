import { useState } from 'preact/hooks';
import { addressOf, go } from '../../common/router.ts';
import { Button, SelectField, Submit, TextField } from '../../design/components.ts';
import { readAmount } from '../../design/format/money.ts';
import { html } from '../../design/html.ts';
import { Period } from '../form/period.ts';
import { wordOf } from '../format.ts';
import type { FoundTransfer } from '../operations.ts';
import { PagedTable } from '../paged-table.ts';
import { Screen } from '../shell.ts';
import { transferColumns } from './transfer-columns.ts';

const filters = [
  'status',
  'transferType',
  'failureCode',
  'accountId',
  'userId',
  'leastAmount',
  'mostAmount',
  'since',
  'until',
] as const;
type Filter = Partial<Record<(typeof filters)[number], string>>;
const statuses = ['', 'PENDING', 'COMPLETED', 'FAILED'];
const types = ['', 'STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI'];

function optionsOf(values: readonly string[]) {
  return values.map((value) => ({ value, label: wordOf(value) || 'All' }));
}

/** The filter stands in the address, so that a search can be shared. */
export function TransfersScreen({ query }: { query: URLSearchParams }) {
  const filter: Filter = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? '']));
  return html`<${Screen} title="Transfers">
    <${FilterForm} key=${query.toString()} filter=${filter} />
    <section class="card" aria-label="Transfers">
      <${PagedTable} key=${query.toString()} path="/transfers" query=${filter} columns=${transferColumns}
        keyOf=${({ id }: FoundTransfer) => id} caption="Transfers" file="transfers" empty="No transfer fits the search." />
    </section>
  <//>`;
}

function FilterForm({ filter }: { filter: Filter }) {
  const [draft, setDraft] = useState(filter);
  const [fault, setFault] = useState<string>();
  const set = (name: keyof Filter) => (value: string) => setDraft({ ...draft, [name]: value });
  const submit = (event: Event) => {
    event.preventDefault();
    const amounts = [draft.leastAmount, draft.mostAmount].filter(Boolean) as string[];
    if (amounts.some((text) => readAmount(text) === undefined))
      return setFault('Write amounts in digits, like 105.25.');
    const given = Object.entries(draft).filter(([, value]) => value !== '') as [string, string][];
    go(
      addressOf(
        'transfers',
        undefined,
        Object.fromEntries(
          given.map(([name, value]) => [name, /Amount$/.test(name) ? (readAmount(value) ?? value) : value]),
        ),
      ),
    );
  };
  const { since: _, until: __, ...anyTime } = filter;
  const goAnyTime = () => {
    const given = Object.entries(anyTime).filter(([, value]) => value !== '');
    go(addressOf('transfers', undefined, Object.fromEntries(given)));
  };
  return html`<form class="card" onSubmit=${submit} novalidate><div class="body filters">
    <${SelectField} id="status" label="Status" value=${draft.status ?? ''} onValue=${set('status')} options=${optionsOf(statuses)} />
    <${SelectField} id="transferType" label="Type" value=${draft.transferType ?? ''} onValue=${set('transferType')} options=${optionsOf(types)} />
    <${TextField} id="failureCode" label="Failure code" value=${draft.failureCode} onValue=${set('failureCode')} maxLength=${64} />
    <${TextField} id="accountId" label="Account id" value=${draft.accountId} onValue=${set('accountId')} maxLength=${64} />
    <${TextField} id="userId" label="User id" value=${draft.userId} onValue=${set('userId')} maxLength=${64} />
    <${TextField} id="leastAmount" label="At least" inputMode="decimal" value=${draft.leastAmount} onValue=${set('leastAmount')} fault=${fault} />
    <${TextField} id="mostAmount" label="At most" inputMode="decimal" value=${draft.mostAmount} onValue=${set('mostAmount')} />
    <div class="actions">
      <${Submit}>Search<//>
      <${Button} kind="text" onPress=${() => go(addressOf('transfers'))}>Clear<//>
    </div>
    <${Period} since=${filter.since} until=${filter.until} onAnyTime=${goAnyTime} />
  </div></form>`;
}
