import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { type Column, Table } from '../../common/table.ts';
import { Badge, Notice } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { Day, momentColumn, momentOf } from '../moment.ts';
import { type Invitation, type Operator, read } from '../operations.ts';
import { ask, may, session } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';
import { InviteButton, OperatorActs } from './operator-acts.ts';

export function OperatorsScreen() {
  const { state, again } = useLoad(() => ask(() => read<readonly Operator[]>('/operators')), []);
  const [invitation, setInvitation] = useState<Invitation>();
  const mayManage = may('operators:manage');
  const done = (made?: Invitation) => {
    setInvitation(made);
    again();
  };
  return html`<${Screen} title="Operators" acts=${mayManage && html`<${InviteButton} onDone=${done} />`}>
    <p><a href="/operations/passkeys">Your passkeys</a></p>
    ${invitation && html`<${Invited} key=${invitation.code} invitation=${invitation} />`}
    <section class="card" aria-label="Operators">
      <${Stateful} state=${state} subject="operators" again=${again}>
        ${(
          operators: readonly Operator[],
        ) => html`<${Table} caption="Operators" columns=${mayManage ? withActs(done) : columns} rows=${operators} file="operators"
          keyOf=${({ operatorId }: Operator) => operatorId} empty="No operators yet." />`}
      <//>
    </section>
  <//>`;
}

/** Leaves the page with the next act, or with the page itself. */
function Invited({ invitation: { operator, code, expiresAt } }: { invitation: Invitation }) {
  const place = session.value?.institution.code ?? '';
  const page = `${location.origin}/operations/invitation?institution=${encodeURIComponent(place)}`;
  return html`<${Notice} title=${`Hand this to ${operator.name} in a way that you trust. It is not shown again.`}>
    <dl class="facts">
      <div><dt>Page</dt><dd><a href=${page}>${page}</a></dd></div>
      <div><dt>Code</dt><dd><code>${code}</code></dd></div>
      <div><dt>Valid until</dt><dd>${momentOf(expiresAt)}</dd></div>
    </dl>
  <//>`;
}

const kinds: Readonly<Record<string, 'good' | 'warn'>> = { ACTIVE: 'good', SUSPENDED: 'warn' };
const sources: Readonly<Record<string, string>> = {
  INVITATION: 'Passkey',
  PROVIDER: 'Provider',
  DEMO: 'Demo button',
};

const columns: readonly Column<Operator>[] = [
  { title: 'Name', text: ({ name }) => name },
  { title: 'E-mail', text: ({ email }) => email ?? '' },
  { title: 'Roles', text: ({ roles }) => roles.map(wordOf).join(', ') },
  {
    title: 'Status',
    text: ({ status }) => wordOf(status),
    cell: ({ status }) => html`<${Badge} kind=${kinds[status]}>${wordOf(status)}<//>`,
  },
  { title: 'Signs in by', text: ({ source }) => sources[source] ?? wordOf(source) },
  {
    ...momentColumn<Operator>('Since', ({ createdAt }) => createdAt),
    cell: ({ createdAt }) => html`<${Day} at=${createdAt} />`,
  },
];

function withActs(onDone: (made?: Invitation) => void): readonly Column<Operator>[] {
  return [
    ...columns,
    {
      title: 'Change',
      text: () => '',
      isActs: true,
      cell: (row) => html`<${OperatorActs} operator=${row} onDone=${onDone} />`,
    },
  ];
}
