import { useLoad } from '../../common/load.ts';
import { type Column, Table } from '../../common/table.ts';
import { Badge } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { ActButton } from '../act.ts';
import { wordOf } from '../format.ts';
import { momentColumn } from '../moment.ts';
import { act, type Operator, pathOf, read } from '../operations.ts';
import { ask, may, session } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

export function OperatorsScreen() {
  const { state, again } = useLoad(() => ask(() => read<readonly Operator[]>('/operators')), []);
  return html`<${Screen} title="Operators">
    <p><a href="/operations/passkeys">Your passkeys</a></p>
    <section class="card" aria-label="Operators">
      <${Stateful} state=${state} subject="operators" again=${again}>
        ${(
          operators: readonly Operator[],
        ) => html`<${Table} caption="Operators" columns=${columnsOf(again)} rows=${operators} file="operators"
          keyOf=${({ operatorId }: Operator) => operatorId} empty="No operators yet." />`}
      <//>
    </section>
  <//>`;
}

function columnsOf(again: () => void): Column<Operator>[] {
  const columns: Column<Operator>[] = [
    { title: 'Name', text: ({ name }) => name },
    { title: 'Roles', text: ({ roles }) => roles.map(wordOf).join(', ') },
    {
      title: 'Status',
      text: ({ status }) => wordOf(status),
      cell: ({ status }) =>
        html`<${Badge} kind=${status === 'ACTIVE' ? 'good' : undefined}>${wordOf(status)}<//>`,
    },
    momentColumn('Since', ({ createdAt }) => createdAt),
  ];
  if (!may('operators:manage')) return columns;
  return [
    ...columns,
    { title: 'Change', text: () => '', cell: (row) => html`<${Change} operator=${row} onDone=${again} />` },
  ];
}

/** Nobody changes their own status. */
function Change({ operator, onDone }: { operator: Operator; onDone: () => void }) {
  const { operatorId, name, status } = operator;
  if (operatorId === session.value?.operatorId || !['ACTIVE', 'SUSPENDED'].includes(status)) return null;
  const isActive = status === 'ACTIVE';
  return html`<${ActButton} onDone=${onDone} act=${{
    verb: isActive ? 'Suspend' : 'Resume',
    effect: isActive ? `${name} is refused from the next request on.` : `${name} may sign in again.`,
    run: (reason: string) =>
      act<Operator>(
        pathOf`/operators/${operatorId}`,
        { status: isActive ? 'SUSPENDED' : 'ACTIVE', reason },
        'PATCH',
      ),
  }} />`;
}
