import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { addressOf, go } from '../../common/router.ts';
import { type Column, Table } from '../../common/table.ts';
import { Badge, Submit, TextField } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { type FoundPerson, read } from '../operations.ts';
import { ask } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

/** The operation returns no more at once. */
const mostFound = 200;

export const personColumns: readonly Column<FoundPerson>[] = [
  {
    title: 'Name',
    text: ({ firstName, lastName }) => `${lastName}, ${firstName}`,
    cell: ({ personId, firstName, lastName }) =>
      html`<a href=${addressOf('members', personId)}>${firstName} ${lastName}</a>`,
  },
  {
    title: 'Memberships',
    text: ({ memberships }) =>
      memberships.map(({ memberNumber, role }) => `${memberNumber} ${wordOf(role)}`).join(', '),
  },
  { title: 'E-mail', text: ({ email }) => email ?? '' },
  { title: 'Username', text: ({ username }) => username ?? '' },
  {
    title: 'Login',
    text: loginOf,
    cell: (row) =>
      html`<${Badge} kind=${row.locked || row.active === false ? 'bad' : undefined}>${loginOf(row)}<//>`,
  },
];

function loginOf({ userId, active, locked }: FoundPerson): string {
  if (userId === null) return 'Not registered';
  if (active === false) return 'Deactivated';
  return locked ? 'Locked' : 'Active';
}

export function MembersScreen({ text }: { text: string }) {
  const [draft, setDraft] = useState(text);
  const submit = (event: Event) => {
    event.preventDefault();
    go(addressOf('members', undefined, draft.trim() === '' ? {} : { text: draft.trim() }));
  };
  return html`<${Screen} title="Members">
    <form class="card" onSubmit=${submit}><div class="body filters" data-size="wide">
      <${TextField} id="text" label="Member number, e-mail, username, id or the beginning of a last or first name" type="search" value=${draft} onValue=${setDraft} maxLength=${254} />
      <div class="actions"><${Submit}>Search<//></div>
    </div></form>
    ${text !== '' && html`<section class="card" aria-label="Members"><${FoundPersons} text=${text} /></section>`}
  <//>`;
}

function FoundPersons({ text }: { text: string }) {
  const { state, again } = useLoad(
    () => ask(() => read<readonly FoundPerson[]>('/members', { text, limit: String(mostFound) })),
    [text],
  );
  return html`<${Stateful} state=${state} subject="members" again=${again}>
    ${(
      persons: readonly FoundPerson[],
    ) => html`${persons.length >= mostFound && html`<p class="body quiet">The first ${mostFound}: write more of the name to find others.</p>`}
    <${Table} caption="Members" columns=${personColumns} rows=${persons} keyOf=${({ personId }: FoundPerson) => personId}
      file="members" empty="No person fits the search." />`}
  <//>`;
}
