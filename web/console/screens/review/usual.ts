import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { Amount, Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { Moment } from '../../moment.ts';
import {
  type FoundTransfer,
  pathOf,
  read,
  readPage,
  type UsualFigures,
  type UsualOfTransfer,
  type WaitingTransfer,
} from '../../operations.ts';
import { ask } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import { Status } from '../transfer-columns.ts';

/** Transfers of the source account that show beside the one that waits. */
const lastShown = 8;

/** The transfer beside those that completed before, and the last ones of its source. */
export function Usual({ transfer }: { transfer: WaitingTransfer }) {
  const { id, fromAccountId } = transfer;
  const usual = useLoad(() => ask(() => read<UsualOfTransfer>(pathOf`/transfers/${id}/usual`)), [id]);
  const last = useLoad(
    () =>
      ask(() =>
        readPage<FoundTransfer>('/transfers', { accountId: fromAccountId, limit: String(lastShown + 1) }),
      ),
    [fromAccountId],
  );
  return html`<div class="body"><h2>Usual in the 90 days before</h2></div>
    <${Stateful} state=${usual.state} subject="the usual transfers" again=${usual.again}>
      ${(value: UsualOfTransfer) => html`<div class="body"><${Figures} usual=${value} /></div>`}
    <//>
    <div class="body"><h2>Last transfers of the source</h2></div>
    <${Stateful} state=${last.state} subject="the last transfers" again=${last.again}>
      ${({ items }: { readonly items: readonly FoundTransfer[] }) =>
        html`<ul class="list">${items
          .filter((one) => one.id !== id)
          .slice(0, lastShown)
          .map(
            (one) => html`<li key=${one.id}><a class="row" href=${addressOf('transfers', one.id)}>
            <span class="first">${one.fromAccountId === fromAccountId ? `to ${one.toAccountId}` : `from ${one.fromAccountId}`}</span><${Amount} value=${one} />
            <span class="second"><${Moment} at=${one.createdAt} /></span><span class="second"><${Status} transfer=${one} /></span>
          </a></li>`,
          )}</ul>`}
    <//>`;
}

function countOf({ transfers, isCut }: UsualFigures): string {
  const count = transfers.toLocaleString('en-US');
  return isCut ? `the newest ${count}` : count;
}

function Figures({ usual: { source, others, currencyCode } }: { usual: UsualOfTransfer }) {
  const money = (amount: string | null) =>
    html`<${Amount} value=${{ amount: amount ?? '0', currencyCode }} />`;
  const payee = source.toPayee + others.toPayee;
  const last = source.lastToPayee ?? others.lastToPayee;
  return html`<dl class="facts">
    <div><dt>Out of the account</dt><dd>${source.transfers === 0 ? html`<${Badge} kind="warn">none completed<//>` : countOf(source)}</dd></div>
    ${
      source.transfers > 0 &&
      html`<div><dt>Typical</dt><dd>${money(source.median)}</dd></div>
      <div><dt>Largest</dt><dd>${money(source.largest)}${source.atLeastAsLarge === 0 && html` <${Badge} kind="warn">this one is larger<//>`}</dd></div>`
    }
    <div><dt>To the same account</dt><dd>${payee === 0 ? html`<${Badge} kind="warn">none<//>` : payee.toLocaleString('en-US')}</dd></div>
    ${last && html`<div><dt>The last of them</dt><dd><a href=${addressOf('transfers', last.id)}>${money(last.amount)}</a> <${Moment} at=${last.at} /></dd></div>`}
    <div><dt>Other accounts of the membership</dt><dd>${
      others.transfers === 0
        ? 'none completed'
        : html`${countOf(others)}, typical ${money(others.median)}, largest ${money(others.largest)}`
    }</dd></div>
  </dl>`;
}
