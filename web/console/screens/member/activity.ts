import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import { momentColumn } from '../../moment.ts';
import type { ShownMember } from '../../operations.ts';
import { may } from '../../session.ts';

type Act = ShownMember['activity'][number];

/** `User password set` of `user.password_set`. */
function actOf({ action }: Act): string {
  return wordOf(action.replace('.', '_'));
}

function outcomeOf({ outcome, reason, times }: Act): string {
  const words = [wordOf(outcome), reason && wordOf(reason).toLowerCase(), times > 1 && `${times} times`];
  return words.filter(Boolean).join(', ');
}

const columns: readonly Column<Act>[] = [
  momentColumn('At', ({ at }) => at),
  {
    title: 'Event',
    text: actOf,
    cell: (act) =>
      act.transferId === null
        ? actOf(act)
        : html`${actOf(act)} <a href=${addressOf('transfers', act.transferId)}>${act.transferId}</a>`,
  },
  {
    title: 'Outcome',
    text: outcomeOf,
    cell: (act) => html`<${Badge} kind=${act.outcome === 'succeeded' ? 'good' : 'bad'}>${outcomeOf(act)}<//>`,
  },
  {
    title: 'By',
    text: ({ isByOperator, clientName }) => (isByOperator ? 'An operator' : (clientName ?? '')),
  },
  { title: 'Address', text: ({ address }) => address ?? '' },
];

/** The last events of the login. The audit has them all, for the roles that may read it. */
export function Activity({ member: { activity, login } }: { member: ShownMember }) {
  const { userId } = login ?? {};
  return html`<section class="card" aria-labelledby="activity">
    <header>
      <h2 id="activity">Last events</h2>
      ${
        userId &&
        html`<p class="actions">
        <a href=${addressOf('transfers', undefined, { userId })}>Transfers of this member</a>
        ${may('audit:read') && html`<a href=${addressOf('audit', undefined, { userId })}>All in the audit</a>`}
      </p>`
      }
    </header>
    <${Table} caption="Last events" columns=${columns} rows=${activity} empty="Nothing has happened yet."
      keyOf=${({ key }: Act) => key} />
  </section>`;
}
