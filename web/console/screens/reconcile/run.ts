import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import type { Column } from '../../../common/table.ts';
import { Amount, Badge, Empty } from '../../../design/components.ts';
import { type Children, html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { Moment } from '../../moment.ts';
import { type Finding, pathOf, type ReconcileRunWithKinds, read } from '../../operations.ts';
import { PagedTable } from '../../paged-table.ts';
import { ask, may } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { rangeOf } from './runs.ts';

/** A run with its findings, all of them or those of the kind in the address. */
export function RunScreen({ runId, query }: { runId: string; query: URLSearchParams }) {
  const path = pathOf`/reconcile/runs/${runId}`;
  const { state, again } = useLoad(() => ask(() => read<ReconcileRunWithKinds>(path)), [runId]);
  const run = state.kind === 'ready' ? state.value : undefined;
  const lead = run && html`${rangeOf(run)}; ended <${Moment} at=${run.finishedAt} />`;
  return html`<${Screen} title=${`Run ${runId}`} lead=${lead}>
    <p><a href=${addressOf('reconcile')}>All runs</a></p>
    <${Stateful} state=${state} subject="the run" again=${again}>
      ${(one: ReconcileRunWithKinds) =>
        one.findings === 0
          ? html`<section class="card" aria-label="Findings"><${Empty}>Everything agrees.<//></section>`
          : html`<${Kinds} run=${one} />${may('members:read') && html`<${Findings} path=${`${path}/findings`} run=${one} kind=${query.get('kind') ?? ''} />`}`}
    <//>
  <//>`;
}

function kindWord(kind: string): string {
  return wordOf(kind.replaceAll('-', '_'));
}

/** Each kind with its meaning and the next step. A count leads to the findings of its kind. */
function Kinds({ run: { id, kinds, findings, kept } }: { run: ReconcileRunWithKinds }) {
  return html`<section class="card" aria-labelledby="kinds">
    <header><h2 id="kinds">Kinds of findings</h2><${Badge} kind="bad">${findings === 1 ? '1 row is off' : `${findings} rows are off`}<//></header>
    ${kept < findings && html`<p class="body quiet">The run keeps the first hundred of each kind: ${kept} of ${findings}.</p>`}
    <ul class="list">${kinds.map(
      (one) => html`<li class="row" key=${one.kind}>
        <span class="first">${kindWord(one.kind)}</span>
        <span>${may('members:read') ? html`<a href=${addressOf('reconcile', id, { kind: one.kind })} aria-label=${`${kindWord(one.kind)}: ${one.findings}`}>${one.findings}</a>` : one.findings}</span>
        <span class="note">${one.meaning}</span><span class="second note">${one.advice}</span>
      </li>`,
    )}</ul>
  </section>`;
}

interface FindingsProps {
  readonly path: string;
  readonly run: ReconcileRunWithKinds;
  readonly kind: string;
}

function Findings({ path, run, kind }: FindingsProps) {
  const columns = kind === '' ? [kindColumn, ...columnsOfAll] : columnsOfAll;
  return html`<section class="card" aria-labelledby="findings">
    <header><h2 id="findings">${kind === '' ? 'Findings' : `Findings: ${kindWord(kind)}`}</h2>
      ${kind !== '' && html`<a href=${addressOf('reconcile', run.id)}>All kinds</a>`}</header>
    <p class="body quiet">Amounts in the words below a row are in minor units, like cents.</p>
    <${PagedTable} key=${`${run.id} ${kind}`} path=${path} query=${{ kind }} columns=${columns}
      keyOf=${({ place }: Finding) => String(place)} caption="Findings" file=${`findings-${run.id}`} empty="No finding of this kind." />
  </section>`;
}

const kindColumn: Column<Finding> = { title: 'Kind', text: ({ kind }) => kindWord(kind) };

/** Leads to the entry, the account or the transfer. */
function Subject({ of }: { of: Finding }): Children {
  const { subject, accountId, entry, transferId } = of;
  const address =
    accountId !== undefined
      ? entry === undefined
        ? addressOf('accounts', accountId)
        : addressOf('entries', accountId, { entry: String(entry) })
      : transferId !== undefined
        ? addressOf('transfers', transferId)
        : undefined;
  return address !== undefined ? html`<a href=${address}>${subject}</a>` : subject;
}

function Transfer({ of: { transferId } }: { of: Finding }): Children {
  if (transferId === undefined) return null;
  return html`<a href=${addressOf('transfers', transferId)}>${transferId}</a>`;
}

const money = (title: string, amountIn: (one: Finding) => string | undefined): Column<Finding> => ({
  title,
  text: (one) => amountIn(one) ?? '',
  cell: (one) => {
    const amount = amountIn(one);
    return amount !== undefined && one.currencyCode !== undefined
      ? html`<${Amount} value=${{ amount, currencyCode: one.currencyCode }} />`
      : null;
  },
  isNumeric: true,
});

const columnsOfAll: readonly Column<Finding>[] = [
  {
    title: 'Row',
    text: ({ subject, detail }) => `${subject}: ${detail}`,
    cell: (one) => html`<${Subject} of=${one} /><br /><span class="quiet">${one.detail}</span>`,
    isLong: true,
  },
  {
    title: 'Transfer',
    text: ({ transferId }) => transferId ?? '',
    cell: (one) => html`<${Transfer} of=${one} />`,
  },
  money('Expected', ({ expected }) => expected),
  money('Found', ({ found }) => found),
  money('Difference', ({ difference }) => difference),
];
