import { useState } from 'preact/hooks';
import { useLoad } from '../../../common/load.ts';
import { addressOf } from '../../../common/router.ts';
import { Amount, Badge, Notice } from '../../../design/components.ts';
import { html } from '../../../design/html.ts';
import { type Act, ActButton } from '../../act.ts';
import { useChanges } from '../../live.ts';
import { Moment } from '../../moment.ts';
import { act, type Proposal, pathOf, read } from '../../operations.ts';
import { ask, session } from '../../session.ts';
import { Stateful } from '../../shell.ts';
import { changeWords } from './proposal-words.ts';

interface ProposalsProps {
  /** Default: all types. */
  readonly type?: Proposal['type'];
  readonly onDone?: () => void;
}

/** The acts that wait for a second person, with a button for an operator who may be that person. */
export function Proposals({ type, onDone }: ProposalsProps) {
  const { state, again, refresh } = useLoad(() => ask(() => read<readonly Proposal[]>('/proposals')), []);
  useChanges('review', () => void refresh());
  const [result, setResult] = useState<string>();
  const done = (words: string) => {
    setResult(words);
    void refresh();
    onDone?.();
  };
  if (state.kind !== 'ready')
    return html`<${Stateful} state=${state} subject="the acts that wait" again=${again}>${() => null}<//>`;
  const shown = state.value.filter((one) => type === undefined || one.type === type);
  if (shown.length === 0 && result === undefined) return null;
  return html`<section class="card" aria-labelledby="proposals">
    <header><h2 id="proposals">Acts that wait for a second person</h2></header>
    ${result && html`<div class="body"><${Notice} title=${result} /></div>`}
    <ul class="list">${shown.map(
      (one) => html`<li class="row" key=${`${one.type} ${one.id} ${one.proposedAt}`}>
        <span class="first note"><${Words} proposal=${one} /></span>
        <span class="second note">by ${one.proposedBy} <${Moment} at=${one.proposedAt} />${one.reason && `: “${one.reason}”`}</span>
        <span class="second note">until <${Moment} at=${one.expiresAt} />${!one.mayConfirm && html` <${Badge} kind="warn">${secondOf(one)}<//>`}</span>
        ${one.mayConfirm && html`<div class="note actions"><${ActButton} act=${confirmOf(one)} onDone=${done} /></div>`}
      </li>`,
    )}</ul>
  </section>`;
}

function secondOf({ proposedBy }: Proposal): string {
  return proposedBy === session.value?.name ? 'waits for another person' : 'you may not confirm it';
}

function Words({ proposal: { type, id, change, ...one } }: { proposal: Proposal }) {
  const link = (screen: string, of: string) => html`<a href=${addressOf(screen, of)}>${of}</a>`;
  const { amount, currencyCode, fromAccountId, toAccountId, accountId } = one;
  const money = amount !== undefined && html`<${Amount} value=${{ amount, currencyCode }} />`;
  if (type === 'REVERSAL')
    return html`Take ${money || 'the amount'} of ${link('transfers', id)} back${
      fromAccountId &&
      toAccountId &&
      html`, from ${link('accounts', toAccountId)} to ${link('accounts', fromAccountId)}`
    }`;
  if (type === 'ADJUSTMENT')
    return html`Post ${money || 'the difference'} of break ${link('breaks', id)}${accountId && html` to ${link('accounts', accountId)}`}`;
  return html`${changeWords(change)}`;
}

/** The same act with the same content confirms it. */
function confirmOf(proposal: Proposal): Act<string> {
  const { type, id, amount, currencyCode, change } = proposal;
  const run = async (path: string, body: object): Promise<string> => {
    const { outcome } = await act<{ readonly outcome: string }>(path, body);
    return outcome === 'PROPOSED'
      ? 'Another person must do the same: the first proposal has ended, or was of something else.'
      : 'It is confirmed and done.';
  };
  if (type === 'REVERSAL')
    return {
      verb: 'Confirm',
      effect: `A new transfer takes the ${amount ?? ''} ${currencyCode ?? ''} of ${id} back.`,
      run: (reason) => run(pathOf`/transfers/${id}/reverse`, { reason }),
    };
  if (type === 'ADJUSTMENT')
    return {
      verb: 'Confirm',
      effect: `${amount ?? ''} ${currencyCode ?? ''} is posted, and break ${id} is closed.`,
      run: (reason) => run(pathOf`/breaks/${id}/adjust`, { difference: amount, reason }),
    };
  const [first] = change?.days ?? [];
  return {
    verb: 'Confirm',
    effect: `${changeWords(change)}. Transfers that wait for a business day settle by the new calendar.`,
    run: (reason) => run('/calendar', { ...first, reason }),
  };
}
