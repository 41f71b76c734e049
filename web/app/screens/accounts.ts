import type { Account } from '@sharedraft/client';
import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { Amount, Badge, Empty } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { endOf, grouped, mainBalance, totalOf } from '../accounts.ts';
import { ask } from '../bank.ts';
import { member } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';

export function AccountsScreen() {
  const { state, again } = useLoad(() => ask((bank) => bank.accounts.list()), []);
  const name = member.value?.name;
  return html`<${Screen} title="Accounts" lead=${name && `Hello, ${name}.`}>
    <${Stateful} state=${state} subject="your accounts" again=${again}>
      ${(accounts: readonly Account[]) =>
        accounts.length === 0
          ? html`<${Empty}>You have no accounts here yet.<//>`
          : grouped(accounts).map(
              (group) => html`<section class="card" key=${group.title} aria-label=${group.title}>
                <${GroupHeader} group=${group} />
                <ul class="list">${group.accounts.map((account) => html`<${AccountRow} key=${account.accountId} account=${account} />`)}</ul>
              </section>`,
            )}
    <//>
  <//>`;
}

function GroupHeader({
  group,
}: {
  group: { readonly title: string; readonly accounts: readonly Account[] };
}) {
  const total = totalOf(group.accounts);
  return html`<header>
    <h2>${group.title}</h2>
    ${total && html`<p class="quiet"><span class="visually-hidden">Together </span><${Amount} value=${total} /></p>`}
  </header>`;
}

function AccountRow({ account }: { account: Account }) {
  const { value, word } = mainBalance(account);
  const { closed, delinquent } = account.accountStatus;
  return html`<li><a class="row" href=${addressOf('accounts', account.accountId)}>
    <span class="first">${account.accountType.description}</span>
    <${Amount} value=${value} />
    <span class="second">${endOf(account)}${closed && html` <${Badge}>Closed<//>`}${delinquent && html` <${Badge} kind="warn">Payment due<//>`}</span>
    <span class="second">${word}</span>
  </a></li>`;
}
