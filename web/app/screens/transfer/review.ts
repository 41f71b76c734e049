import {
  ConflictError,
  RefusedError,
  type Transfer,
  type TransferDecision,
  type TransferReason,
} from '@sharedraft/client';
import { useState } from 'preact/hooks';
import { addressOf } from '../../../common/router.ts';
import { Amount, Button, Notice } from '../../../design/components.ts';
import { formatMoment } from '../../../design/format/dates.ts';
import { formatMoney } from '../../../design/format/money.ts';
import { html } from '../../../design/html.ts';
import { ask, needsNewSignIn, reasonOf, sentenceOf } from '../../bank.ts';
import { signInAgain } from '../../session.ts';
import { keepOrder } from './kept-order.ts';
import type { Order } from './transfer.ts';

interface ReviewProps {
  readonly order: Order;
  readonly decision: TransferDecision;
  readonly fromName: string;
  readonly toName: string;
  readonly onBack: () => void;
  readonly onAnother: () => void;
}

/** Shows the outcome that the order would have, and then the one that it has. */
export function Review({ order, decision, fromName, toName, onBack, onAnother }: ReviewProps) {
  const [done, setDone] = useState<Transfer>();
  const [failure, setFailure] = useState<unknown>();
  const [busy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    setFailure(undefined);
    try {
      setDone(await ask((bank) => bank.transfers.create(order)));
    } catch (error) {
      setFailure(error);
    }
    setBusy(false);
  };
  const again = async () => {
    if (!needsNewSignIn(failure)) return;
    keepOrder(order);
    await signInAgain(failure.problem);
  };
  const value = { amount: order.amount, currencyCode: order.currencyCode };
  const facts = html`<dl class="facts">
    <div><dt>From</dt><dd>${fromName}</dd></div>
    <div><dt>To</dt><dd>${toName}</dd></div>
    ${order.memo && html`<div><dt>Memo</dt><dd>${order.memo}</dd></div>`}
  </dl>`;

  if (done !== undefined) {
    const title = done.status === 'COMPLETED' ? 'The transfer is complete.' : 'The transfer is on its way.';
    return html`<section class="card" aria-label="Result"><div class="body fields">
      <${Notice} title=${title}><p>${formatMoment(done.createdAt)}</p><//>
      <${Amount} value=${value} size="large" />
      ${facts}
      <div class="actions">
        <a class="button" href=${addressOf('accounts', order.fromAccountId)}>Show the account</a>
        <${Button} kind="quiet" onPress=${onAnother}>Move more money<//>
      </div>
    </div></section>`;
  }

  const isRefused = decision.transfer.status === 'FAILED';
  const isFinal = failure instanceof RefusedError || failure instanceof ConflictError;
  return html`<section class="card" aria-label="Review"><div class="body fields">
    <${Amount} value=${value} size="large" />
    ${facts}
    <${Outlook} decision=${decision} currencyCode=${order.currencyCode} />
    ${
      failure !== undefined &&
      html`<${Notice} kind="bad" title=${sentenceOf(failure)}>
      ${!isFinal && !needsNewSignIn(failure) && html`<p>You can send it again: it moves the money once, however often it is sent.</p>`}
    <//>`
    }
    <div class="actions">
      ${needsNewSignIn(failure) && html`<${Button} onPress=${again}>Sign in again<//>`}
      ${!isRefused && !isFinal && !needsNewSignIn(failure) && html`<${Button} isBusy=${busy} onPress=${send}>${busy ? 'Sending …' : `Move ${formatMoney(order.amount, order.currencyCode)}`}<//>`}
      <${Button} kind="quiet" onPress=${onBack}>Change<//>
    </div>
  </div></section>`;
}

function Outlook({ decision, currencyCode }: { decision: TransferDecision; currencyCode: string }) {
  const { status } = decision.transfer;
  if (status === 'COMPLETED') return html`<${Notice} title="It posts at once." />`;
  const title = status === 'PENDING' ? 'The amount is held at first.' : 'This transfer is not possible.';
  return html`<${Notice} kind=${status === 'PENDING' ? 'warn' : 'bad'} title=${title}>
    ${decision.reasons.map((reason) => html`<p key=${reason.code}>${sentenceOfReason(reason, currencyCode)}</p>`)}
  <//>`;
}

function sentenceOfReason({ code, limit }: TransferReason, currencyCode: string): string {
  const { remainingAmount } = limit ?? {};
  if (remainingAmount === undefined) return reasonOf(code);
  return `${reasonOf(code)} ${formatMoney(remainingAmount, currencyCode)} is left.`;
}
