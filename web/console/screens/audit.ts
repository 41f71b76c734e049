import { useRef, useState } from 'preact/hooks';
import { addressOf, go, viewPart } from '../../common/router.ts';
import type { Column } from '../../common/table.ts';
import { Badge, Button, Notice, SelectField, Submit, TextField } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { anyTime, EmptyPeriod, type Period, PeriodFields, periodFault } from '../form/period.ts';
import { wordOf } from '../format.ts';
import { momentColumn } from '../moment.ts';
import { type AuditEntry, act, type ChainVerdict, sentenceOf } from '../operations.ts';
import { PagedTable } from '../paged-table.ts';
import { ask, may } from '../session.ts';
import { Screen } from '../shell.ts';
import { DetailsButton, detailsOfFile, doerOf, Subject } from './audit-entry.ts';

const filters = [
  'action',
  'outcome',
  'operator',
  'userId',
  'subject',
  'clientId',
  'name',
  'address',
  'transactionId',
  'since',
  'until',
] as const;
type Filter = Readonly<Record<(typeof filters)[number], string>>;
const outcomes = ['', 'succeeded', 'refused'];

const columns: readonly Column<AuditEntry>[] = [
  { ...momentColumn<AuditEntry>('At', ({ at }) => at), order: 'time' },
  // In view also where a long subject lets the table scroll.
  {
    title: 'Details',
    text: () => '',
    cell: (entry) => html`<div class="actions"><${DetailsButton} entry=${entry} /></div>`,
    isActs: true,
  },
  { title: 'Action', text: ({ action }) => action },
  {
    title: 'Outcome',
    text: ({ outcome, reason }) => `${outcome} ${reason ?? ''}`.trim(),
    cell: ({ outcome, reason, times }) =>
      html`<${Badge} kind=${outcome === 'refused' ? 'bad' : undefined}>${wordOf(outcome)}<//> <span class="quiet">${reason}${times > 1 && ` ${times} times`}</span>`,
  },
  {
    title: 'By',
    text: doerOf,
    cell: (entry) =>
      html`${doerOf(entry)}${entry.breakGlass && html` <${Badge} kind="warn">Break glass<//>`}`,
  },
  {
    title: 'Subject',
    text: ({ subject }) => subject ?? '',
    cell: (entry) => html`<${Subject} entry=${entry} />`,
  },
  { title: 'Reason given', text: ({ statedReason }) => statedReason ?? '', isLong: true },
];

/** The file has the rest of an entry too. */
const fileColumns: readonly Column<AuditEntry>[] = [...columns, ...detailsOfFile];

/** The oldest first, as the audit is chained, unless the column At sorts it. The filter stands in the address. */
export function AuditScreen({ query }: { query: URLSearchParams }) {
  const filter = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? ''])) as Filter;
  const empty = html`<${EmptyPeriod} words="No entry fits the search" ...${filter} onAnyTime=${() => show({ ...filter, ...anyTime })} />`;
  const [verdicts, setVerdicts] = useState<readonly ChainVerdict[]>();
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  const verify = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      setVerdicts(await ask(() => act<readonly ChainVerdict[]>('/audit/verify')));
    } catch (error) {
      setFailure(sentenceOf(error));
    }
    setBusy(false);
  };
  const verifyButton = html`<${Button} kind="quiet" isBusy=${busy} onPress=${() => void verify()}>${busy ? 'Verifying …' : 'Verify the hashes'}<//>`;
  return html`<${Screen} title="Audit" lead="A search of the audit stands in the audit too." acts=${verifyButton}>
    ${failure && html`<${Notice} kind="bad" title=${failure} />`}
    ${verdicts?.map((one) => html`<${Notice} key=${one.chain} kind=${one.intact ? 'info' : 'bad'} title=${verdictOf(one)} />`)}
    <${FilterForm} key=${query.toString()} filter=${filter} />
    <section class="card" aria-label="Audit">
      <${PagedTable} key=${query.toString()} path="/audit" query=${filter} columns=${columns} filePath=${may('audit:export') ? '/audit/found' : null} fileColumns=${fileColumns}
        keyOf=${({ key }: AuditEntry) => String(key)} caption="Audit" file="audit" empty=${empty} />
    </section>
  <//>`;
}

function verdictOf({ chain, entries, anchors, intact }: ChainVerdict): string {
  const count = entries.toLocaleString('en-US');
  if (!intact)
    return `The chain of ${chain} is broken: \`sharedraft audit verify\` names the first entry that differs.`;
  return `The chain of ${chain} is intact: ${count} entries and ${anchors} anchors agree with their hashes.`;
}

/** The order of the list stays. */
function show(filter: Filter): void {
  go(addressOf('audit', undefined, { ...filter, 'audit.sort': viewPart('audit.sort') }));
}

function FilterForm({ filter }: { filter: Filter }) {
  const [draft, setDraft] = useState(filter);
  const [fault, setFault] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const set = (name: keyof Filter) => (value: string) => setDraft({ ...draft, [name]: value });
  const submit = (event: Event) => {
    event.preventDefault();
    const wrong = form.current ? periodFault(form.current, draft) : undefined;
    setFault(wrong);
    if (wrong === undefined) show(draft);
  };
  return html`<form ref=${form} class="card" onSubmit=${submit} novalidate><div class="body filters">
    <${TextField} id="action" label="Action, like login" value=${draft.action} onValue=${set('action')} maxLength=${64} />
    <${SelectField} id="outcome" label="Outcome" value=${draft.outcome} onValue=${set('outcome')} options=${outcomes.map((value) => ({ value, label: wordOf(value) || 'All' }))} />
    <${TextField} id="operator" label="Operator" value=${draft.operator} onValue=${set('operator')} maxLength=${128} />
    <${TextField} id="userId" label="User id" value=${draft.userId} onValue=${set('userId')} maxLength=${64} />
    <${TextField} id="subject" label="Subject" value=${draft.subject} onValue=${set('subject')} maxLength=${256} />
    <${TextField} id="clientId" label="Client" value=${draft.clientId} onValue=${set('clientId')} maxLength=${128} />
    <${TextField} id="address" label="Address or network" value=${draft.address} onValue=${set('address')} maxLength=${64} />
    <${TextField} id="name" label="Unknown name, as typed" value=${draft.name} onValue=${set('name')} maxLength=${254} />
    <${TextField} id="transactionId" label="Request" value=${draft.transactionId} onValue=${set('transactionId')} maxLength=${128} />
    <${PeriodFields} since=${draft.since} until=${draft.until} fault=${fault} onPeriod=${(period: Period) => setDraft({ ...draft, ...period })}
      onChoose=${(period: Period) => show({ ...draft, ...period })} />
    <div class="actions">
      <${Submit}>Search<//>
      <${Button} kind="text" onPress=${() => go(addressOf('audit'))}>Clear<//>
    </div>
  </div></form>`;
}
