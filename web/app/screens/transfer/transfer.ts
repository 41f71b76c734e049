import type { Account, TransferDecision, TransferOrder } from '@sharedraft/client';
import { useEffect, useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { html } from '../../../design/html.ts';
import { nameOf } from '../../accounts.ts';
import { ask } from '../../bank.ts';
import { Screen, Stateful } from '../../shell.ts';
import { takeOrder } from './kept-order.ts';
import { OrderForm } from './order-form.ts';
import { Review } from './review.ts';

/** An order with the id that makes each repetition of it the same transfer. */
export type Order = TransferOrder & { readonly id: string; readonly currencyCode: string };

/** From the form to the review of its dry run, and from there to the transfer. */
export function TransferScreen({ from }: { from: string | undefined }) {
  const { state, again } = useLoad(() => ask((bank) => bank.accounts.list()), []);
  return html`<${Screen} title="Move money">
    <${Stateful} state=${state} subject="your accounts" again=${again}>
      ${(accounts: readonly Account[]) => html`<${Steps} accounts=${accounts} from=${from} again=${again} />`}
    <//>
  <//>`;
}

function Steps({
  accounts,
  from,
  again,
}: {
  accounts: readonly Account[];
  from: string | undefined;
  again: () => void;
}) {
  const [order, setOrder] = useState<Order>();
  const [decision, setDecision] = useState<TransferDecision>();
  const review = async (next: Order) => {
    const decided = await ask((bank) => bank.transfers.dryRun(next));
    setOrder(next);
    setDecision(decided);
  };
  // The member comes back from a sign-in that the order needed.
  useEffect(() => {
    const kept = takeOrder();
    // A failure shows the form with the order, whose next check tells the reason.
    if (kept !== undefined) review(kept).catch(() => setOrder(kept));
  }, []);
  if (order !== undefined && decision !== undefined) {
    const account = accounts.find(({ accountId }) => accountId === order.toAccountId);
    return html`<${Review} order=${order} decision=${decision} fromName=${nameById(accounts, order.fromAccountId)}
      toName=${account === undefined ? order.toAccountId : nameOf(account)}
      onBack=${() => setDecision(undefined)} onAnother=${again} />`;
  }
  return html`<${OrderForm} accounts=${accounts} from=${from} before=${order} onReview=${review} />`;
}

function nameById(accounts: readonly Account[], id: string): string {
  const found = accounts.find(({ accountId }) => accountId === id);
  return found === undefined ? id : nameOf(found);
}
