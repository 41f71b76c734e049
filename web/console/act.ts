import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Notice, Submit, TextField } from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { sentenceOf } from './operations.ts';
import { ask } from './session.ts';

export interface Act<Result> {
  /** The label of the button that confirms: a verb. */
  readonly verb: string;
  /** A sentence about the effect. */
  readonly effect: string;
  /** Returns the id of the field that is wrong, if the act has fields of its own. */
  readonly check?: () => string | undefined;
  readonly run: (reason: string) => Promise<Result>;
}

interface ActDialogProps<Result> {
  readonly act: Act<Result>;
  readonly onDone: (result: Result) => void;
  readonly onClose: () => void;
  /** The fields of the act, above the reason. */
  readonly children?: Children;
}

/** Asks for the reason that the audit keeps. The browser keeps the focus inside, and gives it back at the end. */
export function ActDialog<Result>({ act, onDone, onClose, children }: ActDialogProps<Result>) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [reason, setReason] = useState('');
  const [wasChecked, setChecked] = useState(false);
  const [failure, setFailure] = useState<string>();
  const [busy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const isMissing = reason.trim() === '';
  const fault = wasChecked && isMissing ? 'Write the reason. The audit keeps it.' : undefined;
  const submit = async (event: Event) => {
    event.preventDefault();
    setChecked(true);
    const wrong = act.check?.() ?? (isMissing ? 'reason' : undefined);
    if (wrong !== undefined) {
      document.getElementById(wrong)?.focus();
      return;
    }
    setBusy(true);
    setFailure(undefined);
    try {
      const result = await ask(() => act.run(reason.trim()));
      dialog.current?.close();
      onDone(result);
    } catch (error) {
      setFailure(sentenceOf(error));
      setBusy(false);
    }
  };
  return html`<dialog ref=${dialog} class="dialog" aria-labelledby="act" onClose=${onClose}>
    <form class="fields" onSubmit=${submit} novalidate>
      <h2 id="act">${act.verb}</h2>
      <p>${act.effect}</p>
      ${failure && html`<${Notice} kind="bad" title=${failure} />`}
      ${children}
      <${TextField} id="reason" label="Reason" value=${reason} onValue=${setReason} maxLength=${256} fault=${fault} />
      <div class="actions">
        <${Submit} isBusy=${busy}>${busy ? 'Sending …' : act.verb}<//>
        <${Button} kind="quiet" onPress=${() => dialog.current?.close()}>Cancel<//>
      </div>
    </form>
  </dialog>`;
}

interface ActButtonProps<Result> {
  readonly act: Act<Result>;
  readonly onDone: (result: Result) => void;
}

export function ActButton<Result>({ act, onDone }: ActButtonProps<Result>) {
  const [isOpen, setOpen] = useState(false);
  return html`<${Button} kind="quiet" onPress=${() => setOpen(true)}>${act.verb}<//>
    ${isOpen && html`<${ActDialog} act=${act} onDone=${onDone} onClose=${() => setOpen(false)} />`}`;
}
