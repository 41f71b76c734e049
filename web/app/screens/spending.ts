import { type Account, fromMinor, type Sharedraft, type Transaction, toMinor } from '@sharedraft/client';
import { useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { Amount, type Bar, Bars, Button, Empty, SelectField } from '../../design/components.ts';
import { addMonths, daysOf, formatMonth, monthOf } from '../../design/format/dates.ts';
import { html } from '../../design/html.ts';
import { Icon } from '../../design/icons.ts';
import { nameOf } from '../accounts.ts';
import { ask } from '../bank.ts';
import { Screen, Stateful } from '../shell.ts';
import { wordOf } from './account.ts';

/** Movements between accounts are no spending. */
const notSpent = new Set(['TRANSFER_DEBIT', 'PAYMENT', 'OPENING_BALANCE', 'DEBIT_ADJUSTMENT']);
const pageSize = 200;

export function SpendingScreen() {
  const { state, again } = useLoad(() => ask((bank) => bank.accounts.list()), []);
  return html`<${Screen} title="Spending">
    <${Stateful} state=${state} subject="your accounts" again=${again}>
      ${(accounts: readonly Account[]) => html`<${Picture} accounts=${accounts.filter(({ category }) => category === 'DEPOSIT' || category === 'CREDIT')} />`}
    <//>
  <//>`;
}

function Picture({ accounts }: { accounts: readonly Account[] }) {
  const newest = monthOf(new Date());
  const [month, setMonth] = useState(newest);
  const [accountId, setAccountId] = useState((accounts.find(isChecking) ?? accounts[0])?.accountId ?? '');
  const account = accounts.find((one) => one.accountId === accountId);
  const { state, again } = useLoad(
    () => ask((bank) => spendingOf(bank, accountId, month)),
    [accountId, month],
  );
  if (account === undefined) return html`<${Empty}>You have no account that money is spent from.<//>`;
  const { amount, currencyCode } = account.balance.currentBalance;
  const decimals = amount.split('.')[1]?.length ?? 0;
  const moneyOf = (minor: bigint) => ({ amount: fromMinor(minor, decimals), currencyCode });
  return html`<section class="card" aria-label="Spending by category">
    <div class="body fields">
      <${SelectField} id="account" label="Account" value=${accountId} onValue=${setAccountId}
        options=${accounts.map((one) => ({ value: one.accountId, label: nameOf(one) }))} />
      <div class="month">
        <${Button} kind="quiet" onPress=${() => setMonth(addMonths(month, -1))}><${Icon} name="back" /><span class="visually-hidden">Month before</span><//>
        <h2 aria-live="polite">${formatMonth(month)}</h2>
        <${Button} kind="quiet" isBusy=${month >= newest} onPress=${() => setMonth(addMonths(month, 1))}><${Icon} name="next" /><span class="visually-hidden">Month after</span><//>
      </div>
      <${Stateful} state=${state} subject="the month" again=${again}>
        ${(spent: ReadonlyMap<string, bigint>) => {
          const sorted = [...spent].toSorted(([, left], [, right]) => (left < right ? 1 : -1));
          const total = sorted.reduce((sum, [, minor]) => sum + minor, 0n);
          const bars: Bar[] = sorted.map(([label, minor]) => ({ label, minor, value: moneyOf(minor) }));
          if (bars.length === 0) return html`<${Empty}>Nothing was spent in this month.<//>`;
          return html`<div><${Amount} value=${moneyOf(total)} size="large" /><p class="quiet">spent</p></div><${Bars} bars=${bars} />`;
        }}
      <//>
    </div>
  </section>`;
}

function isChecking({ accountType }: Account): boolean {
  return accountType.DIAccountType === 'CHECKING';
}

/** Sums in minor units by category. */
async function spendingOf(
  bank: Sharedraft,
  accountId: string,
  month: string,
): Promise<ReadonlyMap<string, bigint>> {
  const { first, last } = daysOf(month);
  const spent = new Map<string, bigint>();
  const query = { from: first, to: last, status: 'POSTED', limit: pageSize } as const;
  for await (const transaction of bank.accounts.transactions(accountId, query)) {
    if (transaction.isCreditTransaction || notSpent.has(transaction.type)) continue;
    const { amount } = transaction.amount;
    const minor = toMinor(amount.replace('-', ''), amount.split('.')[1]?.length ?? 0);
    const label = labelOf(transaction);
    spent.set(label, (spent.get(label) ?? 0n) + minor);
  }
  return spent;
}

function labelOf({ category, type }: Transaction): string {
  return wordOf(category ?? type);
}
