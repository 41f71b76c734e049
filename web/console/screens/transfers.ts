import { useRef, useState } from 'preact/hooks';
import { addressOf, go, viewPart } from '../../common/router.ts';
import { Button, SelectField, Submit, TextField } from '../../design/components.ts';
import { readAmount } from '../../design/format/money.ts';
import { html } from '../../design/html.ts';
import { anyTime, EmptyPeriod, type Period, PeriodFields, periodFault } from '../form/period.ts';
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
type Filter = Readonly<Record<(typeof filters)[number], string>>;
const statuses = ['', 'PENDING', 'COMPLETED', 'FAILED'];
const types = ['', 'STANDARD', 'CROSS_MEMBER', 'IRA_CONTRIBUTION', 'LOAN_PAYMENT', 'INTRA_FI'];

function optionsOf(values: readonly string[]) {
  return values.map((value) => ({ value, label: wordOf(value) || 'All' }));
}

/** The filter stands in the address, so that a search can be shared. */
export function TransfersScreen({ query }: { query: URLSearchParams }) {
  const filter = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? ''])) as Filter;
  const empty = html`<${EmptyPeriod} words="No transfer fits the search" ...${filter} onAnyTime=${() => show({ ...filter, ...anyTime })} />`;
  return html`<${Screen} title="Transfers">
    <${FilterForm} key=${query.toString()} filter=${filter} />
    <section class="card" aria-label="Transfers">
      <${PagedTable} key=${query.toString()} path="/transfers" query=${filter} columns=${transferColumns}
        keyOf=${({ id }: FoundTransfer) => id} caption="Transfers" file="transfers" empty=${empty} />
    </section>
  <//>`;
}

/** The order of the list stays. */
function show(filter: Filter): void {
  go(addressOf('transfers', undefined, { ...filter, 'transfers.sort': viewPart('transfers.sort') }));
}

function FilterForm({ filter }: { filter: Filter }) {
  const [draft, setDraft] = useState(filter);
  const [amountFault, setAmountFault] = useState<string>();
  const [fault, setFault] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const set = (name: keyof Filter) => (value: string) => setDraft({ ...draft, [name]: value });
  const search = (wanted: Filter) => {
    const [leastAmount, mostAmount] = [wanted.leastAmount, wanted.mostAmount].map(
      (text) => text && readAmount(text),
    );
    const isWrong = leastAmount === undefined || mostAmount === undefined;
    setAmountFault(isWrong ? 'Write amounts in digits, like 105.25.' : undefined);
    if (!isWrong) show({ ...wanted, leastAmount, mostAmount });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const wrong = form.current ? periodFault(form.current, draft) : undefined;
    setFault(wrong);
    if (wrong === undefined) search(draft);
  };
  const choose = (period: Period) => search({ ...draft, ...period });
  return html`<form ref=${form} class="card" onSubmit=${submit} novalidate><div class="body filters">
    <${SelectField} id="status" label="Status" value=${draft.status} onValue=${set('status')} options=${optionsOf(statuses)} />
    <${SelectField} id="transferType" label="Type" value=${draft.transferType} onValue=${set('transferType')} options=${optionsOf(types)} />
    <${TextField} id="failureCode" label="Failure code" value=${draft.failureCode} onValue=${set('failureCode')} maxLength=${64} />
    <${TextField} id="accountId" label="Account id" value=${draft.accountId} onValue=${set('accountId')} maxLength=${64} />
    <${TextField} id="userId" label="User id" value=${draft.userId} onValue=${set('userId')} maxLength=${64} />
    <${TextField} id="leastAmount" label="At least" inputMode="decimal" value=${draft.leastAmount} onValue=${set('leastAmount')} fault=${amountFault} />
    <${TextField} id="mostAmount" label="At most" inputMode="decimal" value=${draft.mostAmount} onValue=${set('mostAmount')} />
    <${PeriodFields} since=${draft.since} until=${draft.until} fault=${fault} onPeriod=${(period: Period) => setDraft({ ...draft, ...period })} onChoose=${choose} />
    <div class="actions">
      <${Submit}>Search<//>
      <${Button} kind="text" onPress=${() => go(addressOf('transfers'))}>Clear<//>
    </div>
  </div></form>`;
}
