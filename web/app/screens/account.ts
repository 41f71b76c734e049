import type { Account, Transaction } from '@sharedraft/client';
import { useEffect, useState } from 'preact/hooks';
import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { Amount, Badge, Button, Empty, TextField } from '../../design/components.ts';
import { formatDay, formatMoment } from '../../design/format/dates.ts';
import { html } from '../../design/html.ts';
import { mainBalance, nameOf, sourcesOf } from '../accounts.ts';
import { ask, sentenceOf } from '../bank.ts';
import { Screen, Stateful } from '../shell.ts';

const pageSize = 50;
/** A search starts this long after the last key. */
const pauseMillis = 250;

export function AccountScreen({ accountId }: { accountId: string }) {
  const { state, again } = useLoad(() => ask((bank) => bank.accounts.get(accountId)), [accountId]);
  const title = state.kind === 'ready' ? nameOf(state.value) : 'Account';
  return html`<${Screen} title=${title} back="accounts">
    <${Stateful} state=${state} subject="the account" again=${again}>
      ${(account: Account) => html`<${Summary} account=${account} /><${History} accountId=${accountId} />`}
    <//>
  <//>`;
}

function Summary({ account }: { account: Account }) {
  const { value, word } = mainBalance(account);
  const { currentBalance } = account.balance;
  const isDeposit = account.category === 'DEPOSIT';
  return html`<section class="card" aria-label="Balance"><div class="body summary">
    <div>
      <${Amount} value=${value} size="large" />
      <p class="quiet">${word}${isDeposit && currentBalance.amount !== value.amount && html`; <${Amount} value=${currentBalance} /> before holds`}</p>
      ${account.balancesAsOf && html`<p class="quiet">The balances are those of ${formatMoment(account.balancesAsOf)}.</p>`}
    </div>
    ${sourcesOf([account]).length > 0 && html`<a class="button" href=${addressOf('transfer', undefined, { from: account.accountId })}>Move money</a>`}
  </div></section>`;
}

function History({ accountId }: { accountId: string }) {
  const [text, setText] = useState('');
  const [searched, setSearched] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSearched(text.trim()), pauseMillis);
    return () => clearTimeout(timer);
  }, [text]);
  const { state, again } = useLoad(() => readPage(accountId, searched), [accountId, searched]);
  return html`<section class="card" aria-label="Transactions">
    <header><h2>Transactions</h2></header>
    <div class="body"><${TextField} id="search" label="Search" type="search" value=${text} maxLength=${64} onValue=${setText} /></div>
    <${Stateful} state=${state} subject="transactions" again=${again}>
      ${(page: Page) => html`<${Days} key=${searched} first=${page} accountId=${accountId} searched=${searched} />`}
    <//>
  </section>`;
}

interface Page {
  readonly items: readonly Transaction[];
  /** Where the next page begins. */
  readonly next: string | undefined;
}

function readPage(accountId: string, text: string, after?: string): Promise<Page> {
  const query = { limit: pageSize, after, text: text === '' ? undefined : text };
  return ask((bank) => bank.accounts.transactions(accountId, query));
}

function Days({ first, accountId, searched }: { first: Page; accountId: string; searched: string }) {
  const [more, setMore] = useState<readonly Page[]>([]);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  const pages = [first, ...more];
  const next = pages.at(-1)?.next;
  const transactions = pages.flatMap(({ items }) => items);
  if (transactions.length === 0) {
    return html`<${Empty}>${searched === '' ? 'No transactions yet.' : 'No transaction fits the search.'}<//>`;
  }
  const readMore = async () => {
    setBusy(true);
    setFault(undefined);
    try {
      setMore([...more, await readPage(accountId, searched, next)]);
    } catch (error) {
      setFault(sentenceOf(error));
    }
    setBusy(false);
  };
  const days = Map.groupBy(transactions, ({ isPending, transactionDate }) =>
    isPending ? 'Pending' : formatDay(transactionDate),
  );
  return html`${[...days].map(
    ([day, items]) => html`<section key=${day} aria-label=${day}>
      <h3 class="day">${day}</h3>
      <ul class="list">${items.map((item) => html`<${TransactionRow} key=${item.id} transaction=${item} />`)}</ul>
    </section>`,
  )}
  <div class="body more" role="status">
    ${fault && html`<p>${fault}</p>`}
    ${next !== undefined && html`<${Button} kind="quiet" isBusy=${busy} onPress=${readMore}>${busy ? 'Loading …' : 'Show more'}<//>`}
  </div>`;
}

function TransactionRow({ transaction }: { transaction: Transaction }) {
  const { description, merchant, memo, counterparty, category, amount, isCreditTransaction, ledgerBalance } =
    transaction;
  const details = [counterparty?.name, memo, category && wordOf(category)].filter(Boolean).join(' · ');
  return html`<li class="row">
    <span class="first">${merchant ?? description}</span>
    <${Amount} value=${amount} isCredit=${isCreditTransaction} />
    <span class="second">${transaction.reversedBy && html`<${Badge}>Reversed<//> `}${details}</span>
    <span class="second">${ledgerBalance && html`<span class="visually-hidden">Balance </span><${Amount} value=${ledgerBalance} />`}</span>
  </li>`;
}

/** `Groceries` of `GROCERIES`. */
export function wordOf(name: string): string {
  const words = name.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
