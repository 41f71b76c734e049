import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { Amount, Badge } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import {
  pathOf,
  read,
  type SideOfTransfer,
  type SidesOfTransfer,
  type WaitingTransfer,
} from '../../operations.ts';
import { ask } from '../../session.ts';
import { Stateful } from '../../shell.ts';

/** Both accounts of a transfer with their balances of now. The audit records that they were read. */
export function Sides({
  transfer: { id, fromAccountId, toAccountId },
}: {
  transfer: Pick<WaitingTransfer, 'id' | 'fromAccountId' | 'toAccountId'>;
}) {
  const { state, again } = useLoad(
    () => ask(() => read<SidesOfTransfer>(pathOf`/transfers/${id}/accounts`)),
    [id],
  );
  const sides = state.kind === 'ready' ? state.value : undefined;
  return html`<div class="sides">
    <${Side} title="From" accountId=${fromAccountId} side=${sides?.from} />
    <${Side} title="To" accountId=${toAccountId} side=${sides?.to} />
  </div>
  <${Stateful} state=${state} subject="the balances" again=${again}>${() => null}<//>`;
}

interface SideProps {
  readonly title: string;
  readonly accountId: string;
  /** Undefined until it is read; null for an account that is no member's. */
  readonly side: SideOfTransfer | null | undefined;
}

/** The id stands there also while the balances are read, or cannot be. */
function Side({ title, accountId, side }: SideProps) {
  const restrictions = side
    ? [
        side.closed && 'Closed',
        side.operatorRestriction && `Operator: ${wordOf(side.operatorRestriction)}`,
        side.coreRestriction && `Core: ${wordOf(side.coreRestriction)}`,
      ].filter(Boolean)
    : [];
  return html`<section aria-label=${title}>
    <h2>${title} <a href=${addressOf('accounts', accountId)}>${accountId}</a></h2>
    ${side && html`<p class="quiet">${side.description}, membership ${side.memberNumber}</p>`}
    ${restrictions.length > 0 && html`<p>${restrictions.map((one) => html`<${Badge} key=${one} kind="bad">${one}<//> `)}</p>`}
    ${side && html`<${Balances} side=${side} />`}
    ${side === null && html`<p class="quiet">An account of the institution</p>`}
  </section>`;
}

function Balances({ side }: { side: SideOfTransfer }) {
  const { category, currency, current, available, holdsOut, holdsIn } = side;
  const money = (amount: string) => html`<${Amount} value=${{ amount, currencyCode: currency }} />`;
  const isDebt = category === 'LOAN' || category === 'CREDIT';
  return html`<dl class="facts">
    <div><dt>${isDebt ? 'Owed' : 'Current'}</dt><dd>${money(current)}</dd></div>
    ${available !== null && html`<div><dt>Available</dt><dd>${money(available)}</dd></div>`}
    <div><dt>Held, going out</dt><dd>${money(holdsOut)}</dd></div>
    <div><dt>Held, coming in</dt><dd>${money(holdsIn)}</dd></div>
  </dl>`;
}
