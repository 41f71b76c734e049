import { useEffect, useRef, useState } from 'preact/hooks';
import { SignedOutError } from '../../../common/signed-out-error.ts';
import { Amount, Badge, Button, Notice, Submit, TextField } from '../../../design/components.ts';
import { sumOf } from '../../../design/format/money.ts';
import { html } from '../../../design/html.ts';
import { wordOf } from '../../format.ts';
import {
  act,
  type Decided,
  type Decision,
  pathOf,
  sentenceOf,
  type WaitingTransfer,
} from '../../operations.ts';
import { toSignIn } from '../../session.ts';
import { decideAll, type Outcome } from './decide-all.ts';
import { wordsOf } from './decision.ts';

interface BulkProps {
  readonly decision: Decision;
  /** As the operator chose them. The queue behind may change meanwhile. */
  readonly transfers: readonly WaitingTransfer[];
  readonly onClose: () => void;
}

/** One reason for several transfers. Each is decided by its own request, and shows its own outcome. */
export function BulkDialog({ decision, transfers, onClose }: BulkProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isStopped = useRef(false);
  const [reason, setReason] = useState('');
  const [fault, setFault] = useState<string>();
  const [phase, setPhase] = useState<'asking' | 'sending' | 'done'>('asking');
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map());
  const [isSignedOut, setSignedOut] = useState(false);
  useEffect(() => {
    dialog.current?.showModal();
    document.getElementById('reason')?.focus();
    return () => {
      isStopped.current = true;
    };
  }, []);
  const decide = async (id: string): Promise<Outcome> => {
    try {
      const path = `${pathOf`/transfers/${id}`}/${decision}`;
      const decided = await act<Decided>(path, { reason: reason.trim() });
      return { kind: decided.outcome === 'DONE' ? 'good' : 'warn', words: wordsOf(decided) };
    } catch (error) {
      if (error instanceof SignedOutError) {
        setSignedOut(true);
        return { kind: 'bad', words: 'Not decided: it needs a new sign-in.', stops: true };
      }
      // The request may have arrived. A second decision of the same kind changes nothing.
      if (error instanceof TypeError)
        return { kind: 'bad', words: 'No response: it may be decided. Look at the transfer.', stops: true };
      return { kind: 'bad', words: sentenceOf(error) };
    }
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (reason.trim() === '') {
      setFault('Write the reason. The audit keeps it.');
      document.getElementById('reason')?.focus();
      return;
    }
    setPhase('sending');
    await decideAll(
      transfers.map(({ id }) => id),
      {
        decide,
        isStopped: () => isStopped.current,
        onOutcome: (id, outcome) => setOutcomes((known) => new Map([...known, [id, outcome]])),
      },
    );
    setPhase('done');
  };
  const verb = wordOf(decision);
  const open = transfers.length - outcomes.size;
  return html`<dialog ref=${dialog} class="dialog" data-size="wide" aria-labelledby="bulk" onClose=${onClose}>
    <form class="fields" onSubmit=${submit} novalidate>
      <h2 id="bulk">${verb} ${transfers.length} transfers</h2>
      <p>${totals(transfers)} together. Each is decided by itself: one that is refused leaves the others as they are.</p>
      <ul class="list bulk" aria-label="The transfers" aria-live="polite" tabindex="0">${transfers.map(
        (one) => html`<li class="row" key=${one.id}>
          <span class="first">${one.id}</span><${Amount} value=${one} />
          <span class="second">${one.fromAccountId} → ${one.toAccountId}</span>
          <span class="second"><${Result} outcome=${outcomes.get(one.id)} isDone=${phase === 'done'} /></span>
        </li>`,
      )}</ul>
      ${isSignedOut && html`<${Notice} kind="warn" title="A decision needs a sign-in within five minutes."><${Button} kind="quiet" onPress=${toSignIn}>Sign in again<//><//>`}
      ${phase === 'asking' && html`<${TextField} id="reason" label="Reason for all of them" value=${reason} onValue=${setReason} maxLength=${256} fault=${fault} />`}
      <div class="actions">
        ${phase === 'asking' && html`<${Submit}>${verb} ${transfers.length}<//>`}
        ${phase === 'sending' && html`<${Button} onPress=${() => (isStopped.current = true)}>Stop after this one<//>`}
        <p class="quiet" role="status">${phase === 'asking' ? '' : `${outcomes.size} of ${transfers.length} sent${phase === 'done' && open > 0 ? `, ${open} not sent` : ''}.`}</p>
        ${phase !== 'sending' && html`<${Button} kind="quiet" onPress=${() => dialog.current?.close()}>${phase === 'done' ? 'Close' : 'Cancel'}<//>`}
      </div>
    </form>
  </dialog>`;
}

function Result({ outcome, isDone }: { outcome: Outcome | undefined; isDone: boolean }) {
  if (outcome === undefined) return isDone ? html`<${Badge}>Not sent<//>` : null;
  return html`<${Badge} kind=${outcome.kind}>${outcome.words}<//>`;
}

/** Exact sums, one for each currency. */
function totals(transfers: readonly WaitingTransfer[]) {
  const groups = [...Map.groupBy(transfers, ({ currencyCode }) => currencyCode)];
  return groups.map(([currencyCode, some], at) => {
    const amount = sumOf(some.map((one) => one.amount));
    return html`${at > 0 && ' and '}<${Amount} value=${{ amount, currencyCode }} />`;
  });
}
