import { useLoad } from '../../common/load.ts';
import { addressOf } from '../../common/router.ts';
import { Amount } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { OperationError, pathOf, read, type ShownAccount, type ShownTransfer } from '../operations.ts';
import { ask } from '../session.ts';
import { Screen, Stateful } from '../shell.ts';
import { FoundPersons } from './members.ts';
import { Status } from './transfer-columns.ts';

interface Found {
  readonly transfer: ShownTransfer | undefined;
  readonly account: ShownAccount | undefined;
}

/** A transfer or an account by its id, and members by anything that names them. */
export function SearchScreen({ text }: { text: string }) {
  const { state, again } = useLoad(async (): Promise<Found> => {
    const [transfer, account] = await Promise.all([
      find<ShownTransfer>(pathOf`/transfers/${text}`),
      find<ShownAccount>(pathOf`/accounts/${text}`),
    ]);
    return { transfer, account };
  }, [text]);
  return html`<${Screen} title="Search" lead=${text}>
    <${Stateful} state=${state} subject="transfers and accounts" again=${again}>
      ${({ transfer, account }: Found) =>
        (transfer || account) &&
        html`<section class="card" aria-label="By id"><ul class="list">
          ${transfer && html`<li><a class="row" href=${addressOf('transfers', transfer.id)}><span class="first">Transfer ${transfer.id}</span><${Amount} value=${transfer} /><span></span><${Status} transfer=${transfer} /></a></li>`}
          ${account && html`<li><a class="row" href=${addressOf('accounts', account.accountId)}><span class="first">${account.description} ${account.accountId}</span><${Amount} value=${{ amount: account.balance, currencyCode: account.currency }} /></a></li>`}
        </ul></section>`}
    <//>
    <section class="card" aria-label="Members"><${FoundPersons} text=${text} /></section>
  <//>`;
}

async function find<Document>(path: string): Promise<Document | undefined> {
  try {
    return await ask(() => read<Document>(path));
  } catch (error) {
    if (error instanceof OperationError) return undefined;
    throw error;
  }
}
