import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import type { Column } from '../../common/table.ts';
import { Amount, Badge, Notice } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { marksOf } from '../account-marks.ts';
import { type Act, ActButton } from '../act.ts';
import { wordOf } from '../format.ts';
import { momentColumn } from '../moment.ts';
import { act, type Entry, pathOf, read, type ShownAccount } from '../operations.ts';
import { PagedTable } from '../paged-table.ts';
import { ask, may } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';
import { BalanceChart } from './ledger/balance-chart.ts';
import { Limits } from './limits/limits-of.ts';

/** An account of a member, or of the institution itself: that has a purpose, no membership, no limits and no acts. */
export function AccountScreen({ accountId }: { accountId: string }) {
  const { state, again } = useLoad(
    () => ask(() => read<ShownAccount>(pathOf`/accounts/${accountId}`)),
    [accountId],
  );
  const [result, setResult] = useState<string>();
  const done = ({ changed }: { readonly changed: boolean }) => {
    setResult(changed ? 'It is done.' : 'It was so already: nothing changed.');
    again();
  };
  const title = state.kind === 'ready' ? titleOf(state.value) : 'Account';
  const acts =
    state.kind === 'ready' &&
    actsOf(state.value).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${done} />`);
  return html`<${Screen} title=${title} lead=${accountId} acts=${acts}>
    ${result && html`<${Notice} title=${result} />`}
    <${Stateful} state=${state} subject="the account" again=${again}>
      ${(account: ShownAccount) => html`<${Facts} account=${account} />
        ${account.purpose === null && html`<${Limits} path=${pathOf`/accounts/${account.accountId}/limits`} />`}
        <${BalanceChart} accountId=${account.accountId} /><${Entries} account=${account} />`}
    <//>
  <//>`;
}

function titleOf({ purpose, description, currency }: ShownAccount): string {
  return purpose === null ? description : `${wordOf(purpose)}, ${currency}`;
}

interface Changed {
  readonly changed: boolean;
}

function actsOf({ accountId, purpose, closed, operatorRestriction }: ShownAccount): Act<Changed>[] {
  if (closed || purpose !== null) return [];
  const restrict = (restriction: string, verb: string, effect: string): Act<Changed> => ({
    verb,
    effect,
    run: (reason) => act<Changed>(pathOf`/accounts/${accountId}/restrict`, { restriction, reason }),
  });
  const close: Act<Changed> = {
    verb: 'Close',
    effect: 'The account is closed for good. It must be empty.',
    run: (reason) => act<Changed>(pathOf`/accounts/${accountId}/close`, { reason }),
  };
  return [
    ...(may('members:serve')
      ? [
          operatorRestriction === null
            ? restrict('EXCLUDE_ALL', 'Freeze', 'Nothing moves on the account until an operator ends this.')
            : restrict(
                'NONE',
                'End the restriction',
                'Money moves on the account again, unless the core restricts it.',
              ),
        ]
      : []),
    ...(may('members:erase') ? [close] : []),
  ];
}

function Facts({ account }: { account: ShownAccount }) {
  const money = (amount: string) => html`<${Amount} value=${{ amount, currencyCode: account.currency }} />`;
  return html`<section class="card" aria-label="Facts"><div class="body split">
    <div>
      <${Amount} value=${{ amount: account.balance, currencyCode: account.currency }} size="large" />
      <p class="quiet">${account.purpose === null ? `${wordOf(account.accountType)} ${account.accountNumber}` : 'An account of the institution. Credit is positive, as in the ledger.'}</p>
      <p class="marks">${marksOf(account).map(({ words, kind }) => html`<${Badge} key=${words} kind=${kind}>${words}<//>`)}</p>
    </div>
    <dl class="facts">
      <div><dt>Held, going out</dt><dd>${money(account.holdsOut)}</dd></div>
      <div><dt>Held, coming in</dt><dd>${money(account.holdsIn)}</dd></div>
      ${account.memberNumber !== null && html`<div><dt>Membership</dt><dd><a href=${addressOf('members', undefined, { text: account.memberNumber })}>${account.memberNumber}</a></dd></div>`}
      ${account.holders.map(
        (one) => html`<div key=${one.personId}><dt>${wordOf(one.role)}</dt>
          <dd><a href=${addressOf('members', one.personId)}>${one.personId}</a>${one.mayPay ? ', may pay' : ', may not pay'}</dd></div>`,
      )}
      <div><dt>Transfers</dt><dd><a href=${addressOf('transfers', undefined, { accountId: account.accountId })}>of this account</a></dd></div>
    </dl>
  </div></section>`;
}

function Entries({ account }: { account: ShownAccount }) {
  const money = (amount: string) => html`<${Amount} value=${{ amount, currencyCode: account.currency }} />`;
  const columns: Column<Entry>[] = [
    momentColumn('Recorded', ({ at }) => at),
    {
      title: 'Entry',
      text: ({ entry }) => String(entry),
      // Leads to the entry on the other side.
      cell: ({ entry }) =>
        html`<a href=${addressOf('entries', account.accountId, { entry: String(entry) })}>${entry}</a>`,
      isNumeric: true,
    },
    { title: 'Kind', text: ({ kind }) => wordOf(kind) },
    {
      title: 'Transfer',
      text: ({ transferId }) => transferId ?? '',
      cell: ({ transferId: id }) => id && html`<a href=${addressOf('transfers', id)}>${id}</a>`,
    },
    { title: 'Amount', text: ({ amount }) => amount, cell: ({ amount }) => money(amount), isNumeric: true },
    {
      title: 'Balance after',
      text: ({ balanceAfter }) => balanceAfter,
      cell: ({ balanceAfter }) => money(balanceAfter),
      isNumeric: true,
    },
  ];
  return html`<section class="card" aria-labelledby="entries">
    <header><h2 id="entries">Entries</h2></header>
    <${PagedTable} key=${account.accountId} path=${pathOf`/accounts/${account.accountId}/entries`} columns=${columns} caption="Entries"
      keyOf=${({ entry }: Entry) => String(entry)} file=${`entries-${account.accountId}`} empty="No entries yet." />
  </section>`;
}
