import { type Column, Table } from '../../../common/table.ts';
import { html } from '../../../design/html.ts';
import { Moment, momentColumn } from '../../moment.ts';
import type { ShownMember } from '../../operations.ts';

interface Mean {
  readonly name: string;
  readonly kind: string;
  readonly createdAt: string;
  readonly lastUsedAt: string | null;
}

const columns: readonly Column<Mean>[] = [
  { title: 'Name', text: ({ name }) => name },
  { title: 'Kind', text: ({ kind }) => kind },
  momentColumn('Added', ({ createdAt }) => createdAt),
  {
    ...momentColumn<Mean>('Last used', ({ lastUsedAt }) => lastUsedAt),
    cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : html`<${Moment} at=${lastUsedAt} />`),
  },
];

function codesOf(left: number): string {
  return left === 1 ? '1 recovery code left' : `${left} recovery codes left`;
}

/** The passkeys and the authenticator app under the names that the member gave them. */
export function Means({ member: { passkeys, authenticator } }: { member: ShownMember }) {
  const rows: readonly Mean[] = [
    ...passkeys.map(({ isSynced, ...one }) => ({
      ...one,
      kind: isSynced ? 'Passkey, on several devices' : 'Passkey, on one device',
    })),
    ...(authenticator === null
      ? []
      : [{ ...authenticator, kind: `Authenticator app, ${codesOf(authenticator.recoveryCodes)}` }]),
  ];
  return html`<section class="card" aria-labelledby="means">
    <header><h2 id="means">Passkeys and authenticator app</h2></header>
    <${Table} caption="Passkeys and authenticator app" columns=${columns} rows=${rows}
      keyOf=${({ name, kind, createdAt }: Mean) => `${kind} ${name} ${createdAt}`} empty="None. The member signs in with a password alone." />
  </section>`;
}
