import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { Table } from '../../common/table.ts';
import { Amount, Empty } from '../../design/components.ts';
import { readAmount } from '../../design/format/money.ts';
import { html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { Moment } from '../moment.ts';
import { type FoundAnything, type FoundPerson, read } from '../operations.ts';
import { ask } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';
import { personColumns } from './members.ts';
import { Status } from './transfer-columns.ts';

/** Members, accounts and transfers by anything that names them. */
export function SearchScreen({ text }: { text: string }) {
  const { state, again } = useLoad(() => ask(() => read<FoundAnything>('/search', { text })), [text]);
  return html`<${Screen} title="Search" lead=${text}>
    <${Stateful} state=${state} subject="the search" again=${again}>
      ${(found: FoundAnything) => html`<${Found} text=${text} ...${found} />`}
    <//>
  <//>`;
}

function Found({ text, members, accounts, transfers, hasMore }: FoundAnything & { readonly text: string }) {
  const amount = readAmount(text);
  const ofAmount =
    hasMore.transfers &&
    amount !== undefined &&
    html`<p class="body"><a href=${addressOf('transfers', undefined, { leastAmount: amount, mostAmount: amount })}>All transfers of this amount</a></p>`;
  if (members.length + accounts.length + transfers.length === 0)
    return html`<section class="card"><${Empty}>${ofAmount ? 'No member, no account and none of the last transfers fits the search.' : 'No member, account or transfer fits the search.'}<//>${ofAmount}</section>`;
  return html`
    ${
      accounts.length > 0 &&
      html`<section class="card" aria-labelledby="found-accounts"><header><h2 id="found-accounts">Accounts</h2></header><ul class="list">${accounts.map(
        (one) => html`<li key=${one.accountId}><a class="row" href=${addressOf('accounts', one.accountId)}>
          <span class="first">${one.accountId}</span><span>${wordOf(one.accountType)}, membership ${one.memberNumber}</span></a></li>`,
      )}</ul></section>`
    }
    ${
      transfers.length > 0 &&
      html`<section class="card" aria-labelledby="found-transfers"><header><h2 id="found-transfers">Transfers</h2></header><ul class="list">${transfers.map(
        (one) => html`<li key=${one.id}><a class="row" href=${addressOf('transfers', one.id)}>
          <span class="first">${one.id}</span><${Amount} value=${one} />
          <span class="second">${one.fromAccountId} to ${one.toAccountId}, <${Moment} at=${one.createdAt} /></span><span class="second"><${Status} transfer=${one} /></span></a></li>`,
      )}</ul>${ofAmount}</section>`
    }
    ${
      members.length > 0 &&
      html`<section class="card" aria-labelledby="found-members"><header><h2 id="found-members">Members</h2></header>
        <${Table} caption="Members" columns=${personColumns} rows=${members} keyOf=${({ personId }: FoundPerson) => personId} file="members" empty="" />
        ${hasMore.members && html`<p class="body"><a href=${addressOf('members', undefined, { text })}>All members that fit</a></p>`}</section>`
    }`;
}
