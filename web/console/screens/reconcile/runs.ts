import { addressOf, go } from '../../../common/router.ts';
import type { Column } from '../../../common/table.ts';
import { Badge, SelectField } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { momentColumn, momentOf } from '../../moment.ts';
import type { ReconcileRun } from '../../operations.ts';
import { PagedTable } from '../../paged-table.ts';
import { Screen } from '../../shell.ts';

const shows = [
  { value: '', label: 'All' },
  { value: 'findings', label: 'Those with findings' },
];

/** The runs of reconcile that are kept. The filter stands in the address. */
export function ReconcileScreen({ query }: { query: URLSearchParams }) {
  const shown = query.get('show') === 'findings' ? 'findings' : '';
  const pick = (value: string) => go(addressOf('reconcile', undefined, { show: value }));
  return html`<${Screen} title="Reconcile" lead="Each run computes balances, holds, limits and references anew, the newest run first">
    <div class="card"><div class="body filters">
      <${SelectField} id="show" label="Runs" value=${shown} onValue=${pick} options=${shows} />
    </div></div>
    <section class="card" aria-label="Runs">
      <${PagedTable} key=${shown} path="/reconcile/runs" query=${shown === '' ? {} : { findings: 'true' }} columns=${columns}
        keyOf=${({ id }: ReconcileRun) => id} caption="Runs" file="reconcile-runs"
        empty=${shown === '' ? 'No run is kept yet. The command “sharedraft reconcile” makes one.' : 'No run has found anything.'} />
    </section>
  <//>`;
}

/** `Every row`, or the moment behind which the run looked for changes. */
export function rangeOf({ changedSince }: ReconcileRun): string {
  return changedSince === null ? 'Every row' : `Changes since ${momentOf(changedSince)}`;
}

const columns: readonly Column<ReconcileRun>[] = [
  {
    title: 'Run',
    text: ({ id }) => id,
    cell: ({ id }) => html`<a href=${addressOf('reconcile', id)}>${id}</a>`,
    isNumeric: true,
  },
  momentColumn('Ended', ({ finishedAt }) => finishedAt),
  { title: 'Checked', text: rangeOf },
  {
    title: 'Findings',
    text: ({ findings }) => String(findings),
    cell: ({ id, findings }) =>
      findings === 0
        ? html`<${Badge} kind="good">none<//>`
        : html`<a href=${addressOf('reconcile', id)}><${Badge} kind="bad">${findings}<//></a>`,
    isNumeric: true,
  },
];
