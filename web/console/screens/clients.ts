import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { type Column, Table } from '../../common/table.ts';
import { Badge, Notice } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { type Act, ActButton } from '../act.ts';
import { wordOf } from '../format.ts';
import { momentColumn } from '../moment.ts';
import { act, type Client, type IdentityProvider, pathOf, read, type SigningKey } from '../operations.ts';
import { ask, may } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

/** The programs that call the service, the providers that may assert members, and the keys that sign tokens. */
export function ClientsScreen() {
  const [result, setResult] = useState<string>();
  return html`<${Screen} title="Clients" lead="The command line registers clients and providers, and rotates the keys of the service.">
    ${result && html`<${Notice} title=${result} />`}
    <${List} path="/clients" title="Clients" columns=${clientColumns} keyOf=${({ clientId }: Client) => clientId} onDone=${setResult} />
    <${List} path="/providers" title="Identity providers" columns=${providerColumns} keyOf=${({ providerId }: IdentityProvider) => providerId} onDone=${setResult} />
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
}

function List<Row>({ path, title, columns, keyOf, onDone }: ListProps<Row>) {
  const { state, again, refresh } = useLoad(() => ask(() => read<readonly Row[]>(path)), []);
  const id = path.slice(1);
  const done = (words: string) => {
    onDone(words);
    void refresh();
  };
  return html`<section class="card" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2></header>
    <${Stateful} state=${state} subject=${title.toLowerCase()} again=${again}>
      ${(rows: readonly Row[]) => html`<${Table} caption=${title} columns=${columns(done)} rows=${rows} keyOf=${keyOf} file=${id} empty="None." />`}
    <//>
  </section>`;
}

function state(isActive: boolean) {
  return html`<${Badge} kind=${isActive ? 'good' : 'bad'}>${isActive ? 'Active' : 'Switched off'}<//>`;
}

function actions<Row>(actsOf: (row: Row) => readonly Act<string>[], onDone: Done): readonly Column<Row>[] {
  if (!may('institution:change')) return [];
  const cell = (row: Row) =>
    html`<div class="actions">${actsOf(row).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${onDone} />`)}</div>`;
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
    { title: 'Grants', text: ({ grants }) => grants.map(wordOf).join(', ') },
    { title: 'Scopes', text: ({ scopes }) => scopes.join(' ') },
    { title: 'Secrets', text: ({ secrets }) => String(secrets), isNumeric: true },
    {
      title: 'Keys and certificates',
      text: ({ kids, certificateThumbprints }) => [...kids, ...certificateThumbprints].join(' ') || 'none',
    },
    { title: 'Tokens', text: tokensOf },
    ...actions(actsOfClient, onDone),
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
  return [change, ...(secrets === 1 ? [rotate] : []), ...(secrets > 1 ? [retire] : [])];
}

function providerColumns(onDone: Done): readonly Column<IdentityProvider>[] {
  return [
    { title: 'Provider', text: ({ providerId }) => providerId },
    { title: 'Kind', text: ({ kind }) => wordOf(kind) },
    {
      title: 'State',
      text: ({ active }) => (active ? 'Active' : 'Switched off'),
      cell: ({ active }) => state(active),
    },
    { title: 'Issuer', text: ({ issuer }) => issuer },
    { title: 'Audience', text: ({ audience }) => audience },
    ...actions(actsOfProvider, onDone),
  ];
}

function actsOfProvider({ providerId, active }: IdentityProvider): readonly Act<string>[] {
  const run = async (reason: string) => {
    await act(pathOf`/providers/${providerId}`, { active: !active, reason }, 'PATCH');
    return `${providerId} is switched ${active ? 'off' : 'on'}.`;
  };
  return active
    ? [
        {
          verb: 'Switch off',
          effect: 'Its assertions are refused, and identities that it asserted end.',
          run,
        },
      ]
    : [{ verb: 'Switch on', effect: 'Its assertions of members are accepted again.', run }];
}

const keyColumns: readonly Column<SigningKey>[] = [
  { title: 'Key', text: ({ kid }) => kid },
  { title: 'State', text: ({ state: word }) => wordOf(word) },
  momentColumn('Made', ({ createdAt }) => createdAt),
  momentColumn('Signs from', ({ signsFrom }) => signsFrom),
];
