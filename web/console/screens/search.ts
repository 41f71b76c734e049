import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { Table } from '../../common/table.ts';
import { Amount, Badge, Empty } from '../../design/components.ts';
import { readAmount } from '../../design/format/money.ts';
import { type Children, html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { Moment } from '../moment.ts';
import { type FoundAnything, type FoundPerson, read } from '../operations.ts';
import { ask, may } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';
import { personColumns } from './members.ts';
import { Status } from './transfer-columns.ts';

/** Anything that the roles may see, by anything that names it. */
export function SearchScreen({ text }: { text: string }) {
  const { state, again } = useLoad(() => ask(() => read<FoundAnything>('/search', { text })), [text]);
  return html`<${Screen} title="Search" lead=${text}>
    <${Stateful} state=${state} subject="the search" again=${again}>
      ${(found: FoundAnything) => html`<${Found} text=${text} ...${found} />`}
    <//>
  <//>`;
}

function Found({
  text,
  members,
  accounts,
  transfers,
  hasMore,
  ...others
}: FoundAnything & { readonly text: string }) {
  const { events, breaks, clients, webhooks, operators } = others;
  const amount = readAmount(text);
  const ofAmount =
    hasMore.transfers &&
    amount !== undefined &&
    html`<p class="body"><a href=${addressOf('transfers', undefined, { leastAmount: amount, mostAmount: amount })}>All transfers of this amount</a></p>`;
  const all = [members, accounts, transfers, events, breaks, clients, webhooks, operators];
  if (all.every(({ length }) => length === 0))
    return html`<section class="card"><${Empty}>${ofAmount ? 'None of the last transfers and nothing else fits the search.' : 'Nothing fits the search.'}<//>${ofAmount}</section>`;
  return html`
    <${Hits} title="Accounts" rows=${accounts.map(
      (one) => html`<li key=${one.accountId}><a class="row" href=${addressOf('accounts', one.accountId)}>
        <span class="first">${one.accountId}</span><span>${wordOf(one.accountType)}, ${one.memberNumber === null ? 'of the institution' : `membership ${one.memberNumber}`}</span></a></li>`,
    )} />
    <${Hits} title="Transfers" more=${ofAmount} rows=${transfers.map(
      (one) => html`<li key=${one.id}><a class="row" href=${addressOf('transfers', one.id)}>
        <span class="first">${one.id}</span><${Amount} value=${one} />
        <span class="second">${one.fromAccountId} to ${one.toAccountId}, <${Moment} at=${one.createdAt} /></span><span class="second"><${Status} transfer=${one} /></span></a></li>`,
    )} />
    <${Hits} title="Events" rows=${events.map((one) => {
      const words = html`<span class="first">${one.eventType}</span><span>number ${one.sequence}, <${Moment} at=${one.at} /></span>`;
      return html`<li key=${one.eventId}>${
        one.transferId === null
          ? html`<span class="row">${words}</span>`
          : html`<a class="row" href=${addressOf('transfers', one.transferId)}>${words}</a>`
      }</li>`;
    })} />
    <${Hits} title="Breaks" more=${hasMore.breaks && html`<p class="body"><a href=${addressOf('breaks')}>All breaks</a></p>`} rows=${breaks.map(
      (one) => {
        const words = html`<span class="first">Break ${one.id}</span><${Amount} value=${{ amount: one.difference, currencyCode: one.currencyCode }} />
        <span class="second">${wordOf(one.class)}, ${one.accountId}</span><span class="second">${one.closedAt === undefined ? html`<${Badge} kind="warn">open<//>` : html`<${Badge} kind="good">closed<//>`}</span>`;
        return html`<li key=${one.id}>${
          may('members:read')
            ? html`<a class="row" href=${addressOf('breaks', one.id)}>${words}</a>`
            : html`<span class="row">${words}</span>`
        }</li>`;
      },
    )} />
    <${Hits} title="Clients" more=${hasMore.clients && html`<p class="body"><a href=${addressOf('clients')}>All clients</a></p>`} rows=${clients.map(
      (
        one,
      ) => html`<li key=${one.clientId}><a class="row" href=${addressOf('clients', undefined, { 'clients.filter': one.clientId })}>
        <span class="first">${one.name}</span><span>${one.clientId}${one.active ? '' : ', off'}</span></a></li>`,
    )} />
    <${Hits} title="Webhooks" more=${hasMore.webhooks && html`<p class="body"><a href=${addressOf('webhooks')}>All webhooks</a></p>`} rows=${webhooks.map(
      (one) => html`<li key=${one.endpointId}><a class="row" href=${addressOf('webhooks', one.endpointId)}>
        <span class="first">${one.url || one.endpointId}</span><span>${one.clientId || 'Institution'}, ${wordOf(one.status)}</span></a></li>`,
    )} />
    <${Hits} title="Operators" more=${hasMore.operators && html`<p class="body"><a href=${addressOf('operators')}>All operators</a></p>`} rows=${operators.map(
      (
        one,
      ) => html`<li key=${one.operatorId}><a class="row" href=${addressOf('operators', undefined, { 'operators.filter': one.name })}>
        <span class="first">${one.name}</span><span>${one.roles.map(wordOf).join(', ')}${one.status === 'ACTIVE' ? '' : `; ${wordOf(one.status)}`}</span></a></li>`,
    )} />
    ${
      members.length > 0 &&
      html`<section class="card" aria-labelledby="found-members"><header><h2 id="found-members">Members</h2></header>
        <${Table} caption="Members" columns=${personColumns} rows=${members} keyOf=${({ personId }: FoundPerson) => personId} file="members" empty="" />
        ${hasMore.members && html`<p class="body"><a href=${addressOf('members', undefined, { text })}>All members that fit</a></p>`}</section>`
    }`;
}

interface HitsProps {
  readonly title: string;
  readonly rows: readonly Children[];
  /** A way to those that are not listed. */
  readonly more?: Children;
}

function Hits({ title, rows, more }: HitsProps) {
  if (rows.length === 0) return null;
  const id = `found-${title.toLowerCase()}`;
  return html`<section class="card" aria-labelledby=${id}><header><h2 id=${id}>${title}</h2></header><ul class="list">${rows}</ul>${more}</section>`;
}
