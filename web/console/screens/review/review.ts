import { useEffect, useReducer, useRef, useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { orderIn, slugOf } from '../../../common/order.ts';
import { addressOf, go, setViewPart, viewPart } from '../../../common/router.ts';
import { sortRows } from '../../../common/sort-rows.ts';
import { type Column, Table } from '../../../common/table.ts';
import { Amount, Button, Empty, Notice, SelectField } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActDialog } from '../../act.ts';
import { ageWords, dueWords, wordOf } from '../../format.ts';
import { liveFigures, useChanges } from '../../live.ts';
import { Moment, momentColumn, ShortMoment } from '../../moment.ts';
import {
  act,
  type Decided,
  type Decision,
  type Proposal,
  pathOf,
  read,
  type WaitingTransfer,
} from '../../operations.ts';
import { ask, may, session } from '../../session.ts';
import { isTyping, Screen, Stateful } from '../../shell.ts';
import { BulkDialog } from './bulk-dialog.ts';
import { decidersOf, effectOf, wordsOf } from './decision.ts';
import { Proposals } from './proposals.ts';
import { reasonsOf } from './reasons.ts';
import { Sides } from './sides.ts';
import { Usual } from './usual.ts';

/** So many can still be read one by one before they are decided together. */
const mostChosen = 100;
/** The operation returns no more at once. */
const mostListed = 1_000;
const caption = 'Transfers that wait';
const rowPart = `${slugOf(caption)}.row`;

const reasons = ['', 'REVIEW', 'CUT_OFF', 'CORE'];

/** Transfers that wait, the first due first, and the acts that wait for a second person. The filter stands in the address. */
export function ReviewScreen({ query }: { query: URLSearchParams }) {
  const filter = { heldFor: query.get('heldFor') ?? '', age: query.get('age') ?? '' };
  const { state, again, refresh } = useLoad(
    () => ask(() => read<readonly (WaitingTransfer | Proposal)[]>('/pending', filter)),
    [filter.heldFor, filter.age],
  );
  useChanges('review', () => void refresh());
  // Transfers grow older without any change that the service could announce.
  const figures = liveFigures.value;
  useEffect(() => {
    if (filter.age !== '' && state.kind === 'ready') void refresh();
  }, [figures]);
  const [result, setResult] = useState<string>();
  const done = (words: string) => {
    setResult(words);
    again();
  };
  return html`<${Screen} title="Review" lead=${may('transfers:decide') ? 'j and k move, a approves, d declines, o opens the transfer. x chooses it, and A and D decide on all that are chosen.' : 'j and k move, o opens the transfer.'}>
    ${result && html`<${Notice} title=${result} />`}
    <${QueueFilter} filter=${filter} />
    <${Stateful} state=${state} subject="the queue" again=${again}>
      ${(waiting: readonly (WaitingTransfer | Proposal)[]) => html`
        ${waiting.length >= mostListed && html`<${Notice} kind="warn" title=${`The first ${mostListed.toLocaleString('en-US')} show, those that are due first. A filter finds others.`} />`}
        <${Queue} transfers=${waiting.filter((one) => one.kind === 'transfer')} empty=${filter.heldFor + filter.age === '' ? 'No transfer waits.' : 'No transfer that waits fits the filter.'} onDone=${done} onBulk=${() => void refresh()} />
`}
    <//>
    <${Proposals} />
  <//>`;
}

function QueueFilter({ filter }: { filter: { readonly heldFor: string; readonly age: string } }) {
  const pick = (name: keyof typeof filter) => (value: string) => {
    const given = Object.entries({ ...filter, [name]: value }).filter(([, text]) => text !== '');
    go(addressOf('review', undefined, Object.fromEntries(given)));
  };
  return html`<div class="card"><div class="body filters" data-size="small">
    <${SelectField} id="heldFor" label="Waits for" value=${filter.heldFor} onValue=${pick('heldFor')}
      options=${reasons.map((value) => ({ value, label: wordOf(value) || 'All' }))} />
    <${SelectField} id="age" label="Age" value=${filter.age} onValue=${pick('age')}
      options=${[{ value: '', label: 'All' }, ...Object.entries(ageWords).map(([value, label]) => ({ value, label }))]} />
  </div></div>`;
}

function actOf(decision: Decision, transfer: WaitingTransfer): Act<Decided> {
  const { id, amount, currencyCode, fromAccountId, toAccountId } = transfer;
  const subject = `${amount} ${currencyCode} from ${fromAccountId} to ${toAccountId}.`;
  return {
    verb: wordOf(decision),
    effect: `${subject} ${effectOf[decision]}`,
    run: (reason) => act<Decided>(`${pathOf`/transfers/${id}`}/${decision}`, { reason }),
  };
}

function Queue({
  transfers,
  empty,
  onDone,
  onBulk,
}: {
  transfers: readonly WaitingTransfer[];
  /** The words of a queue without a transfer. */
  empty: string;
  onDone: (words: string) => void;
  /** After decisions that showed their own outcomes. */
  onBulk: () => void;
}) {
  // The queue changes while the operator looks, so a dialog keeps its transfer.
  const [deciding, setDeciding] = useState<{
    readonly decision: Decision;
    readonly transfer: WaitingTransfer;
  }>();
  const [chosenIds, setChosenIds] = useState<ReadonlySet<string>>(new Set());
  const [bulk, setBulk] = useState<{
    readonly decision: Decision;
    readonly transfers: readonly WaitingTransfer[];
  }>();
  // One that has left the queue is chosen no more.
  const chosen = transfers.filter(({ id }) => chosenIds.has(id));
  const choose = (id: string) =>
    setChosenIds((before) => {
      const others = new Set(transfers.map((one) => one.id).filter((one) => before.has(one)));
      if (!others.delete(id) && others.size < mostChosen) others.add(id);
      return others;
    });
  let selectedId: string | undefined;
  const choice: Column<WaitingTransfer> = {
    title: 'Chosen',
    text: ({ id }) => (chosenIds.has(id) ? 'yes' : ''),
    cell: ({ id }) =>
      html`<input type="checkbox" aria-label=${`Choose ${id}`} checked=${chosenIds.has(id)} onChange=${() => choose(id)} />`,
  };
  const columns: Column<WaitingTransfer>[] = [
    ...(may('transfers:decide') ? [choice] : []),
    {
      title: 'Transfer',
      text: ({ id }) => id,
      cell: (row) =>
        html`<button type="button" class="pick" aria-pressed=${row.id === selectedId} onClick=${() => select(row.id)}>${row.id}</button>`,
    },
    {
      title: 'Amount',
      text: ({ amount }) => amount,
      cell: (row) => html`<${Amount} value=${row} />`,
      isNumeric: true,
    },
    { title: 'Why', text: (row) => reasonsOf(row).join('; '), isLong: true },
    {
      title: 'Approvals',
      text: ({ approvedBy, approvalsNeeded }) => `${approvedBy.length} of ${approvalsNeeded}`,
    },
    {
      ...momentColumn('Due', ({ dueAt }) => dueAt),
      cell: ({ dueAt }) => html`<${ShortMoment} at=${dueAt} />`,
    },
  ];
  // The keys move through the rows as they show.
  const order = orderIn(
    viewPart(`${slugOf(caption)}.sort`),
    columns.map(({ title }) => title),
  );
  const { current, select, move } = useSelection(sortRows(columns, transfers, order));
  const allowed = (decision: Decision) => chosen.filter(({ decisions }) => decisions.includes(decision));
  const decideChosen = (decision: Decision) => {
    const some = allowed(decision);
    if (some.length > 0) setBulk({ decision, transfers: some });
  };
  const decide = (decision: Decision, transfer: WaitingTransfer) => {
    if (transfer.decisions.includes(decision)) setDeciding({ decision, transfer });
  };
  const listen = (event: KeyboardEvent) => {
    const transfer = current();
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || transfer === undefined) return;
    const isDecision = may('transfers:decide');
    if (event.key === 'j') move(1);
    else if (event.key === 'k') move(-1);
    else if (event.key === 'x' && isDecision) choose(transfer.id);
    else if (event.key === 'A' && isDecision) decideChosen('approve');
    else if (event.key === 'D' && isDecision) decideChosen('decline');
    else if (event.key === 'o') go(addressOf('transfers', transfer.id));
    else if (event.key === 'a' && isDecision) decide('approve', transfer);
    else if (event.key === 'd' && isDecision) decide('decline', transfer);
    else return;
    event.preventDefault();
  };
  const latest = useRef(listen);
  latest.current = listen;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => latest.current(event);
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
  const dialogs = html`${
    deciding &&
    html`<${ActDialog} act=${actOf(deciding.decision, deciding.transfer)} onClose=${() => setDeciding(undefined)}
      onDone=${(decided: Decided) => onDone(wordsOf(decided))} />`
  }${
    bulk &&
    html`<${BulkDialog} ...${bulk} onClose=${() => {
      setBulk(undefined);
      setChosenIds(new Set());
      onBulk();
    }} />`
  }`;
  const shown = current();
  selectedId = shown?.id;
  if (shown === undefined)
    return html`<div><section class="card"><${Empty}>${empty}<//></section>${dialogs}</div>`;
  return html`<div class="beside">
    <section class="card" aria-label="Transfers that wait">
      ${
        chosen.length > 0 &&
        html`<div class="actions chosen" role="group" aria-label="The chosen transfers">
        <span>${chosen.length} chosen</span>
        ${(['approve', 'decline'] as const).map((decision) => {
          const count = allowed(decision).length;
          if (count === 0) return null;
          const many = count === chosen.length ? 'all' : `${count} of them`;
          return html`<${Button} key=${decision} kind=${decision === 'decline' ? 'quiet' : undefined} onPress=${() => decideChosen(decision)}>${wordOf(decision)} ${many} <kbd>${decision === 'approve' ? 'A' : 'D'}</kbd><//>`;
        })}
        <${Button} kind="text" onPress=${() => setChosenIds(new Set())}>Choose none<//>
      </div>`
      }
      <${Table} caption=${caption} columns=${columns} rows=${transfers} keyOf=${({ id }: WaitingTransfer) => id} current=${shown.id} empty="" file="review" />
    </section>
    <${Selected} key=${shown.id} transfer=${shown} onDecide=${(decision: Decision) => decide(decision, shown)} />
    ${dialogs}
  </div>`;
}

/**
 * The selected transfer, known by its id while the rows change; once it has left, the one in its place. It is read at each key, since a second
 * key may come before the page has drawn the first.
 */
function useSelection(transfers: readonly WaitingTransfer[]) {
  const selected = useRef<{ readonly id: string; readonly at: number } | undefined>(undefined);
  const latest = useRef(transfers);
  const [, draw] = useReducer((turn: number, _: undefined) => turn + 1, 0);
  latest.current = transfers;
  // Of a link, a reload or Back; later the address follows the keys.
  const asked = viewPart(rowPart);
  const followed = useRef('');
  if (asked !== followed.current) {
    followed.current = asked;
    selected.current = { id: asked, at: 0 };
  }
  const keep = (at: number) => {
    const transfer = latest.current[at];
    selected.current = transfer && { id: transfer.id, at };
    return transfer;
  };
  const place = () => {
    const found = latest.current.findIndex(({ id }) => id === selected.current?.id);
    return Math.max(0, Math.min(found < 0 ? (selected.current?.at ?? 0) : found, latest.current.length - 1));
  };
  const show = (at: number) => {
    const transfer = keep(at);
    if (transfer === undefined) return;
    followed.current = transfer.id;
    setViewPart(rowPart, transfer.id);
    draw(undefined);
  };
  return {
    current: () => keep(place()),
    select: (id: string) => show(latest.current.findIndex((one) => one.id === id)),
    move: (by: 1 | -1) => show(Math.max(0, Math.min(place() + by, latest.current.length - 1))),
  };
}

/** The transfer with both accounts, and what is usual there. */
function Selected({
  transfer,
  onDecide,
}: {
  transfer: WaitingTransfer;
  onDecide: (decision: Decision) => void;
}) {
  return html`<section class="card" aria-label="The selected transfer">
    <div class="body fields">
      <div><${Amount} value=${transfer} size="large" /><p class="quiet">${wordOf(transfer.type)}</p></div>
      <dl class="facts">
        <div><dt>Ordered</dt><dd><${Moment} at=${transfer.createdAt} /></dd></div>
        <div><dt>Waits for</dt><dd>${wordOf(transfer.heldFor)}</dd></div>
        <div><dt>Why</dt><dd>${reasonsOf(transfer).map((reason) => html`<div key=${reason}>${reason}</div>`)}</dd></div>
        <div><dt>Without a decision</dt><dd>${dueWords(transfer.whenDue)} <${Moment} at=${transfer.dueAt} /></dd></div>
        <div><dt>Approved by</dt><dd>${transfer.approvedBy.join(', ') || 'nobody yet'}</dd></div>
        <div><dt>May decide</dt><dd>${decidersOf(transfer, session.value?.name ?? '')}</dd></div>
      </dl>
      ${transfer.isOrdererShutOut && html`<${Notice} kind="warn" title="The member who ordered it is shut out now." />`}
      <div class="actions">
        ${
          transfer.decisions.includes('approve') &&
          html`<button type="button" class="button" onClick=${() => onDecide('approve')}>Approve <kbd>a</kbd></button>`
        }
        ${
          transfer.decisions.includes('decline') &&
          html`<button type="button" class="button" data-kind="quiet" onClick=${() => onDecide('decline')}>Decline <kbd>d</kbd></button>`
        }
        <a class="button" data-kind="quiet" href=${addressOf('transfers', transfer.id)}>Open</a>
      </div>
    </div>
    <${Sides} transfer=${transfer} />
    <${Usual} transfer=${transfer} />
  </section>`;
}
