import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { Amount, Badge, Notice } from '../../../design/components.ts';
import { formatMoney } from '../../../design/format/money.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActButton } from '../../act.ts';
import { wordOf } from '../../format.ts';
import { Moment } from '../../moment.ts';
import { act, type Decided, pathOf, read, type ShownBreak } from '../../operations.ts';
import { ask, may, session } from '../../session.ts';
import { Screen, Stateful } from '../../shell.ts';
import { AccountOf, ageOf } from './breaks.ts';

/** One break with its story. */
export function BreakScreen({ breakId }: { breakId: string }) {
  const path = pathOf`/breaks/${breakId}`;
  const { state, again } = useLoad(() => ask(() => read<ShownBreak>(path)), [breakId]);
  const [result, setResult] = useState<string>();
  const done = (words: string) => {
    setResult(words);
    again();
  };
  const acts =
    state.kind === 'ready' &&
    [
      ...(may('breaks:work') ? actsOf(path, state.value) : []),
      ...(may('transfers:decide') ? adjustmentOf(path, state.value) : []),
    ].map((one) => html`<${ActButton} key=${one.verb} act=${one} onDone=${done} />`);
  return html`<${Screen} title=${`Break ${breakId}`} lead=${state.kind === 'ready' ? wordOf(state.value.class) : undefined} acts=${acts}>
    ${result && html`<${Notice} title=${result} />`}
    <${Stateful} state=${state} subject="the break" again=${again}>
      ${(one: ShownBreak) => html`<${Facts} of=${one} /><${Story} of=${one} />`}
    <//>
  <//>`;
}

/** A closed break takes notes only. */
function actsOf(path: string, { owner, closedAt }: ShownBreak): Act<string>[] {
  const own = session.value?.name;
  const change = (verb: string, effect: string, to: { readonly owner?: string | null }): Act<string> => ({
    verb,
    effect,
    async run(note) {
      await act<ShownBreak>(path, { ...to, note }, 'PATCH');
      return 'It stands in the story.';
    },
  });
  const note = change('Note', 'The reason that you write is a line of the story.', {});
  if (closedAt !== undefined || own === undefined) return [note];
  const owning =
    owner === own
      ? change('Let go', 'Nobody looks after the break any more. The reason stands in the story.', {
          owner: null,
        })
      : change('Take over', 'You are the owner of the break. The reason stands in the story.', {
          owner: own,
        });
  return [owning, note];
}

/** A lasting difference of an account is posted here; the service refuses any other. */
function adjustmentOf(
  path: string,
  { closedAt, class: kind, transactionId, transferId, accountId, difference, currencyCode }: ShownBreak,
): Act<string>[] {
  if (
    closedAt !== undefined ||
    transactionId ||
    transferId ||
    kind === 'TIMING' ||
    kind === 'UNKNOWN_ACCOUNT'
  )
    return [];
  return [
    {
      verb: 'Adjust',
      effect: `${formatMoney(difference, currencyCode)} is posted to ${accountId}, and the break is closed. The core’s balance counts.`,
      async run(reason) {
        const { outcome } = await act<Decided>(`${path}/adjust`, { difference, reason });
        return outcome === 'PROPOSED'
          ? 'Your adjustment is noted. Another person must decide the same.'
          : 'The difference is posted, and the break is closed.';
      },
    },
  ];
}

function Facts({ of: one }: { of: ShownBreak }) {
  const { transactionId, transferId, closedAt, closedBy } = one;
  return html`<section class="card" aria-labelledby="facts">
    <header><h2 id="facts">Difference</h2><${Badge} kind=${closedAt ? 'good' : 'warn'}>${closedAt ? 'closed' : 'open'}<//></header>
    <div class="body"><dl class="facts">
      <div><dt>The core’s amount minus the one here</dt>
      <dd><${Amount} value=${{ amount: one.difference, currencyCode: one.currencyCode }} /></dd></div>
      <div><dt>Account</dt><dd><${AccountOf} of=${one} /></dd></div>
      ${transactionId && html`<div><dt>Posting of the core</dt><dd>${transactionId}</dd></div>`}
      ${transferId && html`<div><dt>Transfer</dt><dd>${may('members:read') ? html`<a href=${addressOf('transfers', transferId)}>${transferId}</a>` : transferId}</dd></div>`}
      ${one.asOf && html`<div><dt>Balances compared at</dt><dd><${Moment} at=${one.asOf} /></dd></div>`}
      <div><dt>Owner</dt><dd>${one.owner ?? 'none'}</dd></div>
      <div><dt>Opened</dt><dd><${Moment} at=${one.openedAt} /></dd></div>
      <div><dt>Age</dt><dd>${ageOf(one)}</dd></div>
      ${closedAt && html`<div><dt>Closed</dt><dd><${Moment} at=${closedAt} />, ${wordOf(closedBy)}</dd></div>`}
    </dl></div>
  </section>`;
}

function Story({ of: { story } }: { of: ShownBreak }) {
  return html`<section class="card" aria-labelledby="story">
    <header><h2 id="story">Story</h2></header>
    <ol class="list">${story.map(
      ({ at, author, note }, place) => html`<li class="row" key=${place}>
        <span class="first note">${note}</span>
        <span class="second note">${author ?? 'The service'}, <${Moment} at=${at} /></span>
      </li>`,
    )}</ol>
  </section>`;
}
