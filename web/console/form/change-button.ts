import { useState } from 'preact/hooks';
import { Button, LongTextField, SelectField, TextField } from '../../design/components.ts';
import { html } from '../../design/html.ts';
import { type Act, ActDialog } from '../act.ts';
import { session } from '../session.ts';
import { type Changeable, differencesOf, draftOf, type Values, wordsOfValue } from './changeable.ts';

interface ChangeProps {
  /** Default: Change. */
  readonly verb?: string;
  /** The thing whose values change. */
  readonly subject: string;
  readonly effect: string;
  readonly fields: readonly Changeable[];
  /** Those in force. */
  readonly values: Values;
  /** Gets the values that differ, by their names. */
  readonly send: (change: Values, reason: string) => Promise<unknown>;
  readonly onDone: () => void;
}

/** A button that opens a form of values. Before they are sent, each that differs stands below the form in words. */
export function ChangeButton(props: ChangeProps) {
  const [isOpen, setOpen] = useState(false);
  return html`<${Button} kind="quiet" onPress=${() => setOpen(true)}>${props.verb ?? 'Change'}<span class="visually-hidden"> ${props.subject}</span><//>
    ${isOpen && html`<${ChangeDialog} ...${props} onClose=${() => setOpen(false)} />`}`;
}

function ChangeDialog({
  verb = 'Change',
  subject,
  effect,
  fields: all,
  values,
  send,
  onDone,
  onClose,
}: ChangeProps & { readonly onClose: () => void }) {
  const fields = all.filter(({ isFixed }) => !isFixed);
  const [draft, setDraft] = useState(draftOf(fields, values));
  const [wasChecked, setChecked] = useState(false);
  const currency = session.value?.institution.currency ?? 'USD';
  const { differences, faults } = differencesOf(fields, { values, draft, currency });
  const unchanged = differences.length === 0 && Object.keys(faults).length === 0;
  const [first] = fields;
  const found = unchanged && first ? { [first.name]: 'Change at least one value.' } : faults;
  const shown: Readonly<Record<string, string>> = wasChecked ? found : {};
  const change: Act<unknown> = {
    verb: `${verb}: ${subject}`,
    effect,
    check() {
      setChecked(true);
      return Object.keys(found)[0];
    },
    run: (reason) =>
      send(Object.fromEntries(differences.map(({ field, after }) => [field.name, after])), reason),
  };
  const words = (field: Changeable, value: unknown) => wordsOfValue(field, value, currency);
  return html`<${ActDialog} act=${change} onDone=${onDone} onClose=${onClose}>
    ${fields.map(
      (
        field,
      ) => html`<${ValueField} key=${field.name} field=${field} text=${draft[field.name]} fault=${shown[field.name]}
        onText=${(text: string) => setDraft({ ...draft, [field.name]: text })} />`,
    )}
    <div role="status">${
      differences.length > 0 &&
      html`<h3>Changes</h3><dl class="facts">${differences.map(
        ({ field, before, after }) =>
          html`<div key=${field.name}><dt>${field.label}</dt><dd>${words(field, before)} → ${words(field, after)}</dd></div>`,
      )}</dl>`
    }</div>
  <//>`;
}

interface ValueFieldProps {
  readonly field: Changeable;
  readonly text: string | undefined;
  readonly fault: string | undefined;
  readonly onText: (text: string) => void;
}

function ValueField({ field, text, fault, onText }: ValueFieldProps) {
  const common = {
    id: field.name,
    label: field.label,
    hint: field.hint,
    fault,
    value: text,
    onValue: onText,
  };
  if (field.kind === 'choice') {
    const options = field.choices.map(({ value, words }) => ({ value: String(value), label: words }));
    return html`<${SelectField} ...${common} options=${options} />`;
  }
  if (field.kind === 'text' && field.longWords !== undefined)
    return html`<${LongTextField} ...${common} maxLength=${field.maxLength} />`;
  const maxLength = field.kind === 'text' ? field.maxLength : 20;
  return html`<${TextField} ...${common} maxLength=${maxLength} inputMode=${field.kind === 'text' ? 'text' : 'decimal'} />`;
}
