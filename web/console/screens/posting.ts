import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { type Column, Table } from '../../common/table.ts';
import { Amount, Badge } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { wordOf } from '../format.ts';
import { Moment } from '../moment.ts';
import { type Posting, pathOf, read } from '../operations.ts';
import { ask } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

/** The posting of an entry: what made it, and its entries on both sides. */
export function PostingScreen({ accountId, entry }: { accountId: string; entry: string }) {
  const { state, again } = useLoad(
    () => ask(() => read<Posting>(pathOf`/accounts/${accountId}/entries/${entry}`)),
    [accountId, entry],
  );
  return html`<${Screen} title="Posting" lead=${`Entry ${entry} of ${accountId}`}>
    <${Stateful} state=${state} subject="the posting" again=${again}>
      ${(posting: Posting) => html`<${Facts} posting=${posting} accountId=${accountId} /><${Sides} posting=${posting} file=${`posting-${accountId}-${entry}`} />`}
    <//>
  <//>`;
}

function Facts({ posting, accountId }: { posting: Posting; accountId: string }) {
  const { kind, at, transferId, core, currency, sides } = posting;
  const own = sides.find((side) => side.accountId === accountId);
  return html`<section class="card" aria-label="Facts"><div class="body split">
    <div>
      ${own && html`<${Amount} value=${{ amount: own.amount, currencyCode: currency }} size="large" />`}
      <p class="quiet">${core ? `${wordOf(core.kind)}: ${core.description}` : wordOf(kind)}</p>
    </div>
    <dl class="facts">
      <div><dt>Account</dt><dd><a href=${addressOf('accounts', accountId)}>${accountId}</a></dd></div>
      <div><dt>Kind</dt><dd>${wordOf(kind)}</dd></div>
      <div><dt>Recorded</dt><dd><${Moment} at=${at} /></dd></div>
      ${transferId && html`<div><dt>Transfer</dt><dd><a href=${addressOf('transfers', transferId)}>${transferId}</a></dd></div>`}
      ${
        core &&
        html`
        <div><dt>Transaction of the core</dt><dd>${core.transactionId}</dd></div>
        <div><dt>Posted at the core</dt><dd><${Moment} at=${core.postedAt} /></dd></div>
        <div><dt>Effective</dt><dd>${core.effectiveDate}</dd></div>
        ${core.merchant && html`<div><dt>Merchant</dt><dd>${core.merchant}</dd></div>`}
        ${core.checkNumber && html`<div><dt>Check</dt><dd>${core.checkNumber}</dd></div>`}
        ${core.authorizationId && html`<div><dt>Authorization</dt><dd>${core.authorizationId}</dd></div>`}`
      }
    </dl>
  </div></section>`;
}

type Side = Posting['sides'][number];

function Sides({ posting: { sides, currency }, file }: { posting: Posting; file: string }) {
  const money = (title: string, amountIn: (side: Side) => string): Column<Side> => ({
    title,
    text: amountIn,
    cell: (side) => html`<${Amount} value=${{ amount: amountIn(side), currencyCode: currency }} />`,
    isNumeric: true,
  });
  const columns: Column<Side>[] = [
    {
      title: 'Account',
      text: ({ accountId }) => accountId,
      cell: ({ accountId }) => html`<a href=${addressOf('accounts', accountId)}>${accountId}</a>`,
    },
    {
      title: 'Holder',
      text: ({ isInternal }) => (isInternal ? 'The institution' : 'A member'),
      cell: ({ isInternal }) => (isInternal ? html`<${Badge}>The institution<//>` : 'A member'),
    },
    { title: 'Entry', text: ({ entry }) => String(entry), isNumeric: true },
    { title: 'Kind', text: ({ kind }) => wordOf(kind) },
    money('Amount', ({ amount }) => amount),
    money('Balance after', ({ balanceAfter }) => balanceAfter),
    money('Held to leave', ({ holdsOutAfter }) => holdsOutAfter),
    money('Held to arrive', ({ holdsInAfter }) => holdsInAfter),
  ];
  return html`<section class="card" aria-labelledby="sides">
    <header><h2 id="sides">Entries on both sides</h2></header>
    <p class="body quiet">As the ledger has them: credit is positive, and both sides sum to zero.</p>
    <${Table} caption="Entries on both sides" columns=${columns} rows=${sides} empty="The posting has no entry."
      keyOf=${({ accountId, entry }: Side) => `${accountId} ${entry}`} file=${file} />
  </section>`;
}
