import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount, Notice } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActButton } from '../../act.ts';
import { dueWords, durationOf, wordOf } from '../../format.ts';
import { Moment, momentColumn } from '../../moment.ts';
import { act, type Decided, type Decision, pathOf, read, type ShownTransfer } from '../../operations.ts';
import { ask, may } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { effectOf, wordsOf } from '../review/decision.ts';
import { Status } from '../transfer-columns.ts';
import { boundOf } from './bounds.ts';
import { Checks } from './checks.ts';
import { CoreOutcome } from './core-outcome.ts';
import { Deliveries } from './deliveries.ts';

export function TransferScreen({ id }: { id: string }) {
  const { state, again } = useLoad(() => ask(() => read<ShownTransfer>(pathOf`/transfers/${id}`)), [id]);
  const [result, setResult] = useState<string>();
  const done = (decided: Decided) => {
    setResult(wordsOf(decided));
    again();
  };
  const acts =
    state.kind === 'ready' &&
    may('transfers:decide') &&
    actsOf(state.value).map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${done} />`);
  return html`<${Screen} title="Transfer" lead=${id} acts=${acts}>
    ${result && html`<${Notice} title=${result} />`}
    <${Stateful} state=${state} subject="the transfer" again=${again}>
      ${(transfer: ShownTransfer) => html`
        <${Facts} transfer=${transfer} />
        <${Checks} transfer=${transfer} />
        <${Steps} transfer=${transfer} />
        <${Entries} transfer=${transfer} />
        ${transfer.core && html`<${CoreOutcome} core=${transfer.core} />`}
        <${Deliveries} id=${transfer.id} events=${transfer.events} />`}
    <//>
  <//>`;
}

const screeningWords: Readonly<Record<string, string>> = {
  ANSWERED: 'as the hook answered',
  SILENT: 'since the hook gave no answer',
  NOT_ASKED: 'without asking the hook',
};

function screeningOf({ verdict, answer, reference }: NonNullable<ShownTransfer['screening']>): string {
  const given = `${wordOf(verdict)}, ${screeningWords[answer]}`;
  return reference === null ? given : `${given} (${reference})`;
}

/** The acts that the state of the transfer allows. */
function actsOf({ id, status, pending, reversedBy, reverses }: ShownTransfer): Act<Decided>[] {
  const decide = (decision: Decision | 'reverse', effect: string): Act<Decided> => ({
    verb: wordOf(decision),
    effect,
    run: (reason) => act<Decided>(`${pathOf`/transfers/${id}`}/${decision}`, { reason }),
  });
  if (pending) return pending.decisions.map((decision) => decide(decision, effectOf[decision]));
  const isReversible = status === 'COMPLETED' && !reversedBy && !reverses;
  return isReversible ? [decide('reverse', 'A new transfer takes the whole amount back.')] : [];
}

function Facts({ transfer }: { transfer: ShownTransfer }) {
  const { pending, exceededLimit } = transfer;
  const link = (screen: string, id: string) => html`<a href=${addressOf(screen, id)}>${id}</a>`;
  return html`<section class="card" aria-label="Facts"><div class="body split">
    <div>
      <${Amount} value=${transfer} size="large" />
      <p><${Status} transfer=${transfer} /> <span class="quiet">${wordOf(transfer.transferType)}</span></p>
      ${transfer.memo && html`<p class="quiet">“${transfer.memo}”</p>`}
      ${
        transfer.failureCode &&
        html`<${Notice} kind="bad" title=${wordOf(transfer.failureCode)}>
          <p>${transfer.failureDetail}</p>
          ${exceededLimit && html`<p>The limit ${boundOf(exceededLimit)}.${exceededLimit.resetsAt !== null && html` It begins anew <${Moment} at=${exceededLimit.resetsAt} />.`}</p>`}
        <//>`
      }
    </div>
    <dl class="facts">
      <div><dt>From</dt><dd>${link('accounts', transfer.fromAccountId)}</dd></div>
      <div><dt>To</dt><dd>${link('accounts', transfer.toAccountId)}</dd></div>
      <div><dt>Ordered by</dt><dd>${transfer.operator ?? transfer.userId ?? transfer.clientId}</dd></div>
      <div><dt>Through</dt><dd>${transfer.clientId ?? 'the service'}</dd></div>
      <div><dt>Request</dt><dd>${transfer.requestId ?? 'none'}</dd></div>
      <div><dt>Ordered</dt><dd><${Moment} at=${transfer.createdAt} /></dd></div>
      <div><dt>Settled</dt><dd>${transfer.settledAt ? html`<${Moment} at=${transfer.settledAt} />` : 'not yet'}</dd></div>
      ${transfer.screening && html`<div><dt>Screening</dt><dd>${screeningOf(transfer.screening)}</dd></div>`}
      ${
        pending &&
        html`
        <div><dt>Waits for</dt><dd>${wordOf(pending.heldFor)}</dd></div>
        <div><dt>Approvals</dt><dd>${transfer.approvals.length} of ${pending.approvalsNeeded}</dd></div>
        <div><dt>Without a decision</dt><dd>${dueWords(pending.whenDue)} <${Moment} at=${pending.dueAt} /></dd></div>`
      }
      ${transfer.reverses && html`<div><dt>Reverses</dt><dd>${link('transfers', transfer.reverses)}</dd></div>`}
      ${transfer.reversedBy && html`<div><dt>Reversed by</dt><dd>${link('transfers', transfer.reversedBy)}</dd></div>`}
    </dl>
  </div></section>`;
}

function Steps({ transfer }: { transfer: ShownTransfer }) {
  return html`<section class="card" aria-labelledby="steps">
    <header><h2 id="steps">Steps</h2></header>
    <ol class="list life">${transfer.steps.map(
      ({ at, step, afterMillis }) => html`<li class="row" key=${`${at} ${step}`}>
        <span class="first">${wordOf(step)}</span>
        <span><${Moment} at=${at} />${afterMillis !== null && html` <span class="quiet">+${durationOf(afterMillis)}</span>`}</span>
      </li>`,
    )}</ol>
  </section>`;
}

type EntryOfTransfer = ShownTransfer['entries'][number];

function Entries({ transfer }: { transfer: ShownTransfer }) {
  const money = (amount: string) =>
    html`<${Amount} value=${{ amount, currencyCode: transfer.currencyCode }} />`;
  /** The sum of the account's holds after the entry, those of other transfers among them. */
  const held = (title: string, amountIn: (entry: EntryOfTransfer) => string): Column<EntryOfTransfer> => ({
    title,
    text: amountIn,
    cell: (entry) => money(amountIn(entry)),
    isNumeric: true,
  });
  const columns: Column<EntryOfTransfer>[] = [
    {
      title: 'Account',
      text: ({ accountId }) => accountId,
      cell: ({ accountId }) => html`<a href=${addressOf('accounts', accountId)}>${accountId}</a>`,
    },
    {
      title: 'Entry',
      text: ({ entry }) => String(entry),
      cell: ({ accountId, entry }) =>
        html`<a href=${addressOf('entries', accountId, { entry: String(entry) })}>${entry}</a>`,
      isNumeric: true,
    },
    { title: 'Kind', text: ({ kind }) => wordOf(kind) },
    { title: 'Amount', text: ({ amount }) => amount, cell: ({ amount }) => money(amount), isNumeric: true },
    {
      title: 'Balance after',
      text: ({ balanceAfter }) => balanceAfter,
      cell: ({ balanceAfter }) => money(balanceAfter),
      isNumeric: true,
    },
    held('Held to leave', ({ debitsPendingAfter }) => debitsPendingAfter),
    held('Held to arrive', ({ creditsPendingAfter }) => creditsPendingAfter),
    momentColumn('Recorded', ({ recordedAt }) => recordedAt),
  ];
  return html`<section class="card" aria-labelledby="entries">
    <header><h2 id="entries">Entries on both sides</h2></header>
    <${Table} caption="Entries on both sides" columns=${columns} rows=${transfer.entries} empty="The transfer moved nothing."
      keyOf=${({ accountId, entry }: EntryOfTransfer) => `${accountId} ${entry}`} file=${`transfer-${transfer.id}`} />
  </section>`;
}
