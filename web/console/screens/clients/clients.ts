import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Badge, Notice } from '../../../design/components.ts';
import { type Children, html } from '../../../design/html.ts';
import { type Act, ActButton } from '../../act.ts';
import { ChangeButton } from '../../form/change-button.ts';
import { type Changeable, spanWords, type Values } from '../../form/changeable.ts';
import { wordOf } from '../../format.ts';
import { momentColumn } from '../../moment.ts';
import { act, type Client, type IdentityProvider, pathOf, read, type SigningKey } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { providerColumns, RegisterProvider } from './providers.ts';

/** The programs that call the service, the providers that may assert members, and the keys that sign tokens. */
export function ClientsScreen() {
  const [result, setResult] = useState<string>();
  return html`<${Screen} title="Clients" lead="The command line registers clients, and rotates the keys of the service.">
    ${result && html`<${Notice} title=${result} />`}
    <${List} path="/clients" title="Clients" columns=${clientColumns} keyOf=${({ clientId }: Client) => clientId} onDone=${setResult} />
    <${List} path="/providers" title="Identity providers" columns=${providerColumns} keyOf=${({ providerId }: IdentityProvider) => providerId} onDone=${setResult}
      acts=${(done: Done) => html`<${RegisterProvider} onDone=${done} />`} />
    <${List} path="/keys" title="Signing keys" columns=${() => keyColumns} keyOf=${({ kid }: SigningKey) => kid} onDone=${setResult} />
  <//>`;
}

/** After an act, the words about it. */
type Done = (words: string) => void;

interface ListProps<Row> {
  readonly path: string;
  readonly title: string;
  readonly columns: (onDone: Done) => readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly onDone: Done;
  /** Beside the title. */
  readonly acts?: (onDone: Done) => Children;
}

function List<Row>({ path, title, columns, keyOf, onDone, acts }: ListProps<Row>) {
  const { state, again, refresh } = useLoad(() => ask(() => read<readonly Row[]>(path)), []);
  const id = path.slice(1);
  const done = (words: string) => {
    onDone(words);
    void refresh();
  };
  return html`<section class="card" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2>${acts?.(done)}</header>
    <${Stateful} state=${state} subject=${title.toLowerCase()} again=${again}>
      ${(rows: readonly Row[]) => html`<${Table} caption=${title} columns=${columns(done)} rows=${rows} keyOf=${keyOf} file=${id} empty="None." />`}
    <//>
  </section>`;
}

function state(isActive: boolean) {
  return html`<${Badge} kind=${isActive ? 'good' : 'bad'}>${isActive ? 'Active' : 'Switched off'}<//>`;
}

const clientFields: readonly Changeable[] = [
  { name: 'name', label: 'Name', kind: 'text', maxLength: 128 },
  {
    name: 'tokenLifetimeSeconds',
    label: 'Lifetime of its tokens',
    kind: 'whole',
    least: 60,
    most: 86_400,
    words: spanWords,
    ifNone: 'as the service has it',
    hint: 'Seconds. Empty: as the service has it.',
  },
];

function actions(onDone: Done): readonly Column<Client>[] {
  if (!may('institution:change')) return [];
  const cell = (client: Client) => html`<div class="actions">
    ${actsOfClient(client).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${onDone} />`)}
    <${ChangeButton} subject=${client.clientId} effect="The next token has the new lifetime." fields=${clientFields} values=${client}
      send=${(change: Values, reason: string) => act(pathOf`/clients/${client.clientId}`, { ...change, reason }, 'PATCH')}
      onDone=${() => onDone(`${client.clientId} is changed.`)} />
  </div>`;
  return [{ title: 'Acts', text: () => '', cell, isActs: true }];
}

function clientColumns(onDone: Done): readonly Column<Client>[] {
  return [
    { title: 'Client', text: ({ clientId }) => clientId },
    { title: 'Name', text: ({ name }) => name },
    {
      title: 'State',
      text: ({ active }) => (active ? 'Active' : 'Switched off'),
      cell: ({ active }) => state(active),
    },
    ...actions(onDone),
    { title: 'Grants', text: ({ grants }) => grants.map(wordOf).join(', ') },
    { title: 'Scopes', text: ({ scopes }) => scopes.join(' '), isLong: true },
    { title: 'Secrets', text: ({ secrets }) => String(secrets), isNumeric: true },
    {
      title: 'Keys and certificates',
      text: ({ kids, certificateThumbprints }) => [...kids, ...certificateThumbprints].join(' ') || 'none',
    },
    { title: 'Tokens', text: tokensOf },
    {
      title: 'Tokens live',
      text: ({ tokenLifetimeSeconds: seconds }) => (seconds === null ? 'default' : spanWords(seconds)),
    },
  ];
}

function tokensOf({ requiresDpop, bindsToCertificate, securityProfile }: Client): string {
  const binding = bindsToCertificate
    ? 'Bound to its certificate'
    : requiresDpop
      ? 'Bound to a key'
      : 'Bearer';
  return securityProfile === 'FAPI2' ? `${binding}, FAPI 2.0` : binding;
}

function actsOfClient({ clientId, active, secrets }: Client): readonly Act<string>[] {
  const client = pathOf`/clients/${clientId}`;
  const change: Act<string> = {
    verb: active ? 'Switch off' : 'Switch on',
    effect: active
      ? `${clientId} is refused from the next request on, and its sign-ins end.`
      : `${clientId} may call the service again.`,
    run: async (reason) => {
      await act(client, { active: !active, reason }, 'PATCH');
      return `${clientId} is switched ${active ? 'off' : 'on'}.`;
    },
  };
  const rotate: Act<string> = {
    verb: 'New secret',
    effect: 'The client gets a second secret, which is shown once. The first stays valid for a week.',
    run: async (reason) => {
      const { secret } = await act<{ readonly secret: string }>(`${client}/rotate-secret`, { reason });
      return `The new secret of ${clientId} is ${secret}. It is not shown again.`;
    },
  };
  const retire: Act<string> = {
    verb: 'End the older secret',
    effect: 'The older of the two secrets is refused at once.',
    run: async (reason) => {
      await act(`${client}/retire-secret`, { which: 'older', reason });
      return `The older secret of ${clientId} has ended.`;
    },
  };
  const retireAll: Act<string> = {
    verb: 'End all secrets',
    effect: 'Every request with a secret of the client is refused at once. Use it if a secret leaked.',
    run: async (reason) => {
      await act(`${client}/retire-secret`, { which: 'all', reason });
      return `${clientId} has no secret any more.`;
    },
  };
  return [
    change,
    ...(secrets === 1 ? [rotate] : []),
    ...(secrets > 1 ? [retire] : []),
    ...(secrets > 0 ? [retireAll] : []),
  ];
}

const keyColumns: readonly Column<SigningKey>[] = [
  { title: 'Key', text: ({ kid }) => kid },
  { title: 'State', text: ({ state: word }) => wordOf(word) },
  momentColumn('Made', ({ createdAt }) => createdAt),
  momentColumn('Signs from', ({ signsFrom }) => signsFrom),
];
