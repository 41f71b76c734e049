import type { Account, TransferOption } from '@sharedraft/client';
import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { Empty, Notice, SelectField, Submit, TextField } from '../../../design/components.ts';
import { formatMoney, readAmount } from '../../../design/format/money.ts';
import { html } from '../../../design/html.ts';
import { nameOf, sourcesOf } from '../../accounts.ts';
import { ask, sentenceOf } from '../../bank.ts';
import type { Order } from './transfer.ts';

interface OrderFormProps {
  readonly accounts: readonly Account[];
  /** The source account that another screen chose. */
  readonly from: string | undefined;
  /** The order that the member came back from. */
  readonly before: Order | undefined;
  readonly onReview: (order: Order) => Promise<void>;
}

interface Faults {
  readonly to?: string;
  readonly other?: string;
  readonly amount?: string;
  readonly whole?: string;
}

export function OrderForm({ accounts, from, before, onReview }: OrderFormProps) {
  const sources = sourcesOf(accounts);
  const wanted = before?.fromAccountId ?? from;
  const first = sources.find(({ accountId }) => accountId === wanted) ?? sources[0];
  const [source, setSource] = useState(first?.accountId ?? '');
  const [choice, setChoice] = useState('');
  const [other, setOther] = useState('');
  const [amount, setAmount] = useState<string>(before?.amount ?? '');
  const [memo, setMemo] = useState(before?.memo ?? '');
  const [faults, setFaults] = useState<Faults>({});
  const [busy, setBusy] = useState(false);
  const { state } = useLoad(() => ask((bank) => bank.transfers.options({ fromAccountId: source })), [source]);
  const account = sources.find(({ accountId }) => accountId === source);
  if (account === undefined) return html`<${Empty}>You have no account that money can leave.<//>`;

  const options = state.kind === 'ready' ? state.value.options : [];
  const option = options[Number(choice === '' ? Number.NaN : choice)];
  const { currencyCode } = account.balance.availableBalance;

  const submit = async (event: Event) => {
    event.preventDefault();
    const decimals = account.balance.availableBalance.amount.split('.')[1]?.length ?? 0;
    const exact = readAmount(amount, decimals);
    const to = option?.toAccountId ?? other.trim();
    const found: Faults = {
      ...(option === undefined && { to: 'Choose the account that the money goes to.' }),
      ...(option !== undefined &&
        to === '' && { other: 'Write the id of the account that the money goes to.' }),
      ...(exact === undefined && { amount: 'Write the amount in digits, like 105.25 or 1,500.00.' }),
    };
    setFaults(found);
    if (exact === undefined || option === undefined || Object.keys(found).length > 0)
      return focusFirst(found);
    setBusy(true);
    try {
      // The id stands before the order is sent. However often it is sent, the same id moves the money at most once.
      await onReview({
        ...termsOf(option),
        id: crypto.randomUUID(),
        fromAccountId: source,
        toAccountId: to,
        amount: exact,
        currencyCode,
        memo: memo.trim() || undefined,
      });
    } catch (error) {
      setFaults({ whole: sentenceOf(error) });
      setBusy(false);
    }
  };

  const isOther = option !== undefined && option.toAccountId === undefined;
  const destinations = [
    { value: '', label: state.kind === 'loading' ? 'Loading …' : 'Choose an account' },
    ...options.map((one, index) => ({
      value: String(index),
      label: labelOf(one, accounts),
      isDisabled: !one.allowed,
    })),
  ];

  return html`<form class="card" onSubmit=${submit} novalidate>
    <div class="body fields">
      ${faults.whole && html`<${Notice} kind="bad" title="The transfer could not be checked."><p>${faults.whole}</p><//>`}
      ${state.kind === 'failed' && html`<${Notice} kind="bad" title="The accounts that you can pay could not be loaded."><p>${sentenceOf(state.error)}</p><//>`}
      <${SelectField} id="from" label="From" value=${source} onValue=${(value: string) => {
        setSource(value);
        setChoice('');
      }} hint=${`${formatMoney(account.balance.availableBalance.amount, currencyCode)} available`}
        options=${sources.map((one) => ({ value: one.accountId, label: nameOf(one) }))} />
      <${SelectField} id="to" label="To" value=${choice} fault=${faults.to} onValue=${setChoice}
        options=${destinations} />
      ${
        isOther &&
        html`<${TextField} id="other" label="Account id" value=${other} onValue=${setOther} fault=${faults.other}
        maxLength=${64} hint="The other member finds it in their app." />`
      }
      <${TextField} id="amount" label="Amount" inputMode="decimal" value=${amount} onValue=${setAmount} fault=${faults.amount}
        hint=${option?.maximumAmount && `At most ${formatMoney(option.maximumAmount, currencyCode)}`} />
      <${TextField} id="memo" label="Memo (optional)" value=${memo} onValue=${setMemo} maxLength=${140} hint="The holders of both accounts see it." />
      <div class="actions"><${Submit} isBusy=${busy}>${busy ? 'Checking …' : 'Review'}<//></div>
    </div>
  </form>`;
}

/** The part of an order that comes from the option. */
function termsOf({ transferType, paymentOption, previousYearContribution }: TransferOption) {
  return { transferType, paymentOption, previousYearContribution: previousYearContribution || undefined };
}

const payments: Readonly<Record<string, string>> = {
  PRINCIPAL_ONLY: 'principal only',
  INTEREST_ONLY: 'interest only',
  EXCESS_TO_PRINCIPAL: 'excess to principal',
};

function labelOf(option: TransferOption, accounts: readonly Account[]): string {
  if (option.toAccountId === undefined) return 'Another account at this institution';
  const account = accounts.find(({ accountId }) => accountId === option.toAccountId);
  const name = account === undefined ? option.toAccountId : nameOf(account);
  const details = [
    payments[option.paymentOption ?? ''],
    option.previousYearContribution && 'for the year before',
  ];
  return [name, ...details].filter(Boolean).join(', ');
}

function focusFirst(faults: Faults): void {
  const [first] = Object.keys(faults);
  document.getElementById(first ?? '')?.focus();
}
