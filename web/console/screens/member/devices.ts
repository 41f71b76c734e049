import { type Column, Table } from '../../../common/table.ts';
import { html } from '../../../design/html.ts';
import { Day } from '../../moment.ts';
import type { ShownMember } from '../../operations.ts';

type Device = ShownMember['devices'][number];

const words: Readonly<Record<string, string>> = {
  BROWSER: 'Browser',
  KEY: 'App on one device, known by its key',
  APP: 'App on one device, known by the id that the app gave it',
  APP_WITHOUT_ID: 'App that tells no device: all of its devices count as one',
};

const dayColumn = (title: string, momentIn: (device: Device) => string): Column<Device> => ({
  title,
  text: momentIn,
  cell: (device) => html`<${Day} at=${momentIn(device)} />`,
});

const columns: readonly Column<Device>[] = [
  {
    title: 'Device',
    text: ({ kind, name }) => name ?? (kind ? (words[kind] ?? kind) : 'Not known until its next sign-in'),
    isLong: true,
  },
  { title: 'App', text: ({ clientName }) => clientName ?? '' },
  dayColumn('First seen', ({ firstSeenAt }) => firstSeenAt),
  dayColumn('Last seen', ({ lastSeenAt }) => lastSeenAt),
];

/** The devices of the member's sign-ins. One that is not among them raises an alert at its first sign-in. */
export function Devices({ devices }: { devices: readonly Device[] }) {
  return html`<section class="card" aria-labelledby="devices">
    <header><h2 id="devices">Known devices</h2></header>
    <${Table} caption="Known devices" columns=${columns} rows=${devices} empty="No sign-in by password or passkey in the last 400 days."
      keyOf=${({ kind, name, firstSeenAt, lastSeenAt }: Device) => `${kind} ${name} ${firstSeenAt} ${lastSeenAt}`} />
  </section>`;
}
